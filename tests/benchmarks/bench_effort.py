"""How quick is the effort model against the bare library? Prints times and ratios; asserts nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


def seconds_of(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def grown(X: pd.DataFrame, seconds: np.ndarray, base_fit: float) -> list[tuple[str, float, float | None]]:
    """Time the model on log seconds: 6,000 rows of 300 workers, and with a tenth of the times cut off."""
    from hmc_crowd.effort import EffortModel

    who = np.arange(len(X)) % 300
    limit = float(np.quantile(seconds, 0.9))
    done, model = seconds <= limit, EffortModel("log_time")
    fit = seconds_of(lambda: model.fit(X, seconds, workers=who))
    return [
        ("log_time: fit, calibrated over workers", fit, base_fit),
        (
            "log_time: fit without spread",
            seconds_of(lambda: EffortModel("log_time", quantiles=()).fit(X, seconds, workers=who)),
            base_fit,
        ),
        (
            "log_time: fit without spread, a tenth cut off",
            seconds_of(lambda: EffortModel("log_time", quantiles=()).fit(X, np.minimum(seconds, limit), finished=done)),
            base_fit,
        ),
        ("log_time: predict, 6,000 rows", seconds_of(lambda: model.predict(X)), None),
        ("log_time: P50 and P90, 6,000 rows", seconds_of(lambda: model.predict_quantile(X, [0.5, 0.9])), None),
    ]


def main() -> None:
    import pandas as pd
    from sklearn.ensemble import RandomForestRegressor

    from hmc_crowd.effort import EffortModel, count_tokens, dialogue_features, fit_setup_marginal

    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(6000, 12)), columns=[f"f{k}" for k in range(12)])
    seconds = np.exp(4 + 0.5 * X["f0"] + 0.3 * X["f1"] * X["f2"] + rng.normal(0, 0.4, 6000)).to_numpy()
    many = pd.concat([X] * 17, ignore_index=True).iloc[:100_000]
    bare = RandomForestRegressor(100, max_features=8, random_state=397)
    model, plain = EffortModel(), EffortModel(quantiles=())
    texts = ["How dare you say such a thing to me, of all people!"] * 100_000
    items = pd.DataFrame({"item": np.arange(100_000), "group": np.arange(100_000) // 5, "text": texts})

    base_fit = seconds_of(lambda: bare.fit(X.to_numpy(), seconds))
    base_predict = seconds_of(lambda: bare.predict(many.to_numpy()))
    rows: list[tuple[str, float, float | None]] = [
        ("scikit-learn fit, 6,000 rows", base_fit, None),
        ("fit without spread", seconds_of(lambda: plain.fit(X, seconds)), base_fit),
        ("fit with spread", seconds_of(lambda: model.fit(X, seconds)), base_fit),
        ("scikit-learn predict, 100,000 rows", base_predict, None),
        ("predict", seconds_of(lambda: model.predict(many)), base_predict),
        ("predict_quantile, P50 and P90", seconds_of(lambda: model.predict_quantile(many, [0.5, 0.9])), base_predict),
        ("to_bytes", seconds_of(model.to_bytes), None),
    ]
    data = model.to_bytes()
    rows += [
        (f"from_bytes, {len(data) / 1e6:.1f} MB", seconds_of(lambda: EffortModel.from_bytes(data)), None),
        ("count_tokens, 100,000 texts", seconds_of(lambda: count_tokens(texts)), None),
        ("dialogue_features, 100,000 items", seconds_of(lambda: dialogue_features(items)), None),
        (
            "fit_setup_marginal, 6,000 times, 400 redraws",
            seconds_of(lambda: fit_setup_marginal(seconds, rng.integers(1, 11, 6000), rng=rng)),
            None,
        ),
    ]
    rows += grown(X, seconds, base_fit)
    print(f"{'what':<46}{'seconds':>10}{'x bare':>10}")
    for name, spent, base in rows:
        print(f"{name:<46}{spent:>10.3f}{'' if base is None else f'{spent / base:.2f}':>10}")


if __name__ == "__main__":
    main()
