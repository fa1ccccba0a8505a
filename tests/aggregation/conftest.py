from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def crowd_dir() -> Path:
    base = Path(os.environ.get("HMC_CROWD_DATA", ROOT.parent / "shared" / "data"))
    if not (base / "crowd").is_dir():
        pytest.skip(f"no crowd data sets under {base}; set HMC_CROWD_DATA")
    return base / "crowd"


@pytest.fixture
def small() -> pd.DataFrame:
    """Task a: x, x, y; task b: y, y, y; of workers w1, w2, w3."""
    return pd.DataFrame(
        [("a", "w1", "x"), ("a", "w2", "x"), ("a", "w3", "y"), ("b", "w1", "y"), ("b", "w2", "y"), ("b", "w3", "y")],
        columns=["task", "worker", "label"],
    )
