"""Whatever text, time or amount goes in comes back equal, on both databases and in both forms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.store import IntentRecord

if TYPE_CHECKING:
    from types import SimpleNamespace

    from hmc_crowd.store import Store

# One open store serves all examples of a test; names and keys are numbered so that they do not meet.
few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60) | st.sampled_from(
    ["\\N", "\\.", "a\n\\.\nb", '"', "'; DROP TABLE item; --", "\t\r\n", "", " ", "🙂👩‍👩‍👧", "\ufeff", "NULL", "%s"]
)
zones = st.integers(-23, 23).map(lambda hours: timezone(timedelta(hours=hours)))
moments = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=zones)
amounts = st.integers(0, 2**63 - 1)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_NUMBERS = iter(range(10**9))


@few
@given(written=st.lists(texts, min_size=1, max_size=8))
def test_texts_of_items(store: Store, campaign: int, written: list[str]) -> None:
    names = [f"n{next(_NUMBERS)}" for _ in written]
    with store.begin() as tx:
        tx.frames.add_items(campaign, pd.DataFrame({"item": names, "text": written}))
        assert tx.frames.read(campaign, "items", items=names, columns=["text"])["text"].tolist() == written


@few
@given(label=texts, started=moments, took=st.integers(0, 10**12))
def test_labels_and_times_of_answers(
    store: Store, worked: int, build: SimpleNamespace, label: str, started: datetime, took: int
) -> None:
    name = f"s{next(_NUMBERS)}"
    submitted = started + timedelta(microseconds=took)
    with store.begin() as tx:
        tx.work.put_submissions(worked, 1, [build.submission(name, name, accepted_at=started)])
        frame = build.answers((name, "a", name, label), started=started, submitted=submitted)
        assert tx.work.add_answers(worked, 1, frame) == 1
        row = tx.work.answers(worked).set_index("submission_id").loc[name]
        accepted = tx.work.submissions(worked).set_index("submission_id").loc[name, "accepted_at"]
    assert (row["label"], row["started"], row["submitted"], accepted) == (label, started, submitted, started)
    assert row["seconds"] == pytest.approx(took / 1e6, rel=1e-12, abs=1e-9)


@few
@given(amount=amounts, moment=moments, result=st.dictionaries(st.text(max_size=5), JSON, max_size=3))
def test_money_times_and_json_of_intents(
    store: Store, campaign: int, amount: int, moment: datetime, result: dict[str, object]
) -> None:
    key = f"k{next(_NUMBERS)}"
    with store.begin() as tx:
        made = tx.work.add_intent(IntentRecord(key, campaign, "publish", "h", amount, "JPY", moment, moment))
        assert (made.amount_minor, made.created_at, made.created_at.tzinfo) == (amount, moment, UTC)
        tx.work.set_intent(key, "done", result)
        assert tx.work.add_intent(made).result == result


def test_a_text_of_100_000_characters(store: Store, campaign: int) -> None:
    long = ["ä🙂\n\\" * 25_000, "x" * 100_000]
    with store.begin() as tx:
        tx.frames.add_items(campaign, pd.DataFrame({"item": ["l1", "l2"], "text": long}))
    with store.read() as tx:
        assert tx.frames.read(campaign, "items", items=["l1", "l2"])["text"].tolist() == long


@pytest.mark.parametrize(("text", "message"), [("a\x00b", "NUL"), ("a\ud83d", "surrogate")])
def test_text_that_no_database_can_hold_is_refused_everywhere(
    store: Store, worked: int, build: SimpleNamespace, text: str, message: str
) -> None:
    frame = build.answers(("s1", "a", "w1", "x"))
    frame["label"] = pd.Series([text], dtype=object)
    with pytest.raises(InputError, match=message), store.begin() as tx:
        tx.work.add_answers(worked, 1, frame)
    with pytest.raises(InputError, match=message), store.begin() as tx:
        tx.work.add_hits(worked, 1, [build.hit("k2", "a", title=text)])
    with pytest.raises(InputError, match=message), store.begin() as tx:
        tx.work.exclude(worked, ["s1"], text)
    with pytest.raises(InputError, match=message), store.read() as tx:
        tx.frames.read(worked, "items", items=[text])
