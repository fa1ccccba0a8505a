"""The source's numbers from its published data (skipped where the data are not there)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.effort import (
    DIALOGUE_FEATURES,
    WORKER_FEATURES,
    EffortModel,
    count_time,
    fit_setup_marginal,
    time_correlations,
)

TABLE_4 = {"D": (0.0085, 0.0918, 0.0602, 0.4369), "D+W": (0.0035, 0.0592, 0.0327, 0.7649)}
TABLE_5 = {
    "turns": (0.053, 0.122, "**", "**"),
    "malevolent_turns": (0.445, 0.599, "**", "**"),
    "non_malevolent_turns": (-0.236, -0.292, "**", "**"),
    "first_submission": (0.342, 0.263, "**", "**"),
    "paraphrased_turns": (0.555, 0.564, "**", "**"),
    "length_tokens": (0.046, 0.100, "**", "**"),
    "dale_chall": (0.042, -0.001, "*", ""),
    "flesch_reading_ease": (-0.026, -0.053, "*", "**"),
    "contains_malevolent": (0.432, 0.603, "**", "**"),
    "perplexity": (-0.008, 0.001, "", ""),
    "worker_test_score": (0.162, 0.049, "**", "**"),
    "approval_ranking": (0.844, 0.858, "**", "**"),
}


@pytest.mark.parametrize("features", ["D", "D+W"])
def test_table_4(dialogues, features):
    mse, rmse, mae, r2 = TABLE_4[features]
    model = EffortModel(features=features, n_jobs=2)
    scores = model.evaluate(dialogues, dialogues["seconds"], scaling="all", coverage=False)
    for got in (scores.pooled, scores.mean):
        assert (got.mse, got.rmse, got.mae) == pytest.approx((mse, rmse, mae), abs=0.005)
        assert got.r2 == pytest.approx(r2, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("features", "r2"), [("D", 0.357), ("D+W", 0.751)])
def test_workers_kept_apart(dialogues, features, r2):
    model = EffortModel(features=features, n_jobs=2)
    scores = model.evaluate(
        dialogues, dialogues["seconds"], groups=dialogues["approval_ranking"], scaling="all", coverage=False
    )
    assert scores.r2 == pytest.approx(r2, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("features", ["D", "D+W"])
def test_quantiles_hold_on_the_published_times(dialogues, features):
    scores = EffortModel(features=features, n_jobs=2).evaluate(dialogues, dialogues["seconds"])
    assert scores.coverage[0.5] == pytest.approx(0.5, abs=0.03)
    assert scores.coverage[0.9] == pytest.approx(0.9, abs=0.03)


def test_table_5(dialogues):
    table = time_correlations(dialogues, dialogues["seconds"], columns=DIALOGUE_FEATURES + WORKER_FEATURES)
    for feature, (pearson, spearman, r_stars, rho_stars) in TABLE_5.items():
        row = table.loc[feature]
        assert row["pearson"] == pytest.approx(pearson, abs=0.001), feature
        assert row["spearman"] == pytest.approx(spearman, abs=0.001), feature
        assert (row["pearson_stars"], row["spearman_stars"]) == (r_stars, rho_stars), feature


def test_most_of_a_dialogues_time_is_setup(dialogues):
    split = fit_setup_marginal(dialogues["seconds"], dialogues["turns"])
    assert split.setup_share([5])[0] > 0.7


def test_the_papers_plan_counted_both_ways(hmceval_folder):
    routed = pd.read_csv(hmceval_folder / "sae_trust_score.tsv", sep="\t")
    # A dialogue starts where the turn is 1; the figures rest on the file's own true time, value / turns.
    row = np.cumsum(routed["turn"].to_numpy() == 1)
    part = routed["human_effort_groundtruth"].to_numpy()
    for trade_off, by_parts, whole, touched in ((4.6, 0.506, 0.833, 0.795), (0.0, 0.639, 0.905, 0.785)):
        gain = 1 - routed["machine_confidence"] - trade_off * routed["human_effort_predicted_avg"]
        to_human = np.zeros(len(routed), dtype=bool)
        to_human[np.argsort(-gain.to_numpy(), kind="stable")[:2836]] = True
        count = count_time(to_human, row, part)
        assert count.per_item_share == pytest.approx(by_parts, abs=0.001)
        assert count.read_whole_share == pytest.approx(whole, abs=0.001)
        assert count.touched_share == pytest.approx(touched, abs=0.001)
