"""Which items go to people, policy by policy? One table, so that all are played on the same items and seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.routing import baseline_plan, plan_certified, route

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["POLICIES", "Planned", "Setting", "plans"]

POLICIES = ("paper", "confidence", "effort", "random", "certified", "experts")
_OTHERS = ("machine", "crowd", "mix")


@dataclass(frozen=True, eq=False)
class Setting:
    """What all policies are given.

    ``known`` are the items of a pilot: the chance that the machine agrees with people, seconds, and whether it did.
    """

    confidence: NDArray[np.float64]
    seconds: NDArray[np.float64]
    effort: NDArray[np.float64]
    trade_off: float
    max_human: int | float
    audit: int | float | None
    target_agreement: float | None
    level: float
    redundancy: int
    people_right: float = 1.0
    n_labels: int = 2
    known: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]] | None = None

    @property
    def agreement(self) -> NDArray[np.float64]:
        """Chance that the machine agrees with these people, who err themselves: what a certificate speaks of."""
        slips = (1.0 - self.people_right) / (self.n_labels - 1)
        agree: NDArray[np.float64] = self.confidence * self.people_right + (1.0 - self.confidence) * slips
        return agree


@dataclass(frozen=True, eq=False)
class Planned:
    """What a policy decides: who goes to people, how many others are audited, and who the people are.

    ``to_human`` is None where the policy draws anew in every repetition.
    """

    name: str
    to_human: NDArray[np.bool_] | None
    audited: int
    by: str = "crowd"
    experts_settle: bool = False

    def people(self, setting: Setting, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return the items for people in one repetition."""
        if self.to_human is not None:
            return self.to_human
        return baseline_plan(
            "random", setting.confidence, setting.effort, max_human=setting.max_human, rng=rng
        ).to_human


def plans(setting: Setting, names: Sequence[str]) -> list[Planned]:
    """Return what each policy decides, made once."""
    known = (*POLICIES, *_OTHERS)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise InputError(f"policies is {', '.join(map(repr, unknown)) or 'empty'}; use any of {', '.join(known)}")
    if len(set(names)) != len(names):
        raise InputError("policies names one twice; name each once")
    return [_plan(name, setting) for name in names]


def _plan(name: str, setting: Setting) -> Planned:
    confidence, effort, n = setting.confidence, setting.effort, len(setting.confidence)
    if name == "machine":
        return Planned(name, np.zeros(n, dtype=bool), 0)
    if name in {"crowd", "experts"}:
        return Planned(name, np.ones(n, dtype=bool), 0, by=name)
    if name == "certified":
        if setting.target_agreement is None:
            raise InputError("policy 'certified' needs target_agreement; give what is to be promised, such as 0.97")
        plan = plan_certified(
            setting.agreement,
            setting.seconds,
            target_agreement=setting.target_agreement,
            level=setting.level,
            redundancy=setting.redundancy,
            labelled=setting.known,
        )
        return Planned(name, plan.plan.to_human, plan.audited)
    if name == "random":
        people = round(setting.max_human * n) if isinstance(setting.max_human, float) else setting.max_human
        return Planned(name, None, _audit(setting.audit, n - people))
    if name in {"paper", "mix"}:
        chosen = route(confidence, effort, max_human=setting.max_human, trade_off=setting.trade_off).to_human
    else:
        kind = "least_confident" if name == "confidence" else "cheapest"
        chosen = baseline_plan(kind, confidence, effort, max_human=setting.max_human).to_human  # type: ignore[arg-type]
    return Planned(name, chosen, _audit(setting.audit, int((~chosen).sum())), experts_settle=name == "mix")


def _audit(audit: int | float | None, kept: int) -> int:
    if audit is None:
        return min(kept, max(50, round(0.05 * kept)))
    return min(kept, round(audit * kept) if isinstance(audit, float) else audit)
