"""How often does a judge say what most people say, and how often does a person?

Leave-one-out agreement: take one annotation away, find the most frequent label of the rest, and ask whether the
judge's label (outer) or the annotation taken away (inner: the human ceiling) equals it; average over annotations,
then over items. Where several labels are most frequent the source draws one. Here the default is the exact
expectation over these draws, in closed form from three numbers per item, so it depends on no seed and no row order;
the smallest and the largest result that draws could give stand beside it.

With M the largest count, T labels that have it, S labels with M - 1 >= 1, and m annotations of the item:

* inner = M / (m (S + 1)) if T = 1, else 0;
* outer of a label with count M: 1/T if T > 1, else (m - M)/m + M / (m (S + 1));
* outer of a label with count M - 1 >= 1 when T = 1: M / (m (S + 1)); of any other label 0.

Source: Lyu et al. (2024), "HREF", Algorithm 1 and section 2.3. A tie of two answers ("tie") is a label like others.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways
from hmc_crowd.metrics._leave_one_out_counts import Cells, Scores, draw_modes, inner_scores, label_cells, outer_scores
from hmc_crowd.metrics._ratings import Ratings, read_ratings, read_row_labels
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._unit_intervals import mean_interval

if TYPE_CHECKING:
    from fractions import Fraction

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["LeaveOneOut", "leave_one_out_agreement"]

Unparsed = Literal["drop", "wrong"]


@dataclass(frozen=True, eq=False)
class LeaveOneOut(Metric):
    """Leave-one-out agreement; a `Metric` with more to look at.

    Parameters
    ----------
    fraction : fractions.Fraction or None
        The exact expectation.
    minimum, maximum : float or None
        What the unluckiest and the luckiest draws of modes would give.
    items : mapping of str to array
        Property. Per item that counts: ``position`` (in the input, or of the task's first appearance), ``item``,
        ``annotations``, ``agreement``, ``minimum``, ``maximum``; see `items_frame`.
    annotators : mapping of str to array
        Property. For inner agreement: ``worker``, ``annotations``, ``agreement``; see `workers_frame`.
    draws : array of float, shape (draws,)
        The seeded draws, if asked for.
    """

    fraction: Fraction | None = None
    minimum: float | None = None
    maximum: float | None = None
    draws: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    source: _Source | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"LeaveOneOut({self})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return _rebuild, ({**plain, "dropped": dict(self.dropped), "details": dict(self.details)},)

    @cached_property
    def items(self) -> dict[str, Any]:
        """Per item that counts, made when asked for."""
        return {} if self.source is None else _items(self.source)

    @cached_property
    def annotators(self) -> dict[str, Any]:
        """Per worker, made when asked for; empty for a judge."""
        return {} if self.source is None or not self.source.inner else _workers(self.source)

    def items_frame(self) -> pd.DataFrame:
        """Return one row per item: ``position, item, annotations, agreement, minimum, maximum``."""
        import pandas as pd

        return pd.DataFrame(self.items)

    def workers_frame(self) -> pd.DataFrame:
        """Return one row per worker: ``worker, annotations, agreement`` (inner); empty for a judge."""
        import pandas as pd

        return pd.DataFrame(self.annotators, columns=["worker", "annotations", "agreement"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the fraction as text."""
        exact = None if self.fraction is None else str(self.fraction)
        more = {"fraction": exact, "minimum": self.minimum, "maximum": self.maximum}
        return {**super().to_dict(), **more}


def leave_one_out_agreement(
    annotations: Any,
    prediction: Any = None,
    *,
    unparsed: Unparsed = "drop",
    clusters: Any = None,
    draws: int = 0,
    level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> LeaveOneOut:
    """Return the leave-one-out agreement of people with each other, or of a judge with people.

    Parameters
    ----------
    annotations : array of shape (items, annotators), wide frame, or long frame ``task, worker, label``
        Labels, text or numbers; None, NaN: not annotated. A flat list is one item.
    prediction : array, shape (items,), optional
        The judge's label per item (a single label for one item); for a long frame in the order in which tasks first
        appear, or a mapping ``task -> label``. None, NaN: unparsed. Without it: inner agreement.
    unparsed : {"drop", "wrong"}, default "drop"
        Items whose judgement could not be parsed leave (counted), or agree with nobody. The source's code does the
        latter, its text the former.
    clusters : array, shape (items,), or two of them, optional
        Items that belong together, such as the pairs of one instruction.
    draws : int, default 0
        So many seeded draws of all modes, kept in `draws`, to see how far a drawn result may lie off.
    level, interval, rng, n_boot
        Of the interval: see `hmc_crowd.metrics.expected_win_rate`. `rng` also serves `draws`; it defaults to
        ``numpy.random.default_rng(0)``.

    Returns
    -------
    LeaveOneOut
        A `Metric` in [0, 1], ``n`` items; with `fraction`, `minimum`, `maximum`, per item and per worker.

    Raises
    ------
    InputError
        Lengths differ, `unparsed` is unknown, or a worker annotated an item twice.

    Notes
    -----
    O(annotations). Items with one annotation leave, counted: nothing is left to compare with (the source's code stops
    there). Differs from AlpacaEval, which draws each mode with a fixed seed.

    Examples
    --------
    Without one of the 1s the rest is 1, 2, 2; without one of the 2s it is 1, 1, 2: inner 0, outer of 1 one half.

    >>> leave_one_out_agreement([[1, 1, 2, 2]]).value, leave_one_out_agreement([[1, 1, 2, 2]], [1]).value
    (0.0, 0.5)
    >>> leave_one_out_agreement([["tie", "tie", "a", "b"]]).fraction
    Fraction(1, 6)
    """
    if unparsed not in {"drop", "wrong"}:
        raise InputError(f"unparsed is {unparsed!r}; choose 'drop' or 'wrong'")
    if isinstance(draws, bool) or not isinstance(draws, (int, np.integer)) or draws < 0:
        raise InputError(f"draws is {draws!r}; give a whole number of at least 0")
    ask = ask_for(level, interval, rng, n_boot)
    read = read_ratings(annotations)
    ways = cluster_ways(clusters, read.n_units)
    guess, failed = (None, None) if prediction is None else read_row_labels(prediction, read, name="prediction")
    name = f"leave-one-out agreement ({'inner' if guess is None else 'outer'})"
    keep = read.per_unit >= 2
    dropped = {**read.dropped, "item with fewer than two annotations": int((~keep).sum())}
    warnings: tuple[str, ...] = ()
    if failed is not None:
        lost = int((failed & keep).sum())
        if unparsed == "drop":
            dropped["unparsed judgement"] = lost
            keep = keep & ~failed
        elif lost:
            warnings = (f"{lost:,} unparsed judgements count as wrong",)
    if not keep.any():
        why = "no item has two annotations" if guess is None else "no item has two annotations and a parsed judgement"
        details = {"annotations": 0, "drawn_items": 0, "items_given": read.n_units}
        return LeaveOneOut(
            None, dropped=dropped, level=ask.level, name=name, reason=why, warnings=warnings, details=details
        )
    cells = label_cells(read)
    scores = inner_scores(cells) if guess is None else outer_scores(cells, guess)
    exact, least, most, drawn = scores.totals(keep)
    whole = bool(keep.all())
    values = scores.expected if whole else scores.expected[keep]
    made = mean_interval(values, ask, ways if whole else tuple(way.take(keep) for way in ways))
    sampled = draw_modes(cells, guess, keep, draws, ask.generator()) if draws else np.zeros(0)
    interval_fields = {**made.fields(), "warnings": (*warnings, *made.warnings)}
    return LeaveOneOut(
        float(exact),
        n=len(values),
        dropped=dropped,
        level=ask.level,
        name=name,
        **interval_fields,
        details={
            "annotations": int(read.per_unit[keep].sum()),
            "drawn_items": drawn,
            "items_given": read.n_units,
        },
        fraction=exact,
        minimum=least,
        maximum=most,
        draws=sampled,
        source=_Source(read, cells, scores, keep, guess is None),
    )


@dataclass(frozen=True, eq=False)
class _Source:
    read: Ratings
    cells: Cells
    scores: Scores
    keep: NDArray[np.bool_]
    inner: bool


def _items(source: _Source) -> dict[str, Any]:
    read, scores, keep = source.read, source.scores, source.keep
    place = np.flatnonzero(keep)
    names = place if isinstance(read.units, range) else np.asarray(read.units, dtype=object)[place]
    return {
        "position": place,
        "item": names,
        "annotations": read.per_unit[keep],
        "agreement": scores.expected[keep],
        "minimum": scores.bounds[0][keep],
        "maximum": scores.bounds[1][keep],
    }


def _workers(source: _Source) -> dict[str, Any]:
    read = source.read
    rows = source.keep[read.unit]
    rater = read.rater[rows]
    n = np.bincount(rater, minlength=read.n_raters)
    total = np.bincount(rater, weights=source.cells.of_answers(read)[rows], minlength=read.n_raters)
    rate = np.divide(total, n, out=np.full(read.n_raters, np.nan), where=n > 0)
    return {"worker": list(read.raters), "annotations": n, "agreement": rate}


def _rebuild(parts: dict[str, Any]) -> LeaveOneOut:
    return LeaveOneOut(**parts)
