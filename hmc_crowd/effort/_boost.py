"""Gradient-boosted trees (xgboost) as the second kind of effort model.

One booster for the mean and one, with the quantile objective, for the quantiles named at fit time. They are kept as
xgboost's own UBJSON bytes, so that nothing is ever pickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.extras import require
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []


def load_xgboost() -> Any:
    """Import xgboost, or say how to get it."""
    return require("xgboost", extra="boost", purpose="EffortModel(kind='xgboost')")


@dataclass(frozen=True, eq=False)
class Boosted:
    """Two fitted boosters."""

    mean: Any
    spread: Any
    at: tuple[float, ...]
    n_features: int

    @classmethod
    def fit(
        cls, X: NDArray[np.float64], seconds: NDArray[np.float64], weight: NDArray[np.float64] | None, params: Any
    ) -> Boosted:
        """Boost ``n_estimators`` rounds for the mean, and as many for the quantiles."""
        xgboost = load_xgboost()
        common = {
            "tree_method": "hist",
            "learning_rate": 0.1,
            "max_depth": 6,
            "min_child_weight": params.min_samples_leaf,
            "colsample_bynode": min(params.max_features, X.shape[1]) / X.shape[1],
            "seed": params.seed,
            "nthread": 1 if params.n_jobs is None else max(params.n_jobs, 0),
            "verbosity": 0,
        }
        rows = xgboost.QuantileDMatrix(X, seconds, weight=weight, nthread=common["nthread"])
        mean = xgboost.train(common | {"objective": "reg:squarederror"}, rows, params.n_estimators)
        at = tuple(sorted(params.quantiles))
        spread = None
        if at:
            asked = {"objective": "reg:quantileerror", "quantile_alpha": list(at)}
            spread = xgboost.train(common | asked, rows, params.n_estimators)
        return cls(mean, spread, at, X.shape[1])

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return mean seconds; never negative."""
        raw = self.mean.predict(load_xgboost().DMatrix(X))
        return np.maximum(np.asarray(raw, dtype=np.float64), 0.0)

    def quantiles(self, X: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return quantiles of seconds, shape (n, len(q)), for the ones that were fitted."""
        unknown = [each for each in q.tolist() if each not in self.at]
        if unknown:
            fitted = ", ".join(map(str, self.at)) or "none"
            raise InputError(
                f"q is {unknown[0]}, but boosted trees know only the quantiles they were fitted for ({fitted}); "
                "name it in quantiles= and fit again"
            )
        raw = np.asarray(self.spread.predict(load_xgboost().DMatrix(X)), dtype=np.float64).reshape(len(X), len(self.at))
        # Boosted quantiles can cross; putting them in order never makes them worse (Chernozhukov et al. 2010).
        ordered = np.maximum(np.sort(raw, axis=1), 0.0)
        return ordered[:, [self.at.index(each) for each in q.tolist()]]

    @property
    def importances(self) -> NDArray[np.float64]:
        """Share of the total gain by feature; sums to 1 where any split was made."""
        gain = self.mean.get_score(importance_type="total_gain")
        shares = np.array([gain.get(f"f{column}", 0.0) for column in range(self.n_features)], dtype=np.float64)
        return shares / shares.sum() if shares.sum() > 0 else shares

    def problems(self, n_features: int) -> str | None:
        """Say what does not fit together."""
        if self.n_features != n_features or self.mean.num_features() != n_features:
            return "the boosters have another number of features"
        return None

    def state(self) -> dict[str, Any]:
        """Return what must be saved: bytes and plain values."""
        spread = None if self.spread is None else bytes(self.spread.save_raw("ubj"))
        return {"mean": bytes(self.mean.save_raw("ubj")), "spread": spread, "at": list(self.at), "n": self.n_features}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Boosted:
        """Rebuild from `state`."""
        xgboost = load_xgboost()
        boosters = []
        for raw in (state["mean"], state["spread"]):
            booster = None if raw is None else xgboost.Booster()
            if booster is not None:
                booster.load_model(bytearray(raw))
            boosters.append(booster)
        return cls(boosters[0], boosters[1], tuple(state["at"]), state["n"])
