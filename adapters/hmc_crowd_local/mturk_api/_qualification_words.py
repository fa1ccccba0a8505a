"""Why may a worker not do this HIT? One sentence that he can act on: what he lacks, or what his score falls short of.

As MTurk's own site did, a worker is shown his value and the one that is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ADULT", "APPROVED", "LOCALE", "PERCENT", "why_not"]

PERCENT, APPROVED = "000000000000000000L0", "00000000000000000040"
LOCALE, ADULT = "00000000000000000071", "00000000000000000060"

_ASKED = {
    "LessThan": "less than",
    "LessThanOrEqualTo": "at most",
    "GreaterThan": "more than",
    "GreaterThanOrEqualTo": "at least",
    "EqualTo": "exactly",
    "NotEqualTo": "any other than",
    "In": "one of",
    "NotIn": "none of",
}
_SYSTEM = {PERCENT: "The share of your work that was approved (in percent)", APPROVED: "Your number of approved HITs"}


def why_not(requirement: Mapping[str, Any], name: str, value: tuple[int | None] | None) -> str:
    """Say why a requirement is not met.

    Parameters
    ----------
    requirement : mapping
        As the API takes it.
    name : str
        Of its qualification type, for the worker.
    value : tuple of int or None, or None
        What the worker has: a value (None where it was granted without one) in a tuple, or nothing.

    Examples
    --------
    >>> asked = {"QualificationTypeId": "Q1", "Comparator": "GreaterThan", "IntegerValues": [90]}
    >>> why_not(asked, "'Reading'", (80,))
    "Your score in the qualification 'Reading' is 80; this HIT asks for more than 90."
    >>> why_not(asked, "'Reading'", None)
    "You lack the qualification 'Reading', which this HIT asks for."
    """
    type_id, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
    if type_id == LOCALE:
        return (
            "This HIT is for people who live elsewhere, or nobody has noted here where you live; the people of this "
            "workplace note your country, and its part, when you tell them."
        )
    if comparator == "DoesNotExist":
        if type_id == ADULT:
            return "This HIT is not for adults."
        return f"You have the qualification {name}, which this HIT rules out."
    if type_id == ADULT:
        return "This HIT is for adults, and nobody has noted here that you are one."
    if value is None or comparator == "Exists":
        return f"You lack the qualification {name}, which this HIT asks for."
    what = _SYSTEM.get(type_id, f"Your score in the qualification {name}")
    has = "not known" if value[0] is None else str(value[0])
    wanted = ", ".join(map(str, requirement["IntegerValues"]))
    return f"{what} is {has}; this HIT asks for {_ASKED[comparator]} {wanted}."
