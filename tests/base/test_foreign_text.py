"""Expressions over other people's text look at each character a fixed number of times.

Each text here took from seconds to hours; a test that does not come back has found one that does so again.
"""

from __future__ import annotations

import pytest

from hmc_crowd._base.money import parse_money
from hmc_crowd.errors import InputError
from hmc_crowd.quality._complexity import _SENTENCE

from hmc_crowd_local.mturk_api._questions import fill_layout  # isort: skip
from hmc_crowd_local.mturk_api._problems import TurkError  # isort: skip
from hmc_crowd_prolific._replies import error_text  # isort: skip


@pytest.mark.parametrize("text", [" " * 100_000 + "x", "1" + " " * 100_000 + "x", "$" + " " * 100_000])
def test_no_amount(text: str) -> None:
    with pytest.raises(InputError):
        parse_money(text)


@pytest.mark.parametrize(("text", "amount"), [("  $ 12.50 ", 1250), ("12.5 usd", 1250), ("\t7USD\n", 700)])
def test_amounts_are_read_with_their_spaces(text: str, amount: int) -> None:
    assert parse_money(text).minor == amount


def test_sentences_of_a_text_of_dots() -> None:
    assert _SENTENCE.findall("." * 200_000 + "x") == []
    assert len(_SENTENCE.findall("So... it goes. Does it?! Yes.")) == 4


def test_an_answer_of_open_tags_alone() -> None:
    assert len(error_text(b"<script" * 100_000)) <= 300


def test_a_layout_of_open_parameters_alone() -> None:
    with pytest.raises(TurkError):
        fill_layout("${" * 200_000 + "${a}", [])
