"""The adapter keeps the contract of the port, against the front door, page and all."""

from __future__ import annotations

from mturk_house import answer_fields

from hmc_crowd.platform import TaskPages
from hmc_crowd.testing import platform_conformance


def test_the_adapter_keeps_the_contract(make_house, connect_to) -> None:
    house = make_house()

    def make():
        # Every check wants an empty platform: another account of the same front door.
        key = house.door.issue_key(f"account{len(keys)}")
        keys.append(key)
        return connect_to(key=key, url=house.url)

    def drive(platform, remote, hit, worker, until):
        work = house.workers.accept(remote.hit_id, worker)
        if until == "return":
            house.workers.return_(work.assignment_id, work.worker)
        elif until == "submit":
            fields = {"assignmentId": work.assignment_id, **answer_fields(hit, "good")}
            assert house.page("POST", "/mturk/externalSubmit", data=fields).status_code == 200
        return work.assignment_id

    keys: list[object] = []
    report = platform_conformance(make, drive)
    report.check()
    assert report.skipped == ()
    assert isinstance(make(), TaskPages)
