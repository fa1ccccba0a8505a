"""Commands for pools of people: pools add, list, shift, capacity, fair-pay, payroll."""

from typing import Annotated, Any

import typer

from hmc_crowd._base.money import Money
from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    PEOPLE,
    AsJson,
    CampaignName,
    Database,
    Language,
    OutFile,
    Overwrite,
    Skill,
    Workplace,
    app,
    connect,
    open_campaign,
)
from hmc_crowd.cli._arguments import read_moment, read_money, read_rate, require_free, skill_words
from hmc_crowd.cli._show import emit_json, notes, say, table
from hmc_crowd.cli._wording import HelpfulGroup

pools_app = typer.Typer(cls=HelpfulGroup, help="Pools of people: price, capacity, skills, shifts.")
app.add_typer(pools_app, name="pools", rich_help_panel=PEOPLE)

From = Annotated[str, typer.Argument(metavar="FROM", help="With its zone: 2026-12-01T09:00Z, or +01:00 at the end.")]
To = Annotated[str, typer.Argument(metavar="TO", help="The same way.")]


@pools_app.command("add")
def pools_add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As invitations and `publish --pool` name it.")],
    price: Annotated[
        str | None, typer.Option("--price", metavar="RATE", help="Of an hour (30/h), or of an answer (0.60).")
    ] = None,
    salaried: Annotated[bool, typer.Option("--salaried", help="Nothing more is paid: no --price.")] = False,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="crowd, tier1, tier2, tier3 (experts), or auditor.")
    ] = "crowd",
    per_hour: Annotated[
        float, typer.Option("--capacity", metavar="N", help="Answers that one person gives in an hour.")
    ] = 20.0,
    skill: Skill = None,
    language: Language = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Add a pool; its people come by `hmc-crowd invites issue NAME --pool POOL`."""
    with open_campaign(db, campaign) as opened:
        form, money = read_rate(price, salaried=salaried, currency=opened.status().currency)
        made = opened.add_pool(
            name,
            kind=kind,
            pay_form=form,
            price_minor=money.minor,
            currency=money.currency,
            capacity_per_hour=per_hour,
            skills=skill_words(skill, language),
        )
    if as_json:
        emit_json(made)
    else:
        say(f"pool {made.name}: {made.kind}, {_price(made)}, {made.capacity_per_hour:g} answers an hour and person")


def _price(pool: Any) -> str:
    if pool.pay_form == "salaried":
        return "salaried"
    return f"{Money(pool.price_minor, pool.currency)} {'an hour' if pool.pay_form == 'per_hour' else 'an answer'}"


@pools_app.command("list")
def pools_list(
    workplace: Workplace = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """List the pools with their people, and the shifts to come; asks the workplace first."""
    import pandas as pd

    with open_campaign(db, campaign) as opened, connect("local", workplace) as place:
        opened.meet_people(place)
        pools, shifts = opened.pools(), opened.shifts(starts_at=opened._context.clock.now())
    if as_json:
        emit_json({"pools": pools, "shifts": shifts})
        return
    columns = ["pool", "kind", "price", "answers_per_hour", "skills", "people", "opted_out"]
    rows = [
        (
            each.name,
            each.kind,
            _price(each),
            each.capacity_per_hour,
            ", ".join(each.skills),
            each.members,
            ", ".join(f"{name}: {count}" for name, count in sorted(each.opted_out.items())),
        )
        for each in pools
    ]
    table(pd.DataFrame(rows, columns=columns), title="Pools")
    planned = [
        (each.pool, each.worker or "", *(f"{at:%Y-%m-%d %H:%M}Z" for at in (each.starts_at, each.ends_at)), each.people)
        for each in shifts
    ]
    say("")
    table(pd.DataFrame(planned, columns=["pool", "worker", "from", "to", "people"]), title="Shifts to come")


@pools_app.command("shift")
def pools_shift(
    pool: Annotated[str, typer.Argument(metavar="POOL", help="Its name.")],
    starts: From,
    ends: To,
    people: Annotated[int, typer.Option("--people", min=1, metavar="N", help="How many are at work.")] = 1,
    worker: Annotated[
        str | None, typer.Option("--worker", metavar="WORKER", help="Whose shift it is, by the invitation's name.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take this shift of the pool back.")] = False,
    workplace: Workplace = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Plan when people of a pool are at work; their pages show it."""
    begin, end = read_moment(starts, name="FROM"), read_moment(ends, name="TO")
    with open_campaign(db, campaign) as opened, connect("local", workplace) as place:
        if remove:
            found = [
                each for each in opened.shifts() if (each.pool, each.starts_at, each.ends_at) == (pool, begin, end)
            ]
            opened.remove_shift(found[0].id if found else f"{pool} {starts} {ends}", platform=place)
            if as_json:
                emit_json({"removed": found[0].id if found else None})
            else:
                say("taken back")
            return
        made = opened.add_shift(pool, begin, end, people=people, worker=worker, platform=place)
    if as_json:
        emit_json(made)
    else:
        who = worker or f"{made.people} of {made.pool}"
        say(f"{who}: {made.starts_at:%Y-%m-%d %H:%M} to {made.ends_at:%Y-%m-%d %H:%M} UTC")


