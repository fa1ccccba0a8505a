"""The learned quality of a campaign: what it is taught and checked on, what it says, and when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from recorded import DAY_0, campaign_of, crowd_days, record

from hmc_crowd.campaign import Aspect, Campaign, LearnedQuality
from hmc_crowd.errors import InputError
from hmc_crowd.quality import (
    FEATURES,
    QualityModelReport,
    WorkerQualityModel,
    literal_decay,
    load_quality_model,
    priority_score,
    save_quality_model,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


DAYS, WORKERS, FIRST_BAD = 12, 18, 12


@pytest.fixture(autouse=True)
def quick_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty trees say the same as a hundred."""
    monkeypatch.setitem(WorkerQualityModel.__init__.__kwdefaults__, "n_estimators", 20)


@pytest.fixture
def crowd(tmp_path: Path, clock: Any) -> Iterator[Campaign]:
    """Two thirds of the people are right on .95, the others on .5, two golds and nine other answers a day."""
    rates = np.full((DAYS, WORKERS), 0.95)
    rates[:, FIRST_BAD:] = 0.5
    answers, truth, gold = crowd_days(rates, rng=np.random.default_rng(3))
    with campaign_of(tmp_path, truth, gold, clock=clock) as made:
        record(made, answers)
        clock.advance(((DAY_0 + pd.Timedelta(days=DAYS)).to_pydatetime() - clock.now()).total_seconds())
        yield made


def taught(folder: Path, clock: Any, answers: pd.DataFrame, gold: dict[str, str]) -> LearnedQuality:
    """The learned quality of a campaign with these answers."""
    truth = dict.fromkeys(answers["task"], "kind") | {"spare": "rude"} | gold
    with campaign_of(folder, truth, gold, clock=clock) as campaign:
        if len(answers):
            record(campaign, answers)
        return campaign.quality_model()


def told(rows: list[tuple[str, str, str]]) -> pd.DataFrame:
    """Answers an hour apart."""
    made = pd.DataFrame(rows, columns=["task", "worker", "label"])
    return made.assign(submitted=[DAY_0 + pd.Timedelta(hours=n) for n in range(len(made))])


def test_the_model_is_checked_on_other_workers_and_tells_good_from_bad(crowd: Campaign) -> None:
    found = crowd.quality_model()
    assert found.outcomes == 2 * DAYS * WORKERS
    assert found.report is not None
    # A third of the people, rounded, check; nobody is on both sides.
    assert found.report.workers == round(0.3 * WORKERS)
    assert found.report.better_than_pool
    assert "better than the pool's mean" in str(found)
    table = found.workers.set_index("worker")
    good, bad = ([f"w{n:03d}" for n in several] for several in (range(FIRST_BAD), range(FIRST_BAD, WORKERS)))
    assert table.loc[good, "quality"].min() > table.loc[bad, "quality"].max()
    assert set(FEATURES) <= set(table)
    assert table["agreement"].notna().all()
    for low, middle, high in (("low", "quality", "high"), ("bayes_low", "bayes", "bayes_high")):
        assert (table[low] < table[middle]).all()
        assert (table[middle] < table[high]).all()


@pytest.mark.parametrize(
    ("brier", "pool", "bayes", "base", "words"),
    [
        (0.10, 0.20, 0.15, "model", "better than gold alone (0.1500); the priority rests on the model"),
        (0.16, 0.20, 0.15, "bayes", "NO better than gold alone (0.1500); the priority rests on the Bayesian quality"),
        (0.21, 0.20, 0.22, "bayes", "NO better than the pool's mean (0.2000), better than gold alone"),
    ],
)
def test_what_leads_must_beat_the_pool_and_gold_alone(
    brier: float, pool: float, bayes: float, base: str, words: str
) -> None:
    model = WorkerQualityModel()
    model.report_ = QualityModelReport(rows=30, workers=3, brier=brier, brier_pool=pool, left_out=0)
    found = LearnedQuality(pd.DataFrame(), model, bayes, 60)
    assert found.base == base
    assert words in str(found)


def test_gold_alone_is_judged_on_what_checks_the_model(crowd: Campaign) -> None:
    found = crowd.quality_model()
    assert found.report is not None
    # The best that anybody could know of a third of .5 and two thirds of .95 is .25 and .0475.
    assert 0.03 < found.brier_bayes < found.report.brier_pool


def test_the_priority_is_the_literal_score_highest_first(crowd: Campaign) -> None:
    found = crowd.quality_model()
    table = found.workers
    base = table["quality" if found.base == "model" else "bayes"]
    faded = literal_decay(base, table["idle_s"], table["recent"], streak=table["streak"])
    np.testing.assert_allclose(table["priority"], priority_score(faded, table["consistency"] >= 0.9))
    assert table["priority"].is_monotonic_decreasing
    assert (table["priority"] <= 1).all()


def test_a_day_away_halves_the_priority_and_hardly_the_quality(crowd: Campaign, clock: Any) -> None:
    before = crowd.quality_model().workers.set_index("worker").sort_index()
    clock.advance(24 * 3600)
    after = crowd.quality_model().workers.set_index("worker").sort_index()
    assert (after["idle_s"] - before["idle_s"]).round(3).eq(24 * 3600).all()
    # The streak's bonus, at most .05 and 1.1 times that, does not fade.
    assert ((after["priority"] - before["priority"] / 2).abs() <= 0.055).all()
    assert ((after["bayes"] - before["bayes"]).abs() < 0.03).all()


