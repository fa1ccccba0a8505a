"""What teaches a campaign's learned gate? Gold that people answered, and what experts have decided so far.

A gold item is answered by many people, an ordinary one by a few: what the gate learns from are sets of as many answers
as an ordinary item gets, in the order in which they came. Of experts' decisions the blind label counts, which owes
nothing to what the crowd had said; items that an audit has drawn teach nothing, because they certify. The workers'
quality is that of Dawid and Skene's model, which does not look at the labels that are to be predicted.

The gate is taught anew whenever it decides; its version names what it had learnt from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.aggregation import DawidSkene
from hmc_crowd.campaign._cases import drawn_items
from hmc_crowd.campaign._looks import OPEN, looks
from hmc_crowd.errors import InputError
from hmc_crowd.quality import ConsensusGate, GateCosts, LearnedGate, RuleGate, WeightedGate, compare_gates, cross_decide

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._gate_data import GateData
    from hmc_crowd.quality import ExpertGate
    from hmc_crowd.store import Transaction

__all__ = ["Taught", "teach"]

_BETWEEN = "\x1f"
_COSTS = {"expert_cost": "expert", "error_cost": "error", "expert_error": "expert_error"}
_SHOWN = ["gate", "n", "wrong", "sent", "recall", "accuracy_before", "accuracy", "missed", "needless", "cost"]


@dataclass(frozen=True)
class Taught:
    """A learned gate, the workers' quality that goes with it, and how it did on items that it had not seen."""

    gate: LearnedGate
    workers: pd.Series[float]
    compared: pd.DataFrame | None
    notes: tuple[str, ...]


def teach(context: Context, tx: Transaction, data: GateData, settings: Mapping[str, Any]) -> Taught:
    """Teach a gate with all that is known; without enough of it everything goes to an expert, and it is said.

    Parameters
    ----------
    settings : mapping
        Of `hmc_crowd.quality.LearnedGate`, and ``expert_cost, error_cost, expert_error`` of its costs.
    """
    costs = {to: settings[name] for name, to in _COSTS.items() if name in settings}
    rest = {name: value for name, value in settings.items() if name not in _COSTS}
    gate = LearnedGate(**({"costs": GateCosts(**costs)} | rest))
    columns = ["task", "worker", "label"]
    skills = DawidSkene().fit(pd.concat([data.answers[columns], data.gold_answers[columns]])).skills_
    decided = _decided(context, tx, data)
    usual = int(data.answers.groupby("task").size().median())
    told = _as_asked(data.gold_answers[data.gold_answers["task"].isin(data.gold["item"])], usual)
    rows = pd.concat(
        [told, data.answers[data.answers["task"].isin(decided.index)].assign(item=lambda all_: all_["task"])]
    )
    if rows.empty:
        why = "nobody has answered gold and no expert has decided anything; everything goes to an expert"
        return Taught(gate.untaught(why), skills, None, (why,))
    known = pd.concat([data.gold.set_index("item")["label"].astype(str), decided])
    each = rows.drop_duplicates("task")
    of = dict(zip(each["task"].tolist(), each["item"].tolist(), strict=True))
    labels = {task: str(known[item]) for task, item in of.items()}
    gate.fit(None, rows[columns], skills, gold=labels, groups=of)
    source = f"{told['item'].nunique():,} gold items and {len(decided):,} decisions of experts"
    if gate.note_:
        return Taught(gate, skills, None, (f"{source}: {gate.note_}",))
    compared = _compared(gate, rows[columns], skills, labels, of)
    return Taught(gate, skills, compared, (f"{gate} ({source})",))


def _decided(context: Context, tx: Transaction, data: GateData) -> pd.Series[str]:
    """Return what experts have decided, blind, about items that people answered and no audit has drawn."""
    found = looks(context, tx, data.aspect)
    closed = found["by_expert"].astype(bool) & ~found["state"].isin([*OPEN, "begun", "review"])
    drawn = drawn_items(context, tx, data.aspect)
    found = found[closed & found["blind_label"].notna() & ~found["item"].isin(drawn)]
    found = found[found["item"].isin(data.answers["task"]) & ~found["item"].isin(data.gold["item"])]
    return found.set_index("item")["blind_label"].astype(str)


def _as_asked(answers: pd.DataFrame, usual: int) -> pd.DataFrame:
    """Split the answers to each item into sets of the usual size, each under a name of its own, with ``item``."""
    rows = answers.sort_values("submitted", kind="stable")
    place = rows.groupby("task").cumcount() // usual
    size = rows.groupby(["task", place])["worker"].transform("size")
    # What is left over is fewer answers than usual, unless it is all there is.
    kept = (size == usual) | (place == 0)
    rows, place = rows[kept], place[kept]
    return rows.assign(item=rows["task"], task=rows["task"] + _BETWEEN + place.astype(str))


def _compared(
    gate: LearnedGate, answers: pd.DataFrame, skills: pd.Series[float], labels: dict[str, str], of: dict[str, str]
) -> pd.DataFrame | None:
    """Return what this gate and others do about what it learns from, each item held out from it once."""
    try:
        held = cross_decide(gate, answers, skills, gold=labels, groups=of)
    except InputError:
        return None
    gates: dict[str, ExpertGate] = {
        "ml, held out": held,
        "rules": RuleGate(risk=None, complexity=None),
        "consensus": ConsensusGate(by="quality"),
        "weighted": WeightedGate(),
    }
    return compare_gates(gates, None, answers, skills, gold=labels, costs=gate.costs).table[_SHOWN]
