"""Leaving with results: the folder holds what a paper needs, and nothing that leads to a person."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign import Aspect, Campaign
from hmc_crowd.errors import InputError
from hmc_crowd.report import latex_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def done(
    start: Callable[..., Campaign], workplace: Any, crowd: Any, wanted: dict[str, Any], spend: dict[str, Any]
) -> Campaign:
    """A campaign whose first round is over, certificate included."""
    campaign = start()
    campaign.plan(**wanted)
    campaign.publish(workplace, dry_run=False, **spend)
    workplace.rehearse(crowd)
    campaign.collect(workplace)
    campaign.check_gold()
    campaign.aggregate(method="majority")
    campaign.certify()
    return campaign


def test_everything_is_there_and_true(done: Campaign, tmp_path: Path) -> None:
    made = done.export_publication(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(made.files)
    labels, answers = (pd.read_csv(tmp_path / "out" / name) for name in ("labels.csv", "answers.csv"))
    # 24 of the 160 items are gold, whose labels others must not learn.
    assert len(labels) == 136
    crowd = labels[labels["source"] == "crowd"].set_index("item")["n_answers"]
    assert answers[answers["counted"]].groupby("item").size().reindex(crowd.index).tolist() == crowd.tolist()
    facts = json.loads((tmp_path / "out" / "facts.json").read_text())
    said = " ".join((tmp_path / "out" / "methods.md").read_text().split())
    assert f"Of 136 items, {facts['people']} were judged by people" in said
    assert f"{made.annotators} workers gave {made.answers} answers" in said
    assert "of the 136 final labels agree with our people: 20 of the machine's labels were audited" in said
    assert "seed 7" in said


def test_the_data_card_describes_the_files_that_are_there(done: Campaign, tmp_path: Path) -> None:
    import hashlib

    done.export_publication(tmp_path / "out", license_url="https://creativecommons.org/licenses/by/4.0/")
    card = json.loads((tmp_path / "out" / "croissant.json").read_text())
    assert card["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert card["license"].endswith("/by/4.0/")
    for file, records in zip(card["distribution"], card["recordSet"], strict=True):
        content = (tmp_path / "out" / file["contentUrl"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == file["sha256"]
        columns = content.decode().splitlines()[0].split(",")
        assert [field["source"]["extract"]["column"] for field in records["field"]] == columns


def test_nothing_leads_to_a_person(done: Campaign, tmp_path: Path) -> None:
    done.export_publication(tmp_path / "out")
    everything = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir()).decode()
    with done._context.store.read() as tx:
        stored = tx.work.answers(done._context.campaign_id)
    for secret in (*stored["worker"].unique(), *stored["submission_id"].unique()):
        assert str(secret) not in everything
    assert "2026-01-05T" not in everything


def test_two_exports_cannot_be_joined_by_their_numbers(done: Campaign, tmp_path: Path) -> None:
    done.export_publication(tmp_path / "one", rng=np.random.default_rng(1))
    done.export_publication(tmp_path / "two", rng=np.random.default_rng(2))
    one, two = (pd.read_csv(tmp_path / name / "answers.csv") for name in ("one", "two"))
    columns = ["item", "label", "seconds"]
    assert one[columns].sort_values(columns).values.tolist() == two[columns].sort_values(columns).values.tolist()
    assert one["annotator"].tolist() != two["annotator"].tolist()


def test_gold_stays_secret_unless_it_is_asked_for(done: Campaign, batch: Any, tmp_path: Path) -> None:
    without = done.export_publication(tmp_path / "without")
    gold = set(batch.gold["item"])
    for name in ("answers.csv", "labels.csv"):
        assert not gold & set(pd.read_csv(tmp_path / "without" / name)["item"])
    with_gold = done.export_publication(tmp_path / "with", with_gold=True)
    assert with_gold.answers - without.answers == without.left_out["on gold"] > 0


def test_a_folder_with_something_in_it_is_left_alone(done: Campaign, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is there and not empty"):
        done.export_publication(tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_latex_cells_are_escaped() -> None:
    made = latex_table(pd.DataFrame({"label": [r"50% & \input{x} $a_b$"]}), caption="#1", label="tab:x")
    assert r"50\% \& \textbackslash{}input\{x\} \$a\_b\$" in made
    assert r"\caption{\#1}" in made


def test_the_codebook_shows_labels_as_they_are_written(tmp_path: Path) -> None:
    tone = Aspect("tone_of <i>", labels=['<b>&"', "a, b", "x`y"], guideline="# Look\n\nSay <b> if *rude*.")
    with Campaign.create(tmp_path / "c.db", aspects=[tone], seed=1) as campaign:
        campaign.add_items(pd.DataFrame({"item": ["i"]}))
        campaign.export_publication(tmp_path / "out")
    told = (tmp_path / "out" / "codebook.md").read_text().splitlines()
    assert told[2] == r"## tone\_of \<i\>"
    assert [line for line in told if line.startswith("- ")] == ['- `<b>&"`', "- `a, b`", "- ``x`y``"]
    assert r"\# Look" in told
    assert r"Say \<b\> if \*rude\*." in told
