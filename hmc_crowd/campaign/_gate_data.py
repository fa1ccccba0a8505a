"""What does a gate look at in a campaign? Items with what is known of them, answers that count, workers' quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.campaign._incoming import submission_confidence
from hmc_crowd.campaign._standing import quality_table
from hmc_crowd.errors import FrameError, ModelError, StateError
from hmc_crowd.quality import ComplexityModel, complexity_features, disagreement

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["GateData", "gate_data", "known_of"]

_KNOWN = ("risk", "complexity", "semantic_complexity", "urgency", "area", "tier", "due_at")
_RISKS = {0.0: "low", 1.0: "medium", 2.0: "high"}


@dataclass(frozen=True)
class GateData:
    """Items that people answered, their answers and the quality of who gave them; ``notes`` say what is missing."""

    aspect: str
    items: pd.DataFrame
    answers: pd.DataFrame
    workers: pd.DataFrame
    gold: pd.DataFrame
    gold_answers: pd.DataFrame
    notes: tuple[str, ...]


def gate_data(context: Context, tx: Transaction, aspect: str, items: Any, *, learnt: bool) -> GateData:
    """Bring together what is stored, and what a table says of the items; ``learnt`` models complexity if possible.

    Raises
    ------
    StateError
        Nobody has answered the aspect yet.
    """
    every = tx.work.answers(context.campaign_id)
    answers = Versions(context, tx).counting(every[(every["aspect"] == aspect) & every["excluded"].isna()])
    is_gold = answers["is_gold"].to_numpy(dtype=bool)
    # A submission's gold speaks for all of its answers; of gold itself the gate must not be told.
    sure = submission_confidence(context, tx, answers=every)[["platform", "submission_id", "confidence"]]
    answers = answers.merge(sure, on=["platform", "submission_id"], how="left")
    counted = answers.loc[~is_gold, ["task", "worker", "label", "submitted", "confidence"]]
    if counted.empty:
        raise StateError(f"nobody has answered aspect {aspect!r} yet; publish() and collect() first")
    names = counted["task"].drop_duplicates().sort_values().tolist()
    known = known_of(context, tx, names, items)
    notes: list[str] = []
    if "complexity" not in known:
        known, said = _with_complexity(known, counted, learnt=learnt)
        notes += said
    table = quality_table(context, tx, answers=every)
    gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect)[["item", "label"]]
    return GateData(
        aspect=aspect,
        items=known,
        answers=counted,
        workers=table.loc[table["quality"].notna(), ["worker", "quality"]],
        gold=gold,
        gold_answers=answers.loc[is_gold, ["task", "worker", "label", "submitted"]],
        notes=tuple(notes),
    )


def known_of(context: Context, tx: Transaction, names: list[str], told: Any) -> pd.DataFrame:
    """Return ``item, group, text`` and, where known, ``risk, complexity, urgency, area, tier, due_at``.

    They come from the table, else from numeric columns of these names that the items were added with; a risk of 0, 1
    and 2 is low, medium and high.
    """
    stored = tx.frames.read(context.campaign_id, "items", items=names)
    found = stored[["item", "group", "text"]].reset_index(drop=True)
    features = pd.DataFrame([each or {} for each in stored["features"]], index=found.index)
    for name in _KNOWN[:4]:
        if name in features:
            found[name] = features[name].map(_RISKS) if name == "risk" else features[name]
    if told is None:
        return found
    from hmc_crowd.io import read_frame

    more = told if isinstance(told, pd.DataFrame) else read_frame(told, kind=None).frame
    if "item" not in more:
        raise FrameError(f"items lack the column item; give it with any of {', '.join(_KNOWN)}")
    if more["item"].duplicated().any():
        raise FrameError(f"items names {more.loc[more['item'].duplicated(), 'item'].iloc[0]!r} twice; give each once")
    columns = [name for name in _KNOWN if name in more]
    more = more.assign(item=more["item"].astype(str))[["item", *columns]]
    if "risk" in more:
        # An empty cell of a file is a risk that nobody knows.
        more["risk"] = more["risk"].where(more["risk"] != "", None)
    return found.drop(columns=[name for name in columns if name in found]).merge(more, on="item", how="left")


def _with_complexity(known: pd.DataFrame, answers: pd.DataFrame, *, learnt: bool) -> tuple[pd.DataFrame, list[str]]:
    """Add the chance that two people disagree: learnt from texts and answers, or else the share of pairs that do.

    A gate from a file has learnt from that share (`hmc-crowd gate train`), so it gets the same.
    """
    table = disagreement(answers[["task", "worker", "label"]]).set_index("item").reindex(known["item"])
    if learnt:
        features = complexity_features(known["text"].fillna("").tolist())
        pairs = table.fillna({"n_answers": 0, "pairs": 0, "differ": 0}).reset_index()
        try:
            model = ComplexityModel().fit(features, pairs, groups=known["group"].to_numpy())
        except ModelError:
            model = None
        if model is not None and model.report_.explained > 0:
            return known.assign(complexity=np.asarray(model.predict(features))), [str(model.report_)]
    # One answer says nothing of disagreement; what is not known is taken for complex.
    share = table["share"].fillna(1.0).to_numpy()
    return known.assign(complexity=share), ["complexity is the share of pairs of answers that differ"]
