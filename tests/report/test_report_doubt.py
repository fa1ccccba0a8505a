"""The section on aggregated labels: its numbers, and what it refuses."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from hmc_crowd.aggregation import DawidSkene
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.report import Document, aggregation_section, write_document

if TYPE_CHECKING:
    from pathlib import Path


def test_bins_hold_mean_confidence_and_share_of_right_labels() -> None:
    # 0.95, 0.92 lie in the last bin: mean 0.935, both right; 0.55, 0.51 in the sixth: mean 0.53, one right of two
    frame = aggregation_section(confidence=[0.95, 0.92, 0.55, 0.51], right=[1, 1, 1, 0]).tables[0].frame
    assert frame["confidence"].tolist() == pytest.approx([0.53, 0.935])
    assert frame["right"].tolist() == [0.5, 1.0]
    assert frame["n"].tolist() == [2, 2]


def test_the_average_gap_is_told_in_words() -> None:
    # gaps |0.53 - 0.5| = 0.03 and |0.935 - 1| = 0.065, half each: 4.75 %, printed 4.8 %
    chart = aggregation_section(confidence=[0.95, 0.92, 0.55, 0.51], right=[1, 1, 1, 0]).charts[0]
    assert "differ by 4.8% on average" in chart.description or "differ by 4.7% on average" in chart.description


def test_a_fitted_models_workers_are_drawn_and_written(small_answers: pd.DataFrame, tmp_path: Path) -> None:
    model = DawidSkene().fit(small_answers)
    section = aggregation_section(model.workers_, confidence=[0.9, 0.6], right=[True, False])
    assert [chart.key for chart in section.charts] == ["worker-quality", "calibration"]
    accuracy = section.tables[0].frame["accuracy"].tolist()
    assert accuracy == sorted(accuracy, reverse=True)
    document = Document(title="T", created_at=datetime(2026, 1, 1, tzinfo=UTC), sections=(section,))
    assert "Accuracy of the workers" in write_document(document, tmp_path / "r.html").html.read_text(encoding="utf-8")


@pytest.fixture
def small_answers() -> pd.DataFrame:
    rows = [("a", "w1", "x"), ("a", "w2", "x"), ("a", "w3", "y"), ("b", "w1", "y"), ("b", "w2", "y"), ("b", "w3", "y")]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to show"):
        aggregation_section(confidence=[0.5])
    with pytest.raises(FrameError, match="workers lacks the column accuracy, low, high"):
        aggregation_section(pd.DataFrame({"worker": ["a"], "n_answers": [1]}))
    with pytest.raises(InputError, match="bins is 1"):
        aggregation_section(confidence=[0.5], right=[1], bins=1)
    with pytest.raises(InputError, match="confidence"):
        aggregation_section(confidence=[1.5], right=[1])
