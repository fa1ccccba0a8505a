"""Which trade-off, cap and audit size keep a promise for the least human time? The search behind `plan_certified`.

For one price of time the items are sorted once; every cap is then a place in that order, and running sums say what
people's part costs and how many wrong labels the machine's part is likely to hold. The audit that certifies the target
follows from those two numbers, so thousands of plans can be weighed without making one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.routing._audit_size import AuditSize, audit_size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Cost = Callable[["Candidate"], tuple[float, float]]

__all__ = ["Candidate", "Costed", "Wish", "cheapest", "prices_to_try"]

_COARSE, _FINE, _ZOOMS, _FEW = 12, 6, 2, 3
# Errors that confidences are trusted as much as. Without them the search would pick the plan whose few labelled items
# happen to hold no error, and certificates would come out in 70% where 90% were promised.
_TRUST = 4.0


@dataclass(frozen=True)
class Wish:
    """What is promised, and what it may cost."""

    target: float
    level: float
    assurance: float
    max_human_s: float | None
    max_money_minor: float | None


@dataclass(frozen=True, eq=False)
class Costed:
    """Items with what they cost over all answers, and what is known of the machine's errors.

    `error` is the standard error of the mean confidence. Where labelled items are given (their confidence, seconds and
    whether the machine was right), they correct how many kept items the confidences expect to be wrong.
    """

    confidence: NDArray[np.float64]
    seconds: NDArray[np.float64]
    money: NDArray[np.float64]
    error: float
    caution: float
    labelled: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]] | None = None


@dataclass(frozen=True)
class Candidate:
    """A plan that keeps the promise: what it decides and what it is expected to cost, audit included."""

    trade_off: float
    human: int
    audit: AuditSize
    human_s: float
    money: float
    expected_wrong: int


def prices_to_try(items: Costed) -> list[float]:
    """Return prices of a second from "only doubt counts" to "only time counts"."""
    doubt, time = float((1.0 - items.confidence).mean()), float(items.seconds.mean())
    if doubt <= 0.0 or time <= 0.0:
        return [0.0]
    return [0.0, *(doubt / time * 2.0**power for power in range(-4, 4))]


class _Order:
    """The items in the order in which people would get them at one price, as running sums."""

    def __init__(self, items: Costed, trade_off: float) -> None:
        gain = (1.0 - items.confidence) - trade_off * items.seconds
        order = np.argsort(-gain, kind="stable")
        self.items, self.trade_off = items, trade_off
        self.most = int(np.count_nonzero(gain > 0.0))
        doubt = 1.0 - items.confidence[order]
        self.n = len(order)
        self.seconds = np.concatenate([[0.0], np.cumsum(items.seconds[order])])
        self.money = np.concatenate([[0.0], np.cumsum(items.money[order])])
        self.wrong = _after(doubt)
        self.spread = _after(doubt * (1.0 - doubt))
        self.gain = gain[order]
        self.known = None if items.labelled is None else _Known(items.labelled, trade_off)

    def expected_wrong(self, human: int) -> int:
        """Return how many kept items to reckon with as wrong: the mean and a little more, never more than there are."""
        kept = self.n - human
        if self.known is not None and kept:
            mean, sd = self._by_labelled(human, kept, self.known)
        else:
            mean, sd = float(self.wrong[human]), math.sqrt(float(self.spread[human]) + (kept * self.items.error) ** 2)
        return min(kept, math.ceil(mean + self.items.caution * sd - 1e-9))

    def _by_labelled(self, human: int, kept: int, known: _Known) -> tuple[float, float]:
        """Return mean and spread of the wrong kept items, corrected by labelled items that the machine would keep."""
        alike = int(np.searchsorted(known.gain, self.gain[human], side="right"))
        seen, foreseen = float(known.wrong[alike]) + _TRUST, float(known.doubt[alike]) + _TRUST
        # Gamma prior of mean 1 on how many times as many errors there are as the confidences expect.
        trusting = float(self.wrong[human]) * seen / foreseen
        # Where the labels say worse than that, the confidences are not to be trusted.
        mean = max(trusting, kept * float(known.wrong[alike]) / max(alike, 1))
        return mean, math.sqrt(mean + mean**2 / seen)

    def candidate(self, human: int, wish: Wish) -> Candidate:
        """Return the plan with so many items for people and the audit that makes it keep the promise."""
        wrong = self.expected_wrong(human)
        audit = audit_size(
            self.n, human, target=wish.target, expected_wrong=wrong, level=wish.level, assurance=wish.assurance
        )
        share = audit.audited / (self.n - human) if human < self.n else 0.0
        human_s = float(self.seconds[human] + share * (self.seconds[-1] - self.seconds[human]))
        money = float(self.money[human] + share * (self.money[-1] - self.money[human]))
        return Candidate(self.trade_off, human, audit, human_s, money, wrong)

    def coarse(self, wish: Wish, by: Cost) -> Candidate | None:
        """Search the cap: too few for people need a large audit, too many need no audit but cost themselves."""
        return self._best(wish, 0, self.most, _COARSE, None, by)

    def fine(self, wish: Wish, best: Candidate, by: Cost) -> Candidate:
        """Search around the best cap so far, closer each time."""
        step = max(1, self.most // _COARSE)
        for _ in range(_ZOOMS):
            low, high = max(0, best.human - step), min(self.most, best.human + step)
            best = self._best(wish, low, high, _FINE, best, by) or best
            step = max(1, (high - low) // _FINE)
        return best

    def _best(self, wish: Wish, low: int, high: int, points: int, best: Candidate | None, by: Cost) -> Candidate | None:
        for cap in np.unique(np.linspace(low, high, points + 1).astype(int)).tolist():
            found = self.candidate(cap, wish)
            if best is None or by(found) < by(best):
                best = found
        return best


class _Known:
    """Labelled items by rising gain: how many wrong ones there are, and were to be expected, among the first ones."""

    def __init__(
        self, labelled: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]], trade_off: float
    ) -> None:
        confidence, seconds, right = labelled
        gain = (1.0 - confidence) - trade_off * seconds
        order = np.argsort(gain, kind="stable")
        self.gain = gain[order]
        self.wrong = np.concatenate([[0], np.cumsum(~right[order])])
        self.doubt = np.concatenate([[0.0], np.cumsum(1.0 - confidence[order])])


def _after(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of what comes at or after each place, and 0 at the end."""
    return np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])


