"""Can a stream still be trusted? Windows with a certificate of their own, watched while they run.

Each window is a batch: `certify_batch` bounds what is wrong in it, exactly, from its own audit. Between the windows a
`StreamWatch` keeps an eye on three things: the error of audited items (`ErrorAlarm`), the scores, and the mix of
traffic (`shift_test`). When one of them speaks, the audit's share rises at once and the window's certificate is
withdrawn: parts of it were audited at different rates, and its neighbours are no longer like it. After
`calm_windows` quiet windows the share falls back.

With ``joint=False`` each certificate holds with probability `level`; with ``joint=True`` the error is shared among
the windows (`AlphaSpending`), so that all of them hold together.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Self

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing._checks import count, level_of, share
from hmc_crowd.routing._error_alarm import ErrorAlarm
from hmc_crowd.routing._error_sequence import ErrorSequence
from hmc_crowd.routing._shift import ScoreBins, ShiftResult, shift_test
from hmc_crowd.routing._spending import AlphaSpending
from hmc_crowd.routing._window import WindowReport, exceeded

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from numpy.typing import ArrayLike

    from hmc_crowd.routing._strata import AuditCounts

__all__ = ["StreamWatch"]


class StreamWatch:
    """Watches a stream's windows and certifies each.

    Parameters
    ----------
    target : float
        Agreement that each window is to reach.
    allowed_error : float
        Error rate of the items that the machine keeps that the plan counts on; above it the alarm is due.
    level : float, default 0.95
        Confidence of the certificates.
    joint : bool, default False
        Whether all windows' certificates are to hold together.
    audit_probability, alarm_probability : float, default 0.02 and 0.1
        Chance of a kept item to be audited, in peace and after an alarm.
    reference_scores : array of float, optional
        Scores (confidences) of the traffic that the plan was made for.
    reference_mix : mapping of str to int, optional
        How many items of each kind it held.
    false_alarms : float, default 0.01
        At most one false alarm of each kind in ``1 / false_alarms`` windows on average.
    minimum_shift : float, default 0.05
        Least total variation that counts as a shift.
    calm_windows : int, default 2
        Quiet windows after which the audit's share falls back.
    rolling : int, default 12
        Windows that the rolling error looks back on.

    Examples
    --------
    >>> from hmc_crowd.routing import AuditCounts
    >>> watch = StreamWatch(target=0.95, allowed_error=0.05)
    >>> watch.observe([0] * 198 + [1] * 2)
    False
    >>> report = watch.close("10:00", AuditCounts(items=20_000, human=5_000, audited=200, wrong=2))
    >>> report.holds, watch.audit_probability
    (True, 0.02)
    >>> watch.observe([1] * 8)
    True
    >>> print(watch.close("11:00", AuditCounts(items=20_000, human=5_000, audited=8, wrong=8)))
    11:00: certificate withdrawn (the error of audited items is above 0.05); audit 10% of what the machine keeps
    """

    def __init__(
        self,
        *,
        target: float,
        allowed_error: float,
        level: float = 0.95,
        joint: bool = False,
        audit_probability: float = 0.02,
        alarm_probability: float = 0.1,
        reference_scores: ArrayLike | None = None,
        reference_mix: Mapping[str, int] | None = None,
        false_alarms: float = 0.01,
        minimum_shift: float = 0.05,
        calm_windows: int = 2,
        rolling: int = 12,
    ) -> None:
        self.target, self.level, self.joint = share("target", target), level_of(level), bool(joint)
        self.calm_probability = share("audit_probability", audit_probability, open_low=True)
        self.alarm_probability = share("alarm_probability", alarm_probability, open_low=True)
        if self.alarm_probability < self.calm_probability:
            raise InputError(
                f"alarm_probability is {alarm_probability:g}, below audit_probability ({audit_probability:g}); an "
                "alarm must raise the audit's share"
            )
        self.minimum_shift = share("minimum_shift", minimum_shift)
        self.calm_windows = count("calm_windows", calm_windows, least=1)
        self.rolling = count("rolling", rolling, least=1)
        self.scores = None if reference_scores is None else ScoreBins.of(reference_scores)
        self.mix = None if reference_mix is None else dict(reference_mix)
        self.alarm = ErrorAlarm(allowed_error, false_alarms=false_alarms)
        self.windows = 0
        self._past: deque[ErrorSequence] = deque(maxlen=self.rolling - 1)
        self._quiet = self.calm_windows
        self._open()

    @property
    def audit_probability(self) -> float:
        """Chance with which a kept item is to be audited now."""
        loud = self.alarm.raised or self._quiet < self.calm_windows
        return self.alarm_probability if loud else self.calm_probability

    @property
    def error(self) -> ErrorSequence:
        """Error of the audited items over the last windows, the open one included."""
        merged = ErrorSequence(level=self.level)
        for each in (*self._past, self._now):
            merged.merge(each)
        return merged

    def observe(self, losses: ArrayLike) -> bool:
        """Take in losses of answered audit items of the open window; return whether the alarm is raised.

        The audit's share rises at once: read `audit_probability` after it.
        """
        self._now.add(losses)
        if not self.alarm.raised:
            self.alarm.add(losses)
        return self.alarm.raised

    def close(
        self,
        name: str,
        counts: AuditCounts,
        *,
        scores: ArrayLike | None = None,
        mix: Mapping[str, int] | None = None,
        spent: Mapping[str, float] | None = None,
        allowed: Mapping[str, float] | None = None,
        closed: datetime | None = None,
        deadline: datetime | None = None,
    ) -> WindowReport:
        """Close the window: certify it, test for shift, and open the next.

        Parameters
        ----------
        name : str
            Of the window.
        counts : AuditCounts
            Its items, people's items, and audit; audit items unanswered by now count as wrong.
        scores : array of float, optional
            Scores of its items; needed if the watch has reference scores.
        mix : mapping of str to int, optional
            Its items by kind; needed if the watch has a reference mix.
        spent, allowed : mapping of str to float, optional
            What was spent, and the window's budget, by name (``human_s``, ``money_minor``).
        closed, deadline : datetime, optional
            When it was done, and when it had to be.

        Returns
        -------
        WindowReport

        Raises
        ------
        InputError
            The audit has fewer answers than were observed.
        StateError
            Scores or mix are missing.
        """
        answered = counts.audited - counts.unanswered
        if len(self._now) > answered:
            raise InputError(
                f"counts says {answered} audit items were answered, but {len(self._now)} were observed; give the "
                "window's own counts"
            )
        shifts = self._shifts(scores, mix)
        reasons = tuple(f"the {what} shifted (distance {each.distance:.3f})" for what, each in shifts if each.shifted)
        if self.alarm.raised:
            reasons = (f"the error of audited items is above {self.alarm.allowed:g}", *reasons)
        self.windows += 1
        level = AlphaSpending(self.level).level_of(self.windows) if self.joint else self.level
        low, high = self.error.interval
        self._quiet = 0 if reasons else self._quiet + 1
        if self.alarm.raised:
            self.alarm.reset()
        self._past.append(self._now)
        self._open()
        return WindowReport(
            name=name,
            counts=counts,
            certificate=None if reasons else counts.certify(level=level),
            target=self.target,
            reasons=reasons,
            shifts=dict(shifts),
            error_low=low,
            error_high=high,
            audit_probability=self.audit_probability,
            over_budget=exceeded(spent, allowed),
            late=deadline is not None and closed is not None and closed > deadline,
        )

    def rebase(self, *, scores: ArrayLike | None = None, mix: Mapping[str, int] | None = None) -> None:
        """Accept new traffic as the reference, after the plan was made anew for it."""
        if scores is not None:
            self.scores = ScoreBins.of(scores)
        if mix is not None:
            self.mix = dict(mix)

    def to_dict(self) -> dict[str, Any]:
        """Return settings and state as plain values, to go on in another process."""
        from hmc_crowd.routing._window import watch_to_dict

        return watch_to_dict(self)

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Self:
        """Return the watch that `to_dict` described."""
        from hmc_crowd.routing._window import watch_from_dict

        watch = cls.__new__(cls)
        watch_from_dict(watch, state)
        return watch

    def _open(self) -> None:
        self._now = ErrorSequence(level=self.level)
        self.alarm.start_window()

    def _shifts(self, scores: ArrayLike | None, mix: Mapping[str, int] | None) -> list[tuple[str, ShiftResult]]:
        found: list[tuple[str, ShiftResult]] = []
        limits = {"alpha": self.alarm.false_alarms, "minimum": self.minimum_shift}
        if self.scores is not None:
            if scores is None:
                raise StateError("scores is missing; the watch compares them with its reference: give the window's")
            found.append(("scores", shift_test(self.scores.counts, self.scores.count(scores), **limits)))
        if self.mix is not None:
            if mix is None:
                raise StateError("mix is missing; the watch compares it with its reference: give the window's counts")
            found.append(("mix", shift_test(self.mix, mix, **limits)))
        return found
