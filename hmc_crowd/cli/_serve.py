"""Commands of the workplace's owner: serve, layouts, keys."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from hmc_crowd._base.texts import read_text
from hmc_crowd.cli import _board_keys
from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    PEOPLE,
    AsJson,
    Database,
    Overwrite,
    PublicUrl,
    Workplace,
    app,
    connect,
    link_base,
)
from hmc_crowd.cli._show import as_json_text, echo, emit_json, facts, notes, say, table
from hmc_crowd.cli._wording import HelpfulGroup
from hmc_crowd.errors import InputError

_LARGEST = 1_000_000
OfBoard = Annotated[bool, typer.Option("--board", help="Keys of the board and the machine door.")]


@app.command(rich_help_panel=PEOPLE)
def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, metavar="N", help="Port to listen on; 0 takes a free one.")
    ] = 8000,
    public_url: Annotated[
        str | None,
        typer.Option(
            "--public-url", metavar="URL", help="The https address that people's browsers use, where a proxy is before."
        ),
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option("--study", metavar="FILE", help="What workers read and pass before the work (TOML)."),
    ] = None,
    workers: Annotated[
        int,
        typer.Option("--workers", min=1, max=64, metavar="N", help="How many processes answer; several on PostgreSQL."),
    ] = 1,
    workplace: Workplace = None,
    db: Database = DEFAULT_DATABASE,
    as_json: AsJson = False,
) -> None:
    """Serve the workplace: task pages, the board, the MTurk API, and Prolific's arrivals where its token is set."""
    from hmc_crowd.cli._serving import bind, bound_name, public_address
    from hmc_crowd.cli._workers import supervise

    public_address(host, port, public_url)
    campaigns = _named(context, db)
    with bind(host, port) as listening:
        port = listening.getsockname()[1]
        address = public_address(host, port, public_url)
        bound = bound_name(host, port)

        def work(tell: Callable[[list[tuple[str, str]], str], None]) -> bool:
            return _serve_once(
                listening, address, workplace, campaigns, study, tell=tell, is_alone=workers == 1, bound=bound
            )

        is_interrupted = supervise(work, workers, tell=lambda shown, where: _started(shown, where, as_json=as_json))
    if is_interrupted:
        raise typer.Exit(130)


def _serve_once(
    listening: Any,
    address: str,
    workplace: str | None,
    database: str | None,
    study: Path | None,
    *,
    tell: Callable[[list[tuple[str, str]], str], None],
    is_alone: bool,
    bound: str,
) -> bool:
    """Serve in this process until told to stop; return whether that was Ctrl-C."""
    from contextlib import ExitStack

    from hmc_crowd._base.clock import SystemClock
    from hmc_crowd._base.serving import ServeSettings, load_mounts, make_app
    from hmc_crowd.cli._serving import run
    from hmc_crowd.platform import find_platform

    with ExitStack() as stack:
        place: Any = find_platform("local", workplace, pages=address)
        stack.callback(place.close)
        where = place.account().endpoint
        if not is_alone and where.startswith("sqlite"):
            raise InputError(f"--workers needs PostgreSQL, and the workplace is {where}; see --workplace")
        settings = ServeSettings(
            place,
            address,
            SystemClock(),
            database=database,
            environment=os.environ,
            study=None if study is None else str(study),
            bound=bound,
        )
        mounts = load_mounts(settings)
        for each in mounts:
            stack.callback(each.close or (lambda: None))
        shown = [(what, address + path) for each in mounts for what, path in each.shown]
        place.serve_at(address)
        return run(make_app(mounts), listening, started=lambda: tell(shown, where))


def _named(context: typer.Context, db: str) -> str | None:
    """Return the campaigns' database; None where nobody named one and the one by default is not there."""
    source = context.get_parameter_source("db")
    is_named = source is not None and source.name != "DEFAULT"
    return db if is_named or Path(db).exists() else None


