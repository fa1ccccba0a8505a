"""Commands of keys about what was given out by them: sign-ins at the board, and a new key of the workplace."""

from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import DEFAULT_DATABASE, LOCAL, AsJson, Database, Workplace, connect, file_of
from hmc_crowd.cli._serve import keys_app
from hmc_crowd.cli._show import emit_json, facts, notes, say, table
from hmc_crowd.errors import InputError


@keys_app.command("sign-ins")
def sign_ins(db: Database = DEFAULT_DATABASE, as_json: AsJson = False) -> None:
    """List the browsers that are signed in at the board with a key."""
    import pandas as pd

    from hmc_crowd.store import open_store

    with open_store(db) as store, store.read() as tx:
        found = tx.sign_ins.all()
        labels = {each.id: each.label for each in tx.keys.all()}
    columns = ["id", "key", "label", "role", "since", "until"]
    rows = [
        (each.id, each.key_id, labels.get(each.key_id, ""), each.role, each.created_at, each.expires_at)
        for each in found
    ]
    frame = pd.DataFrame(rows, columns=columns)
    if as_json:
        emit_json(frame)
    elif frame.empty:
        say("nobody is signed in")
    else:
        table(frame)


@keys_app.command("sign-out")
def sign_out(
    sign_in: Annotated[str | None, typer.Argument(metavar="[ID]", help="The sign-in's id, as in the list.")] = None,
    of_key: Annotated[str | None, typer.Option("--key", metavar="ID", help="All sign-ins of this key.")] = None,
    everybody: Annotated[bool, typer.Option("--all", help="All sign-ins of everybody.")] = False,
    db: Database = DEFAULT_DATABASE,
    as_json: AsJson = False,
) -> None:
    """End a sign-in at the board, all of a key, or all; who has the key can sign in again."""
    from hmc_crowd.store import open_store

    if sum((sign_in is not None, of_key is not None, everybody)) != 1:
        raise InputError("name one sign-in, or give --key ID, or --all; `hmc-crowd keys sign-ins` lists them")
    with open_store(db) as store, store.begin() as tx:
        if sign_in is not None:
            tx.sign_ins.end(sign_in)
            ended = 1
        else:
            if of_key is not None and tx.keys.get(of_key) is None:
                raise InputError(f"--key is {of_key!r}, which is unknown; see `hmc-crowd keys list --board`")
            ended = tx.sign_ins.end_all(key_id=of_key)
    if as_json:
        emit_json({"ended": ended})
    else:
        say(f"ended: {ended}")


@keys_app.command("renew")
def renew(
    yes: Annotated[bool, typer.Option("--yes", help="Do it; without it the command only says what would end.")] = False,
    db: Database = DEFAULT_DATABASE,
    workplace: Workplace = None,
    as_json: AsJson = False,
) -> None:
    """Make a new key of the workplace, for one that is lost or that others may have read; what it signed becomes void.

    Invitations, links to work, links of workers at the MTurk API, its keys, and the secrets of webhooks end; sign-ins
    at the board, too. Give them out again, and start the server anew.
    """
    from hmc_crowd._base.clock import SystemClock
    from hmc_crowd.store import open_store

    with connect(LOCAL, workplace) as opened:
        place: Any = opened
        vault = place.vault()
        secrets, keys = vault.counts()
        done = vault.renew(at=SystemClock().now()) if yes else None
        where = place.account().endpoint
    ended = 0
    if done is not None and ((file := file_of(db)) is None or file.exists()):
        with open_store(db) as store, store.begin() as tx:
            ended = tx.sign_ins.end_all()
    if as_json:
        shown = {"workplace": where, "secrets": secrets, "keys": keys, "done": done is not None}
        emit_json(shown | ({} if done is None else {"file": done.file, "sign_ins": ended}))
        return
    rows = [("secrets that signed links and webhooks", str(secrets)), ("keys for the MTurk API", str(keys))]
    if done is None:
        facts(f"would end, in {where}", rows)
        notes(["nothing was changed; --yes does it"])
        return
    facts(f"new key of {where}: {done.file}", [*rows, ("sign-ins at the board", str(ended))])
    notes(["give links and keys out again (invites issue, keys issue), and start the server anew"])
