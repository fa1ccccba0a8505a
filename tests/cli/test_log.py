"""What strangers send can neither fill the server's log nor forge a line of it."""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING

import pytest

from hmc_crowd.cli._log import BoundedHandler

if TYPE_CHECKING:
    from collections.abc import Iterator


class Log:
    def __init__(self) -> None:
        self.text, self.now = io.StringIO(), 0.0
        self.handler = BoundedHandler(self.text, clock=lambda: self.now)
        self.logger = logging.getLogger("hmc_crowd.test_log")
        self.logger.propagate = False
        self.logger.addHandler(self.handler)

    @property
    def lines(self) -> list[str]:
        return self.text.getvalue().splitlines()

    def warn(self, *arguments: object) -> None:
        self.logger.warning(*arguments)

    def fail(self, text: str) -> None:
        try:
            raise RuntimeError(text)
        except RuntimeError:
            self.logger.exception("a call failed")


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log()
    yield made
    made.logger.removeHandler(made.handler)


def test_a_line_of_code_writes_five_times_a_minute_and_what_is_left_out_is_said(log: Log) -> None:
    for number in range(1_000):
        log.warn("refused %s", number)
    assert [each.rpartition(" ")[2] for each in log.lines] == ["0", "1", "2", "3", "4"]
    log.now = 61.0
    log.warn("refused %s", "again")
    assert "995 more like the last of test_log.py:" in log.lines[5]
    assert log.lines[6].endswith("refused again")


def test_what_was_left_out_is_said_at_the_end(log: Log) -> None:
    for _ in range(7):
        log.warn("refused")
    log.handler.close()
    assert "2 more like the last of" in log.lines[-1]


def test_other_lines_are_written_beside_a_flood(log: Log) -> None:
    for _ in range(100):
        log.warn("refused")
    log.logger.error("the disk is full")
    assert log.lines[-1].endswith("the disk is full")


def test_a_line_is_cut_and_its_control_characters_are_written_out(log: Log) -> None:
    log.warn("%s", "x" * 100_000)
    log.warn("%s", "a\nERROR forged: b\x1b[31m\x00\u202ec\x9b")
    assert len(log.lines) == 2
    assert len(log.lines[0]) < 1_200
    assert log.lines[1].endswith(r"a\x0aERROR forged: b\x1b[31m\x00\u202ec\x9b")


def test_failures_of_one_kind_show_one_short_traceback(log: Log) -> None:
    for _ in range(50):
        log.fail("very bad\nERROR forged: line\x1b[2J" + "y" * 50_000)
    text = log.text.getvalue()
    assert text.count("Traceback") + text.count("    ...") == 1
    assert len(text) < 8_000
    assert not any(each.startswith("ERROR forged") for each in log.lines)
    assert "\x1b" not in text


def test_failures_at_two_places_are_two_kinds(log: Log) -> None:
    for _ in range(9):
        log.fail("one")
    try:
        int("x")
    except ValueError:
        log.logger.exception("a call failed")
    assert "invalid literal" in log.lines[-1]
