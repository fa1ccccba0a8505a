"""Which labels of the crowd stand, and which items need an expert? A gate decides, and every decision is kept.

Whatever a gate does not know goes to an expert: no gold, one class, a tie, a worker whom nobody knows. Later decisions
add to earlier ones; the newest one of an item counts, and what an expert has decided is not decided again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation import DawidSkene, calibrate
from hmc_crowd.campaign._aspects import choice_of
from hmc_crowd.campaign._gate_data import GateData, gate_data
from hmc_crowd.campaign._gate_learning import Taught, teach
from hmc_crowd.campaign._looks import looks
from hmc_crowd.errors import InputError, ModelError
from hmc_crowd.quality import ConsensusGate, LearnedGate, PosteriorGate, RuleGate, WeightedGate, decision_records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.quality import Decisions, ExpertGate
    from hmc_crowd.store import Transaction

__all__ = ["GATES", "Gated", "decide_items", "decisions", "newest", "waiting_since"]

_SETTINGS = {
    "rules": ("risk", "quality", "complexity", "text_length", "of"),
    "consensus": ("at_least", "agreement", "confidence", "borderline_agreement", "borderline_confidence", "by"),
    "weighted": ("at_least", "agreement"),
    "posterior": ("threshold",),
    "ml": ("kind", "features", "threshold", "weighted", "expert_cost", "error_cost", "expert_error"),
}
GATES = tuple(_SETTINGS)


@dataclass(frozen=True)
class Gated:
    """What a gate decided.

    Parameters
    ----------
    aspect, gate, version : str
        What was decided by which policy; the version is a hash of its settings.
    items, experts : int
        Items decided, and how many of them go to an expert.
    reasons : dict of str to int
        How often each reason was given.
    notes : tuple of str
    compared : pandas.DataFrame, optional
        Of the learned gate: what it and other gates do about items with known labels, each held out from it once:
        ``gate, n, wrong, sent, recall, accuracy_before, accuracy, missed, needless, cost``; an error costs as much as
        ten judgements of experts unless ``error_cost`` and ``expert_cost`` say otherwise.
    """

    aspect: str
    gate: str
    version: str
    items: int
    experts: int
    reasons: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    compared: pd.DataFrame | None = None

    def __str__(self) -> str:
        share = f" ({self.experts / self.items:.1%})" if self.items else ""
        return f"{self.gate} {self.version}: {self.experts:,} of {self.items:,} items{share} go to an expert"


def decide_items(
    context: Context, gate: str | ExpertGate, *, aspect: str | None, items: Any, settings: Mapping[str, Any]
) -> Gated:
    """Decide about every item that people answered and no expert has decided."""
    record = choice_of(context, aspect)
    with context.store.begin() as tx:
        tx.reviews.one_at_a_time(context.campaign_id)
        data = gate_data(context, tx, record.name, items, learnt=isinstance(gate, str))
        taught = _taught(context, tx, data, settings) if gate == "ml" else None
        chosen, notes = _gate(data, gate, dict(settings)) if taught is None else (taught.gate, list(taught.notes))
        # What an expert has decided, or is asked about in an appeal.
        done = looks(context, tx, record.name)["item"]
        open_ = data.items[~data.items["item"].isin(done)].reset_index(drop=True)
        # A gate that was taught with stated confidences must not take these for them.
        given = data.answers.drop(columns="confidence") if isinstance(chosen, LearnedGate) else data.answers
        found = chosen.decide(
            open_.drop(columns=["group", "area", "tier", "due_at"], errors="ignore"),
            given,
            data.workers if taught is None else taught.workers,
        )
        _keep(context, tx, found, record.name)
        accepted = found.frame.loc[~found.frame["needs_expert"], ["item", "label"]]
        tx.gates.release(context.campaign_id, record.name, accepted["item"].tolist())
        notes += _other_labels(context, tx, record.name, accepted)
        gated = Gated(
            record.name,
            found.gate,
            found.version,
            len(found),
            found.n_expert,
            found.reasons(),
            (*data.notes, *notes),
            None if taught is None else taught.compared,
        )
        policy = f"{found.gate} {found.version}"
        context.log(tx, "gated", aspect=record.name, policy=policy, items=gated.items, experts=gated.experts)
    return gated


def decisions(context: Context, *, aspect: str | None, newest: bool) -> pd.DataFrame:
    """Return what was decided about items, by gates and by experts, in the order of time."""
    with context.store.read() as tx:
        return tx.gates.decisions(context.campaign_id, aspect=aspect, newest=newest)


def newest(context: Context, tx: Transaction, aspect: str) -> pd.DataFrame:
    """Return the decision in force of each item."""
    return tx.gates.decisions(context.campaign_id, aspect=aspect, newest=True)


def waiting_since(decided: pd.DataFrame) -> pd.Series[pd.Timestamp]:
    """Return since when each item has been an expert's to look at, or was when it last was one's, by item.

    A gate that sends it again does not let its wait begin anew.
    """
    to_expert = decided["decision"] == "expert"
    before = to_expert.groupby([decided["aspect"], decided["item"]]).shift(fill_value=False).astype(bool)
    return decided[to_expert & ~before].drop_duplicates("item", keep="last").set_index("item")["decided_at"]


def _keep(context: Context, tx: Transaction, found: Decisions, aspect: str) -> None:
    rows = decision_records(found, decided_at=context.clock.now()).assign(aspect=aspect)
    # Where everything speaks for an expert a gate's score is infinite, which no table holds.
    rows["score"] = rows["score"].where(np.isfinite(rows["score"].astype(float)))
    rows["label"] = rows["label"].map(lambda each: None if each is None or each != each else str(each))
    tx.gates.add(context.campaign_id, rows.astype({"label": object}))


def _gate(data: GateData, gate: str | ExpertGate, settings: dict[str, Any]) -> tuple[ExpertGate, list[str]]:
    """Return the gate that was named, made for what is known here."""
    if not isinstance(gate, str):
        if settings:
            raise InputError(f"{', '.join(settings)} are settings of a gate by name; set them on the gate itself")
        return gate, []
    if gate not in GATES:
        raise InputError(f"gate is {gate!r}; choose {', '.join(GATES)}, or pass a gate of hmc_crowd.quality")
    try:
        if gate == "rules":
            return _rules(data, settings)
        if gate == "consensus":
            return ConsensusGate(**settings), []
        if gate == "weighted":
            return WeightedGate(**settings), []
        return _posterior(data, settings)
    except TypeError:
        raise _wrong_settings(gate, settings) from None


def _rules(data: GateData, settings: dict[str, Any]) -> tuple[ExpertGate, list[str]]:
    """Return the source's rules, without those on columns that nobody gave."""
    notes = []
    for name in ("risk", "complexity"):
        if name not in data.items and name not in settings:
            settings = {**settings, name: None}
            notes.append(f"no item has a {name}: the rule on it is left out")
    return RuleGate(**settings), notes


