"""Which words does the encoder see? The response, and before it as much of the last utterances as fits.

A response is judged in its context. The source joins up to three previous utterances and the response by the
separator. Where that is too long, the oldest words go first; the response itself is cut, at its end, only if it alone
is too long. Signs in a text that look like the tokenizer's own separators are read as plain text.

Source: Zhang, Ren, de Rijke (2021), section 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import FrameError, InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.confidence.text._weights import Loaded

__all__ = ["as_turns", "encode", "with_context"]

_AT_ONCE = 20_000  # utterances tokenized together


def with_context(items: Any, *, previous: int = 3) -> list[tuple[str, ...]]:
    """Return every item's text with the texts before it in its group, oldest first, the item's own last.

    Parameters
    ----------
    items : table
        Columns ``text`` and optionally ``group`` (without it nothing has a context) and ``position`` (without it rows
        stand in their order).
    previous : int, default 3
        Utterances before the response, at most; the source's number.

    Returns
    -------
    list of tuple of str
        One per row, in the order of the rows.

    Raises
    ------
    FrameError
        The column ``text`` is missing, or a text or a position is empty.

    Examples
    --------
    >>> items = {"group": ["g", "g", "h"], "position": [2, 1, 1], "text": ["Fine.", "How are you?", "Hi!"]}
    >>> with_context(items)
    [('How are you?', 'Fine.'), ('How are you?',), ('Hi!',)]
    """
    if isinstance(previous, bool) or not isinstance(previous, int) or previous < 0:
        raise InputError(f"previous is {previous!r}; give a whole number of utterances, 0 or more")
    table = _pandas(items)
    if "text" not in table:
        raise FrameError(f"items lacks the column text (it has: {', '.join(map(str, table.columns[:12]))})")
    texts = table["text"].tolist()
    as_turns(texts, name="items column text")
    if "group" not in table:
        return [(text,) for text in texts]
    for column in [name for name in ("group", "position") if name in table]:
        empty = table[column].isna().to_numpy()
        if empty.any():
            raise FrameError(f"items column {column} is empty in {first_rows(empty)}; fill or drop these rows")
    order = np.arange(len(table))
    if "position" in table:
        order = np.argsort(table["position"].to_numpy(), kind="stable")
    said: dict[Any, list[str]] = {}
    joined: list[tuple[str, ...]] = [()] * len(texts)
    groups = table["group"].tolist()
    for row in order.tolist():
        before = said.setdefault(groups[row], [])
        joined[row] = (*(before[-previous:] if previous else []), texts[row])
        before.append(texts[row])
    return joined


def _pandas(items: Any) -> pd.DataFrame:
    """Return the table as pandas."""
    import pandas as pd

    if isinstance(items, pd.DataFrame):
        return items
    if isinstance(items, Mapping):
        return pd.DataFrame(dict(items))
    import narwhals as nw

    try:
        converted: pd.DataFrame = nw.from_native(items, eager_only=True).to_pandas()
    except TypeError:
        raise FrameError(f"items is a {type(items).__name__}; give a pandas, polars or pyarrow table") from None
    return converted


def as_turns(texts: Any, *, name: str = "texts") -> list[tuple[str, ...]]:
    """Return every text as a tuple of utterances; refuse one bare string and whatever is no text."""
    if isinstance(texts, str):
        raise InputError(f"{name} is one string; give a sequence of texts, for example [text]")
    turns = [(text,) if isinstance(text, str) else text for text in texts]
    bad = np.array([not _is_turns(each) for each in turns], dtype=bool)
    if bad.any():
        raise InputError(f"{name} must hold texts, or tuples of utterances: {first_rows(bad, turns)}; correct them")
    return [tuple(each) for each in turns]


def _is_turns(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) > 0 and all(isinstance(each, str) for each in value)


def encode(loaded: Loaded, turns: Sequence[tuple[str, ...]], *, max_tokens: int) -> list[NDArray[np.int32]]:
    """Return token ids: start, utterances each closed by the separator; the newest words are kept."""
    tokenizer = loaded.tokenizer
    start = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
    stop = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    if start is None or stop is None:
        raise ModelError(f"the tokenizer of {loaded.name!r} has no start and separator tokens; give an encoder's")
    pieces = _tokens(tokenizer, list(dict.fromkeys(chain.from_iterable(turns))))
    return [_join([pieces[each] for each in turn], start, stop, max_tokens) for turn in turns]


def _join(pieces: list[list[int]], start: int, stop: int, max_tokens: int) -> NDArray[np.int32]:
    """Put utterances together, from the newest backwards while there is room."""
    ids = [*pieces[-1][: max_tokens - 2], stop]
    for piece in reversed(pieces[:-1]):
        room = max_tokens - 1 - len(ids) - 1
        if room < 1:
            break
        ids = [*piece[-room:], stop, *ids]
    return np.array([start, *ids], dtype=np.int32)


def _tokens(tokenizer: Any, texts: list[str]) -> dict[str, list[int]]:
    """Return the token ids of each text, without the tokenizer's own marks; "[SEP]" typed by somebody is text."""
    found: dict[str, list[int]] = {}
    for first in range(0, len(texts), _AT_ONCE):
        part = texts[first : first + _AT_ONCE]
        made = tokenizer(
            part, add_special_tokens=False, split_special_tokens=True, return_attention_mask=False, verbose=False
        )
        found.update(zip(part, made["input_ids"], strict=True))
    return found
