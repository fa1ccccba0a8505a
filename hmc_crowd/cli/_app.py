"""The typer application and the options that many commands share."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hmc_crowd._base.money import Money
    from hmc_crowd.campaign import Campaign

app = typer.Typer(
    name="hmc-crowd",
    help="Decide which model outputs people must judge, get them judged, and say how far the result can be trusted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

DEFAULT_DATABASE = "hmc-crowd.db"

Database = Annotated[
    str,
    typer.Option("--db", envvar="HMC_CROWD_DATABASE_URL", help="The campaign's database: a file (SQLite) or a URL."),
]
CampaignName = Annotated[str | None, typer.Option("--campaign", help="Which campaign, when the database holds several.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]
OutFile = Annotated[Path | None, typer.Option("--out", help="Write the table to this file (.csv, .jsonl, .parquet).")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")]
PlatformName = Annotated[str, typer.Option("--platform", help="Where people work; `hmc-crowd doctor` lists them.")]
Workplace = Annotated[
    str | None,
    typer.Option("--workplace", envvar="HMC_CROWD_WORKPLACE_URL", help="Database of the local workplace."),
]
Seed = Annotated[int, typer.Option("--seed", help="Of everything that is drawn.")]
Redundancy = Annotated[int, typer.Option("--redundancy", min=1, help="How many people answer an item.")]


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)] = False,
) -> None:
    if version:
        from hmc_crowd import __version__

        typer.echo(f"hmc-crowd {__version__}")
        raise typer.Exit


def open_campaign(database: str, name: str | None) -> Campaign:
    """Open the campaign that a command speaks of."""
    from hmc_crowd.campaign import Campaign

    return Campaign.open(database, name)


@contextmanager
def connect(platform: str, workplace: str | None) -> Iterator[Any]:
    """Connect to the platform that a command speaks of, and let go of it at the end."""
    from hmc_crowd.platform import find_platform

    place: Any = find_platform(platform, workplace)
    try:
        yield place
    finally:
        # The port does not ask for a close(); adapters that hold a connection have one.
        getattr(place, "close", lambda: None)()


def count_or_share(text: str | None, *, name: str) -> int | float | None:
    """Read '200' as a count and '0.5' or '50%' as a share.

    Examples
    --------
    >>> count_or_share("200", name="audit"), count_or_share("0.5", name="audit"), count_or_share("50%", name="audit")
    (200, 0.5, 0.5)
    """
    if text is None or text.lower() in {"none", ""}:
        return None
    try:
        if text.endswith("%"):
            return float(text[:-1]) / 100
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    except ValueError:
        raise InputError(f"{name} is {text!r}; give a count such as 200 or a share such as 0.5") from None


def read_pay(text: str, currency: str | None) -> dict[str, int]:
    """Read --pay as the argument of `Campaign.publish` that it means."""
    from hmc_crowd._base.money import parse_pay

    money, hourly = parse_pay(text, currency=currency)
    return {"pay_per_hour_minor" if hourly else "pay_minor": money.minor}


def read_money(text: str, *, currency: str | None = None, name: str) -> Money:
    """Read an amount given on the command line."""
    from hmc_crowd._base.money import parse_money

    return parse_money(text, currency=currency, name=name)


def grid(text: str, *, name: str) -> list[float]:
    """Read 'start:stop:step' (stop included) or 'a,b,c'.

    The grid is built from integers, so that rounding never loses its last point.

    Examples
    --------
    >>> grid("0:1:0.25", name="max-humans")
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> grid("0.1,4.6", name="trade-offs")
    [0.1, 4.6]
    """
    try:
        if ":" not in text:
            return [float(part) for part in text.split(",")]
        start, stop, step = (float(part) for part in text.split(":"))
        if step <= 0 or stop < start:
            raise ValueError
    except ValueError:
        raise InputError(f"{name} is {text!r}; write start:stop:step with a step above 0, or numbers a,b,c") from None
    return [start + index * step for index in range(int((stop - start) / step + 1e-9) + 1)]


# The commands register themselves on the application.
from hmc_crowd.cli import _data, _look, _people, _planning, _showcase  # noqa: E402, F401
