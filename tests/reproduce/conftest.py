"""The published data, where it is, and one run over it for all tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.reproduce import HmcevalData, HmcevalReport, load_hmceval, reproduce_hmceval

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def hmceval_dir(data_dir: Path) -> Path:
    if not (data_dir / "hmceval").is_dir():
        pytest.skip(f"the HMCEval data is not in {data_dir}; set HMC_CROWD_DATA to the folder that holds hmceval/")
    return data_dir / "hmceval"


@pytest.fixture(scope="session")
def published(hmceval_dir: Path) -> HmcevalData:
    return load_hmceval(hmceval_dir)


@pytest.fixture(scope="session")
def report(hmceval_dir: Path) -> HmcevalReport:
    """All of it, with a tenth of the trees; what the trees decide is tested with all of them."""
    return reproduce_hmceval(hmceval_dir, trees=10, n_jobs=2, clock=VirtualClock(datetime(2026, 11, 3, tzinfo=UTC)))
