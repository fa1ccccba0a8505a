"""The stack: better than its parts where they know different things, calibrated, and learnt on unseen items only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hmc_crowd.confidence import (
    Calibrator,
    MaximumClassProbability,
    StackedConfidence,
    TrustScore,
    calibration_error,
)
from hmc_crowd.errors import InputError, ModelError, StateError
from hmc_crowd.metrics import confidence_auc


class Region:
    """Knows the region where labels are flipped, and nothing of the margin."""

    reads = "features"

    def get_params(self) -> dict[str, Any]:
        return {}

    def fit(self, X: Any, y: Any, *, probabilities: Any = None, classes: Any = None) -> Region:
        return self

    def confidence(self, X: Any, predicted: Any) -> Any:
        return np.where(X[:, 1] > 1, 0.4, 0.8)


PARTS = {"mcp": MaximumClassProbability(), "trust_score": TrustScore(), "region": Region()}


def two_sources(rng: np.random.Generator, n: int) -> tuple[Any, Any, Any]:
    """Errors depend on the classifier's margin and on a region that it does not know of."""
    X = rng.normal(size=(n, 4))
    p = 1 / (1 + np.exp(-2 * X[:, 0]))
    y = (rng.random(n) < p).astype(int)
    flipped = (X[:, 1] > 1) & (rng.random(n) < 0.5)
    return X, np.where(flipped, 1 - y, y), np.stack([1 - p, p], axis=1)


def test_knows_more_than_each_of_its_parts_and_is_calibrated(rng: np.random.Generator) -> None:
    X, y, P = two_sources(rng, 4000)
    new, new_y, new_P = two_sources(rng, 4000)
    right = new_P.argmax(axis=1) == new_y
    stack = StackedConfidence(PARTS, folds=3).fit(X, y, probabilities=P)
    found = stack.confidence(new, new_P)
    single = {name: float(confidence_auc(each, right)) for name, each in stack.confidences(new, new_P).items()}
    assert float(confidence_auc(found, right)) > max(single.values())
    assert calibration_error(found, right).value < 0.05
    assert set(stack.weights_) == set(PARTS)


def test_what_it_kept_of_each_part_calibrates_that_part(rng: np.random.Generator) -> None:
    X, y, P = two_sources(rng, 3000)
    new, new_y, new_P = two_sources(rng, 3000)
    stack = StackedConfidence({"mcp": PARTS["mcp"], "trust_score": PARTS["trust_score"]}).fit(X, y, probabilities=P)
    right, new_right = P.argmax(axis=1) == y, new_P.argmax(axis=1) == new_y
    for name, raw in stack.confidences(new, new_P).items():
        assert ((raw >= 0) & (raw <= 1)).all()
        fixed = Calibrator().fit(stack.raw_[name], right).transform(raw)
        assert calibration_error(fixed, new_right).value < 0.05


def test_no_item_is_judged_by_a_fit_that_saw_it(rng: np.random.Generator) -> None:
    """A part that remembers what it was fitted on would be right everywhere if it were asked about the same items."""

    class Memory:
        reads = "features"

        def get_params(self) -> dict[str, Any]:
            return {}

        def fit(self, X: Any, y: Any, *, probabilities: Any = None, classes: Any = None) -> Memory:
            self.known = {tuple(row): label for row, label in zip(X, y, strict=True)}
            return self

        def confidence(self, X: Any, predicted: Any) -> Any:
            return np.array(
                [float(self.known.get(tuple(row), label) == label) for row, label in zip(X, predicted, strict=True)]
            )

    X, y, P = two_sources(rng, 200)
    stack = StackedConfidence({"memory": Memory()}).fit(X, y, probabilities=P)
    assert set(stack.raw_["memory"].tolist()) == {1.0}


def test_one_extreme_ratio_does_not_rule(rng: np.random.Generator) -> None:
    X, y, P = two_sources(rng, 600)
    X[:6] = X[0]  # duplicates: the second neighbour is at distance 0, and the ratio has no bound
    found = StackedConfidence({"trust_score": TrustScore()}).fit(X, y, probabilities=P).confidence(X, P)
    assert len(np.unique(found.round(3))) > 20


def test_repeats_itself_and_leaves_the_given_estimators_alone(rng: np.random.Generator) -> None:
    X, y, P = two_sources(rng, 300)
    own = {"trust_score": TrustScore(5)}
    first, again = (StackedConfidence(own).fit(X, y, probabilities=P).confidence(X, P).tolist() for _ in range(2))
    assert first == again
    assert not hasattr(own["trust_score"], "classes_")


def test_labels_may_be_words(rng: np.random.Generator) -> None:
    X, y, P = two_sources(rng, 300)
    words = np.array(["good", "bad"])
    stack = StackedConfidence(["mcp", "trust_score"]).fit(X, words[y], probabilities=P, classes=["good", "bad"])
    numbers = StackedConfidence(["mcp", "trust_score"]).fit(X, y, probabilities=P)
    np.testing.assert_allclose(stack.confidence(X, P), numbers.confidence(X, P))


def test_says_what_is_wrong(rng: np.random.Generator) -> None:
    X, y, P = two_sources(rng, 100)
    with pytest.raises(StateError, match="first call fit"):
        StackedConfidence().confidence(X, P)
    with pytest.raises(ModelError, match="100 of 100 labels are right"):
        StackedConfidence(["mcp"]).fit(X, P.argmax(axis=1), probabilities=P)
    with pytest.raises(InputError, match="estimators is empty"):
        StackedConfidence([]).fit(X, y, probabilities=P)
    with pytest.raises(InputError, match="99 rows"):
        StackedConfidence(["mcp"]).fit(X, y, probabilities=P[1:])
    with pytest.raises(InputError, match="folds is 1"):
        StackedConfidence(["mcp"], folds=1).fit(X, y, probabilities=P)
