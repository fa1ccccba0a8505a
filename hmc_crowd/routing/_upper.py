"""Has a promise failed, or is it only not shown yet? The other side of `certify_batch`: how good can the batch be?

If W of the kept items are wrong, so many wrong ones in the audit are likely only if W is large enough; the smallest W
that is plausible bounds the agreement from above, exactly, for this batch.
"""

from __future__ import annotations

from hmc_crowd.routing._checks import audit_counts, level_of
from hmc_crowd.routing._hypergeometric import largest_plausible

__all__ = ["agreement_at_most"]


def agreement_at_most(
    items: int, human: int, audited: int, wrong: int, *, unanswered: int = 0, level: float = 0.95
) -> float:
    """Bound a batch's agreement with our people from above.

    Parameters
    ----------
    items, human, audited, wrong, unanswered
        As in `certify_batch`; here an unanswered item counts as right.
    level : float, default 0.95
        Confidence of this bound alone.

    Returns
    -------
    float
        With this confidence agreement is no higher.

    Raises
    ------
    InputError
        The counts contradict one another, or the level is out of range.

    Examples
    --------
    >>> round(agreement_at_most(5673, 2836, 200, 30), 4)
    0.9496
    >>> agreement_at_most(100, 50, 10, 0)
    1.0
    """
    n, people, drawn, found, _ = audit_counts(items, human, audited, wrong, unanswered)
    kept = n - people
    right = largest_plausible(drawn - found, kept, drawn, 1.0 - level_of(level)) if kept else 0
    return (n - (kept - right - found)) / n
