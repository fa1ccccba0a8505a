"""Which gate is better, on items that none of them has seen, and at which price?

A gate errs in two ways: it keeps a wrong label, or it asks an expert for nothing. Recall is the share of the wrong
labels that it sends; cost adds up both errors. At equal final accuracy the gate that sends fewer items is the better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._gold import gold_table  # because gold is read in one way
from hmc_crowd.errors import InputError
from hmc_crowd.quality._gate_costs import GateCosts
from hmc_crowd.quality._gate_learned import LearnedGate
from hmc_crowd.quality._gate_posterior import PosteriorGate
from hmc_crowd.quality._matching import same_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.quality._gate import ExpertGate

__all__ = ["GATE_CLAIMS", "GateComparison", "GateCurve", "claims_beside", "compare_gates", "gate_curve", "gate_outcome"]

GATE_CLAIMS: dict[str, dict[str, str]] = {
    "rules": {"setup": "2-3 days", "accuracy": "75-85%", "maintenance": "high", "flexibility": "low"},
    "ML gate": {"setup": "2-3 weeks", "accuracy": "90-95%", "maintenance": "medium", "flexibility": "high"},
}
"""What the source says of the two kinds of gates (D22), without data; `claims_beside` adds what was measured."""


@dataclass(frozen=True)
class GateCurve:
    """Final accuracy by the number of items sent to experts, in the order of a score.

    Parameters
    ----------
    sent : array of int
        0 to n.
    accuracy : array
        Expected accuracy of the final labels; where scores are equal, over the orders of these items.
    """

    sent: NDArray[np.intp]
    accuracy: NDArray[np.float64]

    def least_sent(self, accuracy: float) -> int | None:
        """Return the fewest items that must be sent for this accuracy, None where no number reaches it."""
        enough = np.flatnonzero(self.accuracy >= accuracy - 1e-12)
        return int(self.sent[enough[0]]) if len(enough) else None


def gate_curve(score: ArrayLike, wrong: ArrayLike, *, expert_error: float = 0.0) -> GateCurve:
    """Return what sending the items of highest score reaches.

    Parameters
    ----------
    score : array, shape (n,)
        Need of an expert; equal scores are in no order.
    wrong : array of bool or float, shape (n,)
        Whether the crowd's label is wrong.
    expert_error : float, default 0

    Examples
    --------
    Of four items the second and third are wrong; the score finds the second at once, and cannot tell the others:

    >>> gate_curve([0.1, 0.9, 0.1, 0.1], [False, True, True, False]).accuracy.round(3).tolist()
    [0.5, 0.75, 0.833, 0.917, 1.0]
    """
    value, bad = np.asarray(score, dtype=np.float64), np.asarray(wrong, dtype=np.float64)
    if value.shape != bad.shape or value.ndim != 1 or not len(value):
        raise InputError(f"score has shape {value.shape} and wrong {bad.shape}; give one value per item")
    order = np.argsort(-value, kind="stable")
    _, start, size = np.unique(-value[order], return_index=True, return_counts=True)
    expected = np.repeat(np.add.reduceat(bad[order], start) / size, size)
    left = bad.sum() - np.concatenate([[0.0], np.cumsum(expected)])
    sent = np.arange(len(value) + 1)
    return GateCurve(sent, 1 - (left + expert_error * sent) / len(value))


@dataclass(frozen=True)
class GateComparison:
    """Gates on the same items.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per gate: ``gate, n, wrong, sent, share_sent, recall, precision, f1, decided_right, accuracy_before,
        accuracy, missed, needless, cost, brier, sent_at_equal`` (items this gate would have to send for the final
        accuracy of the first gate; missing where it has no order that reaches it).
    curves : dict
        `GateCurve` by gate.
    costs : GateCosts
    note : str
        What stands in the way of a comparison; empty otherwise.
    """

    table: pd.DataFrame
    curves: dict[str, GateCurve]
    costs: GateCosts
    note: str = ""

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.table.copy()

    def __str__(self) -> str:
        best = self.table.iloc[int(self.table["cost"].to_numpy().argmin())]
        return (
            f"least cost {best['cost']:,.1f} by {best['gate']}: {int(best['sent']):,} of {int(best['n']):,} items to "
            f"experts, recall {best['recall']:.2f}, accuracy {best['accuracy_before']:.3f} to {best['accuracy']:.3f}"
        )


def compare_gates(
    gates: Mapping[str, ExpertGate],
    items: pd.DataFrame | None,
    answers: pd.DataFrame,
    workers: Any = None,
    *,
    gold: Any,
    costs: GateCosts | None = None,
) -> GateComparison:
    """Let gates decide about items whose expert's label is known.

    Parameters
    ----------
    gates : mapping of str to gate
        The first is the one that others are compared with at equal accuracy.
    items, answers, workers
        As for a gate's ``decide``; no gate may have learnt from these items.
    gold : pandas.DataFrame, pandas.Series or mapping
        The expert's labels.
    costs : GateCosts

    Raises
    ------
    InputError
        No gate, no gold, or no gold for these items.

    Notes
    -----
    An item without a label (a tie, no answers) is wrong as long as nobody decides it.
    """
    if not gates:
        raise InputError("gates is empty; give at least one")
    if gold is None or not len(gold):
        raise InputError("gold is empty; give the expert's labels of these items")
    table, prices = gold_table(gold), costs or GateCosts()
    rows, curves, base = [], {}, None
    for name, gate in gates.items():
        frame = gate.decide(items, answers, workers).frame
        truth = table.reindex(frame["item"]).to_numpy(dtype=object)
        known = pd.Series(truth, dtype=object).notna().to_numpy()
        if not known.any():
            raise InputError("gold has no label for any of these items; give the labels of items that were answered")
        wrong = ~same_labels(frame["label"], truth)[known]
        expert, score = frame["needs_expert"].to_numpy()[known], frame["score"].to_numpy(dtype=float)[known]
        curves[name] = gate_curve(score, wrong, expert_error=prices.expert_error)
        row = gate_outcome(expert, wrong, prices)
        base = row["accuracy"] if base is None else base
        sure = np.clip(score, 0, 1)
        # Only these gates' scores are probabilities.
        brier = float(((sure - wrong) ** 2).mean()) if isinstance(gate, LearnedGate | PosteriorGate) else None
        rows.append({"gate": name, **row, "brier": brier, "sent_at_equal": curves[name].least_sent(base)})
    note = "" if rows[0]["wrong"] else "the crowd's labels are all right here: no gate can be told from another"
    return GateComparison(pd.DataFrame(rows), curves, prices, note)


def claims_beside(table: pd.DataFrame) -> pd.DataFrame:
    """Put what the source claims of a kind of gate beside what was measured here.

    Parameters
    ----------
    table : pandas.DataFrame
        Of a `GateComparison`; a gate is of the kind with whose name its own begins.

    Returns
    -------
    pandas.DataFrame
        One row per kind that the table has: ``kind``, the claimed ``setup, accuracy, maintenance, flexibility``, and
        ``measured_low, measured_high``: the least and the largest share of items that gates of the kind decided right,
        an expert for a wrong label and none for a right one.

    Examples
    --------
    >>> table = pd.DataFrame({"gate": ["rules", "ML gate (logistic)"], "decided_right": [0.61, 0.83]})
    >>> claims_beside(table)[["kind", "accuracy", "measured_low"]].to_numpy().tolist()
    [['rules', '75-85%', 0.61], ['ML gate', '90-95%', 0.83]]
    """
    rows = []
    for kind, claim in GATE_CLAIMS.items():
        measured = table.loc[table["gate"].str.startswith(kind), "decided_right"]
        if len(measured):
            rows.append(
                {"kind": kind, **claim, "measured_low": float(measured.min()), "measured_high": float(measured.max())}
            )
    return pd.DataFrame(rows)


def gate_outcome(expert: NDArray[np.bool_], wrong: NDArray[np.bool_], costs: GateCosts) -> dict[str, Any]:
    """Return the figures of one gate's decisions.

    Examples
    --------
    Of four items one is wrong and sent, one right and sent: one judgement was needless.

    >>> found = gate_outcome(np.array([1, 1, 0, 0], bool), np.array([1, 0, 0, 0], bool), GateCosts())
    >>> found["recall"], found["precision"], round(found["f1"], 3), found["accuracy"], found["cost"]
    (1.0, 0.5, 0.667, 1.0, 2.0)
    """
    n, sent, bad = len(expert), int(expert.sum()), int(wrong.sum())
    caught = int((expert & wrong).sum())
    missed, needless = bad - caught, sent - caught
    left = missed + costs.expert_error * sent
    return {
        "n": n,
        "wrong": bad,
        "sent": sent,
        "share_sent": sent / n,
        "recall": caught / bad if bad else float("nan"),
        "precision": caught / sent if sent else float("nan"),
        "f1": 2 * caught / (sent + bad) if sent + bad else float("nan"),
        "decided_right": 1 - (missed + needless) / n,
        "accuracy_before": 1 - bad / n,
        "accuracy": 1 - left / n,
        "missed": missed,
        "needless": needless,
        "cost": costs.expert * sent + costs.error * left,
    }
