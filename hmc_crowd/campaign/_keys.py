"""Keys of what a campaign does outside: the same deed always has the same key, and the key says whose it is.

The first characters come from the campaign alone. So whatever a platform shows under a key can be told apart from other
campaigns' things, also where nobody here has heard of that key.
"""

from __future__ import annotations

from hmc_crowd._base.ids import natural_key

__all__ = ["campaign_key", "campaign_mark"]

_MARK = 8


def campaign_mark(uid: str) -> str:
    """Return what all keys of a campaign begin with.

    Examples
    --------
    >>> campaign_key("c1", "publish", 1).startswith(campaign_mark("c1"))
    True
    """
    return natural_key("campaign", uid)[:_MARK]


def campaign_key(uid: str, *parts: object) -> str:
    """Return the key of a deed of a campaign: 32 letters and digits, safe as a request token."""
    return campaign_mark(uid) + natural_key(uid, *parts)[:-_MARK]
