"""What does each page show? Facts, tables and drawings of the report's own blocks, with links between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd._base.money import Money
from hmc_crowd.board._campaign_gate import alerts_of
from hmc_crowd.board._figures import gold_over_time, read_live
from hmc_crowd.board._people_table import notice_table, people_table
from hmc_crowd.board._running import missing_note, pool_table, running_tiles
from hmc_crowd.campaign._explain import explain
from hmc_crowd.campaign._report import report_data
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.report import Axis, Column, Series, Table, line_chart
from hmc_crowd.report._curve import curve_chart

if TYPE_CHECKING:
    from hmc_crowd.board._figures import Live
    from hmc_crowd.board._gate import Gate
    from hmc_crowd.board._pulse import AlertLog
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.report import Chart

__all__ = ["item_view", "live_view", "overview", "submission_view", "worker_view"]

_SHOWN_SUBMISSIONS = 200


def live_view(context: Context, gate: Gate, log: AlertLog) -> dict[str, Any]:
    """Return what changes while people work: tiles, alerts, queues, the load of pools."""
    live = read_live(context)
    alerts = alerts_of(context, gate, live.figures, log)
    last = log.note(context.name, alerts, live.at)
    tiles = [*_tiles(live), *running_tiles(live, alerts=len(alerts), last=last)]
    pools = None if not live.pools else pool_table(live)
    return {
        "live": live,
        "tiles": tiles,
        "alerts": alerts,
        "queues": _queues(live),
        "asked": _asked(live),
        "pools": pools,
    }


def overview(context: Context, gate: Gate, log: AlertLog) -> dict[str, Any]:
    """Return the campaign's page: what changes, and what the newest plan promised."""
    shown = live_view(context, gate, log)
    live: Live = shown["live"]
    watched = {alert.about for alert in shown["alerts"] if alert.about}
    charts: list[Chart] = []
    table = None
    try:
        data = report_data(context, None)
    except StateError:
        data = None
    if data is not None:
        drawn = None if data.curve is None else curve_chart(data.curve, data.plan)
        charts += [] if drawn is None else [drawn]
    if len(live.gold) > 1:
        charts.append(_gold_chart(live.gold))
    if data is not None and data.workers is not None:
        table = people_table(context, data.workers, watched)
    newest = _submission_table(live.submissions.tail(_SHOWN_SUBMISSIONS).iloc[::-1])
    note = "" if data is None else data.curve_note
    return {**shown, "charts": charts, "curve_note": note, "workers": table, "submissions": newest} | {
        "notices": notice_table(context)
    }


def item_view(context: Context, item: str, aspect: str | None) -> dict[str, Any]:
    """Return one item's way through the campaign, for those who do not judge it.

    Raises
    ------
    InputError
        There is no such item.
    """
    name = aspect or context.aspects()[0].name
    told = explain(context, item, aspect=name)
    columns = ["worker", "label", "mode", "submitted", "seconds", "excluded", "submission_id", "platform"]
    answers = Table(key="answers", title="Answers", frame=_readable(told.answers[columns]))
    return {"told": told, "answers": answers, "aspects": [each.name for each in context.aspects()]}


def worker_view(context: Context, worker: str) -> dict[str, Any]:
    """Return what one worker did, by pseudonym.

    Raises
    ------
    InputError
        Nobody of that name has worked here.
    """
    live = read_live(context)
    mine = live.submissions[live.submissions["worker"] == worker]
    if mine.empty:
        raise InputError(f"worker is {worker!r}; nobody of that name has worked in campaign {context.name!r}")
    gold = live.gold[live.gold["worker"] == worker]
    charts = [_gold_chart(gold.reset_index(drop=True))] if len(gold) > 1 else []
    with context.store.read() as tx:
        answers = tx.work.answers(context.campaign_id)
        scores = tx.workers.scores(context.campaign_id)
    said = answers[answers["worker"] == worker]
    score = scores[scores["worker"] == worker].to_dict("records")
    facts = [
        ("Submissions", f"{len(mine):,}"),
        ("Answers", f"{len(said):,}"),
        ("Median time of an answer", f"{said['seconds'].median():,.1f} s" if len(said) else "not known"),
        ("Right on gold", f"{int(gold['right'].sum())} of {len(gold)}"),
    ]
    if score:
        facts.append(
            ("Score, 95% interval", f"{score[0]['score']:.2f} ({score[0]['low']:.2f} to {score[0]['high']:.2f})")
        )
    why = said["excluded"].dropna().unique()
    facts.append(("Left out of the aggregation", str(why[0]) if len(why) else "no"))
    return {"worker": worker, "facts": facts, "charts": charts, "submissions": _submission_table(mine.iloc[::-1])}


