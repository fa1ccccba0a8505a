"""effort features, correlations and ablation on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.effort import submission_features, text_dialogue_features, time_correlations

if TYPE_CHECKING:
    from pathlib import Path

Hmc = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    items = pd.DataFrame(
        {
            "item": [f"i{k}" for k in range(40)],
            "group": [f"g{k // 2}" for k in range(40)],
            "position": [k % 2 for k in range(40)],
            "text": [f"This is sentence number {k}. " * (k % 5 + 1) for k in range(40)],
        }
    )
    items.to_csv(tmp_path / "items.csv", index=False)
    labels = pd.DataFrame({"item": items["item"], "label": ["rude" if k % 3 == 0 else "fine" for k in range(40)]})
    labels.assign(confidence=0.9).to_csv(tmp_path / "labels.csv", index=False)
    sittings = pd.DataFrame(
        {
            "group": [f"g{k % 20}" for k in range(60)],
            "worker": [f"w{k % 7}" for k in range(60)],
            "submitted": [f"2026-01-{k % 28 + 1:02d}T10:{k % 60:02d}:00Z" for k in range(60)],
            "seconds": np.linspace(20, 200, 60).round(1),
        }
    )
    sittings.to_csv(tmp_path / "sittings.csv", index=False)
    gold = pd.DataFrame({"worker": ["w0", "w1"], "right": ["true", "false"], "at": ["2026-01-02T00:00:00Z"] * 2})
    gold.to_csv(tmp_path / "gold.csv", index=False)
    return tmp_path


LABELLED = ("items.csv", "--predictions", "labels.csv", "--positive", "rude")


def test_features_of_dialogues_are_the_librarys(hmc: Hmc, files: Path) -> None:
    told = hmc("effort", "features", *LABELLED, "--out", "features.csv")
    assert told.code == 0
    assert "20 rows" in told.out
    assert "perplexity is left out: no masked language model was given" in " ".join(told.out.split())
    labels = pd.read_csv(files / "labels.csv")
    expected = text_dialogue_features(pd.read_csv(files / "items.csv"), labels, positive_labels=["rude"]).frame
    found = pd.read_csv(files / "features.csv").set_index("group")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_features_of_sittings_know_only_the_past(hmc: Hmc, files: Path) -> None:
    given = ("effort", "features", *LABELLED, "--submissions", "sittings.csv", "--gold-checks", "gold.csv")
    assert hmc(*given, "--out", "timed.csv").code == 0
    found = pd.read_csv(files / "timed.csv")
    dialogues = text_dialogue_features(
        pd.read_csv(files / "items.csv"), pd.read_csv(files / "labels.csv"), positive_labels=["rude"]
    )
    sittings = pd.read_csv(files / "sittings.csv").assign(submitted=lambda f: pd.to_datetime(f["submitted"]))
    gold = pd.read_csv(files / "gold.csv").assign(at=lambda f: pd.to_datetime(f["at"]))
    expected = submission_features(sittings, dialogues, gold_checks=gold)
    names = ["turns", "first_submission", "worker_test_score", "seconds"]
    pd.testing.assert_frame_equal(found[names], expected[names], check_dtype=False)
    assert found["worker_test_score"].isna().sum() < 60


def test_items_named_by_numbers_are_found_in_every_file(hmc: Hmc, files: Path) -> None:
    (files / "n.csv").write_text("item,group,text\n1,7,One two three.\n2,7,Four five six!\n")
    (files / "nl.csv").write_text("item,label\n2,rude\n1,fine\n")
    (files / "np.csv").write_text("item,text\n2,Something else.\n")
    (files / "ns.csv").write_text("group,worker,submitted,seconds\n7,3,2026-01-01T10:00:00Z,5\n")
    given = ("--predictions", "nl.csv", "--positive", "rude", "--paraphrases", "np.csv", "--submissions", "ns.csv")
    (row,) = hmc("effort", "features", "n.csv", *given, "--json").json["rows"]
    assert (row["turns"], row["malevolent_turns"], row["paraphrased_turns"], row["worker"]) == (2, 1, 1, "3")


def test_json_is_the_whole_table(hmc: Hmc, files: Path) -> None:
    told = hmc("effort", "features", *LABELLED, "--language", "de", "--paraphrases", "0.5", "--json").json
    assert len(told["rows"]) == 20
    assert "dale_chall" in told["left_out"]
    assert told["rows"][0]["paraphrased_turns"] == 0.5 * told["rows"][0]["malevolent_turns"]


def test_correlations_and_ablation_are_the_librarys(hmc: Hmc, files: Path) -> None:
    hmc("effort", "features", *LABELLED, "--submissions", "sittings.csv", "--out", "timed.csv")
    timed = pd.read_csv(files / "timed.csv")
    told = hmc("effort", "correlations", "timed.csv", "--json").json
    expected = time_correlations(timed[["length_tokens"]], timed["seconds"]).loc["length_tokens"]
    row = next(each for each in told if each["feature"] == "length_tokens")
    assert row["pearson"] == pytest.approx(expected["pearson"])
    shown = hmc("effort", "correlations", "timed.csv")
    assert shown.code == 0
    assert "turns: the feature does not vary" in " ".join(shown.out.split())
    found = hmc(
        "effort", "ablation", "timed.csv", "--sets", "D,D+W", "--groups", "worker", "--folds", "3", "--json"
    ).json
    assert [each["features"] for each in found["sets"]] == ["D", "D+W"]
    assert set(found["features"]["D+W"]) - set(found["features"]["D"]) == {
        "worker_test_score",
        "approval_ranking",
    } & set(timed.dropna(axis="columns", how="all"))
    assert "worker kept apart" in hmc("effort", "ablation", "timed.csv", "--sets", "D", "--groups", "worker").out


def test_the_papers_own_file_gives_table_5(hmc: Hmc, data_dir: Path) -> None:
    source = data_dir / "hmceval" / "per_dialogue.tsv"
    if not source.exists():
        pytest.skip(f"{source} is not there")
    told = {
        each["feature"]: each for each in hmc("effort", "correlations", str(source), "--paper-columns", "--json").json
    }
    assert round(told["malevolent_turns"]["pearson"], 3) == 0.445
    assert round(told["approval_ranking"]["spearman"], 3) == 0.858
    assert len(told) == 12


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("features", "items.csv", "--gold-checks", "gold.csv"), "add --submissions"),
        (("features", "items.csv", "--predictions", "labels.csv"), "--predictions and --positive go together"),
        (("features", "items.csv", "--language", "?"), "language is '?'"),
        (("features", "items.csv", "--paraphrases", "no.csv"), "no.csv"),
        (("features", "items.csv", "--out", "x.txt"), "--out is 'x.txt'"),
        (("features", "items.csv", "--submissions", "naive.csv"), "naive.csv"),
        (("features", "items.csv", "--predictions", "unnamed.csv", "--positive", "a"), "lacks the column label"),
        (("correlations", "labels.csv"), "lacks the column seconds"),
        (("ablation", "sittings.csv", "--sets", "Q"), "'Q' is no group"),
        (("ablation", "sittings.csv", "--sets", ","), "--sets is empty"),
        (("ablation", "plain.csv", "--sets", "D"), "has none of the features of D"),
    ],
)
def test_wrong_calls_are_refused_by_name(arguments: tuple[str, ...], words: str, hmc: Hmc, files: Path) -> None:
    (files / "naive.csv").write_text("group,worker,submitted\ng0,w,2026-01-01T10:00:00\n")
    (files / "unnamed.csv").write_text("item\ni0\n")
    (files / "plain.csv").write_text("seconds,mine\n1,2\n3,4\n")
    told = hmc("effort", *arguments)
    assert told.code == 2
    assert words in told.err
