"""Commands that reckon: capacity, power, cost."""

from typing import Annotated

import typer

from hmc_crowd.cli._app import PLAN, AsJson, Redundancy, app
from hmc_crowd.cli._arguments import read_hourly, read_money
from hmc_crowd.cli._rehearse import Fee
from hmc_crowd.cli._show import emit_json, facts, notes, say


@app.command(rich_help_panel=PLAN)
def capacity(
    arrivals_per_s: Annotated[float, typer.Option("--arrivals", metavar="N", help="Items per second.")],
    people: Annotated[float, typer.Option("--people", metavar="N", help="How many work on a day.")],
    seconds_per_case: Annotated[float, typer.Option("--seconds", metavar="S", help="Time of one answer.")],
    review_share: Annotated[
        float | None, typer.Option("--review-share", metavar="SHARE", help="What people were to judge.")
    ] = None,
    redundancy: Annotated[int, typer.Option("--redundancy", min=1, metavar="N", help="Answers per item.")] = 1,
    hours_per_day: Annotated[float, typer.Option("--hours-per-day", metavar="H", help="Of each.")] = 8.0,
    busy_share: Annotated[float, typer.Option("--busy", metavar="SHARE", help="Of that time, on cases.")] = 0.85,
    as_json: AsJson = False,
) -> None:
    """Say first what share of a stream people can judge, then what a wished share would need."""
    from hmc_crowd.rehearsal import capacity as reckon

    result = reckon(
        arrivals_per_s=arrivals_per_s,
        people=people,
        seconds_per_case=seconds_per_case,
        review_share=review_share,
        redundancy=redundancy,
        hours_per_day=hours_per_day,
        busy=busy_share,
    )
    if as_json:
        emit_json(result)
        return
    say(str(result))
    notes(result.assumptions, kind="assuming")


@app.command(rich_help_panel=PLAN)
def power(
    half_width: Annotated[
        float | None, typer.Option("--within", metavar="X", help="Know a rate to within +-X; or ...")
    ] = None,
    difference: Annotated[
        float | None, typer.Option("--difference", metavar="D", help="... tell two systems apart that differ by D.")
    ] = None,
    rate: Annotated[float, typer.Option("--rate", metavar="P", help="The rate, of the first system.")] = 0.5,
    level: Annotated[float, typer.Option("--level", metavar="SHARE", help="Confidence.")] = 0.95,
    chance: Annotated[float, typer.Option("--chance", metavar="SHARE", help="Of seeing the difference.")] = 0.8,
    sensitivity: Annotated[
        float, typer.Option("--sensitivity", metavar="SHARE", help="One person sees what is there.")
    ] = 1.0,
    specificity: Annotated[
        float, typer.Option("--specificity", metavar="SHARE", help="One person does not see what is not.")
    ] = 1.0,
    redundancy: Annotated[int, typer.Option("--redundancy", min=1, metavar="N", help="Answers per item.")] = 1,
    cluster_size: Annotated[float, typer.Option("--cluster-size", metavar="N", help="Items per dialogue.")] = 1.0,
    icc: Annotated[float, typer.Option("--icc", metavar="R", help="How much a dialogue's labels go together.")] = 0.0,
    population: Annotated[
        int | None, typer.Option("--of", metavar="N", help="Size of the batch, if not endless.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how many items and answers a question needs, given judges' errors and dialogues."""
    from hmc_crowd.rehearsal import power as reckon

    result = reckon(
        half_width=half_width,
        difference=difference,
        rate=rate,
        level=level,
        chance=chance,
        sensitivity=sensitivity,
        specificity=specificity,
        redundancy=redundancy,
        cluster_size=cluster_size,
        icc=icc,
        population=population,
    )
    if as_json:
        emit_json(result)
        return
    say(str(result))
    notes(result.assumptions, kind="assuming")


@app.command(rich_help_panel=PLAN)
def cost(
    tasks: Annotated[int, typer.Option("--tasks", min=0, metavar="N", help="Items for the crowd.")] = 0,
    redundancy: Redundancy = 3,
    price: Annotated[str | None, typer.Option("--price", metavar="AMOUNT", help="Of an answer; or ...")] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", metavar="S", help="... its time, with --pay.")] = None,
    pay: Annotated[str | None, typer.Option("--pay", metavar="RATE", help="Per hour, such as 12/h.")] = None,
    currency: Annotated[str, typer.Option("--currency", metavar="CODE", help="Of all amounts.")] = "USD",
    fee_rate: Fee = 0.0,
    bonus_rate: Annotated[float, typer.Option("--bonus-rate", metavar="SHARE", help="Reserve for bonuses.")] = 0.0,
    rejected_rate: Annotated[
        float, typer.Option("--rejected-rate", metavar="SHARE", help="Paid for and thrown away.")
    ] = 0.0,
    gold_rate: Annotated[float, typer.Option("--gold-rate", metavar="SHARE", help="Gold questions on top.")] = 0.0,
    gate_share: Annotated[float, typer.Option("--gate-share", metavar="SHARE", help="Tasks the machine keeps.")] = 0.0,
    experts: Annotated[int, typer.Option("--experts", min=0, metavar="N", help="Experts by the hour ...")] = 0,
    expert_hours: Annotated[float, typer.Option("--expert-hours", metavar="H", help="... for so long ...")] = 0.0,
    expert_pay: Annotated[str | None, typer.Option("--expert-pay", metavar="RATE", help="... at 60/h.")] = None,
    expert_items: Annotated[int, typer.Option("--expert-items", min=0, metavar="N", help="Experts by the item.")] = 0,
    expert_price: Annotated[
        str | None, typer.Option("--expert-price", metavar="AMOUNT", help="Of such an item.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Reckon what a piece of work costs, every line shown."""
    from hmc_crowd._base.money import Money
    from hmc_crowd.rehearsal import cost as reckon

    def minor(text: str | None, name: str) -> int | None:
        return None if text is None else read_money(text, currency=currency, name=name).minor

    result = reckon(
        currency=currency,
        tasks=tasks,
        redundancy=redundancy,
        price_minor=minor(price, "--price"),
        seconds=seconds,
        pay_per_hour_minor=None if pay is None else read_hourly(pay, currency, why="a cost").minor,
        fee_rate=fee_rate,
        bonus_rate=bonus_rate,
        rejected_rate=rejected_rate,
        gold_rate=gold_rate,
        experts=experts,
        expert_hours=expert_hours,
        expert_rate_minor=0 if expert_pay is None else read_hourly(expert_pay, currency, why="experts").minor,
        expert_items=expert_items,
        expert_price_minor=minor(expert_price, "--expert-price") or 0,
        gate_share=gate_share,
    )
    if as_json:
        emit_json(result)
        return
    rows: list[tuple[str, str | None]] = [
        (line.what, f"{Money(line.minor, currency)}  ({line.how})") for line in result.lines
    ]
    facts(f"{Money(result.total_minor, currency)} in all", rows)
    if gate_share:
        say(f"without the gate {Money(result.baseline_minor, currency)}; it saves {result.saved_share:.1%}")
