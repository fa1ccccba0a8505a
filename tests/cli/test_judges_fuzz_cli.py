"""Bad input of every kind through the commands: a sentence or a stated rule, and never a traceback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

if TYPE_CHECKING:
    from pathlib import Path

Hmc = Callable[..., Any]

BASE = {
    "item": ["p1", "p2", "p3"],
    "instruction": ["Greet me.", "Name a tree.", "Count to two."],
    "response_a": ["Hello!", "An oak.", "One, two."],
    "response_b": ["No.", "A stone.", "Two."],
    "reference": ["Good morning!", "A beech.", "One, two."],
    "category": ["Open QA", "Open QA", "Rewrite"],
}


def pairs_file(folder: Path, **columns: Any) -> str:
    path = folder / "pairs.csv"
    pd.DataFrame(BASE | columns).to_csv(path, index=False)
    return str(path)


@pytest.fixture
def chat_without_logprobs() -> Iterator[str]:
    """A server that says A, and gives no log probabilities."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            raw = json.dumps({"model": "m", "choices": [{"message": {"content": "tie"}}]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


JUDGES = ("random", "shorter", "longer", "rouge", "rougeL", "rouge:rouge", "direct:longer")


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize(
    "columns",
    [
        {"response_a": ["", "An oak.", "One, two."]},
        {"response_a": ["", "", ""], "response_b": ["", "", ""]},
        {"response_a": BASE["response_b"]},
        {"reference": ["", "  ", "One, two."]},
        {"response_b": ["word " * 20_000, "x" * 100_000, "\u200d\U0001f469" * 50_000]},
        {"category": ["nobody knows this one", "", "Rewrite"]},
        {"instruction": ["", "\x07", "$reference ${x} %s {0}"]},
    ],
    ids=["empty", "all empty", "equal", "no reference", "100,000 characters", "category", "instruction"],
)
def test_every_judge_takes_what_comes(hmc: Hmc, tmp_path: Path, judge: str, columns: dict[str, Any]) -> None:
    done = hmc("judges", "run", pairs_file(tmp_path, **columns), "--judge", judge, "--json")
    assert done.code == 0, done.err
    rows = done.json["judgements"]
    assert [row["item"] for row in rows] == ["p1", "p2", "p3"]
    for row in rows:
        assert row["label"] in {"a", "b", "tie", None}
        assert (row["label"] is None) == bool(row["reason"])
    made = BASE | columns
    for place, row in enumerate(rows):
        if made["response_a"][place] == made["response_b"][place] and judge != "random":
            assert row["label"] in {"tie", None}


def test_the_rules_are_told_in_words(hmc: Hmc, tmp_path: Path) -> None:
    done = hmc("judges", "run", pairs_file(tmp_path, reference=["", "A beech.", ""]), "--judge", "rouge")
    assert "2 not judged: no reference" in done.out


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"item": ["p1", "p1", "p2"]}, "pairs name an item twice"),
        ({"item": ["p1", "", "p2"]}, "pairs have no item in row 1"),
    ],
)
def test_items_that_cannot_be_told_apart_are_refused(
    hmc: Hmc, tmp_path: Path, columns: dict[str, Any], told: str
) -> None:
    done = hmc("judges", "run", pairs_file(tmp_path, **columns), "--judge", "rouge")
    assert done.code == 2
    assert told in done.err
    assert "fault of hmc-crowd" not in done.err


def test_an_endpoint_without_log_probabilities(hmc: Hmc, tmp_path: Path, chat_without_logprobs: str) -> None:
    words = (
        "judges",
        "run",
        pairs_file(tmp_path),
        "--judge",
        "llm",
        "--endpoint",
        chat_without_logprobs,
        "--model",
        "m",
    )
    once = hmc(*words, "--json").json["judgements"]
    assert [row["confidence"] for row in once] == [None] * 3
    several = hmc(*words, "--samples", "3", "--json").json["judgements"]
    assert [row["confidence"] for row in several] == [1.0] * 3
    # Without a confidence a plan sends the pair to people.
    hmc(*words, "--predictions", str(tmp_path / "said.csv"))
    assert pd.read_csv(tmp_path / "said.csv")["confidence"].tolist() == [0.0] * 3


def test_a_long_text_is_left_to_people_and_not_cut(hmc: Hmc, tmp_path: Path, chat_without_logprobs: str) -> None:
    file = pairs_file(tmp_path, response_a=["y" * 100_000, "An oak.", "One, two."])
    words = ("judges", "run", file, "--judge", "llm", "--endpoint", chat_without_logprobs, "--model", "m")
    assert "1 not judged: a text of 100,000 characters (limit 32,000)" in " ".join(hmc(*words).out.split())


