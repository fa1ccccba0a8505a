"""How a workplace runs its front door: what the contract leaves open, and what it does not settle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hmc_crowd.errors import InputError
from hmc_crowd.platform import FeeSchedule
from hmc_crowd_local.mturk_api._sigv4 import plain_host

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

__all__ = ["Settings"]

_DAY_S = 24 * 3600


@dataclass(frozen=True)
class Settings:
    """Settings of the MTurk-API front door.

    Parameters
    ----------
    public_origin : str, default ""
        Where workers' browsers reach it, for example ``https://work.example.org``; pages name it as ``turkSubmitTo``.
        Empty: the origin of the request.
    hosts : collection of str, default ()
        ``host`` or ``host:port`` of endpoint addresses that requests may be signed for, besides the public origin's and
        the names of this machine (``localhost`` and the loopback addresses, on any port).
    fees : FeeSchedule
        What the workplace charges on top of reward and bonus; nothing by default (own people).
    start_balance_minor : int, default 1,000,000
        Funds of a new account: what the sandbox always showed.
    allow_http : bool, default False
        Take ``http://`` in ExternalURL on loopback hosts; for tests.
    trust_worker_ids : bool, default False
        Let anybody work under any worker id. For tests and for a workplace that nobody else can reach; otherwise a
        worker's link carries a key (`FrontDoor.worker_key`).
    readable_after_s : float, default 0
        A submitted assignment can be read by the requester only after so long (rule R16); for tests.
    fault_status : int, default 500
        HTTP status of ``ServiceFault``; not documented.
    percent_known_from : int, default 100
        Workers with fewer reviewed assignments show 100 percent approval; not confirmed.
    feedback_chars : int, default 1024
        Longest RequesterFeedback; not confirmed.
    token_life_s, disposal_s, name_blocked_s, override_s : int
        24 hours of a request token, 120 days of a HIT, 48 hours of a deleted qualification's name, 30 days in which a
        rejection can be overridden.
    clock_skew_s : int, default 300
        How far a signature's time may lie from ours.
    reuse_assignment_ids : bool, default False
        Give the id of an abandoned assignment to the next worker, as the service did.
    most_answer_bytes : int, default 1,000,000
        Largest body of a worker's submission.
    most_request_bytes : int, default 1,000,000
        Largest body of a requester's call.
    body_s : float, default 20
        Longest that a body may take to arrive.
    wrong_keys_per_minute : int, default 60
        Wrong signatures, and wrong links of workers, of one address; ten times as many under one name. Right ones are
        not counted.
    page_name : str, default "taskAnswers"
        Field in which ``crowd-form`` sends its answers; not confirmed.
    deliver : callable, optional
        ``deliver(notification, message)`` carries an event to an SQS queue, an SNS topic or a mailbox; without one a
        request for notifications is refused, not taken and forgotten. `Deliverer` is one; what it has of a ``check``
        refuses a destination when it is asked for.
    on_call : callable, optional
        ``on_call(operation, request)`` sees every call whose signature is good; for logs and tests.
    """

    public_origin: str = ""
    hosts: Collection[str] = ()
    fees: FeeSchedule = field(default_factory=FeeSchedule)
    currency: str = "USD"
    start_balance_minor: int = 1_000_000
    allow_http: bool = False
    trust_worker_ids: bool = False
    readable_after_s: float = 0.0
    fault_status: int = 500
    percent_known_from: int = 100
    feedback_chars: int = 1024
    token_life_s: int = _DAY_S
    disposal_s: int = 120 * _DAY_S
    name_blocked_s: int = 2 * _DAY_S
    override_s: int = 30 * _DAY_S
    clock_skew_s: int = 300
    reuse_assignment_ids: bool = False
    most_answer_bytes: int = 1_000_000
    most_request_bytes: int = 1_000_000
    body_s: float = 20.0
    wrong_keys_per_minute: int = 60
    page_name: str = "taskAnswers"
    deliver: Callable[[Mapping[str, Any], Mapping[str, Any]], None] | None = None
    on_call: Callable[[str, Mapping[str, Any]], None] | None = None

    def __post_init__(self) -> None:
        if self.start_balance_minor < 0:
            raise InputError(f"start_balance_minor is {self.start_balance_minor}; give 0 or more")
        if self.public_origin and not self.public_origin.startswith(("https://", "http://")):
            raise InputError(f"public_origin is {self.public_origin!r}; write it with its scheme, https://host")

    @property
    def accepted_hosts(self) -> frozenset[str]:
        """Hosts that a request may be signed for, this machine's own names aside."""
        parts = urlsplit(self.public_origin)
        named = [*self.hosts, parts.netloc]
        return frozenset(plain_host(each, scheme=parts.scheme) for each in named if each)
