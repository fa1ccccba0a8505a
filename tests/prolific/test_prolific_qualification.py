"""Who passed a test is a participant group: made once, its members exactly those who passed."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hmc_crowd_prolific import allow_group

from hmc_crowd.errors import PlatformError, PlatformUnavailableError
from hmc_crowd.platform import SyncsQualifications


def test_a_test_is_a_group_of_those_who_passed(lab: Any) -> None:
    platform = lab.connect()
    assert isinstance(platform, SyncsQualifications)
    group, changed = platform.sync_qualification("hmc tone v1", "Passed.", {"ann": 90, "bob": 100})
    assert changed == 2
    assert platform.sync_qualification("hmc tone v1", "Passed.", {"ann": 90, "bob": 100}) == (group, 0)
    assert platform.sync_qualification("hmc tone v1", "Passed.", {"ann": 90}) == (group, 1)
    assert platform.client.groups.members(group) == {"ann"}


NAME = "hmc tone v1"


def sync(platform: Any, *people: str) -> tuple[str, int]:
    return platform.sync_qualification(NAME, "Passed.", dict.fromkeys(people, 90))


def writes(lab: Any) -> int:
    return sum(call["method"] in {"POST", "DELETE"} for call in lab.world.calls)


def test_twice_writes_nothing_also_in_another_process(lab: Any) -> None:
    group, _ = sync(lab.connect(), "ann", "bob")
    before = writes(lab)
    assert sync(lab.connect(), "bob", "ann") == (group, 0)
    assert writes(lab) == before


def test_who_is_disqualified_is_taken_out_and_sees_the_live_study_no_more(lab: Any) -> None:
    platform = lab.connect()
    group, _ = sync(platform, "ann", "bob")
    study = lab.connect(filters=(allow_group(group),)).recruit(lab.order()).hit_id
    assert lab.take(study, "ann")
    assert sync(platform, "ann") == (group, 1)
    with pytest.raises(PlatformError, match="does not pass the filters"):
        lab.take(study, "bob")
    assert sync(platform) == (group, 1)
    assert platform.client.groups.members(group) == set()


@pytest.mark.parametrize("fault", ["reset_before", "reset_after", "status_after"])
@pytest.mark.parametrize(
    "call", [r"POST \S*/participant-groups/$", r"POST \S*/participants/", r"DELETE \S*/participants/"]
)
def test_a_crash_in_the_middle_is_mended_by_running_again(lab: Any, call: str, fault: str) -> None:
    if "groups/$" not in call:
        sync(lab.connect(), "ann", "bob")
    lab.chaos.inject(fault, match=call, times=20)
    # Whether it gives up or looks and goes on: nobody is let in who may not be.
    with suppress(PlatformUnavailableError):
        sync(lab.connect(broken=True), "ann", "cyd")
    lab.chaos.reset()
    group, _ = sync(lab.connect(broken=True), "ann", "cyd")
    assert lab.world.groups[group].members.keys() == {"ann", "cyd"}
    assert sync(lab.connect(), "ann", "cyd") == (group, 0)
    assert [each.name for each in lab.world.groups.values()] == [NAME]
