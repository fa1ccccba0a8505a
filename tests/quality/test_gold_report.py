"""Gold report: a wrong key is found, and a bad worker does not make one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.quality import gold_report

COLUMNS = ["task", "worker", "label"]
GOLD = {f"g{i}": "yes" for i in range(5)}


def everybody(said: dict[str, list[str]]) -> pd.DataFrame:
    rows = [(f"g{i}", worker, label) for worker, labels in said.items() for i, label in enumerate(labels)]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_counts_by_hand() -> None:
    # g0: yes, yes, no -> 2 of 3 right; top label yes with 2
    report = gold_report(
        everybody({"a": ["yes"] * 5, "b": ["yes"] * 5, "c": ["no", "yes", "yes", "yes", "yes"]}), GOLD
    ).set_index("item")
    assert report.loc["g0", ["n", "right", "top_label", "top_n"]].tolist() == [3, 2, "yes", 2]
    assert report.loc["g0", "share"] == pytest.approx(2 / 3)


def test_an_item_that_good_workers_miss_is_a_suspect() -> None:
    said = {w: ["yes", "yes", "yes", "yes", "no"] for w in "abc"} | {"d": ["yes"] * 5}
    report = gold_report(everybody(said), GOLD).set_index("item")
    assert report.index[report["suspect"]].tolist() == ["g4"]
    assert report.loc["g4", "reason"] == "3 of 4 workers who are good on other gold miss it"
    assert report.loc["g4", "top_label"] == "no"


def test_an_item_that_only_bad_workers_miss_is_none() -> None:
    said = {w: ["yes"] * 5 for w in "abc"} | {w: ["no"] * 5 for w in "defgh"}
    report = gold_report(everybody(said), GOLD)
    assert not report["suspect"].any()
    assert (report["good_n"] == 3).all()


def test_the_item_itself_does_not_judge_its_workers() -> None:
    # four of five right, the fifth being the item: good on 4 of 4 others
    said = {w: ["yes", "yes", "yes", "yes", "no"] for w in "abc"}
    report = gold_report(everybody(said), GOLD, good=1.0).set_index("item")
    assert report.loc["g4", "good_n"] == 3
    assert report.loc["g0", "good_n"] == 0  # there, one of the four others is wrong


def test_too_few_good_workers_accuse_nothing() -> None:
    said = {w: ["yes", "yes", "yes", "yes", "no"] for w in "ab"}
    assert not gold_report(everybody(said), GOLD)["suspect"].any()
    assert gold_report(everybody(said), GOLD, at_least=2)["suspect"].sum() == 1


def test_gold_without_answers_is_left_out() -> None:
    report = gold_report(everybody({"a": ["yes"] * 5}), GOLD | {"g9": "yes"})
    assert "g9" not in report["item"].tolist()


def test_wrong_keys_are_found_among_many() -> None:
    # 40 gold items, 3 with a wrong key; 30 workers right with .85, each answering 20
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 40)
    key = truth.copy()
    key[:3] = 1 - key[:3]
    rows = [
        (int(task), worker, int(truth[task] if rng.random() < 0.85 else 1 - truth[task]))
        for worker in range(30)
        for task in rng.choice(40, 20, replace=False)
    ]
    report = gold_report(pd.DataFrame(rows, columns=COLUMNS), dict(enumerate(key.tolist())))
    assert report["item"][report["suspect"]].tolist() == [0, 1, 2]


@pytest.mark.parametrize(("name", "value"), [("good", 1.2), ("good", -0.1), ("at_least", 0), ("at_least", True)])
def test_wrong_arguments_are_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name} is {value!r}"):
        gold_report(everybody({"a": ["yes"]}), GOLD, **{name: value})  # type: ignore[arg-type]