def submission_view(context: Context, platform: str, submission: str) -> dict[str, Any]:
    """Return one submission: clocks, answers, bonuses, review.

    Raises
    ------
    InputError
        There is no such submission in this campaign.
    """
    with context.store.read() as tx:
        cid = context.campaign_id
        known = tx.work.submissions(cid)
        answers = tx.work.answers(cid)
        bonuses = [each for each in tx.payments.read(cid) if each.submission_id == submission]
        hits = {hit.key: hit for hit in tx.work.hits(cid)}
    row = known[(known["platform"] == platform) & (known["submission_id"] == submission)]
    if row.empty:
        raise InputError(f"submission is {submission!r}; campaign {context.name!r} has none of that id on {platform!r}")
    found = row.iloc[0].to_dict()
    said = answers[(answers["submission_id"] == submission) & (answers["platform"] == platform)]
    columns = ["task", "aspect", "label", "submitted", "seconds", "is_gold"]
    table = Table(key="answers", title="Answers", frame=_readable(said[columns].rename(columns={"task": "item"})))
    facts = [(text, found[name]) for name, text in _CLOCKS]
    shown = [(text, "–" if pd.isna(value) else _plain(value)) for text, value in facts]
    paid = [each for each in bonuses if each.platform == platform]
    return {"row": found, "facts": shown, "answers": table, "payments": paid, "hit": hits[found["hit_key"]]}


_CLOCKS = (
    ("worker", "Worker"),
    ("state", "State"),
    ("review", "Review"),
    ("reviewed_by", "Reviewed by"),
    ("accepted_at", "Accepted"),
    ("submitted_at", "Handed in"),
    ("platform_elapsed_s", "Time by the platform"),
    ("page_elapsed_s", "Time on the page"),
    ("active_s", "Active time"),
    ("time_quality", "Quality of the times"),
    ("excluded", "Left out of the aggregation"),
)


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.1f} s"
    return f"{value:%Y-%m-%d %H:%M} UTC" if isinstance(value, pd.Timestamp) else str(value)


