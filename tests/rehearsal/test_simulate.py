"""Campaigns played before they are paid for: what must hold whatever is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.rehearsal import AssumedCrowd, RecordedAnswers, benchmark, fit_assumed_crowd, simulate
from hmc_crowd.rehearsal import pilot as read_pilot

PERFECT = AssumedCrowd(accuracy=1.0, spread=0.0, speed_spread=0.0, noise=0.0)


def items(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.beta(8, 2, n), rng.gamma(2.0, 10.0, n) + 1


def play(seed: int = 1, **changes: Any) -> Any:
    confidence, seconds = items()
    settings: dict[str, Any] = {"repetitions": 20, "policies": ["paper", "random"], "pay_per_hour_minor": 1200}
    return simulate(confidence, seconds, rng=np.random.default_rng(seed), **{**settings, **changes})


def test_the_same_seed_plays_the_same() -> None:
    assert play().frame.equals(play().frame)
    assert not play().frame.equals(play(seed=2).frame)


def test_a_policy_is_played_alike_whoever_else_is() -> None:
    alone, beside = (play(policies=names).frame for names in (["confidence"], ["experts", "confidence"]))
    assert alone["accuracy"].tolist() == beside[beside["policy"] == "confidence"]["accuracy"].tolist()


def test_perfect_people_leave_only_the_machines_errors() -> None:
    """Half of the items audited by nobody: accuracy is 1 minus the wrong items that the machine kept."""
    confidence = np.repeat([1.0, 0.0], 50)
    done = simulate(
        confidence, np.ones(100), rng=np.random.default_rng(0), crowd=PERFECT, repetitions=3, audit=0,
        policies=["confidence", "effort", "machine", "crowd"], max_human=0.5,
    )  # fmt: skip
    accuracy = done.frame.groupby("policy")["accuracy"].first().to_dict()
    # "effort": all cost the same, so item order decides, and the first half are the right ones.
    assert accuracy == {"confidence": 1.0, "effort": 0.5, "machine": 0.5, "crowd": 1.0}


def test_hours_and_money_by_hand() -> None:
    # 100 items of 36 s, three answers each: 3 hours at 12.00, and 20% fees: 43.20.
    done = simulate(
        np.full(100, 0.5), np.full(100, 36.0), rng=np.random.default_rng(0), crowd=PERFECT, policies=["crowd"],
        repetitions=2, pay_per_hour_minor=1200, fee_rate=0.2,
    )  # fmt: skip
    assert done.frame["hours"].tolist() == pytest.approx([3.0, 3.0])
    assert done.frame["money_minor"].tolist() == pytest.approx([4320.0, 4320.0])


def test_slow_people_get_what_is_missing_to_the_floor() -> None:
    slow = AssumedCrowd(accuracy=1.0, spread=0.0, speed_spread=0.0, noise=0.0, slowness=2.0)
    call: dict[str, Any] = {"crowd": slow, "policies": ["crowd"], "repetitions": 1}
    without, with_floor = play(**call), play(**call, pay_floor_minor=1200)
    # They take twice the time that was paid for, so the bonus is as much again.
    assert with_floor.frame["money_minor"][0] == pytest.approx(2 * without.frame["money_minor"][0])


def test_chances_of_breaking_a_budget() -> None:
    done = play(max_human_s=1.0, max_money_minor=10**9, deadline_days=1e-9).summary()
    assert done["chance_over_time"].tolist() == [1.0, 1.0]
    assert done["chance_over_money"].tolist() == [0.0, 0.0]
    assert done["chance_late"].tolist() == [1.0, 1.0]


def test_half_the_people_take_about_twice_the_days() -> None:
    many, few = (play(people_per_day=people).summary()["days"][0] for people in (8.0, 4.0))
    assert few / many == pytest.approx(2.0, rel=0.35)
    assert np.isinf(play(people_per_day=0.0).frame["days"]).all()


@pytest.mark.parametrize("clustering", [0.0, 0.5])
def test_certificates_hold_as_often_as_they_say(clustering: float) -> None:
    done = play(repetitions=200, policies=["paper"], clustering=clustering, groups=np.arange(400) // 5)
    assert done.frame["held"].mean() >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200)


def test_the_certified_policy_comes_out_as_promised_with_people_who_err() -> None:
    done = play(repetitions=100, policies=["certified"], target_agreement=0.93, crowd=AssumedCrowd(accuracy=0.95))
    assert done.summary()["chance_certified"][0] >= 0.9 - 3 * 0.03


def test_clustered_errors_widen_the_band() -> None:
    widths = []
    for clustering in (0.0, 0.9):
        row = play(
            policies=["machine"], repetitions=150, clustering=clustering, groups=np.arange(400) // 20
        ).summary().iloc[0]  # fmt: skip
        widths.append(row["accuracy_high"] - row["accuracy_low"])
    assert widths[1] > 1.5 * widths[0]


def test_labelled_data_are_played_as_they_are() -> None:
    truth = np.tile([0, 1, 2, 0], 100)
    predicted = np.where(np.arange(400) % 10 == 0, (truth + 1) % 3, truth)
    done = play(policies=["machine"], truth=truth, predicted=predicted, n_labels=3)
    assert set(done.frame["accuracy"]) == {0.9}


def test_recorded_answers_are_replayed_and_never_one_twice() -> None:
    log = RecordedAnswers(np.repeat(np.arange(3), 4), [0, 0, 1, 1] * 3, np.arange(12.0), n_items=3)
    drawn = log.answers(np.zeros(3, dtype=int), np.ones(3), 4, 2, np.random.default_rng(0))
    assert np.sort(drawn.label, axis=1).tolist() == [[0, 0, 1, 1]] * 3
    assert np.sort(drawn.seconds.ravel()).tolist() == list(range(12))
    assert log.fewest == 4


def test_a_crowd_is_fitted_to_what_people_did() -> None:
    import pandas as pd

    rng = np.random.default_rng(3)
    rows = [
        (f"w{w}", "a", "a" if rng.random() < 0.8 else "b", float(rng.lognormal(3, 0.4)))
        for w in range(20)
        for _ in range(200)
    ]
    fitted = fit_assumed_crowd(pd.DataFrame(rows, columns=["worker", "truth", "label", "seconds"]), labels=["a", "b"])
    # The other label was never true, so its row is the pooled one: half of the mean.
    assert 0.6 < fitted.accuracy < 0.85
    assert fitted.noise == pytest.approx(0.4, abs=0.03)


def test_the_mix_saves_experts() -> None:
    confidence, seconds = items()
    table = benchmark(confidence, seconds, rng=np.random.default_rng(0), repetitions=20, pay_per_hour_minor=1200)
    by = table.set_index("policy")
    assert by.loc["machine", ["hours", "money_minor", "expert_share"]].tolist() == [0, 0, 0]
    assert 0 < by.loc["mix", "expert_share"] < by.loc["experts", "expert_share"] == 1
    assert by.loc["mix", "accuracy"] > by.loc["machine", "accuracy"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": ["best"]}, "'best'"),
        ({"policies": []}, "empty"),
        ({"policies": ["paper", "paper"]}, "names one twice"),
        ({"policies": ["certified"], "target_agreement": None}, "needs target_agreement"),
        ({"repetitions": 0}, "repetitions is 0"),
        ({"truth": np.zeros(400, dtype=int)}, "go together"),
        ({"truth": np.full(400, 5), "predicted": np.zeros(400, dtype=int)}, "outside 0 to 1"),
        ({"groups": [1]}, "groups has shape"),
        ({"clustering": 1.0}, "clustering is 1.0"),
        ({"rework": 1.0}, "rework is 1.0"),
        ({"people_per_day": -1.0}, "people_per_day is -1.0"),
        ({"band": 0.0}, "band is 0.0"),
        ({"pilot": 401}, "pilot is 401"),
        ({"redundancy": 200}, "nobody answers an item twice"),
    ],
)
def test_bad_input_is_one_sentence(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        play(**change)


def test_bad_people_are_refused() -> None:
    with pytest.raises(InputError, match=r"accuracy is 1\.5"):
        AssumedCrowd(accuracy=1.5)
    with pytest.raises(InputError, match=r"spread is 0\.9"):
        AssumedCrowd(spread=0.9)
    with pytest.raises(FrameError, match="differ in length"):
        RecordedAnswers([0], [0, 1], [1.0], n_items=1)


def test_a_pilot_corrects_confidences_that_promise_too_much() -> None:
    """The machine is right in 85% of what it is sure of at 97%: only who asked before plans enough."""
    rng = np.random.default_rng(0)
    n = 1500
    truth = rng.integers(0, 2, n)
    predicted = np.where(rng.random(n) < 0.85, truth, 1 - truth)
    chance = {}
    for pilot in (0, 300):
        done = simulate(
            rng.uniform(0.95, 0.99, n), np.full(n, 20.0), rng=np.random.default_rng(1), truth=truth,
            predicted=predicted, crowd=PERFECT, policies=["certified"], target_agreement=0.95, repetitions=60,
            pilot=pilot,
        )  # fmt: skip
        chance[pilot] = done.summary()["chance_certified"][0]
    assert chance[0] < 0.5 < 0.9 <= chance[300]
    assert any("a pilot of 300 items" in each for each in done.assumptions)


def test_a_seed_is_no_generator() -> None:
    with pytest.raises(InputError, match=r"rng is 3; give a numpy.random.Generator"):
        simulate([0.5, 0.9], [3, 4], rng=3)  # type: ignore[arg-type]


def a_pilot() -> pd.DataFrame:
    rows = [(f"i{i}", f"w{w}", "x" if (i + w) % 3 else "y", 10.0 + w) for i in range(12) for w in range(4)]
    return pd.DataFrame(rows, columns=["task", "worker", "label", "seconds"])


def test_a_pilot_reads_tables_of_other_libraries() -> None:
    told = {"batch_items": 100, "pay_per_hour_minor": 1200, "draws": 20}
    here = read_pilot(a_pilot(), rng=np.random.default_rng(1), **told)  # type: ignore[arg-type]
    assert str(read_pilot(pl.from_pandas(a_pilot()), rng=np.random.default_rng(1), **told)) == str(here)  # type: ignore[arg-type]


def test_a_pilot_with_an_answer_without_label_is_refused() -> None:
    table = a_pilot()
    table.loc[2, "label"] = None
    with pytest.raises(FrameError, match="answers has no label in row 2; fill these cells or drop the rows"):
        read_pilot(table, batch_items=100, pay_per_hour_minor=1200, rng=np.random.default_rng(1))
