"""Complexity: the calibrated chance that two people disagree."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError, ModelError, StateError
from hmc_crowd.quality import ComplexityModel, complexity_features, disagreement


def judged(n: int, seed: int, *, people: int = 4) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Items whose longer texts divide people more: features, disagreement, and the true chance."""
    rng = np.random.default_rng(seed)
    hard = rng.random(n)
    rows = [(item, f"w{person}", int(rng.random() < hard[item] / 2)) for item in range(n) for person in range(people)]
    answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    minority = hard / 2
    features = pd.DataFrame({"log_words": hard + rng.normal(0, 0.05, n), "noise": rng.normal(size=n)})
    return features, disagreement(answers), 2 * minority * (1 - minority)


def test_disagreement_by_hand() -> None:
    # 2 x and 2 y: 6 pairs, 4 differ
    answers = pd.DataFrame([("a", w, label) for w, label in zip("uvwx", "xxyy", strict=True)])
    answers.columns = ["task", "worker", "label"]
    row = disagreement(answers).iloc[0]
    assert (row["n_answers"], row["pairs"], row["differ"]) == (4, 6, 4)


def test_text_features_by_hand() -> None:
    found = complexity_features(["Yes! No? 12"], effort_s=[9.0], past_difficulty=[np.nan]).iloc[0]
    assert found["log_words"] == pytest.approx(np.log(4))
    assert found["word_length"] == pytest.approx((3 + 2 + 2) / 3)
    assert found["questions"] == pytest.approx(1 / 2)
    assert found["digits"] == pytest.approx(2 / 11)
    assert found["log_effort"] == pytest.approx(np.log(10))
    assert np.isnan(found["past_difficulty"])


def test_an_empty_text_has_features() -> None:
    assert complexity_features([""]).notna().all(axis=None)


def check_calibration(n: int) -> None:
    features, table, _ = judged(n, 1)
    model = ComplexityModel().fit(features, table)
    new, _, true = judged(n, 2)
    told = model.predict(new)
    assert ((told >= 0) & (told <= 1)).all()
    for part in np.array_split(np.argsort(told, kind="stable"), 4):
        assert told[part].mean() == pytest.approx(true[part].mean(), abs=0.06)
    assert model.report_.explained > 0


def test_complexity_is_the_chance_of_disagreement() -> None:
    check_calibration(400)


@pytest.mark.slow
def test_complexity_is_calibrated_on_many_items() -> None:
    check_calibration(5000)


def test_features_that_tell_nothing_are_said_to() -> None:
    features, table, _ = judged(300, 3)
    model = ComplexityModel().fit(features[["noise"]], table)
    assert model.report_.explained < 0.02
    spread = np.ptp(model.predict(features[["noise"]]))
    assert spread < 0.2  # of a possible 1; the true chances run from 0 to .5


def test_unknown_features_are_filled_in() -> None:
    features, table, _ = judged(200, 4)
    features.loc[::3, "log_words"] = np.nan
    assert np.isfinite(ComplexityModel().fit(features, table).predict(features)).all()


def test_items_of_a_group_stay_in_one_fold() -> None:
    # The same item copied ten times: with groups a copy never teaches its own.
    features, table, _ = judged(60, 5)
    copies, tables = (pd.concat([each] * 10, ignore_index=True) for each in (features[["noise"]], table))
    grouped = ComplexityModel().fit(copies, tables, groups=np.tile(np.arange(60), 10))
    assert grouped.report_.explained < 0.05


def test_too_little_is_an_error_that_says_what_to_do() -> None:
    features, table, _ = judged(20, 6)
    with pytest.raises(ModelError, match=r"20 items .* send such items to people"):
        ComplexityModel().fit(features, table)
    features, table, _ = judged(100, 6)
    with pytest.raises(ModelError, match="1 groups cannot be dealt to 5 folds"):
        ComplexityModel().fit(features, table, groups=["one"] * 100)
    with pytest.raises(ModelError, match="too little"):
        ComplexityModel().fit(features, table.assign(differ=0))


def test_it_goes_through_json() -> None:
    features, table, _ = judged(100, 8)
    model = ComplexityModel().fit(features, table)
    again = ComplexityModel.from_dict(json.loads(json.dumps(model.to_dict())))
    assert again.predict(features).tolist() == model.predict(features).tolist()
    assert again.report_ == model.report_


@pytest.mark.parametrize(
    "change",
    [{"format": "other"}, {"features": ["one"]}, {"curve": {}}, {"report": [1]}, {"model": {"fill": ["x"]}}],
)
def test_a_strange_state_is_refused(change: dict[str, object]) -> None:
    features, table, _ = judged(100, 8)
    state = {**ComplexityModel().fit(features, table).to_dict(), **change}
    with pytest.raises(ModelError, match="fit it again"):
        ComplexityModel.from_dict(state)


def test_misuse_is_one_sentence() -> None:
    features, table, _ = judged(60, 7)
    with pytest.raises(StateError, match="first call fit"):
        ComplexityModel().predict(features)
    with pytest.raises(FrameError, match="disagreement"):
        ComplexityModel().fit(features, table.iloc[:3])
    with pytest.raises(InputError, match="folds is 1"):
        ComplexityModel(folds=1)
    with pytest.raises(InputError, match="texts holds None in row 1"):
        complexity_features(["a", None])  # type: ignore[list-item]
    with pytest.raises(InputError, match="effort_s has 1 rows"):
        complexity_features(["a", "b"], effort_s=[1.0])


def test_noise_is_never_turned_round_into_a_finding() -> None:
    explained, slopes = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame({"n_answers": 4, "pairs": 6, "differ": rng.integers(0, 5, 120)})
        model = ComplexityModel(seed=seed).fit(pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde")), table)
        explained.append(model.report_.explained)
        slopes.append(model.to_dict()["curve"]["slope"][0])
    assert min(slopes) >= 0
    assert np.mean(explained) < 0
