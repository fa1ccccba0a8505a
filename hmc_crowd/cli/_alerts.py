"""Commands on alerts: alerts look, list, rules, set, usual."""

from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    RESULT,
    AsJson,
    CampaignName,
    Database,
    app,
    open_campaign,
)
from hmc_crowd.cli._quality_text import show_alerts
from hmc_crowd.cli._show import emit_json, say, table
from hmc_crowd.cli._wording import HelpfulGroup
from hmc_crowd.errors import InputError

alerts_app = typer.Typer(
    cls=HelpfulGroup,
    help="What must somebody look at? Rules on the campaign's figures, said once, and when it is over.",
)
app.add_typer(alerts_app, name="alerts", rich_help_panel=RESULT)


@alerts_app.command("look")
def look(db: Database = DEFAULT_DATABASE, campaign: CampaignName = None, as_json: AsJson = False) -> None:
    """Look at the figures once; what is new goes to the log, webhooks and the board. `check` and `watch` do it too."""
    with open_campaign(db, campaign) as opened:
        found = opened.check_alerts()
    if as_json:
        emit_json(found)
    else:
        show_alerts(found)


@alerts_app.command("list")
def list_(db: Database = DEFAULT_DATABASE, campaign: CampaignName = None, as_json: AsJson = False) -> None:
    """List what lasts by the last look, and what was said, newest first; looks at nothing anew."""
    with open_campaign(db, campaign) as opened:
        lasting, said = opened.alerts()
    if as_json:
        emit_json({"lasting": lasting, "notices": said})
        return
    for each in lasting or ["no alert lasts"]:
        say(str(each))
    for notice in said:
        say(f"{notice.at:%Y-%m-%d %H:%M} UTC  {notice.kind}: {notice.message}")


@alerts_app.command("rules")
def rules(db: Database = DEFAULT_DATABASE, campaign: CampaignName = None, as_json: AsJson = False) -> None:
    """List the rules in force."""
    with open_campaign(db, campaign) as opened:
        _show_rules(opened.alert_rules(), as_json=as_json)


@alerts_app.command("set")
def set_rule(
    name: Annotated[str, typer.Argument(metavar="RULE", help="Its name; one of your own needs --figure and --wrong.")],
    limit: Annotated[float, typer.Option("--limit", metavar="X", help="Beyond it the figure is wrong.")],
    figure: Annotated[
        str | None, typer.Option("--figure", metavar="FIGURE", help="Which figure; `alerts rules` shows what there is.")
    ] = None,
    wrong: Annotated[str | None, typer.Option("--wrong", metavar="SIDE", help="below or above.")] = None,
    recovers_at: Annotated[
        float | None,
        typer.Option("--recovers-at", metavar="X", help="Where it is right again; of a new rule the limit."),
    ] = None,
    in_a_row: Annotated[
        int | None, typer.Option("--in-a-row", min=1, metavar="N", help="Looks that must agree; 1 of a new rule.")
    ] = None,
    severity: Annotated[str | None, typer.Option("--severity", metavar="GRADE", help="low, medium or high.")] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Change a rule or add one; from then on the campaign's own rules hold, and lead its board."""
    from hmc_crowd.quality import ALERT_RULES, AlertRule

    with open_campaign(db, campaign) as opened:
        known = {rule.name: rule for rule in opened.alert_rules()}
        given: dict[str, Any] = {"limit": limit}
        # What is not named stays as it is.
        more = {
            "figure": figure,
            "wrong": wrong,
            "severity": severity,
            "recovers_at": recovers_at,
            "in_a_row": in_a_row,
        }
        given |= {key: value for key, value in more.items() if value is not None}
        usual = known.get(name) or next((rule for rule in ALERT_RULES if rule.name == name), None)
        if usual is not None:
            known[name] = replace(usual, **given)
        elif figure is None or wrong is None:
            raise InputError(
                f"there is no rule {name!r}; a new one needs --figure and --wrong below or above; usual ones "
                f"are {', '.join(rule.name for rule in ALERT_RULES)}"
            )
        else:
            known[name] = AlertRule(name=name, **given)
        _show_rules(opened.set_alert_rules(known.values()), as_json=as_json)


@alerts_app.command("usual")
def usual(db: Database = DEFAULT_DATABASE, campaign: CampaignName = None, as_json: AsJson = False) -> None:
    """Bring the usual rules back."""
    with open_campaign(db, campaign) as opened:
        _show_rules(opened.set_alert_rules(None), as_json=as_json)


def _show_rules(known: Any, *, as_json: bool) -> None:
    import pandas as pd

    if as_json:
        emit_json([asdict(rule) for rule in known])
        return
    columns = ["name", "figure", "wrong", "limit", "recovers_at", "severity"]
    table(pd.DataFrame([[getattr(rule, name) for name in columns] for rule in known], columns=columns))
