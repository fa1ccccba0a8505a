"""Files that a gate learns from or is judged on, and the gates that go with them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from hmc_crowd.quality import ExpertGate, GateCosts

__all__ = ["GateFiles", "gates_for", "posterior_gate", "read_gate_files", "sides_of"]


@dataclass(frozen=True)
class GateFiles:
    """What gates look at, and what had to be put in its place.

    Parameters
    ----------
    items, answers, gold : pandas.DataFrame
    workers : pandas.Series
        Quality by worker.
    estimated : bool
        Whether that comes from the answers.
    guessed : bool
        Whether the items' complexity does.
    notes : tuple of str
    """

    items: pd.DataFrame
    answers: pd.DataFrame
    gold: pd.DataFrame
    workers: Any
    estimated: bool = False
    guessed: bool = False
    notes: tuple[str, ...] = ()


def read_gate_files(answers: Path, gold: Path, items: Path | None, workers: Path | None) -> GateFiles:
    """Read answers, expert's labels, and what is known of items and workers."""
    from hmc_crowd.io import read_frame

    said = read_frame(answers, kind="answers", allow_repeats=True, allow_empty_labels=True).frame
    table = read_frame(gold, kind=None).frame
    named = table.rename(columns={"task": "item"}) if "item" not in table else table
    known = read_frame(named, kind="gold", name=str(gold)).frame[["item", "label"]]
    notes: list[str] = []
    quality = _quality(workers, said, notes)
    told = _told(items, sorted(set(said.loc[said["label"].notna(), "task"])))
    guessed = "complexity" not in told
    if guessed:
        notes.append("no column complexity: the share of pairs of answers that differ takes its place")
        told = _with_disagreement(told, said)
    if "risk" not in told:
        notes.append("no column risk: the rules on risk are left out")
    return GateFiles(told, said, known, quality, workers is None, guessed, tuple(notes))


def _with_disagreement(items: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Take the disagreement in these answers, and no others, for the complexity of items."""
    from hmc_crowd.quality import disagreement

    share = disagreement(answers).set_index("item")["share"]
    # One answer says nothing of disagreement; what is not known is taken for complex.
    return items.assign(complexity=items["item"].map(share).fillna(1.0))


def _told(items: Path | None, answered: Any) -> pd.DataFrame:
    import pandas as pd

    from hmc_crowd.io import read_frame

    if items is None:
        return pd.DataFrame({"item": answered})
    frame = read_frame(items, kind=None).frame
    if "item" not in frame:
        raise InputError(f"{items} lacks the column item; give one row per item")
    frame = frame.assign(item=frame["item"].astype(str))
    return frame.assign(risk=frame["risk"].where(frame["risk"] != "", None)) if "risk" in frame else frame


def _quality(workers: Path | None, said: pd.DataFrame, notes: list[str]) -> Any:
    import pandas as pd

    from hmc_crowd.io import read_frame

    if workers is None:
        notes.append("no --workers: quality is the skill that Dawid-Skene finds in the answers alone")
        return model_of(said).skills_
    frame = read_frame(workers, kind=None).frame
    missing = [name for name in ("worker", "quality") if name not in frame]
    if missing:
        raise InputError(f"{workers} lacks the column {missing[0]}; give worker and quality")
    numbers = pd.to_numeric(frame["quality"], errors="coerce")
    bad = numbers.isna() & frame["quality"].notna() & (frame["quality"].astype(str).str.strip() != "")
    if bad.any():
        raise InputError(
            f"{workers} has the quality {frame.loc[bad, 'quality'].iloc[0]!r} for worker "
            f"{frame.loc[bad, 'worker'].iloc[0]!r}; give numbers from 0 to 1, or nothing where it is not known"
        )
    return pd.Series(numbers.to_numpy(), index=frame["worker"].astype(str))


def model_of(answers: pd.DataFrame) -> Any:
    """Return Dawid and Skene's model of the answers, which sees no expert's label."""
    from hmc_crowd.aggregation import DawidSkene

    return DawidSkene().fit(answers)


def sides_of(files: GateFiles, split: Any) -> tuple[GateFiles, GateFiles]:
    """Return what is known on each side of a split.

    Estimated qualities come from all answers where items were drawn, from the past where time was split, and from each
    side's own answers where workers were; a complexity that stands for disagreement, always from the side's own.
    """
    sides = [
        replace(files, items=files.items[files.items["item"].isin(answers["task"])], answers=answers)
        for answers in (split.train, split.test)
    ]
    if files.guessed:
        sides = [replace(side, items=_with_disagreement(side.items, side.answers)) for side in sides]
    if files.estimated and split.by != "task":
        past = model_of(split.train).skills_
        own = past if split.by == "time" else model_of(split.test).skills_
        sides = [replace(side, workers=quality) for side, quality in zip(sides, (past, own), strict=True)]
    return sides[0], sides[1]


def posterior_gate(known: GateFiles, answers: pd.DataFrame, costs: GateCosts) -> Any:
    """Return a gate on posteriors, calibrated on the expert's labels of one side if these suffice."""
    from hmc_crowd.aggregation import DawidSkene, calibrate
    from hmc_crowd.errors import ModelError
    from hmc_crowd.quality import PosteriorGate

    gold = known.gold[known.gold["item"].isin(known.answers["task"])]
    # A label that only experts gave is one more in which the crowd was wrong: the calibration must see it.
    model = DawidSkene().fit(answers, labels=sorted({*answers["label"].dropna(), *gold["label"]}))
    try:
        rule = calibrate(model, gold)
    except ModelError:
        rule = None
    return PosteriorGate(model, rule, threshold=1 - costs.threshold)


def gates_for(files: GateFiles, learned: dict[str, Any]) -> dict[str, ExpertGate]:
    """Return the source's rules as far as the files go, consensus and weighted majority, and the learned gates."""
    from hmc_crowd.quality import ConsensusGate, RuleGate, WeightedGate

    risk: Any = "high" if "risk" in files.items else None
    gates: dict[str, ExpertGate] = {"rules": RuleGate.preset("source", risk=risk)}
    if {"text", "text_length"} & set(files.items.columns):
        gates["rules with text"] = RuleGate.preset("source_text")
    gates["consensus"] = ConsensusGate(by="stated" if "confidence" in files.answers else "quality")
    return {**gates, "weighted majority": WeightedGate(), **learned}
