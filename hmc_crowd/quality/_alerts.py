"""What needs somebody's attention now, said once, and when is it over?

An alert is a rule on a figure. It is raised when the figure has been beyond its limit often enough in a row, raised
once while it lasts (with a reminder, if one is wanted), and ends with a recovery notice when the figure is back on the
right side of a second limit: without that gap a figure that trembles at its limit would ring all day.

This is a pure state machine: figures in, notices out, the state is a plain value that JSON or SQL can hold. Where the
notices go (log, webhook, board) is for others.

Source: requirements D3 and D9.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

__all__ = ["ALERT_RULES", "AlertNotice", "AlertRule", "AlertState", "check_alerts"]

_SEVERITIES = ("low", "medium", "high")


@dataclass(frozen=True)
class AlertRule:
    """When a figure is wrong.

    Parameters
    ----------
    name : str
    figure : str
        Which figure; its value may be a number, or one number per subject (a worker, a queue).
    limit : float
        Beyond it the figure is wrong.
    wrong : {"below", "above"}
        On which side.
    recovers_at : float, optional
        Where it counts as right again; by default the limit. On the other side of the limit, to leave a gap.
    in_a_row : int, default 1
        Looks that must agree before an alert is raised.
    remind_s : float, optional
        Seconds after which a lasting alert is said again; never by default.
    severity : {"low", "medium", "high"}, default "medium"
    hint : str
        What to do, for whoever reads it.

    Examples
    --------
    >>> AlertRule("quality", "quality", 0.3, "below", recovers_at=0.4, severity="high").limit
    0.3
    """

    name: str
    figure: str
    limit: float
    wrong: Literal["below", "above"]
    recovers_at: float | None = None
    in_a_row: int = 1
    remind_s: float | None = None
    severity: Literal["low", "medium", "high"] = "medium"
    hint: str = ""

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.figure.strip():
            raise InputError(f"name is {self.name!r}, figure is {self.figure!r}; a rule needs both")
        if self.wrong not in ("below", "above") or self.severity not in _SEVERITIES:
            raise InputError(
                f"rule {self.name!r} has wrong={self.wrong!r}, severity={self.severity!r}; use below or above, and "
                f"{', '.join(_SEVERITIES)}"
            )
        if not math.isfinite(self.limit) or self.in_a_row < 1 or not (self.remind_s is None or self.remind_s > 0):
            raise InputError(f"rule {self.name!r} needs a finite limit, in_a_row of at least 1, and remind_s above 0")
        back = self.limit if self.recovers_at is None else self.recovers_at
        if not math.isfinite(back) or self.is_wrong(back):
            raise InputError(f"rule {self.name!r} recovers at {back:g}, which is still {self.wrong} {self.limit:g}")

    def is_wrong(self, value: float) -> bool:
        """Whether a value is beyond the limit."""
        return value < self.limit if self.wrong == "below" else value > self.limit

    def is_right(self, value: float) -> bool:
        """Whether a value ends an alert."""
        back = self.limit if self.recovers_at is None else self.recovers_at
        return value >= back if self.wrong == "below" else value <= back


@dataclass(frozen=True)
class AlertNotice:
    """One thing to say: an alert, a reminder, or a recovery."""

    kind: Literal["alert", "reminder", "recovery"]
    rule: str
    subject: str
    value: float
    severity: str
    at: datetime
    since: datetime
    message: str

    def __str__(self) -> str:
        return f"{self.kind.upper()} ({self.severity}): {self.message}"


@dataclass(frozen=True)
class AlertState:
    """What is known of one rule and subject between two looks.

    Parameters
    ----------
    wrong_in_a_row : int
    since : datetime or None
        Since when the alert lasts; None while there is none.
    said : datetime or None
        When it was said last.
    """

    wrong_in_a_row: int = 0
    since: datetime | None = None
    said: datetime | None = None


ALERT_RULES = (
    AlertRule(
        "worker quality",
        "quality",
        0.3,
        "below",
        recovers_at=0.4,
        severity="high",
        hint="look at the worker's answers and at the gold; his work is paid",
    ),
    AlertRule("spend rate", "spend_share_of_plan", 1.2, "above", recovers_at=1.1, hint="compare prices and redundancy"),
    AlertRule("return rate", "return_rate", 0.2, "above", recovers_at=0.15, hint="try the task yourself: is it clear?"),
    AlertRule("queue age", "queue_age_s", 86_400.0, "above", recovers_at=43_200.0, hint="invite more people"),
    AlertRule("underpayment", "pay_share_of_floor", 1.0, "below", severity="high", hint="top up, then raise the price"),
    AlertRule("workers", "workers", 5_000, "below", severity="low", hint="recruit"),
    AlertRule("countries", "countries", 20, "below", severity="low", hint="recruit elsewhere"),
    AlertRule("uptime", "uptime", 0.995, "below", severity="high", hint="look at the server's log"),
    AlertRule("response time", "response_s", 2.0, "above", in_a_row=3, hint="look at the server's load"),
    AlertRule("experts", "experts", 50, "below", severity="low", hint="recruit experts"),
    AlertRule("expert time", "expert_s", 15.0, "above", severity="low", hint="look at what experts are asked"),
    AlertRule("expert accuracy", "expert_accuracy", 0.95, "below", hint="look at the overturned decisions"),
)
"""The source's figures as settings (D3, D9) and ours; take those whose figures you have."""

