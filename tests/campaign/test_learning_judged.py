"""When does a retrained effort model take over, and how much does each timed group count?"""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pandas as pd

from hmc_crowd.campaign._judge import inclusion_probability, judge
from hmc_crowd.effort import EffortModel
from hmc_crowd.store.records import ModelRecord


def model(rows: SimpleNamespace, kind: str = "random_forest") -> EffortModel:
    return EffortModel(kind, n_estimators=5).fit(rows.X, rows.seconds)


def played(rounds: int = 2, *, slower: float = 1.0, seed: int = 1) -> SimpleNamespace:
    """Forty rows of ten workers a round; from round 2 on everybody is this much slower."""
    draw = np.random.default_rng(seed)
    number = np.repeat(np.arange(1, rounds + 1), 40)
    turns = draw.integers(2, 11, len(number)).astype(float)
    seconds = (20 + 6 * turns) * draw.lognormal(0, 0.2, len(number)) * np.where(number > 1, slower, 1.0)
    who = np.arange(len(number)) % 10 + 10 * number
    rows = {"X": pd.DataFrame({"turns": turns}), "seconds": seconds, "workers": who, "rounds": number}
    return SimpleNamespace(**rows, weight=None, finished=None, per="group")


def first_round(rows: SimpleNamespace) -> SimpleNamespace:
    at = rows.rounds == 1
    return SimpleNamespace(X=rows.X[at], seconds=rows.seconds[at])


def record(champion: EffortModel, last_round: int = 1) -> ModelRecord:
    return ModelRecord(
        version=1,
        kind="effort",
        data_hash="h",
        scores={"last_round": last_round},
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        blob=champion.to_bytes(),
    )


def test_the_first_model_is_used() -> None:
    rows = played()
    assert judge(None, model(rows), rows).replaces


def test_a_better_model_replaces_the_one_in_use() -> None:
    rows = played(3, slower=2.0)
    verdict = judge(record(model(first_round(rows))), model(rows), rows)
    assert verdict.replaces
    assert "the challenger is better" in verdict.notes[0]
    assert "drift in period 3" in verdict.notes[1]


def test_a_model_that_is_no_better_does_not() -> None:
    rows = played()
    verdict = judge(record(model(rows)), model(rows), rows)
    assert not verdict.replaces
    assert verdict.notes[0] == "model 1 stays in use"


def test_without_later_rounds_nothing_is_replaced() -> None:
    rows = played()
    verdict = judge(record(model(rows), last_round=2), model(rows), rows)
    assert not verdict.replaces
    assert "0 timed groups after it" in verdict.notes[0]


def test_the_users_own_times_replace_without_a_comparison() -> None:
    rows = played()
    rows.rounds = None
    assert judge(record(model(played())), model(rows), rows).replaces


def test_other_features_replace_with_a_note() -> None:
    rows = played()
    old = EffortModel(n_estimators=5).fit(rows.X.rename(columns={"turns": "length"}), rows.seconds)
    verdict = judge(record(old), model(rows), rows)
    assert verdict.replaces
    assert "other features" in verdict.notes[0]


def test_chances_come_from_the_plan_of_the_round() -> None:
    plans = {
        1: pd.DataFrame({"item": ["a", "b"], "inclusion_probability": [1.0, 0.1]}),
        2: pd.DataFrame({"item": ["b"], "inclusion_probability": [0.25]}),
    }

    class Plans:
        def latest(self, campaign: int, number: int) -> SimpleNamespace | None:
            return SimpleNamespace(id=number) if number in plans else None

        def read(self, plan: int, **_: object) -> pd.DataFrame:
            return plans[plan]

    answers = pd.DataFrame({"task": ["a", "b", "b", "gold", "b"], "round": [1, 1, 2, 2, 3]})
    # Gold is in no plan and round 3 has none: certain.
    found = inclusion_probability(SimpleNamespace(plans=Plans()), 1, answers)  # type: ignore[arg-type]
    assert found.tolist() == [1, 0.1, 0.25, 1, 1]
