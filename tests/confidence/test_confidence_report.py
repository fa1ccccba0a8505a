"""The quality report: the paper's numbers, plain forms for every reader, and plots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.confidence import calibration_chart, confidence_report, report_frame, risk_chart
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

# Table 3 of the paper, and what the published files give.
TABLE_3 = {"trust_score": (0.8246, 0.9785, 0.825, 0.978), "mcp": (0.8276, 0.9774, 0.828, 0.977)}


@pytest.mark.parametrize("method", TABLE_3)
def test_table_3_from_the_published_confidences(method: str, data_dir: Path) -> None:
    frame = pd.read_csv(data_dir / "hmceval" / f"sae_{method}.tsv", sep="\t")
    right = (frame["target"] == frame["machine_predict"]).to_numpy()
    report = confidence_report(frame["machine_confidence"], right, name=method)
    auc, top, printed_auc, printed_top = TABLE_3[method]
    assert report.auc.value == pytest.approx(auc, abs=5e-5)
    assert report.top[0.5].value == pytest.approx(top, abs=5e-5)
    assert report.auc.value == pytest.approx(printed_auc, abs=1e-3)
    assert report.top[0.5].value == pytest.approx(printed_top, abs=1e-3)
    assert report.auc.low < printed_auc < report.auc.high


def test_calibrated_confidences_send_alike_shares_to_people(data_dir: Path) -> None:
    """A18: at a trade-off of 4.6 without a cap the raw methods differ fivefold; calibrated ones mean the same."""
    from hmc_crowd.confidence import Calibrator
    from hmc_crowd.routing import route

    shares: dict[str, list[float]] = {"raw": [], "calibrated": []}
    for method in TABLE_3:
        frame = pd.read_csv(data_dir / "hmceval" / f"sae_{method}.tsv", sep="\t")
        right = (frame["target"] == frame["machine_predict"]).to_numpy()
        raw, effort = frame["machine_confidence"].to_numpy(), frame["human_effort_predicted_avg"].to_numpy()
        learn = np.random.default_rng(0).random(len(frame)) < 0.5
        fixed = Calibrator().fit(raw[learn], right[learn]).transform(raw[~learn])
        shares["raw"].append(route(raw[~learn], effort[~learn], trade_off=4.6).human_share)
        shares["calibrated"].append(route(fixed, effort[~learn], trade_off=4.6).human_share)
    assert max(shares["raw"]) > 4 * min(shares["raw"])
    assert max(shares["calibrated"]) < 1.25 * min(shares["calibrated"])


def report(name: str = "mcp", n: int = 400) -> object:
    rng = np.random.default_rng(1)
    p = rng.uniform(0.5, 1, n)
    return confidence_report(p, rng.random(n) < p, name=name, shares=(0.25, 0.5))


def test_plain_forms_agree() -> None:
    one = report()
    frame = one.to_frame().set_index("measure")["value"]
    plain = json.loads(json.dumps(one.to_dict(), allow_nan=False))
    assert plain["auc"]["value"] == frame["AUC"] == one.auc.value
    assert plain["top"]["0.25"]["value"] == frame["accuracy of the top 25%"]
    assert plain["calibration"]["value"] == frame["calibration error"]
    assert sum(row["count"] for row in plain["calibration"]["bins"]) == 400
    assert f"AUC {one.auc.value:.4f}" in str(one)
    assert "<table" in one._repr_html_()
    assert report_frame([one, report("other")])["confidence"].tolist() == ["mcp", "other"]


def test_plots_hold_every_confidence_and_the_diagonal() -> None:
    both = [report("one"), report("two")]
    drawn = calibration_chart(both)
    assert all(word in drawn.wide for word in ("one", "two", "perfect"))
    assert "calibration error" in drawn.description
    assert all(word in risk_chart(both).wide for word in ("one", "two"))
    assert [each.key for each in both[0].charts()] == ["calibration", "risk-coverage"]


def test_undefined_measures_say_so() -> None:
    alone = confidence_report([0.9, 0.8, 0.7], [True, True, True])
    assert alone.auc.value is None
    assert "undefined" in str(alone)
    assert json.dumps(alone.to_dict(), allow_nan=False)


def test_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(2)
    p, group = np.repeat(rng.uniform(0.5, 1, 100), 10), np.repeat(np.arange(100), 10)
    right = np.repeat(rng.random(100) < p[::10], 10)
    one, apart = (confidence_report(p, right, clusters=each) for each in (None, group))
    assert apart.auc.high - apart.auc.low > 2 * (one.auc.high - one.auc.low)


def test_wrong_input_is_named() -> None:
    with pytest.raises(InputError, match="correct"):
        confidence_report([0.5, 0.6], [1, 2])
    with pytest.raises(InputError, match="share"):
        confidence_report([0.5, 0.6], [1, 0], shares=(1.5,))
