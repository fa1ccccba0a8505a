"""Participant groups as qualifications (acceptance case B31), projects, filters."""

from __future__ import annotations

import pytest
from hmc_crowd_prolific import allow_group, band_name

from hmc_crowd.errors import InputError, PlatformError, PlatformUnavailableError


@pytest.fixture
def bands(lab) -> dict[str, str]:
    groups = lab.connect().client.groups
    return {band: groups.ensure(lab.world.workspace, band_name("toxicity", 3, band)).id for band in ("low", "high")}


def writes(lab) -> int:
    return sum(call["method"] in {"POST", "DELETE"} for call in lab.world.calls)


def test_b31_a_changed_score_moves_exactly_that_worker_and_a_repetition_makes_no_call(lab, bands) -> None:
    groups = lab.connect().client.groups
    groups.sync(bands["low"], ["ann", "bob", "cyd"])
    assert groups.place("ann", "high", bands)
    assert groups.members(bands["low"]) == {"bob", "cyd"}
    assert groups.members(bands["high"]) == {"ann"}
    before = writes(lab)
    assert not groups.place("ann", "high", bands)
    assert writes(lab) == before


def test_b31_syncing_changes_the_difference_alone(lab, bands) -> None:
    groups = lab.connect().client.groups
    assert groups.sync(bands["high"], ["ann", "bob"]) == ({"ann", "bob"}, set())
    assert groups.sync(bands["high"], ["bob", "cyd"]) == ({"cyd"}, {"ann"})
    before = writes(lab)
    assert groups.sync(bands["high"], ["cyd", "bob"]) == (set(), set())
    assert writes(lab) == before


@pytest.mark.parametrize("fault", ["reset_after", "reset_before", "status_after"])
def test_b31_a_broken_line_does_no_harm(lab, bands, fault) -> None:
    groups = lab.connect(broken=True).client.groups
    lab.chaos.inject(fault, match=r"POST \S*/participants/")
    groups.sync(bands["high"], ["ann"])
    assert lab.world.groups[bands["high"]].members.keys() == {"ann"}


def test_a_worker_can_be_taken_out_of_every_band(lab, bands) -> None:
    groups = lab.connect().client.groups
    groups.place("ann", "high", bands)
    groups.place("ann", None, bands)
    assert [groups.members(each) for each in bands.values()] == [set(), set()]
    with pytest.raises(InputError, match="band is 'top'; the test has low, high"):
        groups.place("ann", "top", bands)


def test_a_group_is_made_once(lab, bands) -> None:
    again = lab.connect().client.groups.ensure(lab.world.workspace, "hmc toxicity v3 high")
    assert again.id == bands["high"]
    assert len(lab.world.groups) == 2


@pytest.mark.parametrize("fault", ["reset_after", "status_after"])
def test_a_group_whose_making_broke_is_found_by_its_name(lab, fault) -> None:
    lab.chaos.inject(fault, match=r"POST \S*/participant-groups/$")
    made = lab.connect(broken=True).client.groups.ensure(lab.world.workspace, "g")
    assert list(lab.world.groups) == [made.id]


def test_only_members_of_the_group_see_the_study(lab, bands) -> None:
    platform = lab.connect(filters=(allow_group(bands["high"]),))
    study = platform.recruit(lab.order()).hit_id
    with pytest.raises(PlatformError, match="does not pass the filters"):
        lab.take(study, "ann")
    platform.client.groups.place("ann", "high", bands)
    assert lab.take(study, "ann")


def test_a_project_is_made_once(lab) -> None:
    workspaces = lab.connect(broken=True).client.workspaces
    lab.chaos.inject("reset_after", match=r"POST \S*/projects/$")
    made = workspaces.ensure_project(lab.world.workspace, "Evaluation")
    assert workspaces.ensure_project(lab.world.workspace, "Evaluation") == made
    assert list(lab.world.projects.values()) == ["Project", "Evaluation"]


def test_a_project_that_cannot_be_made_is_said_so(lab) -> None:
    lab.chaos.inject("status_before", match=r"POST \S*/projects/$", times=2)
    with pytest.raises(PlatformUnavailableError, match="'Evaluation' could not be made"):
        lab.connect(broken=True).client.workspaces.ensure_project(lab.world.workspace, "Evaluation")


def test_filters_are_looked_up(lab) -> None:
    client = lab.connect().client
    assert "participant_group_allowlist" in client.filter_ids()
    assert client.count_eligible([allow_group("g")], workspace=lab.world.workspace) == 1000
