"""How is the same request answered once? By the client's key: what was answered before is answered again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd.errors import DuplicateError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

    Reply = Callable[[Transaction, dict[Any, Any]], str]

__all__ = ["as_text", "once"]


def once(
    context: Context, key: str, given: dict[str, Any], work: Callable[[Transaction, dict[Any, Any]], Any]
) -> Reply:
    """Return a job that does ``work`` at the first request of a key alone; its reply is JSON text.

    Raises
    ------
    DuplicateError
        The key was used for another request.
    """
    fingerprint = digest(json.dumps(given, sort_keys=True, separators=(",", ":")))
    cid = context.campaign_id

    def answer(tx: Transaction, shared: dict[Any, Any]) -> str:
        held = tx.door.reply(cid, key, fingerprint)
        if held is not None:
            return held
        reply = as_text(work(tx, shared))
        if not tx.door.keep_reply(cid, key, fingerprint, reply):
            raise DuplicateError(f"key {key!r} is in use by another request; send it again")
        return reply

    return answer


def as_text(content: Any) -> str:
    """Return compact JSON."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False)
