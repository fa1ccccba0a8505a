"""The adapter keeps the contract of the port, against the stand-in over HTTP."""

from __future__ import annotations

import pytest
from hmc_crowd_prolific import ProlificPlatform

from hmc_crowd.platform import Capabilities, Platform, Recruiter
from hmc_crowd.testing import platform_conformance
from hmc_crowd.testing._checks import CHECKS


class _AdoptsByKey(ProlificPlatform):
    """The same platform, held to what it does beyond its capability: publishing again finds what exists."""

    capabilities = Capabilities(rejection_frees_slot=True, idempotent_create=True)


@pytest.mark.parametrize("kind", [ProlificPlatform, _AdoptsByKey])
def test_prolific_keeps_the_contract(kind, lab) -> None:
    def make() -> Platform:
        # A project of its own is as good as an empty platform.
        project = lab.world.new_id("project")
        lab.world.projects[project] = "Check"
        made = lab.connect(project=project, minimum_hourly_minor=0)
        return kind(made.client, made.settings, clock=lab.clock)

    report = platform_conformance(make, lab.drive)
    report.check()
    assert len(report.passed) == sum(not each.needs_pages for each in CHECKS)


def test_it_recruits_for_many_hits_at_once(lab) -> None:
    assert isinstance(lab.connect(), Recruiter)
