"""How a learnt worker quality gets to disk and back without trusting the file: one skops container, never a pickle.

Only types that we write are let in; the trees of a forest are checked before use, boosted trees are xgboost's own JSON.
"""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path
from typing import Any

from hmc_crowd._base.containers import from_container, read_model_file, to_container
from hmc_crowd._base.private import write_private
from hmc_crowd.errors import ModelError, StateError
from hmc_crowd.quality._gate_trees import KINDS
from hmc_crowd.quality._quality_features import FEATURES
from hmc_crowd.quality._quality_model import QualityModelReport, WorkerQualityModel

__all__ = ["load_quality_model", "save_quality_model"]

_FORMAT = "hmc_crowd.quality.WorkerQualityModel 1"
_TRUSTED = ("sklearn.tree._tree.Tree",)


def save_quality_model(model: WorkerQualityModel, path: Path | str) -> None:
    """Write a fitted model to a file; a file half written never takes the place of a whole one.

    Raises
    ------
    StateError
        The model is not fitted.

    Examples
    --------
    See `load_quality_model`.
    """
    if not hasattr(model, "report_"):
        raise StateError("this WorkerQualityModel is not fitted; first call fit with outcomes")
    state = {
        "format": _FORMAT,
        "features": list(FEATURES),
        "kind": model.kind,
        "settings": [model.n_estimators, model.max_depth, model.seed, model.min_samples_leaf],
        "level": model.level,
        "trees": model.trees_.state(),
        "curve": list(model.curve_),
        "strength": model.strength_,
        "report": list(astuple(model.report_)),
    }
    write_private(Path(path), to_container(state))


def load_quality_model(path: Path | str) -> WorkerQualityModel:
    """Return the model that `save_quality_model` wrote; it predicts the same, and can be fitted anew.

    Raises
    ------
    ModelError
        Not such a file, one of another version, or one that holds what we never write.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> rows = np.repeat(np.arange(40), 10)
    >>> features = pd.DataFrame(rng.random((400, 7)), columns=list(FEATURES))
    >>> times = np.tile(pd.date_range("2026-01-05", periods=10, tz="UTC"), 40)
    >>> model = WorkerQualityModel(n_estimators=5).fit(features, rng.random(400) < 0.8, rows, times)
    >>> file = Path(tempfile.mkdtemp()) / "quality.skops"
    >>> save_quality_model(model, file)
    >>> load_quality_model(file).predict(features).equals(model.predict(features))
    True
    """
    state = _read(path)
    try:
        if state["format"] != _FORMAT or state["features"] != list(FEATURES):
            raise ValueError(f"format {state['format']!r} is not {_FORMAT!r}, or the features are others")
        estimators, depth, seed, leaf = map(int, state["settings"])
        model = WorkerQualityModel(
            state["kind"],
            n_estimators=estimators,
            max_depth=depth,
            seed=seed,
            min_samples_leaf=leaf,
            level=float(state["level"]),
        )
        model.trees_ = KINDS[model.kind].from_state(state["trees"], len(FEATURES))
        slope, shift = map(float, state["curve"])
        model.curve_, model.strength_ = (slope, shift), float(state["strength"])
        rows, workers, brier, brier_pool, left_out = state["report"]
        model.report_ = QualityModelReport(int(rows), int(workers), float(brier), float(brier_pool), int(left_out))
    except (ModelError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelError(f"{path} holds no worker quality that fits together ({error}); fit it again") from None
    return model


def _read(path: Path | str) -> Any:
    data = read_model_file(Path(path), wanted="give what save_quality_model wrote")
    try:
        return from_container(data, what="worker quality", wanted="fit it again", trusted=_TRUSTED)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
