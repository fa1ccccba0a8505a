from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    import pandas as pd

_DEFAULT = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def hmceval_folder() -> Path:
    folder = Path(os.environ.get("HMC_CROWD_DATA", _DEFAULT)) / "hmceval"
    if not (folder / "per_dialogue.tsv").exists():
        pytest.skip(f"the published HMCEval data are not at {folder}; set HMC_CROWD_DATA to the folder above it")
    return folder


@pytest.fixture(scope="session")
def dialogues(hmceval_folder: Path) -> pd.DataFrame:
    import pandas as pd

    from hmc_crowd.effort import from_paper_columns

    return from_paper_columns(pd.read_csv(hmceval_folder / "per_dialogue.tsv", sep="\t"))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261121)


@pytest.fixture(scope="session")
def timed() -> tuple[pd.DataFrame, np.ndarray]:
    """200 dialogues of 8 workers: 20 s to open, 6 s a turn, workers of different speed, some noise."""
    import pandas as pd

    draw = np.random.default_rng(7)
    turns, worker = draw.integers(2, 11, 200), draw.integers(0, 8, 200)
    seconds = (20 + 6.0 * turns) * (0.7 + 0.1 * worker) * draw.lognormal(0, 0.1, 200)
    return pd.DataFrame({"turns": turns, "approval_ranking": worker, "noise": draw.normal(size=200)}), seconds