def _started(shown: list[tuple[str, str]], where: str, *, as_json: bool) -> None:
    """Say that requests are answered: one line for programs, the addresses for people."""
    import sys

    if as_json:
        said = {"serving": [{"what": what, "url": url} for what, url in shown], "workplace": where, "pid": os.getpid()}
        echo(as_json_text(said))
    else:
        facts(f"serving {where}; Ctrl-C stops it", [(what, url) for what, url in shown])
    sys.stdout.flush()


layouts_app = typer.Typer(cls=HelpfulGroup, help="HITLayouts for scripts that use the MTurk API.")
app.add_typer(layouts_app, name="layouts", rich_help_panel=PEOPLE)
keys_app = typer.Typer(cls=HelpfulGroup, help="Keys: for scripts at the MTurk API, for the board and its machine door.")
app.add_typer(keys_app, name="keys", rich_help_panel=PEOPLE)


@layouts_app.command("add")
def layouts_add(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An HTML page with ${parameters}.")],
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="Its name; the file's by default.")] = None,
    workplace: Workplace = None,
    as_json: AsJson = False,
) -> None:
    """Keep a page as a HITLayout and print the HITLayoutId under which scripts use it."""
    try:
        html = read_text(file)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}; give an HTML file") from None
    except UnicodeDecodeError:
        raise InputError(f"{file} is no UTF-8 text; save it as UTF-8") from None
    if len(html) > _LARGEST:
        raise InputError(f"{file} has {len(html):,} characters; a layout may have {_LARGEST:,}")
    with connect("local", workplace) as place:
        layout_id = place.front_door().add_layout(html, name=name or file.stem)
    if as_json:
        emit_json({"layout_id": layout_id})
    else:
        say(f"HITLayoutId: {layout_id}")


@layouts_app.command("list")
def layouts_list(workplace: Workplace = None, as_json: AsJson = False) -> None:
    """List the layouts, oldest first."""
    with connect("local", workplace) as place:
        _list(place.front_door().layouts(), ["layout_id", "name", "created_at", "n_bytes"], as_json=as_json)


@keys_app.command("issue")
def keys_issue(
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What the key is for.")] = "",
    account: Annotated[
        str, typer.Option("--account", metavar="NAME", help="Whose HITs and money it reaches; made if new.")
    ] = "main",
    role: Annotated[
        str | None,
        typer.Option(
            "--role",
            metavar="ROLE",
            help="A key for the board and the machine door instead: worker, expert, auditor, reviewer or owner.",
        ),
    ] = None,
    skill: Annotated[
        list[str] | None,
        typer.Option("--skill", metavar="NAME", help="With --role: what its holder knows; give it again for more."),
    ] = None,
    per_hour: Annotated[
        float | None,
        typer.Option("--per-hour", metavar="N", help="With --role: how many items its holder can do in an hour."),
    ] = None,
    db: Database = DEFAULT_DATABASE,
    workplace: Workplace = None,
    as_json: AsJson = False,
) -> None:
    """Issue a key for the MTurk API, or with --role for the board; it is printed now and never again."""
    if role is not None:
        _board_keys.issue(db, role, label, skills=skill or [], per_hour=per_hour, as_json=as_json)
        return
    if skill or per_hour is not None:
        raise InputError("--skill and --per-hour are about the machine door's people; give --role expert, too")
    with connect("local", workplace) as place:
        key = place.front_door().issue_key(account, label=label)
    shown = {"AWS_ACCESS_KEY_ID": key.access_key_id, "AWS_SECRET_ACCESS_KEY": key.secret_access_key}
    if as_json:
        emit_json(shown)
        return
    for name, value in shown.items():
        echo(f"{name}={value}")
    notes(["the secret is shown this once; whoever has it acts as the requester"])


@keys_app.command("list")
def keys_list(
    board: OfBoard = False, db: Database = DEFAULT_DATABASE, workplace: Workplace = None, as_json: AsJson = False
) -> None:
    """List the keys that were issued, without their secrets."""
    if board:
        _board_keys.listed(db, as_json=as_json)
        return
    with connect("local", workplace) as place:
        columns = ["access_key_id", "account", "label", "created_at", "revoked_at"]
        _list(place.front_door().keys(), columns, as_json=as_json)


