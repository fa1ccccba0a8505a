"""What people are said to have been approved for, and who took a test: read exactly, or refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.errors import FrameError, StateError
from hmc_crowd.quality import QualificationTest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

    from hmc_crowd.campaign import Campaign

TUESDAY = datetime(2026, 1, 6, 9, tzinfo=UTC)


@pytest.fixture
def campaign(small: Callable[..., Campaign]) -> Campaign:
    return small()


def read(campaign: Campaign, folder: Path, text: str, **more: Any) -> pd.DataFrame:
    """Keep the rates of a file, and return how everybody stands long after."""
    (folder / "rates.csv").write_text(text, encoding="utf-8")
    campaign.add_approval_rates(folder / "rates.csv", platform="mturk", **{"at": TUESDAY, **more})
    return campaign.approval_ranking(as_of=TUESDAY + timedelta(days=400))


def test_a_share_in_a_file_is_a_share(campaign: Campaign, tmp_path: Path) -> None:
    # Files hold text: 0.95 is not 0.95%.
    found = read(campaign, tmp_path, "worker,rate\nA1,0.95\nA2,95%\nA3,0.5\nA4,1\nA5,0\n")
    assert sorted(found["rate"]) == [0.0, 0.5, 0.95, 0.95, 1.0]


@pytest.mark.parametrize("rate", ["95", "1.5", "-0.2", "often", "120%", "95% (21/20)", "nan", "inf"])
def test_what_is_no_share_is_refused_and_nothing_is_kept(campaign: Campaign, tmp_path: Path, rate: str) -> None:
    with pytest.raises(FrameError, match="no share of approved work: line 3"):
        read(campaign, tmp_path, f"worker,rate\nA1,0.9\nA2,{rate}\n")
    assert campaign.approval_ranking().empty


def test_the_platforms_text_says_on_how_many_reviews_a_rate_rests(campaign: Campaign, tmp_path: Path) -> None:
    found = read(campaign, tmp_path, "worker,rate\nA1,95% (19/20)\nA2,0% (0/0)\nA3,80%\n").sort_values("rate")
    assert found["reviewed"].tolist()[1] == 20
    assert found["source"].tolist() == ["platform", "platform", "unknown"]
    assert found["low"].notna().tolist() == [False, True, False]


@pytest.mark.parametrize("reviewed", ["five", "-3", "2.5"])
def test_a_number_of_reviews_is_a_whole_number(campaign: Campaign, tmp_path: Path, reviewed: str) -> None:
    with pytest.raises(FrameError, match="reviewed"):
        read(campaign, tmp_path, f"worker,rate,reviewed\nA1,0.9,{reviewed}\n")


@pytest.mark.parametrize("at", ["yesterday", "2026-01-05T10:00", "2026-01-05"])
def test_a_moment_without_a_zone_is_refused(campaign: Campaign, tmp_path: Path, at: str) -> None:
    with pytest.raises(FrameError, match="at "):
        read(campaign, tmp_path, f"worker,rate,at\nA1,0.9,{at}\n")


def test_a_moment_of_another_zone_is_that_moment(campaign: Campaign, tmp_path: Path) -> None:
    read(campaign, tmp_path, "worker,rate,at\nA1,0.9,2026-01-05T23:30-05:00\nA2,0.8,\n")
    before, after = datetime(2026, 1, 6, 4, 30, tzinfo=UTC), datetime(2026, 1, 6, 4, 31, tzinfo=UTC)
    # Strictly before it; whoever says no moment was read when the caller says.
    assert campaign.approval_ranking(as_of=before)["rate"].notna().sum() == 0
    assert campaign.approval_ranking(as_of=after)["rate"].dropna().tolist() == [0.9]
    assert campaign.approval_ranking(as_of=TUESDAY + timedelta(seconds=1))["rate"].notna().sum() == 2


def test_two_rates_of_a_worker_at_one_moment_are_refused(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(FrameError, match=r"rates differ for the same worker and moment: lines 2 "):
        read(campaign, tmp_path, "worker,rate\nA1,0.9\nA1,0.5\n")
    assert len(read(campaign, tmp_path, "worker,rate\nA1,0.9\nA1,0.9\n")) == 1


def test_nobody_is_called_nothing(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(FrameError, match="worker is empty"):
        read(campaign, tmp_path, "worker,rate\n,0.9\n")


def test_mturks_own_columns_are_understood(campaign: Campaign, tmp_path: Path) -> None:
    found = read(campaign, tmp_path, "WorkerId,LifetimeApprovalRate\nA1,95% (19/20)\nA1,95% (19/20)\n")
    assert found[["rate", "reviewed"]].values.tolist() == [[0.95, 20.0]]


def test_who_is_not_known_is_not_taken_for_a_pseudonym(campaign: Campaign) -> None:
    campaign.add_test(QualificationTest("tone", 1, {"q": "good"}))
    for name in ("ann", ""):
        with pytest.raises(StateError, match=f"nobody is known by the pseudonym '{name}'; name the platform"):
            campaign.take_test("tone", name, {"q": "bad"})
    first = campaign.take_test("tone", "ann", {"q": "good"}, platform="mturk")
    assert campaign.qualified("tone") == [first.worker]
    campaign.add_test(QualificationTest("tone", 2, {"q": "good"}))
    assert campaign.take_test("tone", first.worker, {"q": "good"}).number == 1