def _posterior(data: GateData, settings: dict[str, Any]) -> tuple[ExpertGate, list[str]]:
    model = DawidSkene().fit(pd.concat([data.answers, data.gold_answers])[["task", "worker", "label"]])
    gold = data.gold[data.gold["item"].isin(data.gold_answers["task"]) & data.gold["label"].isin(model.priors_.index)]
    try:
        rule = calibrate(model, gold)
    except (ModelError, InputError) as error:
        return PosteriorGate(model, None, **settings), [f"not calibrated, so everything goes to an expert: {error}"]
    return PosteriorGate(model, rule, **settings), []


def _taught(context: Context, tx: Transaction, data: GateData, settings: Mapping[str, Any]) -> Taught:
    try:
        return teach(context, tx, data, settings)
    except TypeError:
        raise _wrong_settings("ml", settings) from None


def _wrong_settings(gate: str, settings: Mapping[str, Any]) -> InputError:
    """Say which setting a gate does not have, or which is of the wrong kind."""
    odd = [name for name in settings if name not in _SETTINGS[gate]]
    if odd:
        return InputError(f"gate {gate!r} has no setting {odd[0]!r}; it has {', '.join(_SETTINGS[gate])}")
    words = ", ".join(f"{name}={value!r}" for name, value in settings.items() if not isinstance(value, int | float))
    return InputError(f"gate {gate!r} cannot take {words or dict(settings)}; give numbers")


def _other_labels(context: Context, tx: Transaction, aspect: str, accepted: pd.DataFrame) -> list[str]:
    stored = tx.labels.read(context.campaign_id, aspect=aspect)
    if stored.empty:
        return ["there are no labels yet: aggregate() gives each item one"]
    both = accepted.merge(stored[["item", "label"]], on="item", suffixes=("", "_stored"))
    other = int((both["label"].astype(str) != both["label_stored"].astype(str)).sum())
    return [f"{other:,} accepted items have another label by aggregate(), which counts"] if other else []
