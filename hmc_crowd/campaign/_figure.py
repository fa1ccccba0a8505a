"""What is the final figure: the malevolence rate, the mean score, the win rate? With an interval that holds.

The share among the final labels keeps the machine's errors, and the share among people's labels is that of doubtful
items. What people said of the items that a plan sent them, and of the audit that was drawn from the rest, gives an
estimate without either bias; the machine's labels of all items make it narrower where they are good
(`hmc_crowd.metrics.routed_mean`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign._labels import blind_labels
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.io import read_frame
from hmc_crowd.metrics import Metric, routed_mean, routed_means

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = ["Figure", "estimate"]

_HALF = {"tie": 0.5}
#: Columns of items that are no category.
_NOT_BY = {"item", "text", "response_a", "response_b", "features", "erased_at"}


@dataclass(frozen=True)
class Figure:
    """A final figure of the batch with its interval; made by `Campaign.estimate`.

    Parameters
    ----------
    of, aspect, target : str
        What was asked for.
    level : float
        Coverage of the intervals.
    table : pandas.DataFrame
        A row a category, ``all`` last: ``category, value, low, high, n`` (people's labels), ``n_items, effective_n``
        (so many labels of randomly drawn items would do as well without the machine), ``machine_helps``,
        ``machine_mean, final_mean`` (what the machine's and the final labels alone would say) and ``said``.
    metrics : dict of str to Metric
        The same with everything that was computed.
    notes : tuple of str
        What a reader should know.
    """

    of: str
    aspect: str
    target: str
    level: float
    table: pd.DataFrame
    metrics: dict[str, Metric] = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def overall(self) -> Metric:
        """The figure over all items."""
        return self.metrics["all"]

    def __str__(self) -> str:
        found = self.overall
        if found.value is None:
            return f"{self.of}: {found.reason}"
        ends = "no interval" if found.low is None else f"{self.level:.0%} interval {found.low:.4f} to {found.high:.4f}"
        return (
            f"{self.of}: {found.value:.4f} ({ends}; {found.n:,} labels of people on {found.details['n_items']:,} "
            f"items, worth {found.details['effective_n']:,.0f} drawn at random)"
        )


def estimate(context: Context, of: str, *, by: Any, aspect: str | None, target: str, level: float) -> Figure:
    """Estimate a figure over the items of the newest plan, from blind labels alone."""
    plan = context.latest_plan()
    record = context.aspect_or_first(aspect)
    value = _value_of(of, record)
    with context.store.read() as tx:
        rows = _rows(context, tx, plan.id, record)
        category = None if by is None else _category(context, tx, by, rows["item"])
    y: NDArray[Any] = rows["label"].map(value, na_action="ignore").to_numpy(dtype=np.float64)
    f: NDArray[Any] = rows["machine"].map(value).to_numpy(dtype=np.float64)
    is_people = (rows["destination"] == "people").to_numpy()
    more: dict[str, Any] = {"strata": np.where(is_people, "people", "rest"), "target": target, "level": level}
    if target == "population" and rows["group"].duplicated().any():
        more["clusters"] = rows["group"].to_numpy()
    if category is None:
        found = {"all": routed_mean(y, f, **more)}
    else:
        found = {str(name): each for name, each in routed_means(y, f, category, **more).items()}
    return Figure(of, record.name, target, level, _table(found), found, _notes(found["all"], is_people, y))


def _rows(context: Context, tx: Transaction, plan_id: int, record: AspectRecord) -> pd.DataFrame:
    """Return ``item, destination, group, machine, label`` of the plan's items."""
    cid = context.campaign_id
    units = tx.plans.read(plan_id, columns=["item", "destination"]).astype({"destination": str})
    asked = units.loc[units["destination"] != "machine", "item"].tolist()
    labels = blind_labels(context, tx, record, asked, what="correct an estimate")
    machine = tx.frames.read(cid, "predictions", aspect=record.name, columns=["item", "label"])
    groups = tx.frames.read(cid, "items", columns=["item", "group"])
    rows = units.merge(groups, on="item").merge(machine.rename(columns={"label": "machine"}), on="item", how="left")
    if rows["machine"].isna().any():
        first = rows.loc[rows["machine"].isna(), "item"].iloc[0]
        raise StateError(
            f"{int(rows['machine'].isna().sum()):,} items have no prediction of {record.name!r} (first {first!r}); "
            "add_predictions() for all of them"
        )
    return rows.merge(labels[["item", "label"]], on="item", how="left")


def _category(context: Context, tx: Transaction, by: Any, items: pd.Series[str]) -> NDArray[Any]:
    """Return each item's category: a column of the items, a feature, or a table ``item, category``."""
    if isinstance(by, str):
        stored = tx.frames.read(context.campaign_id, "items")
        features = pd.DataFrame([each or {} for each in stored["features"]], index=stored.index)
        column = features[by] if by in features else stored[by] if by in stored and by not in _NOT_BY else None
        if column is not None:
            return _all_known(by, pd.Series(column.to_numpy(), index=stored["item"]), items)
        if not by.endswith((".csv", ".parquet", ".jsonl", ".json")):
            known = ", ".join(map(str, [*(name for name in stored if name not in _NOT_BY), *features]))
            raise InputError(f"by is {by!r}; give a column of the items ({known}) or a table item, category")
    frame = by if isinstance(by, pd.DataFrame) else read_frame(by, kind=None).frame
    if not {"item", "category"} <= set(frame):
        raise InputError(f"by has the columns {', '.join(map(str, frame))}; give item, category")
    return _all_known("category", frame.drop_duplicates("item").set_index("item")["category"], items)


def _all_known(name: str, column: pd.Series[Any], items: pd.Series[str]) -> NDArray[Any]:
    found = column.reindex(items)
    if found.isna().any():
        raise InputError(f"{name} is missing for item {items[found.isna().to_numpy()].iloc[0]!r}; give every item one")
    return found.astype(str).to_numpy()


def _value_of(of: str, record: AspectRecord) -> Callable[[str], float]:
    """Return what makes a number of a label."""
    kind, _, name = of.partition(":")
    if kind == "share" and name and record.kind not in {"numeric", "text"}:
        if record.labels and name not in record.labels:
            raise InputError(f"of is {of!r}, but the labels are {', '.join(record.labels)}; name one of them")
        if record.kind == "multi_label":
            return lambda label: float(name in json.loads(label))
        return lambda label: float(label == name)
    if kind == "win" and record.kind == "pair" and name in {"a", "b"}:
        return lambda label: _HALF.get(label, float(label == name))
    if of == "mean" and record.kind not in {"text", "pair", "multi_label"}:
        return _number_of(record)
    raise InputError(
        f"of is {of!r} for the {record.kind} aspect {record.name!r}; give share:LABEL, mean (of numbers or grades), or "
        "win:a, win:b (of a pair)"
    )


def _number_of(record: AspectRecord) -> Callable[[str], float]:
    """Return the number that a label is; grades with names count from 1."""

    def number(label: str) -> float:
        try:
            return float(label)
        except ValueError:
            raise InputError(
                f"of is 'mean', but {label!r} is no number; give share:{label}, or make the aspect ordinal"
            ) from None

    if record.kind != "ordinal":
        return number
    try:
        return {label: float(label) for label in record.labels}.__getitem__
    except ValueError:
        return {label: float(place) for place, label in enumerate(record.labels, 1)}.__getitem__


def _table(found: dict[str, Metric]) -> pd.DataFrame:
    kept = ("n_items", "effective_n", "machine_helps", "machine_mean", "final_mean")
    rows = []
    for category, each in found.items():
        said = "; ".join([each.reason] if each.reason else list(each.warnings))
        row = {"category": category, "value": each.value, "low": each.low, "high": each.high, "n": each.n}
        rows.append({**row, **{name: each.details.get(name) for name in kept}, "said": said})
    return pd.DataFrame(rows)


def _notes(found: Metric, is_people: NDArray[np.bool_], y: NDArray[Any]) -> tuple[str, ...]:
    notes = list(found.warnings)
    pending = int((is_people & np.isnan(y)).sum())
    if pending:
        notes.append(f"{pending:,} items planned for people have no answer yet: taken to be like those that have one")
    if found.value is not None and found.low is not None and found.high is not None:
        final = float(found.details["final_mean"])
        if not found.low <= final <= found.high:
            notes.append(f"the final labels alone would say {final:.4f}, outside it: the machine errs to one side")
    return tuple(notes)
