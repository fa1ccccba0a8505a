"""The fair-pay guard: the median's hour against the floor, and the top-up that mends it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.quality import fair_pay, work_times

TIMES = [160.0, 170.0, 180.0, 190.0, 900.0]


def test_the_check_of_href() -> None:
    # 180 s at 16.00 USD an hour are 80 cents; one very slow person does not move the median
    found = fair_pay(TIMES, pay_minor=80, floor_minor=1600, currency="USD")
    assert (found.verdict, found.hourly_minor, found.median_s, found.top_up_minor) == ("fair", 1600, 180, 0)


@pytest.mark.parametrize(("pay", "verdict", "top_up"), [(79, "warn", 1), (64, "warn", 16), (63, "pause", 17)])
def test_below_the_floor(pay: int, verdict: str, top_up: int) -> None:
    # 80 % of 1600 are 1280 an hour: 64 cents for 180 s
    found = fair_pay(TIMES, pay_minor=pay, floor_minor=1600, currency="USD")
    assert (found.verdict, found.top_up_minor, found.top_up_total_minor) == (verdict, top_up, 5 * top_up)


def test_four_times_are_too_early_to_pause() -> None:
    found = fair_pay(TIMES[:4], pay_minor=10, floor_minor=1600, currency="USD")
    assert found.verdict == "too_early"
    assert found.top_up_minor > 0


def test_the_interval_of_the_median_by_hand() -> None:
    # n = 9, level .95: P(B <= 1) = 10/512 = .0195 and P(B <= 2) = .09: second and eighth time
    times = np.arange(1, 10) * 100.0
    found = fair_pay(times, pay_minor=100, floor_minor=100, currency="USD")
    assert (found.low_minor, found.high_minor) == (100 * 3600 // 800, 100 * 3600 // 200)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.floats(1, 5000), min_size=1, max_size=30), st.integers(0, 500), st.integers(1, 5000))
def test_the_top_up_reaches_the_floor_and_no_cent_less_would(times: list[float], pay: int, floor: int) -> None:
    found = fair_pay(times, pay_minor=pay, floor_minor=floor, currency="EUR")
    median = float(np.median(times))
    assert (pay + found.top_up_minor) * 3600 / median >= floor - 1e-3
    if found.top_up_minor:
        assert (pay + found.top_up_minor - 1) * 3600 / median < floor
    assert found.low_minor <= found.hourly_minor <= found.high_minor
    assert (found.verdict == "fair") == (found.top_up_minor == 0)


def test_times_ties_and_pay_by_hand() -> None:
    # 100, 200, 300 s: mean 200, sd 100; 600 s for 300 minor units are 1800 an hour; one tie of three
    found = work_times([100, 200, 300], tied=[True, False, False], pay_minor=300, currency="USD")
    assert (found.mean_s, found.sd_s, found.median_s, found.p10_s, found.p90_s) == (200, 100, 200, 120, 280)
    assert (found.hours, found.tie_rate, found.hourly_minor) == (pytest.approx(1 / 6), pytest.approx(1 / 3), 1800)
    assert str(found).endswith("33.3% ties; 3.00 USD, 18.00 USD an hour")


def test_times_alone_and_a_single_one() -> None:
    found = work_times([60])
    assert np.isnan(found.sd_s)
    assert (found.tie_rate, found.hourly_minor) == (None, None)


@pytest.mark.parametrize(
    ("given_", "words"),
    [({"active_s": [0.0]}, "0 seconds"), ({"tied": [True]}, "1 rows"), ({"pay_minor": -1, "currency": "USD"}, "is -1")],
)
def test_wrong_times_are_refused(given_: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        work_times(**{"active_s": TIMES, **given_})  # type: ignore[arg-type]


def test_it_reads_as_a_sentence() -> None:
    text = str(fair_pay(TIMES, pay_minor=60, floor_minor=1600, currency="USD"))
    assert text == (
        "12.00 USD an hour by the median of 5 times (180 s), floor 16.00 USD: pause; a top-up of 0.20 USD each, 1.00 "
        "USD altogether, makes it fair"
    )


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"active_s": []}, "active_s is empty"),
        ({"active_s": [0.0, 5.0]}, "holds 0 seconds"),
        ({"active_s": [float("nan")]}, "active_s must be"),
        ({"floor_minor": 0}, "a positive floor"),
        ({"pay_minor": 1.5}, "integer count of minor units"),
        ({"currency": "dollars"}, "currency is 'dollars'"),
        ({"pause_below": 2}, "pause_below 2"),
    ],
)
def test_wrong_input_is_one_sentence(given_: dict[str, object], words: str) -> None:
    right = {"active_s": TIMES, "pay_minor": 80, "floor_minor": 1600, "currency": "USD"}
    with pytest.raises(InputError, match=words):
        fair_pay(**{**right, **given_})  # type: ignore[arg-type]
