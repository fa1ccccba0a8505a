"""How a learned gate gets to disk and back without trusting the file: one skops container, never a pickle.

Only types that we write are let in; the trees of a forest are checked before use, boosted trees are xgboost's own JSON.
"""

from __future__ import annotations

from pathlib import Path

from hmc_crowd._base.containers import from_container, read_model_file, to_container
from hmc_crowd._base.private import write_private
from hmc_crowd.confidence import load_confidence  # because the calibration has a safe file of its own
from hmc_crowd.errors import ModelError, StateError
from hmc_crowd.quality._gate_costs import GateCosts
from hmc_crowd.quality._gate_learned import LearnedGate
from hmc_crowd.quality._gate_trees import KINDS

__all__ = ["gate_from_bytes", "gate_to_bytes", "load_gate", "save_gate"]

FORMAT = "hmc_crowd.quality.LearnedGate"
VERSION = 1
_TRUSTED = ("sklearn.tree._tree.Tree",)


def gate_to_bytes(gate: LearnedGate) -> bytes:
    """Return a trained gate as the bytes of a skops file."""
    if not hasattr(gate, "note_"):
        raise StateError("the gate has not learnt yet: call its fit first")
    state = {
        "format": FORMAT,
        "version": VERSION,
        "kind": gate.kind,
        "features": list(gate.features_),
        "costs": [gate.costs.expert, gate.costs.error, gate.costs.expert_error],
        "threshold": gate.threshold,
        "weighted": gate.weighted,
        "n_items": gate.n_items_,
        "n_labels": gate.n_labels,
        "n_wrong": gate.n_wrong_,
        "note": gate.note_,
        "data_hash": gate.data_hash_,
        "trees": None if gate.trees_ is None else gate.trees_.state(),
        "calibrator": None if gate.calibrator_ is None else gate.calibrator_.to_bytes(),
    }
    return to_container(state)


def save_gate(gate: LearnedGate, path: Path | str) -> None:
    """Write a trained gate to a file; a file half written never takes the place of a whole one.

    Examples
    --------
    >>> import tempfile
    >>> gate = LearnedGate()
    >>> import pandas as pd
    >>> answers = pd.DataFrame({"task": ["a"], "worker": ["w"], "label": ["x"]})
    >>> file = Path(tempfile.mkdtemp()) / "gate.skops"
    >>> save_gate(gate.fit(None, answers, gold={"a": "x"}), file)
    >>> load_gate(file).decide(None, answers).reasons()  # one item taught nothing, and the gate knows it
    {'untrained': 1}
    """
    write_private(Path(path), gate_to_bytes(gate))


def load_gate(source: Path | str) -> LearnedGate:
    """Return what `save_gate` wrote.

    Raises
    ------
    ModelError
        Not such a file, one of another version, or one that holds what we never write.
    """
    return gate_from_bytes(read_model_file(Path(source), wanted="give a file that save_gate wrote"))


def gate_from_bytes(data: bytes) -> LearnedGate:
    """Return the gate that these bytes hold."""
    state = from_container(data, what="gate", wanted="give what save_gate wrote", trusted=_TRUSTED)
    if not isinstance(state, dict) or state.get("format") != FORMAT or state.get("version") != VERSION:
        raise ModelError(f"this file holds no gate of format {FORMAT} {VERSION}; give what save_gate wrote")
    try:
        costs, weighted = GateCosts(*state["costs"]), bool(state["weighted"])
        gate = LearnedGate(state["kind"], costs=costs, threshold=state["threshold"], weighted=weighted)
        gate.features_ = tuple(map(str, state["features"]))
        gate.n_items_, gate.n_wrong_ = int(state["n_items"]), int(state["n_wrong"])
        gate.n_labels = int(state.get("n_labels", 0))
        gate.note_, gate.data_hash_ = str(state["note"]), str(state["data_hash"])
        gate.trees_ = gate.calibrator_ = None
        if state["trees"] is not None:
            gate.trees_ = KINDS[gate.kind].from_state(state["trees"], len(gate.features_))
            gate.calibrator_ = load_confidence(bytes(state["calibrator"]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ModelError(f"the gate's file does not fit together ({error}); train it again") from None
    return gate
