"""Who passed a test, or was drawn for a panel, is let in by the platform; nobody else is, and no other campaign's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from outside_house import PLAN, SPEND, hits_of

from hmc_crowd.errors import InputError, PlatformError, StateError
from hmc_crowd.quality import QualificationTest, Quota

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd.campaign import Campaign

KEY = {"q1": "good", "q2": "bad"}
GO = {"redundancy": 2, "pay_minor": 50, "budget_minor": 1_000_000, "dry_run": False}


def made(small: Callable[..., Campaign], platform: str, *passed: str, **settings: Any) -> Campaign:
    """A planned campaign with a test that some passed and one did not."""
    campaign = small(plan=PLAN, **settings)
    campaign.add_test(QualificationTest("tone", 1, KEY))
    for each in passed:
        campaign.take_test("tone", each, KEY, platform=platform)
    campaign.take_test("tone", "AFAILED", {}, platform=platform)
    return campaign


def test_mturk_hits_ask_for_the_test(small: Callable[..., Campaign], turk: Any) -> None:
    campaign = made(small, "mturk", "AGOOD")
    campaign.sync_test(turk.platform, "tone")
    sheet = campaign.publish(turk.platform, test="tone", **GO)
    assert any("let in is only who passed test 'tone', version 1" in note for note in sheet.notes)
    hit = hits_of(campaign)[0]
    with pytest.raises(Exception, match="ualification"):
        turk.workers.accept(hit.platform_hit_id, "AFAILED")
    turk.workers.accept(hit.platform_hit_id, "AGOOD")
    # Who passes later comes in with the next sync.
    campaign.take_test("tone", "ALATER", KEY, platform="mturk")
    campaign.sync_test(turk.platform, "tone")
    turk.workers.accept(hit.platform_hit_id, "ALATER")


def test_mturk_hits_ask_for_the_panel_unless_it_is_left_out(small: Callable[..., Campaign], turk: Any) -> None:
    people = pd.DataFrame({"worker": [f"A{n}" for n in range(10)], "region": ["north", "south"] * 5})
    campaign = small(plan=PLAN)
    panel = campaign.draw_panel(people, [Quota("region", {"south": 0.5})], 4, platform=turk.platform)
    assert campaign.publish(turk.platform, **{**GO, "dry_run": True}, panel=False).notes == ()
    campaign.publish(turk.platform, **GO)
    hit = hits_of(campaign)[0]
    others = set(people["worker"]) - set(panel.workers)
    with pytest.raises(Exception, match="ualification"):
        turk.workers.accept(hit.platform_hit_id, min(others))
    turk.workers.accept(hit.platform_hit_id, panel.workers[0])


def test_more_places_ask_for_the_same(small: Callable[..., Campaign], turk: Any) -> None:
    campaign = made(small, "mturk", "AGOOD")
    campaign.sync_test(turk.platform, "tone")
    campaign.publish(turk.platform, test="tone", **GO)
    hit = hits_of(campaign)[0]
    # Beyond nine places the rest is a HIT of its own.
    campaign.extend(turk.platform, hit.key, 10, budget_minor=1_000_000, dry_run=False)
    for each in turk.hits():
        with pytest.raises(Exception, match="ualification"):
            turk.workers.accept(each.hit_id, "AFAILED")


def test_prolific_studies_ask_for_the_test(small: Callable[..., Campaign], recruiting: Any) -> None:
    campaign = made(small, "prolific", "part000")
    told = campaign.sync_test(recruiting.platform, "tone")
    with recruiting.pages:
        campaign.publish(recruiting.platform, pages=recruiting.pages, test="tone", dry_run=False, **SPEND)
        filters = [each.body.filters for each in recruiting.studies()]
        assert [each[0]["filter_id"] for each in filters] == ["participant_group_allowlist"] * len(filters)
        study = recruiting.studies()[0].id
        with pytest.raises(PlatformError, match="does not pass the filters"):
            recruiting.take(study, "part001")
        assert recruiting.take(study, "part000")
        assert filters[0][0]["selected_values"] == [told.id]


def test_a_platform_must_have_been_told(small: Callable[..., Campaign], turk: Any, workplace: Any) -> None:
    campaign = made(small, "mturk", "AGOOD")
    with pytest.raises(StateError, match="mturk was not told who passed test 'tone'; first sync_test"):
        campaign.publish(turk.platform, test="tone", **GO)
    with pytest.raises(InputError, match="the study's test decides"):
        campaign.publish(workplace, test="tone", **GO)
    assert turk.hits() == []


def test_what_is_written_down_stays_and_says_so(small: Callable[..., Campaign], turk: Any) -> None:
    campaign = made(small, "mturk", "AGOOD")
    campaign.publish(turk.platform, **GO)
    campaign.sync_test(turk.platform, "tone")
    sheet = campaign.publish(turk.platform, test="tone", **GO)
    assert sheet.notes == ("this round's HITs were written for other people (test, panel) and stay so",)


def test_another_campaigns_test_of_the_same_name_keeps_its_people(small: Callable[..., Campaign], turk: Any) -> None:
    first, second = made(small, "mturk", "AONE"), made(small, "mturk", "ATWO", seed=8)
    told = first.sync_test(turk.platform, "tone")
    second.sync_test(turk.platform, "tone")
    assert first.sync_test(turk.platform, "tone").changed == 0
    assert second.sync_test(turk.platform, "tone").id != told.id


def test_a_panel_is_drawn_from_a_file_as_prolific_writes_it(small: Callable[..., Campaign], tmp_path: Any) -> None:
    # Files hold text: shares of availability and numbers as values are understood all the same.
    people = pd.DataFrame(
        {"Participant id": list("abcdefgh"), "level": [1, 2] * 4, "availability": [0.9] * 4 + [0.2] * 4}
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    panel = small().draw_panel(tmp_path / "people.csv", [Quota("level", {1: 0.5})], 4)
    assert (panel.feasible, sorted(panel.workers)) == (True, ["a", "b", "c", "d"])
