"""Who judges an item that was not there when the plan was made? The plan's rule, frozen.

A `Policy` needs no state and no other item: a gain above the threshold goes to people, and what the machine keeps
is audited with a fixed probability by a keyed draw of the item id. The same item always gets the same answer, in
every process, and the probability with which people see it is known and logged, so that later estimates can be
weighted by it.

On the batch that the plan was made of, `Policy.decide_batch` gives that plan again, ties included.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_same_length
from hmc_crowd._base.ids import digest
from hmc_crowd.errors import InputError
from hmc_crowd.routing._decision import Decision, Decisions, make_decision
from hmc_crowd.routing._draw import item_texts, keyed_fraction, keyed_fractions
from hmc_crowd.routing._gain import Cap, costs, gains
from hmc_crowd.routing._rule import FORMAT, check_rule, checked, fingerprint, number_in, number_out, one_item, read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = ["DEFAULT_KEY", "Policy", "make_policy"]

DEFAULT_KEY = b"hmc_crowd public default key"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """A frozen, versioned rule: who judges an item, without looking at any other. Made by `Plan.policy`.

    Parameters
    ----------
    trade_off : float
        Price of one unit of effort in units of confidence.
    threshold : float
        Items of larger gain go to people.
    border_to_people, border_total : int
        How many of the planned items had just this gain, and how many of them went to people.
    cap, max_human
        The plan's cap, for the record: a rule for single items keeps the threshold, not a count.
    human_confidence, machine_effort : float or None
        The one number for all items; None where each item brings its own.
    audit_probability : float
        Probability with which people also look at an item that the machine keeps.
    version : str
        Name of the rule.
    key : bytes
        Secret of the draws; not part of `to_json`, of `repr` or of equality.

    Notes
    -----
    An item whose gain equals the threshold: in a batch, the first ones in item order go to people, as many as the
    plan's own share of such items gives, rounded down (on the plan's own batch: just those of the plan). A single
    item has no order, so it goes to people with that share as probability, by a keyed draw of its id.
    """

    trade_off: float
    threshold: float
    border_to_people: int
    border_total: int
    cap: Cap
    max_human: int | float | None
    human_confidence: float | None
    machine_effort: float | None
    audit_probability: float
    version: str
    key: bytes = field(default=DEFAULT_KEY, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_rule(self)

    def decide(
        self,
        item: Any,
        confidence: float | None = None,
        effort: float | None = None,
        *,
        human_confidence: float | None = None,
        machine_effort: float | None = None,
    ) -> Decision:
        """Decide about one item; constant time, no state.

        Parameters
        ----------
        item : str, or a mapping or object
            The item's id with the numbers beside it, or something with keys or attributes ``item``, ``confidence``,
            ``effort`` (and ``human_confidence``, ``machine_effort`` where the plan had one per item).
        confidence, effort : float
            As in `route`; left out if `item` brings them.
        human_confidence, machine_effort : float, optional
            Needed if the plan had one per item; the plan's number otherwise.

        Returns
        -------
        Decision

        Raises
        ------
        InputError
            A number is missing or out of range, or the id is not text.

        Examples
        --------
        >>> from hmc_crowd.routing import route
        >>> policy = route([0.9, 0.5], [0.1, 0.1], max_human=1).policy(audit_probability=1.0, key=b"mine")
        >>> policy.decide({"item": "a", "confidence": 0.3, "effort": 0.2}).destination
        'people'
        >>> policy.decide("b", 0.99, 0.2).destination
        'audit'
        """
        given = {
            "confidence": confidence,
            "effort": effort,
            "human_confidence": human_confidence,
            "machine_effort": machine_effort,
        }
        name, values = one_item(item, given)
        gain = self._gain(values)
        share = self.border_to_people / self.border_total if self.border_total else 0.0
        chance = 1.0 if gain > self.threshold else share if gain == self.threshold else 0.0
        to_human = chance == 1.0 or (chance > 0.0 and keyed_fraction(self.key, name, purpose="border") < chance)
        audited = not to_human and keyed_fraction(self.key, name) < self.audit_probability
        inclusion = chance + (1.0 - chance) * self.audit_probability
        return make_decision(name, gain, self.threshold, to_human, audited, inclusion, self.version)

    def decide_batch(
        self,
        items: Any,
        confidence: ArrayLike,
        effort: ArrayLike,
        *,
        human_confidence: ArrayLike | None = None,
        machine_effort: ArrayLike | None = None,
    ) -> Decisions:
        """Decide about many items at once, as `decide` does one by one; only ties at the threshold go by item order.

        Parameters
        ----------
        items : sequence of str, or None
            Distinct item ids; None is allowed where nothing is audited.
        confidence, effort : array of float, shape (n_items,)
            As in `route`.
        human_confidence, machine_effort : float or array, optional
            Needed if the plan had one per item; the plan's number otherwise.

        Returns
        -------
        Decisions

        Raises
        ------
        InputError
            As `route`; ids repeat or are not text; ids are missing although the policy audits.
        """
        people = self._scalar("human_confidence", human_confidence)
        machine = self._scalar("machine_effort", machine_effort)
        given = costs(confidence, effort, human_confidence=people, machine_effort=machine)
        names = None if items is None else item_texts(items)
        if names is None and self.audit_probability > 0.0:
            raise InputError("items is None, but the policy audits by a draw of the item id; give the ids")
        if names is not None:
            require_same_length([("confidence", given.confidence), ("items", names)])
        gain = gains(given, self.trade_off)
        to_human = self._people(gain)
        inclusion = np.where(to_human, 1.0, self.audit_probability)
        return Decisions(
            items=None if names is None else tuple(names),
            to_human=to_human,
            audited=self._audited(names, to_human),
            gain=gain,
            inclusion_probability=inclusion,
            threshold=self.threshold,
            policy_version=self.version,
        )

    def to_json(self) -> str:
        """Return the rule as JSON, without the key but with a fingerprint of it."""
        data: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "key"}
        data["trade_off"], data["threshold"] = number_out(self.trade_off), number_out(self.threshold)
        return json.dumps(
            {"kind": "hmc_crowd.policy", "format": FORMAT, **data, "key_fingerprint": fingerprint(self.key)}
        )

    @classmethod
    def from_json(cls, text: str, *, key: bytes = DEFAULT_KEY) -> Policy:
        """Read a rule that `to_json` wrote; `key` must be the one it was made with.

        Raises
        ------
        InputError
            Not such a JSON text, of a newer format, incomplete, or made with another key.

        Examples
        --------
        >>> from hmc_crowd.routing import route
        >>> policy = route([0.9, 0.5], [0.1, 0.1], max_human=1).policy()
        >>> Policy.from_json(policy.to_json()) == policy
        True
        """
        data = read(text)
        made_with = data.pop("key_fingerprint", None)
        wanted = {each.name for each in fields(cls)} - {"key"}
        if set(data) != wanted:
            odd = ", ".join(sorted(set(data) ^ wanted))
            raise InputError(f"the policy's JSON lacks or has too many fields ({odd}); use what Policy.to_json wrote")
        for name in ("trade_off", "threshold"):
            data[name] = number_in(name, data[name])
        policy = cls(**data, key=key)
        if made_with != fingerprint(key):
            raise InputError("key is not the one this policy was made with, so its draws would differ; pass that key")
        return policy

    def _gain(self, values: Mapping[str, float | None]) -> float:
        """Compute one gain by the operations of `_gain.gains`, in their order."""
        a = checked("confidence", values["confidence"], 1.0)
        effort = checked("effort", values["effort"], math.inf)
        b = checked("human_confidence", self._scalar("human_confidence", values["human_confidence"]), 1.0)
        extra = effort - checked("machine_effort", self._scalar("machine_effort", values["machine_effort"]), math.inf)
        if math.isinf(self.trade_off):
            return -extra
        gain = b - a
        if self.trade_off != 0.0:
            gain -= self.trade_off * extra
        return gain

    def _scalar(self, name: str, value: Any) -> Any:
        own = getattr(self, name)
        if value is not None:
            return value
        if own is None:
            raise InputError(f"{name} is missing: the plan had one per item, so give it with the item")
        return own

    def _people(self, gain: NDArray[np.float64]) -> NDArray[np.bool_]:
        to_human = gain > self.threshold
        if self.border_to_people:
            tied = np.flatnonzero(gain == self.threshold)
            to_human[tied[: self.border_to_people * len(tied) // self.border_total]] = True
        return to_human

    def _audited(self, names: list[str] | None, to_human: NDArray[np.bool_]) -> NDArray[np.bool_]:
        audited = np.zeros(len(to_human), dtype=bool)
        if names is not None and self.audit_probability > 0.0:
            kept = np.flatnonzero(~to_human)
            chosen = names if len(kept) == len(names) else [names[row] for row in kept.tolist()]
            audited[kept] = keyed_fractions(self.key, chosen) < self.audit_probability
        return audited


def make_policy(*, key: bytes, version: str | None, **rule: Any) -> Policy:
    """Build a policy; its name, unless given, is a hash of all that its decisions depend on."""
    policy = Policy(**rule, key=key, version=version if version is not None else "unnamed")
    if version is not None:
        return policy
    parts = [repr(getattr(policy, each.name)) for each in fields(policy) if each.name not in {"key", "version"}]
    name = digest("hmc_crowd.policy", FORMAT, *parts, fingerprint(key))[:16]
    return Policy(**rule, key=key, version=name)
