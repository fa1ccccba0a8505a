"""The entry point ``hmc_crowd.platforms: prolific``."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, cast, get_args
from urllib.parse import urlsplit

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.clock import SystemClock
from hmc_crowd.errors import InputError
from hmc_crowd_prolific._client import API_URL, ProlificClient
from hmc_crowd_prolific._http import Mode
from hmc_crowd_prolific._platform import ProlificPlatform
from hmc_crowd_prolific._settings import StudySettings, is_this_machine

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from hmc_crowd._base.clock import Clock
    from hmc_crowd_prolific._pace import Pace

__all__ = ["connect"]

_PREFIX = "HMC_CROWD_PROLIFIC_"


def connect(
    address: str | None = None,
    *,
    mode: Mode | None = None,
    settings: StudySettings | None = None,
    clock: Clock | None = None,
    pace: Pace | None = None,
    transport: httpx.BaseTransport | None = None,
    environment: Mapping[str, str] | None = None,
) -> ProlificPlatform:
    """Connect to Prolific, or to a stand-in; sends nothing.

    The token comes from ``HMC_CROWD_PROLIFIC_TOKEN`` and from nowhere else. ``HMC_CROWD_PROLIFIC_URL``,
    ``_WORKSPACE``, ``_PROJECT``, ``_STUDY_URL`` and ``_MODE`` stand in for what is not passed.

    Parameters
    ----------
    address : str, optional
        Where the API begins; by default what ``HMC_CROWD_PROLIFIC_URL`` names, else Prolific's own.
    mode : {"read", "stub", "live"}, optional
        ``"read"`` refuses whatever writes: the default for Prolific, which has no sandbox. ``"live"`` allows it.
        ``"stub"`` allows it for a stand-in on this machine, and is the default there.
    settings : StudySettings, optional
        How studies look.
    clock : Clock, optional
        The machine's by default.
    pace : Pace, optional
        How to wait and when to give up.
    transport : httpx.BaseTransport, optional
        Another network, for tests.
    environment : mapping, optional
        In place of the process's own.

    Raises
    ------
    InputError
        No token, an address that would send it in the clear, or a mode that does not fit the address.

    Examples
    --------
    >>> with connect(environment={"HMC_CROWD_PROLIFIC_TOKEN": "secret"}) as platform:
    ...     platform.client
    ProlificClient('https://api.prolific.com/api/v1/', mode='read')
    """
    found = os.environ if environment is None else environment
    url = address if address is not None else found.get(f"{_PREFIX}URL", "").strip() or API_URL
    token = found.get(f"{_PREFIX}TOKEN", "")
    if not token.strip():
        raise InputError(f"no token; set {_PREFIX}TOKEN to one made on Prolific's settings page")
    used: Clock = clock if clock is not None else SystemClock()
    client = ProlificClient(
        url,
        token=token,
        mode=_mode(url, mode if mode is not None else found.get(f"{_PREFIX}MODE")),
        transport=transport,
        pace=pace,
        clock=used,
    )
    return ProlificPlatform(client, _filled(settings, found), clock=used)


def _filled(settings: StudySettings | None, found: Mapping[str, str]) -> StudySettings:
    given = settings if settings is not None else StudySettings()
    return replace(
        given,
        workspace=given.workspace or found.get(f"{_PREFIX}WORKSPACE") or None,
        project=given.project or found.get(f"{_PREFIX}PROJECT") or None,
        study_url=given.study_url or found.get(f"{_PREFIX}STUDY_URL") or None,
    )


def _mode(url: str, mode: str | None) -> Mode:
    is_local = is_this_machine(url)
    parts = urlsplit(url)
    if not parts.hostname or parts.scheme not in ({"http", "https"} if is_local else {"https"}):
        raise InputError(
            f"address is {shown_address(url)!r}; give an https address, because the token goes with every request"
        )
    if mode is None:
        return "stub" if is_local else "read"
    if mode not in get_args(Mode):
        raise InputError(f"mode is {mode!r}; use 'read', 'stub' or 'live'")
    if mode == ("live" if is_local else "stub"):
        where = "on this machine, which is never live" if is_local else "not on this machine, so no stand-in"
        raise InputError(f"mode is {mode!r}, but {shown_address(url)} is {where}; correct one of them")
    return cast("Mode", mode)
