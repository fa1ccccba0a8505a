from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import pandas as pd


@pytest.fixture(scope="session")
def hmceval() -> Path:
    """The folder of the paper's published data."""
    default = Path(__file__).parents[2].parent / "shared" / "data"
    folder = Path(os.environ.get("HMC_CROWD_DATA", default)) / "hmceval"
    if not (folder / "sae_trust_score.tsv").exists():
        pytest.skip(f"no data of the HMCEval paper in {folder}; set HMC_CROWD_DATA")
    return folder


@pytest.fixture(scope="session")
def responses(hmceval: Path) -> pd.DataFrame:
    """The 5,673 routed responses with Trust Score confidences, and the dialogue of each."""
    import pandas as pd

    frame = pd.read_csv(hmceval / "sae_trust_score.tsv", sep="\t")
    return frame.assign(dialogue=(frame["turn"] == 1).cumsum())
