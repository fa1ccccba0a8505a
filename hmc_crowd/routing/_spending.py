"""May one look twice? Yes, if the looks share the allowed error.

A certificate computed after each of several rounds holds for each round; the best of them holds less often. Alpha
spending gives every look a part of ``1 - level`` that was fixed before the first, so that with a probability of at
least `level` ALL of them hold, and one may stop at whichever is good enough (union bound).

The sizes of the rounds must be fixed before the first is seen, or depend on nothing found. Where the next size is to
depend on what was found, use `certify_any_time`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError
from hmc_crowd.routing._certificate import Certificate, certify_batch
from hmc_crowd.routing._checks import count, level_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AlphaSpending", "certify_rounds"]


@dataclass(frozen=True)
class AlphaSpending:
    """How the allowed error is shared among looks (rounds, or windows of a stream).

    Parameters
    ----------
    level : float, default 0.95
        Probability with which all looks hold.
    weights : tuple of float, optional
        Share of each look, above 0, summing to at most 1: a first audit and a top-up may take ``(0.8, 0.2)``.
        None, for looks without end: look k takes 6 / (pi^2 k^2).

    Examples
    --------
    >>> spending = AlphaSpending(0.95, weights=(0.8, 0.2))
    >>> round(spending.level_of(1), 4), round(spending.level_of(2), 4)
    (0.96, 0.99)
    >>> round(AlphaSpending(0.95).level_of(1), 4)
    0.9696
    """

    level: float = 0.95
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        level_of(self.level)
        if self.weights is None:
            return
        good = len(self.weights) > 0 and all(weight > 0.0 for weight in self.weights)
        if not good or math.fsum(self.weights) > 1.0 + 1e-12:
            raise InputError(f"weights is {self.weights!r}; give shares above 0 that sum to at most 1")

    def share_of(self, look: int) -> float:
        """Return the part of the allowed error that a look (1, 2, ...) may use."""
        k = count("look", look, least=1)
        if self.weights is None:
            return 6.0 / (math.pi * k) ** 2
        if k > len(self.weights):
            raise InputError(f"look is {k}, but the error was shared among {len(self.weights)} looks; none is left")
        return self.weights[k - 1]

    def level_of(self, look: int) -> float:
        """Return the confidence at which a look (1, 2, ...) must be computed."""
        return 1.0 - (1.0 - self.level) * self.share_of(look)


def certify_rounds(
    items: int,
    human: int,
    rounds: Sequence[tuple[int, int]],
    *,
    spending: AlphaSpending,
    unanswered: int = 0,
) -> Certificate:
    """Bound the wrong labels of a batch after several rounds of audit; every round's bound holds, so the best does.

    Parameters
    ----------
    items, human : int
        As in `certify_batch`.
    rounds : sequence of (audited, wrong)
        All that was drawn and found wrong UP TO each round: later rounds add random items to the earlier ones.
    spending : AlphaSpending
        Fixed before the first round.
    unanswered : int, default 0
        Drawn items without an answer after the last round.

    Returns
    -------
    Certificate
        Of the round with the fewest wrong labels left, repairs of later rounds counted; its `level` is the joint one.

    Raises
    ------
    InputError
        Counts fall from one round to the next or contradict one another, or there are more rounds than shares.

    Examples
    --------
    >>> two = AlphaSpending(0.95, weights=(0.8, 0.2))
    >>> certify_rounds(5673, 2836, [(200, 8), (500, 15)], spending=two).wrong_at_most
    129
    """
    if not rounds:
        raise InputError("rounds is empty; give (audited, wrong) of at least one round")
    looks: list[Certificate] = []
    drawn = found = 0
    for look, (audited, wrong) in enumerate(rounds, start=1):
        if audited < drawn or wrong < found:
            raise InputError(
                f"rounds falls from {(drawn, found)} to {(audited, wrong)}; give what was drawn and found wrong in all"
            )
        drawn, found = audited, wrong
        waiting = unanswered if look == len(rounds) else 0
        looks.append(certify_batch(items, human, audited, wrong, level=spending.level_of(look), unanswered=waiting))
    # What later rounds found wrong was among those that an earlier one left.
    best = min(looks, key=lambda each: each.wrong_at_most + each.wrong)
    left = max(best.wrong_at_most + best.wrong - found, 0)
    return replace(
        best,
        wrong_at_most=left,
        agreement_at_least=(best.items - left) / best.items,
        audited=drawn,
        wrong=found,
        unanswered=unanswered,
        level=spending.level,
        method=f"{best.method}, error shared among looks",
        assumptions=(*best.assumptions, "the sizes of all rounds, and their shares, were fixed before the first"),
    )
