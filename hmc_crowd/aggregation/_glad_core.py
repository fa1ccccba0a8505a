"""GLAD's arithmetic: P(right) = sigmoid(ability of the worker x ease of the task).

Source: Whitehill et al. (2009), "Whose Vote Should Count More". EM with Gaussian priors N(1, 1) on the ability alpha
and on log ease b, as there; errors are spread evenly over the other labels. The M-step is
separable: given the tasks, each worker's ability is one logistic regression coefficient, given the workers each task's
log ease is one number. Both take one scoring step, halved for those whose own part of the objective would fall: so the
objective never falls, and one iteration costs a handful of passes over the answers.

Pure functions; a kernel may replace `step_ability` and `step_ease`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.aggregation._votes import expect, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._votes import Votes

__all__ = ["GladFit", "glad", "glad_joint", "log_sigmoid", "step_ability", "step_ease"]

_HALVINGS = 6


@dataclass(frozen=True)
class GladFit:
    """``posterior`` (n_tasks, K) belongs to ``ability`` (n_workers,) and ``log_ease`` (n_tasks,)."""

    posterior: NDArray[np.float64]
    ability: NDArray[np.float64]
    log_ease: NDArray[np.float64]
    class_share: NDArray[np.float64]
    history: tuple[float, ...]
    converged: bool


def log_sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(1 / (1 + exp(-x))) without overflow."""
    result: NDArray[np.float64] = np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))
    return result


def glad_joint(
    votes: Votes, ability: NDArray[np.float64], log_ease: NDArray[np.float64], log_class: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return log P(answers, truth) per task and truth, shape (n_tasks, K)."""
    x = ability[votes.worker] * np.exp(log_ease)[votes.task]
    spread = np.log(max(votes.n_labels - 1, 1))
    wrong = log_sigmoid(-x) - spread
    # log sigmoid(x) - log sigmoid(-x) = x
    joint = votes.by_cell(x + spread)
    joint += votes.by_task(wrong)[:, None]
    joint[: votes.n_real] += log_class
    return joint


def _safeguarded(
    value: NDArray[np.float64],
    step: NDArray[np.float64],
    objective: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return ``value + step``, the step halved, at last dropped, for entries whose own objective would fall."""
    before = objective(value)
    slack = 1e-12 * (1 + np.abs(before))
    for _ in range(_HALVINGS):
        new = value + step
        worse = objective(new) < before - slack
        if not worse.any():
            return settle(new)
        step = np.where(worse, step / 2, step)
    step = np.where(objective(value + step) < before - slack, 0.0, step)
    return settle(value + step)


def step_ability(
    votes: Votes, right: NDArray[np.float64], ability: NDArray[np.float64], ease: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return abilities after one scoring step; ``right`` is P(answer is right), ``ease`` exp(log ease) per answer."""

    def objective(alpha: NDArray[np.float64]) -> NDArray[np.float64]:
        x = alpha[votes.worker] * ease
        # right * log s(x) + (1 - right) * log s(-x) = right * x + log s(-x)
        return votes.by_worker(right * x + log_sigmoid(-x)) - (alpha - 1) ** 2 / 2

    sigmoid = np.exp(log_sigmoid(ability[votes.worker] * ease))
    slope = votes.by_worker((right - sigmoid) * ease) - (ability - 1)
    curve = votes.by_worker(sigmoid * (1 - sigmoid) * ease**2) + 1
    return _safeguarded(ability, slope / curve, objective)


def step_ease(
    votes: Votes, right: NDArray[np.float64], log_ease: NDArray[np.float64], alpha: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return log eases after one scoring step; ``alpha`` is the ability of each answer's worker. Past tasks stay."""

    def objective(b: NDArray[np.float64]) -> NDArray[np.float64]:
        x = alpha * np.exp(b)[votes.task]
        return votes.by_task(right * x + log_sigmoid(-x)) - (b - 1) ** 2 / 2

    x = alpha * np.exp(log_ease)[votes.task]
    sigmoid = np.exp(log_sigmoid(x))
    slope = votes.by_task((right - sigmoid) * x) - (log_ease - 1)
    curve = votes.by_task(sigmoid * (1 - sigmoid) * x**2) + 1
    # A log ease moves by at most 1 a step: beyond that the scoring step says little.
    step = np.clip(slope / curve, -1.0, 1.0)
    step[votes.n_real :] = 0.0
    return _safeguarded(log_ease, step, objective)


def glad(
    votes: Votes, *, n_iter: int, tol: float, learn_classes: bool = False, progress: Progress | None = None
) -> GladFit:
    """Learn abilities and eases by EM, from ability 1 and log ease 1 (the prior means)."""
    k = votes.n_labels
    ability, log_ease = np.ones(votes.n_workers), np.ones(votes.n_tasks)
    share = np.full(k, 1.0 / k)
    posterior = votes.shares()
    history: list[float] = []
    while True:
        right = votes.right(posterior)
        if learn_classes:
            share = np.array([column.sum() for column in posterior[: votes.n_real].T]) / votes.n_real
        ability = step_ability(votes, right, ability, np.exp(log_ease)[votes.task])
        log_ease = step_ease(votes, right, log_ease, ability[votes.worker])
        with np.errstate(divide="ignore"):
            log_class = np.log(share)
        posterior, likelihood = expect(votes, glad_joint(votes, ability, log_ease, log_class))
        penalty = float(((ability - 1) ** 2).sum() + ((log_ease - 1) ** 2).sum()) / 2
        history.append(likelihood - penalty)
        if progress is not None:
            progress("iterations", len(history), n_iter)
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * votes.n_real
        if converged or len(history) >= n_iter:
            return GladFit(posterior, ability, log_ease, share, tuple(history), converged)
