"""What `hmc-crowd doctor` looks at beside the installation: who may read our files, and with --platform its needs."""

import os
import shlex
from pathlib import Path
from urllib.parse import urlsplit

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.findings import Finding
from hmc_crowd._base.keys import config_folder
from hmc_crowd._base.private import wider_than_owner
from hmc_crowd._base.reach import Outside
from hmc_crowd.cli._app import LOCAL, connect, file_of
from hmc_crowd.errors import InputError


def look_at_platform(
    platform: str, endpoint: str | None, workplace: str | None, public_url: str | None
) -> list[Finding]:
    """Ask a platform what stands in the way of working with it; nothing is changed.

    Raises
    ------
    PlatformUnavailableError
        It gives no answer.
    """
    from hmc_crowd.platform import Examines, platform_names

    if platform not in platform_names():
        raise InputError(f"--platform is {platform!r}; there are {', '.join(platform_names())}")
    origin = None if public_url is None else _origin(public_url)
    try:
        with connect(platform, workplace, None if platform == LOCAL else endpoint) as place:
            if isinstance(place, Examines):
                return list(place.examine(Outside(os.environ), public_url=origin))
            account = place.account()
            return [Finding(platform, "ok", f"{account.endpoint}, {account.account}, mode {account.mode}")]
    except InputError as error:
        # What is not set is what this command is for.
        return [Finding(platform, "fail", str(error))]


def look_at_rights(db: str, workplace: str | None) -> Finding:
    """Say which of our files other users of this machine may read, and how to mend it; nothing is changed."""
    place = workplace or os.environ.get("HMC_CROWD_WORKPLACE_URL") or "workplace.db"
    databases = [file for file in map(file_of, (db, place)) if file is not None]
    ours = [Path(f"{file}{ending}") for file in databases for ending in ("", "-wal", "-shm", ".key", ".artefacts")]
    ours += sorted(config_folder().glob("*.key"))
    wide = [each for each in ours if wider_than_owner(each)]
    if not wide:
        return Finding("private files", "ok", "databases and keys can be read by their owner alone")
    files, folders = ([each for each in wide if each.is_dir() is is_dir] for is_dir in (False, True))
    mend = [f"chmod {mode} {shlex.join(map(str, some))}" for mode, some in ((600, files), (700, folders)) if some]
    opened = any(str(each).endswith(".key") or each == file_of(place) for each in wide)
    renewed = "; if others use this machine, `hmc-crowd keys renew` makes void what they may have read" * opened
    said = f"others may read people's work or keys: {'; '.join(mend)}{renewed}"
    return Finding("private files", "warn", said)


def _origin(public_url: str) -> str:
    parts = urlsplit(public_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/"):
        raise InputError(
            f"--public-url is {shown_address(public_url)!r}; give the https address that people's browsers use"
        )
    return f"{parts.scheme}://{parts.netloc}"
