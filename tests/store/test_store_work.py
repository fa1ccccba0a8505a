"""HITs, intents, submissions and answers are each stored once, however often they are handed in."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pytest

from hmc_crowd.errors import DuplicateError, FrameError, InputError, StateError
from hmc_crowd.store import IntentRecord

if TYPE_CHECKING:
    from types import SimpleNamespace

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store

AT = datetime(2026, 1, 5, 10, 0, 0, 123456, tzinfo=UTC)


def test_hits_come_back_as_they_went_in(store: Store, campaign: int, build: SimpleNamespace) -> None:
    hits = [build.hit("k2", "b", "a"), build.hit("k1", "c", state="open", platform="local", salvaged_from="k0")]
    with store.begin() as tx:
        assert tx.work.add_hits(campaign, 2, hits) == 2
    with store.read() as tx:
        assert tx.work.hits(campaign) == [replace(each, round=2) for each in hits]
        assert [each.key for each in tx.work.hits(campaign, 2, "open")] == ["k1"]
        assert tx.work.hits(campaign, 1) == []


def test_adding_a_hit_again_changes_nothing(store: Store, campaign: int, build: SimpleNamespace) -> None:
    with store.begin() as tx:
        tx.work.add_hits(campaign, 1, [build.hit("k", "a")])
        tx.work.set_hit("k", state="open", platform="local", platform_hit_id="7")
        assert tx.work.add_hits(campaign, 1, [build.hit("k", "a"), build.hit("l", "b")]) == 1
        assert [(each.key, each.state, each.platform_hit_id) for each in tx.work.hits(campaign)] == [
            ("k", "open", "7"),
            ("l", "planned", None),
        ]


def test_a_key_with_other_items_is_refused(store: Store, campaign: int, build: SimpleNamespace) -> None:
    with store.begin() as tx:
        tx.work.add_hits(campaign, 1, [build.hit("k", "a")])
    with pytest.raises(DuplicateError, match="'k' exists already with other items"), store.begin() as tx:
        tx.work.add_hits(campaign, 1, [build.hit("k", "b")])


def test_an_item_twice_in_a_hit_is_refused(store: Store, campaign: int, build: SimpleNamespace) -> None:
    with pytest.raises(InputError, match="asks an item and aspect twice"), store.begin() as tx:
        tx.work.add_hits(campaign, 1, [build.hit("k", "a", "a")])


def test_setting_an_unknown_hit_says_so(store: Store, campaign: int) -> None:
    with pytest.raises(InputError, match="no HIT has the key 'nope'"), store.begin() as tx:
        tx.work.set_hit("nope", state="open")


def intent(campaign: int, **changes: object) -> IntentRecord:
    values = {"amount_minor": 2**40, "currency": "USD", "created_at": AT, "updated_at": AT} | changes
    return IntentRecord("key", campaign, "publish", "hash", **values)


def test_an_intent_written_again_gives_the_stored_one(store: Store, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        assert tx.work.add_intent(intent(campaign)) == intent(campaign)
        tx.work.set_intent("key", "done", {"hit_id": "7"})
    with store.begin() as tx:
        expected = intent(campaign, state="done", result={"hit_id": "7"}, updated_at=clock.now())
        assert tx.work.add_intent(intent(campaign)) == expected
        assert tx.work.intents(campaign, "done") == [expected]
        assert tx.work.intents(campaign, "planned") == []


def test_an_intents_key_with_another_payload_is_refused(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        tx.work.add_intent(intent(campaign))
    with pytest.raises(DuplicateError, match="'key' exists already with another payload"), store.begin() as tx:
        tx.work.add_intent(replace(intent(campaign), payload_hash="other"))


def test_an_effect_without_intent_is_refused(store: Store, campaign: int) -> None:
    with pytest.raises(StateError, match="write it down before the effect"), store.begin() as tx:
        tx.work.set_intent("nope", "done", None)


def test_submissions_are_counted_only_when_they_change(store: Store, worked: int, build: SimpleNamespace) -> None:
    with store.begin() as tx:
        same = [build.submission("s1", "w1"), build.submission("s2", "w2")]
        assert tx.work.put_submissions(worked, 1, same) == 0
        assert tx.work.put_submissions(worked, 1, [*same[:1], build.submission("s2", "w2", state="approved")]) == 1
        assert tx.work.submissions(worked)["state"].tolist() == ["submitted", "approved"]


def test_clocks_are_filled_in_and_never_overwritten(store: Store, worked: int, build: SimpleNamespace) -> None:
    first = {"accepted_at": AT, "platform_elapsed_s": 10.5}
    later = {"accepted_at": AT + timedelta(1), "platform_elapsed_s": 99.0, "active_s": 7.25, "submitted_at": AT}
    with store.begin() as tx:
        tx.work.put_submissions(worked, 1, [build.submission("s1", **first)])
        tx.work.put_submissions(worked, 1, [build.submission("s1", **later)])
        row = tx.work.submissions(worked).iloc[0]
    assert (row["accepted_at"], row["submitted_at"]) == (AT, AT)
    assert (row["platform_elapsed_s"], row["active_s"]) == (10.5, 7.25)


def test_a_submission_of_an_unknown_hit_is_refused(store: Store, campaign: int, build: SimpleNamespace) -> None:
    with pytest.raises(InputError, match="HITs that the campaign does not have: h1"), store.begin() as tx:
        tx.work.put_submissions(campaign, 1, [build.submission("s1")])


def test_answers_come_back_as_one_long_table(store: Store, worked: int, build: SimpleNamespace) -> None:
    frame = build.answers(
        ("s1", "b", "w1", "yes"),
        ("s1", "a", "w1", "no"),
        ("s2", "a", "w2", "yes"),
        started=AT,
        submitted=AT + timedelta(seconds=2.5),
    )
    with store.begin() as tx:
        tx.frames.put(worked, "gold", pd.DataFrame({"item": ["a"], "label": ["no"]}))
        assert tx.work.add_answers(worked, 1, frame) == 3
        tx.work.exclude(worked, ["s2"], "too quick")
        found = tx.work.answers(worked)
    # (submission, start, item) is the order; 12:00:02.5 - 12:00:00 = 2.5 s; a is gold; s2 is excluded.
    columns = ["task", "worker", "label", "submission_id", "seconds", "is_gold"]
    assert found[columns].values.tolist() == [
        ["a", "w1", "no", "s1", 2.5, True],
        ["b", "w1", "yes", "s1", 2.5, False],
        ["a", "w2", "yes", "s2", 2.5, True],
    ]
    assert found["excluded"].fillna("").tolist() == ["", "", "too quick"]
    assert found["started"].tolist() == [AT] * 3


def test_the_same_answers_again_are_skipped(store: Store, worked: int, build: SimpleNamespace) -> None:
    first = build.answers(("s1", "a", "w1", "yes"))
    both = build.answers(("s1", "a", "w1", "no"), ("s1", "b", "w1", "no"))
    with store.begin() as tx:
        assert tx.work.add_answers(worked, 1, first) == 1
        assert tx.work.add_answers(worked, 1, both) == 1
        assert tx.work.answers(worked)[["task", "label"]].values.tolist() == [["a", "yes"], ["b", "no"]]


def test_a_worker_counts_once_a_round_unless_a_retest_is_asked(
    store: Store, worked: int, build: SimpleNamespace
) -> None:
    with store.begin() as tx:
        tx.work.put_submissions(worked, 1, [build.submission("s3", "w1")])
        assert tx.work.add_answers(worked, 1, build.answers(("s1", "a", "w1", "yes"), ("s3", "a", "w1", "no"))) == 1
        assert tx.work.add_answers(worked, 1, build.answers(("s3", "a", "w1", "no"), retest=1)) == 1


def test_an_arrow_table_of_answers_is_taken(store: Store, worked: int, build: SimpleNamespace) -> None:
    with store.begin() as tx:
        assert tx.work.add_answers(worked, 1, pa.Table.from_pandas(build.answers(("s1", "a", "w1", "yes")))) == 1


def test_answers_of_an_unknown_submission_are_refused(store: Store, worked: int, build: SimpleNamespace) -> None:
    frame = build.answers(("s1", "a", "w1", "yes"), ("s9", "a", "w9", "yes"))
    with (
        pytest.raises(FrameError, match=r"not stored: row 1 \('s9'\); put_submissions comes first"),
        store.begin() as tx,
    ):
        tx.work.add_answers(worked, 1, frame)
    with store.read() as tx:
        assert len(tx.work.answers(worked)) == 0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"started": datetime(2026, 1, 1)}, "column started holds .*times must be aware"),
        ({"mode": "peeking"}, "column mode must be blind or suggest: row 0"),
        ({"label": None}, "column label is missing in row 0"),
        ({"worker": ""}, "1 to 800 bytes long: row 0"),
    ],
)
def test_wrong_answers_are_named(
    store: Store, worked: int, build: SimpleNamespace, columns: dict[str, object], message: str
) -> None:
    frame = build.answers(("s1", "a", "w1", "yes"), **columns)
    with pytest.raises(FrameError, match=message), store.begin() as tx:
        tx.work.add_answers(worked, 1, frame)


def test_filters_leave_out_gold_and_excluded(store: Store, worked: int, build: SimpleNamespace) -> None:
    with store.begin() as tx:
        tx.frames.put(worked, "gold", pd.DataFrame({"item": ["a"], "label": ["no"]}))
        frame = build.answers(("s1", "a", "w1", "yes"), ("s1", "b", "w1", "yes"), ("s2", "b", "w2", "yes"))
        tx.work.add_answers(worked, 1, frame)
        tx.work.exclude(worked, ["s2"], "spam")
        kept = tx.work.answers(worked, include_gold=False, include_excluded=False)
        assert kept[["task", "worker"]].values.tolist() == [["b", "w1"]]
        tx.work.include(worked, ["s2"])
        assert len(tx.work.answers(worked, include_excluded=False)) == 3
        assert len(tx.work.answers(worked, round=2)) == 0


def test_excluding_needs_a_reason(store: Store, worked: int) -> None:
    with pytest.raises(InputError, match="reason is empty"), store.begin() as tx:
        tx.work.exclude(worked, ["s1"], " ")
