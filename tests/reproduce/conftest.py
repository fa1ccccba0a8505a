"""The published data, where it is, and one run over it for all tests."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.reproduce import HmcevalData, HmcevalReport, load_hmceval, reproduce_hmceval


@pytest.fixture(scope="session")
def hmceval_dir() -> Path:
    root = os.environ.get("HMC_CROWD_DATA")
    folder = (Path(root) if root else Path(__file__).parents[3] / "shared" / "data") / "hmceval"
    if not folder.is_dir():
        pytest.skip(f"the HMCEval data is not at {folder}; set HMC_CROWD_DATA to the folder that holds hmceval/")
    return folder


@pytest.fixture(scope="session")
def published(hmceval_dir: Path) -> HmcevalData:
    return load_hmceval(hmceval_dir)


@pytest.fixture(scope="session")
def report(hmceval_dir: Path) -> HmcevalReport:
    return reproduce_hmceval(hmceval_dir, n_jobs=2, clock=VirtualClock(datetime(2026, 11, 3, tzinfo=UTC)))
