"""Every estimator that the package exports can be cloned by scikit-learn, whatever its parameters are."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import hmc_crowd
from hmc_crowd.aggregation import (
    EBCC,
    IBCC,
    MACE,
    CombinedConfidence,
    DawidSkene,
    LocalEngine,
    NumericAggregator,
    WeightedMajorityVote,
)
from hmc_crowd.aggregation._bcc_core import BccPrior
from hmc_crowd.errors import InputError
from hmc_crowd.quality import ComplexityModel, GateCosts, LearnedGate, WorkerQualityModel


def exported_estimators() -> list[Any]:
    """Return every exported class that is fitted: not the protocols, nor what a class method makes."""
    found = {}
    for module in pkgutil.walk_packages(hmc_crowd.__path__, "hmc_crowd."):
        if any(part.startswith("_") for part in module.name.split(".")) or "cli" in module.name:
            continue
        package = importlib.import_module(module.name)
        for name in getattr(package, "__all__", ()):
            each = getattr(package, name)
            is_fitted = inspect.isclass(each) and inspect.isfunction(getattr(each, "fit", None))
            if is_fitted and not getattr(each, "_is_protocol", False):
                found[f"{each.__module__}.{name}"] = each
    return [pytest.param(found[name], id=found[name].__name__) for name in sorted(found)]


ESTIMATORS = exported_estimators()
CHANGED = [
    DawidSkene(50, tol=1e-4, prior=2, tie="most_common", repeats="all", engine="numpy"),
    DawidSkene(engine=LocalEngine("numpy")),
    IBCC(prior=BccPrior()),
    EBCC(n_subtypes=3, random_state=np.random.default_rng(3)),
    MACE(3, method="em", random_state=7),
    NumericAggregator([3, 1, 2]),
    NumericAggregator(pd.Index(["low", "high"])),
    CombinedConfidence(strength=2),
    WeightedMajorityVote({"ann": 0.9}),
    ComplexityModel(folds=3, seed=4),
    LearnedGate("random_forest", costs=GateCosts(error=3.0), weighted=True),
    LearnedGate(threshold=1, features=["n_answers"]),
    WorkerQualityModel("xgboost", n_estimators=7),
]


def same(one: Any, other: Any) -> bool:
    if isinstance(one, pd.Index):
        return bool(one.equals(other))
    if type(one).__module__.startswith("numpy.random") or isinstance(one, LocalEngine):
        return type(one) is type(other)
    return bool(one == other)


def test_there_are_many_of_them() -> None:
    names = {each.id for each in ESTIMATORS}
    assert {"DawidSkene", "MajorityVote", "NumericAggregator", "EffortModel", "TrustScore", "LearnedGate"} <= names
    assert len(names) >= 25


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_every_estimator_is_cloned_with_its_defaults(kind: Any) -> None:
    made = kind()
    copy = clone(made)
    assert type(copy) is kind
    assert all(same(value, copy.get_params()[name]) for name, value in made.get_params().items())
    # scikit-learn asks of every parameter that it can be read back by the name that the constructor gives it.
    assert set(made.get_params()) == set(inspect.signature(kind).parameters)


@pytest.mark.parametrize("made", CHANGED, ids=lambda each: type(each).__name__)
def test_every_parameter_comes_along(made: Any) -> None:
    copy = clone(clone(made))
    assert all(same(value, copy.get_params()[name]) for name, value in made.get_params().items())
    assert repr(copy).partition(" at ")[0] == repr(made).partition(" at ")[0]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parameters_are_set_by_name_and_unknown_ones_refused(kind: Any) -> None:
    made = kind()
    assert made.set_params(**made.get_params()) is made
    with pytest.raises(InputError, match="has no parameter 'moon'"):
        made.set_params(moon=1)


def test_a_clone_has_learnt_nothing_and_learns_the_same() -> None:
    answers = pd.DataFrame(
        [(t, w, t % 2 if w != "eve" else 1 - t % 2) for t in range(8) for w in ("ann", "bob", "eve")],
        columns=["task", "worker", "label"],
    )
    first = DawidSkene(tol=1e-5).fit(answers)
    copy = clone(first)
    assert not hasattr(copy, "labels_")
    pd.testing.assert_frame_equal(copy.fit(answers).probabilities_, first.probabilities_)


def test_a_gate_follows_its_costs_unless_a_threshold_was_given() -> None:
    assert clone(LearnedGate()).set_params(costs=GateCosts(error=4.0)).threshold == GateCosts(error=4.0).threshold
    assert clone(LearnedGate(threshold=0.3)).set_params(costs=GateCosts(error=4.0)).threshold == 0.3
