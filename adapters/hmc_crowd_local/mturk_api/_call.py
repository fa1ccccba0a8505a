"""What an operation works with: one transaction, one moment, one account."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._repository import chunks
from hmc_crowd_local._tables_mturk import ACCOUNT, ASSIGNMENT, HIT_TYPE, LIVE, M_HIT, TOKEN
from hmc_crowd_local.mturk_api._problems import TurkError, does_not_exist, invalid

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from hmc_crowd._base.ids import IdSource
    from hmc_crowd_local.mturk_api._settings import Settings

__all__ = ["Call", "amount", "counts_of", "funds", "hold", "minor", "require_funds", "spend"]

# Of the whole part of a reward or a bonus.
_MOST_DIGITS = 6


@dataclass
class Call:
    """One request of an account inside its transaction; ``events`` and ``outbox`` are sent once it is committed."""

    connection: sa.Connection
    now: datetime
    account_id: str
    settings: Settings
    ids: IdSource
    secret: bytes
    events: list[tuple[str, str, str, str | None]] = field(default_factory=list)
    outbox: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = field(default_factory=list)

    def new_id(self) -> str:
        """Return a new id of the form that the model asks for."""
        return self.ids.new()

    def tell(self, kind: str, hit: Any, assignment_id: str | None = None) -> None:
        """Note an event of a HIT."""
        self.events.append((kind, hit.hit_type_id, hit.hit_id, assignment_id))

    def hit(self, hit_id: str) -> Any:
        """Return the row of a HIT of this account, disposed of or not."""
        row = self.connection.execute(
            sa.select(M_HIT).where(M_HIT.c.hit_id == hit_id, M_HIT.c.account_id == self.account_id)
        ).one_or_none()
        if row is None:
            raise does_not_exist("HIT", hit_id)
        return row

    def hit_type(self, hit_type_id: str) -> Any:
        """Return the row of a HIT type of this account."""
        row = self.connection.execute(
            sa.select(HIT_TYPE).where(HIT_TYPE.c.hit_type_id == hit_type_id, HIT_TYPE.c.account_id == self.account_id)
        ).one_or_none()
        if row is None:
            raise does_not_exist("HITType", hit_type_id)
        return row

    def update_hit(self, hit_id: str, **values: Any) -> None:
        """Change columns of a HIT."""
        self.connection.execute(sa.update(M_HIT).where(M_HIT.c.hit_id == hit_id).values(values))

    def token(self, operation: str, token: str | None) -> str | None:
        """Return what a request token made within its life, or None; an older use is forgotten."""
        if token is None:
            return None
        mine = sa.and_(TOKEN.c.account_id == self.account_id, TOKEN.c.operation == operation, TOKEN.c.token == token)
        row = self.connection.execute(sa.select(TOKEN).where(mine)).one_or_none()
        if row is None:
            return None
        if row.created_at + timedelta(seconds=self.settings.token_life_s) > self.now:
            result: str = row.result
            return result
        self.connection.execute(sa.delete(TOKEN).where(mine))
        return None

    def keep_token(self, operation: str, token: str | None, result: str) -> None:
        """Remember what a request token made."""
        if token is not None:
            row = {"account_id": self.account_id, "operation": operation, "token": token, "result": result}
            self.connection.execute(sa.insert(TOKEN).values({**row, "created_at": self.now}))


def minor(text: str, *, name: str) -> int:
    """Return the cents of an amount that the model's pattern let through.

    >>> minor("0.05", name="Reward")
    5
    """
    whole, _, part = text.partition(".")
    whole = whole.lstrip("0") or "0"
    if len(whole) > _MOST_DIGITS:
        raise invalid(f"{name} is {text[:40]}; give less than {10**_MOST_DIGITS:,}")
    return int(whole) * 100 + int(part.ljust(2, "0"))


def amount(cents: int) -> str:
    """Return an amount as the API writes it.

    >>> amount(5), amount(1_000_000)
    ('0.05', '10000.00')
    """
    return f"{cents // 100}.{cents % 100:02d}"


def counts_of(connection: sa.Connection, hit_ids: list[str]) -> dict[str, dict[str, int]]:
    """Return how many assignments of each HIT are in each state that holds a place."""
    found: dict[str, dict[str, int]] = {each: dict.fromkeys(LIVE, 0) for each in hit_ids}
    for ids in chunks(hit_ids):
        query = (
            sa.select(ASSIGNMENT.c.hit_id, ASSIGNMENT.c.state, sa.func.count())
            .where(ASSIGNMENT.c.hit_id.in_(ids), ASSIGNMENT.c.state.in_(LIVE))
            .group_by(ASSIGNMENT.c.hit_id, ASSIGNMENT.c.state)
        )
        for hit_id, state, number in connection.execute(query):
            found[hit_id][state] = number
    return found


def hold(call: Call, hit_id: str, *, check: bool = False) -> None:
    """Set aside what a HIT can still cost: open places while it is offered, and work that is not reviewed (rule R6).

    ``check`` refuses when the account cannot pay for more than was held before.
    """
    hit = call.hit(hit_id)
    counts = counts_of(call.connection, [hit_id])[hit_id]
    places = counts["accepted"] + counts["submitted"]
    if hit.disposed_at is None and call.now < hit.expires_at:
        places = hit.max_assignments - counts["approved"] - counts["rejected"]
    held = hit.unit_minor * places
    if check and held > hit.held_minor:
        require_funds(call, held - hit.held_minor)
    if held != hit.held_minor:
        call.update_hit(hit_id, held_minor=held)


def require_funds(call: Call, cents: int) -> None:
    """Refuse to promise more than the account has."""
    balance, held = funds(call)
    if cents > balance - held:
        raise TurkError(
            "InsufficientFunds",
            f"This operation costs {amount(cents)} {call.settings.currency}; the account has "
            f"{amount(max(0, balance - held))}",
        )


def funds(call: Call) -> tuple[int, int]:
    """Return balance and held money of the account, in cents."""
    balance = call.connection.execute(
        sa.select(ACCOUNT.c.balance_minor).where(ACCOUNT.c.account_id == call.account_id)
    ).scalar_one()
    held = call.connection.execute(
        sa.select(sa.func.coalesce(sa.func.sum(M_HIT.c.held_minor), 0)).where(
            M_HIT.c.account_id == call.account_id, M_HIT.c.held_minor > 0
        )
    ).scalar_one()
    return int(balance), int(held)


def spend(call: Call, cents: int) -> None:
    """Take money from the account that was held, or found to be there, before."""
    update = sa.update(ACCOUNT).where(ACCOUNT.c.account_id == call.account_id)
    call.connection.execute(update.values(balance_minor=ACCOUNT.c.balance_minor - cents))
