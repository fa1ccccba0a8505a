"""How many kept items must be audited for a promise? The least audit with which the certificate comes out as wished.

The answer rests on a guess, `expected_wrong`: how many of the kept items the machine has wrong. A wrong guess never
makes the certificate wrong, it only makes it come out less often than planned.

Exact: the number of wrong ones found in a simple random sample is hypergeometric, and `certify_batch` is a falling
function of it, so the chance is one tail.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError
from hmc_crowd.routing._checks import audit_counts, count, level_of, share
from hmc_crowd.routing._hypergeometric import lower_tail, plausible

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AuditSize", "allowed_wrong", "audit_size", "certification_chance"]


@dataclass(frozen=True)
class AuditSize:
    """How large an audit must be. Made by `audit_size`.

    Parameters
    ----------
    audited : int
        Items to draw; all that the machine keeps where nothing less will do: that always does.
    allowed_wrong : int
        The certificate holds if at most so many of them turn out wrong.
    chance : float
        Probability that it holds, if `expected_wrong` of the kept items are wrong.
    target, level, assurance : float
        What was asked for.
    items, human, expected_wrong : int
        The batch, and the guess.
    """

    audited: int
    allowed_wrong: int
    chance: float
    target: float
    level: float
    assurance: float
    items: int
    human: int
    expected_wrong: int

    def __str__(self) -> str:
        return (
            f"audit {self.audited:,} of {self.items - self.human:,} kept items: agreement >= {self.target:g} at "
            f"{100 * self.level:g}% comes out with a chance of {self.chance:.3f} (if at most {self.allowed_wrong:,} "
            "of them are wrong)"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row with a column per field."""
        import pandas as pd

        return pd.DataFrame([asdict(self)])


def allowed_wrong(items: int, human: int, audited: int, *, target: float, level: float = 0.95) -> int:
    """Return the most wrong items in an audit with which `certify_batch` still reaches the target; -1 if none does.

    Examples
    --------
    >>> from hmc_crowd.routing import certify_batch
    >>> allowed_wrong(5673, 2836, 200, target=0.97)
    6
    >>> [certify_batch(5673, 2836, 200, wrong).agreement_at_least >= 0.97 for wrong in (6, 7)]
    [True, False]
    """
    n, people, drawn, _, _ = audit_counts(items, human, audited, 0, 0)
    return _allowed(n - people, drawn, _may_remain(n, target), 1.0 - level_of(level))


def certification_chance(
    items: int, human: int, audited: int, *, target: float, expected_wrong: int, level: float = 0.95
) -> float:
    """Return the probability that an audit of this size certifies the target, if so many kept items are wrong.

    Examples
    --------
    >>> round(certification_chance(5673, 2836, 500, target=0.97, expected_wrong=86), 3)
    0.997
    """
    n, people, drawn, _, _ = audit_counts(items, human, audited, 0, 0)
    wrong = _guess(expected_wrong, n - people)
    return _chance(n - people, drawn, wrong, _may_remain(n, target), 1.0 - level_of(level))[0]


def audit_size(
    items: int,
    human: int,
    *,
    target: float,
    expected_wrong: int,
    level: float = 0.95,
    assurance: float = 0.9,
) -> AuditSize:
    """Return the least audit with which the certificate reaches the target as often as `assurance` says.

    Parameters
    ----------
    items, human : int
        Items of the batch, and those that people judge by plan.
    target : float
        Agreement to be certified, in [0, 1].
    expected_wrong : int
        Of the kept items, those that the machine has wrong: a guess, such as the sum of ``1 - confidence``.
    level : float, default 0.95
        Confidence of the certificate.
    assurance : float, default 0.9
        Probability, over the draw, with which it is to come out.

    Returns
    -------
    AuditSize

    Raises
    ------
    InputError
        The counts contradict one another, or a share is out of range.

    Notes
    -----
    Counts make the chance a saw-tooth: an audit of a few items more than `audited` may do a little worse.

    Examples
    --------
    >>> print(audit_size(5673, 2836, target=0.97, expected_wrong=86))
    audit 292 of 2,837 kept items: agreement >= 0.97 at 95% comes out with a chance of 0.902
    (if at most 12 of them are wrong)
    """
    n, people, _, _, _ = audit_counts(items, human, 0, 0, 0)
    kept, alpha = n - people, 1.0 - level_of(level)
    wanted, wrong = share("assurance", assurance), _guess(expected_wrong, kept)
    remain = _may_remain(n, target)

    # Where all kept items may be wrong, nothing needs to be audited.
    drawn = 0 if kept <= remain else _least(kept, wrong, remain, alpha, wanted)
    chance, most = _chance(kept, drawn, wrong, remain, alpha)
    return AuditSize(drawn, most, chance, float(target), float(level), wanted, n, people, wrong)


def _least(kept: int, wrong: int, remain: int, alpha: float, wanted: float) -> int:
    """Return the smallest audit whose chance is as wanted.

    The chance jumps up where one more wrong item becomes allowed and falls slowly in between, so only the sizes at the
    jumps are worth a look, and the jumps' heights rise.
    """

    def size(most: int) -> int:
        """Return the smallest audit in which so many wrong ones are allowed."""
        low, high = most, kept
        while low < high:
            middle = (low + high) // 2
            if _holds(most, kept, middle, remain, alpha):
                high = middle
            else:
                low = middle + 1
        return low

    def enough(most: int) -> bool:
        return lower_tail(most, kept, wrong, size(most)) >= wanted

    high = 1
    while not enough(high - 1):
        high *= 2
    low = high // 2
    while low < high - 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle - 1) else (middle, high)
    most = high - 1
    while most > 0 and enough(most - 1):
        most -= 1
    return size(most)


def _may_remain(items: int, target: float) -> int:
    """Return how many wrong labels the target allows, as `certify_batch` divides."""
    wanted = share("target", target)
    most = int((1.0 - wanted) * items) + 1
    while most > 0 and (items - most) / items < wanted:
        most -= 1
    return most


def _guess(expected_wrong: int, kept: int) -> int:
    wrong = count("expected_wrong", expected_wrong)
    if wrong > kept:
        raise InputError(f"expected_wrong is {wrong}, but the machine keeps only {kept} items")
    return wrong


def _holds(found: int, kept: int, drawn: int, remain: int, alpha: float) -> bool:
    """Say whether `certify_batch` leaves at most `remain` wrong ones after so many found: one more is implausible."""
    more = remain + found + 1
    return more > kept - drawn + found or not plausible(found, kept, more, drawn, alpha)


def _allowed(kept: int, drawn: int, remain: int, alpha: float) -> int:
    """Return the largest number found with which at most `remain` wrong ones are left; -1 if there is none."""
    if drawn == kept:
        return drawn
    low, high = -1, drawn
    while low < high:
        middle = (low + high + 1) // 2
        if _holds(middle, kept, drawn, remain, alpha):
            low = middle
        else:
            high = middle - 1
    return low


def _chance(kept: int, drawn: int, wrong: int, remain: int, alpha: float) -> tuple[float, int]:
    if kept == 0:
        return 1.0, 0
    most = _allowed(kept, drawn, remain, alpha)
    return (lower_tail(most, kept, wrong, drawn) if most >= 0 else 0.0), most
