"""Commands on groups of people: quality traits, groups."""

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
from hmc_crowd.cli._arguments import read_moment, require_free
from hmc_crowd.cli._quality import Level, quality_app
from hmc_crowd.cli._show import emit_json, give, notes, say, table, tell

_LABELS = ["group", "people", "label", "share", "difference", "difference_low", "difference_high"]
_MORE = {
    "cohesion": ("Agreement inside the group and with others, on the same items", ["group", "inside", "outside"]),
    "accuracy": ("Right answers to gold, and the difference on the same gold", ["group", "people", "share"]),
}


@quality_app.command("traits")
def traits(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="worker (the platform's id) and attributes; Prolific's export as it is."),
    ],
    platform: Annotated[str, typer.Option("--platform", metavar="NAME", help="Whose workers these are.")],
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMN[=NAME]",
            help="What to keep, nothing else is; repeatable. Sex, gender, region, country and age group if none.",
        ),
    ] = None,
    told_at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When it was told, like 2026-01-05T12:00Z; now if none."),
    ] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Keep what workers said of themselves, by pseudonym; ages are cut to groups, what was taken back is erased."""
    at = None if told_at is None else read_moment(told_at, name="--at")
    pairs = [each.partition("=") for each in keep or ()]
    wanted = {column: name or column for column, _, name in pairs} or None
    with open_campaign(db, campaign) as opened:
        found = opened.add_worker_traits(file, platform=platform, attributes=wanted, at=at)
    tell(found, as_json=as_json)


@quality_app.command("groups")
def groups(
    attribute: Annotated[str, typer.Argument(metavar="ATTRIBUTE", help="What `quality traits` kept, as age_group.")],
    aspect: AspectName = None,
    level: Level = 0.95,
    out: OutFile = None,
    overwrite: Overwrite = False,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show whether groups of people judge the same items alike: labels, agreement, right answers; none under five."""
    require_free(out, overwrite=overwrite)
    with open_campaign(db, campaign) as opened:
        found = opened.compare_groups(attribute, aspect=aspect, level=level)
    if out is not None:
        give(found.labels, found.labels, out, as_json=False, overwrite=overwrite)
    if as_json:
        emit_json(found)
    elif out is None:
        _show(found)


def _show(found: Any) -> None:
    people = int(found.groups["people"].sum())
    say(f"{found.attribute}: {people:,} people in {len(found.groups):,} groups")
    for each in found.findings or (found.verdict,):
        say(f"{each[:1].upper()}{each[1:]}.")
    if len(found.labels):
        level = f"{found.level * 100:g} %"
        table(
            found.labels[_LABELS],
            title=f"Labels, and the difference from others on the same items (all {level} intervals hold together)",
        )
    for name, (title, columns) in _MORE.items():
        frame = getattr(found, name)
        rest = [each for each in ("difference", "difference_low", "difference_high", "low", "high") if each in frame]
        if len(frame) and len(found.groups) > 1:
            table(frame[[*columns, *(rest if name == "cohesion" else rest[:3])]], title=title)
    if found.groups["quality"].notna().any():
        shown = ["group", "people", "quality", "quality_low", "quality_high"]
        table(found.groups[shown], title="Mean quality of the people")
    notes(found.notes)
