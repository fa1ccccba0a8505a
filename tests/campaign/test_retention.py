"""What is old and not needed goes, what is needed stays, and nothing that was concluded moves."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store import PaymentRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.campaign import Campaign

    Start = Callable[..., Campaign]

YEAR, MONTH = timedelta(days=365), timedelta(days=30)


@pytest.fixture
def played(start: Start, workplace: Any, crowd: Any, wanted: dict[str, Any], spend: dict[str, Any]) -> Campaign:
    """A campaign in which everything that was planned is answered, reviewed and labelled."""
    campaign = start()
    campaign.plan(**wanted)
    campaign.publish(workplace, dry_run=False, **spend)
    workplace.rehearse(crowd)
    campaign.collect(workplace)
    campaign.aggregate()
    assert campaign.status().satisfied
    context = campaign._context
    with context.store.begin() as tx:
        ids = tx.work.submissions(context.campaign_id)["submission_id"]
        tx.work.review_submissions(context.campaign_id, "local", ids, "approved", by="ada", at=context.clock.now())
    return campaign


def texts(campaign: Campaign) -> pd.Series[str]:
    with campaign._context.store.read() as tx:
        return tx.frames.read(campaign._context.campaign_id, "items", columns=["item", "text"]).set_index("item")[
            "text"
        ]


def raw_ids(campaign: Campaign) -> set[str]:
    with campaign._context.store.read() as tx:
        return set(tx.workers.known("local"))


def test_old_texts_go_and_everything_concluded_stays(
    played: Campaign, clock: VirtualClock, wanted: dict[str, Any]
) -> None:
    certificate = played.certify()
    labels, status, explained = played.labels(), played.status(), played.explain("i0100")
    clock.advance(2 * YEAR.total_seconds())
    done = played.retain(item_text_for=YEAR)
    assert (done.item_texts, done.item_texts_kept) == (160, 0)
    marker = f"[text erased {clock.now().date().isoformat()}]"
    assert set(texts(played)) == {marker}
    pd.testing.assert_frame_equal(played.labels(), labels)
    assert played.status() == status
    assert played.certify() == certificate
    again = played.explain("i0100")
    assert again.text == marker
    assert (again.label, again.why, again.gain) == (explained.label, explained.why, explained.gain)
    with played._context.store.read() as tx:
        tx.events.verify(played._context.campaign_id)
    assert played.plan(**wanted).items > 0
    assert played.retain(item_text_for=YEAR).item_texts == 0


def test_young_texts_stay(played: Campaign, clock: VirtualClock) -> None:
    before = texts(played)
    clock.advance(MONTH.total_seconds())
    assert played.retain(item_text_for=YEAR).item_texts == 0
    pd.testing.assert_series_equal(texts(played), before)


def test_texts_go_by_the_age_of_their_addition(played: Campaign, clock: VirtualClock) -> None:
    clock.advance(YEAR.total_seconds())
    played.add_items(pd.DataFrame({"item": ["new"], "text": ["just arrived"]}))
    clock.advance(MONTH.total_seconds())
    assert played.retain(item_text_for=YEAR).item_texts == 160
    assert texts(played)["new"] == "just arrived"


def test_a_text_that_an_open_hit_shows_refuses_all(
    start: Start, workplace: Any, wanted: dict[str, Any], spend: dict[str, Any], clock: VirtualClock
) -> None:
    campaign = start()
    campaign.plan(**wanted)
    campaign.publish(workplace, dry_run=False, **spend)
    before = texts(campaign)
    clock.advance(2 * YEAR.total_seconds())
    with pytest.raises(
        StateError, match=r"old items are shown in HITs that are still open: i\d+ \(HIT .*nothing was erased"
    ):
        campaign.retain(raw_ids_for=YEAR, item_text_for=YEAR)
    pd.testing.assert_series_equal(texts(campaign), before)


def test_texts_are_kept_while_nothing_is_planned_or_answered(
    start: Start, wanted: dict[str, Any], clock: VirtualClock
) -> None:
    campaign = start()
    clock.advance(2 * YEAR.total_seconds())
    assert campaign.retain(item_text_for=YEAR).item_texts_kept == 160
    campaign.plan(**wanted)
    kept = campaign.retain(item_text_for=YEAR)
    # 54 items for people, 20 for the audit and the 24 gold items are still to be shown; 62 stay with the machine.
    assert (kept.item_texts, kept.item_texts_kept) == (62, 98)
    assert "kept: 98 old texts of items that are still to be answered" in str(kept)
    assert campaign.status().work_left > 0


def test_efforts_and_models_do_without_erased_texts(played: Campaign, clock: VirtualClock) -> None:
    context = played._context
    with context.store.read() as tx:
        before = tx.frames.read(context.campaign_id, "efforts")
    clock.advance(2 * YEAR.total_seconds())
    played.retain(item_text_for=YEAR)
    with pytest.raises(StateError, match="every text was erased; the times predicted before stay"):
        played.estimate_effort()
    learned = played.learn()
    assert learned.version == 0
    assert "groups whose texts were erased are left out" in str(learned)
    played.add_items(pd.DataFrame({"item": ["new"], "text": ["just arrived"]}))
    played.add_predictions(pd.DataFrame({"item": ["new"], "label": ["good"], "confidence": [0.9]}))
    estimate = played.estimate_effort()
    assert estimate.items == 1
    assert "40 groups whose texts were erased keep the time that was predicted before" in estimate.notes
    with context.store.read() as tx:
        after = tx.frames.read(context.campaign_id, "efforts")
    pd.testing.assert_frame_equal(after[after["item"] != "new"].reset_index(drop=True), before)


def test_nobody_is_asked_about_a_text_that_is_gone(
    played: Campaign, workplace: Any, clock: VirtualClock, wanted: dict[str, Any], spend: dict[str, Any]
) -> None:
    clock.advance(2 * YEAR.total_seconds())
    fresh = pd.DataFrame({"item": ["n1", "n2"], "text": ["just arrived", "so am I"]})
    played.add_items(fresh)
    played.add_predictions(fresh[["item"]].assign(label="good", confidence=0.6))
    played.retain(item_text_for=YEAR)
    gone = set(texts(played)[texts(played).str.startswith("[text erased")].index)
    assert gone
    played.estimate_effort()
    played.plan(**{**wanted, "max_human": 1.0, "trade_off": 0.0})
    asked = {each for hit in _asked(played, workplace, spend) for each in hit}
    assert asked == {"n1", "n2"}


def _asked(campaign: Campaign, workplace: Any, spend: dict[str, Any]) -> list[set[str]]:
    before = set(campaign.hits()["hit"])
    campaign.publish(workplace, dry_run=False, **{**spend, "budget_minor": 1_000_000})
    context = campaign._context
    with context.store.read() as tx:
        hits = [hit for hit in tx.work.hits(context.campaign_id) if hit.key not in before]
    return [{each.item for each in hit.items} for hit in hits]


def test_old_raw_ids_go_and_pseudonyms_stay(played: Campaign, clock: VirtualClock) -> None:
    names = raw_ids(played)
    with played._context.store.read() as tx:
        answers = tx.work.answers(played._context.campaign_id)
    clock.advance(2 * MONTH.total_seconds())
    asked = played.retain(raw_ids_for=MONTH, dry_run=True)
    assert raw_ids(played) == names
    done = played.retain(raw_ids_for=MONTH)
    assert (done.raw_ids, asked.raw_ids, done.raw_ids_kept) == (len(names), len(names), 0)
    assert raw_ids(played) == set()
    with played._context.store.read() as tx:
        pd.testing.assert_frame_equal(tx.work.answers(played._context.campaign_id), answers)
    # Whoever asks to be forgotten is found by the key all the same.
    assert played.forget(min(names)).people == 1


def test_raw_ids_of_work_to_be_reviewed_or_paid_are_kept(played: Campaign, clock: VirtualClock) -> None:
    context = played._context
    with context.store.begin() as tx:
        rows = tx.work.submissions(context.campaign_id)
        one = rows.iloc[0]
        bonus = PaymentRecord("local", one["submission_id"], "x", 50, 0, "USD", None, "planned", clock.now(), "ada")
        tx.payments.add(context.campaign_id, [bonus])
        other = rows[rows["worker"] != one["worker"]].iloc[0]
        tx.workers.identify("local", ["late"], pseudonyms={"late": "wlate"})
    clock.advance(MONTH.total_seconds())
    everybody = len(raw_ids(played))
    done = played.retain(raw_ids_for=timedelta(days=1))
    assert (done.raw_ids, done.raw_ids_kept) == (everybody - 1, 1)
    with context.store.read() as tx:
        assert set(tx.workers.known("local").values()) == {one["worker"]} != {other["worker"]}
        tx.events.verify(context.campaign_id)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "nothing is asked for"),
        ({"raw_ids_for": 90}, "raw_ids_for is 90; give a timedelta"),
        ({"item_text_for": timedelta(days=-1)}, "item_text_for is .*give a timedelta of 0 or more"),
    ],
)
def test_what_makes_no_sense_is_refused(start: Start, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        start().retain(**arguments)


def test_learning_says_what_was_done_to_the_times_and_keeps_the_raw_ones(
    start: Start, workplace: Any, crowd: Any, wanted: dict[str, Any], spend: dict[str, Any]
) -> None:
    campaign = start()
    campaign.plan(**wanted)
    campaign.publish(workplace, dry_run=False, **spend)
    workplace.rehearse(crowd)
    campaign.collect(workplace)
    context = campaign._context
    with context.store.read() as tx:
        before = tx.work.answers(context.campaign_id), tx.work.submissions(context.campaign_id)
    learned = campaign.learn()
    with context.store.read() as tx:
        pd.testing.assert_frame_equal(tx.work.answers(context.campaign_id), before[0])
        pd.testing.assert_frame_equal(tx.work.submissions(context.campaign_id), before[1])
        stored = tx.models.latest(context.campaign_id, "effort")
    assert learned.adjusted_times > 0
    assert learned.suspect_times == 0
    assert learned.first_item_extra_s is not None
    # These simulated people look away from nothing: both clocks see the same, but for the times pulled in.
    assert learned.platform_ratio == pytest.approx(1.0, abs=0.1)
    assert "times as long by the platform's clock" in str(learned)
    assert stored is not None
    assert stored.scores["platform_ratio"] == learned.platform_ratio
