"""Which gold goes into which bundle? Labels and difficulties in turns, the least shown first, what fits in time. Pure.

How it is drawn is `hmc_crowd.quality.GoldTurns`; here is what a bundle adds: time, dialogues that are read anyway, and
that all places of a bundle meet the same gold.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign._packing import BundleItem, question_s
from hmc_crowd.quality import GoldTurns, gold_cells

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

__all__ = ["GoldRotation", "cells_by_aspect"]

# Where gold must come again, none comes more than this many times as often as if all of it took turns: the one item of
# a rare label would soon be known, and where nobody gets a question twice it would shut people out of most bundles.
_MOST = 3.0
# Gold that looks right is looked for among so many: more would take longer than the rest of bundling.
_MOST_NEAR = 200


def cells_by_aspect(
    questions: Sequence[BundleItem], label: Sequence[Any] | None, difficulty: Sequence[float] | None
) -> list[tuple[Any, int]]:
    """Return between which cells drawing is balanced: an aspect's labels are no other's; unknown ones are alike."""
    rows_of: dict[str, list[int]] = {}
    for row, each in enumerate(questions):
        rows_of.setdefault(each.aspect, []).append(row)
    cells: list[tuple[Any, int]] = [(None, 0)] * len(questions)
    for aspect, rows in rows_of.items():
        names = [None] * len(rows) if label is None else [label[row] for row in rows]
        hard = None if difficulty is None else [difficulty[row] for row in rows]
        for row, (name, step) in zip(rows, gold_cells(names, hard), strict=True):
            cells[row] = (aspect, name), step
    return cells


class GoldRotation:
    """Hands out gold to bundles: each question once where there is enough, and of these a balanced part.

    Who takes every bundle then meets no gold twice; and nobody is kept from one by gold that he knows.

    Parameters
    ----------
    questions : sequence of BundleItem
        The gold.
    cells : sequence of (label, step)
        Of each, see `cells_by_aspect`.
    seen : mapping of (item, aspect) to int
        How many people met each question before.
    limit : int, optional
        Most people who may meet a question; then it rests.
    wanted : sequence of int
        How many gold questions each bundle is to have.
    places : int
        Most people who do a bundle.
    rng : numpy.random.Generator
        Decides between equals.
    """

    def __init__(
        self,
        questions: Sequence[BundleItem],
        *,
        cells: Sequence[tuple[Any, int]],
        seen: Mapping[tuple[str, str], int],
        limit: int | None = None,
        wanted: Sequence[int],
        places: int,
        rng: np.random.Generator,
    ) -> None:
        shown = [seen.get((each.item, each.aspect), 0) for each in questions]
        awake = [row for row, count in enumerate(shown) if limit is None or count < limit]
        fresh = [row for row in awake if not shown[row]]
        needed = sum(min(each, len(awake)) for each in wanted)
        rows = fresh if needed <= len(fresh) else awake
        self._is_once = needed <= len(rows)
        # Gold that is short by its limit is spread: workers who come late are checked as well as the first.
        left = needed if limit is None else sum((limit - shown[row]) // max(1, places) for row in rows)
        self._part, self._owed = min(1.0, left / max(1, needed)), 0.0
        most = len(rows) / max(1, needed) if self._is_once else _MOST
        self._questions = [questions[row] for row in rows]
        self._turns = GoldTurns(
            [cells[row] for row in rows], [shown[row] for row in rows], limit=limit, most=most, rng=rng
        )
        self._of_group: dict[str, list[int]] = {}
        for row, each in enumerate(self._questions):
            self._of_group.setdefault(each.group, []).append(row)
        # Gold without a dialogue before it would stand out among work that has one, so it is drawn in the work's share.
        looks = {each.has_context for each in self._questions}
        self._looks: dict[bool, deque[int]] = {look: deque() for look in looks} if len(looks) > 1 else {}
        if self._looks:
            for row in rng.permutation(len(self._questions)).tolist():
                self._looks[self._questions[row].has_context].append(row)
        self._owed_context = 0.0
        self._drawn: set[int] = set()

    def take(self, wanted: int, *, asked: Sequence[BundleItem], room_s: float, places: int) -> list[BundleItem]:
        """Return ``wanted`` gold questions, or as many as fit into ``room_s``; one at least, fit or not.

        There are fewer where gold rests. Gold of a dialogue that is read anyway (for ``asked``, or for other gold)
        comes first within a label: it costs no set-up. ``places`` people will meet each, so it counts as shown that
        often.
        """
        setup: dict[str, float] = {}
        for each in asked:
            setup[each.group] = max(setup.get(each.group, 0.0), each.setup_s)
        rows: list[int] = []
        self._owed += wanted * self._part
        while len(rows) < int(self._owed + 1e-9):
            near = [row for group in setup for row in self._of_group.get(group, ()) if row not in self._drawn]
            near = near or self._alike(asked)
            fits = partial(self._fits, setup, room_s + 1e-9)
            row = self._turns.draw(times=places, fits=fits, near=near)
            if row is None and not rows:
                row = self._turns.draw(times=places, near=near)
            if row is None:
                break
            gold = self._questions[row]
            self._note(row, asked)
            room_s -= question_s(gold, setup)
            setup[gold.group] = max(setup.get(gold.group, 0.0), gold.setup_s)
            rows.append(row)
            self._drawn.add(row)
        self._owed -= int(self._owed + 1e-9)
        if not self._is_once:
            self._turns.give_back(rows, times=places)
            self._drawn.difference_update(rows)
        return [self._questions[row] for row in rows]

    def _alike(self, asked: Sequence[BundleItem]) -> list[int]:
        """Return gold that looks as the next gold of a bundle should, or nothing where all gold looks the same."""
        if not self._looks or not asked:
            return []
        look = self._owed_context + _context_share(asked) >= 0.5
        return list(islice(self._looks[look], _MOST_NEAR))

    def _note(self, row: int, asked: Sequence[BundleItem]) -> None:
        """Keep which look was drawn; a question that may come again comes last."""
        if not self._looks or not asked:
            return
        look = self._questions[row].has_context
        self._owed_context += _context_share(asked) - look
        self._looks[look].remove(row)
        if not self._is_once:
            self._looks[look].append(row)

    def _fits(self, setup: Mapping[str, float], room_s: float, row: int) -> bool:
        return question_s(self._questions[row], setup) <= room_s


def _context_share(asked: Sequence[BundleItem]) -> float:
    return sum(each.has_context for each in asked) / len(asked)
