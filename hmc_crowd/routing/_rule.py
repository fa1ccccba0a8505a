"""Is this a rule that can be followed, and how is it written down? The checks and the JSON pieces behind `Policy`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd.errors import InputError
from hmc_crowd.routing._draw import item_text
from hmc_crowd.routing._gain import as_cap

if TYPE_CHECKING:
    from hmc_crowd.routing._policy import Policy

__all__ = ["FORMAT", "check_rule", "checked", "fingerprint", "number_in", "number_out", "one_item", "read"]

FORMAT = 1


def check_rule(policy: Policy) -> None:
    """Refuse a rule that cannot be followed, wherever it comes from."""
    as_cap(policy.cap)
    checked("audit_probability", policy.audit_probability, 1.0)
    if not (isinstance(policy.key, bytes) and policy.key):
        raise InputError("key must be bytes, at least one; it keeps the draws unforeseeable")
    if not (isinstance(policy.version, str) and policy.version):
        raise InputError(f"version is {policy.version!r}; give a name that is not empty")
    numbers_are_right = (
        isinstance(policy.trade_off, float)
        and policy.trade_off >= 0.0
        and isinstance(policy.threshold, float)
        and not math.isnan(policy.threshold)
    )
    counts = (policy.border_to_people, policy.border_total)
    if not numbers_are_right or any(type(n) is not int for n in counts) or not 0 <= counts[0] <= counts[1]:
        raise InputError(
            f"the rule is trade_off {policy.trade_off!r}, threshold {policy.threshold!r}, {counts[0]!r} of "
            f"{counts[1]!r} at the border, which is no rule; make policies with Plan.policy()"
        )
    for name, high in (("human_confidence", 1.0), ("machine_effort", math.inf)):
        if getattr(policy, name) is not None:
            checked(name, getattr(policy, name), high)


def checked(name: str, value: Any, high: float) -> float:
    """Return a number in [0, high]."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; give a number for every item") from None
    if not (0.0 <= number <= high and math.isfinite(number)):
        allowed = f"in [0, {high:g}]" if math.isfinite(high) else "finite and at least 0"
        raise InputError(f"{name} is {number!r}; it must be {allowed}")
    return number


def one_item(item: Any, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Read id and numbers from an id with arguments, a mapping or an object; arguments win."""
    values = dict(given)
    if isinstance(item, Mapping):
        values = {name: item.get(name) if value is None else value for name, value in given.items()}
        item = item.get("item")
    elif hasattr(item, "item") and hasattr(item, "confidence"):
        values = {name: getattr(item, name, None) if value is None else value for name, value in given.items()}
        item = item.item
    return item_text(item), values


def fingerprint(key: bytes) -> str:
    """Tell keys apart without giving them away."""
    return digest("hmc_crowd.policy key", key)[:16]


def number_out(value: float) -> float | str:
    """Write an infinite number as text: JSON has none."""
    return value if math.isfinite(value) else str(value)


def number_in(name: str, value: Any) -> float:
    """Read a number that `number_out` wrote."""
    if value in {"inf", "-inf"} or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return float(value)
    raise InputError(f"the policy's JSON has {name} {value!r}; use what Policy.to_json wrote")


def read(text: str) -> dict[str, Any]:
    """Return the fields of a rule's JSON, without its kind and format."""
    try:
        data = json.loads(text)
    except (TypeError, ValueError) as error:
        raise InputError(f"the policy is not JSON ({error}); use what Policy.to_json wrote") from None
    if not isinstance(data, dict) or data.pop("kind", None) != "hmc_crowd.policy":
        raise InputError("this JSON is no policy of hmc_crowd; use what Policy.to_json wrote")
    version = data.pop("format", None)
    if version != FORMAT:
        raise InputError(
            f"the policy's format is {version!r} and this version reads {FORMAT}; use a matching hmc_crowd"
        )
    return data
