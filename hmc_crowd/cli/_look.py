"""Commands that look: status, explain, report, doctor."""

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd._base.extras import install_line
from hmc_crowd._base.findings import Finding
from hmc_crowd.cli._app import (
    BEGIN,
    DEFAULT_DATABASE,
    OUTPUT,
    RESULT,
    AsJson,
    AspectName,
    CampaignName,
    Database,
    Endpoint,
    Workplace,
    app,
    open_campaign,
)
from hmc_crowd.cli._doctor import look_at_platform, look_at_rights
from hmc_crowd.cli._facts import status_facts
from hmc_crowd.cli._outside_facts import ask, leave_unless_done
from hmc_crowd.cli._show import busy, echo, emit_json, facts, say, table

_NEEDED = ("hmc-crowd", "numpy", "pandas", "pyarrow", "scikit-learn", "sqlalchemy", "alembic")
_EXTRAS = {
    "boost": "xgboost",
    "crowdkit": "crowd-kit",
    "dask": "dask",
    "fast": "numba",
    "mturk": "boto3",
    "postgres": "psycopg",
    "text": "transformers",
    "web": "fastapi",
}


@app.command(rich_help_panel=RESULT)
def status(db: Database = DEFAULT_DATABASE, campaign: CampaignName = None, as_json: AsJson = False) -> None:
    """Say where the campaign stands and what comes next; leaves with 3 while a question waits for a person."""
    with open_campaign(db, campaign) as opened:
        result = opened.status()
    if as_json:
        emit_json(result)
    else:
        facts(*status_facts(result))
        ask(result.questions)
    leave_unless_done(asked=len(result.questions))


@app.command(rich_help_panel=RESULT)
def explain(
    item: Annotated[str, typer.Argument(metavar="ITEM", help="The item's id.")],
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Say why an item went where it went, who answered, and why its label is final."""
    with open_campaign(db, campaign) as opened:
        result = opened.explain(item, aspect=aspect)
    if as_json:
        emit_json(result)
    else:
        say(str(result))


@app.command(rich_help_panel=RESULT)
def report(
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="The HTML file; JSON and CSV go beside it.", rich_help_panel=OUTPUT),
    ] = Path("report.html"),
    truth: Annotated[
        Path | None, typer.Option("--truth", metavar="FILE", help="item, label where the truth is known.")
    ] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Write the report: one HTML file, with the same numbers as JSON and CSV beside it."""
    with open_campaign(db, campaign) as opened, busy("drawing"):
        path = opened.report(out, truth=truth)
    if as_json:
        emit_json({"report": path})
    else:
        say(f"report: {path}")


@app.command(rich_help_panel=BEGIN)
def doctor(
    platform: Annotated[
        str | None,
        typer.Option("--platform", metavar="NAME", help="Look also at what working with this platform needs."),
    ] = None,
    endpoint: Endpoint = None,
    public_url: Annotated[
        str | None, typer.Option("--public-url", metavar="URL", help="Where people's browsers reach `hmc-crowd serve`.")
    ] = None,
    workplace: Workplace = None,
    db: Database = DEFAULT_DATABASE,
    as_json: AsJson = False,
) -> None:
    """Say what is installed and whether the database, and with --platform everything that it needs, can be used.

    Leaves with 1 where something fails, with 3 where the platform gives no answer.
    """
    import pandas as pd

    found = [*_checks(db), look_at_rights(db, workplace)]
    if platform is not None:
        found += look_at_platform(platform, endpoint, workplace, public_url)
    failed = [each.check for each in found if each.is_fault]
    shown = pd.DataFrame([(each.check, each.state, each.found) for each in found], columns=["check", "state", "found"])
    if as_json:
        emit_json(shown.assign(ok=shown["state"] != "fail"))
    else:
        table(shown)
    if failed:
        echo(f"hmc-crowd: not in order: {', '.join(failed)}", err=True)
        raise typer.Exit(1)


def _checks(db: str) -> list[Finding]:
    from hmc_crowd.platform import platform_names

    rows = [("python", sys.version_info >= (3, 11), sys.version.split()[0])]
    rows += [(package, found is not None, found or "missing") for package, found in _versions(_NEEDED)]
    rows += [
        (f"extra {extra}", True, f"{package} {found}" if found else f"absent; {install_line(extra)}")
        for extra, (package, found) in zip(_EXTRAS, _versions(tuple(_EXTRAS.values())), strict=True)
    ]
    platforms = platform_names()
    rows += [("platforms", bool(platforms), ", ".join(platforms) or "none"), _database(db)]
    return [Finding(check, "ok" if is_fine else "fail", found) for check, is_fine, found in rows]


def _versions(packages: tuple[str, ...]) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    for package in packages:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            found.append((package, None))
    return found


def _database(db: str) -> tuple[str, bool, str]:
    """Look at the database without making one."""
    from hmc_crowd.errors import HmcCrowdError
    from hmc_crowd.store import open_store

    if "://" not in db and not Path(db).exists():
        return "database", True, f"{db} does not exist yet; `hmc-crowd init` makes it"
    try:
        with open_store(db) as store, store.read() as tx:
            return "database", True, f"{store.url}: {', '.join(tx.campaigns.names()) or 'no campaign yet'}"
    except HmcCrowdError as error:
        return "database", False, str(error)
