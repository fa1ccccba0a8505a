"""What do thirty items with five answers each say of the whole campaign? Time, agreement, pay, redundancy and cost.

Bands come from drawing items AND workers again (each answer weighs the product of how often its item and its worker
were drawn): few workers make the band wide, as they should; it errs on the wide side.

Sources: requirement of the rehearsal (30 items x 5 answers); Owen (2007), "The pigeonhole bootstrap".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_generator
from hmc_crowd.errors import InputError
from hmc_crowd.rehearsal._pilot_log import Log
from hmc_crowd.rehearsal._power import majority

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Estimate", "PilotReport", "RedundancyRow", "pilot"]

_REDUNDANCIES = (1, 3, 5, 7)
_DRAWS = 5_000


@dataclass(frozen=True)
class Estimate:
    """A figure with its band."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:,.4g} ({self.low:,.4g} to {self.high:,.4g})"


@dataclass(frozen=True)
class RedundancyRow:
    """What so many answers an item would bring, and cost."""

    redundancy: int
    accuracy: Estimate
    hours: Estimate
    money_minor: Estimate


@dataclass(frozen=True)
class PilotReport:
    """What a pilot says. Made by `pilot`.

    Parameters
    ----------
    items, workers, answers : int
        What there was.
    seconds, seconds_median, seconds_p90 : Estimate
        Time of an answer: mean, median, P90.
    pairwise_agreement : Estimate
        Chance that two people give an item the same label.
    alpha : float
        Krippendorff's alpha, nominal; NaN where undefined.
    worker_accuracy : Estimate
        Chance that one person is right, if all are equally good and err independently.
    pay_per_hour_minor : Estimate or None
        What the median worker earned in an hour of work, where it is known what an answer earned.
    pay_is_fair : bool or None
        Whether its band lies at or above the floor; None where one of the two is unknown.
    price_minor : int
        What an answer should earn for the wished pay per hour.
    redundancy : int
        Recommended number of answers an item.
    table : tuple of RedundancyRow
        Accuracy of the majority, hours and money for the whole batch, by redundancy.
    hours, money_minor : Estimate
        For the whole batch at the recommended redundancy, fees included.
    notes, assumptions : tuple of str
        What a reader would wonder about; and what must hold.
    """

    items: int
    workers: int
    answers: int
    seconds: Estimate
    seconds_median: Estimate
    seconds_p90: Estimate
    pairwise_agreement: Estimate
    alpha: float
    worker_accuracy: Estimate
    pay_per_hour_minor: Estimate | None
    pay_is_fair: bool | None
    price_minor: int
    redundancy: int
    table: tuple[RedundancyRow, ...]
    hours: Estimate
    money_minor: Estimate
    notes: tuple[str, ...]
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"pilot of {self.items:,} items, {self.workers:,} workers, {self.answers:,} answers: {self.seconds} s an "
            f"answer, agreement {self.pairwise_agreement}; {self.redundancy} answers an item, in all {self.hours} hours"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per redundancy with its bands."""
        import pandas as pd

        rows = []
        for each in self.table:
            row: dict[str, Any] = {"redundancy": each.redundancy}
            for name in ("accuracy", "hours", "money_minor"):
                figure: Estimate = getattr(each, name)
                row |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
            rows.append(row)
        return pd.DataFrame(rows)


def pilot(
    answers: Any,
    *,
    batch_items: int,
    pay_per_hour_minor: int,
    rng: np.random.Generator,
    fee_rate: float = 0.0,
    paid_minor: float | None = None,
    floor_minor: int | None = None,
    worth: float = 0.01,
    band: float = 0.9,
    draws: int = 1000,
) -> PilotReport:
    """Read a pilot.

    Parameters
    ----------
    answers : pandas.DataFrame, or a polars or pyarrow table
        One row per answer: ``task, worker, label, seconds`` (or ``started, submitted``).
    batch_items : int
        Items that the campaign will have people judge.
    pay_per_hour_minor : int
        What an hour of work is to earn.
    rng : numpy.random.Generator
        For the bands.
    fee_rate : float, default 0
        Platform's share on top of pay.
    paid_minor : float, optional
        What an answer of the pilot earned: for the check of the pay.
    floor_minor : int, optional
        Least pay per hour; `pay_per_hour_minor` when absent.
    worth : float, default 0.01
        Two more answers an item must win so much accuracy to be recommended.
    band : float, default 0.9
        Width of the bands.
    draws : int, default 1000
        Of the bootstrap.

    Returns
    -------
    PilotReport

    Raises
    ------
    FrameError
        A column is missing, a time is not above 0, or no item has two answers.
    InputError
        A value is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> log = pd.DataFrame(
    ...     [(f"i{i}", f"w{w}", "yes" if rng.random() < 0.8 else "no", 20 + 10 * rng.random())
    ...      for i in range(30) for w in range(5)], columns=["task", "worker", "label", "seconds"])
    >>> report = pilot(log, batch_items=1000, pay_per_hour_minor=1200, rng=rng)
    >>> report.items, report.workers, report.price_minor
    (30, 5, 9)
    """
    require_generator(rng)
    if not 0 < band < 1 or not 0 <= worth <= 1 or draws < 10:
        raise InputError(f"band is {band}, worth {worth}, draws {draws}; give shares, and at least 10 draws")
    if isinstance(batch_items, bool) or batch_items < 1 or pay_per_hour_minor <= 0 or not fee_rate >= 0:
        raise InputError(
            f"batch_items is {batch_items}, pay_per_hour_minor {pay_per_hour_minor}, fee_rate {fee_rate}; give at "
            "least one item, a pay above 0 and a fee of 0 or more"
        )
    log = Log(answers)
    each = log.bootstrap(draws, rng)
    accuracy = np.array([_one_worker(value, log.n_labels) for value in each["agreement"]])
    right = Estimate(_one_worker(log.agreement, log.n_labels), *_band(accuracy, band))
    per_s = pay_per_hour_minor / 3600
    table = tuple(
        _row(redundancy, right, log, each["mean"], accuracy, batch_items, per_s * (1 + fee_rate), band, rng)
        for redundancy in _REDUNDANCIES
    )
    chosen = _recommended(table, worth)
    hourly = _hourly(paid_minor, log, each["median"], band)
    floor = pay_per_hour_minor if floor_minor is None else floor_minor
    return PilotReport(
        items=log.n_items,
        workers=log.n_workers,
        answers=len(log.seconds),
        seconds=Estimate(float(log.seconds.mean()), *_band(each["mean"], band)),
        seconds_median=Estimate(float(np.median(log.seconds)), *_band(each["median"], band)),
        seconds_p90=Estimate(float(np.quantile(log.seconds, 0.9)), *_band(each["p90"], band)),
        pairwise_agreement=Estimate(log.agreement, *_band(each["agreement"], band)),
        alpha=log.alpha,
        worker_accuracy=right,
        pay_per_hour_minor=hourly,
        pay_is_fair=None if hourly is None else hourly.low >= floor,
        price_minor=math.ceil(float(log.seconds.mean()) * per_s - 1e-9),
        redundancy=chosen.redundancy,
        table=table,
        hours=chosen.hours,
        money_minor=chosen.money_minor,
        notes=_notes(log, hourly, floor),
        assumptions=(
            "the pilot's items and people are like those to come",
            "accuracy is inferred from agreement: equally good people who err independently; shared errors stay unseen",
            "bands draw items and workers again",
        ),
    )


def _one_worker(agreement: float, n_labels: int) -> float:
    """Return the accuracy p of equal workers with this agreement: p^2 + (1 - p)^2 / (K - 1)."""
    k = n_labels - 1
    inside = max(0.0, agreement * (k + 1) / k - 1 / k)
    return min(1.0, (1.0 + k * math.sqrt(inside)) / (k + 1))


def _majority(
    right: NDArray[np.float64], redundancy: int, n_labels: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return how often the most frequent of so many labels is right, ties by a coin."""
    if redundancy == 1:
        return right
    grid = np.linspace(1.0 / n_labels, 1.0, 41)
    if n_labels == 2:
        return np.asarray(np.interp(right, grid, [majority(p, redundancy) for p in grid.tolist()]))
    found = []
    for p in grid.tolist():
        shares = [p] + [(1 - p) / (n_labels - 1)] * (n_labels - 1)
        votes = rng.multinomial(redundancy, shares, size=_DRAWS) + rng.random((_DRAWS, n_labels)) * 0.5
        found.append(float((votes.argmax(axis=1) == 0).mean()))
    return np.asarray(np.interp(right, grid, np.maximum.accumulate(found)))


