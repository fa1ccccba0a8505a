"""How often did stopping early keep a wrong label? Replayed where it can be seen, with exact bounds.

Two kinds of items got answers whatever the first of them were. Gold: its labels are known, and each fifth of it is
replayed under a calibration of the rest. The audit: chance drew it from what the machine kept, and everybody in it got
all answers; what they say together is compared with what the rule would have stopped at. The audit took no part in the
calibration, so its bound is that of a plain random sample, about what the machine kept. What was routed to people is
harder as a rule: gold like it is what speaks for it.

Source: Clopper and Pearson (1934).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.campaign._aspects import LABELLED
from hmc_crowd.campaign._until_sure import setting_of, until_sure
from hmc_crowd.campaign._work import asked_units
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from hmc_crowd.aggregation import EarlyStops
    from hmc_crowd.campaign._context import Context

__all__ = ["StoppingBound", "stopping_bound", "stopping_words"]


@dataclass(frozen=True)
class StoppingBound:
    """What asking until sure did to one question's labels.

    Parameters
    ----------
    gold, audit : EarlyStops
        The rule replayed on gold, against its labels; and on audited items, against what all their answers say.
    gold_wrong_at_most, audit_differs_at_most : float
        Bounds of the shares among what stopped, each at ``level``; 1 where nothing did.
    mean_answers, full_answers : float and int
        Answers that an item which was routed to people has got so far, and ``most``.
    """

    aspect: str
    error: float
    level: float
    gold: EarlyStops
    audit: EarlyStops
    gold_wrong_at_most: float
    audit_differs_at_most: float
    mean_answers: float
    full_answers: int
    assumptions: tuple[str, ...] = (
        "Gold is like the items that people were asked about; if it is easier, they stop at a wrong label more often.",
        "The audit speaks of what the machine kept.",
    )

    def __str__(self) -> str:
        gold, audit = self.gold, self.audit
        return (
            f"{self.aspect}: {self.mean_answers:.2f} answers an item in place of {self.full_answers}; of "
            f"{gold.items:,} gold items {gold.stopped:,} would stop early, {gold.wrong:,} of these at a wrong label "
            f"(at most {self.gold_wrong_at_most:.1%}); of {audit.items:,} audited items {audit.stopped:,}, "
            f"{audit.wrong:,} at another label than {self.full_answers} answers give (at most "
            f"{self.audit_differs_at_most:.1%}; {self.level:.0%} confidence each)"
        )


def stopping_bound(context: Context, *, aspect: str | None, level: float) -> StoppingBound:
    """Replay the rule on gold and audit; see `Campaign.certify_stopping`."""
    if isinstance(level, bool) or not 0 < level < 1:
        raise InputError(f"level is {level!r}; give a confidence between 0 and 1, such as 0.95")
    record = context.aspect_or_first(aspect)
    if record.kind not in LABELLED:
        raise InputError(f"aspect {record.name!r} is {record.kind}: it has no labels to be sure of, and is not stopped")
    plan = context.latest_plan()
    with context.store.read() as tx:
        settings = context.settings_in(tx)
        redundancy = int(settings.get("redundancy", 1))
        until = until_sure(context, tx, setting_of(settings), redundancy)
        if until is None:
            raise StateError(
                "every item gets the same number of answers; publish(most=...) stops where labels are sure"
            )
        found = until.found.get(record.name)
        if found is None:
            raise StateError(f"there are no blind answers about {record.name!r} yet; first collect()")
        units = asked_units(context, tx, plan.id, redundancy, until)
    units = units[units["aspect"] == record.name]
    audited = units.loc[units["destination"].astype(str) == "audit", "item"]
    counts = found.frame["n_answers"].reindex(audited).fillna(0)
    gold, audit = found.on_gold, found.replay(audited[(counts >= until.most).to_numpy(dtype=bool)])
    routed = units.loc[until.may_stop(units), "given"]
    return StoppingBound(
        aspect=record.name,
        error=until.error,
        level=level,
        gold=gold,
        audit=audit,
        gold_wrong_at_most=found.gold_wrong_at_most(level),
        audit_differs_at_most=audit.wrong_at_most(level),
        mean_answers=float(routed.mean()) if len(routed) else float(np.nan),
        full_answers=until.most,
    )


def stopping_words(context: Context) -> list[str]:
    """Say it for a report: nothing where all items get the same number of answers."""
    settings = context.settings()
    if setting_of(settings) is None:
        return []
    try:
        return [f"asked until sure: {stopping_bound(context, aspect=None, level=0.95)}"]
    except (InputError, StateError):
        return []
