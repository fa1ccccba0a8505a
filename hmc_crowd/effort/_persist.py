"""How a fitted model gets to disk and back without trusting the file.

One skops container (a zip of plain values and arrays): never a pickle. Only the types listed here are let in;
anything else in the file is refused by name before it is built. scikit-learn's trees follow node numbers unchecked,
so a forest's numbers are checked before it is used. Boosted trees travel as xgboost's own bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.containers import from_container, to_container
from hmc_crowd.effort._boost import load_xgboost
from hmc_crowd.effort._forest import Forest
from hmc_crowd.effort._inputs import check_params
from hmc_crowd.effort._kinds import KINDS, Core
from hmc_crowd.errors import ModelError

if TYPE_CHECKING:
    from hmc_crowd.effort._model import EffortModel

__all__: list[str] = []

FORMAT = "hmc_crowd.effort.EffortModel"
VERSION = 1
# The node table of a tree: needed by every forest, and checked by Forest.problems after loading.
TRUSTED = ("sklearn.tree._tree.Tree",)


def dump_model(model: EffortModel) -> bytes:
    """Return the bytes of a fitted model."""
    import sklearn

    params = model.get_params() | {"quantiles": list(model.quantiles)}
    if params["features"] is not None and not isinstance(params["features"], str):
        params["features"] = list(params["features"])
    libraries = {"numpy": np.__version__, "scikit-learn": sklearn.__version__}
    if model.kind == "xgboost":
        libraries["xgboost"] = load_xgboost().__version__
    state = {
        "format": FORMAT,
        "version": VERSION,
        "libraries": libraries,
        "kind": next(kind for kind, core in KINDS.items() if isinstance(model._core, core)),
        "params": params,
        "names": None if model._names is None else list(model._names),
        "min_s": model.min_s_,
        "max_s": model.max_s_,
        "n_rows": model.n_rows_,
        "data_hash": model.data_hash_,
        "core": model._core.state(),
    }
    # Level 1: a fifth of the size in a quarter of the default level's time.
    return to_container(state)


def load_model(cls: type[EffortModel], data: bytes) -> EffortModel:
    """Return the model that these bytes hold, or raise ModelError."""
    state = from_container(
        bytes(data),
        what="effort model",
        wanted="give what EffortModel.to_bytes wrote, or train the model again",
        trusted=TRUSTED,
    )
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise ModelError("these bytes are a skops file, but not an effort model; give what EffortModel.to_bytes wrote")
    if state["version"] != VERSION:
        raise ModelError(
            f"the effort model has format version {state['version']}, this code reads {VERSION}; upgrade hmc-crowd "
            "or train the model again"
        )
    try:
        model = cls(**{**state["params"], "quantiles": tuple(state["params"]["quantiles"])})
        check_params(model, KINDS)
        core: Core = KINDS[state["kind"]].from_state(state["core"])
        names = None if state["names"] is None else tuple(state["names"])
        n_features = len(names) if names is not None else _count_features(core)
        wrong = core.problems(n_features)
        low, high = float(state["min_s"]), float(state["max_s"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelError(f"the effort model's file does not fit together ({error}); train the model again") from None
    if wrong is None and not (np.isfinite(low) and np.isfinite(high) and low < high):
        wrong = "the range of the training times is empty"
    if wrong is not None:
        raise ModelError(f"the effort model's file is not safe to use: {wrong}; train the model again")
    model._set_fitted(core, names, low, high, int(state["n_rows"]), str(state["data_hash"]))
    return model


def _count_features(core: Core) -> int:
    """Return the number of features the core was fitted on."""
    return int(core.model.n_features_in_) if isinstance(core, Forest) else core.n_features
