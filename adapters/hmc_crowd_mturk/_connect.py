"""The entry point ``hmc_crowd.platforms: mturk``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd._base.clock import SystemClock
from hmc_crowd._base.extras import require
from hmc_crowd.errors import InputError
from hmc_crowd_mturk._api import Api
from hmc_crowd_mturk._guard import mode_of, resolve_endpoint
from hmc_crowd_mturk._money import AMAZON_FEES
from hmc_crowd_mturk._platform import MTurkPlatform

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd._base.clock import Clock
    from hmc_crowd.platform import FeeSchedule
    from hmc_crowd_mturk._requirements import Requirement

__all__ = ["connect"]


def connect(
    address: str | None = None,
    *,
    clock: Clock | None = None,
    mode: str | None = None,
    fees: FeeSchedule | None = None,
    session: Any = None,
    external_url: str | None = None,
    worker_site: str | None = None,
    requirements: Sequence[Requirement] = (),
    keywords: str = "",
    auto_approval_s: int = 30 * 24 * 3600,
    connect_timeout_s: float = 5.0,
    read_timeout_s: float = 30.0,
    deadline_s: float = 180.0,
) -> MTurkPlatform:
    """Connect to an MTurk-API endpoint; it must be named, and Amazon's closed service is refused.

    Keys come from boto3's usual places (``AWS_ACCESS_KEY_ID``, ``AWS_SECRET_ACCESS_KEY``, profiles); the endpoint's own
    keys, which for our workplace `hmc_crowd_local.mturk_api` issues.

    Parameters
    ----------
    address : str, optional
        The endpoint, https (http on this machine only); by default the environment's ``HMC_CROWD_MTURK_ENDPOINT``.
    clock : Clock, optional
        Judges how old a request token is; the machine's clock by default.
    mode : {"stub", "sandbox", "live"}, optional
        What is at stake, shown by `MTurkPlatform.account`; by default stub on this machine, else live.
    fees : FeeSchedule, optional
        What the endpoint takes; Amazon's schedule by default, which never estimates too little.
    session : boto3.Session, optional
        Where clients come from; a new one by default.
    external_url : str, optional
        A page of yours that shows the HIT named by its parameter ``hit``; by default the page travels inside the HIT.
    worker_site : str, optional
        Origin of the workers' pages; that of the endpoint by default.
    requirements : sequence of Requirement
        Who may take the HITs.
    keywords : str
        For workers' searches.
    auto_approval_s : int, default 30 days
        After how long unreviewed work approves itself.
    connect_timeout_s, read_timeout_s : float
        How long to wait for a connection, and for the next bytes of an answer.
    deadline_s : float
        How long a call may take in all, its repetitions included.

    Raises
    ------
    InputError
        No endpoint, one that cannot be used, or no keys.
    PlatformError
        The endpoint, or what the client makes of it, is Amazon's closed service.
    MissingExtraError
        boto3 is not installed.

    Examples
    --------
    >>> connect("https://mturk-requester.us-east-1.amazonaws.com")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.PlatformError: address mturk-requester.us-east-1.amazonaws.com is Amazon's: Amazon closed ...
    """
    endpoint = resolve_endpoint(address)
    named = mode_of(mode, endpoint)
    boto3 = require("boto3", extra="mturk", purpose="the MTurk adapter")
    used = session if session is not None else boto3.Session()
    credentials = used.get_credentials()
    if credentials is None:
        raise InputError("no keys found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to keys of this endpoint")

    def make_client(**options: Any) -> Any:
        return used.client("mturk", **options)

    api = Api(
        make_client, endpoint, connect_timeout_s=connect_timeout_s, read_timeout_s=read_timeout_s, deadline_s=deadline_s
    )
    return MTurkPlatform(
        api,
        clock=clock if clock is not None else SystemClock(),
        fees=fees if fees is not None else AMAZON_FEES,
        mode=named,
        account=f"key ...{credentials.access_key[-4:]}",
        external_url=external_url,
        worker_site=worker_site,
        requirements=requirements,
        keywords=keywords,
        auto_approval_s=auto_approval_s,
    )
