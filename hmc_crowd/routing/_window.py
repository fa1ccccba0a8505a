"""What is said of one window of a stream, and how a watch gets from one process to another."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.routing._error_alarm import ErrorAlarm
from hmc_crowd.routing._error_sequence import ErrorSequence
from hmc_crowd.routing._render import html_table
from hmc_crowd.routing._shift import ScoreBins, ShiftResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from hmc_crowd.routing._certificate import Certificate
    from hmc_crowd.routing._strata import AuditCounts

__all__ = ["WindowReport", "exceeded", "watch_from_dict", "watch_to_dict"]

_SETTINGS = ("target", "level", "joint", "calm_probability", "alarm_probability", "minimum_shift", "calm_windows")
_FORMAT = 1


@dataclass(frozen=True)
class WindowReport:
    """What is known of a window when it closes. Made by `StreamWatch.close`.

    Parameters
    ----------
    name : str
        Of the window.
    counts : AuditCounts
        Items, people's items, audit.
    certificate : Certificate or None
        None if it was withdrawn.
    target : float
        Agreement that was to be reached.
    reasons : tuple of str
        Why it was withdrawn.
    shifts : mapping of str to ShiftResult
        Tests of scores and mix, where there are references.
    error_low, error_high : float
        Interval for the error rate of kept items over the last windows.
    audit_probability : float
        For the next window.
    over_budget : tuple of str
        Names of budgets that were exceeded.
    late : bool
        Whether it closed after its deadline.
    """

    name: str
    counts: AuditCounts
    certificate: Certificate | None
    target: float
    reasons: tuple[str, ...]
    shifts: Mapping[str, ShiftResult]
    error_low: float
    error_high: float
    audit_probability: float
    over_budget: tuple[str, ...]
    late: bool

    @property
    def holds(self) -> bool:
        """Whether the target is certified."""
        return self.certificate is not None and self.certificate.agreement_at_least >= self.target

    def __str__(self) -> str:
        said = f"certificate withdrawn ({'; '.join(self.reasons)})" if self.certificate is None else ""
        if self.certificate is not None:
            verdict = "holds" if self.holds else f"not certified at {self.target:g}"
            said = f"{verdict}: {self.certificate}"
        extra = "".join(f"; {name} exceeded" for name in self.over_budget) + ("; late" if self.late else "")
        audit = f"audit {100 * self.audit_probability:.3g}% of what the machine keeps"
        return f"{self.name}: {said}{extra}; {audit}"

    def _repr_html_(self) -> str:
        return html_table(f"Window {self.name}", self._row().items())

    def to_frame(self) -> pd.DataFrame:
        """Return one row: counts, bound, interval of the error, verdicts."""
        import pandas as pd

        return pd.DataFrame([self._row()])

    def _row(self) -> dict[str, Any]:
        bound = None if self.certificate is None else self.certificate.agreement_at_least
        return {
            "window": self.name,
            "items": self.counts.items,
            "human": self.counts.human,
            "audited": self.counts.audited,
            "wrong": self.counts.wrong,
            "unanswered": self.counts.unanswered,
            "agreement_at_least": float("nan") if bound is None else bound,
            "holds": self.holds,
            "withdrawn": "; ".join(self.reasons),
            "error_low": self.error_low,
            "error_high": self.error_high,
            "audit_probability": self.audit_probability,
            "over_budget": ", ".join(self.over_budget),
            "late": self.late,
        }


def exceeded(spent: Mapping[str, float] | None, allowed: Mapping[str, float] | None) -> tuple[str, ...]:
    """Return the names of which more was spent than allowed."""
    return tuple(name for name, limit in (allowed or {}).items() if (spent or {}).get(name, 0.0) > limit)


def watch_to_dict(watch: Any) -> dict[str, Any]:
    """Return a watch's settings and state as plain values."""
    bins = watch.scores
    return {
        "format": _FORMAT,
        **{name: getattr(watch, name) for name in _SETTINGS},
        "rolling": watch.rolling,
        "windows": watch.windows,
        "quiet": watch._quiet,
        "alarm": watch.alarm.to_dict(),
        "now": watch._now.to_dict(),
        "past": [each.to_dict() for each in watch._past],
        "mix": watch.mix,
        "scores": None if bins is None else {"edges": bins.edges.tolist(), "counts": bins.counts.tolist()},
    }


def watch_from_dict(watch: Any, state: Mapping[str, Any]) -> None:
    """Fill an empty watch with what `watch_to_dict` returned."""
    if state.get("format") != _FORMAT:
        raise InputError(f"state has format {state.get('format')!r}; give what StreamWatch.to_dict returned")
    for name in (*_SETTINGS, "rolling", "windows", "mix"):
        setattr(watch, name, state[name])
    watch._quiet = state["quiet"]
    watch.alarm = ErrorAlarm.from_dict(state["alarm"])
    watch._now = ErrorSequence.from_dict(state["now"])
    watch._past = deque((ErrorSequence.from_dict(each) for each in state["past"]), maxlen=watch.rolling - 1)
    bins = state["scores"]
    watch.scores = None
    if bins is not None:
        watch.scores = ScoreBins(np.array(bins["edges"], dtype=np.float64), np.array(bins["counts"], dtype=np.int64))
