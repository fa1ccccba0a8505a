"""Trust score against k-d trees and scikit-learn's brute force; the quality of every confidence on real text.

Needs the offensive tweets (HMC_CROWD_DATA) and their features: those of the packaged encoder, cached in the folder
HMC_CROWD_EMBEDDINGS, or else an .npz file with an array X named by HMC_CROWD_FEATURES. Without them: random points of
the same shape, and no quality. HMC_CROWD_QUICK=1 leaves the k-d trees out (they take minutes). Asserts nothing.

Seconds are of the processor, all threads together, so that other work on the machine does not count;
OMP_NUM_THREADS=1 makes the comparison with the trees, which use one, a fair one.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
K, ALPHA = 10, 0.1


def timed(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    best, found = float("inf"), None
    for _ in range(repeats):
        started = time.process_time()
        found = work()
        best = min(best, time.process_time() - started)
    return best, found


def data() -> tuple[Any, Any, bool]:
    """Features and binary labels of all tweets, and whether they are real."""
    import pandas as pd

    file = Path(os.environ.get("HMC_CROWD_DATA", ROOT.parent / "shared" / "data")) / "offensive" / "tweets.csv"
    stored, cache = os.environ.get("HMC_CROWD_FEATURES"), os.environ.get("HMC_CROWD_EMBEDDINGS")
    if not file.is_file() or not (stored or cache):
        rng = np.random.default_rng(0)
        y = (rng.random(24_783) < 0.83).astype(int)
        X = rng.normal(size=(24_783, 384)) + 0.2 * y[:, None]
        return X / np.linalg.norm(X, axis=1, keepdims=True), y, False
    tweets = pd.read_csv(file)
    if stored:
        X = np.load(stored)["X"]
    else:
        from hmc_crowd.confidence import TextEncoder

        X = TextEncoder("minilm", cache=cache).transform(tweets["tweet"].astype(str).tolist())
    return X.astype(float), (tweets["class"] != 2).to_numpy().astype(int), True


class ByTrees:
    """The reference's way: a k-d tree for each class, and one for each density filter."""

    def fit(self, X: Any, y: Any) -> ByTrees:
        from sklearn.neighbors import KDTree

        self.trees = []
        for label in (0, 1):
            own = X[y == label]
            radius = KDTree(own).query(own, k=K)[0][:, -1]
            self.trees.append(KDTree(own[radius <= np.percentile(radius, (1 - ALPHA) * 100)]))
        return self

    def score(self, X: Any, predicted: Any) -> Any:
        distance = np.stack([tree.query(X, k=2)[0][:, -1] for tree in self.trees], axis=1)
        row = np.arange(len(X))
        return distance[row, 1 - predicted] / (distance[row, predicted] + 1e-12)


class ByBruteForce:
    """The same through scikit-learn's own brute-force neighbours."""

    def fit(self, X: Any, y: Any) -> ByBruteForce:
        from sklearn.neighbors import NearestNeighbors

        self.sets = []
        for label in (0, 1):
            own = X[y == label]
            radius = NearestNeighbors(n_neighbors=K, algorithm="brute").fit(own).kneighbors(own)[0][:, -1]
            kept = own[radius <= np.percentile(radius, (1 - ALPHA) * 100)]
            self.sets.append(NearestNeighbors(n_neighbors=2, algorithm="brute").fit(kept))
        return self

    def score(self, X: Any, predicted: Any) -> Any:
        distance = np.stack([each.kneighbors(X)[0][:, -1] for each in self.sets], axis=1)
        row = np.arange(len(X))
        return distance[row, 1 - predicted] / (distance[row, predicted] + 1e-12)


def speed(X: Any, y: Any, train: Any, test: Any, predicted: Any) -> list[tuple[str, str]]:
    """Fit with density filter and score, ours beside the two others."""
    from hmc_crowd.confidence import TrustScore

    rows = []
    fit_s, ours = timed(lambda: TrustScore(K, ALPHA, "density").fit(X[train], y[train]), 3)
    score_s, scores = timed(lambda: ours.score(X[test], predicted), 3)
    rows.append(("ours, density filter", f"fit {fit_s:.1f} s, score {score_s:.2f} s"))
    others: list[tuple[str, Any, int]] = [("brute force", ByBruteForce(), 3)]
    if not os.environ.get("HMC_CROWD_QUICK"):
        others.append(("k-d trees", ByTrees(), 1))
    for name, other, repeats in others:
        other_fit, _ = timed(lambda other=other: other.fit(X[train], y[train]), repeats)
        other_score, theirs = timed(lambda other=other: other.score(X[test], predicted), repeats)
        far = float(np.max(np.abs(scores - theirs) / np.maximum(theirs, 1)))
        rows.append(
            (
                f"scikit-learn's {name}",
                f"fit {other_fit:.1f} s ({other_fit / fit_s:.1f} x ours), score {other_score:.2f} s "
                f"({other_score / score_s:.1f} x ours); largest relative difference {far:.1e}",
            )
        )
    return rows


def quality(X: Any, y: Any, train: Any, test: Any) -> list[tuple[str, str]]:
    """Head, estimators and stack, as `examples/offensive_routing.py` does it."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    from hmc_crowd.confidence import (
        Calibrator,
        MaximumClassProbability,
        StackedConfidence,
        TrueClassProbability,
        TrustScore,
        compare_at_equal_share,
        confidence_report,
    )

    head, folds = LogisticRegression(max_iter=1000), StratifiedKFold(5, shuffle=True, random_state=0)
    unseen = cross_val_predict(head, X[train], y[train], cv=folds, method="predict_proba")
    given = head.fit(X[train], y[train]).predict_proba(X[test])
    right = given.argmax(axis=1) == y[test]
    parts = {
        "mcp": MaximumClassProbability(),
        "trust_score": TrustScore(),
        "tcp": TrueClassProbability(width=128, learning_rate=1e-3, batch_size=256),
    }
    seconds, stack = timed(lambda: StackedConfidence(parts).fit(X[train], y[train], probabilities=unseen))
    sure = stack.confidences(X[test], given)
    known = unseen.argmax(axis=1) == y[train]
    sure = {name: Calibrator().fit(stack.raw_[name], known).transform(raw) for name, raw in sure.items()}
    sure["stack"] = stack.confidence(X[test], given)
    rows = [("accuracy of the head", f"{right.mean():.4f}"), ("stack fitted in", f"{seconds:.0f} s of processor")]
    rows += [(f"quality of {name}", str(confidence_report(each, right, name=name))) for name, each in sure.items()]
    equal = compare_at_equal_share(sure, right, human_shares=[0.1, 0.3, 0.5], rng=np.random.default_rng(0))
    for row in equal.itertuples():
        rows.append(
            (
                f"{row.human_share:.0%} to people by {row.confidence}",
                f"accuracy {row.accuracy:.4f} [{row.low:.4f}, {row.high:.4f}], to mcp {row.difference:+.4f} "
                f"[{row.difference_low:+.4f}, {row.difference_high:+.4f}]",
            )
        )
    return rows


def main() -> list[tuple[str, str]]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    X, y, real = data()
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    predicted = LogisticRegression(max_iter=1000).fit(X[train], y[train]).predict(X[test])
    rows = [("points", f"{len(train):,} x {X.shape[1]}, {'tweets' if real else 'random'}; {len(test):,} to score")]
    rows += speed(X, y, train, test, predicted)
    return rows + (quality(X, y, train, test) if real else [])


if __name__ == "__main__":
    for what, value in main():
        print(f"{what}: {value}")
