"""Kinds of question, versions of guidelines, experts' words, pairs and modes: stored, read back, migrated with rows."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import sqlalchemy as sa

from hmc_crowd.errors import DuplicateError, StateError
from hmc_crowd.store import AspectRecord, HitItemRecord, Store, _migrate, open_store
from hmc_crowd.store._engine import make_engine, parse_url

if TYPE_CHECKING:
    from types import SimpleNamespace

    from hmc_crowd._base.clock import VirtualClock

JUDGED = {"aspect": "tone", "item": "a", "expert": "e", "guideline_version": "1"}


def test_an_aspect_keeps_its_question_and_guideline(store: Store, campaign: int) -> None:
    full = AspectRecord("warmth", "ordinal", ("1", "2"), "7", "de", "Wie warm?", "How warm is it?")
    with store.begin() as tx:
        tx.campaigns.add_aspect(campaign, full)
    with store.read() as tx:
        assert full in tx.campaigns.aspects(campaign)


def test_guidelines_keep_every_version(store: Store, campaign: int, clock: VirtualClock) -> None:
    aspect = AspectRecord("warmth", "ordinal", ("1", "2"), guideline="One.")
    with store.begin() as tx:
        tx.campaigns.add_aspect(campaign, aspect)
        # Nobody wrote the first version down: an older database.
        tx.guidelines.change(campaign, aspect, version="2", text="Two.", at=clock.now())
    with store.read() as tx:
        known = [(each.version, each.text) for each in tx.guidelines.history(campaign, "warmth")]
        now = next(each for each in tx.campaigns.aspects(campaign) if each.name == "warmth")
    assert known == [("1", "One."), ("2", "Two.")]
    assert (now.guideline_version, now.guideline) == ("2", "Two.")
    with pytest.raises(DuplicateError, match="'1'"), store.begin() as tx:
        tx.guidelines.change(campaign, now, version="1", text="One again.", at=clock.now())


def test_the_first_blind_word_counts_until_the_guideline_changes(
    store: Store, campaign: int, clock: VirtualClock
) -> None:
    with store.begin() as tx:
        assert tx.adjudications.judge(campaign, **JUDGED, label="x", at=clock.now(), crowd_label="y")
        assert not tx.adjudications.judge(campaign, **JUDGED, label="z", at=clock.now())
        tx.adjudications.decide(
            campaign, aspect="tone", item="a", expert="e", label="y", at=clock.now(), guideline_version="1"
        )
        with pytest.raises(StateError, match="blind"):
            tx.adjudications.decide(
                campaign, aspect="tone", item="b", expert="e", label="y", at=clock.now(), guideline_version="1"
            )
        row = tx.adjudications.read(campaign).iloc[0]
        assert (row["blind_label"], row["crowd_label"], row["final_label"]) == ("x", "y", "y")
        assert row["blind_at"].tzinfo is not None
        later = clock.now() + timedelta(hours=1)
        assert tx.adjudications.judge(campaign, **{**JUDGED, "guideline_version": "2"}, label="z", at=later)
        kept = tx.adjudications.read(campaign, aspect="tone")
        assert kept[["guideline_version", "blind_label"]].to_numpy().tolist() == [["1", "x"], ["2", "z"]]
        assert kept["final_label"].isna().tolist() == [False, True]


def test_answers_bring_mode_side_suggestion_and_the_version_of_their_page(
    store: Store, campaign: int, build: SimpleNamespace
) -> None:
    with store.begin() as tx:
        hit = build.hit("h1", "a", "b")
        items = tuple(HitItemRecord(e.item, e.aspect, e.position, guideline_version="3") for e in hit.items)
        from dataclasses import replace

        tx.work.add_hits(campaign, 1, [replace(hit, items=items)])
        tx.work.put_submissions(campaign, 1, [build.submission("s1")])
        row = {"submission_id": "s1", "platform": "local", "aspect": hit.items[0].aspect, "worker": "w1", "label": "x"}
        frame = pd.DataFrame([row | {"item": "a", "mode": "suggest", "suggestion": "y", "swapped": True}])
        tx.work.add_answers(campaign, 1, frame)
        tx.work.add_answers(campaign, 1, pd.DataFrame([row | {"item": "b"}]))
        found = tx.work.answers(campaign).set_index("task")
    assert found.loc["a", ["mode", "suggestion", "swapped", "guideline_version"]].tolist() == [
        "suggest",
        "y",
        True,
        "3",
    ]
    assert found.loc["b", "mode"] == "blind"
    assert pd.isna(found.loc["b", "suggestion"])
    assert pd.isna(found.loc["b", "swapped"])


@pytest.mark.parametrize("large", [10, 10_000_000])
def test_both_responses_come_back_and_are_erased_with_the_text(
    made_url: str, clock: VirtualClock, tmp_path: Any, large: int
) -> None:
    items = pd.DataFrame(
        {"item": [f"i{n}" for n in range(20)], "text": "t", "response_a": "left", "response_b": "right"}
    )
    with open_store(made_url, clock=clock, artefacts=tmp_path / "files", large=large) as opened, opened.begin() as tx:
        made = tx.campaigns.create("pairs", {}, created_at=clock.now()).id
        tx.frames.add_items(made, items)
        tx.frames.add_items(made, pd.DataFrame({"item": ["single"], "text": ["t"]}))
        found = tx.frames.read(made, "items", columns=["item", "response_a", "response_b"]).set_index("item")
        assert found.loc["i3"].tolist() == ["left", "right"]
        assert found.loc["single"].isna().all()
        tx.retention.erase_texts(made, ["i3"], at=clock.now())
        found = tx.frames.read(made, "items", columns=["item", "text", "response_a"]).set_index("item")
        assert pd.isna(found.loc["i3", "response_a"])
        assert found.loc["i4", "response_a"] == "left"


def test_rows_live_through_0006_up_and_down(database_url: str, clock: VirtualClock, build: SimpleNamespace) -> None:
    engine = make_engine(parse_url(database_url), busy_s=5.0).execution_options(writes=True)
    with open_store(database_url, create=True, clock=clock) as store, store.begin() as tx:
        made = tx.campaigns.create("demo", {}, created_at=clock.now()).id
        tx.campaigns.add_aspect(made, AspectRecord("tone", "nominal", ("x", "y")))
        tx.frames.add_items(made, build.items("a", "b"))
        tx.work.add_hits(made, 1, [build.hit("h1", "a", "b")])
        tx.adjudications.judge(made, **JUDGED, label="x", at=clock.now())
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db", to="0005")
        assert not {"guideline", "adjudication"} & set(sa.inspect(connection).get_table_names())
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db")
    engine.dispose()
    with open_store(database_url, clock=clock) as store, store.read() as tx:
        (aspect,) = tx.campaigns.aspects(made)
        assert (aspect.guideline, aspect.question, aspect.guideline_version) == ("", "", "1")
        (hit,) = tx.work.hits(made)
        # A page of before versions shows the first one.
        assert {each.guideline_version for each in hit.items} == {""}
        assert tx.frames.count(made, "items") == 2


@pytest.mark.migrations
def test_words_of_one_moment_under_two_guidelines_live_through_the_way_back(
    database_url: str, clock: VirtualClock
) -> None:
    engine = make_engine(parse_url(database_url), busy_s=5.0).execution_options(writes=True)
    with open_store(database_url, create=True, clock=clock) as store, store.begin() as tx:
        made = tx.campaigns.create("demo", {}, created_at=clock.now()).id
        tx.campaigns.add_aspect(made, AspectRecord("tone", "nominal", ("x", "y")))
        for version, label in (("1", "x"), ("2", "y")):
            said = {**JUDGED, "guideline_version": version}
            tx.adjudications.judge(made, **said, label=label, at=clock.now())
    with engine.begin() as connection:
        _migrate.migrate(connection, where="db", to="0012")
        _migrate.migrate(connection, where="db")
    engine.dispose()
    with open_store(database_url, clock=clock) as store, store.read() as tx:
        kept = tx.adjudications.read(made)
        assert kept[["guideline_version", "blind_label"]].to_numpy().tolist() == [["2", "y"]]
