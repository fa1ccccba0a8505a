"""What the dialogues themselves say about the time they will take.

`dialogue_features` turns an items table, and the machine's labels where there are any, into one row of features per
group, at prediction time: malevolent turns are counted from predicted labels, never from the people's answers. What
cannot be computed is left out and named in the result; nothing is invented in silence.

Source: Zhang, Ren, de Rijke (2021), section 3.3; their ``malevolent`` is any label named in ``positive_labels`` here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.effort._frames import as_pandas, number_column, require_columns, require_no_missing, require_unique
from hmc_crowd.effort._groups import DIALOGUE_FEATURES, TEXT_FEATURES
from hmc_crowd.effort._text import count_tokens
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

__all__ = ["FeatureTable", "dialogue_features"]


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features per group, and what was left out.

    Attributes
    ----------
    frame : pandas.DataFrame
        Index ``group`` in order of first appearance, one column per feature.
    left_out : tuple of str
        Features of the source that could not be computed from what was given.
    notes : tuple of str
        What was assumed, one sentence each.
    """

    frame: pd.DataFrame
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        head = f"{len(self.frame):,} groups, features {', '.join(self.frame.columns)}"
        return "; ".join([head, *([f"left out {', '.join(self.left_out)}"] if self.left_out else []), *self.notes])


def dialogue_features(
    items: Any,
    labels: Any = None,
    *,
    positive_labels: Iterable[str] | None = None,
    columns: Any = None,
    text_features: bool = False,
) -> FeatureTable:
    """Compute the dialogue features that need no text library.

    Parameters
    ----------
    items : table
        Columns ``item``; optionally ``group`` (without it every item is a group of its own) and ``text``.
    labels : table or mapping, optional
        The machine's labels: columns ``item, label``, or item -> label. Every item needs one.
    positive_labels : iterable of str, optional
        Labels that count as malevolent (or toxic, or wrong: whatever takes time). Needed with ``labels``.
    columns : table, optional
        Features per group that come from elsewhere (readability, perplexity, first submission, paraphrased turns, any
        of your own): a column ``group``, or the group as index, and one row for every group. They win over computed
        ones.
    text_features : bool, default False
        Add `TEXT_FEATURES`: plain lengths that any text has.

    Returns
    -------
    FeatureTable
        Known features come in the order of `DIALOGUE_FEATURES`, then text features, then your own.
        ``paraphrased_turns`` not given counts as 0 (nothing is paraphrased before people work) and is noted.

    Raises
    ------
    FrameError
        A column is missing, an item repeats or has no label, or a group has no row in ``columns``.
    InputError
        Labels without ``positive_labels``.

    Examples
    --------
    >>> items = {"item": ["a", "b"], "group": ["g", "g"], "text": ["hi there", "get lost!"]}
    >>> table = dialogue_features(items, {"a": "ok", "b": "rude"}, positive_labels=["rude"])
    >>> table.frame.loc["g", ["turns", "malevolent_turns", "length_tokens"]].tolist()
    [2.0, 1.0, 5.0]
    >>> table.left_out
    ('first_submission', 'flesch_reading_ease', 'dale_chall', 'perplexity')
    """
    import pandas as pd

    table = as_pandas(items, name="items")
    require_columns(table, ["item"], name="items")
    if not len(table):
        raise FrameError("items is empty; give at least one item")
    require_unique(table["item"], name="items column item")
    key = table["group"] if "group" in table else table["item"]
    require_no_missing(pd.DataFrame({"group": key}), ["group"], name="items")
    codes, groups = pd.factorize(key)
    made: dict[str, Any] = {"turns": np.bincount(codes).astype(np.float64)}
    if labels is not None:
        made |= _label_features(table["item"], labels, positive_labels, codes)
    if "text" in table:
        made |= _length_features(table["text"], codes, more=text_features)
    elif text_features:
        raise FrameError(
            "items lacks the column text, which text_features=True needs; add it or leave text_features out"
        )
    if columns is not None:
        made |= _given_features(columns, groups)
    notes: tuple[str, ...] = ()
    if "paraphrased_turns" not in made:
        made["paraphrased_turns"] = np.zeros(len(groups))
        notes = ("paraphrased_turns was not given and counts as 0",)
    known = [name for name in (*DIALOGUE_FEATURES, *TEXT_FEATURES) if name in made]
    order = [*known, *(name for name in made if name not in known)]
    frame = pd.DataFrame({name: made[name] for name in order}, index=pd.Index(groups, name="group"))
    return FeatureTable(frame, tuple(name for name in DIALOGUE_FEATURES if name not in made), notes)


def _label_features(
    item: pd.Series[Any], labels: Any, positive_labels: Iterable[str] | None, codes: Any
) -> dict[str, Any]:
    """Count positive and other labels per group."""
    import pandas as pd

    if positive_labels is None:
        raise InputError("labels were given without positive_labels; name the labels that count as malevolent")
    if isinstance(positive_labels, str):
        raise InputError(
            f"positive_labels is the string {positive_labels!r}; give a list such as [{positive_labels!r}]"
        )
    if isinstance(labels, Mapping) and not {"item", "label"} <= set(labels):
        of_item = pd.Series(dict(labels), dtype="object")
    else:
        table = as_pandas(labels, name="labels")
        require_columns(table, ["item", "label"], name="labels")
        require_unique(table["item"], name="labels column item")
        of_item = pd.Series(table["label"].to_numpy(), index=table["item"].to_numpy())
    label = item.map(of_item)
    missing = label.isna().to_numpy()
    if missing.any():
        raise FrameError(f"labels has no label for {first_rows(missing, item.to_numpy())}; predict these items too")
    positive = label.isin(list(positive_labels)).to_numpy()
    count = np.bincount(codes, weights=positive)
    return {
        "malevolent_turns": count,
        "non_malevolent_turns": np.bincount(codes) - count,
        "contains_malevolent": (count > 0).astype(np.float64),
    }


def _length_features(text: pd.Series[Any], codes: Any, *, more: bool) -> dict[str, Any]:
    """Sum tokens per group; with ``more`` also characters, mean and longest item."""
    tokens = count_tokens(text.fillna("").tolist())
    made: dict[str, Any] = {"length_tokens": np.bincount(codes, weights=tokens)}
    if more:
        longest = np.zeros(int(codes.max()) + 1)
        np.maximum.at(longest, codes, tokens)
        made["length_characters"] = np.bincount(codes, weights=text.fillna("").str.len().to_numpy(dtype=np.float64))
        made["mean_item_tokens"] = made["length_tokens"] / np.bincount(codes)
        made["longest_item_tokens"] = longest
    return made


def _given_features(columns: Any, groups: Any) -> dict[str, Any]:
    """Take the caller's columns, one row per group, in our order."""
    table = as_pandas(columns, name="columns")
    if "group" in table:
        table = table.set_index("group")
    require_unique(table.index.to_series(), name="columns group")
    missing = ~np.isin(np.asarray(groups, dtype=object), np.asarray(table.index, dtype=object))
    if missing.any():
        raise FrameError(f"columns has no row for group {first_rows(missing, groups)}; give one row per group")
    table = table.loc[groups]
    return {str(name): number_column(table[name], name=f"columns column {name}") for name in table.columns}
