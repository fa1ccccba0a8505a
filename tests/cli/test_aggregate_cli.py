"""`hmc-crowd aggregate` on files: every method, every option, every bad input in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

COLUMNS = ["task", "worker", "label"]
METHODS = ("dawid-skene", "majority", "weighted", "wawa", "one-coin", "glad", "mace", "ibcc", "ebcc", "bwa", "choose")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Answers of eight workers to forty items, gold for half of them, what is known of one worker."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = np.where(rng.random(40) < 0.5, "good", "bad")
    other = {"good": "bad", "bad": "good"}
    rows = [
        (f"i{t}", f"w{w}", truth[t] if rng.random() < 0.85 else other[truth[t]], "audit" if t % 4 == 0 else "routed")
        for t in range(40)
        for w in rng.choice(8, 4, replace=False)
    ]
    answers = pd.DataFrame(rows, columns=[*COLUMNS, "why"])
    answers.to_csv("answers.csv", index=False)
    answers.to_json("answers.jsonl", orient="records", lines=True)
    answers.to_parquet("answers.parquet")
    gold = pd.DataFrame({"item": [f"i{t}" for t in range(20)], "label": truth[:20]})
    gold.to_csv("gold.csv", index=False)
    Path("past.csv").write_text("worker,label,truth,count\nw1,good,good,50\nw1,bad,good,2\n", encoding="utf-8")
    return tmp_path


def write(name: str, *lines: str) -> str:
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_gold_and_writes_labels_and_workers(files: Path, hmc: Any, method: str) -> None:
    found = hmc(
        "aggregate", "answers.csv", "--method", method, "--gold", "gold.csv", "--out", "l.csv", "--workers", "w.csv"
    )
    assert found.code == 0, found.err
    labels, gold = pd.read_csv("l.csv").set_index("item")["label"], pd.read_csv("gold.csv").set_index("item")["label"]
    assert len(labels) == 40
    assert (labels[gold.index] == gold).all()
    assert pd.read_csv("w.csv")["worker"].tolist() == [f"w{w}" for w in range(8)]


@pytest.mark.parametrize("name", ["answers.jsonl", "answers.parquet"])
def test_every_kind_of_file_gives_the_same_labels(files: Path, hmc: Any, name: str) -> None:
    for source, out in (("answers.csv", "a.csv"), (name, "b.csv")):
        assert hmc("aggregate", source, "--out", out).code == 0
    assert Path("a.csv").read_text(encoding="utf-8") == Path("b.csv").read_text(encoding="utf-8")


def test_json_holds_the_whole_result(files: Path, hmc: Any) -> None:
    told = hmc("aggregate", "answers.csv", "--method", "choose", "--gold", "gold.csv", "--json").json
    assert told["counts"]["gold_used"] == 20
    assert "chosen by gold" in told["method"]
    assert len(told["frame"]) == 40


def test_history_strata_and_labels_reach_the_method(files: Path, hmc: Any) -> None:
    more = ("--history", "past.csv", "--strata", "why", "--labels", "bad,good,ugly", "--engine", "numpy")
    assert hmc("aggregate", "answers.csv", *more, "--out", "l.csv").code == 0
    assert hmc("aggregate", "answers.csv", "--out", "plain.csv").code == 0
    found, plain = pd.read_csv("l.csv"), pd.read_csv("plain.csv")
    assert "p_ugly" in found
    assert not np.allclose(found["p_good"], plain["p_good"])


def test_numbers_and_steps_of_a_scale(files: Path, hmc: Any) -> None:
    write("n.csv", "task,worker,label", *(f"i{t},w{w},{t + w}" for t in range(6) for w in range(3)))
    told = hmc("aggregate", "n.csv", "--method", "numeric", "--json").json
    assert [round(row["label"]) for row in told["frame"]] == [1, 2, 3, 4, 5, 6]
    steps = ["poor", "fair", "fine"]
    write("o.csv", "task,worker,label", *(f"i{t},w{w},{steps[t % 3]}" for t in range(6) for w in range(3)))
    told = hmc("aggregate", "o.csv", "--method", "numeric", "--labels", ",".join(steps), "--json").json
    assert [row["label"] for row in told["frame"]] == steps * 2


def test_texts_rankings_and_sets_go_through_crowd_kit(files: Path, hmc: Any) -> None:
    pytest.importorskip("crowdkit")
    write("t.csv", "task,worker,label", "a,w1,the cat sat", "a,w2,a cat sat", "a,w3,the cat sits")
    assert hmc("aggregate", "t.csv", "--method", "crowdkit:rover", "--json").json["frame"][0]["label"] == "the cat sat"
    write("c.csv", "worker,left,right,label", "w1,x,y,x", "w2,x,y,y", "w1,y,z,y", "w2,z,x,z", "w1,z,x,x")
    told = hmc("aggregate", "c.csv", "--method", "crowdkit:bradley-terry", "--json").json
    assert [row["label"] for row in told["frame"]] == [2, 1, 3]
    rows = [{"task": "a", "worker": f"w{w}", "label": ["p", "q"][: 1 + w % 2]} for w in range(3)]
    write("s.jsonl", *map(json.dumps, rows))
    assert hmc("aggregate", "s.jsonl", "--method", "crowdkit:binary_relevance", "--json").json["frame"][0]["label"] == [
        "p"
    ]


def test_abstentions_and_items_without_any_label_are_counted(files: Path, hmc: Any) -> None:
    write("b.csv", "task,worker,label", "a,w1,x", "a,w2,", "b,w1,", "b,w2,y", "c,w1,")
    found = hmc("aggregate", "b.csv", "--method", "majority")
    assert found.code == 0
    assert "2 of 5 answers used (3 without label, 0 repeated)" in found.out
    assert "1 tasks have no label at all" in " ".join(found.out.split())
    assert hmc("aggregate", "b.csv", "--method", "majority", "--json").json["items_without_label"] == ["c"]


def test_gold_of_unknown_items_is_counted(files: Path, hmc: Any) -> None:
    write("g.csv", "item,label", "nobody,good", "i0,good")
    assert "1 of 2 gold items have answers" in " ".join(hmc("aggregate", "answers.csv", "--gold", "g.csv").out.split())


def test_repeated_answers_follow_the_rule(files: Path, hmc: Any) -> None:
    write("r.csv", "task,worker,label", "a,w1,x", "a,w1,y", "b,w2,y")
    assert hmc("aggregate", "r.csv").code == 2
    assert hmc("aggregate", "r.csv", "--repeats", "all").code == 0
    assert hmc("aggregate", "r.csv", "--repeats", "refuse").code == 2


def test_an_mturk_batch_is_read_as_it_is(files: Path, hmc: Any) -> None:
    head = (
        "HITId,AssignmentId,WorkerId,AssignmentStatus,AcceptTime,SubmitTime,WorkTimeInSeconds,Input.item,Answer.label"
    )
    time = "Mon Nov 04 22:15:19 PST 2019"
    rows = [
        f"h{t},a{t}{w},w{w},Approved,{time},{time},9,i{t},{'yes' if t else 'no'}" for t in range(2) for w in range(3)
    ]
    write("batch.csv", head, *rows)
    told = hmc("aggregate", "batch.csv", "--method", "majority", "--json").json
    assert [(row["item"], row["label"]) for row in told["frame"]] == [("i0", "no"), ("i1", "yes")]


def test_the_page_shows_workers_and_calibration(files: Path, hmc: Any) -> None:
    found = hmc("aggregate", "answers.csv", "--gold", "gold.csv", "--report", "page.html")
    assert found.code == 0, found.err
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Accuracy of the workers" in page
    assert "Confidence against truth" in page
    assert "Confidence against truth" not in page_of(hmc, "--method", "wawa")


def page_of(hmc: Any, *more: str) -> str:
    assert hmc("aggregate", "answers.csv", *more, "--report", "other.html").code == 0
    return Path("other.html").read_text(encoding="utf-8")


BAD: list[tuple[tuple[str, ...], tuple[str, ...], str]] = [
    (("item,worker,label", "a,w,x"), (), "lacks the column task"),
    (("task,worker,label", "a,,x"), (), "worker is empty in line 2"),
    (("task,worker,label", "a,w1,", "b,w1,"), (), "none with a label"),
    (("task,worker,label",), (), "has no rows"),
    (("task,worker,label", "a,w1,x", "a,w2,y"), ("--labels", "x"), "label must be one of x: line"),
    (("task,worker,label", "a,w1,x"), ("--method", "guess"), "method is 'guess'"),
    (("task,worker,label", "a,w1,x"), ("--method", "choose"), "give gold"),
    (("task,worker,label", "a,w1,x"), ("--method", "numeric"), "label must be a number in line"),
    (("task,worker,label", "a,w1,x"), ("--method", "crowdkit:kos"), "near chance"),
    (("task,worker,label", "a,w1,x"), ("--method", "wawa", "--engine", "numba"), "engine goes with"),
    (("task,worker,label", "a,w1,x"), ("--method", "majority", "--history", "past.csv"), "history goes with"),
    (("task,worker,label", "a,w1,x"), ("--history", "gold.csv"), "lacks the column count"),
    (("task,worker,label", "a,w1,x"), ("--engine", "cuda"), "engine is 'cuda'"),
    (("task,worker,label", "a,w1,x"), ("--engine", "dask"), "--scheduler ADDRESS"),
    (("task,worker,label", "a,w1,x"), ("--strata", "why"), "lacks the column 'why'"),
    (("task,worker,label", "a,w1,x"), ("--repeats", "some"), "repeats is 'some'"),
    (("task,worker,label", "a,w1,x"), ("--aspect", "tone"), "no aspects"),
    (("task,worker,label", "a,w1,x"), ("--report", "page.txt"), "ends in .html"),
    (("task,worker,label", "a,w1,x"), ("--workers", "w.doc"), "--workers is 'w.doc'"),
    (("task,worker,label", "a,w1,x"), ("--update",), "--update goes with a campaign"),
    (("task,worker,label", "i0,w1,x"), ("--gold", "gold.csv"), "gold.csv has labels outside"),
]


@pytest.mark.parametrize(("lines", "more", "words"), BAD, ids=[words for _, _, words in BAD])
def test_bad_input_is_one_sentence_and_writes_nothing(
    files: Path, hmc: Any, lines: tuple[str, ...], more: tuple[str, ...], words: str
) -> None:
    write("bad.csv", *lines)
    found = hmc("aggregate", "bad.csv", *more, "--out", "out.csv")
    assert found.code == 2
    assert words in found.err
    assert found.err.count("\n") == 1
    assert not Path("out.csv").exists()


def test_labels_of_mixed_kinds_are_refused(files: Path, hmc: Any) -> None:
    write("m.jsonl", *(json.dumps({"task": "a", "worker": f"w{n}", "label": x}) for n, x in enumerate(("x", 1, True))))
    assert "mixes values of the kinds bool, int, str" in hmc("aggregate", "m.jsonl").err


def test_one_worker_and_one_label_are_no_fault(files: Path, hmc: Any) -> None:
    write("w.csv", "task,worker,label", "a,w1,x", "b,w1,y", "c,w1,x")
    assert [row["label"] for row in hmc("aggregate", "w.csv", "--json").json["frame"]] == ["x", "y", "x"]
    write("l.csv", "task,worker,label", "a,w1,x", "a,w2,x", "b,w1,x")
    assert [row["confidence"] for row in hmc("aggregate", "l.csv", "--json").json["frame"]] == [1.0, 1.0]


def test_a_hundred_thousand_labels_are_said_to_be_too_many(files: Path, hmc: Any) -> None:
    n = 100_000
    table = {"task": np.arange(n) // 2, "worker": np.arange(n) % 50, "label": [f"l{each}" for each in range(n)]}
    pd.DataFrame(table).to_csv("many.csv", index=False)
    assert "check the label column" in hmc("aggregate", "many.csv").err
