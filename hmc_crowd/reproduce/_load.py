"""Is this the data that the authors published? Read, checked and joined before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.effort import PAPER_COLUMNS, from_paper_columns
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["HmcevalData", "load_hmceval"]

_ROUTED = ("machine_confidence", "target", "machine_predict", "human_effort_groundtruth", "human_effort_predicted_avg")
_FILES = {"Trust Score": "sae_trust_score.tsv", "MCP": "sae_mcp.tsv", "TCP": "sae_tcp.tsv"}


@dataclass(frozen=True, eq=False)
class HmcevalData:
    """The published files, joined.

    Parameters
    ----------
    dialogues : pandas.DataFrame, 6,000 rows
        Features under our names, ``seconds``, ``split`` (train or test) and ``group``.
    responses : pandas.DataFrame, 5,673 rows
        ``item, group, position, turns, target, predicted, true_effort, effort, authors`` (the authors' final label).
    confidences : dict of str to array, shape (5673,)
        Confidence in [0, 1] by method: Trust Score, MCP and, where its file is there, TCP.
    test_row : array of int, shape (5673,)
        Row of each response's dialogue among the test dialogues of `dialogues`.
    """

    dialogues: pd.DataFrame
    responses: pd.DataFrame
    confidences: dict[str, NDArray[np.float64]]
    test_row: NDArray[np.intp]

    @property
    def test(self) -> pd.DataFrame:
        """The test dialogues, in the order of the responses."""
        return self.dialogues[self.dialogues["split"] == "test"]

    @property
    def train(self) -> pd.DataFrame:
        """The other dialogues."""
        return self.dialogues[self.dialogues["split"] == "train"]


def load_hmceval(data_dir: str | Path) -> HmcevalData:
    """Read the data published with the HMCEval paper.

    Parameters
    ----------
    data_dir : str or Path
        Folder with ``per_dialogue.tsv``, ``sae_trust_score.tsv``, ``sae_mcp.tsv`` and, optionally, ``sae_tcp.tsv``.

    Returns
    -------
    HmcevalData

    Raises
    ------
    InputError
        The folder or a file is not there, is no table, lacks columns or values, or the files do not belong together.
    """
    folder = Path(data_dir)
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; give the folder with the HMCEval data by --data DIR")
    dialogues = _dialogues(folder / "per_dialogue.tsv")
    trust = _table(folder / _FILES["Trust Score"], (*_ROUTED, "turn", "turns", "final_predict"))
    confidences = {"Trust Score": _confidence(trust, folder / _FILES["Trust Score"])}
    for method in ("MCP", "TCP"):
        path = folder / _FILES[method]
        if method == "TCP" and not path.exists():
            continue
        table = _table(path, _ROUTED)
        same = ["target", "machine_predict"]
        if len(table) != len(trust) or not (table[same].to_numpy() == trust[same].to_numpy()).all():
            raise InputError(f"{path} does not hold the responses of {_FILES['Trust Score']} in the same order")
        confidences[method] = _confidence(table, path)
    row = np.cumsum(trust["turn"].to_numpy() == 1) - 1
    _check_join(folder, trust, dialogues[dialogues["split"] == "test"], row)
    names = dialogues.loc[dialogues["split"] == "test", "group"].astype(str).to_numpy()[row]
    responses = trust.rename(
        columns={
            "turn": "position",
            "machine_predict": "predicted",
            "human_effort_groundtruth": "true_effort",
            "human_effort_predicted_avg": "effort",
            "final_predict": "authors",
        }
    )[["position", "turns", "target", "predicted", "true_effort", "effort", "authors"]]
    item = [f"{group}-{turn}" for group, turn in zip(names, responses["position"], strict=True)]
    responses = responses.assign(item=item, group=names)
    return HmcevalData(dialogues, responses, confidences, row.astype(np.intp))


def _dialogues(path: Path) -> pd.DataFrame:
    table = from_paper_columns(_table(path, tuple(PAPER_COLUMNS)))
    unknown = sorted(set(table["split"]) - {"train", "test"})
    if unknown:
        raise FrameError(f"{path} column my_split holds {unknown[0]!r}; it must say train or test")
    return table


def _table(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    try:
        table = pd.read_csv(path, sep="\t")
    except FileNotFoundError:
        raise InputError(f"{path} is not there; give the folder with the HMCEval data by --data DIR") from None
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{path} cannot be read as a table: {reason}; fetch the published file again") from None
    lacking = [column for column in columns if column not in table.columns]
    if lacking:
        there = ", ".join(map(str, table.columns[:12]))
        raise FrameError(
            f"{path} lacks the column {', '.join(lacking)} (it has: {there}); fetch the published file again"
        )
    if table.empty:
        raise InputError(f"{path} has no rows; fetch the published file again")
    for column in columns:
        numeric = pd.to_numeric(table[column], errors="coerce") if column != "my_split" else table[column]
        bad = numeric.isna().to_numpy()
        if bad.any():
            raise FrameError(f"{path} column {column} is no number in {first_rows(bad, table[column].to_numpy())}")
    return table


def _confidence(table: pd.DataFrame, path: Path) -> NDArray[np.float64]:
    values = table["machine_confidence"].to_numpy(dtype=np.float64)
    bad = (values < 0) | (values > 1)
    if bad.any():
        raise FrameError(f"{path} column machine_confidence leaves [0, 1] in {first_rows(bad, values)}")
    return values


def _check_join(folder: Path, trust: pd.DataFrame, test: pd.DataFrame, row: NDArray[np.intp]) -> None:
    """Refuse files that do not belong together: dialogues in file order must have the responses' turns and labels."""
    turns = np.bincount(row[row >= 0])
    malevolent = np.bincount(row[row >= 0], weights=trust["target"].to_numpy()[row >= 0])
    fits = len(test) == len(turns) and row.min() >= 0
    if fits:
        bad = (turns != test["turns"].to_numpy()) | (malevolent != test["malevolent_turns"].to_numpy())
        fits = not bad.any()
    if not fits:
        raise InputError(
            f"{folder / _FILES['Trust Score']} and {folder / 'per_dialogue.tsv'} do not describe the same test "
            f"dialogues ({len(turns)} and {len(test)}); take both from the same publication"
        )
