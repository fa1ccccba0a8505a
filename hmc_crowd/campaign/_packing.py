"""How groups of questions are packed into bundles. Pure; `bundles` is the face."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np

__all__ = ["LEAST_S", "BundleItem", "blocks_of", "cost_s", "pack", "question_s", "reading_order"]

# Nobody answers faster than this, so a prediction near zero cannot put thousands of questions into one bundle.
LEAST_S = 0.5
# Blocks above this part of the capacity are packed first, largest first: they decide how many bundles there are.
_LARGE = 1 / 3


@dataclass(frozen=True, slots=True)
class BundleItem:
    """One question of a bundle.

    Parameters
    ----------
    item, aspect, group : str
        What is asked about which item of which group.
    position : int
        Of the item in its group.
    is_gold : bool
        Asked to check the worker; never shown to him.
    effort_s, setup_s : float
        Expected marginal seconds of this question, and of reading into its group, which is paid once a bundle.
    has_context : bool
        Whether turns of its group stand before it, which its page shows.
    """

    item: str
    aspect: str
    group: str
    position: int
    is_gold: bool = False
    effort_s: float = 0.0
    setup_s: float = 0.0
    has_context: bool = False


Block = tuple[BundleItem, ...]


def reading_order(question: BundleItem) -> tuple[str, int, str, str]:
    """Sort key: the items of a group in their order, the aspects of an item together."""
    return question.group, question.position, question.item, question.aspect


def cost_s(questions: Iterable[BundleItem], *, least_s: float = 0.0) -> float:
    """Return the expected seconds: each group's set-up once (the largest of its rows), and every question."""
    setup: dict[str, float] = {}
    effort = 0.0
    for each in questions:
        setup[each.group] = max(setup.get(each.group, 0.0), each.setup_s)
        effort += max(each.effort_s, least_s)
    return effort + sum(setup.values())


def question_s(question: BundleItem, setup: Mapping[str, float]) -> float:
    """Return the seconds that a question adds where people read into these groups already, at such a cost."""
    more = max(0.0, question.setup_s - setup.get(question.group, 0.0))
    return more + max(question.effort_s, LEAST_S)


def blocks_of(questions: Iterable[BundleItem]) -> list[Block]:
    """Return the groups, each whole and in reading order, ordered by group."""
    return [tuple(rows) for _, rows in groupby(sorted(questions, key=reading_order), key=lambda each: each.group)]


def _pieces(block: Block, limit_s: float) -> list[Block]:
    """Cut a group into runs of whole items of at most ``limit_s`` each, or one item where that alone costs more."""
    done: list[Block] = []
    held: list[BundleItem] = []
    spent = setup = max(each.setup_s for each in block)
    for _, rows in groupby(block, key=lambda each: (each.position, each.item)):
        item = list(rows)
        more = sum(max(each.effort_s, LEAST_S) for each in item)
        if held and spent + more > limit_s:
            done.append(tuple(held))
            held, spent = [], setup
        held += item
        spent += more
    return [*done, tuple(held)]


def pack(blocks: Sequence[Block], *, capacity_s: float, target_s: float, rng: np.random.Generator) -> list[list[Block]]:
    """Fill bundles to ``capacity_s`` by best fit; a block that does not fit gets a bundle of its own.

    Large blocks go first, largest first. The small ones follow in random order, so that every worker meets short and
    long ones: in order of size, some would get the long dialogues only, and time and worker could not be told apart.
    """
    sized = [(cost_s(part, least_s=LEAST_S), part) for block in blocks for part in _split(block, capacity_s, target_s)]
    large = sorted((each for each in sized if each[0] > _LARGE * capacity_s), key=lambda each: -each[0])
    small = [each for each in sized if each[0] <= _LARGE * capacity_s]
    bundles: list[list[Block]] = []
    room: list[tuple[float, int]] = []  # what is left in each bundle that can still take something, ascending
    for cost, block in [*large, *(small[index] for index in rng.permutation(len(small)))]:
        tightest = bisect_left(room, (cost, -1))
        if tightest == len(room):
            bundles.append([block])
            left, number = capacity_s - cost, len(bundles) - 1
        else:
            left, number = room.pop(tightest)
            bundles[number].append(block)
            left -= cost
        if left > 0:
            insort(room, (left, number))
    return bundles


def _split(block: Block, capacity_s: float, target_s: float) -> list[Block]:
    """Split a group over twice the target, if reading into it again is not most of what a piece would cost."""
    setup = max(each.setup_s for each in block)
    if cost_s(block, least_s=LEAST_S) <= 2 * target_s or setup > capacity_s / 2:
        return [block]
    return _pieces(block, capacity_s)
