"""MACE's arithmetic: a worker knows the answer with probability theta, else spams by a habit xi of his own.

Source: Hovy et al. (2013), "Learning Whom to Trust with MACE". P(a | truth) = theta [a = truth] + (1 - theta) xi_a, the
truth even over the labels. Variational Bayes with Beta priors on theta and Dirichlet priors on xi (or EM with
pseudo-counts). The objective, the evidence bound or the penalised log-likelihood, is once per task and never falls.

Restarts begin at trust profiles drawn per *kind* of worker (`structural_noise`): they differ from one another, and
renaming workers changes none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from hmc_crowd.aggregation._votes import expect, settle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._votes import Votes

__all__ = ["MaceFit", "MacePrior", "kinds_of", "mace", "structural_noise"]


@dataclass(frozen=True)
class MacePrior:
    """Pseudo-counts: ``know`` and ``spam`` of theta, ``habit`` of each entry of xi."""

    know: float = 0.5
    spam: float = 0.5
    habit: float = 10.0


@dataclass(frozen=True)
class MaceFit:
    """``posterior`` (n_tasks, K) belongs to ``trust`` (n_workers,) and ``habit`` (n_workers, K)."""

    posterior: NDArray[np.float64]
    trust: NDArray[np.float64]
    habit: NDArray[np.float64]
    history: tuple[float, ...]
    converged: bool


def kinds_of(features: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rank of each row of ``features`` (n, n_features) among the distinct ones: what names do not decide.

    Features are rounded to 9 digits first, since their last bits depend on the order of sums.
    """
    _, place = np.unique(np.round(features, 9), axis=0, return_inverse=True)
    return np.asarray(place.ravel(), dtype=np.intp)


def structural_noise(kinds: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return uniform draws in [0, 1), one for each kind (see `kinds_of`), shape (n,).

    Equal kinds get equal draws and draws are dealt in their order: a name or a place in a table never decides.
    """
    result: NDArray[np.float64] = rng.random(int(kinds.max()) + 1)[kinds]
    return result


def _log_tables(
    know: NDArray[np.float64], spam: NDArray[np.float64], habit: NDArray[np.float64], *, bayes: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return log theta, log(1 - theta), log xi: geometric means under the posterior, or the normalised counts."""
    if bayes:
        from scipy.special import digamma

        total = digamma(know + spam)
        return digamma(know) - total, digamma(spam) - total, digamma(habit) - digamma(habit.sum(axis=1))[:, None]
    total = know + spam
    with np.errstate(divide="ignore"):
        return (
            np.maximum(np.log(know / total), -700.0),
            np.maximum(np.log(spam / total), -700.0),
            np.maximum(np.log(habit / habit.sum(axis=1, keepdims=True)), -700.0),
        )


def _divergence(counts: NDArray[np.float64], prior: NDArray[np.float64]) -> float:
    """Return the sum of KL(Dirichlet(counts) || Dirichlet(prior)) over rows."""
    from scipy.special import digamma, gammaln

    total, base = counts.sum(axis=1), prior.sum(axis=1)
    norm = gammaln(total) - gammaln(counts).sum(axis=1) - gammaln(base) + gammaln(prior).sum(axis=1)
    return float((norm + ((counts - prior) * (digamma(counts) - digamma(total)[:, None])).sum(axis=1)).sum())


def mace(
    votes: Votes,
    trust: NDArray[np.float64],
    *,
    prior: MacePrior,
    n_iter: int,
    tol: float,
    progress: Progress | None = None,
    method: Literal["vb", "em"] = "vb",
) -> MaceFit:
    """Iterate from ``trust``, the share of answers per worker (n_workers,) first taken as known."""
    k, bayes = votes.n_labels, method == "vb"
    ones = np.ones(len(votes.task))
    chosen = votes.by_choice(ones)
    base = np.array([prior.know, prior.spam])
    known = trust * votes.answered
    spammed = chosen * (1 - trust)[:, None]
    history: list[float] = []
    while True:
        know, spam, habit = base[0] + known, base[1] + votes.answered - known, prior.habit + spammed
        log_know, log_spam, log_habit = _log_tables(know, spam, habit, bayes=bayes)
        by_habit = (log_spam[:, None] + log_habit).ravel()[votes.choice]
        gain = np.logaddexp(log_know[votes.worker] - by_habit, 0.0)
        joint = votes.by_cell(gain)
        joint += votes.by_task(by_habit)[:, None]
        joint[: votes.n_real] -= np.log(k)
        posterior, likelihood = expect(votes, joint)
        if bayes:
            likelihood -= _divergence(np.stack((know, spam), axis=1), np.broadcast_to(base, (votes.n_workers, 2)))
            likelihood -= _divergence(habit, np.full_like(habit, prior.habit))
        else:
            likelihood += float(np.sum(base[0] * log_know + base[1] * log_spam) + prior.habit * log_habit.sum())
        history.append(likelihood)
        if progress is not None:
            progress("iterations", len(history), n_iter)
        converged = len(history) > 1 and history[-1] - history[-2] <= tol * votes.n_real
        if converged or len(history) >= n_iter:
            return MaceFit(
                posterior, know / (know + spam), habit / habit.sum(axis=1, keepdims=True), tuple(history), converged
            )
        # Of the right answers, the share that was knowledge: theta / (theta + (1 - theta) xi) = 1 - exp(-gain).
        informed = votes.right(posterior) * -np.expm1(-gain)
        known = settle(votes.by_worker(informed))
        spammed = settle(votes.by_choice(ones - informed))
