"""How sure are we where people saw the machine's label? Machine and people weighed together, learnt on gold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.aggregation import CombinedConfidence, answer_evidence
from hmc_crowd.campaign._aspects import CHOICES
from hmc_crowd.campaign._confidence import calibrated
from hmc_crowd.campaign._data import known_labels

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = ["with_machine"]


def with_machine(
    context: Context,
    tx: Transaction,
    aspect: AspectRecord,
    labels: pd.DataFrame,
    rows: pd.DataFrame,
    workers: pd.DataFrame,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Give the labels that rest on suggested answers their combined confidence; say what it was learnt from.

    Without known labels that people answered in view of a suggestion nothing tells an echo from a judgement: the
    confidence then stays that of the answers alone.

    Parameters
    ----------
    labels : pandas.DataFrame
        Label rows of one aspect.
    rows : pandas.DataFrame
        The answers they were made from, gold included.
    workers : pandas.DataFrame
        ``worker`` and, where the method tells, ``accuracy``.
    """
    chosen = (labels["evidence"] == "people_suggested").to_numpy()
    if not chosen.any() or aspect.kind not in CHOICES:
        return labels, ()
    names = known_labels(context, tx, aspect) or sorted(rows["label"].astype(str).unique())
    gold = tx.frames.read(context.campaign_id, "gold", aspect=aspect.name).set_index("item")["label"]
    seen = rows.assign(seen=rows["suggestion"].where(rows["mode"] == "suggest"))
    tasks = set(seen.loc[seen["mode"] == "suggest", "task"])
    machine = _machine(context, tx, aspect.name, tasks, names)
    seen = seen[seen["task"].isin(machine.index)]
    if seen.empty:
        return labels, (f"{aspect.name}: the machine's labels are gone, so confidences are those of the answers alone",)
    people, echoes = answer_evidence(seen, _reliability(workers), names, suggestion="seen")
    machine = machine.loc[people.index]
    known = people.index[people.index.isin(gold.index)]
    if not len(known):
        said = "no known label was answered in view of a suggestion, so confidences are those of the answers alone"
        return labels, (f"{aspect.name}: {said}",)
    truth = pd.Index(names).get_indexer(pd.Index(gold.loc[known]))
    model = CombinedConfidence().fit(
        machine.loc[known].to_numpy(), people.loc[known].to_numpy(), truth, echoes=echoes.loc[known].to_numpy()
    )
    both = pd.DataFrame(
        model.predict(machine.to_numpy(), people.to_numpy(), echoes=echoes.to_numpy()), people.index, names
    )
    a, b, c = model.weights_.tolist()
    note = (
        f"{aspect.name}: {int(chosen.sum()):,} labels given in view of suggestions have the confidence of machine and "
        f"people together, learnt on {model.n_:,} known ones (weight of the machine {a:.2f}, of people {b:.2f}, of an "
        f"echo {c:+.2f})"
    )
    return _filled(labels, chosen, both), (note,)


def _filled(labels: pd.DataFrame, chosen: np.ndarray, both: pd.DataFrame) -> pd.DataFrame:
    """Put the combined probabilities into the chosen rows; the label stays what people said."""
    confidence, posterior = labels["confidence"].tolist(), labels["posterior"].tolist()
    for row in np.flatnonzero(chosen):
        item = labels["item"].iloc[row]
        if item in both.index:
            posterior[row] = {str(name): float(value) for name, value in both.loc[item].items()}
            confidence[row] = posterior[row][str(labels["label"].iloc[row])]
    return labels.assign(confidence=confidence, posterior=pd.Series(posterior, index=labels.index, dtype=object))


def _reliability(workers: pd.DataFrame) -> dict[str, float]:
    if "accuracy" not in workers:
        return {}
    known = workers[workers["accuracy"].notna()]
    return dict(zip(known["worker"].astype(str), known["accuracy"].astype(float), strict=True))


def _machine(context: Context, tx: Transaction, aspect: str, items: set[str], names: list[str]) -> pd.DataFrame:
    """Return the machine's probability of each label; what it does not say is shared among the other labels."""
    said = tx.frames.read(context.campaign_id, "predictions", aspect=aspect, items=sorted(items))
    said = said[said["label"].isin(names)].reset_index(drop=True)
    sure = calibrated(context, tx, aspect, said["confidence"].to_numpy(dtype=np.float64))
    table = np.repeat((1 - sure)[:, None] / max(1, len(names) - 1), len(names), axis=1)
    table[np.arange(len(said)), pd.Index(names).get_indexer(pd.Index(said["label"]))] = sure
    return pd.DataFrame(table, pd.Index(said["item"], name="task"), names)
