"""Worlds with known truth for agreement, preference, reliability and inference, to count how often it is covered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd import metrics as m

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LARGE = 200_000


@dataclass(frozen=True)
class World:
    """A metric on samples of `n` rows; the truth is its value on very large samples unless it is known."""

    name: str
    draw: Callable[[int, np.random.Generator], tuple[Any, ...]]
    metric: Callable[..., Any]
    n: int = 200
    truth: float | None = None

    def target(self) -> float:
        if self.truth is not None:
            return self.truth
        rng = np.random.default_rng(77)
        return float(np.mean([self.value(self.metric(*self.draw(LARGE, rng))) for _ in range(3)]))

    @staticmethod
    def value(found: Any) -> float:
        return float(found.area if isinstance(found, m.RiskCoverage) else found.value)

    def coverage(self, runs: int, seed: int = 1) -> float:
        rng, target = np.random.default_rng(seed), self.target()
        hits = 0
        for _ in range(runs):
            found = self.metric(*self.draw(self.n, rng))
            hits += found.low is not None and found.high is not None and found.low <= target <= found.high
        return hits / runs


def ratings(
    shares: list[float], error: float, raters: int = 3, holes: float = 0.2, near: bool = False
) -> Callable[[int, np.random.Generator], tuple[NDArray[np.float64]]]:
    """Units with a true label, which each rater sees; in error any label (or a neighbour) is said."""

    def draw(n: int, rng: np.random.Generator) -> tuple[NDArray[np.float64]]:
        size = len(shares)
        true = rng.choice(size, n, p=shares)[:, None]
        wrong = rng.random((n, raters)) < error
        other = (
            np.clip(true + rng.choice([-1, 1], (n, raters)), 0, size - 1)
            if near
            else rng.integers(0, size, (n, raters))
        )
        table = np.where(wrong, other, true) + 1.0
        table[rng.random(table.shape) < holes] = np.nan
        return (table,)

    return draw


def normal(n: int, rng: np.random.Generator) -> tuple[NDArray[np.float64]]:
    """Continuous scores of four raters with their own offsets drawn anew; ICC 1 / 2.25, 1 / 2 in consistency."""
    return (rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(1, 4)) + rng.normal(size=(n, 4)),)


def plain_normal(n: int, rng: np.random.Generator) -> tuple[NDArray[np.float64]]:
    table = rng.normal(size=(n, 1)) + rng.normal(size=(n, 4))
    table[rng.random(table.shape) < 0.3] = np.nan
    return (table,)


def outcomes(win: float, tie: float) -> Callable[[int, np.random.Generator], tuple[Any, ...]]:
    def draw(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
        return (rng.choice(np.array(["win", "tie", "loss"]), n, p=[win, tie, 1 - win - tie]),)

    return draw


def clustered_outcomes(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Four judgements of each instruction, which share its difficulty."""
    instruction = np.arange(n) // 4
    easy = rng.normal(0, 1.5, n // 4 + 1)[instruction]
    win = rng.random(n) < 1 / (1 + np.exp(-easy - 0.3))
    return np.where(win, "win", "loss"), instruction


def judged(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Four people and a judge, each right with .8."""
    true = rng.integers(0, 3, n)[:, None]
    table = np.where(rng.random((n, 5)) < 0.8, true, rng.integers(0, 3, (n, 5)))
    return table[:, :4], table[:, 4]


def labelled(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Four classes of unequal size, 80 % right."""
    truth = rng.choice(4, n, p=[0.5, 0.25, 0.15, 0.1])
    return truth, np.where(rng.random(n) < 0.75, truth, rng.integers(0, 4, n))


def confident(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    confidence = rng.beta(4, 1.5, n)
    return confidence, rng.random(n) < confidence


def powered(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """n labels with mean .55 and five times as many predictions that are wrong in a fifth of the cases."""
    truth = rng.random(6 * n) < 0.55
    machine = np.where(rng.random(6 * n) < 0.8, truth, ~truth).astype(float)
    return truth[:n].astype(float), machine[:n], machine[n:]


def crossed(items: int, workers: int, per_item: int) -> Callable[[int, np.random.Generator], tuple[Any, ...]]:
    """Answers right or wrong, by the item's ease and the worker's skill; `per_item` workers answer each item."""

    def draw(n: int, rng: np.random.Generator) -> tuple[Any, ...]:
        ease, skill = rng.normal(0, 0.8, items), rng.normal(0, 0.6, workers)
        worker = np.argsort(rng.random((items, workers)), axis=1)[:, :per_item]
        item = np.repeat(np.arange(items), per_item)
        logit = 0.9 + ease[item] + skill[worker.ravel()]
        right = rng.random(len(item)) < 1 / (1 + np.exp(-logit))
        return np.where(right, "win", "loss"), item, worker.ravel()

    return draw


def crossed_truth() -> float:
    rng = np.random.default_rng(5)
    return float(np.mean(1 / (1 + np.exp(-(0.9 + rng.normal(0, 1, 4_000_000))))))


def field(name: str) -> Callable[..., Any]:
    def metric(truth: Any, guess: Any) -> Any:
        return m.reliability(truth, guess).metrics[name]

    return metric


def two_way(kind: str) -> Callable[..., Any]:
    def metric(result: Any, item: Any, worker: Any) -> Any:
        return m.expected_win_rate(result, clusters={"item": item, "worker": worker}, interval=kind, n_boot=400)

    return metric


EVEN, SKEWED = [0.3, 0.3, 0.2, 0.2], [0.85, 0.15]
WORLDS = [
    World("alpha nominal", ratings(EVEN, 0.3), m.krippendorff_alpha),
    World("alpha nominal, skewed", ratings(SKEWED, 0.15), m.krippendorff_alpha),
    World("alpha nominal, high", ratings(EVEN, 0.05), m.krippendorff_alpha),
    World("alpha ordinal", ratings(EVEN, 0.5, near=True), lambda t: m.krippendorff_alpha(t, "ordinal")),
    World("alpha interval", ratings(EVEN, 0.5, near=True), lambda t: m.krippendorff_alpha(t, "interval")),
    World("alpha ratio", ratings(EVEN, 0.5, near=True), lambda t: m.krippendorff_alpha(t, "ratio")),
    World("alpha interval, normal", plain_normal, lambda t: m.krippendorff_alpha(t, "interval")),
    World("Fleiss kappa", ratings(EVEN, 0.3), m.fleiss_kappa),
    World("Conger kappa", ratings(EVEN, 0.3), m.conger_kappa),
    World("AC1, skewed", ratings(SKEWED, 0.15), m.gwet_ac1),
    World("AC2 ordinal", ratings(EVEN, 0.5, near=True), m.gwet_ac2),
    World("percent agreement", ratings(EVEN, 0.3), m.percent_agreement),
    World("ICC(A,1)", normal, lambda t: m.icc(t, "ICC(A,1)"), truth=1 / 2.25),
    World("ICC(C,1)", normal, lambda t: m.icc(t, "ICC(C,1)"), truth=1 / 2),
    World("ICC(C,1) with holes", plain_normal, lambda t: m.icc(t, "ICC(C,1)", missing="use"), truth=1 / 2),
    World("ICC(1,1) with holes", plain_normal, lambda t: m.icc(t, "ICC(1,1)", missing="use"), truth=1 / 2),
    World("leave-one-out inner", judged, lambda t, _: m.leave_one_out_agreement(t)),
    World("leave-one-out outer", judged, m.leave_one_out_agreement),
    World("win rate", outcomes(0.4, 0.1), m.expected_win_rate, truth=0.45),
    World("win rate .96", outcomes(0.95, 0.02), m.expected_win_rate, truth=0.96),
    World("win rate, clusters", clustered_outcomes, lambda o, c: m.expected_win_rate(o, clusters=c)),
    World("accuracy", labelled, field("accuracy")),
    World("macro precision", labelled, field("precision")),
    World("macro recall", labelled, field("recall")),
    World("macro F1", labelled, field("f1")),
    World("AUC of confidence", confident, m.confidence_auc),
    World("top-half accuracy", confident, m.top_k_accuracy),
    World("risk-coverage area", confident, m.risk_coverage),
    World("PPI mean", powered, m.ppi_mean, truth=0.55),
    World("PPI mean, 30 labels", powered, lambda *a: m.ppi_mean(*a, small_sample=True), n=30, truth=0.55),
]
TWO_WAY = [
    World(f"two-way {kind}, {workers} x {items}", crossed(items, workers, 3), two_way(kind), truth=crossed_truth())
    for workers, items in ((12, 500), (100, 1000))
    for kind in ("analytic", "bootstrap")
]