def cheapest(items: Costed, wish: Wish, trade_offs: Sequence[float]) -> Candidate | None:
    """Return the plan of least expected human time that keeps the promise within the budgets, or None.

    Time decides only among plans that are within the budgets; before that, how far a plan is above them.
    """
    found = _search(items, wish, trade_offs, lambda each: (_excess(each, wish), each.human_s))
    return found if found is not None and _excess(found, wish) <= 0.0 else None


def _search(items: Costed, wish: Wish, trade_offs: Sequence[float], by: Cost) -> Candidate | None:
    """Try all prices of time on a coarse grid of caps, and the few best of them on finer ones."""
    found = [(order, best) for price in trade_offs if (best := (order := _Order(items, price)).coarse(wish, by))]
    found.sort(key=lambda each: by(each[1]))
    return min((order.fine(wish, best, by) for order, best in found[:_FEW]), key=by, default=None)


def _excess(found: Candidate, wish: Wish) -> float:
    """Return by which share a plan is above the budget that it exceeds most; 0 within all of them."""
    used = ((found.human_s, wish.max_human_s), (found.money, wish.max_money_minor))
    # A budget of nothing has no share: there every second and every cent counts.
    return max(0.0, *(use / most - 1.0 if most else use for use, most in used if most is not None), 0.0)