def test_the_priority_by_hand(tmp_path: Path, clock: Any) -> None:
    gold = {f"g{n}": "kind" for n in range(4)}
    rows = [(name, "ann", "rude" if n == 0 else "kind") for n, name in enumerate(gold)]
    answers = told(rows)
    clock.advance((answers["submitted"].max().to_pydatetime() - clock.now()).total_seconds() + 24 * 3600)
    found = taught(tmp_path, clock, answers, gold)
    (row,) = found.workers.to_dict("records")
    # Three of four right, the last three in a row, halves (.5, 1) so not consistent, a day away:
    # bayes * .5 * (1 - .1 * .25) + .03
    assert row["priority"] == pytest.approx(row["bayes"] * 0.5 * 0.975 + 0.03, abs=1e-6)
    assert (row["streak"], row["recent"]) == (3, 0.75)


def test_features_of_an_outcome_have_not_seen_it(crowd: Campaign) -> None:
    from hmc_crowd.campaign import _quality_learning

    seen: list[pd.DataFrame] = []
    real = _quality_learning.quality_features

    def watching(*given: Any, **more: Any) -> pd.DataFrame:
        seen.append(real(*given, **more))
        return seen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_quality_learning, "quality_features", watching)
        crowd.quality_model()
    of_outcomes, of_now = seen
    # Before the first answer to gold nothing is known; before the last one, all but one.
    assert sorted(of_outcomes.groupby("worker")["n_gold"].min().unique()) == [0.0]
    assert of_outcomes.groupby("worker")["n_gold"].max().eq(2 * DAYS - 1).all()
    assert of_now["n_gold"].eq(2 * DAYS).all()


def test_nothing_is_stored_and_nobody_is_left_out(crowd: Campaign) -> None:
    def state() -> tuple[int, int]:
        with crowd._context.store.read() as tx:
            cid = crowd._context.campaign_id
            return len(tx.events.read(cid)), int(tx.work.answers(cid)["excluded"].notna().sum())

    before = state()
    crowd.quality_model()
    assert state() == before


def test_the_model_can_be_kept(crowd: Campaign, tmp_path: Path) -> None:
    found = crowd.quality_model()
    assert found.model is not None
    save_quality_model(found.model, tmp_path / "quality.skops")
    again = load_quality_model(tmp_path / "quality.skops")
    features = found.workers.set_index("worker")[list(FEATURES)]
    np.testing.assert_allclose(again.predict(features)["quality"], found.workers["quality"])


def test_boosted_trees_learn_too(crowd: Campaign) -> None:
    pytest.importorskip("xgboost")
    found = crowd.quality_model("xgboost")
    assert found.report is not None
    assert found.report.better_than_pool


def test_an_unknown_kind_is_refused(crowd: Campaign) -> None:
    with pytest.raises(InputError, match="kind is 'svm'; use 'random_forest' or 'xgboost'"):
        crowd.quality_model("svm")  # type: ignore[arg-type]


G = {f"g{n}": "kind" for n in range(60)}


@pytest.mark.parametrize(
    ("rows", "gold", "why"),
    [
        ([], G, "nobody has answered gold, or no answer says when"),
        ([("a", "ann", "kind")], G, "nobody has answered gold, or no answer says when"),
        ([("a", "ann", "kind")], {}, "nobody has answered gold, or no answer says when"),
        ([(name, "ann", "kind") for name in G], G, "1 worker alone has answered gold"),
        (
            [(name, ("ann", "bob")[n % 2], "kind") for n, name in enumerate(G)],
            G,
            "all 60 answers to gold are right, which leaves nothing to tell apart",
        ),
        (
            [(name, ("ann", "bob")[n % 2], ("kind", "rude")[n % 3 == 0]) for n, name in enumerate(G)],
            G,
            "of 60 answers to gold by 2 workers 15 would teach and 15, of others and later, would check, where 20 each "
            "are needed",
        ),
    ],
)
def test_too_little_is_one_sentence_and_gold_alone(
    tmp_path: Path, clock: Any, rows: list[tuple[str, str, str]], gold: dict[str, str], why: str
) -> None:
    found = taught(tmp_path, clock, told(rows), gold)
    assert found.why_none.startswith(why)
    assert str(found).endswith("there is no model, and the quality is the Bayesian one alone")
    assert (found.model, found.report, found.base) == (None, None, "bayes")
    table = found.workers
    assert len(table) == len({worker for _, worker, _ in rows})
    assert table["quality"].isna().all()
    # Who was never checked on gold is unknown, not bad.
    assert table["priority"].notna().all() == table["bayes"].notna().all()


def test_gold_is_marked_by_the_rule_of_its_question(tmp_path: Path, clock: Any) -> None:
    warmth = Aspect("warmth", ["1", "2", "3", "4", "5"], kind="ordinal")
    with Campaign.create(tmp_path / "scale.db", aspects=[warmth], seed=1, clock=clock) as campaign:
        campaign.add_items(pd.DataFrame({"item": ["g0", "g1", "g2"], "text": "So it goes."}))
        campaign.add_gold(pd.DataFrame({"item": ["g0", "g1", "g2"], "label": "3"}))
        record(campaign, told([("g0", "ann", "4"), ("g1", "ann", "2"), ("g2", "ann", "5")]), aspect="warmth")
        (row,) = campaign.quality_model().workers.to_dict("records")
        # One step off is right on five steps, two are not.
        assert (row["n_gold"], row["accuracy"]) == (3, pytest.approx(2 / 3))
        campaign.set_gold_tolerance(2)
        assert campaign.quality_model().workers["accuracy"].tolist() == [1.0]
