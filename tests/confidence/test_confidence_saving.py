"""To disk and back: the same numbers, no pickle, and nothing from a file that does not fit together."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import skops.io

from hmc_crowd.confidence import (
    Calibrator,
    MaximumClassProbability,
    ProbabilityWithin,
    StackedConfidence,
    TrueClassProbability,
    TrustScore,
    load_confidence,
    save_confidence,
)
from hmc_crowd.errors import ModelError, StateError

if TYPE_CHECKING:
    from pathlib import Path


class Stranger:
    """A class that nobody has reason to trust."""

    def __init__(self) -> None:
        self.value = 1


@pytest.fixture
def data(rng: np.random.Generator) -> tuple[Any, Any, Any]:
    X = rng.normal(size=(200, 3))
    p = 1 / (1 + np.exp(-X[:, 0]))
    return X, np.array(["good", "bad"])[(rng.random(200) < p).astype(int)], np.stack([p, 1 - p], axis=1)


def fitted(data: tuple[Any, Any, Any]) -> dict[str, tuple[Any, Any]]:
    """Every kind of model, with what to ask it."""
    X, y, P = data
    small = TrueClassProbability("sklearn", width=4, epochs=2)
    trust = TrustScore(5, 0.1, "density").fit(X, y).set_bounds([0.5, 2.0])
    right = P.argmax(axis=1) == (y == "good")
    parts = {"mcp": MaximumClassProbability(), "trust_score": TrustScore(), "tcp": small}
    error = X[:, 1]
    return {
        "mcp": (MaximumClassProbability().fit(P, y), lambda m: m.confidence(P, y)),
        "trust_score": (trust, lambda m: m.confidence(X, y)),
        "tcp": (small.fit(X, y, probabilities=P), lambda m: m.confidence(X)),
        "calibrator": (Calibrator("isotonic").fit(P[:, 0], right), lambda m: m.transform(P[:, 0])),
        "within": (
            ProbabilityWithin(0.5, spread="learnt").fit(X, error, predicted=X[:, 0]),
            lambda m: m.confidence(X, X[:, 0]),
        ),
        "stack": (StackedConfidence(parts, folds=2).fit(X, y, probabilities=P), lambda m: m.confidence(X, P)),
    }


@pytest.mark.parametrize("name", ["mcp", "trust_score", "tcp", "calibrator", "within", "stack"])
def test_comes_back_as_it_was(name: str, data: tuple[Any, Any, Any], tmp_path: Path) -> None:
    model, ask = fitted(data)[name]
    save_confidence(model, tmp_path / "model.skops")
    again = load_confidence(tmp_path / "model.skops")
    assert ask(again).tolist() == ask(model).tolist()
    assert type(again) is type(model)
    assert again.to_bytes() == model.to_bytes() or load_confidence(again.to_bytes()) is not None
    assert [each.name for each in tmp_path.iterdir()] == ["model.skops"]


def test_a_stack_that_came_back_can_be_fitted_again(data: tuple[Any, Any, Any]) -> None:
    X, y, P = data
    stack = load_confidence(StackedConfidence(["mcp", "trust_score"], folds=2).fit(X, y, probabilities=P).to_bytes())
    before = stack.confidence(X, P).tolist()
    assert stack.fit(X, y, probabilities=P).confidence(X, P).tolist() == before


def test_the_file_holds_no_type_that_must_be_trusted(data: tuple[Any, Any, Any]) -> None:
    for model, _ in fitted(data).values():
        assert skops.io.get_untrusted_types(data=model.to_bytes()) == []


def test_what_is_not_fitted_is_not_saved(tmp_path: Path) -> None:
    for model in (MaximumClassProbability(), TrustScore(), TrueClassProbability(), Calibrator(), StackedConfidence()):
        with pytest.raises(StateError, match="first call fit"):
            save_confidence(model, tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


def test_a_class_of_ones_own_is_not_saved_here(tmp_path: Path) -> None:
    class Mine:
        pass

    with pytest.raises(ModelError, match="model is a Mine"):
        save_confidence(Mine(), tmp_path / "model.skops")


def with_changed(model: Any, change: Any) -> bytes:
    state = skops.io.loads(model.to_bytes(), trusted=[])
    change(state)
    return bytes(skops.io.dumps(state))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("trust_score", lambda s: s["state"]["points"].pop()),
        ("trust_score", lambda s: s["state"].update(bounds=[2.0, 1.0])),
        ("trust_score", lambda s: s["state"]["points"].__setitem__(0, np.full((5, 3), np.nan))),
        ("tcp", lambda s: s["state"]["network"]["weights"].pop()),
        ("calibrator", lambda s: s["state"]["fitted"].update(method="magic")),
        ("calibrator", lambda s: s["state"]["fitted"]["map"].update(y=np.array([1.0, 0.0]), x=np.array([0.0, 1.0]))),
        ("within", lambda s: s["state"].update(errors=np.array([2.0, 1.0]))),
        ("stack", lambda s: s["state"]["learnt"].update(weight=np.zeros(1))),
        ("mcp", lambda s: s.update(kind="Path")),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(name: str, change: Any, data: tuple[Any, Any, Any]) -> None:
    with pytest.raises(ModelError, match="does not fit together"):
        load_confidence(with_changed(fitted(data)[name][0], change))


def test_other_files_are_refused_in_a_sentence(tmp_path: Path) -> None:
    mcp = MaximumClassProbability().fit([[0.5, 0.5]] * 2, ["a", "b"])
    cases = {
        "format version 9": with_changed(mcp, lambda s: s.update(version=9)),
        "holds no confidence": bytes(skops.io.dumps({"a": 1})),
        "no confidence that can be read": pickle.dumps(mcp),
        "types that we never write": bytes(skops.io.dumps(Stranger())),
    }
    for said, content in cases.items():
        with pytest.raises(ModelError, match=said):
            load_confidence(content)
    with pytest.raises(ModelError, match="there is no such file"):
        load_confidence(tmp_path / "absent.skops")
