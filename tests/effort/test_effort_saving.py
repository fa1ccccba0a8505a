"""To bytes and back; files that are not ours."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

from hmc_crowd.effort import EffortModel
from hmc_crowd.effort import _persist as persist
from hmc_crowd.errors import ModelError


@pytest.fixture(params=["random_forest", "xgboost"])
def fitted(request, timed):
    if request.param == "xgboost":
        pytest.importorskip("xgboost")
    return EffortModel(request.param, n_estimators=5, features=["turns", "approval_ranking"]).fit(*timed)


@pytest.fixture
def forest(timed):
    return EffortModel(n_estimators=5).fit(*timed)


def rewritten(model: EffortModel, monkeypatch, **change: object) -> bytes:
    """The bytes of a model whose saved state was changed."""
    import skops.io

    real = skops.io.dumps
    monkeypatch.setattr(skops.io, "dumps", lambda state, **kw: real({**state, **change}, **kw))
    data = model.to_bytes()
    monkeypatch.undo()
    return data


def test_a_round_trip_predicts_the_same_to_the_last_bit(fitted, timed):
    X, _ = timed
    loaded = EffortModel.from_bytes(fitted.to_bytes())
    assert np.array_equal(loaded.predict(X), fitted.predict(X))
    assert np.array_equal(loaded.predict_share(X), fitted.predict_share(X))
    assert np.array_equal(loaded.predict_quantile(X, [0.5, 0.9]), fitted.predict_quantile(X, [0.5, 0.9]))


def test_a_round_trip_keeps_names_parameters_and_hash(fitted):
    loaded = EffortModel.from_bytes(fitted.to_bytes())
    assert loaded.get_params() == fitted.get_params()
    assert list(loaded.feature_names_in_) == ["turns", "approval_ranking"]
    for name in ("min_s_", "max_s_", "n_rows_", "data_hash_", "n_features_in_"):
        assert getattr(loaded, name) == getattr(fitted, name)
    assert loaded.feature_importances_ == pytest.approx(fitted.feature_importances_)


def test_a_model_fitted_on_an_array_comes_back(timed):
    X, seconds = timed
    model = EffortModel(n_estimators=3).fit(X.to_numpy(), seconds)
    loaded = EffortModel.from_bytes(model.to_bytes())
    assert np.array_equal(loaded.predict(X.to_numpy()), model.predict(X.to_numpy()))


def test_a_loaded_model_can_be_fitted_again(fitted, timed):
    X, seconds = timed
    assert EffortModel.from_bytes(fitted.to_bytes()).fit(X, seconds).data_hash_ == fitted.data_hash_


def test_there_is_no_pickle_inside(fitted):
    with zipfile.ZipFile(io.BytesIO(fitted.to_bytes())) as archive:
        names = archive.namelist()
        assert not [name for name in names if name.endswith((".pkl", ".pickle", ".joblib"))]
        for name in names:
            if name.endswith(".npy"):
                assert np.load(io.BytesIO(archive.read(name)), allow_pickle=False) is not None


def test_a_pickle_is_refused_unopened(monkeypatch):
    monkeypatch.setattr(pickle, "loads", lambda *_: pytest.fail("a pickle was opened"))
    with pytest.raises(ModelError, match="no effort model that can be read"):
        EffortModel.from_bytes(pickle.dumps({"a": 1}))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"hello", b"\x00" * 400])
def test_bytes_of_something_else_are_refused(data):
    with pytest.raises(ModelError, match="no effort model"):
        EffortModel.from_bytes(data)


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9, 0.999])
def test_a_file_cut_short_is_refused(forest, keep):
    data = forest.to_bytes()
    with pytest.raises(ModelError):
        EffortModel.from_bytes(data[: int(len(data) * keep)])


class Stranger:
    def __init__(self) -> None:
        self.told = "nothing"


def test_types_that_we_never_write_are_refused_by_name(forest, monkeypatch):
    with pytest.raises(ModelError, match=r"types that we never write: .*Stranger; do not use this file"):
        EffortModel.from_bytes(rewritten(forest, monkeypatch, extra=Stranger()))


def test_another_skops_file_is_refused():
    import skops.io

    with pytest.raises(ModelError, match="a skops file, but not an effort model"):
        EffortModel.from_bytes(skops.io.dumps(OrderedDict(format="something else")))


def test_a_newer_format_asks_for_an_upgrade(forest, monkeypatch):
    with pytest.raises(ModelError, match=r"format version 99, this code reads 1; upgrade hmc-crowd"):
        EffortModel.from_bytes(rewritten(forest, monkeypatch, version=99))


@pytest.mark.parametrize(
    "change",
    [
        {"core": {}},
        {"params": {"kind": "random_forest"}},
        {"params": {"kind": "random_forest", "quantiles": [2.0]}},
        {"params": {"trees": 3, "quantiles": [0.5]}},
        {"names": ["only one"]},
        {"min_s": 5.0, "max_s": 5.0},
        {"min_s": float("nan")},
        {"kind": "xgboost"},
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(forest, monkeypatch, change):
    with pytest.raises(ModelError, match=r"train the model again"):
        EffortModel.from_bytes(rewritten(forest, monkeypatch, **change))


@pytest.mark.parametrize("part", ["model", "spread"])
@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("left_child", 10**6, "outside itself"),
        ("right_child", -7, "outside itself"),
        ("left_child", 0, "outside itself"),
        ("feature", 50, "a feature that does not exist"),
        ("feature", -9, "a feature that does not exist"),
    ],
)
def test_a_tampered_tree_is_refused_before_it_can_crash(forest, part, field, value, words):
    tree = getattr(forest._core, part).estimators_[2].tree_
    state = tree.__getstate__()
    state["nodes"] = state["nodes"].copy()
    state["nodes"][field][0] = value
    tree.__setstate__(state)
    with pytest.raises(ModelError, match=f"not safe to use: a tree .*{words}"):
        EffortModel.from_bytes(forest.to_bytes())


@pytest.mark.parametrize("leaf", [-1, 10**6])
def test_leaves_out_of_range_are_refused(forest, leaf):
    forest._core.leaves[0, 0] = leaf
    with pytest.raises(ModelError, match="a leaf number is out of range"):
        EffortModel.from_bytes(forest.to_bytes())


def test_spoilt_booster_bytes_are_refused(timed, monkeypatch):
    pytest.importorskip("xgboost")
    model = EffortModel("xgboost", n_estimators=3).fit(*timed)
    core = {**model._core.state(), "mean": b"{not a booster"}
    with pytest.raises(ModelError, match="train the model again"):
        EffortModel.from_bytes(rewritten(model, monkeypatch, core=core))


def test_only_the_node_table_is_trusted_beyond_plain_types():
    assert persist.TRUSTED == ("sklearn.tree._tree.Tree",)
