"""Commands on the gate of a campaign: gate decide, assign, assigned, decisions."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    AsJson,
    AspectName,
    CampaignName,
    Database,
    OutFile,
    Overwrite,
    open_campaign,
)
from hmc_crowd.cli._arguments import require_free
from hmc_crowd.cli._gate import gate_app
from hmc_crowd.cli._show import busy, emit_json, facts, give, notes, say, table
from hmc_crowd.errors import InputError

ItemsFile = Annotated[
    Path | None,
    typer.Option(
        "--items",
        metavar="FILE",
        help="What is known of items: item, and any of risk, complexity, urgency, area, tier, due_at.",
    ),
]
_SHOWN = ["item", "decided_at", "decision", "reason_code", "policy", "decided_by"]


@gate_app.command("decide")
def decide(
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="rules, consensus, weighted, posterior or ml.")
    ] = "rules",
    model: Annotated[
        Path | None, typer.Option("--model", metavar="FILE", help="A gate of `gate train`, instead of --kind.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=NUMBER",
            help="A threshold of the gate: quality=0.6; of ml also expert_cost, error_cost, expert_error; repeatable.",
        ),
    ] = None,
    items: ItemsFile = None,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Decide for every answered item whether its label stands or an expert must look; every decision is kept."""
    from hmc_crowd.quality import load_gate

    chosen: Any = kind if model is None else load_gate(model)
    with open_campaign(db, campaign) as opened, busy("deciding"):
        found = opened.gate(chosen, aspect=aspect, items=items, **_settings(setting))
    if as_json:
        emit_json(found)
        return
    facts(str(found), [(reason, f"{count:,}") for reason, count in found.reasons.items()])
    if found.compared is not None:
        table(found.compared.round(3), title="\non items with known labels, each held out from the gate once")
    notes(found.notes)


@gate_app.command("assign")
def assign(
    hours: Annotated[float, typer.Option("--hours", metavar="HOURS", help="Room is counted for so long.")] = 1.0,
    anew: Annotated[bool, typer.Option("--anew", help="Also give out again what nobody has begun.")] = False,
    items: ItemsFile = None,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Give what the gate sent on to the holders of expert keys, by skill, tier, room and deadline.

    A key made with `keys issue expert --skill pool:NAME` belongs to that pool of the campaign: its tier, speed, price
    and shifts count.
    """
    with open_campaign(db, campaign) as opened, busy("assigning"):
        found = opened.assign_experts(aspect=aspect, items=items, hours=hours, anew=anew)
    if as_json:
        emit_json(found)
        return
    say(str(found))
    if len(found.items):
        table(found.items[["item", "expert", "tier", "place", "state"]])
    notes(found.notes)


@gate_app.command("assigned")
def assigned(
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """List who has what to judge."""
    with open_campaign(db, campaign) as opened:
        found = opened.assignments(aspect=aspect)
    if as_json:
        emit_json(found)
    else:
        table(found[["expert", "place", "item", "tier", "due_at"]])


@gate_app.command("decisions")
def decisions(
    newest: Annotated[bool, typer.Option("--newest", help="Only the decision in force of each item.")] = False,
    out: OutFile = None,
    overwrite: Overwrite = False,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """List what gates and experts decided: policy with its version, reason, evidence, and who or what decided."""
    require_free(out, overwrite=overwrite)
    with open_campaign(db, campaign) as opened:
        found = opened.decisions(aspect=aspect, newest=newest)
    give(found, found[_SHOWN], out, as_json=as_json, overwrite=overwrite, rows="decisions")


def _settings(given: list[str] | None) -> dict[str, Any]:
    """Return thresholds by name; whole numbers stay whole, ``none`` leaves a rule out."""
    found: dict[str, Any] = {}
    for each in given or ():
        name, sign, text = each.partition("=")
        if not sign or not name:
            raise InputError(f"--set is {each!r}; write NAME=NUMBER, such as quality=0.6")
        found[name.strip().replace("-", "_")] = _value(text.strip())
    return found


def _value(text: str) -> Any:
    if text.lower() == "none":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