@keys_app.command("revoke")
def keys_revoke(
    key: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as in the list.")],
    board: OfBoard = False,
    db: Database = DEFAULT_DATABASE,
    workplace: Workplace = None,
    as_json: AsJson = False,
) -> None:
    """Take a key back: from now on it is refused."""
    if board:
        _board_keys.revoke(db, key)
    else:
        with connect("local", workplace) as place:
            place.front_door().revoke_key(key)
    if as_json:
        emit_json({"revoked": key})
    else:
        say(f"revoked: {key}")


@keys_app.command("worker")
def keys_worker(
    worker: Annotated[str, typer.Argument(metavar="WORKER", help="An A, then capital letters and digits.")],
    country: Annotated[
        str | None,
        typer.Option("--country", metavar="CC", help="Note where they live, for HITs that ask for it: US, DE, ..."),
    ] = None,
    subdivision: Annotated[
        str | None, typer.Option("--subdivision", metavar="CC", help="With --country: the part of it, for US a state.")
    ] = None,
    is_adult: Annotated[
        bool | None, typer.Option("--adult/--not-adult", help="Note whether they are of age, for HITs that ask for it.")
    ] = None,
    is_new: Annotated[
        bool, typer.Option("--new", help="Make another link; the one of before is refused from now on.")
    ] = False,
    is_revoked: Annotated[
        bool, typer.Option("--revoke", help="Take the link back, and print none: it is refused from now on.")
    ] = False,
    public_url: PublicUrl = None,
    workplace: Workplace = None,
    as_json: AsJson = False,
) -> None:
    """Print the link by which a worker finds the HITs of the MTurk API; whoever has it works under that id."""
    if is_new and is_revoked:
        raise InputError("--new and --revoke are given; --new alone takes the old link back, too")
    with connect("local", workplace) as place:
        door = place.front_door()
        door.set_worker(worker, country=country, subdivision=subdivision, is_adult=is_adult)
        if is_revoked:
            door.revoke_worker_key(worker)
            if as_json:
                emit_json({"revoked": worker})
            else:
                say(f"revoked: the link of {worker}; keys worker {worker} --new makes another")
            return
        key = door.issue_worker_key(worker, is_new=is_new)
        base, unsure = link_base(place, public_url)
    link = f"{base}/mturk/hits?workerId={worker}&key={key}"
    if as_json:
        emit_json({"link": link})
    else:
        echo(link)
        notes(unsure)


@keys_app.command("links")
def keys_links(workplace: Workplace = None, as_json: AsJson = False) -> None:
    """List the workers of the MTurk API and whether the link of each works; the links themselves are not shown."""
    with connect("local", workplace) as place:
        _list(place.front_door().worker_links(), ["worker", "made_at", "revoked_at"], as_json=as_json)


@app.command("batch-results", rich_help_panel=PEOPLE)
def batch_results(
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The CSV file.")],
    account: Annotated[
        str, typer.Option("--account", metavar="NAME", help="Whose HITs: the account of the key that made them.")
    ] = "main",
    hit_type: Annotated[str | None, typer.Option("--hit-type", metavar="ID", help="Only HITs of this type.")] = None,
    overwrite: Overwrite = False,
    workplace: Workplace = None,
    as_json: AsJson = False,
) -> None:
    """Write what was handed in through the MTurk API, in the columns of MTurk's batch file."""
    with connect("local", workplace) as place:
        written = place.front_door().write_batch_file(out, account=account, hit_type_id=hit_type, overwrite=overwrite)
    if as_json:
        emit_json({"submissions": written, "out": out})
    else:
        say(f"{written:,} submissions: {out}")


def _list(records: list[Any], columns: list[str], *, as_json: bool) -> None:
    import pandas as pd

    frame = pd.DataFrame([{name: getattr(each, name) for name in columns} for each in records], columns=columns)
    if as_json:
        emit_json(frame)
    else:
        table(frame)
