"""How good is the evaluation? Metrics of labels and of confidences.

First form: reliability of labels (macro precision, recall, F1, accuracy), quality of a confidence (AUC, accuracy of
the most confident, risk against coverage), and both by position inside a dialogue.
"""

from __future__ import annotations

from hmc_crowd.metrics._codes import bool_vector, label_codes
from hmc_crowd.metrics._confidence import RiskCoverage, confidence_auc, risk_coverage, top_k_accuracy
from hmc_crowd.metrics._reliability import MacroScores, macro_from_counts, macro_scores, per_position
from hmc_crowd.metrics._value import Value

__all__ = [
    "MacroScores",
    "RiskCoverage",
    "Value",
    "bool_vector",
    "confidence_auc",
    "label_codes",
    "macro_from_counts",
    "macro_scores",
    "per_position",
    "risk_coverage",
    "top_k_accuracy",
]
