"""What `hmc-crowd doctor --platform NAME` looks at beside the installation."""

import os
from urllib.parse import urlsplit

from hmc_crowd._base.findings import Finding
from hmc_crowd._base.reach import Outside
from hmc_crowd.cli._app import LOCAL, connect
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


def _origin(public_url: str) -> str:
    parts = urlsplit(public_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/"):
        raise InputError(f"--public-url is {public_url!r}; give the https address that people's browsers use")
    return f"{parts.scheme}://{parts.netloc}"
