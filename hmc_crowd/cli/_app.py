"""The typer application and the options that many commands share."""

# No `from __future__ import annotations` in the modules of commands: typer reads the annotations at run time.
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmc_crowd._base.addresses import shown_address
from hmc_crowd.cli._wording import HelpfulGroup
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hmc_crowd.campaign import Campaign

app = typer.Typer(
    name="hmc-crowd",
    cls=HelpfulGroup,
    help="Decide which model outputs people must judge, get them judged, and say how far the result can be trusted.",
    epilog="A first look: hmc-crowd demo. Your own data: hmc-crowd init, items, effort estimate, plan, publish, "
    "collect, check, aggregate, certify, learn, report; status says what comes next.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

DEFAULT_DATABASE = "hmc-crowd.db"
LOCAL = "local"

# Panels of the commands ...
BEGIN, PLAN, PEOPLE, RESULT = "Begin", "Who judges what", "People at work", "What it says"
KEEPING = "Copies of everything"
# ... and of the options.
CAMPAIGN, OUTPUT, REHEARSAL = "Campaign", "Output", "Rehearsal with simulated people"

Database = Annotated[
    str,
    typer.Option(
        "--db",
        envvar="HMC_CROWD_DATABASE_URL",
        metavar="FILE|URL",
        help="The campaign's database: an SQLite file, or a URL.",
        rich_help_panel=CAMPAIGN,
    ),
]
CampaignName = Annotated[
    str | None,
    typer.Option(
        "--campaign",
        metavar="NAME",
        help="Which campaign, when the database holds several.",
        rich_help_panel=CAMPAIGN,
    ),
]
AspectName = Annotated[
    str | None,
    typer.Option(
        "--aspect", metavar="NAME", help="Which question, when the campaign asks several.", rich_help_panel=CAMPAIGN
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.", rich_help_panel=OUTPUT)]
OutFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Write the table to this file (.csv, .jsonl, .parquet).",
        rich_help_panel=OUTPUT,
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.", rich_help_panel=OUTPUT)]
PlatformName = Annotated[
    str, typer.Option("--platform", metavar="NAME", help="Where people work; `hmc-crowd doctor` lists what there is.")
]
Workplace = Annotated[
    str | None,
    typer.Option(
        "--workplace",
        envvar="HMC_CROWD_WORKPLACE_URL",
        metavar="FILE|URL",
        show_envvar=False,
        help="Database of the local workplace (or HMC_CROWD_WORKPLACE_URL); workplace.db by default.",
    ),
]
Endpoint = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        metavar="URL",
        help="Address of the platform's API: needed by mturk; prolific's own by default. The local one is --workplace.",
    ),
]
Pages = Annotated[
    str | None,
    typer.Option(
        "--pages",
        metavar="NAME[:ADDRESS]",
        help="Who shows the work where the platform only recruits (prolific): local, with the database --workplace or "
        "the one named here; local by default.",
    ),
]
ContentWarning = Annotated[
    str,
    typer.Option(
        "--content-warning", metavar="TEXT", help="What people are warned of; needed where items are sensitive."
    ),
]
Budget = Annotated[
    str | None,
    typer.Option("--budget", metavar="AMOUNT", help="Most to spend over the whole campaign, fees included."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do spend, up to --budget; without it this is a dry run.")]
PublicUrl = Annotated[
    str | None,
    typer.Option(
        "--public-url", metavar="URL", help="Where people reach the pages; by default where they were served last."
    ),
]
Skill = Annotated[
    list[str] | None, typer.Option("--skill", metavar="WORD", help="What people can do; may be given again.")
]
Language = Annotated[
    list[str] | None, typer.Option("--language", metavar="CODE", help="A language that is a skill: de, vi; repeatable.")
]
Redundancy = Annotated[int, typer.Option("--redundancy", min=1, metavar="N", help="How many people answer an item.")]
Minutes = Annotated[
    float, typer.Option("--target-minutes", min=0.1, metavar="MINUTES", help="Expected length of a HIT.")
]
ModelKind = Annotated[str, typer.Option("--kind", metavar="KIND", help="random_forest, xgboost or log_time.")]


def _print_version(asked: bool) -> None:
    if asked:
        from hmc_crowd import __version__

        typer.echo(f"hmc-crowd {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def open_campaign(database: str, name: str | None) -> "Campaign":
    """Open the campaign that a command speaks of."""
    from hmc_crowd.campaign import Campaign

    return Campaign.open(database, name)


@contextmanager
def connect(platform: str, workplace: str | None, endpoint: str | None = None) -> "Iterator[Any]":
    """Connect to the platform that a command speaks of, and let go of it at the end."""
    from hmc_crowd.platform import find_platform

    if platform == LOCAL and endpoint is not None:
        raise InputError(
            f"--endpoint is {shown_address(endpoint)!r}, but the local platform is a database; name it with --workplace"
        )
    place: Any = find_platform(platform, workplace if platform == LOCAL else endpoint)
    try:
        yield place
    finally:
        # The port does not ask for a close(); adapters that hold a connection have one.
        getattr(place, "close", lambda: None)()


def link_base(place: Any, public_url: str | None) -> tuple[str, list[str]]:
    """Return where a workplace's pages are served, and a note where nobody has said it: links begin with it.

    It is what ``--public-url`` says, else where `hmc-crowd serve` ran last.
    """
    served = public_url or place.served_at()
    if served:
        return served.rstrip("/"), []
    plain = "http://127.0.0.1:8000"
    return plain, [
        f"nobody has served this workplace yet, so the link begins with {plain}, where hmc-crowd serve answers "
        "by default; with another port or host give --public-url"
    ]


def file_of(address: str) -> Path | None:
    """Return the file of a database's address, as it is opened; None where the database is no file.

    Examples
    --------
    >>> file_of("work.db"), file_of("sqlite:////srv/work.db?timeout=5"), file_of("postgresql://lab/work")
    (PosixPath('work.db'), PosixPath('/srv/work.db'), None)
    """
    if "://" not in address:
        return Path(address).expanduser()
    if not address.startswith("sqlite"):
        return None
    return Path(address.partition(":///")[2].partition("?")[0].removeprefix("file:"))


@contextmanager
def connect_pages(place: Any, pages: str | None, workplace: str | None) -> "Iterator[Any]":
    """Connect to whoever shows the work of a platform that only recruits; None where it has pages of its own."""
    from hmc_crowd.platform import Recruiter

    if isinstance(place, Recruiter):
        name, _, address = (pages or LOCAL).partition(":")
        with connect(name, address or workplace, None if name == LOCAL else address or None) as shown_by:
            yield shown_by
        return
    if pages is not None:
        raise InputError(
            f"--pages is {shown_address(pages)!r}, but {place.name} shows the work on pages of its own; leave it out"
        )
    yield None


# The commands register themselves on the application; the order here is the order of the help.
from hmc_crowd.cli import _showcase, _data, _confidence, _effort, _effort_text, _planning  # noqa: E402, F401, I001
from hmc_crowd.cli import _rehearse, _reckon, _people, _guideline  # noqa: E402, F401
from hmc_crowd.cli import _outside, _steer, _watch, _listing, _aggregate, _result, _estimate, _export  # noqa: E402, F401
from hmc_crowd.cli import _look, _privacy, _metrics, _judges, _judges_compare, _judges_loop  # noqa: E402, F401
from hmc_crowd.cli import _gate, _gate_campaign, _experts, _expert_samples, _alerts, _serve, _pools  # noqa: E402, F401
from hmc_crowd.cli import _quality, _quality_model, _groups, _quotas, _tests, _invites, _backup, _keys_more  # noqa: E402, F401
