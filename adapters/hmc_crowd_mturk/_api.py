"""Two boto3 clients on one endpoint: reads are repeated by boto3, writes are sent once.

boto3's own retries publish twice: after a reset that came when the work was done it sends again and says nothing. So
the writing client tries once, and what is sent again is decided by who knows what the call means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hmc_crowd._base.extras import require
from hmc_crowd.errors import PlatformError, PlatformUnavailableError
from hmc_crowd_mturk._deadline import DeadlineError, within
from hmc_crowd_mturk._failures import translate
from hmc_crowd_mturk._guard import is_loopback, refuse_closed_service
from hmc_crowd_mturk._size import limit_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Api"]

_REGION = "us-east-1"  # the only one; another name would silently become a host that does not exist
_PAGE = 100
_MOST_PAGES = 1_000_000


class Api:
    """Calls of the MTurk Requester API, with our errors.

    Parameters
    ----------
    make_client : callable
        ``make_client(**options)`` returns a boto3 client for ``mturk``; options are those of ``Session.client``.
    endpoint : str
        Where it must point.
    read_attempts : int, default 5
        How often a read is tried in all (boto3's ``standard`` mode, growing random pauses).
    connect_timeout_s, read_timeout_s : float
        How long to wait for a connection, and for the next bytes of an answer.
    deadline_s : float, default 180
        How long a call may take in all, its repetitions included: an endpoint that sends a byte now and then for ever
        does not hold us.
    """

    def __init__(
        self,
        make_client: Callable[..., Any],
        endpoint: str,
        *,
        read_attempts: int = 5,
        connect_timeout_s: float = 5.0,
        read_timeout_s: float = 30.0,
        deadline_s: float = 180.0,
    ) -> None:
        config = require("botocore.config", extra="mturk", purpose="the MTurk adapter").Config

        def client(attempts: int) -> Any:
            made = make_client(
                region_name=_REGION,
                endpoint_url=endpoint,
                config=config(
                    region_name=_REGION,
                    retries={"mode": "standard", "total_max_attempts": attempts},
                    connect_timeout=connect_timeout_s,
                    read_timeout=read_timeout_s,
                    tcp_keepalive=True,
                    # What is on this machine is asked directly: a proxy of the environment would read the answers.
                    **({"proxies": {}} if is_loopback(urlsplit(endpoint).hostname or "") else {}),
                ),
            )
            refuse_closed_service(made)
            limit_answers(made)
            return made

        self._deadline_s = deadline_s
        self._reading, self._writing = client(read_attempts), client(1)

    @property
    def endpoint(self) -> str:
        """The address that the clients really use."""
        return str(self._writing.meta.endpoint_url)

    def read(self, operation: str, member: str, **parameters: Any) -> Any:
        """Ask something and return one member of the answer; repeated by boto3 where that helps."""
        return self._member(self._send(self._reading, operation, parameters, is_repeatable=True), operation, member)

    def write(self, operation: str, *, is_repeatable: bool, **parameters: Any) -> dict[str, Any]:
        """Change something; sent once. ``is_repeatable`` says what a lost answer means: try again, or ask a person."""
        return self._send(self._writing, operation, parameters, is_repeatable=is_repeatable)

    def make(self, operation: str, member: str, **parameters: Any) -> Any:
        """Make something under a token or a unique name, sent once; return one member of the answer."""
        return self._member(self.write(operation, is_repeatable=True, **parameters), operation, member)

    @staticmethod
    def _member(answer: dict[str, Any], operation: str, member: str) -> Any:
        # botocore turns an answer that is no JSON, or half of one, into an empty one and says nothing.
        if member not in answer:
            raise PlatformUnavailableError(
                f"{operation}: the answer has no {member}, so it cannot be read; sending the same call again is safe"
            )
        return answer[member]

    def rows(
        self, operation: str, member: str, *, known: int | None = None, **parameters: Any
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, page by page to its end; an empty page with a token is no end.

        Every page with rows may carry a token, the last one too. Where it is ``known`` how many rows there are, a page
        that is not full ends the list as soon as so many have come, which saves a call for an empty page.

        Raises
        ------
        PlatformError
            The platform returns the same token again, so the list would never end.
        """
        seen: set[str] = set()
        token: str | None = None
        count = 0
        for _ in range(_MOST_PAGES):
            more = {} if token is None else {"NextToken": token}
            page = self._send(self._reading, operation, {"MaxResults": _PAGE, **parameters, **more}, is_repeatable=True)
            rows = self._member(page, operation, member)
            yield from rows
            count += len(rows)
            token = page.get("NextToken")
            if not token or (known is not None and count >= known and len(rows) < _PAGE):
                return
            if token in seen:
                raise PlatformError(
                    f"{operation} returned the same NextToken twice; the list cannot be read to its end"
                )
            seen.add(token)

    def _send(self, client: Any, operation: str, parameters: dict[str, Any], *, is_repeatable: bool) -> dict[str, Any]:
        refuse_closed_service(client)
        from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

        try:
            call = getattr(client, _method(client, operation))
            answer: dict[str, Any] = within(lambda: call(**parameters), self._deadline_s)
        except (BotoCoreError, ClientError, DeadlineError, RecursionError) as error:
            raise translate(operation, error, is_repeatable=is_repeatable) from error
        return answer


def _method(client: Any, operation: str) -> str:
    """Return boto3's name of an operation."""
    for method, name in client.meta.method_to_api_mapping.items():
        if name == operation:
            return str(method)
    raise PlatformError(f"this boto3 knows no {operation}; install a boto3 that still has the mturk client")
