"""May a judge stand in for a person? The alternative annotator test.

Leave one person out; for every pair ask whether the judge or that person is nearer to what the others said. The judge
wins against that person if it is at least as near often enough: the paired difference is tested against `epsilon`, the
benefit that a person must bring to be worth the price, with false discoveries limited over the people
(Benjamini-Yekutieli, which holds however people's answers depend on each other). The winning rate is the share of
people it wins against; from 1/2 on the judge may stand in.

Source: Calderon, Reichart, Dror (2025), "The alternative annotator test for LLM-as-a-judge", sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["AlternativeAnnotator", "alternative_annotator_test"]

_LEAST_PAIRS = 30  # below, the t-test's normal approximation is not to be trusted


@dataclass(frozen=True, eq=False)
class AlternativeAnnotator:
    """Outcome of the test.

    Parameters
    ----------
    winning_rate : float or None
        Share of people the judge wins against; None if nobody could be tested.
    may_stand_in : bool
        ``winning_rate >= 0.5``.
    advantage : float or None
        Mean over people of how often the judge is at least as near to the others as the person.
    epsilon, q : float
    people : frame
        ``worker, n, judge_wins, worker_wins, p, wins`` per person who was tested.
    left_out : mapping of reason -> people
    """

    winning_rate: float | None
    may_stand_in: bool
    advantage: float | None
    epsilon: float
    q: float
    people: pd.DataFrame
    left_out: Mapping[str, int]

    def __str__(self) -> str:
        if self.winning_rate is None:
            why = ", ".join(f"{reason}: {count:,}" for reason, count in self.left_out.items()) or "no answers"
            return f"Alternative annotator test: nobody could be tested ({why})"
        told = "may stand in for a person" if self.may_stand_in else "may not stand in for a person"
        return (
            f"Alternative annotator test: winning rate {self.winning_rate:.2f} over {len(self.people)} people "
            f"(epsilon {self.epsilon:g}): the judge {told}"
        )


def alternative_annotator_test(
    annotations: Any, judged: Mapping[str, str | None], *, epsilon: float = 0.1, q: float = 0.05
) -> AlternativeAnnotator:
    """Test whether a judge may stand in for a person.

    Parameters
    ----------
    annotations : frame ``task, worker, label``
        People's answers; pairs with one answer say nothing and leave.
    judged : mapping of task -> label
        The judge's; None counts as agreeing with nobody.
    epsilon : float, default 0.1
        What a person must be better by to be worth the price; the source advises .1 for crowd workers, .15 for trained
        annotators, .2 for experts.
    q : float, default 0.05
        Limit of the false discovery rate.

    Returns
    -------
    AlternativeAnnotator

    Raises
    ------
    InputError
        Columns are missing, a worker answers a pair twice, or a number is out of range.

    Notes
    -----
    Only people with at least 30 shared pairs are tested; at least three should be.

    Examples
    --------
    Three people who agree on all of 40 pairs, and a judge who says the same.

    >>> import pandas as pd
    >>> rows = [(f"p{pair}", f"w{worker}", "ab"[pair % 2]) for pair in range(40) for worker in range(3)]
    >>> said = {f"p{pair}": "ab"[pair % 2] for pair in range(40)}
    >>> print(alternative_annotator_test(pd.DataFrame(rows, columns=["task", "worker", "label"]), said))
    Alternative annotator test: winning rate 1.00 over 3 people (epsilon 0.1): the judge may stand in for a person
    """
    if not 0.0 <= epsilon < 1.0 or not 0.0 < q < 1.0:
        raise InputError(f"epsilon is {epsilon!r} and q is {q!r}; give shares in [0, 1) and (0, 1)")
    rows = _rows(annotations, judged)
    import pandas as pd

    tested, few = [], 0
    for worker, mine in rows.groupby("worker", sort=True):
        if len(mine) < _LEAST_PAIRS:
            few += 1
            continue
        judge, person = mine["judge_near"].to_numpy(), mine["worker_near"].to_numpy()
        judge_wins, worker_wins = judge >= person, person >= judge
        difference = worker_wins.astype(np.float64) - judge_wins.astype(np.float64)
        p = _p_below(difference, epsilon)
        tested.append((worker, len(mine), float(judge_wins.mean()), float(worker_wins.mean()), p))
    people = pd.DataFrame(tested, columns=["worker", "n", "judge_wins", "worker_wins", "p"])
    people["wins"] = _discoveries(people["p"].to_numpy(dtype=np.float64), q)
    rate = float(people["wins"].mean()) if len(people) else None
    advantage = float(people["judge_wins"].mean()) if len(people) else None
    left_out = {f"fewer than {_LEAST_PAIRS} shared pairs": few} if few else {}
    return AlternativeAnnotator(rate, rate is not None and rate >= 0.5, advantage, epsilon, q, people, left_out)


def _rows(annotations: Any, judged: Mapping[str, str | None]) -> pd.DataFrame:
    """Return, per answer, how near the judge and the worker are to the other people's answers."""
    missing = [name for name in ("task", "worker", "label") if name not in annotations]
    if missing:
        raise FrameError(f"annotations lack {', '.join(missing)}; give task, worker, label")
    frame = annotations.loc[annotations["task"].isin(set(judged)), ["task", "worker", "label"]].copy()
    twice = frame.duplicated(["task", "worker"])
    if twice.any():
        first = frame.loc[twice].iloc[0]
        raise FrameError(f"worker {first['worker']!r} answers pair {first['task']!r} twice; keep one answer")
    frame["said"] = [judged[task] for task in frame["task"]]
    many = frame.groupby("task")["worker"].transform("size").to_numpy()
    same = frame.groupby(["task", "label"])["worker"].transform("size").to_numpy()
    votes = frame.groupby(["task", "label"]).size()
    with_judge = np.array(
        [votes.get((task, said), 0) for task, said in zip(frame["task"], frame["said"], strict=True)], dtype=np.float64
    )
    # The judge is compared with the others only, so the worker's own vote does not count for it.
    own = (frame["label"] == frame["said"]).to_numpy(dtype=np.float64)
    frame["rest"] = many - 1
    frame = frame.assign(judge_near=with_judge - own, worker_near=same - 1.0)
    frame = frame.loc[frame["rest"] > 0]
    near: pd.DataFrame = frame.assign(
        judge_near=frame["judge_near"] / frame["rest"], worker_near=frame["worker_near"] / frame["rest"]
    )
    return near


def _p_below(difference: NDArray[np.float64], epsilon: float) -> float:
    """Return the one-sided p-value of a t-test for "the mean is at least epsilon"."""
    from scipy.stats import t

    mean, spread = float(difference.mean()), float(difference.std(ddof=1))
    if spread == 0.0:
        return 0.0 if mean < epsilon else 1.0
    return float(t.cdf((mean - epsilon) / (spread / len(difference) ** 0.5), len(difference) - 1))


def _discoveries(p: NDArray[np.float64], q: float) -> NDArray[np.bool_]:
    """Return which hypotheses Benjamini-Yekutieli rejects."""
    many = len(p)
    if not many:
        return np.zeros(0, dtype=bool)
    order = np.argsort(p, kind="stable")
    limits = q * np.arange(1, many + 1) / (many * (1.0 / np.arange(1, many + 1)).sum())
    below = np.flatnonzero(p[order] <= limits)
    found = np.zeros(many, dtype=bool)
    if len(below):
        found[order[: below[-1] + 1]] = True
    return found
