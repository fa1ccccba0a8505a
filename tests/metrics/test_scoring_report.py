"""RSMTool's tables: their rules of population, shapes, files and page."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from hmc_crowd import metrics as m
from hmc_crowd.errors import FrameError, InputError

EVAL = "N h_mean h_sd h_min h_max sys_mean sys_sd sys_min sys_max corr wtkappa R2 kappa exact_agr adj_agr SMD RMSE MSE"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    true = rng.normal(3.5, 1, 120)
    h1, h2 = (np.clip(np.rint(true + rng.normal(0, 0.5, 120)), 1, 6) for _ in range(2))
    h2[40:] = np.nan
    return pd.DataFrame(
        {
            "score": 0.8 * true + 0.7 + rng.normal(0, 0.4, 120),
            "h1": h1,
            "h2": h2,
            "L1": rng.choice(["A", "B", "<i>C</i>"], 120, p=[0.6, 0.35, 0.05]),
            "writer": np.repeat(np.arange(40), 3),
        }
    )


NAMES = {"system": "score", "human": "h1", "second_human": "h2"}


def test_all_tables_are_there(frame) -> None:
    report = m.score_report(frame, **NAMES, groups="L1", score_range=(1, 6))
    assert list(report.tables) == [
        "population",
        "eval",
        "eval_short",
        "consistency",
        "degradation",
        "disattenuated_correlations",
        "true_score_eval",
        "confMatrix",
        "confMatrix_h1h2",
        "score_dist",
        "eval_by_L1",
        "fairness_metrics_by_L1",
        "consistency_by_L1",
        "disattenuated_correlations_by_L1",
        "estimates_osa_by_L1",
        "estimates_osd_by_L1",
        "estimates_csd_by_L1",
        "intervals",
        "notes",
    ]
    assert list(report["eval"].columns) == EVAL.split()
    assert list(report["eval"].index) == ["raw", "raw_trim", "raw_trim_round"]
    assert list(report["eval_by_L1"].index) == ["<i>C</i>", "A", "B", "All data"]
    assert (report.n, report.n_double) == (120, 40)
    with pytest.raises(InputError, match="there is no table 'evil'"):
        report["evil"]


def test_one_flag_two_rules_for_zeros() -> None:
    # A first score of 0 drops the response; a second score of 0 only becomes missing.
    table = {"human": [0, 1, 2, 3, 4], "system": [1, 1, 2, 3, 4.5], "h2": [1, 0, 2, 3, 4]}
    report = m.score_report(table, second_human="h2", score_range=(1, 4))
    assert (report.n, report.n_double, dict(report.dropped)) == (4, 3, {"human score is zero": 1})
    told = report["population"].set_index("what")["responses"]
    assert told["made missing, response kept: h2 is zero"] == 1
    kept = m.score_report(table, second_human="h2", score_range=(0, 4), exclude_zero_scores=False)
    assert (kept.n, kept.n_double) == (5, 5)


def test_each_left_out_response_is_counted_once() -> None:
    table = {"human": [1, "x", None, 3, 0, 2], "system": [1, None, 2, "y", 3, 2.5]}
    report = m.score_report(table, score_range=(1, 4))
    assert report.n == 2
    assert dict(report.dropped) == {
        "human score is not a number": 1,
        "human score is missing or infinite": 1,
        "system score is not a number": 1,
        "human score is zero": 1,
    }


def test_degradation_and_disattenuation_by_hand(frame) -> None:
    report = m.score_report(frame, **NAMES, score_range=(1, 6))
    humans, machine = report["consistency"].iloc[0], report["eval"]
    lost = report["degradation"]
    for name in ("corr", "kappa", "wtkappa", "exact_agr", "adj_agr", "SMD"):
        assert lost.loc["raw_trim", name] == pytest.approx(machine.loc["raw_trim", name] - humans[name])
    row = report["disattenuated_correlations"].loc["raw_trim"]
    assert row["corr_disattenuated"] == pytest.approx(machine.loc["raw_trim", "corr"] / math.sqrt(humans["corr"]))


def test_degradation_may_look_at_double_scored_responses_alone(frame) -> None:
    report = m.score_report(frame, **NAMES, score_range=(1, 6), double_scored_only=True)
    alone = m.score_report(frame.iloc[:40], **NAMES, score_range=(1, 6))
    pd.testing.assert_frame_equal(report["degradation"], alone["degradation"])
    assert report["eval"].loc["raw", "N"] == 120


def test_a_negative_human_correlation_disattenuates_nothing() -> None:
    table = {"human": [1, 2, 3, 4], "system": [1, 2, 3, 4.5], "h2": [4, 3, 2, 1]}
    report = m.score_report(table, second_human="h2", score_range=(1, 4))
    assert np.isnan(report["disattenuated_correlations"]["corr_disattenuated"]).all()
    assert "the human-human correlation is not positive" in report["notes"]["reason"].tolist()


def test_scaled_scores_have_the_humans_mean_and_spread(frame) -> None:
    scaling = m.Scaling.fit(predictions=frame["score"], human=frame["h1"])
    report = m.score_report(frame, **NAMES, score_range=(1, 6), scaling=scaling, use="scale", groups=["L1"])
    row = report["eval"].loc["scale"]
    assert row["sys_mean"] == pytest.approx(row["h_mean"])
    assert row["sys_sd"] == pytest.approx(row["h_sd"])
    assert "wtkappa.scale_trim" in report["eval_short"].columns
    assert "DSM.scale_trim" in report["eval_by_L1"].columns


def test_more_raters_enter_the_true_scores(frame) -> None:
    more = frame.assign(h3=frame["h1"], h4=0)
    report = m.score_report(more, **NAMES, more_humans=["h3", "h4"], score_range=(1, 6))
    row = report["true_score_eval"].loc["raw"]
    assert (row["N raters"], row["N multiple"]) == (3, 120)
    wanted = m.prmse(more[["h1", "h2", "h3"]].to_numpy(), more["score"])
    assert row["PRMSE true"] == pytest.approx(wanted.value)


def test_a_given_error_variance_needs_no_second_human(frame) -> None:
    report = m.score_report(frame, system="score", human="h1", rater_error_variance=0.2, score_range=(1, 6))
    assert report["true_score_eval"].loc["raw", "Variance of errors"] == 0.2
    assert "consistency" not in report.tables


def test_every_number_has_an_interval_beside_it(frame) -> None:
    ends = m.score_report(frame, **NAMES, groups="L1", score_range=(1, 6))["intervals"]
    row = ends[(ends["table"] == "eval") & (ends["row"] == "raw_trim") & (ends["metric"] == "corr")].iloc[0]
    wanted = m.pearson(frame["h1"], np.clip(frame["score"], 0.5002, 6.4998))
    assert (row["low"], row["high"]) == (pytest.approx(wanted.low), pytest.approx(wanted.high))
    percent = ends[(ends["table"] == "eval") & (ends["metric"] == "exact_agr")]
    assert percent["high"].max() > 1
    assert {"eval", "consistency", "true_score_eval", "eval_by_L1", "fairness_metrics_by_L1"} <= set(ends["table"])


def test_clusters_widen_the_report(frame) -> None:
    ends = m.score_report(frame, **NAMES, clusters="writer", score_range=(1, 6), groups="L1")["intervals"]
    assert ends[ends["table"] == "eval"]["method"].str.contains("40 clusters").sum() >= 5


def test_empty_cells_have_a_reason_in_the_notes_and_on_the_page() -> None:
    table = {"human": [3, 3, 3], "system": [1, 2, 3], "g": ["a", "a", "b"]}
    report = m.score_report(table, groups="g", score_range=(1, 4))
    notes = report["notes"]
    assert ("eval", "raw", "corr") in set(zip(notes["table"], notes["row"], notes["column"], strict=True))
    page = report.to_html()
    assert "<td>–<sup>1</sup></td>" in page
    assert "the human scores have no spread" in page


def test_a_large_difference_is_marked_in_words(frame) -> None:
    moved = frame.assign(score=frame["score"] + 1)
    assert "(large)" in m.score_report(moved, **NAMES, score_range=(1, 6)).to_html()
    assert (
        "(large)" not in m.score_report(frame[["score", "h1"]], system="h1", human="h1", score_range=(1, 6)).to_html()
    )


def test_text_on_the_page_is_escaped(frame) -> None:
    page = m.score_report(frame, **NAMES, groups="L1", score_range=(1, 6)).to_html(title="<script>")
    assert "<i>C" not in page
    assert "<script>" not in page
    assert page.count("<table>") == page.count("</table>") == page.count("<caption>") >= 12


def test_files_are_written_whole(frame, tmp_path) -> None:
    report = m.score_report(frame.rename(columns={"L1": "../L1"}), **NAMES, groups="../L1", score_range=(1, 6))
    paths = report.to_csv(tmp_path / "new")
    assert {path.parent for path in paths} == {tmp_path / "new"}
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(path.name for path in paths)
    again = pd.read_csv(tmp_path / "new" / "eval.csv", index_col=0)
    assert again.loc["raw", "corr"] == pytest.approx(report["eval"].loc["raw", "corr"])
    assert report.to_csv(tmp_path, sep="\t")[0].suffix == ".tsv"
    assert json.loads(json.dumps(report.to_dict()))["n"] == 120
    assert not list(tmp_path.parent.glob("L1*"))


def test_the_range_of_the_human_scores_is_taken_with_a_warning(frame) -> None:
    report = m.score_report(frame, **NAMES)
    assert "score_range was not given" in report.warnings[0]


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"system": "nope"}, FrameError, "no column 'nope'"),
        ({"groups": "nope"}, FrameError, "no column 'nope'"),
        ({"use": "scale"}, InputError, "use is 'scale'"),
        ({"score_range": (6, 1)}, InputError, "score_range"),
        ({"level": 2}, InputError, "level is 2"),
    ],
)
def test_bad_arguments_are_named(frame, given, error, match: str) -> None:
    with pytest.raises(error, match=match):
        m.score_report(frame, **{**NAMES, **given})


def test_nothing_to_evaluate_is_an_error_with_the_counts() -> None:
    with pytest.raises(InputError, match=r"no response of 2 .*human score is zero"):
        m.score_report({"human": [0, 0], "system": [1, 2]})
