"""The client: every part of Prolific's API that we use, over one connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.clock import SystemClock
from hmc_crowd.errors import InputError
from hmc_crowd_prolific._bonuses import Bonuses
from hmc_crowd_prolific._filters import Filter
from hmc_crowd_prolific._groups import Groups
from hmc_crowd_prolific._hooks import Hooks
from hmc_crowd_prolific._http import Http, Mode
from hmc_crowd_prolific._messages import Messages
from hmc_crowd_prolific._parse import one, rows, whole
from hmc_crowd_prolific._studies import Studies, Workspaces
from hmc_crowd_prolific._submissions import Submissions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Any

    import httpx

    from hmc_crowd._base.clock import Clock
    from hmc_crowd_prolific._pace import Pace

__all__ = ["API_URL", "ProlificClient"]

#: Where Prolific's API begins. There is no sandbox: what is published here costs money.
API_URL = "https://api.prolific.com/api/v1/"


class ProlificClient:
    """A typed client of Prolific's API (v1).

    Parameters
    ----------
    base_url : str
        `API_URL`, or that of a stand-in.
    token : str
        Never shown, logged or put into an error.
    mode : {"read", "stub", "live"}, default "read"
        ``"read"`` refuses every write before the network; the other two allow them.
    transport : httpx.BaseTransport, optional
        Another network, for tests.
    pace : Pace, optional
        How to wait and when to give up.
    clock : Clock, optional
        The machine's by default.

    Attributes
    ----------
    workspaces, studies, submissions, bonuses, groups, messages, hooks
        The parts of the API.

    Examples
    --------
    >>> import httpx
    >>> answer = {"results": [{"id": "w1", "title": "Ours", "added_tomorrow": 1}]}
    >>> network = httpx.MockTransport(lambda request: httpx.Response(200, json=answer))
    >>> with ProlificClient(token="secret", transport=network) as client:
    ...     client.workspaces.all()
    [Workspace(id='w1', title='Ours')]
    >>> client
    ProlificClient('https://api.prolific.com/api/v1/', mode='read')
    """

    def __init__(
        self,
        base_url: str = API_URL,
        *,
        token: str,
        mode: Mode = "read",
        transport: httpx.BaseTransport | None = None,
        pace: Pace | None = None,
        clock: Clock | None = None,
    ) -> None:
        if not token.strip() or not token.isascii() or not token.isprintable():
            raise InputError("the token is empty or holds characters that no header can; copy it from Prolific again")
        used: Clock = clock if clock is not None else SystemClock()
        self.http = Http(base_url, token.strip(), mode=mode, transport=transport, pace=pace, clock=used)
        self.workspaces = Workspaces(self.http)
        self.studies = Studies(self.http)
        self.submissions = Submissions(self.http, self.studies)
        self.bonuses = Bonuses(self.http)
        self.groups = Groups(self.http)
        self.messages = Messages(self.http, used)
        self.hooks = Hooks(self.http)

    def __repr__(self) -> str:
        return f"ProlificClient({shown_address(self.http.base_url)!r}, mode={self.http.mode!r})"

    def __enter__(self) -> ProlificClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    def filters(self) -> list[Filter]:
        """Return the filters that exist now; they change, so look them up."""
        return [Filter.read(each) for each in rows(self.http.get("filters/")) if each.get("filter_id")]

    def filter_ids(self) -> list[str]:
        """Return the ids of the filters that exist now."""
        return [each.id for each in self.filters()]

    def count_eligible(self, filters: Sequence[Mapping[str, Any]], *, workspace: str) -> int:
        """Return how many people pass these filters."""
        body = {"filters": [dict(each) for each in filters], "workspace_id": workspace}
        return whole(one(self.http.ask("eligibility-count/", body)), "count")
