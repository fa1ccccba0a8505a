"""Commands of auditors: experts sample draw, cases, judge, open, list. The key lies in a file of theirs alone."""

import secrets
from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd._base.private import write_private
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
from hmc_crowd.cli._arguments import count_or_share, require_free
from hmc_crowd.cli._experts import experts_app
from hmc_crowd.cli._show import emit_json, give, say, table, tell
from hmc_crowd.cli._wording import HelpfulGroup
from hmc_crowd.errors import HmcCrowdError, InputError

sample_app = typer.Typer(
    cls=HelpfulGroup,
    help="A sample of final labels that nobody but its auditors knows until they open it. Draw, judge, open.",
)
experts_app.add_typer(sample_app, name="sample")

KeyFile = Annotated[
    Path, typer.Option("--key-file", metavar="FILE", help="Where the auditors keep the key of this sample.")
]


@sample_app.command("draw")
def draw(
    key_file: KeyFile,
    size: Annotated[str, typer.Option("--size", metavar="N|SHARE", help="How many labels, or which share of all.")],
    auditor: Annotated[str, typer.Option("--auditor", metavar="NAME", help="Who draws.")] = "auditor",
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Draw a sample under a new key, which is written to the file; only the key's hash goes into the event log."""
    key, wanted = secrets.token_bytes(32), count_or_share(size, name="--size")
    if wanted is None:
        raise InputError("--size is empty; give a number of labels, or a share of all")
    with open_campaign(db, campaign) as opened:
        # The key is safe before anything is drawn by it: without it the sample would be lost.
        _write(key_file, key)
        try:
            found = opened.draw_secret_audit(key, wanted, auditor=auditor, aspect=aspect)
        except HmcCrowdError:
            key_file.unlink()
            raise
    kept = f"the key is in {key_file}: without it the sample is lost, and whoever has it knows the sample"
    tell(found, as_json=as_json, said=[kept])


@sample_app.command("cases")
def cases(
    key_file: KeyFile,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """List the sample in the order in which it is judged, without any label."""
    key = _read(key_file)
    with open_campaign(db, campaign) as opened:
        found = opened.secret_audit_cases(key, aspect=aspect)
    if as_json:
        emit_json(found)
    else:
        table(found)


@sample_app.command("judge")
def judge(
    item: Annotated[str, typer.Argument(metavar="ITEM", help="An item of the sample.")],
    label: Annotated[str, typer.Argument(metavar="LABEL", help="What it is.")],
    key_file: KeyFile,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Keep an auditor's label of an item, sealed until the sample is opened; the first one counts."""
    key = _read(key_file)
    with open_campaign(db, campaign) as opened:
        opened.judge_secret_audit(key, item, label, aspect=aspect)
        left = int((~opened.secret_audit_cases(key, aspect=aspect)["is_judged"]).sum())
    if as_json:
        emit_json({"left": left})
    else:
        say(f"kept; {left:,} are left")


@sample_app.command("open")
def open_(
    key_file: KeyFile,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Open a sample: publish its key, and say how many of the final labels are wrong, with an interval."""
    key = _read(key_file)
    with open_campaign(db, campaign) as opened:
        found = opened.open_audit(key, aspect=aspect)
    tell(found, as_json=as_json)
    if found.wrong_items and not as_json:
        say(f"wrong: {', '.join(found.wrong_items)}", indent="  ")


@sample_app.command("list")
def list_(
    out: OutFile = None,
    overwrite: Overwrite = False,
    aspect: AspectName = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """List the samples: how many labels of how many, and of opened ones the error rate; never which items."""
    require_free(out, overwrite=overwrite)
    with open_campaign(db, campaign) as opened:
        found = opened.secret_audits(aspect=aspect)
    shown = found[["number", "auditor", "drawn", "items", "judged", "error", "low", "high", "drawn_at", "opened_at"]]
    give(found, shown, out, as_json=as_json, overwrite=overwrite, rows="samples")


def _write(path: Path, key: bytes) -> None:
    """Write the key to a new file that nobody else may read."""
    try:
        write_private(path, key.hex() + "\n", overwrite=False)
    except OSError as error:
        raise InputError(f"{path} cannot be written as a new file ({error.strerror}); name another one") from None


def _read(path: Path) -> bytes:
    try:
        return bytes.fromhex(path.read_text().strip())
    except (OSError, ValueError):
        raise InputError(f"{path} holds no key of a sample; name the file that `experts sample draw` wrote") from None
