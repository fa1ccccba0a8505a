"""Commands that keep everything: backup, restore."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import DEFAULT_DATABASE, KEEPING, LOCAL, AsJson, Database, Workplace, app, connect, file_of
from hmc_crowd.cli._show import busy, emit_json, notes, say

DEFAULT_WORKPLACE = "workplace.db"


@app.command(rich_help_panel=KEEPING)
def backup(
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="The file to write.")],
    yes: Annotated[bool, typer.Option("--yes", help="Replace a file that is there.")] = False,
    workplace: Workplace = None,
    db: Database = DEFAULT_DATABASE,
    as_json: AsJson = False,
) -> None:
    """Keep campaigns, workplace and artefacts in one checked file, while people go on working."""
    from hmc_crowd._base.clock import SystemClock
    from hmc_crowd.backup import back_up
    from hmc_crowd.store import open_store

    with ExitStack() as stack:
        store = stack.enter_context(open_store(db))
        keepers, keys = [store.keeper()], []
        # Connecting would make a workplace where there is none.
        if has_workplace(workplace):
            place: Any = stack.enter_context(connect(LOCAL, workplace))
            keepers.append(place.keeper())
            keys.append(place.vault().file)
        with busy("copying"):
            done = back_up(keepers, to, artefacts=store.artefacts, now=SystemClock().now(), overwrite=yes)
        keys.insert(0, _key_of(store.url))
    if as_json:
        emit_json(done)
        return
    say(str(done))
    files = " and ".join(str(each) for each in keys if each is not None and each.exists())
    notes([f"keys are not in it: {f'keep copies of {files} apart' if files else 'keep them apart'}"])
    if "workplace" not in done.rows:
        notes(["there is no workplace yet; the campaigns alone were copied"])


@app.command(rich_help_panel=KEEPING)
def restore(
    source: Annotated[Path, typer.Option("--from", metavar="FILE", help="What `hmc-crowd backup` wrote.")],
    yes: Annotated[bool, typer.Option("--yes", help="Replace databases that hold anything.")] = False,
    workplace: Workplace = None,
    db: Database = DEFAULT_DATABASE,
    as_json: AsJson = False,
) -> None:
    """Put a backup in the place of campaigns, workplace and artefacts; all of it is checked before anything changes."""
    from hmc_crowd.backup import unpacked
    from hmc_crowd.store import open_store

    with ExitStack() as stack, busy("putting back"):
        found = stack.enter_context(unpacked(source))
        store = stack.enter_context(open_store(db, create=True, half_restored=True))
        keepers = [store.keeper()]
        if found.has_workplace:
            place: Any = stack.enter_context(connect(LOCAL, workplace))
            keepers.append(place.keeper())
        done = found.restore(keepers, artefacts=store.artefacts, overwrite=yes)
        key = _key_of(store.url)
        vault = place.vault() if found.has_workplace else None
        is_shut = vault is not None and not vault.is_readable()
        with store.begin() as tx:
            # Whoever has signed out since the backup stays out.
            tx.sign_ins.end_all()
    if as_json:
        emit_json(done)
        return
    say(str(done))
    if key is not None and not key.exists():
        notes(
            [f"the key of the pseudonyms is not in it: put its copy back as {key}, or known workers become strangers"]
        )
    if vault is not None and is_shut:
        notes(
            [
                f"the workplace's key is not in it: put its copy back as {vault.file}; if it is lost, `hmc-crowd keys "
                "renew` makes a new one, and links are given out again"
            ]
        )


def has_workplace(workplace: str | None) -> bool:
    """Say whether there is a workplace at an address, or the usual one."""
    file = file_of(workplace or DEFAULT_WORKPLACE)
    return file is None or file.exists()


def _key_of(database: str) -> Path | None:
    """Return where the key of the pseudonyms lies; None where the environment holds it."""
    from hmc_crowd.campaign._pseudonyms import VARIABLE, key_file

    return None if os.environ.get(VARIABLE) else key_file(database)
