"""A submission is paid once for a reason, and what was decided about it is kept with who decided."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from hmc_crowd.errors import DuplicateError, InputError
from hmc_crowd.store import PaymentRecord

if TYPE_CHECKING:
    from types import SimpleNamespace

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store

AT = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
BONUS = PaymentRecord("local", "s1", "quality", 50, 10, "USD", "pay 1", "planned", AT, "ada")


def test_payments_come_back_as_they_went_in(store: Store, campaign: int) -> None:
    other = replace(BONUS, submission_id="s0", at=AT + timedelta(1), intent_key=None)
    with store.begin() as tx:
        assert tx.payments.add(campaign, [other, BONUS]) == 2
        assert tx.payments.add(campaign, []) == 0
        assert tx.payments.read(campaign) == [BONUS, other]


def test_a_payment_again_is_left_as_it_is(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        tx.payments.add(campaign, [BONUS])
        tx.payments.set_state(campaign, "pay 1", "paid")
        again = [replace(BONUS, at=AT + timedelta(1), intent_key="pay 2"), replace(BONUS, reason_code="top up")]
        assert tx.payments.add(campaign, again) == 1
        assert tx.payments.read(campaign, reason_code="quality") == [replace(BONUS, state="paid")]


def test_another_amount_for_the_same_reason_is_refused(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        tx.payments.add(campaign, [BONUS])
    with (
        pytest.raises(DuplicateError, match=r"'s1' has 0\.50 USD for 'quality' already, not 0\.60 USD"),
        store.begin() as tx,
    ):
        tx.payments.add(campaign, [replace(BONUS, submission_id="s2"), replace(BONUS, amount_minor=60)])
    with store.read() as tx:
        assert tx.payments.read(campaign) == [BONUS]


def test_another_campaign_does_not_pay_it_again(store: Store, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.payments.add(campaign, [BONUS])
        other = tx.campaigns.create("other", {}, created_at=clock.now()).id
    with pytest.raises(DuplicateError, match="already in another campaign"), store.begin() as tx:
        tx.payments.add(other, [BONUS])


def test_states_move_by_intent_or_by_row(store: Store, campaign: int) -> None:
    second, third = replace(BONUS, submission_id="s2"), replace(BONUS, submission_id="s3", intent_key="pay 2")
    with store.begin() as tx:
        tx.payments.add(campaign, [BONUS, second, third])
        assert tx.payments.set_state(campaign, "pay 1", "paid") == 2
        assert tx.payments.set_state(campaign, "pay 1", "paid") == 0
        assert tx.payments.set_state(campaign, [second, third], "needs_human") == 2
        assert [each.submission_id for each in tx.payments.read(campaign, state="needs_human")] == ["s2", "s3"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"amount_minor": 0}, "amount_minor is 0; .* at least 1"),
        ({"amount_minor": 1.5}, "amount_minor is 1.5"),
        ({"fee_minor": -1}, "fee_minor is -1"),
        ({"state": "sent"}, "state is 'sent'; choose planned, paid"),
        ({"at": datetime(2026, 1, 1)}, "at"),
    ],
)
def test_payments_that_make_no_sense_are_refused(
    store: Store, campaign: int, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message), store.begin() as tx:
        tx.payments.add(campaign, [replace(BONUS, **changes)])


def test_a_review_keeps_who_decided_first(store: Store, worked: int) -> None:
    with store.begin() as tx:
        assert tx.work.review_submissions(worked, "local", ["s1", "s2"], "approved", by="ada", at=AT) == 2
        assert tx.work.review_submissions(worked, "local", ["s1"], "approved", by="bob", at=AT + timedelta(1)) == 0
        assert tx.work.review_submissions(worked, "local", ["s2"], "conflict", by="bob", at=AT) == 1
        found = tx.work.submissions(worked)
    assert found[["review", "reviewed_by"]].values.tolist() == [["approved", "ada"], ["conflict", "bob"]]
    assert found["reviewed_at"].tolist() == [AT, AT]


def test_collecting_again_leaves_a_review_alone(store: Store, worked: int, build: SimpleNamespace) -> None:
    with store.begin() as tx:
        tx.work.review_submissions(worked, "local", ["s1"], "rejected", by="ada", at=AT)
        tx.work.put_submissions(worked, 1, [build.submission("s1", state="rejected", timing_version="2")])
        row = tx.work.submissions(worked).iloc[0]
    assert (row["review"], row["state"], row["timing_version"]) == ("rejected", "rejected", "2")


def test_an_unknown_review_is_refused(store: Store, worked: int) -> None:
    with pytest.raises(InputError, match="review is 'fine'; choose approved"), store.begin() as tx:
        tx.work.review_submissions(worked, "local", ["s1"], "fine", by="ada", at=AT)


def test_a_hit_knows_the_order_it_is_recruited_in(store: Store, campaign: int, build: SimpleNamespace) -> None:
    with store.begin() as tx:
        tx.work.add_hits(campaign, 1, [build.hit("h", "a", order_key="order 1"), build.hit("i", "b")])
        assert [each.order_key for each in tx.work.hits(campaign)] == ["order 1", None]
