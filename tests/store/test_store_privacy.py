"""Persons are found, exported and forgotten, raw ids and texts erased: in rows, in files, and nowhere left over."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.store import IntentRecord, Person

if TYPE_CHECKING:
    from types import SimpleNamespace

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store

AT = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
ANN = Person("local", "w1", "ann")


@pytest.fixture
def known(store: Store, worked: int) -> int:
    """The worked campaign, whose w1 is ann and w2 is bob."""
    with store.begin() as tx:
        tx.workers.identify("local", ["ann", "bob"], pseudonyms={"ann": "w1", "bob": "w2"})
    return worked


def intent(campaign: int, key: str, **changes: object) -> IntentRecord:
    made = IntentRecord(key, campaign, "pay", "hash", 0, "USD", AT, AT, state="done")
    return replace(made, **changes)


def test_a_person_is_found_by_raw_id_pseudonym_and_key(store: Store, known: int) -> None:
    with store.begin() as tx:
        assert tx.privacy.find("ann", derived={}) == [ANN]
        assert tx.privacy.find("w1", derived={"local": "other"}) == [ANN]
        assert tx.privacy.find("ann", derived={}, platform="mturk") == []
        assert tx.privacy.platforms() == ["local"]
        tx.retention.erase_identities([ANN])
        # The raw id is gone; the pseudonym that the key makes of it still finds the work.
        assert tx.privacy.find("ann", derived={"local": "w1"}) == [Person("local", "w1", None)]
        assert tx.privacy.find("ann", derived={"local": "w9"}) == []


def test_forgetting_counts_what_it_touched(store: Store, known: int, build: SimpleNamespace) -> None:
    with store.begin() as tx:
        tx.work.add_answers(known, 1, build.answers(("s1", "a", "w1", "yes"), ("s2", "a", "w2", "no")))
        tx.work.exclude(known, ["s1", "s2"], "w1 copied from w2")
        counts = tx.privacy.forget(ANN, fresh="wnew")
        assert {name: count for name, count in counts.items() if count} == {
            "identities": 1,
            "answer": 1,
            "submission": 1,
        }
        assert tx.work.answers(known)["worker"].tolist() == ["wnew", "w2"]
        assert set(tx.work.submissions(known)["excluded"]) == {"wnew copied from w2"}
        assert tx.workers.known("local") == {"bob": "w2"}


def test_a_name_is_a_whole_word(store: Store, known: int, clock: VirtualClock) -> None:
    payload = {"rows": [["ann", "w1", 5], ["annotator", "w12", 7]], "w1": 1, "note": "ann (w1) was late"}
    with store.begin() as tx:
        tx.work.add_intent(intent(known, "k", payload=payload, result={"who": "annotator"}))
        tx.events.append(known, "noted", {"who": "annotator w12"}, at=clock.now())
        counts = tx.privacy.forget(ANN, fresh="wnew")
        assert (counts["intents"], counts["events"]) == (1, 0)
        found = tx.work.intent("k")
    assert found is not None
    assert found.payload == {
        "rows": [["[erased]", "wnew", 5], ["annotator", "w12", 7]],
        "wnew": 1,
        "note": "[erased] (wnew) was late",
    }
    assert (found.result, found.payload_hash) == ({"who": "annotator"}, "hash")


def test_events_that_name_a_person_or_their_submission_are_emptied(
    store: Store, known: int, clock: VirtualClock
) -> None:
    with store.begin() as tx:
        for payload in ({"ids": ["s1", "s2"]}, {"ids": ["s2"]}, {"by": {"w1": 3}}, {"n": 1}):
            tx.events.append(known, "seen", payload, at=clock.now())
        assert tx.privacy.forget(ANN, fresh="wnew")["events"] == 2
        assert [each.payload for each in tx.events.read(known)] == [None, {"ids": ["s2"]}, None, {"n": 1}]
        tx.events.verify(known)


def test_open_business_is_counted(store: Store, known: int) -> None:
    with store.begin() as tx:
        assert tx.privacy.open_business(ANN) == (0, 0)
        tx.work.add_intent(intent(known, "k", payload={"to": "ann"}, state="sent"))
        tx.work.add_intent(intent(known, "done", payload={"to": "ann"}))
        assert tx.privacy.open_business(ANN) == (0, 1)


def test_texts_of_rows_and_of_files_are_erased_alike(
    store: Store, campaign: int, clock: VirtualClock, build: SimpleNamespace
) -> None:
    # The store keeps frames above 1,000 rows as files.
    with store.begin() as tx:
        large = tx.campaigns.create("large", {}, created_at=clock.now()).id
        tx.frames.add_items(large, build.items(*(f"i{number}" for number in range(1001))))
    clock.advance(60)
    with store.begin() as tx:
        tx.frames.add_items(large, build.items("late"))
        tx.frames.add_items(campaign, build.items("late"))
    files = {each.name for each in store.artefacts.glob("*.parquet")}
    for number, first in ((large, ["i1", "i0"]), (campaign, ["a", "b"])):
        with store.begin() as tx:
            old = tx.retention.added_before(number, clock.now() - timedelta(seconds=30))
            assert old == [each for each in tx.frames.read(number, "items", columns=["item"])["item"] if each != "late"]
            assert tx.retention.erase_texts(number, [*first, "late"], at=clock.now()) == 3
            assert tx.retention.erase_texts(number, first, at=clock.now() + timedelta(days=3)) == 0
            assert set(tx.retention.added_before(number, clock.now() + timedelta(1))) == {
                *tx.frames.read(number, "items", columns=["item"])["item"]
            } - {*first, "late"}
        with store.read() as tx:
            found = tx.frames.read(number, "items")
        erased = found["item"].isin([*first, "late"])
        assert set(found.loc[erased, "text"]) == {"[text erased 2026-01-05]"}
        assert found.loc[erased, "erased_at"].tolist() == [clock.now()] * 3
        assert found.loc[~erased, "text"].str.startswith("text of").all()
        assert found.loc[~erased, "erased_at"].isna().all()
    assert not files & {each.name for each in store.artefacts.glob("*.parquet")}


def test_a_file_of_before_these_columns_reads_with_their_defaults(
    store: Store, clock: VirtualClock, build: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hmc_crowd.store._frames_large import LargeFrames

    whole = LargeFrames.add_items
    old = lambda self, campaign, table: whole(self, campaign, table.drop_columns(["sensitive", "erased_at"]))  # noqa: E731
    monkeypatch.setattr(LargeFrames, "add_items", old)
    with store.begin() as tx:
        large = tx.campaigns.create("large", {}, created_at=clock.now()).id
        tx.frames.add_items(large, build.items(*(f"i{number}" for number in range(1001))))
    monkeypatch.undo()
    with store.begin() as tx:
        tx.frames.add_items(large, build.items("late").assign(sensitive=True, audience="in_house"))
        found = tx.frames.read(large, "items", columns=["item", "audience", "sensitive", "erased_at"])
        assert found["sensitive"].tolist() == [False] * 1001 + [True]
        assert found["audience"].tolist() == ["any"] * 1001 + ["in_house"]
        assert found["erased_at"].isna().all()
        assert tx.frames.read(large, "items", columns=["sensitive"])["sensitive"].sum() == 1
        assert tx.retention.erase_texts(large, ["i5", "late"], at=clock.now()) == 2
        assert tx.frames.read(large, "items", columns=["erased_at"])["erased_at"].notna().sum() == 2


def test_items_keep_their_audience_and_flag_when_they_outgrow_rows(
    store: Store, campaign: int, build: SimpleNamespace, clock: VirtualClock
) -> None:
    with store.begin() as tx:
        tx.frames.add_items(campaign, build.items("d").assign(sensitive=True, audience="nurses"))
        tx.retention.erase_texts(campaign, ["a"], at=clock.now())
        tx.frames.add_items(campaign, build.items(*(f"i{number}" for number in range(1000))))
        found = tx.frames.read(campaign, "items", columns=["item", "audience", "sensitive", "erased_at"])
    assert found.loc[found["sensitive"], "item"].tolist() == ["d"]
    assert found.loc[found["audience"] == "nurses", "item"].tolist() == ["d"]
    assert found.loc[found["erased_at"].notna(), "item"].tolist() == ["a"]


def test_an_erasure_that_fails_leaves_text_and_files(store: Store, clock: VirtualClock, build: SimpleNamespace) -> None:
    with store.begin() as tx:
        large = tx.campaigns.create("large", {}, created_at=clock.now()).id
        tx.frames.add_items(large, build.items(*(f"i{number}" for number in range(1001))))
    files = {each.name for each in store.artefacts.glob("*")}
    with pytest.raises(ZeroDivisionError), store.begin() as tx:
        1 / (tx.retention.erase_texts(large, ["i0"], at=clock.now()) - 1)
    assert {each.name for each in store.artefacts.glob("*")} == files
    with store.read() as tx:
        assert tx.frames.read(large, "items", columns=["text"])["text"].str.startswith("text of").all()


def test_old_identities_are_those_whose_last_work_is_old_and_done(
    store: Store, known: int, build: SimpleNamespace, clock: VirtualClock
) -> None:
    with store.begin() as tx:
        tx.work.put_submissions(known, 1, [build.submission("s1", "w1", state="approved", submitted_at=clock.now())])
        later = clock.now() + timedelta(days=9)
        tx.work.put_submissions(known, 1, [build.submission("s2", "w2", state="approved", submitted_at=later)])
        assert tx.retention.old_identities(clock.now()) == ([], 0)
        assert tx.retention.old_identities(clock.now() + timedelta(days=1)) == ([ANN], 0)
        assert len(tx.retention.old_identities(clock.now() + timedelta(days=10))[0]) == 2
        tx.work.put_submissions(known, 1, [build.submission("s1", "w1", state="submitted")])
        assert tx.retention.old_identities(clock.now() + timedelta(days=1)) == ([], 1)
        assert tx.retention.erase_identities([ANN]) == 1
        assert tx.retention.erase_identities([ANN]) == 0


def test_an_export_is_plain_and_by_campaign(store: Store, known: int, build: SimpleNamespace) -> None:
    import json

    with store.begin() as tx:
        tx.work.add_answers(known, 1, build.answers(("s1", "a", "w1", "yes"), ("s2", "a", "w2", "no")))
        frame = pd.DataFrame({"worker": ["w1", "w2"], "right": [1, 0], "n": [1, 1], "score": [1.0, np.nan]})
        tx.workers.add_scores(known, frame, as_of=AT)
        found = tx.privacy.export(ANN)
    assert json.loads(json.dumps(found)) == found
    tables = found["campaigns"]["demo"]
    assert {name: len(rows) for name, rows in tables.items()} == {"answer": 1, "submission": 1, "worker_score": 1}
    assert tables["answer"][0] | {"label": "yes", "item": "a"} == tables["answer"][0]
    assert found["identity"][0]["raw_id"] == "ann"
