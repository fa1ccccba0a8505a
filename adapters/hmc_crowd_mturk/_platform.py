"""Any MTurk-API endpoint behind the port.

Guarantees: a HIT exists once per key as long as its request token lives (24 hours; after that `publish` with
``first_sent_at`` looks before it sends); a bonus is paid once per code; what is approved is what the platform shows,
never what a page of ours claimed; whatever may have happened is asked before it is sent again.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.money import Money, parse_money
from hmc_crowd.platform import Account, Capabilities
from hmc_crowd_mturk._two_steps import TwoStepBonuses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd._base.clock import Clock
    from hmc_crowd.platform import FeeSchedule
    from hmc_crowd_mturk._api import Api
    from hmc_crowd_mturk._requirements import Requirement

__all__ = ["MTurkPlatform"]


class MTurkPlatform(TwoStepBonuses):
    """An MTurk-API endpoint; made by `hmc_crowd_mturk.connect`.

    It implements `hmc_crowd.platform.Platform`, `TaskPages`, `PaysBonuses`, `TopsUp` and `ListsHits`, and besides
    qualifications and messages.
    """

    name = "mturk"
    capabilities = Capabilities(
        idempotent_create=True, qualifications=True, bonuses=True, bonus_is_repeatable=True, overrides_rejection=True
    )

    def __init__(
        self,
        api: Api,
        *,
        clock: Clock,
        fees: FeeSchedule,
        mode: str,
        account: str,
        currency: str = "USD",
        external_url: str | None = None,
        worker_site: str | None = None,
        requirements: Sequence[Requirement] = (),
        keywords: str = "",
        auto_approval_s: int = 30 * 24 * 3600,
    ) -> None:
        self._api = api
        self._clock = clock
        self._fees = fees
        self._mode = mode
        self._account = account
        self._currency = currency
        self._external_url = external_url
        parts = urlsplit(api.endpoint)
        self._site = (worker_site or f"{parts.scheme}://{parts.netloc}").rstrip("/")
        self._requirements = tuple(requirements)
        self._keywords = keywords
        self._auto_approval_s = auto_approval_s
        self._types: dict[str, str] = {}
        self._answers: OrderedDict[str, str | None] = OrderedDict()  # newest last, bounded

    @property
    def fees(self) -> FeeSchedule:
        """What the platform takes on top of the reward."""
        return self._fees

    def account(self) -> Account:
        """Say which endpoint, whose key (its end), which mode, and what is left."""
        balance = self._api.read("GetAccountBalance", "AvailableBalance")
        money = parse_money(balance, currency=self._currency, name="balance")
        return Account(
            self.name, shown_address(self._api.endpoint), self._account, self._mode, Money(money.minor, self._currency)
        )
