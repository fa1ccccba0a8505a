"""Qualification: versions, training items, the mark, attempts with a delay, and the funnel."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.quality import QualificationTest, qualification_funnel

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
KEY = {f"q{number}": "yes" for number in range(10)}
HREF = QualificationTest("pairs", 1, KEY, attempts=2, delay_s=3600.0, training={"t": "no"})


def given(right: int) -> dict[str, str]:
    return {item: "yes" if number < right else "no" for number, item in enumerate(KEY)}


@pytest.mark.parametrize(("right", "passed"), [(10, True), (9, True), (8, False), (0, False)])
def test_nine_of_ten_pass(right: int, passed: bool) -> None:
    attempt = HREF.mark("ann", given(right), at=NOON, earlier=[])
    assert (attempt.right, attempt.n, attempt.passed, attempt.number) == (right, 10, passed, 1)


@pytest.mark.parametrize(("items", "share", "needed"), [(10, 0.9, 9), (11, 0.9, 10), (3, 0.5, 2), (7, 1.0, 7)])
def test_any_mark_is_rounded_up(items: int, share: float, needed: int) -> None:
    assert QualificationTest("x", 1, dict.fromkeys(range(items), 1), pass_share=share).pass_right == needed


def test_training_items_never_count() -> None:
    assert HREF.mark("ann", {**given(9), "t": "wrong"}, at=NOON, earlier=[]).passed


def test_an_item_left_out_is_wrong() -> None:
    assert HREF.mark("ann", {"q0": "yes"}, at=NOON, earlier=[]).right == 1


def test_the_second_attempt_waits() -> None:
    first = HREF.mark("ann", given(3), at=NOON, earlier=[])
    early = HREF.may_try("ann", at=NOON + timedelta(minutes=59), earlier=[first])
    assert not early
    assert early.not_before == NOON + timedelta(hours=1)
    with pytest.raises(StateError, match="the next attempt is from 2026-01-05 13:00 UTC on"):
        HREF.mark("ann", given(10), at=NOON + timedelta(minutes=59), earlier=[first])
    second = HREF.mark("ann", given(10), at=NOON + timedelta(hours=1), earlier=[first])
    assert (second.number, second.passed) == (2, True)


def test_after_the_last_attempt_there_is_none() -> None:
    tries = []
    for hour in (0, 2):
        tries.append(HREF.mark("ann", given(0), at=NOON + timedelta(hours=hour), earlier=tries))
    refused = HREF.may_try("ann", at=NOON + timedelta(days=9), earlier=tries)
    assert refused.reason == "all 2 attempts at version 1 are used"
    assert refused.not_before is None


def test_others_attempts_do_not_count() -> None:
    bob = HREF.mark("bob", given(0), at=NOON, earlier=[])
    assert HREF.may_try("ann", at=NOON, earlier=[bob])


def test_a_new_version_starts_anew_and_names_the_old_ones_that_count() -> None:
    passed = HREF.mark("ann", given(10), at=NOON, earlier=[])
    second = QualificationTest("pairs", 2, KEY)
    assert second.may_try("ann", at=NOON, earlier=[passed])
    assert not second.is_qualified("ann", [passed])
    assert second.is_qualified("ann", [passed], also=[1])
    assert not HREF.may_try("ann", at=NOON, earlier=[passed])


def test_a_strange_item_is_refused() -> None:
    with pytest.raises(InputError, match="'z', which test 'pairs' version 1 lacks"):
        HREF.mark("ann", {"z": "yes"}, at=NOON, earlier=[])


def test_naive_times_are_refused() -> None:
    with pytest.raises(InputError, match="without a time zone"):
        HREF.mark("ann", given(10), at=datetime(2026, 1, 5), earlier=[])  # because that is the mistake


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"key": {}}, "key of test 'x' is empty"),
        ({"name": " "}, "name is ' '"),
        ({"version": 0}, "versions from 1 on"),
        ({"training": {"a": 1}}, "for training and counted: a"),
        ({"pass_share": 0.0}, "pass_share is 0.0"),
        ({"pass_share": 90}, "pass_share is 90"),
        ({"attempts": 0}, "attempts is 0"),
        ({"delay_s": -1.0}, "delay_s is -1.0"),
    ],
)
def test_wrong_tests_are_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        QualificationTest(**{"name": "x", "version": 1, "key": {"a": 1}, **settings})  # type: ignore[arg-type]


def test_the_funnel_of_href() -> None:
    found = qualification_funnel({"tried": 50, "passed": 20, "recruited": 16}).set_index("stage")
    assert found.loc["passed", "share"] == pytest.approx(0.4)
    assert found.loc["recruited", "share"] == pytest.approx(0.8)
    assert found.loc["recruited", "of_first"] == pytest.approx(0.32)
    assert found.loc["passed", "low"] < 0.4 < found.loc["passed", "high"]
    assert found.loc["tried", "low":"high"].isna().all()


def test_nobody_tried() -> None:
    assert qualification_funnel({"tried": 0, "passed": 0})["share"].isna().all()


@pytest.mark.parametrize("stages", [{}, {"tried": 3, "passed": 5}, {"tried": -1}])
def test_wrong_funnels_are_refused(stages: dict[str, int]) -> None:
    with pytest.raises(InputError, match="stages is"):
        qualification_funnel(stages)
