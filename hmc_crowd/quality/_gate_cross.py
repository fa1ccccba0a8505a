"""How good is a learned gate, if every item with a known label is needed to teach it?

Each item is decided by a gate that has learnt from the others: the same settings are taught several times, each time
without a part of the items, and decide about that part. What such gates do is what the one taught with everything does
at worst, since it has seen more.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._gold import gold_table  # because gold is read in one way
from hmc_crowd.errors import InputError
from hmc_crowd.quality._gate import Decision, Decisions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd.quality._gate_learned import LearnedGate

__all__ = ["HeldOutGate", "cross_decide"]


class HeldOutGate:
    """Decisions that were made by gates which had not seen the items; `compare_gates` takes it for a gate.

    Parameters
    ----------
    decisions : Decisions
    """

    def __init__(self, decisions: Decisions) -> None:
        self.decisions = decisions
        self.name, self.version = decisions.gate, decisions.version

    def decide(self, items: pd.DataFrame | None, answers: pd.DataFrame, workers: Any = None) -> Decisions:
        """Return what was decided, of the items asked for."""
        del answers, workers
        if items is None:
            return self.decisions
        frame = self.decisions.frame.set_index("item").reindex(items["item"]).reset_index()
        if frame["needs_expert"].isna().any():
            raise InputError("items holds some that nothing was decided about; ask for those that were held out")
        return Decisions(frame.astype({"needs_expert": bool}), self.name, self.version)

    def needs_expert(self, item: Any, answers: Any, workers: Any = None) -> Decision:
        """Return what was decided about one item."""
        name = item["item"] if isinstance(item, dict) else item
        row = self.decide(pd.DataFrame({"item": [name]}), answers, workers).frame.iloc[0]
        said = str(row["reason"]), str(row["evidence"]), row["label"]
        return Decision(name, bool(row["needs_expert"]), *said, self.name, self.version)


def cross_decide(
    gate: LearnedGate,
    answers: pd.DataFrame,
    workers: Any = None,
    *,
    gold: Any,
    groups: Mapping[Any, Any] | None = None,
    folds: int = 5,
    seed: int = 42,
) -> HeldOutGate:
    """Decide about items with known labels, each by a gate that has learnt from the others.

    Parameters
    ----------
    gate : LearnedGate
        Its settings count; it may be taught or not, and is not changed.
    answers, workers, gold
        As for its ``fit``.
    groups : mapping, optional
        Item to group; a group is never on both sides. Each item its own by default.
    folds : int, default 5
    seed : int, default 42
        Of the draw of the parts.

    Returns
    -------
    HeldOutGate
        A part whose gate could not learn from the others goes to an expert, reason ``untrained``.

    Examples
    --------
    >>> from hmc_crowd.quality import GateCosts, LearnedGate, compare_gates
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 200)
    >>> skills = {0: 0.9, 1: 0.7, 2: 0.6}
    >>> rows = [(i, w, t if rng.random() < s else 1 - t) for i, t in enumerate(truth) for w, s in skills.items()]
    >>> answers, gold = pd.DataFrame(rows, columns=["task", "worker", "label"]), dict(enumerate(truth))
    >>> held = cross_decide(LearnedGate(), answers, skills, gold=gold)
    >>> found = compare_gates({"learned": held}, None, answers, skills, gold=gold, costs=GateCosts())
    >>> bool(found.table["accuracy"].iloc[0] > found.table["accuracy_before"].iloc[0])
    True
    """
    if isinstance(folds, bool) or folds < 2:
        raise InputError(f"folds is {folds!r}; give a whole number of at least 2")
    table = gold_table(gold)
    of_item = pd.Series({name: name for name in answers["task"].unique()} | dict(groups or {}))
    asked = answers[answers["task"].isin(table.index)]
    names = np.array(sorted(set(of_item.reindex(asked["task"].unique())), key=str), dtype=object)
    if len(names) < folds:
        raise InputError(f"{len(names)} items have a known label and answers; {folds} parts need one each at least")
    part = dict(zip(names, np.random.default_rng(seed).permutation(len(names)) % folds, strict=True))
    side = asked["task"].map(of_item).map(part).to_numpy()
    frames = []
    for one in range(folds):
        known, held = asked[side != one], asked[side == one]
        taught = copy.copy(gate).fit(None, known, workers, gold=table, groups=groups)
        frames.append(taught.decide(None, held, workers).frame)
    return HeldOutGate(Decisions(pd.concat(frames, ignore_index=True), f"{gate.name}, held out", gate.version))