Key = tuple[str, str]


def check_alerts(
    rules: Sequence[AlertRule],
    figures: Mapping[str, float | Mapping[Any, float | None] | None],
    state: Mapping[Key, AlertState] | None = None,
    *,
    at: datetime,
) -> tuple[tuple[AlertNotice, ...], dict[Key, AlertState]]:
    """Look at all figures once.

    Parameters
    ----------
    rules : sequence of AlertRule
        No name twice.
    figures : mapping
        Figure -> number, or subject -> number. An unknown figure (absent, None, NaN) changes nothing: an alert neither
        begins nor ends by not knowing.
    state : mapping, optional
        What the look before returned; nothing at the first.
    at : aware datetime

    Returns
    -------
    (tuple of AlertNotice, dict)
        What to say now, and the state for the next look, by (rule, subject); the subject of a single number is "".

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> rule = AlertRule("quality", "quality", 0.3, "below", recovers_at=0.4)
    >>> noon, state, said = datetime(2026, 1, 5, 12, tzinfo=UTC), None, []
    >>> for value in (0.5, 0.2, 0.25, 0.35, 0.45):
    ...     notices, state = check_alerts([rule], {"quality": {"ann": value}}, state, at=noon)
    ...     said += [f"{each.kind} {each.value:g}" for each in notices]
    >>> said
    ['alert 0.2', 'recovery 0.45']
    """
    now = as_utc(at, name="at")
    names = [rule.name for rule in rules]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"rules name {twice!r} twice; give each rule its own name")
    kept, notices = dict(state or {}), []
    for rule in rules:
        given = figures.get(rule.figure)
        for subject, value in (given if isinstance(given, Mapping) else {"": given}).items():
            if value is None or math.isnan(value):
                continue
            key = (rule.name, str(subject))
            notice, kept[key] = _step(rule, key[1], float(value), kept.get(key, AlertState()), now)
            if notice is not None:
                notices.append(notice)
            if kept[key] == AlertState():
                del kept[key]
    order = {severity: place for place, severity in enumerate(reversed(_SEVERITIES))}
    return tuple(sorted(notices, key=lambda each: (order[each.severity], each.rule, each.subject))), kept


def _step(
    rule: AlertRule, subject: str, value: float, old: AlertState, now: datetime
) -> tuple[AlertNotice | None, AlertState]:
    """Return what to say of one figure, and its next state."""

    def notice(kind: Literal["alert", "reminder", "recovery"], since: datetime, words: str) -> AlertNotice:
        who = f" of {subject}" if subject else ""
        hint = f"; {rule.hint}" if rule.hint and kind != "recovery" else ""
        message = f"{rule.name}{who} is {value:g}, {words}{hint}"
        return AlertNotice(kind, rule.name, subject, value, rule.severity, now, since, message)

    if old.since is None:
        if not rule.is_wrong(value):
            return None, AlertState()
        count = old.wrong_in_a_row + 1
        if count < rule.in_a_row:
            return None, AlertState(count)
        return notice("alert", now, f"{rule.wrong} {rule.limit:g}"), AlertState(count, now, now)
    if rule.is_right(value):
        return notice("recovery", old.since, f"right again after {_span(now - old.since)}"), AlertState()
    if rule.remind_s is not None and old.said is not None and (now - old.said).total_seconds() >= rule.remind_s:
        words = f"still not right after {_span(now - old.since)}"
        return notice("reminder", old.since, words), replace(old, said=now)
    return None, old


def _span(span: timedelta) -> str:
    # A clock that was set back makes no span negative.
    seconds = max(span.total_seconds(), 0.0)
    for size, word in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= size:
            return f"{seconds / size:.1f} {word}"
    return f"{seconds:.0f} seconds"
