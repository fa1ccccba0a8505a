"""Will Prolific's participants reach us, be recognised, and be paid? All looked at, nothing changed."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.findings import Finding
from hmc_crowd._base.reach import look_at_address, look_at_skew
from hmc_crowd.errors import HmcCrowdError, InputError, PlatformUnavailableError
from hmc_crowd_prolific._settings import router_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hmc_crowd._base.reach import Surroundings
    from hmc_crowd_prolific._platform import ProlificPlatform

__all__ = ["examine"]

_PREFIX = "HMC_CROWD_PROLIFIC_"
_ARRIVE, _HOOK = "/prolific/arrive", "/prolific/hook"
_REFUSED = {403: "it refuses who does not come from Prolific, as it must"}
#: Without these events, places of submissions that ended are found later, by asking.
_EVENT = "submission.status.change"


def examine(platform: ProlificPlatform, around: Surroundings, *, public_url: str | None = None) -> Iterator[Finding]:
    """Look at token, money, project, the study's address and the webhooks.

    Parameters
    ----------
    platform : ProlificPlatform
        Connected; nothing is written with it.
    around : Surroundings
        The environment, the clock and the way to our own address.
    public_url : str, optional
        Where the server is reached; by default the origin of ``HMC_CROWD_PROLIFIC_STUDY_URL``.

    Yields
    ------
    Finding
        One a condition. Where the token fails, what needs it is left out.

    Raises
    ------
    PlatformUnavailableError
        Prolific gives no answer.
    """
    yield (token := _said("token", lambda: _token(platform)))
    if not token.is_fault:
        yield _said("workspace", lambda: _workspace(platform))
        yield _said("project", lambda: _project(platform))
        yield _clock(platform)
    yield _mode(platform)
    study = platform.settings.study_url or (f"{public_url}{_ARRIVE}" if public_url else None)
    yield from _study(study, around)
    if study is not None:
        parts = urlsplit(public_url or study)
        yield from _hook(f"{parts.scheme}://{parts.netloc}{_HOOK}", platform, around, has_token=not token.is_fault)


def _said(check: str, look: Callable[[], Finding]) -> Finding:
    """Turn a refusal into a finding; silence is no finding."""
    try:
        return look()
    except PlatformUnavailableError:
        raise
    except HmcCrowdError as error:
        return Finding(check, "fail", str(error))


def _token(platform: ProlificPlatform) -> Finding:
    found = platform.client.workspaces.all()
    return Finding("token", "ok", f"{shown_address(platform.client.http.base_url)} knows it; {len(found)} workspaces")


def _workspace(platform: ProlificPlatform) -> Finding:
    name = platform.workspace
    if name not in {each.id for each in platform.client.workspaces.all()}:
        return Finding("workspace", "fail", f"the token cannot see {name}; correct {_PREFIX}WORKSPACE")
    available = platform.client.workspaces.balance(name).available
    if available.minor <= 0:
        return Finding("workspace", "warn", f"{name} has {available} available; add money before publishing")
    return Finding("workspace", "ok", f"{name}, {available} available")


def _project(platform: ProlificPlatform) -> Finding:
    name = platform.settings.project
    known = {each.id: each.title for each in platform.client.workspaces.projects(platform.workspace)}
    if name is None:
        return Finding(
            "project", "fail", f"none is set; set {_PREFIX}PROJECT to one of: {', '.join(known) or 'none yet'}"
        )
    if name not in known:
        return Finding("project", "fail", f"the workspace has no project {name}; it has {', '.join(known) or 'none'}")
    return Finding("project", "ok", f"{name} ({known[name]})")


def _clock(platform: ProlificPlatform) -> Finding:
    skew_s = platform.client.http.skew_s
    if skew_s is None:
        return Finding("clock", "warn", "Prolific's answers have no Date header, so the clocks cannot be compared")
    return look_at_skew(skew_s)


def _mode(platform: ProlificPlatform) -> Finding:
    mode = platform.client.http.mode
    if mode == "read":
        return Finding("mode", "warn", f"read: nothing can be published or paid; set {_PREFIX}MODE=live for that")
    return Finding("mode", "ok", f"{mode}: publishing and paying are possible")


def _study(study: str | None, around: Surroundings) -> Iterator[Finding]:
    if study is None:
        yield Finding(
            "study address",
            "fail",
            f"none is set; set {_PREFIX}STUDY_URL to https://YOUR-HOST{_ARRIVE}, or give --public-url",
        )
        return
    try:
        router_url(study)
    except InputError as error:
        yield Finding("study address", "fail", str(error))
        return
    yield from look_at_address(study, around, check="study address", expect=_REFUSED)


def _hook(hook: str, platform: ProlificPlatform, around: Surroundings, *, has_token: bool) -> Iterator[Finding]:
    """Look whether webhooks are signed with a secret that the server knows, and whether Prolific sends any."""
    secrets = [
        each.strip() for each in around.environment.get(f"{_PREFIX}WEBHOOK_SECRET", "").split(",") if each.strip()
    ]
    if not secrets:
        text = f"no secret; set {_PREFIX}WEBHOOK_SECRET, or places that were given back are found late"
        yield Finding("webhook secret", "warn", text)
        return
    yield _delivery(hook, secrets[0], around)
    if has_token:
        yield _said("webhook subscription", lambda: _subscription(hook, platform))


def _delivery(hook: str, secret: str, around: Surroundings) -> Finding:
    """Deliver nothing, once unsigned and once signed: the first must be refused, the second must be understood."""
    stamp = str(int(around.now().timestamp()))
    mac = hmac.new(secret.encode(), stamp.encode(), hashlib.sha256).digest()
    signed = {
        "X-Prolific-Request-Timestamp": stamp,
        "X-Prolific-Request-Signature": base64.b64encode(mac).decode(),
        "X-Event-ID": "doctor",
    }
    try:
        without, with_it = (around.ask("POST", hook, headers=each).status_code for each in ({}, signed))
    except httpx.HTTPError as error:
        return Finding("webhook secret", "fail", f"{hook} does not answer ({type(error).__name__}); check the proxy")
    if without == 404:
        text = f"{hook} takes no webhooks: the server runs without {_PREFIX}WEBHOOK_SECRET; set it there too"
        return Finding("webhook secret", "fail", text)
    if without != 401:
        return Finding("webhook secret", "fail", f"{hook} answers {without} to an unsigned delivery, not 401; check it")
    if with_it == 401:
        return Finding(
            "webhook secret", "fail", f"the server at {hook} has another secret than this shell; make them one"
        )
    return Finding("webhook secret", "ok", f"{hook} refuses unsigned deliveries and understands signed ones")


def _subscription(hook: str, platform: ProlificPlatform) -> Finding:
    there = platform.client.hooks.subscriptions(platform.workspace)
    kinds = {each.event_type for each in there if each.target_url == hook}
    if _EVENT in kinds:
        return Finding("webhook subscription", "ok", f"{', '.join(sorted(kinds))} come to {hook}")
    elsewhere = sorted({each.target_url for each in there if each.event_type == _EVENT})
    more = f" ({_EVENT} goes to {', '.join(elsewhere)})" if elsewhere else ""
    return Finding("webhook subscription", "warn", f"Prolific sends no {_EVENT} to {hook}{more}; subscribe it")
