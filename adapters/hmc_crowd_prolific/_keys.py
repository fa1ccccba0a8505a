"""How a study carries our key, since Prolific has no request token: in its internal name and in its metadata.

The internal name comes with every list, so one listing finds the key; the metadata says also what was asked for, so
that other content under a known key is noticed. Participants see neither.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hmc_crowd._base.ids import digest, natural_key
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from hmc_crowd.platform import Recruitment

__all__ = ["completion_code", "content_of", "internal_name", "key_of", "metadata_of", "read_metadata"]

_KEY = re.compile(r"[A-Za-z0-9._-]{1,64}")
_SUFFIX = re.compile(r"\[hmc:([A-Za-z0-9._-]{1,64})\]$")


def internal_name(title: str, key: str) -> str:
    """Return the internal name: the title, shortened, and the key.

    Examples
    --------
    >>> key_of(internal_name("Judge replies", "round-1"))
    'round-1'
    """
    if _KEY.fullmatch(key) is None:
        raise InputError(f"key is {key!r}; use 1 to 64 letters, digits, dots, dashes and underscores")
    return f"{' '.join(title.split())[:80]} [hmc:{key}]"


def key_of(name: str) -> str | None:
    """Return the key in an internal name, or None where a study is not ours."""
    found = _SUFFIX.search(name)
    return found[1] if found else None


def content_of(order: Recruitment, items: str = "") -> str:
    """Return what tells whether two orders under one key are the same; the estimate of time may be refined."""
    return digest(
        order.title,
        order.description,
        order.places,
        order.pay_minor,
        order.currency,
        order.time_limit_s,
        order.per_worker,
        items,
        *([json.dumps(list(map(dict, order.filters)), sort_keys=True)] if order.filters else []),
    )[:32]


def metadata_of(key: str, content: str) -> str:
    """Return the metadata of a study."""
    return json.dumps({"hmc_crowd": 1, "key": key, "content": content})


def read_metadata(metadata: str | None) -> tuple[str, str]:
    """Return key and content of a study's metadata; empty where they are not ours."""
    try:
        held = json.loads(metadata or "")
    except ValueError:
        return "", ""
    if not isinstance(held, dict) or "hmc_crowd" not in held:
        return "", ""
    return str(held.get("key", "")), str(held.get("content", ""))


def completion_code(key: str) -> str:
    """Return the study's completion code; who does not know the key cannot guess it."""
    return natural_key("prolific completion code", key)[:10]
