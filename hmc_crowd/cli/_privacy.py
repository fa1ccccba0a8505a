"""Commands on personal data: forget, erasure-requests, export-worker, retain."""

import json
import re
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    LOCAL,
    OUTPUT,
    AsJson,
    CampaignName,
    Database,
    Overwrite,
    Workplace,
    app,
    connect,
    file_of,
    open_campaign,
)
from hmc_crowd.cli._arguments import write_out
from hmc_crowd.cli._backup import DEFAULT_WORKPLACE, has_workplace
from hmc_crowd.cli._show import busy, emit_json, say, table, to_plain
from hmc_crowd.errors import InputError

_PANEL = "Personal data"
_DRY = "nothing was changed; add --yes to do it, there is no way back"
_DAYS = {"d": 1, "w": 7, "y": 365}
_LONGEST_DAYS = 365_000

WorkerId = Annotated[str, typer.Argument(metavar="WORKER", help="The platform's worker id, or the pseudonym.")]
WorkedOn = Annotated[
    str | None,
    typer.Option("--platform", metavar="NAME", help="Where they worked, when the id is known on several platforms."),
]
JsonFile = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="FILE", help="Write it to this file, for its owner's eyes only.", rich_help_panel=OUTPUT
    ),
]
BackupFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--backup",
        metavar="FILE|FOLDER",
        help="Look through this as well for copies that still hold the id; archives beside the databases always are.",
    ),
]
Sure = Annotated[bool, typer.Option("--yes", help="Do it; without it only say what would be done.")]


def read_age(text: str | None, *, name: str) -> timedelta | None:
    """Read '90d', '12w' or '1y' (365 days) as a length of time.

    Examples
    --------
    >>> [read_age(text, name="--raw-ids").days for text in ("90d", "2w", "1y")]
    [90, 14, 365]
    """
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,6})([dwy])", text.strip().lower())
    days = int(found[1]) * _DAYS[found[2]] if found else _LONGEST_DAYS + 1
    if days > _LONGEST_DAYS:
        raise InputError(f"{name} is {text!r}; give days, weeks or years: 90d, 12w, 1y")
    return timedelta(days=days)


@app.command(rich_help_panel=_PANEL)
def forget(
    worker: WorkerId,
    platform: WorkedOn = None,
    workplace: Workplace = None,
    backups: BackupFiles = None,
    yes: Sure = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Take a worker out of the database, every campaign of it, and out of the workplace.

    Counts, labels and the audit chain stay valid; the files are looked through afterwards, and backups that still hold
    the id are named. Another platform keeps what it knows of its worker; ask it as well.
    """
    with ExitStack() as stack:
        opened = stack.enter_context(open_campaign(db, campaign))
        is_there = has_workplace(workplace)
        places = [stack.enter_context(connect(LOCAL, workplace))] if is_there else []
        stack.enter_context(busy("forgetting"))
        files = _backups(db, workplace if is_there else None, backups or [])
        result = opened.forget(worker, platform=platform, dry_run=not yes, workplaces=places, backups=files)
    if as_json:
        emit_json(result)
        return
    say(str(result))
    for place in result.workplaces:
        if place.unpaid and place.total:
            say(
                f"the workplace still owes this worker {', '.join(place.unpaid)}, and once nobody knows who it was "
                "nobody can be paid: hmc-crowd pools payroll says what for"
            )
    for each in (*result.still_in, *(line for place in result.workplaces for line in place.still_in)):
        say(f"the id still stands in {each}")
    for each in result.backups:
        say(f"a copy still holds the id: {each}")
    if not yes and result.is_anything:
        say(_DRY)


def _backups(db: str, workplace: str | None, given: list[Path]) -> list[Path]:
    """Return the archives beside the databases, and what was named: files, or folders of them."""
    beside = {each.absolute().parent for each in map(file_of, (db, workplace or DEFAULT_WORKPLACE)) if each is not None}
    found = {file for folder in beside for file in folder.glob("*.zip")}
    for each in given:
        if not each.exists():
            raise InputError(f"--backup is {str(each)!r}, which does not exist; name a file or a folder")
        found |= {file for file in each.rglob("*") if file.is_file()} if each.is_dir() else {each}
    return sorted(found)


@app.command(name="erasure-requests", rich_help_panel=_PANEL)
def erasure_requests(workplace: Workplace = None, as_json: AsJson = False) -> None:
    """List who left a study of the workplace and asked to be erased: `hmc-crowd forget` does so."""
    import pandas as pd

    with connect(LOCAL, workplace) as place:
        asked = place.erasure_requests()
    columns = ["worker", "study", "asked_at"]
    frame = pd.DataFrame([{name: getattr(each, name) for name in columns} for each in asked], columns=columns)
    if as_json:
        emit_json({"requests": frame})
        return
    if frame.empty:
        say("nobody waits to be erased")
        return
    table(frame.assign(asked_at=[f"{each:%Y-%m-%d %H:%M} UTC" for each in frame["asked_at"]]))
    say("hmc-crowd forget WORKER --yes erases one of them; without --yes it says what it would do")


@app.command(name="export-worker", rich_help_panel=_PANEL)
def export_worker(
    worker: WorkerId,
    platform: WorkedOn = None,
    out: JsonFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
) -> None:
    """Write everything the database holds of one worker, and of nobody else, as JSON: for who asks to see it."""
    if out is not None and out.exists() and not overwrite:
        raise InputError(f"--out is {str(out)!r}, which exists; add --overwrite to replace it, or choose another name")
    with open_campaign(db, campaign) as opened:
        result = opened.export_worker(worker, platform=platform)
    if out is None:
        emit_json(result)
        return
    write_out(out, json.dumps(to_plain(result), ensure_ascii=False, indent=2) + "\n")
    say(f"everything that is stored of this worker: {out}")


@app.command(rich_help_panel=_PANEL)
def retain(
    raw_ids: Annotated[
        str | None,
        typer.Option(
            "--raw-ids", metavar="TIME", help="Keep raw worker ids this long after the last work: 90d, 12w, 1y."
        ),
    ] = None,
    item_texts: Annotated[
        str | None,
        typer.Option("--item-texts", metavar="TIME", help="Keep items' texts this long after they were added."),
    ] = None,
    traits: Annotated[
        str | None,
        typer.Option(
            "--traits", metavar="TIME", help="Keep what workers said of themselves this long; as --raw-ids if none."
        ),
    ] = None,
    yes: Sure = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Erase raw ids, traits of workers and item texts that are old and not needed; labels and statistics stay."""
    ages = {"raw_ids_for": read_age(raw_ids, name="--raw-ids")}
    ages["item_text_for"] = read_age(item_texts, name="--item-texts")
    ages["traits_for"] = read_age(traits, name="--traits")
    if not any(age is not None for age in ages.values()):
        raise InputError("nothing is asked for; give --raw-ids TIME, --item-texts TIME, --traits TIME or several")
    with open_campaign(db, campaign) as opened, busy("erasing"):
        result = opened.retain(**ages, dry_run=not yes)
    if as_json:
        emit_json(result)
        return
    say(str(result))
    if not yes and (result.raw_ids or result.item_texts or result.traits):
        say(_DRY)
