"""Pools: capacity from shifts, what the plan says of it, what a pool's work costs, what people left open, fair pay."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hmc_crowd_local import connect

from hmc_crowd._base.pools import Turn
from hmc_crowd.campaign import Campaign
from hmc_crowd.campaign._capacity import people_minutes
from hmc_crowd.campaign._wages import PayCheck
from hmc_crowd.errors import BudgetError, InputError
from hmc_crowd.platform import KeepsPools, TellsSkips
from hmc_crowd.store import ShiftRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hmc_crowd._base.clock import VirtualClock

HOUR = timedelta(hours=1)
NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def campaign(tmp_path: Path, clock: VirtualClock) -> Iterator[Campaign]:
    """Ten items of a minute, all for people; the last is disturbing."""
    with Campaign.create(tmp_path / "c.db", labels=["good", "bad"], seed=1, clock=clock) as made:
        names = [f"i{n}" for n in range(10)]
        made.add_items(pd.DataFrame({"item": names, "text": "so it goes", "sensitive": [False] * 9 + [True]}))
        made.add_predictions(pd.DataFrame({"item": names, "label": "good", "confidence": 0.5}))
        made.add_effort(pd.DataFrame({"item": names, "seconds": 60.0}))
        yield made


@pytest.fixture
def place(tmp_path: Path, clock: VirtualClock) -> Iterator[Any]:
    with connect(str(tmp_path / "w.db"), clock=clock) as opened:
        yield opened


def plan(campaign: Campaign, **options: Any) -> Any:
    return campaign.plan(trade_off=0.0, max_human=10, audit=0, redundancy=2, **options)


def experts(campaign: Campaign, **options: Any) -> Any:
    values = {"kind": "tier1", "pay_form": "per_hour", "price_minor": 3000, "capacity_per_hour": 50, **options}
    return campaign.add_pool("experts", **values)


def shift(pool: str, start: float, end: float, people: int = 1, worker: str | None = None) -> ShiftRecord:
    return ShiftRecord(f"{start}-{end}-{worker}", pool, worker, NINE + start * HOUR, NINE + end * HOUR, people)


def minutes(*shifts: ShiftRecord, start: float = 0, end: float = 24, members: int = 0) -> float:
    return people_minutes(shifts, starts_at=NINE + start * HOUR, ends_at=NINE + end * HOUR, members=members)


def test_minutes_of_people_by_hand() -> None:
    # 2 people for 3 hours; ann works from the last of these hours on, and alone for one more: 2*120 + 2*60 + 60
    assert minutes(shift("p", 0, 3, 2), shift("p", 2, 4, worker="ann")) == 420
    # Two shifts of one pool at the same time add up; two of one person do not.
    assert minutes(shift("p", 0, 1, 2), shift("p", 0, 1.0001, 3)) == pytest.approx(300, abs=0.1)
    assert minutes(shift("p", 0, 2, worker="ann"), shift("p", 1, 3, worker="ann")) == 180
    # What lies outside does not count, and nobody is there twice.
    assert minutes(shift("p", 0, 3, 2), start=2, end=2.5) == 60
    assert minutes(shift("p", 0, 1, 20), members=3) == 180
    assert minutes() == 0


def test_the_tiers_of_the_source(campaign: Campaign) -> None:
    # D24, D25: 20 experts at 50 an hour, 15 at 20 and 5 at 5 give 1,000 + 300 + 25 = 1,325 an hour,
    # at 30, 60 and 150 USD an hour: .60, 3.00 and 30.00 USD an item.
    for tier, people, rate, price in (("tier1", 20, 50, 3000), ("tier2", 15, 20, 6000), ("tier3", 5, 5, 15000)):
        pool = campaign.add_pool(tier, kind=tier, pay_form="per_hour", price_minor=price, capacity_per_hour=rate)
        campaign.add_shift(tier, NINE, NINE + HOUR, people=people)
        assert pool.price_minor / pool.capacity_per_hour == {"tier1": 60, "tier2": 300, "tier3": 3000}[tier]
    found = campaign.capacity(NINE, NINE + HOUR)
    assert found.answers == pytest.approx(1325)
    assert found.people_minutes == 40 * 60
    assert campaign.capacity(NINE, NINE + HOUR, pools=["tier3"]).answers == pytest.approx(25)


def test_the_workplace_is_a_part_of_the_port(place: Any) -> None:
    assert isinstance(place, KeepsPools)
    assert isinstance(place, TellsSkips)


def test_people_their_shifts_and_opt_outs_come_through_the_port(
    campaign: Campaign, place: Any, clock: VirtualClock
) -> None:
    from hmc_crowd_local.pages import People

    now = clock.now()
    experts(campaign)
    for name in ("ann", "bob", "eve"):
        place.invites().issue(name, pool="experts")
    place.invites().issue("zoe")
    People(place._database).set_opt_outs("bob", ["violence"], at=now)
    place.add_turn(Turn("experts", now + HOUR, now + 3 * HOUR, 1, "ann"))
    campaign.add_shift("experts", now + HOUR, now + 2 * HOUR, people=2, platform=place)
    assert [(each.name, each.members, each.opted_out) for each in campaign.pools()] == [("experts", 3, {"violence": 1})]
    found = campaign.capacity(now, now + 4 * HOUR)
    # Two people for an hour, then ann alone: 120 + 60; a third of them does not see violence.
    assert found.people_minutes == 180
    assert found.minutes_for("violence") == pytest.approx(120)
    assert found.minutes_for("insults") == 180
    assert found.answers == pytest.approx(150)
    # The pool's people see the planned shift on their page; the store knows ann only by her pseudonym.
    assert [turn.people for _, turn in place.turns(pool="experts", worker="bob", starts_at=now)] == [2]
    assert {each.worker for each in campaign.shifts()} - {None} != {"ann"}
    assert len(campaign.shifts()) == 2


def test_a_worker_s_shift_is_kept_by_the_workplace(campaign: Campaign, place: Any, clock: VirtualClock) -> None:
    now = clock.now()
    experts(campaign)
    with pytest.raises(InputError, match="pass the platform"):
        campaign.add_shift("experts", now, now + HOUR, worker="ann")
    with pytest.raises(InputError, match="no invitation to pool"):
        campaign.add_shift("experts", now, now + HOUR, worker="ann", platform=place)
    place.invites().issue("ann", pool="experts")
    made = campaign.add_shift("experts", now, now + HOUR, worker="ann", platform=place)
    assert made.worker is not None
    assert made.worker != "ann"


def test_a_plan_says_when_the_pools_cannot_do_it_in_time(campaign: Campaign, clock: VirtualClock) -> None:
    now = clock.now()
    due = now + 5 * HOUR
    assert plan(campaign, due_at=due).notes[-1].startswith("the campaign has no pools")
    experts(campaign)
    # 10 items x 60 s x 2 answers = 20 minutes; the shift has 15.
    campaign.add_shift("experts", now, now + HOUR / 4)
    (note,) = [each for each in plan(campaign, due_at=due).notes if "planned for" in each]
    assert "people are planned for 20.0 minutes, more than the 15.0 minutes" in note
    assert f"{due:%Y-%m-%d %H:%M} UTC" in note
    campaign.add_shift("experts", now + HOUR, now + 2 * HOUR)
    # 75 minutes are enough, and 62 answers for the 20.
    assert not [each for each in plan(campaign, due_at=due).notes if "pools" in each]
    assert "is past" in plan(campaign, due_at=now).notes[-1]


def test_slow_people_are_a_limit_of_their_own(campaign: Campaign, clock: VirtualClock) -> None:
    experts(campaign, capacity_per_hour=4.0)
    campaign.add_shift("experts", clock.now(), clock.now() + 2 * HOUR)
    notes = plan(campaign, due_at=clock.now() + 5 * HOUR).notes
    assert any("20 answers are planned, more than the 8 that the pools give" in each for each in notes)


def test_who_opted_out_is_missing_where_texts_disturb(campaign: Campaign, place: Any, clock: VirtualClock) -> None:
    from hmc_crowd_local.pages import People

    experts(campaign)
    place.invites().issue("ann", pool="experts")
    People(place._database).set_opt_outs("ann", ["violence"], at=clock.now())
    campaign.add_shift("experts", clock.now(), clock.now() + HOUR, platform=place)
    notes = plan(campaign, due_at=clock.now() + 5 * HOUR).notes
    # One disturbing item twice is 2 minutes; nobody is left for it.
    assert any("disturbing texts are planned for 2.0 minutes, more than the 0.0 minutes" in each for each in notes)


def publish(campaign: Campaign, place: Any, **options: Any) -> Any:
    values = {"redundancy": 2, "budget_minor": 100_000, "content_warning": "violence", "gold_share": 0.0, **options}
    return campaign.publish(place, **values)


@pytest.mark.parametrize(
    ("form", "price", "reward", "line"),
    [
        # 20 answers at .60; 20 minutes of 30.00 an hour = 10.00, beside the rewards; salaries cost nothing more.
        ("per_answer", 60, 1200, "pool experts: 20 answers for 12.00 USD"),
        ("per_hour", 3000, 0, "pool experts: 20.0 minutes paid by the hour, about 10.00 USD beside the rewards"),
        ("salaried", 0, 0, "pool experts: 20.0 minutes of salaried people"),
    ],
)
def test_each_pool_is_a_line_of_the_cost_sheet(
    campaign: Campaign, place: Any, form: str, price: int, reward: int, line: str
) -> None:
    plan(campaign)
    experts(campaign, pay_form=form, price_minor=price)
    sheet = publish(campaign, place, pool="experts", dry_run=True)
    assert (sheet.reward_minor, [str(each) for each in sheet.pools]) == (reward, [line])
    assert line in str(sheet)
    done = publish(campaign, place, pool="experts", dry_run=False)
    assert (done.pools, done.new_hits) == (sheet.pools, sheet.hits)


def test_hours_of_pools_count_against_the_budget(campaign: Campaign, place: Any) -> None:
    plan(campaign)
    experts(campaign)
    with pytest.raises(BudgetError, match=r"about 10.00 USD for the hours"):
        publish(campaign, place, pool="experts", dry_run=False, budget_minor=999)
    assert publish(campaign, place, pool="experts", dry_run=False, budget_minor=1000).wages_minor == 1000


def test_pay_and_pool_exclude_each_other(campaign: Campaign, place: Any) -> None:
    plan(campaign)
    experts(campaign)
    for wrong in ({}, {"pool": "experts", "pay_minor": 1}, {"pay_minor": 1, "pay_per_hour_minor": 1}):
        with pytest.raises(InputError, match="or a pool"):
            publish(campaign, place, **wrong)
    with pytest.raises(InputError, match="pool is 'others'"):
        publish(campaign, place, pool="others")


def test_the_hits_carry_pool_skills_and_category(campaign: Campaign, place: Any) -> None:
    plan(campaign)
    experts(campaign, skills=["law"])
    publish(campaign, place, pool="experts", skills=["law", "language:de"], dry_run=False)
    hits = [place.hit(each.hit_id) for each in place.find_all().values()]
    # What the whole pool can do is not asked of each invitation.
    assert {(each.terms.pool, each.terms.skills, each.terms.rate_minor) for each in hits} == {
        ("experts", ("language:de",), 3000)
    }
    assert {item.category for hit in hits for item in hit.items} == {"", "violence"}


def work(place: Any, clock: VirtualClock, worker: str, *, seconds: float, skip: str = "") -> None:
    """Do every open HIT: answer all, but skip one item."""
    from hmc_crowd_local.pages import WorkStore

    works = WorkStore(place._database)
    for remote in place.find_all().values():
        name = place.accept(remote.hit_id, worker).submission_id
        place.open_page(name, worker)
        clock.advance(seconds)
        for each in place.hit(remote.hit_id).items:
            if each.item == skip:
                held = works.read(name)
                assert held is not None
                works.skip(held, [(each.item, each.aspect)], kind="flag", reason="broken: see me", at=clock.now())
            else:
                place.save_answer(name, worker, item=each.item, aspect=each.aspect, label="good")
        place.submit(name, worker)


def test_skips_reach_the_campaign_and_are_counted(campaign: Campaign, place: Any, clock: VirtualClock) -> None:
    plan(campaign)
    publish(campaign, place, pay_minor=100, dry_run=False)
    work(place, clock, "ann", seconds=100, skip="i3")
    done = campaign.collect(place)
    assert (done.answers, done.missing) == (9, 1)
    assert "1 questions skipped or reported" in str(done)
    assert campaign.collect(place).missing == 0
    rows = campaign.missing_answers()[["task", "kind", "reason", "note"]].values.tolist()
    assert rows == [["i3", "flag", "broken", "see me"]]
    told = campaign.status()
    assert (told.skipped, told.flagged) == (0, 1)


def test_pay_is_held_against_the_floor(campaign: Campaign, place: Any, clock: VirtualClock) -> None:
    plan(campaign)
    campaign.set_fair_pay(1200)
    # 10 items of a minute for 1.00 USD are 6.00 USD an hour by the effort model.
    sheet = publish(campaign, place, pay_minor=100, dry_run=False, target_minutes=60.0)
    assert sheet.hits == 1
    assert any("6.00 USD an hour, less than the floor of 12.00 USD" in each for each in sheet.notes)
    work(place, clock, "ann", seconds=450)  # 8.00 an hour: 50 cents short
    work(place, clock, "bob", seconds=225)  # 16.00 an hour
    campaign.collect(place)
    found = campaign.fair_pay()
    assert (found.submissions, found.below, found.top_up_minor) == (2, 1, 50)
    assert found.hourly_minor == pytest.approx(1200)
    assert not found.is_below
    campaign.set_fair_pay(1600)
    found = campaign.fair_pay()
    # Floor 16.00: 450 s should have earned 2.00.
    assert (found.is_below, found.below, found.top_up_minor) == (True, 1, 100)
    assert "raise the pay; 1.00 USD as a bonus would bring 1 of 2 submissions up to it" in str(found)
    campaign.set_fair_pay(None)
    assert "no floor is set" in str(campaign.fair_pay())
    with pytest.raises(InputError, match="floor_minor is 0"):
        campaign.set_fair_pay(0)


def test_far_below_the_floor_nobody_more_is_let_in() -> None:
    def check(hourly: float, n: int) -> str:
        return str(PayCheck("USD", 1000, hourly, n, n, 5, {}))

    assert "let nobody more in before you raise the pay; 0.05 USD as a bonus" in check(799, 5)
    for hourly, n in ((799, 4), (801, 5)):
        assert ": raise the pay; 0.05 USD" in check(hourly, n)
    assert "nobody has worked for money yet" in str(PayCheck("USD", 1000, None, 0, 0, 0, {}))


def test_hours_earn_their_rate_and_salaries_are_left_out(campaign: Campaign, place: Any, clock: VirtualClock) -> None:
    plan(campaign)
    experts(campaign, price_minor=2000)
    campaign.set_fair_pay(2500)
    sheet = publish(campaign, place, pool="experts", dry_run=False, target_minutes=60.0)
    assert any("less than the floor" in each for each in sheet.notes)
    work(place, clock, "ann", seconds=360)
    campaign.collect(place)
    found = campaign.fair_pay()
    # 6 minutes at 20.00 an hour: 2.00 earned, .50 short of 25.00 an hour.
    assert found.hourly_minor == pytest.approx(2000)
    assert found.top_up_minor == 50
    assert campaign.approve(place, budget_minor=100_000, dry_run=False).approved == 1
    assert campaign.status().settled_minor == 0
    (owed,) = place.owed()
    assert (owed.worker, owed.amount_minor, owed.currency) == ("ann", 200, "USD")
    assert place.paid_out([owed]) == 1
    assert place.paid_out([owed]) == 0
    assert place.owed() == []


def test_the_workplace_learns_who_is_right_on_gold(campaign: Campaign, place: Any, clock: VirtualClock) -> None:
    campaign.add_gold(pd.DataFrame({"item": ["i0", "i1"], "label": ["good", "bad"]}))
    plan(campaign)
    publish(campaign, place, pay_minor=100, dry_run=False, gold_share=0.2, target_minutes=60.0)
    work(place, clock, "ann", seconds=100)
    campaign.collect(place)
    ((_, right, n),) = place.standing("ann")
    asked = [each for hit in place.find_all().values() for each in place.hit(hit.hit_id).items]
    gold = [each.item for each in asked if each.item in {"i0", "i1"}]
    assert (right, n) == (gold.count("i0"), len(gold))
    assert n > 0


def test_capacity_is_additive_over_time() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        edges = np.sort(rng.uniform(0, 10, (6, 2)), axis=1)
        shifts = [
            shift("p", *edges[k], people=int(rng.integers(1, 4)), worker=None if k % 2 else f"w{k % 4}")
            for k in range(6)
        ]
        cut = float(rng.uniform(0, 10))
        whole = minutes(*shifts, end=10, members=3)
        assert minutes(*shifts, end=cut, members=3) + minutes(*shifts, start=cut, end=10, members=3) == pytest.approx(
            whole, abs=1e-6
        )
        assert whole <= 3 * 600 + 1e-6
