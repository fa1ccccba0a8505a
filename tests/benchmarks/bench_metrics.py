"""How quick is each metric on a million rows, against the peer that has it? Prints times and ratios; asserts nothing.

A peer that is not installed is left out. "value" is ours without an interval, "with interval" the default call.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

N = 1_000_000


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    best = float("inf")
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


def modes_of_rest(row: list[int], left: int) -> list[int]:
    rest = row[:left] + row[left + 1 :]
    most = max(map(rest.count, rest))
    return [label for label in dict.fromkeys(rest) if rest.count(label) == most]


def enumerated(rows: list[list[int]]) -> float:
    """Algorithm 1 of the source as it reads, in floats: every annotation, every equally frequent label of the rest."""
    total = 0.0
    for row in rows:
        hit = 0.0
        for left, label in enumerate(row):
            modes = modes_of_rest(row, left)
            hit += (label in modes) / len(modes)
        total += hit / len(row)
    return total / len(rows)


def enumerated_exactly(rows: list[list[int]]) -> tuple[Fraction, Fraction, Fraction]:
    """What our result holds: the exact expectation, and the least and most that draws could give."""
    sums = [Fraction(0)] * 3
    for row in rows:
        found = [(label, modes_of_rest(row, left)) for left, label in enumerate(row)]
        parts = (
            sum((Fraction(label in modes, len(modes)) for label, modes in found), Fraction(0)),
            Fraction(sum(modes == [label] for label, modes in found)),
            Fraction(sum(label in modes for label, modes in found)),
        )
        sums = [total + part / len(row) for total, part in zip(sums, parts, strict=True)]
    exact, least, most = (total / len(rows) for total in sums)
    return exact, least, most


def all_draws(rows: list[list[int]]) -> float:
    """The expectation over random modes by going through every combination of draws of an item."""
    total = 0.0
    for row in rows:
        choices = [modes_of_rest(row, left) for left in range(len(row))]
        hits = [sum(map(int.__eq__, row, drawn)) for drawn in itertools.product(*choices)]
        total += sum(hits) / len(hits) / len(row)
    return total / len(rows)


def scores() -> list[tuple[str, float, float, float | None]]:
    from scipy import stats
    from sklearn import metrics as peer

    from hmc_crowd import metrics as m

    rng = np.random.default_rng(0)
    human = rng.integers(1, 7, N)
    system = np.clip(human + rng.integers(-1, 2, N), 1, 6)
    noisy = human + rng.normal(0, 1, N)
    confidence = rng.random(N)
    right = rng.random(N) < confidence
    pairs: list[tuple[str, Callable[..., Any], tuple[Any, ...], Callable[[], object] | None]] = [
        ("exact_agreement", m.exact_agreement, (human, system), lambda: peer.accuracy_score(human, system)),
        ("cohen_kappa", m.cohen_kappa, (human, system), lambda: peer.cohen_kappa_score(human, system)),
        (
            "quadratic_weighted_kappa",
            m.quadratic_weighted_kappa,
            (human, system),
            lambda: peer.cohen_kappa_score(human, system, weights="quadratic"),
        ),
        ("pearson", m.pearson, (human, noisy), lambda: stats.pearsonr(human, noisy)),
        ("mean_squared_error", m.mean_squared_error, (human, noisy), lambda: peer.mean_squared_error(human, noisy)),
        ("r2", m.r2, (human, noisy), lambda: peer.r2_score(human, noisy)),
        ("standardized_mean_difference", m.standardized_mean_difference, (human, noisy), None),
        ("prmse, two raters", m.prmse, (np.stack([human, system], 1), noisy), None),
        (
            "macro_scores",
            m.macro_scores,
            (human, system),
            lambda: peer.precision_recall_fscore_support(human, system, average="macro", zero_division=0),
        ),
        ("confidence_auc", m.confidence_auc, (confidence, right), lambda: peer.roc_auc_score(right, confidence)),
        ("risk_coverage", m.risk_coverage, (confidence, right), None),
    ]
    return [
        (
            name,
            seconds(lambda f=function, a=arguments: f(*a, interval="none")),  # type: ignore[misc]
            seconds(lambda f=function, a=arguments: f(*a)),  # type: ignore[misc]
            None if other is None else seconds(other, 3),
        )
        for name, function, arguments, other in pairs
    ]


def people() -> list[tuple[str, float, float, float | None]]:
    from scipy import stats

    from hmc_crowd import metrics as m

    rng = np.random.default_rng(1)
    table = np.clip(rng.integers(1, 6, N // 4)[:, None] + rng.integers(-1, 2, (N // 4, 4)), 1, 5).astype(float)
    holes = table.copy()
    holes[rng.random(table.shape) < 0.2] = np.nan
    outcomes = rng.choice(np.array(["win", "tie", "loss"]), N)
    lengths = rng.integers(1, 500, (2, N))
    words = outcomes.astype(object)
    labels = rng.random(N // 100) < 0.6
    rows: list[tuple[str, Callable[..., Any], dict[str, Any], Callable[[], object] | None]] = [
        *(
            (f"krippendorff_alpha, {level}", lambda k=level, **o: m.krippendorff_alpha(table, k, **o), {}, None)
            for level in ("nominal", "ordinal", "interval", "ratio")
        ),
        ("krippendorff_alpha, 20 % missing", lambda **o: m.krippendorff_alpha(holes, **o), {}, None),
        ("fleiss_kappa", lambda **o: m.fleiss_kappa(table, **o), {}, None),
        ("gwet_ac1", lambda **o: m.gwet_ac1(table, **o), {}, None),
        ("icc", lambda **o: m.icc(table, **o), {}, None),
        ("icc, 20 % missing", lambda **o: m.icc(holes, missing="use", **o), {}, None),
        ("percent_agreement", lambda **o: m.percent_agreement(table, **o), {}, None),
        ("leave_one_out_agreement", lambda **o: m.leave_one_out_agreement(table, **o), {}, None),
        ("expected_win_rate", lambda **o: m.expected_win_rate(outcomes, **o), {}, None),
        ("expected_win_rate, Python text", lambda **o: m.expected_win_rate(words, **o), {}, None),
        ("length_bias_rate", lambda **o: m.length_bias_rate(*lengths, outcomes, **o), {}, None),
    ]
    out = [
        (name, seconds(lambda f=work: f(interval="none"), 3), seconds(lambda f=work: f(), 3), None)  # type: ignore[misc]
        for name, work, _, _ in rows
    ]
    predictions = rng.random(N)
    ppi = seconds(lambda: m.ppi_mean(labels, predictions[: len(labels)], predictions), 3)
    x, y = rng.random((2, N))
    paired = seconds(lambda: m.paired_p_values({"a": x, "b": y}), 3)
    return [
        *out,
        ("ppi_mean", ppi, ppi, None),
        ("paired_p_values", paired, paired, seconds(lambda: stats.ttest_rel(x, y), 3)),
    ]


def leave_one_out() -> None:
    from hmc_crowd import metrics as m

    rng = np.random.default_rng(2)
    ways = {"in floats": enumerated, "exact, least, most": enumerated_exactly, "every draw": all_draws}
    print("\nleave-one-out agreement of items x 4 annotators (x: times ours)")
    for items in (1_752, 20_000, 200_000):
        table = rng.integers(0, 3, (items, 4))
        rows = table.tolist()
        ours = seconds(lambda t=table: m.leave_one_out_agreement(t))  # type: ignore[misc]
        told = f"{items:>9,} items: ours {ours:.5f} s"
        for name, work in ways.items():
            spent = seconds(lambda w=work, r=rows: w(r), 2)  # type: ignore[misc]
            told += f"; {name} {spent:.3f} s = {spent / ours:.0f} x"
        print(told)


def imports() -> None:
    code = (
        "import time, numpy, scipy; t = time.perf_counter(); import hmc_crowd.metrics; print(time.perf_counter() - t)"
    )
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(5)
    ]
    print(f"\nimport hmc_crowd.metrics beyond numpy and scipy: {min(runs):.3f} s (best of 5)")


def main() -> None:
    print(f"{N:,} rows or answers, best of several, seconds")
    print(f"{'what':<40}{'value':>10}{'with interval':>15}{'peer':>10}{'peer / value':>14}{'peer / all':>12}")
    for name, value, whole, other in [*scores(), *people()]:
        told = "" if other is None else f"{other:>10.4f}{other / value:>14.2f}{other / whole:>12.2f}"
        print(f"{name:<40}{value:>10.4f}{whole:>15.4f}{told}")
    leave_one_out()
    imports()


if __name__ == "__main__":
    main()
