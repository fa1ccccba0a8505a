"""Whole numbers in the place of shares, which add up to what they should."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["largest_remainders"]


def largest_remainders(exact: Sequence[float], total: int) -> list[int]:
    """Return ``exact`` as whole numbers that add up to ``total``: the largest remainders are rounded up.

    Of equal remainders the first ones are. ``total`` lies between the sum of the numbers rounded down and rounded up.

    Examples
    --------
    >>> largest_remainders([2.5, 7.5], 10), largest_remainders([1.2, 1.7, 1.1], 4)
    ([3, 7], [1, 2, 1])
    """
    # What is whole but for the arithmetic is whole.
    whole = [math.floor(each + 1e-9) for each in exact]
    order = sorted(range(len(whole)), key=lambda at: (whole[at] - exact[at], at))
    for at in order[: max(total - sum(whole), 0)]:
        whole[at] += 1
    return whole
