"""What is a crowd to whoever hands out work? One method: who takes this HIT next, and what does he do with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Crowd", "Question", "SimulatedAnswer", "SimulatedWork"]

_OUTCOMES = ("submit", "return", "expire")


class Question(NamedTuple):
    """One question of a HIT, as far as a simulated worker needs to know it.

    Parameters
    ----------
    item, aspect : str
        Which question it is.
    group : str
        The group (dialogue) it belongs to: the first question of a group in a HIT costs the set-up time.
    n_words : int
        Words to be read; drives the time where no time of the item itself is known.
    labels : tuple of str
        What may be answered; empty means every label the worker knows.
    """

    item: str
    aspect: str = "label"
    group: str = ""
    n_words: int = 0
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class SimulatedAnswer:
    """One answer with the three parts of its time, in the order in which they pass: set-up, work, idling."""

    item: str
    aspect: str
    label: str
    setup_s: float = 0.0
    seconds: float = 0.0
    idle_s: float = 0.0

    @property
    def elapsed_s(self) -> float:
        """All time from the moment the question is shown to the moment it is answered."""
        return self.setup_s + self.seconds + self.idle_s


@dataclass(frozen=True)
class SimulatedWork:
    """What one worker does with one HIT.

    Parameters
    ----------
    worker : str
        Who takes it.
    starts_after_s : float
        Pause of this worker between the moment when he and the HIT are both free and the moment when he accepts, >= 0.
    outcome : {"submit", "return", "expire"}
        Whether he hands it in, gives it back, or walks away and lets the time run out.
    answers : tuple of SimulatedAnswer
        In the order given; all questions for "submit", possibly only the first few otherwise.
    """

    worker: str
    starts_after_s: float
    outcome: Literal["submit", "return", "expire"]
    answers: tuple[SimulatedAnswer, ...]

    def __post_init__(self) -> None:
        if self.outcome not in _OUTCOMES:
            raise InputError(f"outcome is {self.outcome!r}; use one of {', '.join(_OUTCOMES)}")
        if not self.starts_after_s >= 0:
            raise InputError(f"starts_after_s is {self.starts_after_s}; give 0 or more seconds")

    @property
    def setup_s(self) -> float:
        """Time spent on getting into the groups."""
        return sum(answer.setup_s for answer in self.answers)

    @property
    def idle_s(self) -> float:
        """Time away from the page."""
        return sum(answer.idle_s for answer in self.answers)

    @property
    def active_s(self) -> float:
        """True time of work: set-up and answering, without idling."""
        return sum(answer.setup_s + answer.seconds for answer in self.answers)

    @property
    def elapsed_s(self) -> float:
        """Time from accepting to the last answer."""
        return sum(answer.elapsed_s for answer in self.answers)


class Crowd(Protocol):
    """Anything that can be asked who works on a HIT next."""

    def work(self, hit_key: str, items: Sequence[Question], already: frozenset[str]) -> SimulatedWork | None:
        """Return what the next worker does with this HIT, or None when nobody (more) wants it.

        Parameters
        ----------
        hit_key : str
            The HIT's natural key; together with the worker it fixes all random draws.
        items : sequence of Question
            In the order in which they are shown.
        already : frozenset of str
            Workers who may not take it: they had this HIT, or one of its questions elsewhere.
        """
        ...
