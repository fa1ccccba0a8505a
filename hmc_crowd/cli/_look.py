"""Commands that look: status, explain, report, doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd.cli._app import DEFAULT_DATABASE, AsJson, CampaignName, Database, app, open_campaign
from hmc_crowd.cli._show import emit, table


@app.command()
def status(db: Database = DEFAULT_DATABASE, campaign: CampaignName = None, as_json: AsJson = False) -> None:
    """Say where the campaign stands and what comes next."""
    with open_campaign(db, campaign) as opened:
        result = opened.status()
    emit(result, as_json=as_json)
    if not as_json:
        for question in result.needs_human:
            typer.echo(f"a person is needed: {question}")


@app.command()
def explain(
    item: Annotated[str, typer.Argument(help="The item's id.")],
    aspect: Annotated[str | None, typer.Option(help="Which question, when the campaign asks several.")] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Say why an item went where it went, who answered, and why its label is final."""
    with open_campaign(db, campaign) as opened:
        emit(opened.explain(item, aspect=aspect), as_json=as_json)


@app.command()
def report(
    out: Annotated[Path, typer.Option("--out", help="The HTML file; JSON and CSV go beside it.")] = Path("report.html"),
    truth: Annotated[Path | None, typer.Option(help="item, label where the truth is known.")] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Write the report: one HTML file, with the same numbers as JSON and CSV beside it."""
    with open_campaign(db, campaign) as opened:
        path = opened.report(out, truth=truth)
    emit({"report": path}, as_json=as_json, text=f"report: {path}")


@app.command()
def doctor(db: Database = DEFAULT_DATABASE, as_json: AsJson = False) -> None:
    """Say what is installed, which platforms there are, and whether the database can be used."""
    import pandas as pd

    checks = pd.DataFrame(_checks(db), columns=["check", "ok", "found"])
    if as_json:
        emit(checks, as_json=True)
    else:
        table(checks)
    if not checks["ok"].all():
        raise typer.Exit(1)


def _checks(db: str) -> list[tuple[str, bool, str]]:
    import sys
    from importlib.metadata import PackageNotFoundError, version

    from hmc_crowd.platform import platform_names

    rows = [("python", sys.version_info >= (3, 11), sys.version.split()[0])]
    for package in ("hmc-crowd", "numpy", "pandas", "scikit-learn", "sqlalchemy"):
        try:
            rows.append((package, True, version(package)))
        except PackageNotFoundError:
            rows.append((package, False, "missing"))
    for package, extra in (("xgboost", "boost"), ("psycopg", "postgres"), ("boto3", "mturk"), ("torch", "text")):
        try:
            rows.append((f"extra {extra}", True, f"{package} {version(package)}"))
        except PackageNotFoundError:
            rows.append((f"extra {extra}", True, f"not installed: pip install 'hmc-crowd[{extra}]' when needed"))
    names = platform_names()
    rows.append(("platforms", bool(names), ", ".join(names) or "none"))
    rows.append(_database(db))
    return rows


def _database(db: str) -> tuple[str, bool, str]:
    from hmc_crowd.errors import StoreError
    from hmc_crowd.store import open_store

    if "://" not in db and not Path(db).exists():
        return "database", True, f"{db} does not exist yet; `hmc-crowd init` makes it"
    try:
        with open_store(db) as store, store.read() as tx:
            return "database", True, f"{store.url}: {', '.join(tx.campaigns.names()) or 'no campaign yet'}"
    except StoreError as error:
        return "database", False, str(error)
