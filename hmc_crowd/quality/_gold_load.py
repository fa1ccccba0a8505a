"""What does gold cost, and how much of it must there be?

Source: requirement D12; PLATFORMS.md, P24.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hmc_crowd.errors import InputError

__all__ = ["GoldLoad", "gold_load", "load_of"]


@dataclass(frozen=True)
class GoldLoad:
    """What gold costs, and how much of it there must be.

    Parameters
    ----------
    share : float
        Of all answers that are to gold.
    answers : int
        To gold, altogether.
    cost_minor : int
        What they cost, rounded up.
    per_worker : float
        Gold answers of a worker who does his part.
    items_needed : int
        Gold items without which somebody would meet one twice, or one be shown more often than the limit.
    half_width : float
        Half the 95% interval of a worker's accuracy after that many gold answers, if it is .8: what the money buys.
    """

    share: float
    answers: int
    cost_minor: int
    per_worker: float
    items_needed: int
    half_width: float

    def __str__(self) -> str:
        return (
            f"{self.answers:,} gold answers ({self.share:.1%}), {self.cost_minor:,} minor units; {self.per_worker:.1f} "
            f"a worker, whose accuracy is known to +-{self.half_width:.2f}; {self.items_needed:,} gold items needed"
        )


def gold_load(
    *, answers: int, workers: int, per_hit: int, gold_per_hit: int, answer_minor: float, limit: int | None = None
) -> GoldLoad:
    """Return share and cost of mixing gold into HITs.

    Parameters
    ----------
    answers : int
        Answers that are wanted to items that are not gold.
    workers : int
        Who share them evenly.
    per_hit, gold_per_hit : int
        Items of a HIT altogether, and gold items among them.
    answer_minor : float
        Price of one answer in minor units, fees included.
    limit : int, optional
        Most exposures of a gold item.

    Examples
    --------
    9,000 answers in HITs of 9 items and 1 of gold are 1,000 gold answers; shown at most 20 times each, 50 items:

    >>> load = gold_load(answers=9000, workers=100, per_hit=10, gold_per_hit=1, answer_minor=5, limit=20)
    >>> load.answers, load.share, load.cost_minor, load.per_worker, load.items_needed
    (1000, 0.1, 5000, 10.0, 50)
    """
    if not 0 <= gold_per_hit < per_hit:
        raise InputError(f"gold_per_hit is {gold_per_hit} of {per_hit} items; give 0 or more, and less than all")
    if answers < 0 or workers < 1 or not 0 <= answer_minor < math.inf or (limit is not None and limit < 1):
        raise InputError(
            f"answers is {answers}, workers {workers}, answer_minor {answer_minor}, limit {limit}; give none below 0, "
            "and at least one worker and one exposure"
        )
    hits = math.ceil(answers / (per_hit - gold_per_hit))
    return load_of(
        gold=hits * gold_per_hit,
        answers=answers,
        workers=workers,
        at_once=gold_per_hit if hits else 0,
        answer_minor=answer_minor,
        limit=limit,
    )


def load_of(
    *, gold: int, answers: int, workers: int, at_once: int, answer_minor: float, limit: int | None = None
) -> GoldLoad:
    """Return what so many gold answers, ``at_once`` of them in a HIT, mean beside ``answers`` to other items."""
    per_worker = gold / workers
    needed = max(math.ceil(per_worker - 1e-9), math.ceil(gold / limit) if limit else 0, at_once)
    spread = 1.96 * math.sqrt(0.16 / (per_worker + 2)) if gold else 0.5
    share = gold / (gold + answers) if gold else 0.0
    return GoldLoad(share, gold, math.ceil(gold * answer_minor - 1e-9), per_worker, needed, min(spread, 0.5))
