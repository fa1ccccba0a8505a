"""The words of the command line are read exactly, or refused by name; nothing that is typed brings a traceback."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd._base.money import Money
from hmc_crowd.cli._arguments import count_or_share, grid, names, read_hourly, read_money, read_pay
from hmc_crowd.errors import InputError

# Anything, and what comes close to being right.
TYPED = st.one_of(
    st.text(max_size=30),
    st.text("0123456789.,:-+%eE/hnaif_ USD$€", max_size=20),
    st.from_regex(r"\A[0-9.]{1,6}:[0-9.]{1,6}:[0-9.e-]{1,6}\Z"),
)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [("200", 200), ("0", 0), ("1", 1), ("1.0", 1.0), ("0.5", 0.5), ("50%", 0.5), (".25", 0.25), (" 7 ", 7)],
)
def test_a_count_is_an_int_and_a_share_a_float(text: str, meaning: float) -> None:
    read = count_or_share(text, name="--audit")
    assert (read, type(read)) == (meaning, type(meaning))


@pytest.mark.parametrize("text", [None, "", "none", "NONE"])
def test_no_limit_is_none(text: str | None) -> None:
    assert count_or_share(text, name="--max-human") is None


@pytest.mark.parametrize("text", ["-1", "1.5", "101%", "nan", "inf", "-0.1", "²", "9" * 5000, "half"])
def test_what_is_neither_count_nor_share_is_refused_by_name(text: str) -> None:
    with pytest.raises(InputError, match=r"^--audit is '.*give a count such as 200, or a share"):
        count_or_share(text, name="--audit")


@given(TYPED)
def test_any_count_or_share_is_read_or_refused(text: str) -> None:
    try:
        read = count_or_share(text, name="--audit")
    except InputError:
        return
    assert read is None or (isinstance(read, int) and read >= 0) or (isinstance(read, float) and 0 <= read <= 1)


def test_a_grid_holds_its_last_point_and_every_point_as_written() -> None:
    points = grid("0:45:0.1", name="--trade-offs")
    assert len(points) == 451
    assert points[-1] == 45.0
    # Added up in floats, 3 x 0.1 would be 0.30000000000000004.
    assert points[3] == 0.3


def test_a_step_that_misses_the_stop_ends_below_it() -> None:
    assert grid("0:1:0.4", name="--max-humans") == [0.0, 0.4, 0.8]


def test_a_list_keeps_its_order_and_may_hold_infinity() -> None:
    assert grid("500, 0,inf", name="--trade-offs") == [500.0, 0.0, math.inf]


@pytest.mark.parametrize(
    "text", ["", "a", "1:2", "0:1:0", "0:1:-1", "2:1:1", "0:nan:1", "0:inf:1", "nan", "1,,2", "1:2:3:4"]
)
def test_what_is_no_grid_is_refused_by_name(text: str) -> None:
    with pytest.raises(InputError, match=r"^--trade-offs is '.*start:stop:step"):
        grid(text, name="--trade-offs")


def test_a_grid_of_millions_of_points_is_refused() -> None:
    with pytest.raises(InputError, match="more than 100,000 points; take a larger step"):
        grid("0:1:1e-300", name="--max-humans")


@given(TYPED)
def test_any_grid_is_read_or_refused(text: str) -> None:
    try:
        points = grid(text, name="--trade-offs")
    except InputError:
        return
    assert points
    assert not any(math.isnan(point) for point in points)


@given(TYPED)
def test_any_money_is_read_or_refused(text: str) -> None:
    for currency in (None, "USD", "JPY"):
        try:
            money = read_money(text, currency=currency, name="--budget")
        except InputError:
            continue
        assert money.minor >= 0
        assert currency in {None, money.currency}


@given(TYPED)
def test_any_pay_is_read_or_refused(text: str) -> None:
    try:
        pay = read_pay(text, "USD")
    except InputError:
        return
    given = [each for each in pay.values() if each is not None]
    assert len(given) == 1
    assert given[0] > 0


def test_pay_is_per_hour_or_per_submission() -> None:
    assert read_pay("12/h", "USD") == {"pay_minor": None, "pay_per_hour_minor": 1200}
    assert read_pay("1.50USD", "USD") == {"pay_minor": 150, "pay_per_hour_minor": None}


def test_nobody_works_for_nothing() -> None:
    with pytest.raises(InputError, match="--pay is '0/h'; people are paid"):
        read_pay("0/h", "USD")


def test_a_quote_needs_a_rate_per_hour() -> None:
    assert read_hourly("12/h", "USD", why="a quote") == Money(1200, "USD")
    with pytest.raises(InputError, match="a quote needs a rate per hour, such as 12/h"):
        read_hourly("12", "USD", why="a quote")


def test_names_are_split_at_commas() -> None:
    assert names(" good,bad , ,") == ["good", "bad"]
