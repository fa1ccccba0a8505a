"""Commands for people of one's own: invites, and their questions."""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import PEOPLE, AsJson, Language, PublicUrl, Skill, Workplace, app, connect, link_base
from hmc_crowd.cli._arguments import skill_words
from hmc_crowd.cli._quota_words import attribute_words
from hmc_crowd.cli._show import echo, emit_json, notes, say, table
from hmc_crowd.cli._wording import HelpfulGroup
from hmc_crowd.errors import InputError

invites_app = typer.Typer(cls=HelpfulGroup, help="Links for people of your own, who work on the task pages.")
app.add_typer(invites_app, name="invites", rich_help_panel=PEOPLE)

_MOST_DAYS = 36_525  # a century, as the pages hold it

Attributes = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute",
        metavar="NAME=VALUE",
        help="What the worker says of himself and lets quotas count by; repeatable: region=south.",
    ),
]


@invites_app.command("issue")
def invites_issue(
    worker: Annotated[str, typer.Argument(metavar="WORKER", help="Under which name the work is kept.")],
    days: Annotated[float, typer.Option("--days", metavar="N", help="How long the link works.")] = 30.0,
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="For your own list.")] = "",
    pool: Annotated[str, typer.Option("--pool", metavar="NAME", help="To which pool the worker belongs.")] = "",
    skill: Skill = None,
    language: Language = None,
    attribute: Attributes = None,
    public_url: PublicUrl = None,
    workplace: Workplace = None,
    as_json: AsJson = False,
) -> None:
    """Invite a worker and print the link; whoever has it works under that name."""
    if not 0 < days <= _MOST_DAYS:
        raise InputError(f"--days is {days:g}; give a number above 0, at most {_MOST_DAYS:,}")
    told = attribute_words(attribute, name="--attribute", such_as="region=south") if attribute else None
    with connect("local", workplace) as place:
        skills = skill_words(skill, language)
        invite = place.invites().issue(
            worker, lifetime_s=days * 24 * 3600, label=label, pool=pool, skills=skills, attributes=told
        )
        base, unsure = link_base(place, public_url)
    if as_json:
        emit_json({"invite_id": invite.invite_id, "link": invite.url(base)})
        return
    echo(invite.url(base))
    notes(
        [*unsure, f"it works until {invite.expires_at:%Y-%m-%d %H:%M} UTC; hmc-crowd invites revoke {invite.invite_id}"]
    )


@invites_app.command("list")
def invites_list(public_url: PublicUrl = None, workplace: Workplace = None, as_json: AsJson = False) -> None:
    """List the invitations, oldest first; with --json their links too."""
    import pandas as pd

    columns = ["invite_id", "worker", "label", "pool", "skills", "attributes", "expires_at", "revoked_at"]
    with connect("local", workplace) as place:
        found: list[Any] = place.invites().all()
        base, _ = link_base(place, public_url)
    rows = [{**{name: getattr(each, name) for name in columns}, "link": each.url(base)} for each in found]
    frame = pd.DataFrame(rows, columns=[*columns, "link"])
    if as_json:
        emit_json(frame)
    else:
        told = frame["attributes"].map(lambda each: ", ".join(f"{name}={value}" for name, value in each.items()))
        table(frame.drop(columns="link").assign(skills=frame["skills"].map(", ".join), attributes=told))


@invites_app.command("attributes")
def invites_attributes(
    worker: Annotated[str, typer.Argument(metavar="WORKER", help="Under which name the work is kept.")],
    attribute: Attributes = None,
    workplace: Workplace = None,
    as_json: AsJson = False,
) -> None:
    """Keep what a worker says of himself, in place of what was kept before; without --attribute all is forgotten."""
    told = attribute_words(attribute, name="--attribute", such_as="region=south")
    with connect("local", workplace) as place:
        place.invites().set_attributes(worker, told)
    if as_json:
        emit_json({"worker": worker, "attributes": told})
    else:
        say(f"{worker}: {', '.join(f'{name} {value}' for name, value in told.items()) or 'nothing is kept'}")


@invites_app.command("revoke")
def invites_revoke(
    invite: Annotated[str, typer.Argument(metavar="ID", help="The invitation's id, as in the list.")],
    workplace: Workplace = None,
    as_json: AsJson = False,
) -> None:
    """Take an invitation back: its link, and the pages of the work behind it, are closed at once."""
    with connect("local", workplace) as place:
        place.invites().revoke(invite)
    if as_json:
        emit_json({"revoked": invite})
    else:
        say(f"revoked: {invite}")


@invites_app.command("messages")
def invites_messages(workplace: Workplace = None, as_json: AsJson = False) -> None:
    """List the questions about items that wait for an answer, oldest first."""
    import pandas as pd

    columns = ["submission_id", "item", "text", "at"]
    with connect("local", workplace) as place:
        found: list[Any] = place.threads().unanswered()
    frame = pd.DataFrame([{name: getattr(each, name) for name in columns} for each in found], columns=columns)
    if as_json:
        emit_json(frame)
    else:
        table(frame)


@invites_app.command("reply")
def invites_reply(
    submission: Annotated[str, typer.Argument(metavar="SUBMISSION", help="As in the list of messages.")],
    item: Annotated[str, typer.Argument(metavar="ITEM", help="What was asked about.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The worker reads it beside the item.")],
    workplace: Workplace = None,
    as_json: AsJson = False,
) -> None:
    """Answer a worker's question; the worker finds it on the own page and beside the item."""
    with connect("local", workplace) as place:
        threads = place.threads()
        if not threads.of(submission, item):
            raise InputError(f"submission {submission!r} has no question about item {item!r}; list the messages")
        threads.reply(submission, item, text, at=datetime.now(UTC))
    if as_json:
        emit_json({"submission_id": submission, "item": item})
    else:
        say("answered")
