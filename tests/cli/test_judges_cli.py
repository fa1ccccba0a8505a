"""The judges commands: tables, strict JSON, a page, exit codes, and wrong words refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd.judges import example_pairs

if TYPE_CHECKING:
    from pathlib import Path

Hmc = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    pairs, answers = example_pairs()
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    answers.to_csv(tmp_path / "answers.csv", index=False)
    return tmp_path


def test_run_writes_what_compare_reads(hmc: Hmc, files: Path) -> None:
    done = hmc("judges", "run", str(files / "pairs.csv"), "--judge", "rouge", "--out", str(files / "rouge.csv"))
    assert done.code == 0
    assert "rouge: 117 pairs, a 23, b 90, tie 4, unparsed 0" in done.out
    found = hmc(
        "judges", "compare", str(files / "pairs.csv"), "--answers", str(files / "answers.csv"), "--judges", "rouge",
        "--judged", f"again={files / 'rouge.csv'}", "--model-column", "model", "--json",
    ).json  # fmt: skip
    by = {row["judge"]: row["all"] for row in found["agreement_pct"]}
    assert by["again"] == by["rouge"]
    assert by["people"] > by["rouge"]
    assert found["p_values"][-1]["size"] == 39


def test_the_page_holds_the_table(hmc: Hmc, files: Path) -> None:
    done = hmc(
        "judges", "compare", str(files / "pairs.csv"), "--answers", str(files / "answers.csv"), "--html",
        str(files / "page.html"),
    )  # fmt: skip
    assert done.code == 0
    page = (files / "page.html").read_text()
    assert "composite (held out)" in page
    assert "<script" not in page
    assert pd.read_csv(files / "page_tables" / "agreement.csv")["judge"].tolist()[-1] == "people"


def test_a_pinned_judge_is_checked_by_exit_code(hmc: Hmc, files: Path) -> None:
    pairs, pin = str(files / "pairs.csv"), str(files / "pin.json")
    assert hmc("judges", "pin", pairs, "--judge", "rouge", "--out", pin).code == 0
    assert hmc("judges", "pin", pairs, "--judge", "rouge", "--out", pin).code == 2
    assert hmc("judges", "check", pairs, "--judge", "rouge", "--pin", pin).code == 0
    changed = hmc("judges", "check", pairs, "--judge", "rougeL", "--pin", pin, "--json")
    assert changed.code == 1
    assert "is another judge than" in changed.json["reason"]
    assert hmc("judges", "check", pairs, "--judge", "rouge", "--pin", pairs).code == 2


def test_sampled_pairs_are_told_to_be_balanced(hmc: Hmc, files: Path) -> None:
    rows = [(f"q{q}", "?", f"m{m}", "x" * (1 + (q * 7 + m * 5) % 23)) for q in range(30) for m in range(8)]
    table = pd.DataFrame(rows, columns=["instruction_id", "instruction", "model", "response"])
    table.to_csv(files / "responses.csv", index=False)
    done = hmc("judges", "sample", str(files / "responses.csv"), "--baseline", "m0", "--out", str(files / "drawn.csv"))
    assert done.code == 0
    assert "longer than the baseline in 50.0%" in done.out
    assert set(pd.read_csv(files / "drawn.csv")["baseline"]) == {"m0"}


def test_a_card_is_markdown(hmc: Hmc, files: Path) -> None:
    done = hmc("judges", "card", str(files / "pairs.csv"), "--name", "Example")
    assert done.out.startswith("# Example\n")
    assert "| Size | 117 pairs of 39 instructions |" in done.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "{pairs}", "--judge", "oracle"), "judge 'oracle' is not known; choose among random, shorter"),
        (("run", "{pairs}", "--judge", "llm"), "needs --endpoint URL and --model NAME"),
        (("run", "{pairs}", "--judge", "local"), "write local:FOLDER"),
        (("run", "{pairs}", "--judge", "perplexity"), "no column perplexity_a"),
        (("run", "{answers}", "--judge", "rouge"), "has no column 'item'"),
        (("run", "{pairs}", "--judge", "llm", "--endpoint", "ftp://x", "--model", "m"), "give an http(s) address"),
        (("compare", "{pairs}", "--answers", "{pairs}"), "has no column 'task'"),
        (("compare", "{pairs}", "--answers", "{answers}", "--judged", "x"), "write NAME=FILE"),
        (("compare", "{pairs}", "--answers", "{answers}", "--candidates", "x"), "candidates names ['x']"),
        (("sample", "{pairs}", "--baseline", "m0"), "responses lack instruction_id, response"),
    ],
)
def test_wrong_words_are_refused_in_a_sentence(hmc: Hmc, files: Path, words: tuple[str, ...], told: str) -> None:
    names = {"pairs": files / "pairs.csv", "answers": files / "answers.csv"}
    done = hmc("judges", *(word.format(**names) for word in words))
    assert done.code == 2
    assert told in " ".join(done.err.split())
    assert "Traceback" not in done.err
