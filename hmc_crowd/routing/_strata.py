"""One certificate from several parts: shards of a batch, or parts that were audited at different rates.

Shards drawn with one probability are one sample of the whole: add their counts and the certificate is that of one run.
Parts drawn at different rates are not; each gets a bound with a part of the allowed error, and the sum holds with a
probability of at least `level` (union bound).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError
from hmc_crowd.routing._certificate import Certificate, certificate_of, certify_batch
from hmc_crowd.routing._checks import audit_counts, level_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AuditCounts", "certify_strata"]


@dataclass(frozen=True)
class AuditCounts:
    """Counts of one part of a batch; parts that were drawn with one probability can be added.

    Examples
    --------
    >>> print(AuditCounts(100, 50, 5, 1) + AuditCounts(100, 50, 5, 0))
    AuditCounts(items=200, human=100, audited=10, wrong=1, unanswered=0)
    """

    items: int
    human: int
    audited: int
    wrong: int
    unanswered: int = 0

    def __post_init__(self) -> None:
        audit_counts(self.items, self.human, self.audited, self.wrong, self.unanswered)

    def __add__(self, other: AuditCounts) -> AuditCounts:
        return AuditCounts(
            self.items + other.items,
            self.human + other.human,
            self.audited + other.audited,
            self.wrong + other.wrong,
            self.unanswered + other.unanswered,
        )

    def certify(self, *, level: float = 0.95) -> Certificate:
        """Return the certificate of `certify_batch`."""
        return certify_batch(self.items, self.human, self.audited, self.wrong, level=level, unanswered=self.unanswered)


def certify_strata(
    strata: Sequence[AuditCounts], *, level: float = 0.95, shares: Sequence[float] | None = None
) -> Certificate:
    """Bound the wrong labels of a batch whose parts were audited at different rates.

    Parameters
    ----------
    strata : sequence of AuditCounts
        One per part.
    level : float, default 0.95
        Joint confidence.
    shares : sequence of float, optional
        Part of the allowed error for each; in proportion to the square root of the kept items unless given. Fix them
        before the audit.

    Returns
    -------
    Certificate

    Raises
    ------
    InputError
        There is no part, or the shares do not fit.

    Examples
    --------
    >>> parts = [AuditCounts(4000, 2000, 100, 2), AuditCounts(1673, 836, 100, 4)]
    >>> print(certify_strata(parts))
    agreement with our people >= 0.9632 at 95%: at most 209 of 5,673 labels wrong (machine kept 2,837, audited 200,
    wrong 6)
    """
    if not strata:
        raise InputError("strata is empty; give the counts of at least one part")
    alpha = 1.0 - level_of(level)
    # A part without kept items needs none of the error.
    root = [math.sqrt(each.items - each.human) for each in strata]
    total = math.fsum(root)
    parts = list(shares) if shares is not None else [each / total if total else 0.0 for each in root]
    if len(parts) != len(strata) or min(parts) < 0.0 or math.fsum(parts) > 1.0 + 1e-9:
        raise InputError(f"shares is {parts!r}; give one of at least 0 for each of {len(strata)} parts, summing to 1")
    most = 0
    for each, part in zip(strata, parts, strict=True):
        if each.items == each.human:
            continue
        if part == 0.0:
            raise InputError("shares gives 0 to a part with kept items; each such part needs some of the error")
        most += each.certify(level=1.0 - alpha * part).wrong_at_most + each.wrong
    whole = sum(strata[1:], start=strata[0])
    return certificate_of(
        (whole.items, whole.human, whole.audited, whole.wrong, whole.unanswered),
        most=most,
        level=1.0 - alpha,
        design="items",
        method=f"{len(strata)} hypergeometric bounds that share the allowed error",
        assumptions=(
            "the audit is a simple random sample of each part's kept items, drawn before anyone saw their labels",
            "audited items take the people's label, and people gave it without seeing the machine's",
            "agreement is with our people: an item that they judged counts as right",
            "holds for this batch only, not for later traffic",
        ),
    )
