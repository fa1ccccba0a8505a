"""What every step of a campaign holds in its hands: store, clock, randomness, the key of the pseudonyms."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.clock import Clock, SystemClock
from hmc_crowd._base.ids import digest
from hmc_crowd.campaign._aspects import Aspect
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hmc_crowd.store import AspectRecord, CampaignRecord, PlanRecord, Store, Transaction

__all__ = ["Aspect", "Context", "Progress"]

Progress = Callable[[str, int, int], None]
"""Told (what, done, total) while a step works; for a progress bar."""


@dataclass
class Context:
    """The open campaign as the steps see it."""

    store: Store
    campaign_id: int
    name: str
    worker_key: bytes
    clock: Clock = field(default_factory=SystemClock)
    joined: Transaction | None = None
    hook: Callable[[str, str], None] | None = None

    def at(self, step: str, key: str) -> None:
        """Say that an effect has come to a step; tests break in there, where a crash would hurt most."""
        if self.hook is not None:
            self.hook(step, key)

    @contextmanager
    def begin(self) -> Iterator[Transaction]:
        """Open a writing transaction, or take part in the one that `together` holds."""
        if self.joined is not None:
            yield self.joined
            return
        with self.store.begin() as tx:
            yield tx

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make the steps of the block one transaction: all of them are saved, or none."""
        with self.store.begin() as tx:
            self.joined = tx
            try:
                yield
            finally:
                self.joined = None

    def record(self) -> CampaignRecord:
        """Read the campaign's row afresh: another process may have moved it on."""
        with self.store.read() as tx:
            return tx.campaigns.get(self.name)

    def settings(self) -> dict[str, Any]:
        """Return the campaign's settings."""
        return dict(self.record().settings)

    def settings_in(self, tx: Transaction) -> dict[str, Any]:
        """Return the campaign's settings as a transaction that is open sees them."""
        return dict(tx.campaigns.get(self.name).settings)

    def uid(self) -> str:
        """Return the campaign's name for the outside: no other campaign has it, so keys and scopes begin with it."""
        return str(self.settings()["uid"])

    def aspects(self) -> list[AspectRecord]:
        """Return the campaign's questions, in the order of creation."""
        with self.store.read() as tx:
            return list(tx.campaigns.aspects(self.campaign_id))

    def aspect(self, name: str | None) -> AspectRecord:
        """Return one question; the only one when no name is given."""
        known = self.aspects()
        if name is None and len(known) == 1:
            return known[0]
        for each in known:
            if each.name == name:
                return each
        choices = ", ".join(each.name for each in known)
        raise InputError(f"aspect is {name!r}; this campaign asks {choices}: name one of them")

    def aspect_or_first(self, name: str | None) -> AspectRecord:
        """Return one question; the first, which routes, when no name is given."""
        return self.aspects()[0] if name is None else self.aspect(name)

    def latest_plan(self) -> PlanRecord:
        """Return the newest plan, or say that there is none."""
        with self.store.read() as tx:
            plan = tx.plans.latest(self.campaign_id)
        if plan is None:
            raise StateError(f"campaign {self.name!r} has no plan yet; first call plan()")
        return plan

    def rng(self, step: str, round: int) -> np.random.Generator:
        """Return the generator of one step of one round: the same each time the step is run again."""
        seed = int(self.settings()["seed"])
        return np.random.default_rng([seed, round, int(digest(step)[:8], 16)])

    def log(self, tx: Transaction, kind: str, *, item: str | None = None, **payload: Any) -> None:
        """Append an event to the campaign's audit chain, inside the transaction of what it tells."""
        tx.events.append(self.campaign_id, kind, payload, item=item, at=self.clock.now())
