"""Can the stream at the machine door still be trusted? Its windows, their certificates, and what an alarm changes.

A `StreamWatch` (and, where minutes are held, a `PriceController`) lives in the database. Whoever looks moves it on: it
takes in what people have said of the audited items, closes windows whose time and grace are over, and tells the door
with which chance to audit and how dear people are. Nothing but the open windows is read, whatever has come before.

An alarm raises the audit's share at once, so a window may hold items that were audited at two rates: it is certified
by parts then (`hmc_crowd.routing.certify_strata`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import AuditCounts, PriceController, StreamWatch, WindowReport, certify_strata

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._policy import LivePolicy
    from hmc_crowd.store import Transaction

__all__ = ["Stream", "look", "peek", "require_stream", "start", "steered"]

_SHOWN = 24
_SCORES = 100_000


@dataclass(frozen=True)
class Stream:
    """How a watched stream stands.

    Parameters
    ----------
    target : float
        Agreement that each window is to reach.
    audit_probability : float
        Chance with which an item that the machine keeps is audited now.
    alarmed : bool
        Whether that is the raised one.
    price : float
        How many times dearer than planned people are now, so that they keep to their minutes.
    error_low, error_high : float
        Interval for the error of what the machine keeps, over the last windows.
    opened_at : datetime
        When the oldest open window began.
    windows : tuple of dict
        The last windows that closed, oldest first: ``window, items, human, audited, wrong, unanswered,
        agreement_at_least`` (None where it was withdrawn), ``holds, withdrawn`` (why), ``audit_probability, human_s``.
    """

    target: float
    audit_probability: float
    alarmed: bool
    price: float
    error_low: float
    error_high: float
    opened_at: datetime
    windows: tuple[dict[str, Any], ...]

    def __str__(self) -> str:
        last = self.windows[-1] if self.windows else None
        said = "no window has closed yet"
        if last is not None and last["withdrawn"]:
            said = f"the last window's certificate is withdrawn ({last['withdrawn']})"
        elif last is not None:
            verdict = "holds" if last["holds"] else f"is below {self.target:g}"
            said = f"the last window {verdict}: agreement >= {last['agreement_at_least']:.4f}"
        return (
            f"{said}; error of what the machine keeps {self.error_low:.4f} to {self.error_high:.4f}; "
            f"{'ALARM, ' if self.alarmed else ''}auditing {self.audit_probability:.3g} of it"
        )


def start(
    context: Context, *, window_s: float, grace_s: float, human_s_per_hour: float | None, shift: bool, **watch: Any
) -> Stream:
    """Begin to watch what comes through the door from now on."""
    if not window_s > 0 or not grace_s >= 0:
        raise InputError(f"window_s is {window_s!r} and grace_s {grace_s!r}; give seconds above 0, and at least 0")
    plan = context.latest_plan()
    with context.store.begin() as tx:
        aspect = tx.campaigns.aspects(context.campaign_id)[0].name
        if shift:
            known = tx.frames.read(context.campaign_id, "predictions", aspect=aspect, columns=["confidence"])
            watch["reference_scores"] = known["confidence"].to_numpy(dtype=float)
        made = StreamWatch(**watch)
        prices = None
        if human_s_per_hour is not None:
            prices = PriceController({"human_s": float(human_s_per_hour)}, {"human_s": 1.0}, least=0.01, most=100.0)
        state = {
            "watch": made.to_dict(),
            "prices": None if prices is None else prices.to_dict(),
            "window_s": float(window_s),
            "grace_s": float(grace_s),
            "start": context.clock.now().isoformat(),
            "seen": [0, 0],
            # Windows of an earlier watch keep their numbers.
            "closed": int((tx.streams.state(context.campaign_id) or {}).get("closed", 0)),
        }
        tx.streams.save(context.campaign_id, state)
        context.log(tx, "stream watched", plan=plan.content_hash, target=made.target, window_s=window_s)
        return _shown(context, tx, state, made)


def peek(context: Context, tx: Transaction) -> Stream | None:
    """Return how the stream stood when somebody looked last; None where none is watched."""
    state = tx.streams.state(context.campaign_id)
    return None if state is None else _shown(context, tx, state, StreamWatch.from_dict(state["watch"]))


def look(context: Context) -> Stream | None:
    """Take in what people have said since, close what is over, and return how the stream stands."""
    with context.store.read() as tx:
        if tx.streams.state(context.campaign_id) is None:
            return None
    with context.store.begin() as tx:
        state = tx.streams.state(context.campaign_id, lock=True)
        if state is None:
            return None
        watch = StreamWatch.from_dict(state["watch"])
        aspect = tx.campaigns.aspects(context.campaign_id)[0].name
        now, length = context.clock.now(), timedelta(seconds=state["window_s"])
        while True:
            begin = datetime.fromisoformat(state["start"])
            audit = _verdicts(tx.streams.audit(context.campaign_id, aspect, begin, begin + length))
            _observe(watch, state, audit)
            if now < begin + length + timedelta(seconds=state["grace_s"]):
                break
            _close(context, tx, state, watch, audit, (begin, begin + length))
            _advance(context, tx, state, begin + length, length, now)
        state["watch"] = watch.to_dict()
        tx.streams.save(context.campaign_id, state)
        return _shown(context, tx, state, watch)


def steered(rule: LivePolicy, stream: Stream | None) -> LivePolicy:
    """Return the rule with the stream's chance of an audit, and its price of people's effort."""
    if stream is None:
        return rule
    policy = rule.policy
    version = f"{policy.version}~{stream.audit_probability:g}~{stream.price:.4g}"
    dearer = policy.trade_off * stream.price
    changed = replace(policy, audit_probability=stream.audit_probability, trade_off=dearer, version=version)
    return replace(rule, policy=changed)


def _verdicts(audit: pd.DataFrame) -> pd.DataFrame:
    """Return ``probability, answered, wrong`` of each audited item; one is answered once nobody is awaited any more."""
    rows = []
    for _, each in audit.groupby("item", sort=False):
        votes = each["label"].dropna().value_counts()
        answered = len(votes) > 0 and not bool(each["is_open"].iloc[0]) and isinstance(each["machine"].iloc[0], str)
        best = votes[votes == votes.max()] if len(votes) else votes
        # A tie among people is no agreement with the machine.
        agrees = answered and len(best) == 1 and best.index[0] == each["machine"].iloc[0]
        rows.append((float(each["probability"].iloc[0]), answered, answered and not agrees))
    import pandas as pd

    return pd.DataFrame(rows, columns=["probability", "answered", "wrong"]).astype({"answered": bool, "wrong": bool})


def _observe(watch: StreamWatch, state: dict[str, Any], audit: pd.DataFrame) -> None:
    """Show the watch what is new of the open window; what is answered stays so."""
    answered, wrong = int(audit["answered"].sum()), int(audit["wrong"].sum())
    new, bad = answered - state["seen"][0], wrong - state["seen"][1]
    if new > 0:
        watch.observe([1.0] * bad + [0.0] * (new - bad))
    state["seen"] = [answered, wrong]


def _close(
    context: Context,
    tx: Transaction,
    state: dict[str, Any],
    watch: StreamWatch,
    audit: pd.DataFrame,
    span: tuple[datetime, datetime],
) -> None:
    """Certify a window and keep what is said of it; an empty one is passed over."""
    cid = context.campaign_id
    sent, kept = tx.streams.counts(cid, *span), tx.streams.kept(cid, *span)
    items, people = sum(sent.values()), sent.get("people", 0)
    state["seen"] = [0, 0]
    if not items:
        return
    parts = [_part(audit[audit["probability"] == chance], n) for chance, n in sorted(kept.items())]
    if people:
        parts.append(AuditCounts(people, people, 0, 0))
    whole = sum(parts[1:], start=parts[0])
    scores = tx.streams.scores(cid, *span, most=_SCORES) if watch.scores is not None else None
    report = watch.close(span[0].isoformat(), whole, scores=scores)
    if report.certificate is not None and len(kept) > 1:
        report = replace(report, certificate=certify_strata(parts, level=report.certificate.level))
    spent = tx.streams.human_s(cid, *span)
    if state["prices"] is not None:
        prices = PriceController(**state["prices"]).after({"human_s": spent}, hours=state["window_s"] / 3600)
        state["prices"] = prices.to_dict()
    state["closed"] += 1
    tx.streams.close(cid, state["closed"], _row(report) | {"human_s": spent})
    context.log(tx, "stream window closed", window=report.name, holds=report.holds, reasons=list(report.reasons))


def _part(audit: pd.DataFrame, kept: int) -> AuditCounts:
    answered = int(audit["answered"].sum())
    return AuditCounts(kept, 0, len(audit), int(audit["wrong"].sum()), len(audit) - answered)


def _advance(
    context: Context, tx: Transaction, state: dict[str, Any], begin: datetime, length: timedelta, now: datetime
) -> None:
    """Open the next window; over hours in which nothing came one jumps."""
    next_at = tx.streams.next_at(context.campaign_id, begin)
    idle = (min(now, next_at or now) - begin) // length
    state["start"] = (begin + max(0, idle) * length).isoformat()


def _row(report: WindowReport) -> dict[str, Any]:
    row = report.to_frame().iloc[0].to_dict()
    kept = {str(name): value.item() if hasattr(value, "item") else value for name, value in row.items()}
    kept["agreement_at_least"] = None if report.certificate is None else report.certificate.agreement_at_least
    return kept


def _shown(context: Context, tx: Transaction, state: dict[str, Any], watch: StreamWatch) -> Stream:
    low, high = watch.error.interval
    price = 1.0 if state["prices"] is None else state["prices"]["prices"]["human_s"]
    return Stream(
        target=watch.target,
        audit_probability=watch.audit_probability,
        alarmed=watch.audit_probability > watch.calm_probability,
        price=price,
        error_low=low,
        error_high=high,
        opened_at=datetime.fromisoformat(state["start"]),
        windows=tuple(tx.streams.windows(context.campaign_id, last=_SHOWN)),
    )


def require_stream(found: Stream | None, name: str) -> Stream:
    """Return the stream, or say that none is watched."""
    if found is None:
        raise StateError(f"campaign {name!r} has no watched stream; first watch_stream()")
    return found
