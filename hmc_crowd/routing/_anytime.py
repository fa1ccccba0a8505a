"""May one look at the audit after every answer, and stop when it is good enough? With this bound, yes.

A prior over the number of wrong items stakes one unit; each answer multiplies the stake by how much better the prior
foresaw it than a given number W would have. Under the true W the stake is a fair game, so with a probability of at
least `level` it never exceeds 1 / (1 - level) (Ville), however often one looks and whatever decides when to stop.
The W that are still possible are those under which it has not.

The prior changes only how narrow the bound is, never whether it holds. Ours expects few errors: Beta(1/2, 10). Looking
at will costs something: 6 wrong of 200 leave at most 218 of 2,837 wrong, where one look leaves 156.

Source: Waudby-Smith, Ramdas (2020), "Confidence sequences for sampling without replacement".
"""

from __future__ import annotations

import math

from hmc_crowd.routing._certificate import Certificate, certificate_of
from hmc_crowd.routing._checks import audit_counts, level_of
from hmc_crowd.routing._hypergeometric import log_probability

__all__ = ["certify_any_time"]

_ASSUMPTIONS = (
    "items are drawn at random from those that the machine kept and have not been drawn yet",
    "audited items take the people's label, and people gave it without seeing the machine's",
    "agreement is with our people: an item that they judged counts as right",
    "holds for this batch only, not for later traffic; however often one looks, and whenever one stops",
)
_PRIOR = (0.5, 10.0)
# Log-gamma loses so much at 10^8 items; on the side of the wider bound.
_ROUNDING = 1e-6


def certify_any_time(
    items: int, human: int, audited: int, wrong: int, *, level: float = 0.95, unanswered: int = 0
) -> Certificate:
    """Bound the wrong labels left in a batch; valid at every look of an audit that goes on.

    Parameters
    ----------
    items, human, audited, wrong, level, unanswered
        As in `certify_batch`; `audited` so far. Items count in the order in which they were drawn: those without an
        answer count as wrong, so slow answers cannot flatter the bound.

    Returns
    -------
    Certificate

    Raises
    ------
    InputError
        As `certify_batch`.

    Examples
    --------
    >>> certify_any_time(5673, 2836, 200, 6).wrong_at_most
    218
    """
    n, people, drawn, found, waiting = audit_counts(items, human, audited, wrong, unanswered)
    kept, alpha = n - people, 1.0 - level_of(level)
    seen = found + waiting
    foreseen = math.log(alpha) + _log_beta_binomial(seen, drawn) - _ROUNDING
    # The likelihood rises up to its mode and falls beyond; the answer lies above the mode.
    low, high = min(seen + (kept - drawn) * seen // drawn, kept - drawn + seen) if drawn else kept, kept - drawn + seen
    low = max(low, seen)
    while low < high:
        middle = (low + high + 1) // 2
        if log_probability(seen, kept, middle, drawn) > foreseen:
            low = middle
        else:
            high = middle - 1
    return certificate_of(
        (n, people, drawn, found, waiting),
        most=low if kept else 0,
        level=1.0 - alpha,
        design="items",
        method="prior-posterior ratio, valid at every look",
        assumptions=_ASSUMPTIONS,
    )


def _log_beta_binomial(x: int, n: int) -> float:
    a, b = _PRIOR
    ways = math.lgamma(n + 1) - math.lgamma(x + 1) - math.lgamma(n - x + 1)
    return ways + _log_beta(x + a, n - x + b) - _log_beta(a, b)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
