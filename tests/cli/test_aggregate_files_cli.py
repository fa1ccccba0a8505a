"""`hmc-crowd aggregate` on files that meet others: what it must not overwrite, gold and aspects, labels in disguise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

COLUMNS = "task,worker,label"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"i{t},w{w},{'good' if (t + (w == 3)) % 2 else 'bad'},{w}" for t in range(12) for w in range(4)]
    write("a.csv", f"{COLUMNS},trust", *rows)
    write("gold.csv", "item,label", *(f"i{t},{'good' if t % 2 else 'bad'}" for t in range(12)))
    return tmp_path


def write(name: str, *lines: str) -> str:
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--out", "a.csv"), "--out is 'a.csv', which ANSWERS names too"),
        (("--gold", "gold.csv", "--out", "gold.csv"), "--out is 'gold.csv', which --gold names too"),
        (("--out", "l.csv", "--workers", "./l.csv"), "--workers is 'l.csv', which --out names too"),
        (("--report", "nowhere/page.html"), "the folder nowhere does not exist"),
    ],
)
def test_no_file_is_written_over_another_one_that_is_named(
    work: Path, hmc: Any, more: tuple[str, ...], words: str
) -> None:
    before = {path.name: path.read_bytes() for path in work.iterdir()}
    found = hmc("aggregate", "a.csv", *more, "--overwrite")
    assert found.code == 2
    assert words in found.err
    assert {path.name: path.read_bytes() for path in work.iterdir()} == before


def test_a_page_that_is_there_is_kept_unless_told(work: Path, hmc: Any) -> None:
    write("page.html", "mine")
    assert "--report is 'page.html', which exists" in hmc("aggregate", "a.csv", "--report", "page.html").err
    assert Path("page.html").read_text(encoding="utf-8") == "mine\n"


def test_weights_are_a_column_of_the_file(work: Path, hmc: Any) -> None:
    told = hmc("aggregate", "a.csv", "--method", "majority", "--weights", "trust", "--json").json
    # item i0: workers 0, 1, 2 with weights 0 + 1 + 2 say bad, worker 3 with weight 3 says good: three against three
    first = next(row for row in told["frame"] if row["item"] == "i0")
    assert (first["p_good"], first["tied"]) == (0.5, True)
    assert "a.csv: label must be finite numbers of at least 0: lines 2 ('bad')" in (
        hmc("aggregate", "a.csv", "--weights", "label").err
    )


def test_gold_may_call_its_items_tasks(work: Path, hmc: Any) -> None:
    write("tasks.csv", "task,label", "i0,good")
    assert hmc("aggregate", "a.csv", "--gold", "tasks.csv", "--json").json["counts"]["gold_used"] == 1


def test_gold_follows_the_aspect(work: Path, hmc: Any) -> None:
    write("two.csv", f"{COLUMNS},aspect", "a,w1,x,tone", "a,w2,y,tone", "a,w1,p,facts")
    write("g.csv", "item,label,aspect", "a,y,tone", "a,p,facts")
    told = hmc("aggregate", "two.csv", "--aspect", "tone", "--gold", "g.csv", "--json").json
    assert told["frame"][0]["label"] == "y"
    assert "mixes the aspects facts, tone; name one with --aspect" in hmc("aggregate", "a.csv", "--gold", "g.csv").err


def test_gold_that_rests_on_a_model_is_refused(work: Path, hmc: Any) -> None:
    write("labels.csv", "item,label,evidence", "i0,good,people_blind", "i1,good,with_model")
    assert "evidence says with_model" in hmc("aggregate", "a.csv", "--gold", "labels.csv").err


def test_aspects_of_texts_are_told_apart(work: Path, hmc: Any) -> None:
    pytest.importorskip("crowdkit")
    write("t.csv", f"{COLUMNS},aspect", "a,w1,the cat,one", "a,w2,the cat,one", "a,w1,no dog,two")
    told = hmc("aggregate", "t.csv", "--method", "crowdkit:rover", "--aspect", "one", "--json").json
    assert [row["label"] for row in told["frame"]] == ["the cat"]


def test_a_missing_value_written_out_as_text_is_pointed_at(work: Path, hmc: Any) -> None:
    write("n.csv", COLUMNS, "a,w1,good", "a,w2,NaN", "b,w1,bad")
    assert "'NaN' counts as a label" in hmc("aggregate", "n.csv", "--json").json["cautions"][0]
    named = hmc("aggregate", "n.csv", "--labels", "good,bad,NaN", "--json").json["cautions"]
    assert not any("counts as a label" in caution for caution in named)


def test_lists_of_labels_are_sent_to_the_method_for_them(work: Path, hmc: Any) -> None:
    write("s.jsonl", json.dumps({"task": "a", "worker": "w", "label": ["p", "q"]}))
    assert "--method crowdkit:binary_relevance" in hmc("aggregate", "s.jsonl").err


def test_workers_of_the_history_who_do_not_take_part_are_said(work: Path, hmc: Any) -> None:
    write("past.csv", "worker,label,truth,count", "w1,good,good,9", "nobody,good,good,9")
    out = " ".join(hmc("aggregate", "a.csv", "--history", "past.csv").out.split())
    assert "1 of 2 workers of the history take part" in out


def test_the_choice_is_given_with_its_reason(work: Path, hmc: Any) -> None:
    out = " ".join(hmc("aggregate", "a.csv", "--method", "choose", "--gold", "gold.csv").out.split())
    assert "note: Chosen: " in out
    assert "12 gold items" in out


def test_an_aspect_cannot_be_picked_on_a_cluster(work: Path, hmc: Any) -> None:
    found = hmc("aggregate", "a.csv", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:9", "--aspect", "tone")
    assert "--aspect goes with other engines than dask" in found.err


FAULTS = [
    (("i0,w1,0,t,1", "i0,w2,7,t,1"), ("--labels", "0,1"), "x.csv: label must be one of 0, 1: line 3 ('7'); correct"),
    (("i0,w1,0,t,1", "i0,w2,7,u,1"), (), "x.csv mixes the aspects t, u; name one with --aspect"),
    (
        ("i0,w1,0,t,1", "i1,w1,1,t,1", "i0,w2,7,u,1", "i0,w3,9,t,1"),
        ("--aspect", "t", "--labels", "0,1"),
        "line 5 ('9')",
    ),
    (("i0,w1,0,t,1", "i0,w2,x,t,1"), ("--method", "numeric"), "x.csv: label must be a number in line 3 ('x')"),
    (
        ("i0,w1,0,t,1", "i0,w2,1,t,-2"),
        ("--weights", "trust"),
        "x.csv: trust must be finite numbers of at least 0: line 3",
    ),
    (("i0,w1,0,t,1",), ("--weights", "heft"), "x.csv lacks the column 'heft' that --weights names (it has: task"),
    (("i0,w1,0,t,1",), ("--strata", "route"), "x.csv lacks the column 'route' that --strata names"),
    (("i0,w1,,t,1",), (), "x.csv has 1 rows and none with a label"),
    (("i0,w1,0,t,1", "i0,w1,1,t,1"), (), "x.csv holds different labels by one worker for one task"),
    (("i0,w1,0,t,1",), ("--gold", "g.csv"), "g.csv has labels outside"),
    (("i0,w1,0,t,1",), ("--history", "h.csv"), "h.csv: count must be finite numbers of at least 0: line 2 ('-3')"),
    (("i0,w1,0,t,1",), ("--history", "h2.csv"), "h2.csv has labels outside"),
]


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize(("rows", "more", "words"), FAULTS)
def test_a_fault_in_a_file_is_told_by_its_name_and_its_line(
    hmc: Any, rows: tuple[str, ...], more: tuple[str, ...], words: str
) -> None:
    write("x.csv", f"{COLUMNS},aspect,trust", *rows)
    write("g.csv", "task,label", "i0,5")
    write("h.csv", "worker,label,truth,count", "w1,0,0,-3")
    write("h2.csv", "worker,label,truth,count", "w1,0,9,3")
    found = hmc("aggregate", "x.csv", *more)
    assert found.code == 2
    assert words in found.err.replace("\n", " ")
    assert "answers" not in found.err.partition(";")[0]
