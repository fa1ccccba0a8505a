"""The source's setting simulated: the arithmetic by hand, and which claims can hold at all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.quality import MixPrices, MixSetting, claims_over_grid, mix_table, simulate_mix
from hmc_crowd.quality._mix_draw import draw_batch, draw_workers

SMALL = MixSetting(items=600, workers=200, train_items=400)


def test_prices_and_times_by_hand() -> None:
    # 100 items, 3 answers each, 40 to experts of whom 5% are wrong, 4 wrong ones kept.
    run = {"repeat": 0, "n": 100, "wrong": 20, "experts": 10, "workers": 50, "machine": 0}
    run |= {"taught_answers": 0, "taught_sent": 0}
    rows = [
        {**run, "arm": "experts only", "answers": 0, "sent": 100, "wrong_kept": 0},
        {**run, "arm": "ML gate", "answers": 300, "sent": 40, "wrong_kept": 4},
    ]
    prices = MixPrices(answer_minor=5, expert_minor=100, answer_s=10, present=0.2, expert_s=36, expert_error=0.05)
    table = mix_table(pd.DataFrame(rows), prices).set_index("arm")
    gate = table.loc["ML gate"]
    assert gate["cost_minor"] == 300 * 5 + 40 * 100
    assert gate["hours"] == pytest.approx((300 * 10 / (50 * 0.2) + 40 * 36 / 10) / 3600)
    assert gate["accuracy"] == pytest.approx(1 - (4 + 0.05 * 40) / 100)
    assert gate["cost_saved"] == pytest.approx(1 - 5500 / 10000)


def test_what_teaches_the_gate_is_paid_for() -> None:
    # As above, and 60 items with 3 answers and a judgement each have taught the gate, which decides 4 batches.
    run = {"repeat": 0, "n": 100, "wrong": 20, "experts": 10, "workers": 50, "machine": 0}
    run |= {"taught_answers": 180, "taught_sent": 60, "answers": 300, "sent": 40, "wrong_kept": 4, "arm": "ML gate"}
    prices = MixPrices(answer_minor=5, expert_minor=100, answer_s=10, present=0.2, expert_s=36, batches=4)
    gate = mix_table(pd.DataFrame([run]), prices).set_index("arm").loc["ML gate"]
    assert gate["taught_minor"] == (180 * 5 + 60 * 100) / 4
    assert gate["cost_minor"] == 300 * 5 + 40 * 100 + gate["taught_minor"]
    assert gate["hours"] == pytest.approx((345 * 10 / (50 * 0.2) + 55 * 36 / 10) / 3600)
    assert gate["expert_use"] == 0.4


def test_a_machine_alone_costs_its_price_and_is_as_good_as_asked_for() -> None:
    setting = MixSetting(items=20_000, workers=100, answers=1, hardness=0.0, train_items=100, machine_accuracy=0.7)
    runs = simulate_mix(setting, rng=np.random.default_rng(1), repeats=1, kind="logistic")
    machine = mix_table(runs, MixPrices(machine_minor=2)).set_index("arm").loc["machine only"]
    assert machine["cost_minor"] == 40_000
    assert machine["hours"] == machine["expert_use"] == 0
    assert machine["accuracy"] == pytest.approx(0.7, abs=0.01)


def test_the_crowd_is_as_good_as_asked_for() -> None:
    rng = np.random.default_rng(0)
    setting = MixSetting(items=20_000, workers=2000, hardness=0.0, noise=0.0)
    accuracy, quality = draw_workers(setting, rng)
    batch = draw_batch(setting, accuracy, setting.items, rng)
    right = batch.answers["label"].to_numpy() == np.repeat(batch.truth, 3)
    assert right.mean() == pytest.approx(0.8, abs=0.01)
    assert np.corrcoef(accuracy, quality)[0, 1] > 0.6
    assert not batch.answers.duplicated(["task", "worker"]).any()


def test_experts_everywhere_and_nowhere_frame_the_gates() -> None:
    table = mix_table(simulate_mix(SMALL, rng=np.random.default_rng(0), repeats=1)).set_index("arm")
    assert table.loc["experts only", "expert_use"] == 1
    assert table.loc["crowd only", "expert_use"] == 0
    assert table.loc["experts only", "accuracy"] == pytest.approx(0.95)
    assert table.loc["ML gate", "accuracy"] > table.loc["crowd only", "accuracy"]
    assert 0 < table.loc["ML gate", "expert_use"] < 1
    assert (table["accuracy_low"] <= table["accuracy"]).all()


def test_runs_repeat_from_their_seed() -> None:
    tiny = MixSetting(items=60, workers=30, train_items=60)
    first, second = (simulate_mix(tiny, rng=np.random.default_rng(4), repeats=1) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_95_percent_less_time_at_37_percent_expert_use_cannot_be() -> None:
    # The experts' time is proportional to their items: at a use above 5% less than 95% is saved, whatever the rest.
    found = claims_over_grid(
        rng=np.random.default_rng(0), setting=SMALL, repeats=1, worker_accuracy=(0.8,), noise=(0.15,)
    )
    above = found["expert_use"] > 0.05
    assert above.any()
    assert not (found.loc[above, "time_saved_holds"]).any()
    assert not found["all_hold"].any()
    assert found["cost_saved_holds"].any()


def test_wrong_settings_are_one_sentence() -> None:
    with pytest.raises(InputError, match="items is 0"):
        MixSetting(items=0)
    with pytest.raises(InputError, match="risks is"):
        MixSetting(risks=(0.5, 0.5, 0.5))
    with pytest.raises(InputError, match="machine_accuracy is 1"):
        MixSetting(machine_accuracy=1.0)
    with pytest.raises(InputError, match="batches is 0"):
        MixPrices(batches=0)
    with pytest.raises(InputError, match="expert_error is 1"):
        MixPrices(expert_error=1.0)
    with pytest.raises(InputError, match="more than the 2 workers"):
        MixSetting(workers=2)
