"""Maximum class probability, true class probability, and the edge where estimators plug in."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from hmc_crowd.confidence import (
    ConfidenceEstimator,
    MaximumClassProbability,
    TrueClassProbability,
    TrustScore,
    confidence_estimator,
    confidence_names,
    register_confidence,
)
from hmc_crowd.confidence._network import Network
from hmc_crowd.errors import InputError, MissingExtraError, ModelError, StateError
from hmc_crowd.metrics import confidence_auc

BACKENDS = [
    "sklearn",
    pytest.param("torch", marks=pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")),
]


def world(rng: np.random.Generator, n: int = 1500) -> tuple[Any, Any, Any]:
    """A classifier that is right about the first feature, and noise where the second is large."""
    X = rng.normal(size=(n, 3))
    noise = np.where(X[:, 1] > 0.5, 3.0, 0.3)
    y = (X[:, 0] + noise * rng.normal(size=n) > 0).astype(int)
    p = 1 / (1 + np.exp(-3 * X[:, 0]))
    return X, y, np.stack([1 - p, p], axis=1)


@pytest.mark.parametrize("name", ["mcp", "tcp", "trust_score"])
def test_every_registered_method_keeps_the_protocol(name: str) -> None:
    assert isinstance(confidence_estimator(name), ConfidenceEstimator)
    assert name in confidence_names()


def test_a_method_of_ones_own_joins_by_name() -> None:
    @register_confidence("test_half")
    class Half:
        reads = "features"

        def fit(self, X: Any, y: Any, *, probabilities: Any = None, classes: Any = None) -> Half:
            return self

        def confidence(self, X: Any, predicted: Any) -> Any:
            return np.full(len(X), 0.5)

    assert confidence_estimator("test_half").confidence([[1.0]], ["a"]).tolist() == [0.5]


def test_a_taken_name_or_an_incomplete_class_is_refused() -> None:
    class Other:
        reads = "features"
        fit = confidence = None

    with pytest.raises(InputError, match="MaximumClassProbability has"):
        register_confidence("mcp")(Other)
    with pytest.raises(InputError, match="lacks reads, fit, confidence"):
        register_confidence("test_nothing")(int)
    with pytest.raises(InputError, match="the estimators are"):
        confidence_estimator("mpc")


def test_parameters_in_scikit_learns_manner() -> None:
    trust = TrustScore(5, filtering="density").set_params(alpha=0.1)
    assert trust.get_params()["alpha"] == 0.1
    assert repr(trust) == "TrustScore(k=5, alpha=0.1, filtering='density')"
    with pytest.raises(InputError, match="no parameter 'beta'"):
        trust.set_params(beta=1)


def test_maximum_class_probability_follows_the_predicted_label_not_the_largest() -> None:
    mcp = MaximumClassProbability().fit([[0.5, 0.2, 0.3]], ["x"], classes=["x", "y", "z"])
    assert mcp.confidence([[0.5, 0.2, 0.3], [0.1, 0.1, 0.8]], ["z", "z"]).tolist() == [0.3, 0.8]
    assert mcp.confidence([[0.5, 0.2, 0.3]]).tolist() == [0.5]


@pytest.mark.parametrize(
    ("P", "predicted", "said"),
    [
        ([[0.7, 0.7]], ["a"], r"sum to 1.*row 0 \(1.4\)"),
        ([[1.5, -0.5]], ["a"], "at least 0"),
        ([[0.7, 0.3]], ["c"], "none of the classes"),
        ([[0.7, 0.3]], ["a", "b"], "2 rows"),
        ([[0.2, 0.3, 0.5]], ["a"], "3 columns but 2"),
        ([0.7, 0.3], ["a"], "shape"),
    ],
)
def test_wrong_probabilities_are_named(P: Any, predicted: Any, said: str) -> None:
    mcp = MaximumClassProbability().fit([[0.9, 0.1], [0.2, 0.8]], ["a", "b"])
    with pytest.raises(InputError, match=said):
        mcp.confidence(P, predicted)


def test_columns_and_classes_must_match() -> None:
    with pytest.raises(InputError, match="give classes="):
        MaximumClassProbability().fit([[0.2, 0.3, 0.5]], ["a"])
    with pytest.raises(StateError, match="first call fit"):
        MaximumClassProbability().confidence([[0.2, 0.8]], ["a"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_true_class_probability_finds_where_the_classifier_fails(backend: str, rng: np.random.Generator) -> None:
    X, y, P = world(rng)
    tcp = TrueClassProbability(backend, width=16, learning_rate=0.005).fit(X[:1000], y[:1000], probabilities=P[:1000])
    right = P[1000:].argmax(axis=1) == y[1000:]
    assert float(confidence_auc(tcp.confidence(X[1000:]), right)) > 0.7
    # Where noise is large the true class is improbable, wherever the classifier stands.
    assert tcp.confidence([[1.5, 2.0, 0.0]])[0] < tcp.confidence([[1.5, -1.0, 0.0]])[0]
    assert tcp.backend_ == backend


@pytest.mark.parametrize("backend", BACKENDS)
def test_true_class_probability_repeats_itself(backend: str, rng: np.random.Generator) -> None:
    X, y, P = world(rng, 200)
    first, again = (
        TrueClassProbability(backend, width=8, epochs=3, seed=4).fit(X, y, probabilities=P).confidence(X)
        for _ in range(2)
    )
    assert first.tolist() == again.tolist()
    assert ((first > 0) & (first < 1)).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_training_stops_when_nothing_improves(backend: str, rng: np.random.Generator) -> None:
    X = rng.normal(size=(200, 2))
    y = rng.integers(0, 2, 200)
    p = rng.random(200)  # nothing to learn: what fits the training items does not fit the held-out ones
    P = np.stack([1 - p, p], axis=1)
    tcp = TrueClassProbability(backend, width=64, learning_rate=0.01, patience=2).fit(X, y, probabilities=P)
    assert tcp.epochs_ < 30


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_training_leaves_the_generator_of_torch_alone(rng: np.random.Generator) -> None:
    import torch

    X, y, P = world(rng, 50)
    torch.manual_seed(1)
    expected = torch.rand(1).item()
    torch.manual_seed(1)
    TrueClassProbability("torch", width=4, epochs=1).fit(X, y, probabilities=P)
    assert torch.rand(1).item() == expected


def test_the_papers_network_has_the_papers_size() -> None:
    # 768 features: four layers 768 x 768 and one 768 x 1, with shifts: 4 (768^2 + 768) + 768 + 1 = 2,363,137.
    weights = [np.zeros((768, 768), dtype=np.float32)] * 4 + [np.zeros((768, 1), dtype=np.float32)]
    shifts = [np.zeros(768, dtype=np.float32)] * 4 + [np.zeros(1, dtype=np.float32)]
    assert Network(weights, shifts, np.zeros(768), np.ones(768), 1).n_parameters == 2_363_137


def test_without_torch_the_message_is_the_pip_line(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    X, y, P = world(rng, 50)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*'torch>=2"):
        TrueClassProbability("torch").fit(X, y, probabilities=P)


def test_true_class_probability_says_what_it_lacks(rng: np.random.Generator) -> None:
    X, y, P = world(rng, 50)
    with pytest.raises(InputError, match="probabilities is None"):
        TrueClassProbability().fit(X, y)
    with pytest.raises(ModelError, match="there are 10 items"):
        TrueClassProbability().fit(X[:10], y[:10], probabilities=P[:10], classes=[0, 1])
    with pytest.raises(InputError, match="backend is 'jax'"):
        TrueClassProbability("jax").fit(X, y, probabilities=P)
    with pytest.raises(InputError, match="epochs is 0"):
        TrueClassProbability(epochs=0).fit(X, y, probabilities=P)
