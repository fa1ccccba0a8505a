"""What people see fits their terminal; what programs read is JSON; who waits sees progress, and nobody else."""

from __future__ import annotations

import os
import pty
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd._base.money import Money
from hmc_crowd.cli._show import facts, progress_bar, say, table, to_plain

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable


class Colour(Enum):
    RED = 1


class Word(StrEnum):
    YES = "yes"


@dataclass(frozen=True)
class Result:
    money: Money
    share: float
    _hidden: int = 3


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (float("nan"), None),
        (float("-inf"), None),
        (np.float64("nan"), None),
        (np.float64(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (pd.NA, None),
        (pd.NaT, None),
        (np.array([[1, 2]]), [[1, 2]]),
        (pd.Series([1.0, np.nan]), [1.0, None]),
        (pd.DataFrame({"a": [1], "b": [None]}), [{"a": 1, "b": None}]),
        (pd.Timestamp("2026-01-05T09:00Z"), "2026-01-05T09:00:00+00:00"),
        (datetime(2026, 1, 5, tzinfo=UTC), "2026-01-05T00:00:00+00:00"),
        (Path("a") / "b", "a/b"),
        (Decimal("1.50"), "1.50"),
        (Colour.RED, 1),
        (Word.YES, "yes"),
        ({0.9: (1, 2)}, {"0.9": [1, 2]}),
        ({"b", "a"}, ["a", "b"]),
        (Result(Money(150, "USD"), float("nan")), {"money": {"minor": 150, "currency": "USD"}, "share": None}),
    ],
)
def test_results_become_what_json_holds(value: Any, plain: Any) -> None:
    assert to_plain(value) == plain


def test_sentences_wrap_between_words(capsys: pytest.CaptureFixture[str]) -> None:
    say("word " * 40)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) <= 80


def test_a_path_is_never_broken(capsys: pytest.CaptureFixture[str]) -> None:
    path = "/somewhere/" + "deep-" * 30 + "/report.html"
    say(f"report: {path}")
    assert path in capsys.readouterr().out


def test_facts_stand_in_a_column_and_unknown_ones_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    facts("status", [("items", "3"), ("gold", None), ("money", "1.00 USD")])
    assert capsys.readouterr().out == "status\n  items  3\n  money  1.00 USD\n"


def test_whole_numbers_have_no_decimals_and_rounding_leaves_no_minus_zero(capsys: pytest.CaptureFixture[str]) -> None:
    table(pd.DataFrame({"seconds": [12.0, 1000.0], "share": [0.25, np.nan], "gap": [-0.00001, 0.5]}))
    said = capsys.readouterr().out
    assert "12.0" not in said
    assert "1,000" in said
    assert "0.25" in said
    assert "-0.0000" not in said
    assert said.splitlines()[-1].split() == ["1,000", "-", "0.5000"]


def test_a_table_is_no_wider_than_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    table(pd.DataFrame({f"a_rather_long_name_{number}": [0.123456] * 2 for number in range(9)}))
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_a_long_table_says_that_it_was_cut(capsys: pytest.CaptureFixture[str]) -> None:
    table(pd.DataFrame({"item": range(50)}))
    assert "and 10 more rows" in capsys.readouterr().out


def test_a_moment_in_a_table_is_told_to_the_minute_in_utc(capsys: pytest.CaptureFixture[str]) -> None:
    moment = datetime(2026, 1, 5, 9, 30, 15, 250_000, tzinfo=timezone(timedelta(hours=1)))
    table(pd.DataFrame({"until": [pd.Timestamp(moment), pd.NaT], "since": [moment, None]}))
    first, second = capsys.readouterr().out.splitlines()[-2:]
    assert first.split("  ") == ["2026-01-05 08:30Z", "2026-01-05 08:30Z"]
    assert second.split() == ["-", "-"]


def test_markup_in_a_text_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    table(pd.DataFrame({"text": ["[red]no[/red] [/oops]"]}))
    assert "[red]no[/red] [/oops]" in capsys.readouterr().out


def test_no_bar_is_shown_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as move:
        move("publishing", 1, 2)
    assert capsys.readouterr() == ("", "")


def test_bars_go_to_the_terminal_and_results_to_standard_output(
    at: Callable[[str], Path], start: Callable[..., subprocess.Popen[str]]
) -> None:
    at("published")
    ours, theirs = pty.openpty()
    child = start("collect", "--crowd", "truth.csv", "--json", stderr=theirs, env={"TERM": "xterm"})
    os.close(theirs)
    shown = b""
    # The terminal is read until the process lets go of it, which Linux reports as an error.
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:
        pass
    finally:
        os.close(ours)
    said = child.communicate(timeout=60)[0]
    assert child.returncode == 0
    assert "people at work" in shown.decode()
    assert said.startswith('{\n  "submissions"')
    assert "\x1b" not in said
