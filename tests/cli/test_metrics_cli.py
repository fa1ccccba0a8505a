"""The metrics commands: readable tables, strict JSON, and wrong files or options refused by name with exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.metrics import expected_win_rate, krippendorff_alpha, leave_one_out_agreement, quadratic_weighted_kappa

if TYPE_CHECKING:
    from pathlib import Path

Hmc = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    true = rng.integers(1, 6, 60)
    human = np.clip(true + rng.integers(-1, 2, 60), 1, 6)
    scores = pd.DataFrame(
        {"human": human, "system": (true + rng.normal(0, 0.5, 60)).round(3), "group": list("ab") * 30}
    )
    second = np.clip(true + rng.integers(-1, 2, 60), 1, 6).astype(object)
    second[::3] = ""
    scores.assign(human2=second).to_csv(tmp_path / "scores.csv", index=False)
    wide = pd.DataFrame(rng.integers(0, 3, (40, 3)), columns=["x", "y", "z"]).astype(object)
    wide.iloc[::5, 2] = ""
    wide.assign(judge=rng.integers(0, 3, 40), kind=list("pq") * 20).to_csv(tmp_path / "wide.csv", index=False)
    long = [
        (f"t{task}", worker, label)
        for task in range(20)
        for worker, label in zip("uvw", rng.choice(["a", "b"], 3), strict=True)
    ]
    pd.DataFrame(long, columns=["task", "worker", "label"]).to_csv(tmp_path / "long.csv", index=False)
    rows = [
        (f"i{item}", model, rng.choice(["win", "tie", "loss", ""], p=[share, 0.1, 0.85 - share, 0.05]))
        for item in range(50)
        for model, share in (("strong", 0.7), ("weak", 0.2))
    ]
    pairs = pd.DataFrame(rows, columns=["item", "model", "outcome"])
    pairs.assign(kind=list("pq") * 50, a=rng.integers(1, 9, 100), b=rng.integers(1, 9, 100)).to_csv(
        tmp_path / "pairs.csv", index=False
    )
    return tmp_path


def test_score_prints_tables_and_json(hmc: Hmc, files: Path) -> None:
    told = hmc("metrics", "score", "scores.csv", "--second-human", "human2", "--groups", "group", "--range", "1,6")
    assert told.code == 0
    for word in ("eval_short", "consistency", "eval_by_group", "wtkappa"):
        assert word in told.out
    as_json = hmc("metrics", "score", "scores.csv", "--json").json
    frame = pd.read_csv(files / "scores.csv")
    trimmed = frame["system"].clip(frame["human"].min() - 0.4998, frame["human"].max() + 0.4998)
    kappa = quadratic_weighted_kappa(frame["human"], trimmed).value
    assert f"{kappa:.9f}"[:-2] in str(as_json)


def test_score_writes_tables(hmc: Hmc, files: Path) -> None:
    assert hmc("metrics", "score", "scores.csv", "--tables", "out").code == 0
    assert (files / "out" / "eval.csv").exists()


def test_agreement_of_wide_rows_with_a_judge_by_category(hmc: Hmc, files: Path) -> None:
    arguments = ("metrics", "agreement", "wide.csv", "--raters", "x,y,z", "--judge", "judge", "--category", "kind")
    told = hmc(*arguments)
    assert told.code == 0
    for word in ("Krippendorff", "Fleiss", "AC1", "leave-one-out agreement (outer)", "all (micro)"):
        assert word in told.out
    found = {each["name"]: each for each in hmc(*arguments, "--json").json["metrics"]}
    table = pd.read_csv(files / "wide.csv")
    people = table[["x", "y", "z"]]
    assert found["Krippendorff's alpha (nominal)"]["value"] == pytest.approx(krippendorff_alpha(people).value)
    outer = leave_one_out_agreement(people, table["judge"])
    assert found["leave-one-out agreement (outer)"]["value"] == pytest.approx(outer.value)


def test_agreement_of_long_answers_and_scales(hmc: Hmc, files: Path) -> None:
    assert hmc("metrics", "agreement", "long.csv").code == 0
    told = hmc("metrics", "agreement", "wide.csv", "--raters", "x,y,z", "--scale", "interval")
    assert "ICC(A,1)" in told.out
    # Text has no distances: refused by name.
    assert hmc("metrics", "agreement", "long.csv", "--scale", "interval").code == 2


def test_preference_ranks_and_measures_length(hmc: Hmc, files: Path) -> None:
    arguments = ("metrics", "preference", "pairs.csv", "--lengths", "a,b", "--model", "model", "--category", "kind")
    told = hmc(*arguments, "--cluster", "item")
    assert told.code == 0
    for word in ("win rate", "length bias", "strong", "all (macro)", "paired t-test"):
        assert word in told.out
    found = hmc(*arguments, "--json").json
    outcomes = pd.read_csv(files / "pairs.csv")["outcome"]
    assert found["metrics"][0]["value"] == pytest.approx(expected_win_rate(outcomes).value)
    assert [row["model"] for row in found["ranking"]["table"]] == ["strong", "weak"]


def test_pairs_of_models_give_strengths(hmc: Hmc, tmp_path: Path) -> None:
    rows = [("m", "n", "win"), ("m", "n", "loss"), ("n", "m", "tie"), ("m", "n", "win")] * 5
    pd.DataFrame(rows, columns=["model_a", "model_b", "outcome"]).to_csv(tmp_path / "games.csv", index=False)
    found = hmc("metrics", "preference", "games.csv", "--json").json["bradley_terry"]
    assert [row["model"] for row in found["models"]] == ["m", "n"]


def test_what_is_undefined_is_null_and_a_dash(hmc: Hmc, tmp_path: Path) -> None:
    pd.DataFrame({"outcome": ["", ""]}).to_csv(tmp_path / "none.csv", index=False)
    assert hmc("metrics", "preference", "none.csv", "--json").json["metrics"][0]["value"] is None
    told = hmc("metrics", "preference", "none.csv")
    assert told.code == 0
    assert "no judgement was parsed" in told.out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("score", "nowhere.csv"), "nowhere.csv"),
        (("score", "scores.csv", "--human", "h9"), "no column 'h9'"),
        (("score", "scores.csv", "--range", "one,six"), "--range is 'one,six'"),
        (("agreement", "wide.csv"), "no column 'task'"),
        (("agreement", "wide.csv", "--raters", "x,y", "--scale", "cubic"), "--scale is 'cubic'"),
        (("agreement", "long.csv", "--category", "task"), "add --raters"),
        (("preference", "pairs.csv", "--tie", "3"), "tie is 3"),
        (("preference", "pairs.csv", "--unparsed", "guess"), "--unparsed is 'guess'"),
        (("preference", "pairs.csv", "--lengths", "a"), "--lengths is 'a'"),
        (("preference", "pairs.csv", "--outcome", "kind"), "kind must be win, tie or loss"),
        (("preference", "pairs.csv", "--model", "model", "--item", "kind"), "twice"),
        (("preference", "pairs.csv", "--confidence-level", "95"), "level is 95"),
    ],
)
def test_what_is_wrong_is_named(hmc: Hmc, files: Path, arguments: tuple[str, ...], why: str) -> None:
    told = hmc("metrics", *arguments)
    assert told.code == 2
    assert why in told.err


def test_names_that_are_numbers_stay_apart(hmc: Hmc, tmp_path: Path) -> None:
    # Tasks 007 and 7, answered by 1 and 2 each: one agreement, one disagreement.
    (tmp_path / "ids.csv").write_text("task,worker,label\n007,1,x\n007,2,x\n7,1,x\n7,2,y\n")
    assert hmc("metrics", "agreement", "ids.csv", "--json").json["metrics"][0]["value"] == 0.5
    (tmp_path / "codes.csv").write_text("r,s\n01,1\n1,1\n")
    assert hmc("metrics", "agreement", "codes.csv", "--raters", "r,s", "--json").json["metrics"][0]["value"] == 0.5


def test_a_wrong_outcome_is_named_with_file_column_and_line(hmc: Hmc, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("outcome\nwin\ndraw\n")
    told = hmc("metrics", "preference", "odd.csv")
    assert told.code == 2
    assert "odd.csv: outcome must be win, tie or loss" in told.err
    assert "line 3 ('draw')" in told.err


def test_messages_name_options_and_no_arguments(hmc: Hmc, files: Path) -> None:
    assert "--within (how exact) or --difference (two systems)" in hmc("power").err
    (files / "twice.csv").write_text("task,worker,label\na,w,x\na,w,y\n")
    assert "choose --repeats all" in hmc("aggregate", "twice.csv").err
    assert "--method choose compares methods" in hmc("aggregate", "long.csv", "--method", "choose").err
