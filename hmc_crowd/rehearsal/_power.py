"""How many items and answers does a question need? For a rate to within +-x, or to tell system A from B.

People err, so what they say is a rate seen through their errors: with chance `se` of seeing what is there and `sp` of
not seeing what is not, the corrected rate has 1 / (se + sp - 1)^2 times the variance. Answers from the same dialogue
say less than as many from different ones: the design effect ``1 + (m - 1) * icc``.

Sources: Rogan, Gladen (1978), "Estimating prevalence from the results of a screening test"; Kish (1965), "Survey
Sampling", for the design effect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hmc_crowd.errors import InputError

__all__ = ["Power", "majority", "power"]


@dataclass(frozen=True)
class Power:
    """How many items a question needs. Made by `power`.

    Parameters
    ----------
    items : int
        Items to be judged; per system where two are compared.
    answers : int
        Answers in all (both systems).
    redundancy : int
        Answers per item.
    judge : float
        ``se + sp - 1`` of the label that these answers give together: 1 is without error, 0 is a coin.
    design_effect : float
        How much clusters inflate the number.
    question, method : str
        What was asked, and how it was reckoned.
    assumptions : tuple of str
        What must hold.
    """

    items: int
    answers: int
    redundancy: int
    judge: float
    design_effect: float
    question: str
    method: str
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.question}: {self.items:,} items, {self.answers:,} answers ({self.redundancy} an item)"


def power(
    *,
    half_width: float | None = None,
    difference: float | None = None,
    rate: float = 0.5,
    level: float = 0.95,
    chance: float = 0.8,
    sensitivity: float = 1.0,
    specificity: float = 1.0,
    redundancy: int = 1,
    cluster_size: float = 1.0,
    icc: float = 0.0,
    population: int | None = None,
) -> Power:
    """Say how many items and answers a question needs.

    Parameters
    ----------
    half_width : float, optional
        To know a rate to within so much; or
    difference : float, optional
        To tell two systems apart whose rates differ by so much. Give one of the two.
    rate : float, default 0.5
        The rate (of the first system); .5 needs the most.
    level : float, default 0.95
        Confidence of the interval; of the two-sided test.
    chance : float, default 0.8
        Probability of seeing a difference that is there (power).
    sensitivity, specificity : float, default 1
        Chance that one person sees what is there, and does not see what is not.
    redundancy : int, default 1
        Answers per item, decided by majority (a tie by a coin); odd numbers make the most of them.
    cluster_size, icc : float
        Items per dialogue, and how much their labels go together: 1 and 0 for none.
    population : int, optional
        Size of the batch that the rate is about, where it is not endless.

    Returns
    -------
    Power

    Raises
    ------
    InputError
        Neither or both questions are asked, a value is out of range, or the judges are no better than a coin.

    Examples
    --------
    >>> print(power(half_width=0.03))
    to know a rate of 0.5 to +-0.03: 1,068 items, 1,068 answers (1 an item)
    >>> print(power(difference=0.05, rate=0.5, sensitivity=0.9, specificity=0.9, redundancy=3))
    to tell 0.5 from 0.55: 1,754 items, 10,524 answers (3 an item)
    """
    if (half_width is None) == (difference is None):
        raise InputError("give either half_width= (how exact) or difference= (two systems), not both or none")
    _check(rate, level, chance, sensitivity, specificity, redundancy, cluster_size, icc, population)
    see = majority(sensitivity, redundancy)
    clear = majority(specificity, redundancy)
    judge = see + clear - 1.0
    if judge <= 1e-9:
        raise InputError(
            f"sensitivity {sensitivity:g} and specificity {specificity:g} sum to 1 or less: these judges are a coin, "
            "and no number of items helps"
        )
    effect = 1.0 + (cluster_size - 1.0) * icc
    if half_width is not None:
        if not 0 < half_width < 1:
            raise InputError(f"half_width is {half_width!r}; give a number strictly between 0 and 1, such as 0.03")
        exact = _z(0.5 + level / 2) ** 2 * _variance(rate, see, clear) / (half_width * judge) ** 2 * effect
        systems, question = 1, f"to know a rate of {rate:g} to +-{half_width:g}"
    else:
        exact, question = _compare(rate, difference, see, clear, judge, level, chance)
        exact, systems = exact * effect, 2
    if population is not None:
        exact = exact / (1.0 + (exact - 1.0) / population) if exact > 1.0 else exact
    items = max(1, math.ceil(exact - 1e-9))
    return Power(
        items=items,
        answers=items * redundancy * systems,
        redundancy=redundancy,
        judge=judge,
        design_effect=effect,
        question=question,
        method="normal approximation, corrected for judges' errors and clusters",
        assumptions=(
            "judges err independently of one another and of the system",
            "their error rates are known; where they are estimated too, more is needed",
            "clusters are of about equal size",
        ),
    )


def _compare(
    rate: float, difference: Any, see: float, clear: float, judge: float, level: float, chance: float
) -> tuple[float, str]:
    other = rate + float(difference)
    if not 0 < abs(float(difference)) < 1 or not 0 <= other <= 1:
        raise InputError(f"difference is {difference!r} at a rate of {rate:g}; the other rate must lie in [0, 1]")
    spread = _variance(rate, see, clear) + _variance(other, see, clear)
    exact = (_z(0.5 + level / 2) + _z(chance)) ** 2 * spread / (float(difference) * judge) ** 2
    return exact, f"to tell {rate:g} from {other:g}"


def _variance(rate: float, see: float, clear: float) -> float:
    """Return the variance of one observed label."""
    seen = rate * see + (1.0 - rate) * (1.0 - clear)
    return seen * (1.0 - seen)


def majority(right: float, redundancy: int) -> float:
    """Return the chance that a majority of so many is right, a tie decided by a coin."""
    total = 0.0
    for votes in range(redundancy + 1):
        weight = 1.0 if 2 * votes > redundancy else 0.5 if 2 * votes == redundancy else 0.0
        total += weight * math.comb(redundancy, votes) * right**votes * (1.0 - right) ** (redundancy - votes)
    return total


def _z(probability: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(probability)


def _check(
    rate: float, level: float, chance: float, sensitivity: float, specificity: float, redundancy: Any,
    cluster_size: float, icc: float, population: Any,
) -> None:  # fmt: skip
    for name, value in (("rate", rate), ("sensitivity", sensitivity), ("specificity", specificity), ("icc", icc)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} is {value!r}; give a number in [0, 1]")
    for name, value in (("level", level), ("chance", chance)):
        if not 0 < value < 1:
            raise InputError(f"{name} is {value!r}; give a probability strictly between 0 and 1")
    if isinstance(redundancy, bool) or not isinstance(redundancy, int) or not 1 <= redundancy <= 1000:
        raise InputError(f"redundancy is {redundancy!r}; give a whole number, 1 to 1000")
    if not cluster_size >= 1:
        raise InputError(f"cluster_size is {cluster_size!r}; give 1 or more")
    if population is not None and (isinstance(population, bool) or population < 1):
        raise InputError(f"population is {population!r}; give the size of the batch, at least 1")