@pools_app.command("capacity")
def pools_capacity(
    starts: From,
    ends: To,
    pool: Annotated[
        list[str] | None, typer.Option("--pool", metavar="NAME", help="Only this one; may be given again.")
    ] = None,
    workplace: Workplace = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Say how many hours of people and how many answers the shifts give between two moments."""
    import pandas as pd

    begin, end = read_moment(starts, name="FROM"), read_moment(ends, name="TO")
    with open_campaign(db, campaign) as opened, connect("local", workplace) as place:
        opened.meet_people(place)
        found = opened.capacity(begin, end, pools=pool)
    if as_json:
        emit_json(found)
        return
    say(str(found))
    rows = [
        (each.pool, each.kind, each.people_minutes / 60, each.answers, each.members, each.minutes_for() / 60)
        for each in found.pools
    ]
    table(pd.DataFrame(rows, columns=["pool", "kind", "hours", "answers", "people", "hours_for_disturbing_texts"]))


@pools_app.command("fair-pay")
def pools_fair_pay(
    floor: Annotated[
        str | None, typer.Argument(metavar="[AMOUNT]", help="Least that an hour of active work shall earn, or none.")
    ] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Set the floor of pay where one is given, and hold what people earned against it."""
    with open_campaign(db, campaign) as opened:
        if floor is not None:
            money = None
            if floor.strip().lower() != "none":
                money = read_money(floor, currency=opened.status().currency, name="AMOUNT")
            opened.set_fair_pay(None if money is None else money.minor, currency=money.currency if money else None)
        found = opened.fair_pay()
    if as_json:
        shown = ("currency", "floor_minor", "hourly_minor", "submissions", "below", "top_up_minor", "is_below")
        emit_json({**{name: getattr(found, name) for name in shown}, "text": str(found)})
    else:
        say(str(found))


@pools_app.command("payroll")
def pools_payroll(
    paid: Annotated[bool, typer.Option("--paid", help="Write down that all of it was paid out.")] = False,
    out: OutFile = None,
    overwrite: Overwrite = False,
    workplace: Workplace = None,
    as_json: AsJson = False,
) -> None:
    """List what is approved and not paid out yet to the workplace's own people."""
    import pandas as pd

    from hmc_crowd.io import write_frame

    require_free(out, overwrite=overwrite)
    with connect("local", workplace) as place:
        owed: list[Any] = place.owed()
        columns = ["worker", "submission_id", "what", "amount_minor", "currency", "active_s"]
        frame = pd.DataFrame([{name: getattr(each, name) for name in columns} for each in owed], columns=columns)
        # The file is written first: what cannot be handed to a payroll is not called paid.
        written = None if out is None else write_frame(frame, out, overwrite=overwrite, safe_for_spreadsheets="auto")
        new = place.paid_out(owed) if paid else 0
    if as_json:
        emit_json({"owed": frame, "paid": new, "out": written})
        return
    sums = frame.groupby(["worker", "currency"], as_index=False)["amount_minor"].sum()
    shown = [(row.worker, str(Money(int(row.amount_minor), row.currency))) for row in sums.itertuples()]
    table(pd.DataFrame(shown, columns=["worker", "owed"]))
    if written is not None:
        say(f"{len(frame):,} rows in {written}")
    notes([f"{new:,} amounts are written down as paid"] if paid else ["nothing was changed; --paid writes it down"])
