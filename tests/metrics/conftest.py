from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def hmceval() -> Path:
    """The folder of the paper's published data."""
    default = Path(__file__).parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("HMC_CROWD_DATA", default)) / "hmceval"
    if not (folder / "sae_trust_score.tsv").exists():
        pytest.skip(f"no data of the HMCEval paper in {folder}; set HMC_CROWD_DATA")
    return folder
