"""Quotas of a campaign: said when they cannot be kept, handed out by on our pages, recruited by on Prolific."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd
import pytest
from outside_house import SPEND, hits_of, intents_of, money_of, orders_of

from hmc_crowd.errors import BudgetError, InfeasibleError, InputError, PlatformError, StateError
from hmc_crowd.quality import Quota

SOUTH = [Quota("region", {"south": 0.3})]
LOCAL = {"redundancy": 3, "pay_per_hour_minor": 1200, "budget_minor": 20_000, "target_minutes": 1.0}
CODES = {"north": "70", "south": "71", "east": "72", "woman": "80", "man": "81"}


def invite(workplace: Any, **counts: int) -> list[str]:
    names = [f"{region}{number}" for region, count in counts.items() for number in range(count)]
    for name in names:
        workplace.invites().issue(name, attributes={"region": name.rstrip("0123456789")})
    return names


def come(campaign: Any, workplace: Any, people: list[str], truth: dict[str, str]) -> list[str]:
    """Let people take whatever they may, and hand it in; return who got anything."""
    got = []
    for who in people:
        for hit in hits_of(campaign):
            try:
                work = workplace.accept(hit.platform_hit_id, who).submission_id
            except PlatformError:
                continue
            for each in hit.items:
                workplace.save_answer(work, who, item=each.item, aspect=each.aspect, label=truth[each.item])
            workplace.submit(work, who)
            got.append(who)
    return got


# Asking.


def test_quotas_are_kept_and_taken_back(small: Any) -> None:
    campaign = small()
    with pytest.raises(StateError, match="asks for no mix"):
        campaign.quota_progress()
    first = campaign.set_quotas([Quota("region", {"south": 0.3, "north": 0.25})], people=40)
    # .3 of 40 = 12, .25 of 40 = 10, so 18 seats are open.
    assert first.quotas["wanted"].tolist() == [12, 10, 18]
    assert first.lines() == [
        "region south: 0 of 12 done, 12 still to come",
        "region north: 0 of 10 done, 10 still to come",
    ]
    assert campaign.status().quotas == tuple(first.lines())
    assert campaign.set_quotas(SOUTH, people=10).quotas["wanted"].tolist() == [3, 7]
    assert campaign.clear_quotas()
    assert not campaign.clear_quotas()
    assert campaign.status().quotas == ()


@pytest.mark.parametrize(
    ("quotas", "people", "error", "says"),
    [
        ([], 10, InputError, "give a list of Quota"),
        (SOUTH[0], 10, InputError, "give a list of Quota"),
        (SOUTH, 0, InputError, "people is 0"),
        (SOUTH, 5001, InputError, "from 1 to 5,000"),
        (SOUTH, True, InputError, "people is True"),
        ([*SOUTH, Quota("region", {"north": 0.1})], 10, InputError, "names 'region' twice"),
        ([Quota(" ", {"a": 0.1})], 10, InputError, "name each of them"),
        ([Quota("region", {"": 0.1})], 10, InputError, "name each of them"),
        ([Quota("age", {1: 0.1, "1": 0.2})], 10, InputError, "name each of them"),
        # .5 of 3 = 1.5, at least 2 of each, and 2 + 2 > 3.
        ([Quota("gender", {"woman": 0.5, "man": 0.5})], 3, InfeasibleError, r"need 2 \+ 2 of 3 people"),
    ],
)
def test_quotas_that_make_no_sense_are_refused_in_a_sentence(
    small: Any, quotas: Any, people: Any, error: type[Exception], says: str
) -> None:
    campaign = small()
    campaign.set_quotas(SOUTH, people=20)
    with pytest.raises(error, match=says):
        campaign.set_quotas(quotas, people=people)
    assert campaign.quota_progress().people == 20


def test_a_plan_says_which_quotas_need_more_people_than_are_known(small: Any) -> None:
    campaign = small()
    campaign.set_quotas(SOUTH, people=40)
    assert campaign.plan(trade_off=0.5, max_human=8, audit=4).notes == ()
    rows = [{"worker": f"p{number}", "region": "south" if number < 7 else "north"} for number in range(20)]
    campaign.add_worker_traits(pd.DataFrame(rows), platform="local")
    said = campaign.plan(trade_off=0.5, max_human=8, audit=4).notes
    assert "quota region:south=30% of 40 people needs 12; 7 are known" in said


# On our own pages.


def test_publishing_refuses_what_the_invited_cannot_keep(small: Any, workplace: Any) -> None:
    campaign = small()
    campaign.set_quotas(SOUTH, people=9)
    invite(workplace, north=7, south=1)
    sheet = campaign.publish(workplace, **LOCAL)
    assert any(each.startswith("quota region:south=30% of 9 people needs 3; 1 is known") for each in sheet.notes)
    with pytest.raises(InfeasibleError, match=r"needs 3; 1 is known.*Nothing was sent"):
        campaign.publish(workplace, dry_run=False, **LOCAL)
    assert money_of(campaign)[0] == 0
    assert hits_of(campaign) == []
    assert workplace.find_all() == {}


def test_a_value_that_nobody_has_is_named_with_those_there_are(small: Any, workplace: Any) -> None:
    campaign = small()
    campaign.set_quotas([Quota("region", {"suoth": 0.3})], people=9)
    invite(workplace, north=7, south=4)
    with pytest.raises(InfeasibleError, match=r"0 are known \(known of region: north, south\)"):
        campaign.publish(workplace, dry_run=False, **LOCAL)


def test_quotas_that_only_clash_together_are_noticed(small: Any, workplace: Any) -> None:
    campaign = small()
    # Everybody from the south is a man, so 5 from the south and 6 women are 11 people.
    campaign.set_quotas([Quota("region", {"south": 0.5}), Quota("gender", {"woman": 0.6})], people=9)
    for number in range(6):
        workplace.invites().issue(f"s{number}", attributes={"region": "south", "gender": "man"})
        workplace.invites().issue(f"n{number}", attributes={"region": "north", "gender": "woman"})
    with pytest.raises(InfeasibleError, match="the quotas cannot be kept"):
        campaign.publish(workplace, dry_run=False, **LOCAL)


def test_only_the_pools_people_count_for_a_pool(small: Any, workplace: Any, clock: Any) -> None:
    campaign = small()
    campaign.set_quotas(SOUTH, people=6)
    campaign.add_pool("tier1", kind="tier1", pay_form="per_answer", price_minor=10, capacity_per_hour=60)
    invite(workplace, north=7, south=3)
    clock.advance(1)  # the newest invitation says where somebody belongs
    for number in range(7):
        workplace.invites().issue(f"north{number}", pool="tier1")
    spend = {name: value for name, value in LOCAL.items() if name != "pay_per_hour_minor"}
    with pytest.raises(InfeasibleError, match="needs 2; 0 are known"):
        campaign.publish(workplace, pool="tier1", dry_run=False, **spend)
    for number in range(3):
        workplace.invites().issue(f"south{number}", pool="tier1")
    assert campaign.publish(workplace, pool="tier1", dry_run=False, **spend).new_hits > 0


def test_more_people_than_places_are_refused(small: Any, workplace: Any) -> None:
    campaign = small()
    campaign.set_quotas(SOUTH, people=100)
    invite(workplace, north=80, south=40)
    with pytest.raises(InfeasibleError, match="over 100 people, but there are 9 places"):
        campaign.publish(workplace, dry_run=False, **LOCAL)


def test_work_goes_to_the_mix_that_was_asked_for(small: Any, workplace: Any, small_batch: Any) -> None:
    campaign = small()
    campaign.set_quotas(SOUTH, people=6)
    people = invite(workplace, north=8, south=3)
    campaign.publish(workplace, dry_run=False, **LOCAL)
    got = Counter(each.rstrip("0123456789") for each in set(come(campaign, workplace, people, small_batch.truth)))
    assert got["south"] == 2
    assert got["north"] <= 4
    assert campaign.collect(workplace).open_places == 0
    found = campaign.quota_progress()
    assert found.lines() == []
    assert found.quotas.loc[0, ["wanted", "started", "done", "missing"]].tolist() == [2, 2, 2, 0]
    assert "no quota lacks people" in str(found)


def test_progress_counts_people_at_work_and_people_who_left(small: Any, workplace: Any) -> None:
    campaign = small()
    campaign.set_quotas(SOUTH, people=6)
    invite(workplace, north=4, south=3)
    campaign.publish(workplace, dry_run=False, **LOCAL)
    first = hits_of(campaign)[0].platform_hit_id
    workplace.accept(first, "south0")
    left = workplace.accept(first, "south1").submission_id
    workplace.return_(left, "south1")
    campaign.collect(workplace)
    assert campaign.quota_progress().lines() == ["region south: 0 of 2 done, 1 at work, 1 still to come"]


def test_attributes_are_stored_of_those_who_came_and_of_what_is_asked(small: Any, workplace: Any) -> None:
    campaign = small()
    campaign.set_quotas(SOUTH, people=6)
    invite(workplace, north=4, south=3)
    workplace.invites().set_attributes("south0", {"region": "south", "gender": "woman"})
    campaign.publish(workplace, dry_run=False, **LOCAL)
    workplace.accept(hits_of(campaign)[0].platform_hit_id, "south0")
    campaign.collect(workplace)
    stored = campaign.worker_traits()
    assert stored[["attribute", "value"]].to_numpy().tolist() == [["region", "south"]]
    assert "south0" not in stored["worker"].tolist()
    workplace.invites().set_attributes("south0", {})
    campaign.collect(workplace)
    assert campaign.worker_traits().empty
    assert campaign.quota_progress().lines() == ["region south: 0 of 2 done, 2 still to come"]


def test_short_publishes_as_far_as_the_known_go(small: Any, workplace: Any, small_batch: Any) -> None:
    campaign = small()
    campaign.set_quotas(SOUTH, people=9)
    people = invite(workplace, north=8, south=1)
    campaign.publish(workplace, dry_run=False, short=True, **LOCAL)
    come(campaign, workplace, people, small_batch.truth)
    # One seat is kept for the one of the south, not three: the others get the rest.
    assert campaign.collect(workplace).open_places == 0
    assert campaign.quota_progress().lines() == ["region south: 1 of 3 done, 2 still to come"]


def test_quotas_changed_or_cleared_reach_the_workplace_with_the_next_collection(small: Any, workplace: Any) -> None:
    campaign = small()
    invite(workplace, north=4)
    campaign.publish(workplace, dry_run=False, **LOCAL)
    campaign.set_quotas([Quota("region", {"south": 1.0})], people=6)
    campaign.collect(workplace)
    assert workplace.shut_scopes("north0")
    campaign.clear_quotas()
    campaign.collect(workplace)
    assert not workplace.shut_scopes("north0")


# On Prolific.


def test_quotas_out_of_reach_say_so(small: Any, workplace: Any, small_batch: Any) -> None:
    campaign = small()
    people = invite(workplace, north=3, south=3)
    campaign.publish(workplace, redundancy=4, pay_minor=50, budget_minor=100_000, dry_run=False)
    come(campaign, workplace, people[:3], small_batch.truth)
    campaign.collect(workplace)
    # Three of four are in from the north; then two of four are asked for from the south.
    found = campaign.set_quotas([Quota("region", {"south": 0.5})], people=4)
    assert found.lines()[-1] == ("region is out of reach: 2 must come, seats left: 1 of 4; ask for more people")
    assert campaign.status().quotas == tuple(found.lines())
    assert len(campaign.set_quotas([Quota("region", {"south": 0.4})], people=5).lines()) == 1


def describe(recruiting: Any, **people: tuple[str, ...]) -> None:
    for who, values in people.items():
        answers = dict(zip(("standin-region", "standin-gender"), (CODES[each] for each in values), strict=False))
        recruiting._http.post(f"participants/{who}/traits", json=answers)


def everybody(recruiting: Any, *, each: int = 30) -> list[str]:
    names = [f"{region}{number:02d}" for number in range(each) for region in ("north", "south", "east")]
    describe(recruiting, **{name: (name.rstrip("0123456789"), ("woman", "man")[int(name[-2:]) % 2]) for name in names})
    return names


def fill(campaign: Any, recruiting: Any, people: list[str], truth: dict[str, str]) -> Counter[str]:
    """Let everybody try every study; return how many places people of each region got."""
    got: Counter[str] = Counter()
    for order, study in orders_of(campaign):
        for who in people:
            try:
                submission = recruiting.take(study, who)
            except PlatformError:
                continue
            assert recruiting.answer(order, submission, who, truth)
            recruiting.complete(submission)
            got[who.rstrip("0123456789")] += 1
    return got


def publish(campaign: Any, recruiting: Any, **changes: Any) -> Any:
    return campaign.publish(recruiting.platform, pages=recruiting.pages, dry_run=False, **{**SPEND, **changes})


def test_each_cell_is_a_study_with_its_filter_and_its_places(small: Any, recruiting: Any, small_batch: Any) -> None:
    campaign = small()
    people = everybody(recruiting)
    plain = campaign.publish(recruiting.platform, pages=recruiting.pages, **SPEND)
    campaign.set_quotas([Quota("region", {"south": 0.5, "north": 0.25})], people=4)
    sheet = campaign.publish(recruiting.platform, pages=recruiting.pages, **SPEND)
    assert sheet.dry_run
    assert recruiting.studies() == []
    assert sheet.submissions == plain.submissions
    assert sheet.reward_minor == plain.reward_minor
    publish(campaign, recruiting)
    by_cell = {each.payload["cell_name"]: each.payload for each in intents_of(campaign) if each.operation == "recruit"}
    assert set(by_cell) == {"region south", "region north", "region other than south, north"}
    filters = [each.body.filters[0]["selected_values"] for each in recruiting.studies()]
    assert sorted(map(tuple, filters)) == [("70",), ("71",), ("72",)]
    got = fill(campaign, recruiting, people, small_batch.truth)
    places = sheet.submissions
    # Half, a quarter and a quarter of the places, whoever came in which order.
    assert sum(got.values()) == places
    assert got["south"] == pytest.approx(places / 2, abs=1)
    assert got["north"] == pytest.approx(places / 4, abs=1)
    found = campaign.collect(recruiting.platform, pages=recruiting.pages)
    assert (found.open_places, found.unmatched) == (0, 0)
    after = campaign.quota_progress()
    assert after.lines() == []
    assert after.quotas["done"].tolist()[:2] >= [2, 1]
    assert len(campaign.aggregate().labels) > 0
    assert money_of(campaign)[2] == 0


def test_money_is_reserved_for_each_cell_and_paid_once(small: Any, recruiting: Any, small_batch: Any) -> None:
    campaign = small()
    people = everybody(recruiting)
    campaign.set_quotas([Quota("region", {"south": 0.5})], people=4)
    sheet = publish(campaign, recruiting)
    assert money_of(campaign)[0] == sheet.total_minor
    assert publish(campaign, recruiting).new_hits == 0
    assert len(recruiting.studies()) == sheet.orders
    fill(campaign, recruiting, people, small_batch.truth)
    campaign.collect(recruiting.platform, pages=recruiting.pages)
    paid = campaign.approve(recruiting.platform, pages=recruiting.pages, dry_run=False, budget_minor=20_000, by="kim")
    assert paid.approved == sheet.submissions
    assert recruiting.world.spent_minor == pytest.approx(sheet.total_minor, rel=0.02)


def test_a_budget_that_does_not_reach_publishes_no_cell(small: Any, recruiting: Any) -> None:
    campaign = small()
    everybody(recruiting)
    campaign.set_quotas([Quota("region", {"south": 0.5})], people=4)
    with pytest.raises(BudgetError):
        publish(campaign, recruiting, budget_minor=50)
    assert recruiting.studies() == []
    assert money_of(campaign)[0] == 0


def test_a_crash_between_the_cells_is_mended_by_publishing_again(small: Any, recruiting: Any) -> None:
    campaign = small()
    everybody(recruiting)
    campaign.set_quotas([Quota("region", {"south": 0.5})], people=4)

    def crash(step: str, _key: str) -> None:
        if step == "after_remote":
            raise KeyboardInterrupt

    campaign._context.hook = crash
    with pytest.raises(KeyboardInterrupt):
        publish(campaign, recruiting)
    assert len(recruiting.studies()) == 1
    campaign._context.hook = None
    sheet = publish(campaign, recruiting)
    assert len(recruiting.studies()) == sheet.orders == len(orders_of(campaign)) > 1
    assert campaign.reconcile(recruiting.platform, pages=recruiting.pages).is_settled


def test_two_attributes_are_crossed(small: Any, recruiting: Any, small_batch: Any) -> None:
    campaign = small()
    people = everybody(recruiting)
    campaign.set_quotas([Quota("region", {"south": 0.5}), Quota("gender", {"woman": 0.5})], people=4)
    publish(campaign, recruiting)
    assert all(len(each.body.filters) == 2 for each in recruiting.studies())
    fill(campaign, recruiting, people, small_batch.truth)
    campaign.collect(recruiting.platform, pages=recruiting.pages)
    found = campaign.quota_progress()
    assert found.lines() == []
    assert found.done >= 4


def test_a_value_that_prolific_does_not_have_is_refused(small: Any, recruiting: Any) -> None:
    campaign = small()
    campaign.set_quotas([Quota("region", {"suoth": 0.5})], people=4)
    with pytest.raises(InfeasibleError, match=r"no choice 'suoth' of its own.*South \(71\)"):
        publish(campaign, recruiting)
    assert money_of(campaign)[0] == 0


def test_too_few_eligible_people_are_said_and_refused(small: Any, recruiting: Any) -> None:
    campaign = small()
    everybody(recruiting, each=26)
    campaign.set_quotas([Quota("region", {"south": 1.0})], people=27)
    wide = {"redundancy": 20, "budget_minor": 100_000}
    with pytest.raises(InfeasibleError, match="region south needs 27 people; at most 26 are there"):
        publish(campaign, recruiting, **wide)
    sheet = campaign.publish(recruiting.platform, pages=recruiting.pages, **{**SPEND, **wide})
    assert "region south needs 27 people; at most 26 are there" in sheet.notes
    assert publish(campaign, recruiting, short=True, **wide).new_hits > 0


def test_a_group_stands_in_for_a_filter_that_prolific_does_not_have(
    small: Any, recruiting: Any, small_batch: Any
) -> None:
    campaign = small()
    frame = pd.DataFrame({"worker": [f"p{number}" for number in range(20)], "dialect": ["low", "high"] * 10})
    drawn = campaign.draw_panel(
        frame[frame["dialect"] == "low"], [Quota("dialect", {"low": 1.0})], 8, name="low", platform=recruiting.platform
    )
    quota = Quota("dialect", {"low": 0.5}, filter_id="participant_group_allowlist", choices={"low": [drawn.id]})
    campaign.set_quotas([quota], people=4)
    publish(campaign, recruiting, short=True)
    orders = {each.payload["cell_name"]: each.result["hit_id"] for each in intents_of(campaign) if each.result}
    assert recruiting.take(orders["dialect low"], drawn.workers[0])
    with pytest.raises(PlatformError, match="does not pass the filters"):
        recruiting.take(orders["dialect low"], "p1")
    with pytest.raises(PlatformError, match="does not pass the filters"):
        recruiting.take(orders["dialect other than low"], drawn.workers[0])
    assert recruiting.take(orders["dialect other than low"], "p1")


# On MTurk.


def test_on_mturk_quotas_need_a_panel(small: Any, turk: Any) -> None:
    campaign = small()
    campaign.set_quotas(SOUTH, people=4)
    spend = {**LOCAL, "dry_run": False}
    with pytest.raises(InfeasibleError, match="no panel was drawn for it"):
        campaign.publish(turk.platform, **spend)
    people = pd.DataFrame({"worker": [f"A{n}WORKER" for n in range(8)], "region": ["south", "north"] * 4})
    campaign.draw_panel(people, SOUTH, 4, platform=turk.platform)
    assert campaign.publish(turk.platform, **spend).new_hits > 0
