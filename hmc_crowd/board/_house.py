"""What do all pages share? The open database, the clock, the secret, the gate, and the platforms people work on."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable  # noqa: TC003  # because readers of the settings' types look it up
from dataclasses import dataclass, field
from operator import attrgetter
from time import monotonic
from typing import TYPE_CHECKING, Any

from hmc_crowd.board._deliver import HookSettings
from hmc_crowd.board._features import EntryGate, RuleEntry
from hmc_crowd.board._gate import FixedGate, Gate
from hmc_crowd.board._group import Group
from hmc_crowd.board._proxy import TrustedProxy  # noqa: TC001  # because of the same
from hmc_crowd.board._pulse import AlertLog
from hmc_crowd.board._staff import ChoosesExpert, best_expert
from hmc_crowd.campaign import Campaign
from hmc_crowd.campaign._context import Context
from hmc_crowd.campaign._pseudonyms import load_worker_key
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.platform import Recruiter, find_platform

if TYPE_CHECKING:
    from hmc_crowd._base.clock import Clock
    from hmc_crowd.campaign._policy import LivePolicy
    from hmc_crowd.store import Store, Transaction, WorkQueue

__all__ = ["BoardHouse", "BoardSettings"]


@dataclass(frozen=True)
class BoardSettings:
    """Limits of the board and the machine door.

    Parameters
    ----------
    is_secure : bool, default True
        Whether browsers come over https: cookies are then never sent without it.
    public_url : str, default ""
        Where browsers reach the server, where a proxy before it changes the name of the host.
    session_s : float, default 12 hours
        How long a sign-in lasts, and a page's forms can be sent.
    per_minute : int, default 600
        Most requests a minute of one signed-in browser.
    door_per_minute : int, default 60,000
        Most requests a minute of one key at the machine door.
    sign_ins_per_minute : int, default 10
        Most wrong keys of one address, at the sign-in and at the machine door; ten times as many under one key's name.
        Right keys are not counted.
    most_body_bytes : int, default 8 MiB
        Largest body of a request to the machine door; forms may have 64 KiB.
    body_s : float, default 20
        Longest that a body may take.
    most_items : int, default 10,000
        Most items, or answers, in one request.
    most_watching, most_watching_each : int, default 100 and 8
        Most open pages that are kept up to date at the same time, of all people and of one.
    watch_every_s : float, default 2
        How often an open page's figures are looked at.
    gate : Gate, optional
        Names what to look at; fixed thresholds by default.
    entry : EntryGate, optional
        Says which items go to an expert at once; the source's rules by default.
    choose : ChoosesExpert, optional
        Gives such an item to one of the experts; by skills and load by default.
    queue : callable, optional
        ``queue(tx) -> WorkQueue``; the store's own line by default.
    hooks : HookSettings, optional
        How webhooks are delivered, and where to.
    proxy : TrustedProxy, optional
        Who signs people in instead of our keys; nobody by default.
    """

    is_secure: bool = True
    public_url: str = ""
    session_s: float = 12 * 3600.0
    per_minute: int = 600
    door_per_minute: int = 60_000
    sign_ins_per_minute: int = 10
    most_body_bytes: int = 8 << 20
    body_s: float = 20.0
    most_items: int = 10_000
    most_watching: int = 100
    most_watching_each: int = 8
    watch_every_s: float = 2.0
    gate: Gate = field(default_factory=FixedGate)
    entry: EntryGate = field(default_factory=RuleEntry)
    choose: ChoosesExpert = best_expert
    queue: Callable[[Transaction], WorkQueue] = attrgetter("queue")
    hooks: HookSettings = field(default_factory=HookSettings)
    proxy: TrustedProxy | None = None


class BoardHouse:
    """The board over one database.

    Parameters
    ----------
    store : Store
        The campaigns' database; the caller closes it.
    secret : bytes
        Signs sessions and forms, 16 bytes or more.
    clock : Clock
        Tells the time.
    settings : BoardSettings, optional
        Limits.
    workplace : LocalPlatform, optional
        The open local workplace; other platforms are connected when somebody reviews work on them.
    """

    def __init__(
        self,
        store: Store,
        *,
        secret: bytes,
        clock: Clock,
        settings: BoardSettings | None = None,
        workplace: Any = None,
    ) -> None:
        if len(secret) < 16:
            raise InputError(f"secret has {len(secret)} bytes; give 16 or more that nobody can guess")
        self.store, self.clock, self.workplace = store, clock, workplace
        self.secret = hmac.digest(secret, b"hmc-crowd board", "sha256")
        self.settings = settings or BoardSettings()
        self.policies: dict[int, LivePolicy] = {}
        self.group = Group(store)
        self.alert_log = AlertLog()
        self.name = f"board-{secrets.token_hex(6)}"
        self._contexts: dict[str, Context] = {}
        self._kept: dict[Any, tuple[float, Any]] = {}
        self._worker_key = load_worker_key(store.url)

    def kept(self, name: Any, most_s: float, read: Callable[[], Any]) -> Any:
        """Return a figure that many requests need; read again when it is older than ``most_s`` seconds."""
        at, value = self._kept.get(name, (float("-inf"), None))
        if monotonic() - at > most_s:
            value = read()
            self._kept[name] = monotonic(), value
        return value

    def names(self) -> list[str]:
        """Return the campaigns' names, oldest first."""
        with self.store.read() as tx:
            return tx.campaigns.names()

    def context(self, name: str | None) -> Context:
        """Return a campaign by name; without one the only campaign there is.

        Raises
        ------
        StateError
            There is no such campaign, or there are several and none was named.
        """
        # A campaign keeps its name and number for ever; what changes is read in each transaction.
        if name is not None and name in self._contexts:
            return self._contexts[name]
        with self.store.read() as tx:
            record = tx.campaigns.get(name)
        found = self._contexts[record.name] = Context(self.store, record.id, record.name, self._worker_key, self.clock)
        return found

    def asked(self, name: str | None) -> Context:
        """Return the campaign that a program names; which there are is the database's state, not the request's fault.

        Raises
        ------
        StateError
            There is no such campaign, or there are several and none was named.
        """
        try:
            return self.context(name)
        except InputError as error:
            raise StateError(str(error)) from None

    def campaign(self, name: str) -> Campaign:
        """Return a campaign to act on; its database is the house's and stays open."""
        return Campaign(self.context(name))

    def platform(self, name: str) -> tuple[Any, Any]:
        """Return a platform, and who shows the work where the platform only recruits."""
        if name == "local":
            if self.workplace is None:
                raise StateError("the board was opened without the local workplace; review by the command line")
            return self.workplace, None
        platform = find_platform(name)
        return platform, self.workplace if isinstance(platform, Recruiter) else None
