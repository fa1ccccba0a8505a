"""Approval rates as of an instant: their source, 0/0 unknown, ranks that never see the future."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.effort import worker_features
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import approval_ranking


def day(number: int) -> datetime:
    return datetime(2026, 1, number, tzinfo=UTC)


REVIEWS = pd.DataFrame(
    [("ann", True, day(1)), ("ann", True, day(2)), ("bob", True, day(2)), ("bob", False, day(3)), ("cy", None, day(3))],
    columns=["worker", "approved", "at"],
)
LIFETIME = pd.DataFrame(
    [("bob", 0.99, 400, day(2)), ("dee", 0.0, 0, day(2)), ("eve", 0.9, 10, day(2)), ("eve", 0.8, 20, day(6))],
    columns=["worker", "rate", "reviewed", "at"],
)
EVERYBODY = ["ann", "bob", "cy", "dee", "eve", "new"]


def test_rates_by_hand() -> None:
    found = approval_ranking(EVERYBODY, day(5), reviews=REVIEWS).set_index("worker")
    assert found.loc["ann", ["rate", "reviewed", "rank", "ranked"]].tolist() == [1.0, 2, 1.0, 2]
    assert found.loc["bob", ["rate", "rank"]].tolist() == [0.5, 2.0]


def test_nothing_over_nothing_is_unknown() -> None:
    found = approval_ranking(EVERYBODY, day(5), reviews=REVIEWS, platform=LIFETIME).set_index("worker")
    for worker in ("cy", "dee", "new"):
        assert found.loc[worker, "source"] == "unknown"
        assert np.isnan(found.loc[worker, "rate"])
        assert np.isnan(found.loc[worker, "rank"])


@pytest.mark.parametrize(("prefer", "source", "rate"), [("platform", "platform", 0.99), ("ours", "ours", 0.5)])
def test_the_source_is_told_and_can_be_preferred(prefer: str, source: str, rate: float) -> None:
    found = approval_ranking(["bob"], day(5), reviews=REVIEWS, platform=LIFETIME, prefer=prefer)  # type: ignore[arg-type]
    assert found[["source", "rate"]].to_dict("records") == [{"source": source, "rate": rate}]


def test_ranks_are_within_a_source() -> None:
    found = approval_ranking(EVERYBODY, day(5), reviews=REVIEWS, platform=LIFETIME).set_index("worker")
    # platform: bob .99, eve .9; ours: ann alone
    assert found.loc[["bob", "eve", "ann"], "rank"].tolist() == [1.0, 2.0, 1.0]


def test_the_newest_reading_before_the_instant_counts() -> None:
    found = approval_ranking(["eve", "eve"], [day(5), day(7)], platform=LIFETIME)
    assert found["rate"].tolist() == [0.9, 0.8]


def test_a_reading_that_became_unknown_is_unknown() -> None:
    read = pd.DataFrame({"worker": ["a", "a"], "rate": [0.9, None], "at": [day(1), day(2)]})
    assert approval_ranking(["a"], day(3), platform=read)["source"].tolist() == ["unknown"]


def test_equal_rates_share_their_place() -> None:
    reviews = pd.DataFrame({"worker": ["a", "b", "c"], "approved": [True, True, False], "at": [day(1)] * 3})
    assert approval_ranking(["a", "b", "c"], day(2), reviews=reviews)["rank"].tolist() == [1.5, 1.5, 3.0]


def test_the_future_changes_nothing() -> None:
    more = pd.concat([REVIEWS, pd.DataFrame([("ann", False, day(5))], columns=REVIEWS.columns)])
    asked = [day(number) for number in (1, 2, 3, 4, 5)]
    before = approval_ranking(["ann"] * 5, asked, reviews=REVIEWS)
    pd.testing.assert_frame_equal(before, approval_ranking(["ann"] * 5, asked, reviews=more))


def test_an_event_at_the_instant_itself_is_not_known_yet() -> None:
    assert approval_ranking(["ann"], day(1), reviews=REVIEWS)["source"].tolist() == ["unknown"]


def test_order_of_rows_decides_nothing() -> None:
    mixed = REVIEWS.iloc[::-1]
    one, two = (approval_ranking(EVERYBODY, day(5), reviews=each) for each in (REVIEWS, mixed))
    pd.testing.assert_frame_equal(one, two)


def test_the_place_is_the_effort_models_feature() -> None:
    rng = np.random.default_rng(2)
    reviews = pd.DataFrame({"worker": rng.integers(0, 12, 200), "approved": rng.random(200) < 0.8})
    reviews["at"] = pd.Timestamp(day(1)) + pd.to_timedelta(rng.integers(0, 600, 200), "h")
    asked = [int(number) for number in rng.integers(0, 14, 60)]
    moments = [day(1) + timedelta(hours=int(hour)) for hour in rng.integers(0, 650, 60)]
    ours = approval_ranking(asked, moments, reviews=reviews)
    theirs = worker_features(asked, as_of=moments, reviews=reviews)
    np.testing.assert_allclose(ours["place"], theirs["approval_ranking"])


def test_a_platform_rate_with_its_number_has_an_interval() -> None:
    found = approval_ranking(["bob", "eve"], day(5), platform=LIFETIME)
    assert ((found["low"] < found["rate"]) & (found["rate"] < found["high"])).all()
    bare = approval_ranking(["bob"], day(5), platform=LIFETIME.drop(columns="reviewed"))
    assert bare[["low", "high"]].isna().all(axis=None)


def test_nobody_asked_nobody_known() -> None:
    assert approval_ranking([], day(5), reviews=REVIEWS).empty
    assert approval_ranking(["ann"], day(5))["source"].tolist() == ["unknown"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"approved": 2}, r"approved is no share in rows 0 \(2\)"),
        ({"approved": 0.5}, "approved is no share"),
        ({"at": datetime(2026, 1, 1)}, "no time zone"),  # because that is the mistake
    ],
)
def test_wrong_events_are_named(change: dict[str, object], words: str) -> None:
    with pytest.raises(FrameError, match=words):
        approval_ranking(["ann"], day(5), reviews=REVIEWS.assign(**change))


def test_wrong_arguments() -> None:
    with pytest.raises(InputError, match="prefer is 'both'"):
        approval_ranking(["ann"], day(5), prefer="both")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="as_of has 2 rows"):
        approval_ranking(["ann"], [day(1), day(2)])
    with pytest.raises(FrameError, match="platform lacks the column rate"):
        approval_ranking(["ann"], day(5), platform=REVIEWS)


def test_many_instants_are_answered_like_each_alone(rng: np.random.Generator) -> None:
    n = 300
    reviews = pd.DataFrame(
        {
            "worker": rng.choice(EVERYBODY, n),
            "approved": rng.random(n) < 0.8,
            "at": [day(1) + timedelta(hours=int(hour)) for hour in rng.integers(0, 200, n)],
        }
    )
    asked = [day(1) + timedelta(hours=int(hour)) for hour in rng.integers(0, 200, 40)]
    names = [str(name) for name in rng.choice(EVERYBODY, 40)]
    found = approval_ranking(names, asked, reviews=reviews, platform=LIFETIME)
    for row, (name, instant) in enumerate(zip(names, asked, strict=True)):
        past = reviews[(reviews["at"] < instant) & (reviews["worker"] == name)]["approved"]
        if found["source"].iloc[row] == "ours":
            assert found["rate"].iloc[row] == pytest.approx(past.mean())
        one = approval_ranking([name], instant, reviews=reviews[reviews["at"] < instant], platform=LIFETIME)
        pd.testing.assert_series_equal(found.iloc[row], one.iloc[0], check_names=False)
