"""Which effects does a platform need, and how are they run? The one place where outbox, effects and platform meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.campaign._effects_pay import Paying
from hmc_crowd.campaign._effects_publish import Expiring, Extending, HitBook, Publishing, Recruiting
from hmc_crowd.campaign._effects_review import Approving, Rejecting
from hmc_crowd.campaign._outbox import Outbox

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.campaign._effect import Effect, Ran
    from hmc_crowd.platform import Platform, TaskPages

__all__ = ["effects_of", "send", "settle_tried"]


def effects_of(context: Context, platform: Platform, pages: TaskPages | None) -> dict[str, Effect]:
    """Return every operation by its name."""
    book = HitBook(context)
    every: list[Effect] = [
        Publishing(context, platform, pages, book),
        Recruiting(context, platform, pages, book),
        Extending(context, platform, pages, book),
        Expiring(platform),
        Approving(context, platform),
        Rejecting(context, platform),
        Paying(context, platform),
    ]
    return {each.operation: each for each in every}


def send(
    context: Context,
    platform: Platform,
    pages: TaskPages | None,
    keys: Iterable[str] | None = None,
    *,
    tried_only: bool = False,
    progress: Progress | None = None,
) -> Ran:
    """Carry out intents of this platform: those of the keys, or all."""
    # The jitter must differ between processes, so it is not drawn from the campaign's seed.
    outbox = Outbox(context, platform, effects_of(context, platform, pages), rng=np.random.default_rng())
    return outbox.run(keys, tried_only=tried_only, progress=progress)


def settle_tried(context: Context, platform: Platform, pages: TaskPages | None) -> Ran:
    """Find out about what was tried before and has no outcome; called before anything new is begun."""
    return send(context, platform, pages, tried_only=True)
