"""What does a learned gate look at? Columns of numbers from the evidence, by name.

Source: requirement D21 (worker quality, task complexity, risk, semantic complexity and urgency for boosted trees;
worker quality, complexity and text length for the forest). ``answers`` adds what the answers themselves say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hmc_crowd.quality._gate_evidence import GateEvidence

__all__ = ["FEATURE_SETS", "feature_names", "feature_table"]

_BOOSTED = ("worker_quality", "complexity", "risk", "semantic_complexity", "urgency")
_FOREST = ("worker_quality", "complexity", "text_length")
_ANSWERS = ("n_answers", "agreement", "support", "behind", "lowest_quality", "disagreement", "confidence")

FEATURE_SETS: dict[str, dict[str, tuple[str, ...]]] = {
    "source": {"logistic": _BOOSTED, "xgboost": _BOOSTED, "random_forest": _FOREST},
    "answers": {
        # What is linear in log-odds suits a curve; trees do not care.
        "logistic": (*_BOOSTED, "text_length", *_ANSWERS, "support_odds"),
        "xgboost": (*_BOOSTED, "text_length", *_ANSWERS),
        "random_forest": (*_FOREST, "risk", "semantic_complexity", "urgency", *_ANSWERS),
    },
}


def feature_names(features: str | Sequence[str], kind: str, evidence: GateEvidence) -> tuple[str, ...]:
    """Return the features of a set that the evidence has at all; a list of names is taken at its word."""
    if not isinstance(features, str):
        names = tuple(features)
        unknown = [name for name in names if _column(evidence, name, known=False) is None]
        if unknown or not names:
            raise InputError(f"features names {unknown[0] if unknown else 'nothing'!r}, which the items do not have")
        return names
    if features not in FEATURE_SETS:
        raise InputError(f"features is {features!r}; give 'source', 'answers' or names of features")
    found = [(name, _column(evidence, name, known=False)) for name in FEATURE_SETS[features][kind]]
    return tuple(name for name, values in found if values is not None and not bool(np.isnan(values).all()))


def feature_table(evidence: GateEvidence, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the columns, shape (n_items, n_names); NaN is unknown."""
    columns = []
    for name in names:
        values = _column(evidence, name, known=True)
        if values is None:
            raise InputError(f"items has no column {name}, which the gate has learnt from; bring it, or train without")
        columns.append(values)
    return np.stack(columns, axis=1) if columns else np.empty((len(evidence), 0))


def _column(evidence: GateEvidence, name: str, *, known: bool) -> NDArray[np.float64] | None:
    if name == "support_odds":
        sure = np.clip(evidence.support, 1e-3, 1 - 1e-3)
        return np.asarray(np.log(sure / (1 - sure)))
    of_evidence = {"worker_quality": "quality", "lowest_quality": "lowest"}.get(name, name)
    if of_evidence in ("item", "label", "tied", "weighted", "answers") or not hasattr(evidence, of_evidence):
        if known:
            raise InputError(f"the gate's file names the feature {name!r}, which there is not; train it again")
        return None
    values = getattr(evidence, of_evidence)
    return None if values is None else np.asarray(values, dtype=np.float64)
