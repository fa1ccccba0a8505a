"""May this work be refused? The rules that protect people, for every platform, before any call.

A rejection takes a person's pay and hurts his account. It needs two independent signals with their evidence, a message
that tells him what was wrong, a person's sign-off, and must stay below a share of what came in: more than that is a
fault of the task, not of its workers. One failed gold item is never a signal, and neither is the suspicion that a
language model wrote the answers, nor any flag that raises it: texts are pasted and copied for good reasons. The
alternative is always to accept the work and leave it out. After PLATFORMS.md, P23 and P25.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError, NeedsHumanError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RejectionProposal", "RejectionSignal", "check_rejections"]

LEAST_MESSAGE = 100
"""Least characters of the message; what the strictest platform asks for."""

LEAST_FAILED_GOLD = 2
# That a machine wrote it, and the flags of `flag_pasted`, however somebody hands them in.
_NO_GROUND = frozenset(
    {"language_model", "llm", "ai", "chatgpt", "machine_written", "pasted", "typed_too_fast", "copied"}
)


@dataclass(frozen=True)
class RejectionSignal:
    """One reason to doubt the work.

    Parameters
    ----------
    rule : str
        Which rule found it: ``"gold"``, ``"no_work"``, ``"same_label"``, ``"too_fast"``, or a name of your own. What
        rests on the same answers is one signal and has one name: an alarm of `find_drift` on gold is ``"gold"`` too.
    evidence : str
        What it saw, with the figures.
    count : int, default 1
        How often; for ``"gold"`` the number of items answered wrongly.
    """

    rule: str
    evidence: str
    count: int = 1

    def __post_init__(self) -> None:
        if not self.rule.strip() or not self.evidence.strip():
            raise InputError(f"rule is {self.rule!r}, evidence is {self.evidence!r}; a signal needs both")

    @property
    def kind(self) -> str:
        """The rule however it is written: "Gold" and "gold" are one signal, and "LLM" is no ground either."""
        return "_".join(self.rule.lower().replace("-", " ").replace("_", " ").split())

    @property
    def counts(self) -> bool:
        """Whether a rejection may rest on it."""
        if self.kind in _NO_GROUND:
            return False
        return self.kind != "gold" or self.count >= LEAST_FAILED_GOLD


@dataclass(frozen=True)
class RejectionProposal:
    """A rejection that a person shall sign off.

    Parameters
    ----------
    submission_id : str
        Which work.
    signals : tuple of RejectionSignal
        At least two that count, of different rules.
    message : str
        What the worker reads, at least 100 characters.

    Raises
    ------
    InputError
        Fewer than two independent signals count, or the message is too short.

    Examples
    --------
    >>> gold = RejectionSignal("gold", "5 of 6 known items wrong", count=5)
    >>> RejectionProposal("s1", (gold,), "x" * 100)
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.InputError: the rejection of 's1' has 1 independent signals that count, and it needs two: ...
    """

    submission_id: str
    signals: tuple[RejectionSignal, ...]
    message: str

    def __post_init__(self) -> None:
        rules = {each.kind for each in self.signals if each.counts}
        if len(rules) < 2:
            raise InputError(
                f"the rejection of {self.submission_id!r} has {len(rules)} independent signals that count, and it "
                "needs two: accept the work and leave it out of the aggregation instead"
            )
        length = len(self.message.strip())
        if length < LEAST_MESSAGE:
            raise InputError(
                f"the message of the rejection of {self.submission_id!r} has {length} characters; write at least "
                f"{LEAST_MESSAGE}: what was wrong, and on which evidence"
            )


def check_rejections(
    proposals: Sequence[RejectionProposal],
    *,
    handed_in: int,
    rejected_before: int = 0,
    signed_off_by: str,
    cap: float = 0.02,
) -> tuple[RejectionProposal, ...]:
    """Return the proposals if all of them may be carried out; otherwise none.

    Parameters
    ----------
    proposals : sequence of RejectionProposal
        Each submission once.
    handed_in : int
        How many submissions came in altogether.
    rejected_before : int, default 0
        How many of them are rejected already: a cap that is applied call by call is none.
    signed_off_by : str
        The person who looked at them.
    cap : float, default 0.02
        Largest share of rejections, in [0, 1]. One rejection is always within it.

    Raises
    ------
    NeedsHumanError
        There are more than the cap allows, or nobody signed them off; none may be carried out.

    Examples
    --------
    >>> signals = (RejectionSignal("gold", "5 of 6 wrong", 5), RejectionSignal("same_label", "all 40 answers are A"))
    >>> proposals = [RejectionProposal(f"s{i}", signals, "x" * 100) for i in range(5)]
    >>> check_rejections(proposals, handed_in=100, signed_off_by="Kim")
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.NeedsHumanError: 5 of 100 submissions (5.0%) would be rejected, more than 2.0%; nothing was ...
    >>> len(check_rejections(proposals[:2], handed_in=100, signed_off_by="Kim"))
    2
    """
    if not 0 <= cap <= 1 or handed_in < len(proposals) + rejected_before:
        raise InputError(f"cap is {cap}, handed_in is {handed_in} for {len(proposals)} proposals; check both")
    twice = len(proposals) - len({each.submission_id for each in proposals})
    if twice:
        raise InputError(f"{twice} of {len(proposals)} proposals name a submission again; keep one of each")
    if not proposals:
        return ()
    total = len(proposals) + rejected_before
    if total > max(1, math.floor(cap * handed_in + 1e-9)):
        raise NeedsHumanError(
            f"{total} of {handed_in} submissions ({total / handed_in:.1%}) would be rejected, more than {cap:.1%}; "
            "nothing was rejected: look for a mistake in the task or the gold first"
        )
    if not signed_off_by.strip():
        raise NeedsHumanError(
            f"{len(proposals)} rejections wait for a person's sign-off; nothing was rejected: give signed_off_by"
        )
    return tuple(proposals)
