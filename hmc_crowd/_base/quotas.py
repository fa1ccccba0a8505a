"""May one more person of this kind come in, so that every quota can still be kept? And whom shall a platform look for?

Seats are people, not answers. Guarantee of `Seats.admits`, in whatever order people come: no value ever has more people
than its quota leaves room for, and nobody is refused who could come in with all quotas still within reach. A person
counts for his value of each attribute; who has none of the named values, or said nothing, sits in the open rest.

Everything here is part of the port (`hmc_crowd.platform`): the campaign says what is wanted, a workplace of our own
hands work out by it, a recruiting platform is asked for people of each cell.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["FiltersPeople", "KeepsQuotas", "RecruitsHolders", "SeatRule", "Seats", "Trait", "attribute_name"]


def attribute_name(name: str) -> str:
    """Return the one form in which an attribute is kept: small letters of any script, one line between words.

    Quotas, invitations and stored traits name the same thing by the same name, however it was typed.

    Examples
    --------
    >>> attribute_name("Country of residence"), attribute_name(" Region ")
    ('country_of_residence', 'region')
    """
    return re.sub(r"[\W_]+", "_", str(name).casefold()).strip("_")


@dataclass(frozen=True)
class SeatRule:
    """How many people shall have each value of an attribute.

    Parameters
    ----------
    attribute : str
        What is asked of people, such as ``region``.
    wanted : mapping of str to int
        People by value.
    is_most : bool, default False
        Whether there shall be no more of them either; else what they go beyond comes out of the open rest.
    """

    attribute: str
    wanted: Mapping[str, int]
    is_most: bool = False

    def missing(self, has: Mapping[str | None, int]) -> int:
        """Return how many people still lack, given how many have each value."""
        return sum(max(0, number - has.get(value, 0)) for value, number in self.wanted.items())


@dataclass(frozen=True)
class Seats:
    """The people of a study: how many, and what the quotas ask of them.

    Parameters
    ----------
    people : int
        How many there may be.
    rules : tuple of SeatRule
        One for each attribute.

    Examples
    --------
    Of 4 people 2 shall come from the south; so 2 seats are open to anybody:

    >>> seats = Seats(4, (SeatRule("region", {"south": 2}),))
    >>> seated = [{"region": "north"}, {}]
    >>> seats.admits({"region": "north"}, seated), seats.admits({"region": "south"}, seated)
    (False, True)
    """

    people: int
    rules: tuple[SeatRule, ...] = ()

    def admits(self, traits: Mapping[str, str], seated: Sequence[Mapping[str, str]]) -> bool:
        """Whether somebody with these attributes may come in beside those who are in.

        Also where the quotas are out of reach already (they were raised on the way, say), who fills a gap in every
        attribute is let in.
        """
        left = self.people - len(seated)
        return left > 0 and all(_has_room(rule, traits.get(rule.attribute), seated, left) for rule in self.rules)

    def missing(self, seated: Iterable[Mapping[str, str]]) -> int:
        """Return how many people must still come at least, so that every quota is kept."""
        held = list(seated)
        return max((rule.missing(Counter(each.get(rule.attribute) for each in held)) for rule in self.rules), default=0)


def _has_room(rule: SeatRule, value: str | None, seated: Sequence[Mapping[str, str]], left: int) -> bool:
    has = Counter(each.get(rule.attribute) for each in seated)
    if value is not None and value in rule.wanted:
        if has[value] < rule.wanted[value]:
            return True
        if rule.is_most:
            return False
    return rule.missing(has) < left


@dataclass(frozen=True)
class Trait:
    """What a cell asks of one attribute: a value, or any other than those that have cells of their own.

    Parameters
    ----------
    attribute : str
    value : str
        Empty: any value that is not among ``others``.
    others : tuple of str
        The values that have cells of their own.
    filter_id : str
        How the platform calls the attribute; empty: it is looked up by its name.
    choices : mapping of str to tuple of str
        How the platform calls the values (its choice ids, or a range such as ``18-25``); those that are not named are
        looked up.
    """

    attribute: str
    value: str = ""
    others: tuple[str, ...] = ()
    filter_id: str = ""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.attribute} {self.value or 'other than ' + ', '.join(self.others)}"


@runtime_checkable
class KeepsQuotas(Protocol):
    """A workplace that knows attributes of its people and hands work out by quotas."""

    def put_seats(self, scope: str, seats: Seats | None) -> None:
        """Hand a campaign's work out by these quotas from now on; None lifts them."""
        ...

    def known_people(self, pool: str = "") -> Mapping[str, Mapping[str, str]]:
        """Return the attributes of everybody who may work here now, by raw id; with a pool, of its people.

        Those who said nothing are among them, with no attributes; what somebody took back has an empty value.
        """
        ...


@runtime_checkable
class FiltersPeople(Protocol):
    """A recruiting platform that can be asked for people of a cell."""

    def filters_for(self, traits: Sequence[Trait]) -> tuple[dict[str, Any], ...]:
        """Return the settings that let in these people alone.

        Raises
        ------
        InfeasibleError
            The platform knows no such attribute or value.
        """
        ...

    def eligible(self, filters: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
        """Return the least and the largest number of people there whom these filters let in."""
        ...


@runtime_checkable
class RecruitsHolders(Protocol):
    """A recruiting platform that can be asked for who holds a qualification of `SyncsQualifications`."""

    def filter_for_holders(self, qualification_id: str) -> dict[str, Any]:
        """Return the setting that lets in these people alone."""
        ...
