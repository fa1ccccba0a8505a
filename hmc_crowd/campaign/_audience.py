"""Who may see an item? Checked before it is published anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.campaign._privacy import check_audience

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform
    from hmc_crowd.store import HitRecord

__all__ = ["check_items"]


def check_items(context: Context, platform: Platform, records: Sequence[HitRecord], *, has_warning: bool) -> bool:
    """Refuse items that may not be shown on this platform; say whether some are flagged as sensitive.

    Parameters
    ----------
    has_warning : bool
        Whether people are warned of sensitive content before they take the work, or the platform sees to that.

    Raises
    ------
    InputError
        An item is for our own people, or for another pool; or it is sensitive and nobody would be warned.
    """
    wanted = sorted({each.item for record in records for each in record.items})
    if not wanted:
        return False
    with context.store.read() as tx:
        columns = ["item", "audience", "sensitive"]
        items = tx.frames.read(context.campaign_id, "items", columns=columns, items=wanted)
    check_audience(
        items,
        platform_pool=str(getattr(platform, "pool", "") or "") or None,
        platform_is_in_house=platform.capabilities.in_house,
        has_warning=has_warning,
        name=platform.name,
    )
    return bool(items["sensitive"].any())
