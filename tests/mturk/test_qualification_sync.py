"""Who passed a test holds a qualification type: scores kept right, people taken out, twice is once, crashes mended."""

from __future__ import annotations

from typing import Any

import pytest
from hmc_crowd_mturk import MTurkPlatform, Requirement
from mturk_house import make_hit

from hmc_crowd.errors import InputError, PlatformUnavailableError
from hmc_crowd.platform import SyncsQualifications

NAME, WHY = "hmc tone v1", "Passed the test tone, version 1."
WRITES = {"CreateQualificationType", "AssociateQualificationWithWorker", "DisassociateQualificationFromWorker"}


def sync(platform: MTurkPlatform, scores: dict[str, int]) -> tuple[str, int]:
    return platform.sync_qualification(NAME, WHY, scores)


def held(house: Any, type_id: str) -> dict[str, int]:
    """What the endpoint itself says, by an unmodified client."""
    rows = house.client.list_workers_with_qualification_type(
        QualificationTypeId=type_id, Status="Granted", MaxResults=100
    )
    return {row["WorkerId"]: row["IntegerValue"] for row in rows["Qualifications"]}


def writes(house: Any) -> list[str]:
    return [each for each in house.calls if each in WRITES]


def test_the_platform_can_be_told_who_passed(platform: MTurkPlatform) -> None:
    assert isinstance(platform, SyncsQualifications)


def test_scores_are_set_changed_and_taken_back(house: Any, platform: MTurkPlatform) -> None:
    type_id, changed = sync(platform, {"A1": 90, "A2": 100, "A3": 80})
    assert (changed, held(house, type_id)) == (3, {"A1": 90, "A2": 100, "A3": 80})
    house.calls.clear()
    assert sync(platform, {"A1": 95, "A3": 80}) == (type_id, 2)
    assert held(house, type_id) == {"A1": 95, "A3": 80}
    assert sorted(writes(house)) == ["AssociateQualificationWithWorker", "DisassociateQualificationFromWorker"]
    assert house.workers.messages("A1") == []
    ((_, said, _),) = house.workers.messages("A2")
    assert "keeps its pay" in said


def test_twice_writes_nothing(house: Any, platform: MTurkPlatform, connect_to: Any) -> None:
    type_id, _ = sync(platform, {"A1": 90, "A2": 100})
    house.calls.clear()
    assert sync(platform, {"A1": 90, "A2": 100}) == (type_id, 0)
    assert sync(connect_to(), {"A1": 90, "A2": 100}) == (type_id, 0)
    assert writes(house) == []


def test_nobody_qualified_takes_it_from_everybody(house: Any, platform: MTurkPlatform) -> None:
    type_id, _ = sync(platform, {"A1": 90, "A2": 100})
    assert sync(platform, {}) == (type_id, 2)
    assert held(house, type_id) == {}


def test_who_lost_it_may_get_it_again(house: Any, platform: MTurkPlatform) -> None:
    type_id, _ = sync(platform, {"A1": 90})
    sync(platform, {})
    assert sync(platform, {"A1": 85}) == (type_id, 1)
    assert held(house, type_id) == {"A1": 85}


def test_only_who_holds_it_is_let_in(house: Any, platform: MTurkPlatform, connect_to: Any) -> None:
    type_id, _ = sync(platform, {"A1": 90, "A2": 70})
    asks = connect_to(requirements=[Requirement(type_id, "GreaterThanOrEqualTo", (80,))])
    hit_id = asks.publish(make_hit()).hit_id
    house.work(hit_id, "A1", submit=False)
    for worker, why in (("A2", "is 70; this HIT asks for at least 80"), ("A3", "lack the qualification")):
        with pytest.raises(Exception, match=why):
            house.work(hit_id, worker, submit=False)
    sync(platform, {"A3": 100})
    house.work(hit_id, "A3", submit=False)


@pytest.mark.parametrize("fault", ["reset_before", "reset_after"])
@pytest.mark.parametrize("write", sorted(WRITES))
def test_a_crash_in_the_middle_is_mended_by_running_again(
    house: Any, platform: MTurkPlatform, connect_to: Any, proxy: Any, write: str, fault: str
) -> None:
    wanted = {"A1": 95, "A4": 80, "A5": 70}
    if write != "CreateQualificationType":
        sync(platform, {"A1": 90, "A2": 100, "A3": 60})
    broken = connect_to(proxy.url)
    # In the middle: one is written already, or it is the only one.
    proxy.inject(fault, match=write, nth=1 if write == "CreateQualificationType" else 2)
    with pytest.raises(PlatformUnavailableError):
        sync(broken, wanted)
    type_id, _ = sync(broken, wanted)
    assert held(house, type_id) == wanted
    assert sync(connect_to(), wanted) == (type_id, 0)
    kept = house.client.list_qualification_types(Query=NAME, MustBeRequestable=False, MustBeOwnedByCaller=True)
    assert [each["QualificationTypeId"] for each in kept["QualificationTypes"]] == [type_id]


def test_more_people_than_a_page_holds(house: Any, platform: MTurkPlatform) -> None:
    many = {f"A{number:03d}": 80 for number in range(130)}
    type_id, changed = sync(platform, many)
    assert changed == 130
    house.calls.clear()
    assert sync(platform, {**many, "A000": 81}) == (type_id, 1)
    assert writes(house) == ["AssociateQualificationWithWorker"]


@pytest.mark.parametrize(("scores", "message"), [({"ann": 80}, "worker id"), ({"A1": 0.8}, "whole numbers")])
def test_what_is_no_worker_or_no_score_is_refused_before_anything_is_written(
    house: Any, platform: MTurkPlatform, scores: Any, message: str
) -> None:
    type_id, _ = sync(platform, {"A1": 90})
    house.calls.clear()
    with pytest.raises(InputError, match=message):
        sync(platform, {"A2": 70, **scores})
    assert writes(house) == []
    assert held(house, type_id) == {"A1": 90}
