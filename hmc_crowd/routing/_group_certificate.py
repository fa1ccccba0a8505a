"""How far can the batch be trusted when whole groups (dialogues) were audited? A bound of its own.

Errors cluster: ten items of one dialogue tell less than ten of ten. The formula for items would miss too often (6.3 %
instead of 5 % on the paper's data at 500 items). Here the draw of groups is what is random, and the share of wrong
items in a group may be anything from 0 to 1.

If W of all kept items are wrong, then before each draw the expected share (or number) in the next group is known from
what was seen so far; bets against it decide which W are possible (`_bets`). With a probability of at least `level`
over the draw the true W is among them, for any batch, and at every look, since the order of the draw is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import InputError
from hmc_crowd.routing._bets import largest_surviving, log_stakes, log_wealth_path
from hmc_crowd.routing._certificate import Certificate, certificate_of
from hmc_crowd.routing._checks import count, level_of
from hmc_crowd.routing._group_audit import require_design

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.routing._group_audit import GroupDesign

__all__ = ["certify_groups", "most_in_all"]

_ASSUMPTIONS = (
    "groups were drawn at random as the design says, before anyone saw their labels, and are given in that order",
    "all kept items of a drawn group were judged; they take the people's label, given without seeing the machine's",
    "agreement is with our people: an item that they judged counts as right",
    "holds for this batch only, not for later traffic",
)


def certify_groups(
    items: int,
    human: int,
    sizes: ArrayLike,
    wrong: ArrayLike,
    *,
    n_groups: int,
    largest: int,
    design: GroupDesign = "groups_by_size",
    level: float = 0.95,
    unanswered: ArrayLike | None = None,
) -> Certificate:
    """Bound the wrong labels left in a batch, from an audit of whole groups.

    Parameters
    ----------
    items, human : int
        Items of the batch, and those that people judged by plan.
    sizes, wrong : array of int, shape (n_drawn,)
        Kept items of each drawn group, and how many of them the machine had wrong, in the order in which the groups
        were drawn.
    n_groups, largest : int
        Groups with a kept item, and the kept items of the largest (`GroupDraw` knows all of these).
    design : {"groups_by_size", "groups"}
        How they were drawn.
    level : float, default 0.95
        Confidence of the bound.
    unanswered : array of int, shape (n_drawn,), optional
        Items of each drawn group without an answer. They count as wrong in the sample and stay unrepaired in the batch.

    Returns
    -------
    Certificate
        Its `audited` and `wrong` count items.

    Raises
    ------
    InputError
        The numbers contradict one another, or the design is unknown.

    Notes
    -----
    Valid at every look: `sizes` and `wrong` may grow, and one may stop when the bound is good enough.

    Examples
    --------
    100 dialogues of 5 kept items each; 30 are read, one has 2 wrong items.

    >>> wrong = [0] * 29 + [2]
    >>> certify_groups(1000, 500, [5] * 30, wrong, n_groups=100, largest=5).wrong_at_most
    60
    """
    require_design(design)
    n, people = count("items", items, least=1), count("human", human)
    size = float_vector(sizes, name="sizes", low=1.0, allow_empty=True)
    found = float_vector(wrong, name="wrong", low=0.0, allow_empty=True)
    waiting = np.zeros(len(size)) if unanswered is None else float_vector(
        unanswered, name="unanswered", low=0.0, allow_empty=True
    )  # fmt: skip
    _check(n, people, size, found, waiting, n_groups, largest)
    kept, alpha = n - people, 1.0 - level_of(level)
    most = most_in_all(
        found + waiting, size, kept=kept, n_groups=n_groups, largest=largest, alpha=alpha,
        by_size=design == "groups_by_size",
    )  # fmt: skip
    return certificate_of(
        (n, people, int(size.sum()), int(found.sum()), int(waiting.sum())),
        most=int(most),
        level=1.0 - alpha,
        design=design,
        method="bets on whole groups in the order of the draw",
        assumptions=_ASSUMPTIONS,
    )


def most_in_all(
    losses: NDArray[np.float64],
    sizes: NDArray[np.float64],
    *,
    kept: int,
    n_groups: int,
    largest: int,
    alpha: float,
    by_size: bool,
    step: float = 1.0,
) -> float:
    """Return the largest total loss of all groups that the drawn ones, in order, leave possible.

    `sizes` bounds the loss of each group; `kept` and `n_groups` are the totals before any draw.
    """
    seen = np.concatenate(([0.0], np.cumsum(losses)[:-1])) if len(losses) else np.empty(0)
    drawn = np.concatenate(([0.0], np.cumsum(sizes)[:-1])) if len(sizes) else np.empty(0)
    if by_size:
        values, remaining = losses / sizes, kept - drawn
    else:
        values, remaining = losses / largest, float(largest) * (n_groups - np.arange(len(losses)))

    def wealth(total: float) -> float:
        return log_wealth_path(log_stakes((total - seen) / remaining, values))

    low, high = float(losses.sum()), float(losses.sum() + kept - sizes.sum())
    return largest_surviving(wealth, low, high, alpha, step)


def _check(
    items: int, human: int, sizes: NDArray[np.float64], wrong: NDArray[np.float64], waiting: NDArray[np.float64],
    n_groups: int, largest: int,
) -> None:  # fmt: skip
    require_same_length([("sizes", sizes), ("wrong", wrong), ("unanswered", waiting)])
    groups, top = count("n_groups", n_groups), count("largest", largest)
    if human > items:
        raise InputError(f"human is {human} of {items} items; people cannot have judged more than there are")
    whole = (sizes % 1 == 0) & (wrong % 1 == 0) & (waiting % 1 == 0) & (wrong + waiting <= sizes) & (sizes <= top)
    if not whole.all():
        row = int(np.flatnonzero(~whole)[0])
        raise InputError(
            f"group {row} has {wrong[row]:g} wrong of {sizes[row]:g} items and {waiting[row]:g} unanswered; give whole "
            f"numbers, wrong and unanswered together at most the size, sizes at most largest ({top})"
        )
    drawn, kept = int(sizes.sum()), items - human
    if len(sizes) > groups or drawn > kept or (len(sizes) == groups) != (drawn == kept):
        raise InputError(
            f"{len(sizes)} of {groups} groups with {drawn} of {kept} kept items were drawn; these numbers contradict "
            "one another"
        )
    if not groups <= kept <= groups * top:
        raise InputError(f"{kept} kept items cannot lie in {groups} groups of 1 to {top}")
