"""Who passed a test is a participant group: made once, its members exactly those who passed."""

from __future__ import annotations

from typing import Any

from hmc_crowd.platform import SyncsQualifications


def test_a_test_is_a_group_of_those_who_passed(lab: Any) -> None:
    platform = lab.connect()
    assert isinstance(platform, SyncsQualifications)
    group, changed = platform.sync_qualification("hmc tone v1", "Passed.", {"ann": 90, "bob": 100})
    assert changed == 2
    assert platform.sync_qualification("hmc tone v1", "Passed.", {"ann": 90, "bob": 100}) == (group, 0)
    assert platform.sync_qualification("hmc tone v1", "Passed.", {"ann": 90}) == (group, 1)
    assert platform.client.groups.members(group) == {"ann"}