def _readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a copy with times as people read them, in UTC."""
    times = {name: frame[name].dt.strftime("%Y-%m-%d %H:%M") for name in frame.select_dtypes("datetimetz").columns}
    return frame.assign(**times).reset_index(drop=True)


def _tiles(live: Live) -> list[tuple[str, str, str]]:
    told, made = live.status, live.made_from
    asked = told.people + told.audited
    minutes, limit_s = told.human_s / 60, made.get("max_human_s")
    redundancy = "of one person an item" if live.planned_s is not None else ""
    planned = "no plan yet" if live.planned_s is None else f"the plan: {live.planned_s / 60:,.0f}, {redundancy}"
    accuracy = live.figures.gold_accuracy
    rate = live.figures.hourly_minor
    return [
        ("Items answered", _percent(live.item_share), f"of {asked:,} that people see; {told.items:,} items in all"),
        ("Human share", _percent(told.human_share if told.planned else None), "of the plan's items, audit included"),
        ("People's minutes", f"{minutes:,.0f}", f"limit {limit_s / 60:,.0f}" if limit_s else planned),
        ("Money", live.committed, _money_note(live)),
        ("Right on gold", _percent(accuracy), f"of the last {live.figures.gold_n:,} gold answers"),
        ("Earned an hour", _earned(rate, told.currency), _floor(live)),
        ("Agreement at least", _percent(told.agreement_at_least), _certified(told.agreement_at_least)),
        ("Next step", "lift the stop" if told.next_step == "lift" else told.next_step, f"round {told.round}"),
    ]


def _earned(rate: float | None, currency: str) -> str:
    return "not known" if rate is None else str(Money(round(rate), currency))


def _floor(live: Live) -> str:
    floor = live.pay.floor_minor
    return "median of submissions" + ("" if floor is None else f"; the floor is {Money(floor, live.pay.currency)}")


def _certified(bound: float | None) -> str:
    return "no audit yet" if bound is None else "certified"


def _money_note(live: Live) -> str:
    share = live.figures.budget_share
    return "reserved and spent; the plan set no limit" if share is None else f"{share:.0%} of the plan's limit"


def _percent(share: float | None) -> str:
    return "not known" if share is None else f"{share:.1%}"


def _queues(live: Live) -> list[tuple[str, str, str]]:
    told, waits = live.status, live.figures
    doors = {name: live.door.get((name, True), 0) for name in ("people", "audit")}
    return [
        ("Places open", f"{told.open_places:,}", f"in {told.hits:,} HITs"),
        ("Waiting for a review", f"{told.not_reviewed:,}", _age(waits.oldest_review_s)),
        (
            "Questions for a person",
            f"{waits.questions:,}",
            "see hmc-crowd status" if waits.questions else "",
        ),
        *([("Appeals for a person", f"{len(told.appeals):,}", "see Experts' work")] if told.appeals else []),
        ("Questions without an answer", f"{told.skipped + told.flagged:,}", missing_note(live.missing)),
        ("Machine door, people and audit", f"{sum(doors.values()):,}", _age(waits.oldest_queue_s)),
        ("Machine door, past the deadline", f"{waits.overdue:,}", ""),
    ]


def _asked(live: Live) -> list[str]:
    """Say what is not as plain as blind answers under one guideline: the two arms, stale answers, people who lack."""
    told = live.status
    said = [str(each) for each in told.arms]
    if told.stopped is not None:
        said.append(
            f"The campaign is stopped since {told.stopped:%Y-%m-%d %H:%M} UTC: nothing is offered to anybody until "
            "hmc-crowd stop --lift"
        )
    if told.quotas:
        said.append(f"The mix of people that is asked for is not there yet: {'; '.join(told.quotas)}")
    if told.stale:
        said.append(
            f"{told.stale:,} answers were given under another guideline: they are kept, do not count, and the next "
            "plan asks again"
        )
    return said


def _age(seconds: float | None) -> str:
    if seconds is None:
        return "nothing waits"
    return f"the oldest for {seconds / 60:,.0f} min" if seconds < 7200 else f"the oldest for {seconds / 3600:,.0f} h"


_LINES = (("the last 50", "rolling"), ("all until then", "so_far"))


def _gold_chart(gold: pd.DataFrame) -> Chart:
    over = gold_over_time(gold)
    last = over.iloc[-1]
    return line_chart(
        "gold-chart",
        [Series(name, over["hours"], over[column]) for name, column in _LINES],
        title="Right answers on gold over time",
        description=f"After {last['hours']:.1f} hours {last['so_far']:.1%} of {len(over):,} gold answers were right.",
        x=Axis("Hours since the first gold answer"),
        y=Axis("Right answers on gold (%)", percent=True),
    )


def _submission_table(rows: pd.DataFrame) -> Table:
    columns = [
        "submission_id",
        "platform",
        "worker",
        "state",
        "submitted_at",
        "platform_elapsed_s",
        "active_s",
        "review",
    ]
    frame = rows[columns].reset_index(drop=True)
    names = {"submission_id": Column("Submission"), "submitted_at": Column("Handed in")}
    return Table(key="submissions", title="Submissions, newest first", frame=_readable(frame), columns=names)
