"""Commands on personal data: forget, export-worker, retain."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd._base.private import write_private
from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    OUTPUT,
    AsJson,
    CampaignName,
    Database,
    Overwrite,
    app,
    open_campaign,
)
from hmc_crowd.cli._show import busy, emit_json, say, to_plain
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
    yes: Sure = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Take a worker out of the database, every campaign of it; counts, labels and the audit chain stay valid.

    The platform keeps what it knows of its worker; ask it as well.
    """
    with open_campaign(db, campaign) as opened, busy("forgetting"):
        result = opened.forget(worker, platform=platform, dry_run=not yes)
    if as_json:
        emit_json(result)
        return
    say(str(result))
    if not yes and result.people:
        say(_DRY)


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
    _write_private(out, json.dumps(to_plain(result), ensure_ascii=False, indent=2) + "\n")
    say(f"everything that is stored of this worker: {out}")


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, also where one with wider rights was there."""
    try:
        write_private(path, text)
    except OSError as error:
        raise InputError(f"--out is {str(path)!r}, which cannot be written: {error.strerror}; choose another") from None


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
