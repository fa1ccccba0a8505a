"""What a campaign and a workplace say to each other about people: who may take a HIT, when who works, what was left.

The workplace knows its people, the campaign what is to be done; neither reads the other's database. Everything here is
part of the port (`hmc_crowd.platform`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

__all__ = ["ANYBODY", "LANGUAGE", "KeepsPools", "RemoteSkip", "TellsSkips", "Terms", "Turn", "Workforce", "languages"]

#: How a skill begins that is a language: ``language:de``.
LANGUAGE = "language:"


@dataclass(frozen=True)
class Terms:
    """Who may take a HIT, and how they are paid.

    Parameters
    ----------
    pool : str
        The pool it is for; empty: anybody.
    skills : tuple of str
        What a worker must be able to do; languages are written ``language:de``.
    pay_form : str
        ``per_submission`` (the HIT's own pay), ``per_answer`` (the HIT's pay is the sum), ``per_hour`` or ``salaried``
        (both paid beside the platform: the HIT's own pay is 0).
    rate_minor : int
        What an answer or an hour earns.
    holds : tuple of str
        Ids of qualifications that a worker must hold, where the platform keeps such (MTurk): who passed a test, or was
        drawn for a panel. See `hmc_crowd.platform.SyncsQualifications`.
    """

    pool: str = ""
    skills: tuple[str, ...] = ()
    pay_form: str = "per_submission"
    rate_minor: int = 0
    holds: tuple[str, ...] = ()


#: Anybody may take it, for the HIT's own pay.
ANYBODY = Terms()


@dataclass(frozen=True)
class Turn:
    """A time at which people of a pool are at work: ``people`` of them, or the one who is named (by raw id)."""

    pool: str
    starts_at: datetime
    ends_at: datetime
    people: int = 1
    worker: str = ""


@dataclass(frozen=True)
class Workforce:
    """What a workplace knows of a pool: its people, how many of them do not see a category of text, their own turns."""

    members: int
    opted_out: Mapping[str, int] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class RemoteSkip:
    """A question without an answer: ``kind`` is skip, flag or exposure; ``reason`` a code, ``note`` in own words."""

    item: str
    aspect: str
    kind: str
    reason: str
    note: str = ""


@runtime_checkable
class KeepsPools(Protocol):
    """A workplace that hands out work by pool and knows when its people work."""

    def put_turns(self, scope: str, turns: Iterable[Turn]) -> None:
        """Show people the turns that a campaign plans, in place of those it planned before."""
        ...

    def add_turn(self, turn: Turn) -> str:
        """Agree on a turn of one worker, and return its id; the same again changes nothing."""
        ...

    def workforce(self, pool: str, *, starts_at: datetime) -> Workforce:
        """Say who belongs to a pool, and the turns of single people that end after a moment."""
        ...

    def tell_standing(self, scope: str, standing: Mapping[str, tuple[int, int]]) -> None:
        """Say how many of their answers to known questions are right, by raw id: right and all."""
        ...


@runtime_checkable
class TellsSkips(Protocol):
    """Pages on which people may leave a question without an answer."""

    def skips(self, submission_ids: Iterable[str]) -> Mapping[str, tuple[RemoteSkip, ...]]:
        """Return what was left without an answer in each submission that is handed in."""
        ...


def languages(skills: Iterable[str]) -> frozenset[str]:
    """Return the languages among skills, as short codes in lower case.

    >>> sorted(languages(["law", "language:de", "language:EN"]))
    ['de', 'en']
    """
    return frozenset(each.removeprefix(LANGUAGE).lower() for each in skills if each.startswith(LANGUAGE))
