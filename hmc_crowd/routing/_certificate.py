"""How far can the finished batch be trusted? An exact lower bound on its agreement with our people.

People judged some items, the machine the rest. People also looked at a simple random sample of ITEMS that the
machine kept, and those items took the people's label. If W of the kept items were wrong, the number of wrong ones
in the audit is hypergeometric, so the largest W under which so few (or fewer) would be seen with a probability
above ``1 - level`` bounds W from above; what the audit found is repaired, so ``W - wrong`` remains. With a
probability of at least `level` over the draw the true agreement is no lower than `agreement_at_least`, for any
batch and however its errors cluster: the draw is the only thing that is random.

The bound is about THIS batch. It says nothing about later traffic, and nothing about whether our people are right.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError
from hmc_crowd.routing._checks import audit_counts, level_of
from hmc_crowd.routing._hypergeometric import largest_plausible
from hmc_crowd.routing._render import html_table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Certificate", "certificate_of", "certify_batch"]

_ASSUMPTIONS = (
    "the audit is a simple random sample of the items that the machine kept, drawn before anyone saw their labels",
    "audited items take the people's label, and people gave it without seeing the machine's",
    "agreement is with our people: an item that they judged counts as right",
    "holds for this batch only, not for later traffic",
)


@dataclass(frozen=True)
class Certificate:
    """A lower bound on a batch's agreement with our people. Made by `certify_batch`.

    Parameters
    ----------
    agreement_at_least : float
        With confidence `level`, at least this share of all items has the label that people give.
    wrong_at_most : int
        With confidence `level`, at most so many wrong labels remain in the batch.
    items, human, kept, audited, wrong, unanswered : int
        All items; those that people judged by plan; the others; those drawn for audit; the machine labels found
        wrong there; drawn ones without an answer yet.
    level : float
        Confidence of the bound, over the audit's draw.
    design, method : str
        How the audit was drawn, and how the bound was computed.
    reason : str
        Why the bound is trivial or certain, empty otherwise.
    assumptions : tuple of str
        What must hold for the bound to be true.
    """

    agreement_at_least: float
    wrong_at_most: int
    items: int
    human: int
    kept: int
    audited: int
    wrong: int
    unanswered: int
    level: float
    design: str
    method: str
    reason: str
    assumptions: tuple[str, ...]

    @property
    def value(self) -> float:
        """The bound itself."""
        return self.agreement_at_least

    @property
    def interval(self) -> tuple[float, float]:
        """The one-sided interval that the bound stands for."""
        return (self.agreement_at_least, 1.0)

    def __float__(self) -> float:
        return self.agreement_at_least

    def __str__(self) -> str:
        why = f"; {self.reason}" if self.reason else ""
        # A bound just below 1 must not print as certainty.
        shown = min(self.agreement_at_least, 0.9999) if self.wrong_at_most else 1.0
        waiting = f", {self.unanswered:,} unanswered" if self.unanswered else ""
        return (
            f"agreement with our people >= {shown:.4f} at {100 * self.level:g}%: at most {self.wrong_at_most:,} of "
            f"{self.items:,} labels wrong (machine kept {self.kept:,}, audited {self.audited:,}, "
            f"wrong {self.wrong:,}{waiting}){why}"
        )

    def _repr_html_(self) -> str:
        return html_table("Certificate", asdict(self).items())

    def to_frame(self) -> pd.DataFrame:
        """Return one row with a column per field but the assumptions."""
        import pandas as pd

        row = asdict(self)
        del row["assumptions"]
        return pd.DataFrame([row])


def certify_batch(
    items: int,
    human: int,
    audited: int,
    wrong: int,
    *,
    level: float = 0.95,
    design: str = "items",
    unanswered: int = 0,
) -> Certificate:
    """Bound the wrong labels that are left in a batch, from an audit of what the machine kept.

    Parameters
    ----------
    items : int
        Items in the batch.
    human : int
        Those that people judged by plan.
    audited : int
        Those that the machine kept and the audit drew, answered or not.
    wrong : int
        Answered audit items whose machine label was wrong.
    level : float, default 0.95
        Confidence of the bound, in (0, 1).
    design : {"items"}, default "items"
        How the audit was drawn. Whole dialogues need a bound of their own (`certify_groups`): the formula for items
        would miss too often.
    unanswered : int, default 0
        Drawn items without an answer. They count as wrong in the sample and stay unrepaired in the batch, so waiting
        never makes a certificate better than it is.

    Returns
    -------
    Certificate

    Raises
    ------
    InputError
        The counts contradict one another, or level or design are not allowed.

    Notes
    -----
    Exact, one-sided. O(wrong * log(kept)), at once for 10^8 kept items. Nothing audited gives the trivial bound
    (all that the machine kept may be wrong), everything audited gives certainty. The reason is in the result.

    Examples
    --------
    >>> certificate = certify_batch(5673, 2836, 200, 6)
    >>> print(certificate)
    agreement with our people >= 0.9725 at 95%: at most 156 of 5,673 labels wrong
    (machine kept 2,837, audited 200, wrong 6)
    """
    n, people, drawn, found, waiting = audit_counts(items, human, audited, wrong, unanswered)
    kept, confidence = n - people, level_of(level)
    if design != "items":
        raise InputError(
            f"design is {design!r}; this bound holds for design='items', a simple random sample of items: "
            "an audit of whole dialogues needs a bound of its own, certify_groups"
        )
    most = largest_plausible(found + waiting, kept, drawn, 1.0 - confidence) if kept else 0
    return certificate_of(
        (n, people, drawn, found, waiting),
        most=most,
        level=confidence,
        design=design,
        method="exact one-sided hypergeometric bound",
        assumptions=_ASSUMPTIONS,
    )


def certificate_of(
    counts: tuple[int, int, int, int, int],
    *,
    most: int,
    level: float,
    design: str,
    method: str,
    assumptions: tuple[str, ...],
) -> Certificate:
    """Build a certificate from the counts of an audit and the most wrong items that the machine can have kept."""
    n, people, drawn, found, waiting = counts
    # What the audit found is repaired.
    left = most - found
    return Certificate(
        agreement_at_least=(n - left) / n,
        wrong_at_most=left,
        items=n,
        human=people,
        kept=n - people,
        audited=drawn,
        wrong=found,
        unanswered=waiting,
        level=level,
        design=design,
        method=method,
        reason=_reason(n - people, drawn, waiting),
        assumptions=assumptions,
    )


def _reason(kept: int, audited: int, unanswered: int) -> str:
    if kept == 0:
        return "people judged every item"
    if audited == 0:
        return "nothing was audited, so all that the machine kept may be wrong"
    if unanswered == audited:
        return "no audited item is answered yet, so all that the machine kept may be wrong"
    if audited == kept and unanswered == 0:
        return "every item that the machine kept was audited, so nothing is estimated"
    return ""
