"""How surprising is a text to a masked language model?

Pseudo-perplexity: ``exp(-mean over tokens of log p(token | all other tokens))``, each token masked in turn. Exact, it
needs one pass through the model for every token. Two approximations need fewer: ``"strided"`` masks every eighth token
at once, eight passes a text however long it is; ``"one_pass"`` masks nothing and reads all probabilities from a single
pass, so the model sees each token that it is asked about and the values are far too low: they serve as a feature, by
their order, not as perplexities. A model of time should be trained and used with one and the same method.

Source: Salazar et al. (2020), "Masked Language Model Scoring", for the definition; Zhang, Ren, de Rijke (2021), section
3.3, for its use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.effort._text import listed_texts
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["pseudo_perplexity"]

STRIDE = 8
# Bounds on memory: texts whose rows are made together, and places whose probabilities over the vocabulary are.
_TEXTS, _PLACES = 256, 1024
_HEADS = ("cls", "lm_head")  # names of the masked-language head; without one of these the whole model is asked
METHODS = ("exact", "strided", "one_pass")


def pseudo_perplexity(
    texts: Sequence[str],
    model: str,
    *,
    method: str = "exact",
    max_tokens: int = 128,
    batch_size: int = 64,
    device: str | None = None,
    precision: str = "float32",
    progress: bool = False,
) -> NDArray[np.float64]:
    """Compute the pseudo-perplexity of each text.

    Parameters
    ----------
    texts : sequence of str, length n
    model : str
        A masked language model: a local folder or a hub's name. Sentence encoders such as ``"minilm"`` have no such
        head and are refused.
    method : {"exact", "strided", "one_pass"}, default "exact"
    max_tokens : int, default 128
        A longer text is scored in windows of so many tokens, each without sight of the others.
    batch_size : int, default 64
        Rows through the model at once; one text has as many rows as tokens (exact), eight (strided) or one.
    device, precision, progress
        As in `hmc_crowd.confidence.text.TextEncoder`.

    Returns
    -------
    array of float, shape (n,)
        At least 1; NaN for a text without tokens.

    Raises
    ------
    InputError
        No texts, or an option is not allowed.
    ModelError
        The weights cannot be had, or have no masked-language head.
    MissingExtraError
        The extra ``text`` is not installed.
    """
    from hmc_crowd.confidence.text import _run as run  # because batches and devices serve encoders and models alike
    from hmc_crowd.confidence.text._weights import load  # because there is one way to find weights

    if method not in METHODS:
        raise InputError(f"method is {method!r}; use {', '.join(map(repr, METHODS))}")
    run.check_run(max_tokens=max_tokens, batch_size=batch_size, precision=precision)
    listed = listed_texts(texts)
    loaded, place = load(model, kind="AutoModelForMaskedLM"), run.the_device(device)
    marks = loaded.tokenizer
    if marks.mask_token_id is None or marks.cls_token_id is None or marks.sep_token_id is None:
        raise ModelError(f"the tokenizer of {model!r} has no mask, start or separator token; give a masked model's")
    run.check_places(loaded, max_tokens)
    net = loaded.model.to(place)
    total, count = np.zeros(len(listed)), np.zeros(len(listed))
    with run.bar(len(listed), "perplexity", shown=progress) as shown:
        for first in range(0, len(listed), _TEXTS):
            part = listed[first : first + _TEXTS]
            rows = list(_rows(part, marks, method, max_tokens))
            for batch in run.by_length(np.array([len(each.ids) for each in rows]), batch_size):
                asked = [rows[k] for k in batch]
                for row, found in zip(asked, _log_shares(net, asked, marks, place, precision), strict=True):
                    total[first + row.text] += found
                    count[first + row.text] += len(row.places)
            shown.update(len(part))
    return np.asarray(np.exp(-np.divide(total, count, out=np.full(len(listed), np.nan), where=count > 0)))


class _Row:
    """One window of one text with some of its tokens hidden, and the places that are asked about."""

    def __init__(self, text: int, ids: NDArray[np.int64], places: NDArray[np.int64], mask: int | None) -> None:
        self.text, self.places, self.wanted = text, places, ids[places]
        self.ids = ids
        if mask is not None:
            self.ids = ids.copy()
            self.ids[places] = mask


def _rows(texts: list[str], marks: Any, method: str, max_tokens: int) -> Iterator[_Row]:
    """Yield what has to go through the model."""
    settings = {"add_special_tokens": False, "split_special_tokens": True, "return_attention_mask": False}
    encoded = marks(texts, verbose=False, **settings)["input_ids"]
    room = max_tokens - 2
    for number, ids in enumerate(encoded):
        for first in range(0, len(ids), room):
            window = np.array([marks.cls_token_id, *ids[first : first + room], marks.sep_token_id], dtype=np.int64)
            places = np.arange(1, len(window) - 1, dtype=np.int64)
            if method == "one_pass":
                yield _Row(number, window, places, None)
                continue
            step = len(places) if method == "exact" else min(STRIDE, len(places))
            for start in range(step):
                yield _Row(number, window, places[start::step], marks.mask_token_id)


def _log_shares(net: Any, rows: list[_Row], marks: Any, place: Any, precision: str) -> NDArray[np.float64]:
    """Return each row's sum of log probabilities over the places that are asked about."""
    from hmc_crowd.confidence.text import _run as run  # because batches and devices are handled there
    from hmc_crowd.confidence.text._weights import need  # because torch is an extra

    torch = need("torch")
    tokens = run.pad([row.ids for row in rows], marks.pad_token_id or 0, place)
    at = np.concatenate([np.full(len(row.places), k) for k, row in enumerate(rows)])
    places, wanted = (np.concatenate([getattr(row, name) for row in rows]) for name in ("places", "wanted"))
    # The head is asked for these places alone: over all of them it is most of the memory and much of the time.
    head = next((part for name in _HEADS if (part := getattr(net, name, None)) is not None), None)
    logs = np.empty(len(at))
    with torch.inference_mode(), run.autocast(place, precision):
        whole = net(**tokens).logits if head is None else net.base_model(**tokens).last_hidden_state
        for first in range(0, len(at), _PLACES):
            some = slice(first, first + _PLACES)
            picked = whole[torch.from_numpy(at[some]), torch.from_numpy(places[some])]
            shares = torch.log_softmax((picked if head is None else head(picked)).float(), dim=-1)
            logs[some] = (
                shares.gather(1, torch.from_numpy(wanted[some])[:, None].to(place))[:, 0].double().cpu().numpy()
            )
    return np.asarray(np.bincount(at, weights=logs, minlength=len(rows)), dtype=np.float64)