ANSWERS = "task,worker,label\np1,w1,a\np1,w2,a\np2,w1,b\np2,w2,tie\np3,w1,a\np3,w2,a\n"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("answers.csv", "task,worker,label\n", "has no rows"),
        ("answers.csv", "task,worker,label\np1,w1,left\n", "label 'left'"),
        ("answers.csv", "task,worker,label\nnowhere,w1,a\n", "answer pair 'nowhere'"),
        ("answers.csv", "task,worker,label\np1,w1,a\np1,w1,b\n", "twice"),
        ("judged.csv", "item,label\np1,a\n", "lacks pair 'p2'"),
        ("judged.csv", "item,label\np1,a\np2,win\np3,b\n", "says 'win'"),
        ("judged.csv", "item,label,confidence\np1,a,high\np2,a,1\np3,b,1\n", "confidence must be a number"),
        ("judged.csv", "item,label\np1,a\np1,b\np2,b\np3,b\n", "names a pair twice"),
        ("judged.csv", "label\na\n", "has no column 'item'"),
        ("judged.csv", "", "judged.csv"),
        ("other.csv", "item,instruction,response_a,response_b\nq1,x,y,z\n", "has no column 'model'"),
    ],
)
def test_bad_tables_of_a_comparison_are_refused(hmc: Hmc, tmp_path: Path, name: str, text: str, told: str) -> None:
    file = pairs_file(tmp_path, model=["m", "n", "m"])
    (tmp_path / "answers.csv").write_text(ANSWERS)
    (tmp_path / name).write_text(text)
    words = ["judges", "compare", file, "--answers", str(tmp_path / "answers.csv"), "--judges", "longer,rouge"]
    if name == "judged.csv":
        words += ["--judged", f"j={tmp_path / name}"]
    if name == "other.csv":
        words += ["--other", str(tmp_path / name), "--model-column", "model"]
    done = hmc(*words)
    assert done.code == 2
    assert told in " ".join(done.err.split())
    assert "fault of hmc-crowd" not in done.err


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '"x"', '{"name": 1, "version": 2, "served": 3, "panel": 4, "labels": [5]}', "\x00"]
)
def test_a_pin_that_is_none_is_refused(hmc: Hmc, tmp_path: Path, text: str) -> None:
    (tmp_path / "pin.json").write_text(text)
    done = hmc("judges", "check", pairs_file(tmp_path), "--judge", "longer", "--pin", str(tmp_path / "pin.json"))
    assert done.code in {1, 2}
    assert "fault of hmc-crowd" not in done.err


@pytest.mark.parametrize("place", ["no/pin.json", ".", "pin"])
def test_a_pin_goes_where_a_file_can_be(hmc: Hmc, tmp_path: Path, place: str) -> None:
    words = ["judges", "pin", pairs_file(tmp_path), "--judge", "longer", "--overwrite", "--out", str(tmp_path / place)]
    done = hmc(*words)
    assert done.code == (0 if place == "pin" else 2)
    assert "fault of hmc-crowd" not in done.err


@pytest.mark.parametrize("seed", range(12))
def test_any_bytes_in_any_column(hmc: Hmc, tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pieces = [
        "",
        " ",
        "\n",
        "\t",
        '"',
        "'",
        ",",
        "\u202e",
        "\ud7ff",
        "0",
        "nan",
        "None",
        "\\",
        "$x",
        "é",
        "e\u0301",
        "====",
        "<b>",
    ]
    columns = {
        name: ["".join(rng.choice(pieces, int(rng.integers(0, 9)))) for _ in range(3)]
        for name in ("instruction", "response_a", "response_b", "reference", "category", "audience")
    }
    for judge in ("longer", "rouge", "rouge:rouge-score", "direct:shorter"):
        done = hmc("judges", "run", pairs_file(tmp_path, **columns), "--judge", judge, "--json")
        assert done.code == 0, done.err
        json.dumps(done.json)


def test_blank_responses_can_be_sampled(hmc: Hmc, tmp_path: Path) -> None:
    rows = [(f"q{q}", "?", f"m{m}", "x" * ((q + m) % 4)) for q in range(8) for m in range(6)]
    table = pd.DataFrame(rows, columns=["instruction_id", "instruction", "model", "response"])
    table.to_csv(tmp_path / "responses.csv", index=False)
    done = hmc("judges", "sample", str(tmp_path / "responses.csv"), "--baseline", "m1")
    assert done.code == 0, done.err