def _row(
    redundancy: int, right: Estimate, log: Log, means: NDArray[np.float64], accuracy: NDArray[np.float64], items: int,
    minor_per_s: float, band: float, rng: np.random.Generator,
) -> RedundancyRow:  # fmt: skip
    by_majority = _majority(np.append(accuracy, right.value), redundancy, log.n_labels, rng)
    mean = float(log.seconds.mean())
    hours = items * redundancy / 3600
    low, high = _band(means, band)
    money = hours * 3600 * minor_per_s
    return RedundancyRow(
        redundancy,
        Estimate(float(by_majority[-1]), *_band(by_majority[:-1], band)),
        Estimate(hours * mean, hours * low, hours * high),
        Estimate(money * mean, money * low, money * high),
    )


def _recommended(table: tuple[RedundancyRow, ...], worth: float) -> RedundancyRow:
    for row, more in pairwise(table):
        if more.accuracy.value - row.accuracy.value < worth:
            return row
    return table[-1]


def _hourly(paid_minor: float | None, log: Log, medians: NDArray[np.float64], band: float) -> Estimate | None:
    if paid_minor is None:
        return None
    low, high = _band(medians, band)
    return Estimate(
        3600 * paid_minor / float(np.median(log.seconds)), 3600 * paid_minor / high, 3600 * paid_minor / low
    )


def _band(values: NDArray[np.float64], band: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - band) / 2, (1 + band) / 2])
    return float(low), float(high)


def _notes(log: Log, hourly: Estimate | None, floor: int) -> tuple[str, ...]:
    notes = []
    if log.n_workers < 5:
        notes.append(f"only {log.n_workers} people took part: the bands say little of other people")
    if log.n_items < 20:
        notes.append(f"only {log.n_items} items: thirty or more make the bands useful")
    if hourly is not None and hourly.value < floor:
        notes.append(
            f"the median worker earned {hourly.value:,.0f} minor units an hour, less than {floor:,}: raise the pay"
        )
    if log.agreement < 0.6 and log.n_labels == 2:
        notes.append("people hardly agree more than by chance: mend the guideline before asking more of them")
    return tuple(notes)
