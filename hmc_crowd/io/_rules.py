"""Which columns a table must have, what they may hold, and what stands in for those left out.

A column that is missing altogether may have a stand-in (``group`` is the item itself); a cell that is missing in a
column that is there never has: the rows are named. Nothing is dropped, repaired or renamed on the way.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError
from hmc_crowd.io._columns import feature_column, flag_column, number_column, text_column, whole_column
from hmc_crowd.io._times import time_column

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.io._where import Raw, Where

__all__ = ["Checked", "Options", "Seen", "TableKind", "check"]

_P = "p_"
_SUM_TOLERANCE = 1e-3
_TIE = 1e-9


class TableKind(StrEnum):
    """What a table is about; says which columns it must and may have.

    - ``items``: ``item``; ``group`` (default: the item), ``position`` in the group (whole, default: order of the rows,
      from 1), ``text`` (default ""); ``audience`` (who may see it: ``any`` where empty, ``in_house``, or the name of a
      pool) and ``sensitive`` (true or false) may be there. Further numeric columns are features.
    - ``predictions``: ``item``, ``label``, ``confidence`` in [0, 1]; ``p_<label>`` columns sum to 1, and without
      ``confidence`` the largest is taken. ``aspect`` may be there.
    - ``gold``: ``item``, ``label``; ``aspect`` may be there.
    - ``answers``: ``task`` (the item), ``worker``, ``label``; ``aspect``, ``started``, ``submitted`` (aware times),
      ``score``, ``seconds`` may be there.
    """

    ITEMS = "items"
    PREDICTIONS = "predictions"
    GOLD = "gold"
    ANSWERS = "answers"


_REQUIRED = {
    TableKind.ITEMS: ("item",),
    TableKind.PREDICTIONS: ("item", "label"),
    TableKind.GOLD: ("item", "label"),
    TableKind.ANSWERS: ("task", "worker", "label"),
}
_KEYS = {
    TableKind.ITEMS: ("item",),
    TableKind.PREDICTIONS: ("item", "aspect"),
    TableKind.GOLD: ("item", "aspect"),
    TableKind.ANSWERS: ("task", "worker", "aspect"),
}


@dataclass(frozen=True)
class Options:
    """What the caller allows beyond the rules."""

    labels: tuple[str, ...] | None = None
    assume_utc: bool = False
    require_argmax: bool = True
    allow_repeats: bool = False
    allow_empty_labels: bool = False


@dataclass
class Seen:
    """What earlier chunks of the same source held; keys are kept only when more chunks may follow."""

    chunked: bool
    keys: set[Any] = field(default_factory=set)
    positions: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Checked:
    """A frame that keeps the rules, and which of its columns are features or probabilities."""

    frame: pd.DataFrame
    features: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()


def check(raw: Raw, kind: TableKind, options: Options, seen: Seen) -> Checked:
    """Apply the rules of a kind of table.

    Raises
    ------
    FrameError
        A column is missing or rows of it are wrong.
    """
    import pandas as pd

    frame, where = raw.frame, raw.where
    _require(frame, _REQUIRED[kind], kind, where)
    may_miss = "label" if kind is TableKind.ANSWERS and options.allow_empty_labels else None
    columns: dict[str, Any] = {
        name: text_column(frame[name], name, where, fill="" if name == may_miss else None) for name in _REQUIRED[kind]
    }
    if may_miss:
        columns["label"] = columns["label"].mask(columns["label"].str.strip() == "", None)
    if kind is not TableKind.ITEMS and "aspect" in frame:
        columns["aspect"] = text_column(frame["aspect"], "aspect", where)
    features: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    if not (kind is TableKind.ANSWERS and options.allow_repeats):
        _refuse_repeats(columns, kind, where, seen)
    if kind is TableKind.ITEMS:
        _item_columns(frame, columns, where, seen)
        features = _features(raw, columns)
    elif kind is TableKind.ANSWERS:
        _answer_columns(frame, columns, where, options)
    if "label" in columns and options.labels is not None:
        _known_labels(columns["label"], options.labels, where)
    if kind is TableKind.PREDICTIONS:
        classes = _prediction_columns(frame, columns, where, options)
    columns |= {name: frame[name] for name in frame.columns if name not in columns}
    return Checked(pd.DataFrame(columns), features, classes)


def _require(frame: pd.DataFrame, names: tuple[str, ...], kind: TableKind, where: Where) -> None:
    missing = [name for name in names if name not in frame]
    if not missing:
        return
    found = [str(name) for name in frame.columns]
    hint = ""
    signs = {";": "';', save it with commas", "|": "'|', save it with commas", "\t": "tabs, name it .tsv"}
    sign = next((each for each in signs if len(found) == 1 and each in found[0]), None)
    if sign is not None:
        hint = f"; its cells seem to be separated by {signs[sign]}"
    else:
        near = next((name for name in found if name.strip().lower() == missing[0]), None)
        near = near or ("item" if missing[0] == "task" and "item" in found else None)
        hint = f"; rename {near!r} to {missing[0]!r}" if near else "; add or rename it"
    shown = ", ".join(found[:12]) + (", ..." if len(found) > 12 else "")
    raise FrameError(
        f"{where.name} lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)} that {kind} need "
        f"(it has: {shown}){hint}"
    )


def _refuse_repeats(columns: dict[str, Any], kind: TableKind, where: Where, seen: Seen) -> None:
    """Refuse a second row for the same item (and worker, and aspect), in this chunk or an earlier one."""
    import pandas as pd

    names = [name for name in _KEYS[kind] if name in columns]
    keys = pd.DataFrame({name: columns[name] for name in names})
    repeated = keys.duplicated().to_numpy(copy=True)
    if seen.chunked:
        rows = keys[names[0]].tolist() if len(names) == 1 else list(keys.itertuples(index=False, name=None))
        repeated |= np.fromiter((row in seen.keys for row in rows), dtype=bool, count=len(rows))
        seen.keys.update(rows)
    if repeated.any():
        values = keys[names[0]].to_numpy() if len(names) == 1 else [tuple(row) for row in keys.to_numpy().tolist()]
        advice = (
            "pass allow_repeats=True if a retest was asked" if kind is TableKind.ANSWERS else "keep one row of each"
        )
        raise FrameError(
            f"{where.name} has the same {', '.join(names)} more than once: {where.rows(repeated, values)}; {advice}"
        )


def _item_columns(frame: pd.DataFrame, columns: dict[str, Any], where: Where, seen: Seen) -> None:
    items = columns["item"]
    grouped = "group" in frame
    columns["group"] = text_column(frame["group"], "group", where) if grouped else items.rename("group")
    if "position" in frame:
        columns["position"] = whole_column(frame["position"], "position", where)
    elif grouped:
        columns["position"] = _order_in_group(columns["group"], seen)
    else:
        columns["position"] = np.ones(len(items), dtype=np.int64)
    text = frame["text"] if "text" in frame else frame["item"].map(lambda _: "")
    columns["text"] = text_column(text, "text", where, fill="")
    if "audience" in frame:
        audience = text_column(frame["audience"], "audience", where, fill="").str.strip()
        columns["audience"] = audience.mask(audience == "", "any")
    if "sensitive" in frame:
        columns["sensitive"] = flag_column(frame["sensitive"], "sensitive", where)


def _order_in_group(groups: pd.Series[Any], seen: Seen) -> NDArray[np.int64]:
    """Count the rows of each group from 1, going on where the last chunk stopped."""
    order: NDArray[np.int64] = groups.groupby(groups, sort=False).cumcount().to_numpy(dtype=np.int64) + np.int64(1)
    if seen.chunked:
        order += np.fromiter((seen.positions[group] for group in groups), dtype=np.int64, count=len(groups))
        seen.positions.update(groups.tolist())
    return order


def _features(raw: Raw, columns: dict[str, Any]) -> tuple[str, ...]:
    """Turn numeric extra columns into numbers; return their names."""
    found = []
    for name in raw.frame.columns:
        if name not in columns:
            numbers = feature_column(raw.frame[name], name, raw.where, untyped=raw.untyped)
            if numbers is not None:
                columns[name] = numbers
                found.append(name)
    return tuple(found)


def _answer_columns(frame: pd.DataFrame, columns: dict[str, Any], where: Where, options: Options) -> None:
    for name in ("started", "submitted"):
        if name in frame:
            columns[name] = time_column(frame[name], name, where, assume_utc=options.assume_utc)
    if "started" in columns and "submitted" in columns:
        backwards = (columns["submitted"] < columns["started"]).to_numpy()
        if backwards.any():
            raise FrameError(
                f"{where.name}: submitted is before started in {where.rows(backwards)}; correct or empty these times"
            )
    if "score" in frame:
        columns["score"] = number_column(frame["score"], "score", where, may_miss=True)
    if "seconds" in frame:
        columns["seconds"] = number_column(frame["seconds"], "seconds", where, low=0, may_miss=True)


def _listed(labels: tuple[str, ...]) -> str:
    """Return labels for a sentence; in quotes where one of them could be read as two, or not be seen."""
    plain = all(each.isprintable() and each.strip() == each != "" and "," not in each for each in labels)
    return ", ".join(labels if plain else map(repr, labels))


def _known_labels(labels: pd.Series[Any], known: tuple[str, ...], where: Where) -> None:
    unknown = (~labels.isin(known) & labels.notna()).to_numpy()
    if unknown.any():
        raise FrameError(
            f"{where.name}: label must be one of {_listed(known)}: {where.rows(unknown, labels.to_numpy())}; "
            "correct these rows or add the label"
        )


def _prediction_columns(
    frame: pd.DataFrame, columns: dict[str, Any], where: Where, options: Options
) -> tuple[str, ...]:
    """Check confidence and class probabilities; return the classes."""
    names = [name for name in frame.columns if name.startswith(_P)]
    classes = tuple(name.removeprefix(_P) for name in names)
    if "confidence" in frame:
        columns["confidence"] = number_column(frame["confidence"], "confidence", where, low=0, high=1)
    if names:
        stray = [name for name in classes if options.labels is not None and name not in options.labels]
        if stray:
            raise FrameError(f"{where.name} has the column p_{stray[0]}, which is no label here; drop or rename it")
        probabilities = np.column_stack([number_column(frame[name], name, where, low=0, high=1) for name in names])
        _check_probabilities(probabilities, classes, columns["label"], where, options)
        columns.setdefault("confidence", np.minimum(probabilities.max(axis=1), 1.0))
        columns |= dict(zip(names, probabilities.T, strict=True))
    elif "confidence" not in columns:
        raise FrameError(
            f"{where.name} has neither confidence nor p_<label> columns; add the machine's confidence in [0, 1] per row"
        )
    return classes


def _check_probabilities(
    probabilities: NDArray[np.float64], classes: tuple[str, ...], labels: pd.Series[Any], where: Where, options: Options
) -> None:
    """Check that each row sums to 1 and that its label is the most probable class."""
    import pandas as pd

    total = probabilities.sum(axis=1)
    wrong = np.abs(total - 1) > _SUM_TOLERANCE
    if wrong.any():
        raise FrameError(
            f"{where.name}: the p_<label> columns must sum to 1 within {_SUM_TOLERANCE:g}: "
            f"{where.rows(wrong, total.round(6))}; give probabilities of all labels"
        )
    index = pd.Index(classes).get_indexer(pd.Index(labels))
    if (index < 0).any():
        raise FrameError(
            f"{where.name}: label has no p_<label> column in {where.rows(index < 0, labels.to_numpy())}; "
            "add the columns"
        )
    chosen = probabilities[np.arange(len(index)), index]
    other = chosen < probabilities.max(axis=1) - _TIE
    if other.any() and options.require_argmax:
        raise FrameError(
            f"{where.name}: label is not the most probable class in {where.rows(other, labels.to_numpy())}; "
            "correct the label; if the machine decides otherwise, leave the p_ columns out, or pass "
            "require_argmax=False"
        )
