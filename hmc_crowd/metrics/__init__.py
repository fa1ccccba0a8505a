"""How good is the evaluation? Metrics of labels and of confidences.

First form: reliability of labels (macro precision, recall, F1, accuracy), quality of a confidence (AUC, accuracy of
the most confident, risk against coverage), and both by position inside a dialogue.
"""

from __future__ import annotations

from hmc_crowd.metrics._codes import bool_vector, label_codes
from hmc_crowd.metrics._confidence import RiskCoverage, confidence_auc, risk_coverage, top_k_accuracy
from hmc_crowd.metrics._fairness import fairness_analysis
from hmc_crowd.metrics._fairness_result import FairnessAnalysis
from hmc_crowd.metrics._prmse import mse_true, prmse, true_score_variance, variance_of_errors
from hmc_crowd.metrics._reliability import MacroScores, macro_from_counts, macro_scores, per_position
from hmc_crowd.metrics._result import Metric, metrics_frame
from hmc_crowd.metrics._score_report import score_report
from hmc_crowd.metrics._score_report_result import ScoreReport
from hmc_crowd.metrics._score_types import Scaling, score_types
from hmc_crowd.metrics._scoring import pearson, quadratic_weighted_kappa
from hmc_crowd.metrics._scoring_errors import mean_squared_error, r2, root_mean_squared_error
from hmc_crowd.metrics._scoring_groups import GroupMetrics
from hmc_crowd.metrics._scoring_kappa import cohen_kappa
from hmc_crowd.metrics._scoring_shares import adjacent_agreement, exact_agreement, mean_value
from hmc_crowd.metrics._scoring_smd import difference_of_standardized_means, standardized_mean_difference
from hmc_crowd.metrics._value import Value

__all__ = [
    "FairnessAnalysis",
    "GroupMetrics",
    "MacroScores",
    "Metric",
    "RiskCoverage",
    "Scaling",
    "ScoreReport",
    "Value",
    "adjacent_agreement",
    "bool_vector",
    "cohen_kappa",
    "confidence_auc",
    "difference_of_standardized_means",
    "exact_agreement",
    "fairness_analysis",
    "label_codes",
    "macro_from_counts",
    "macro_scores",
    "mean_squared_error",
    "mean_value",
    "metrics_frame",
    "mse_true",
    "pearson",
    "per_position",
    "prmse",
    "quadratic_weighted_kappa",
    "r2",
    "risk_coverage",
    "root_mean_squared_error",
    "score_report",
    "score_types",
    "standardized_mean_difference",
    "top_k_accuracy",
    "true_score_variance",
    "variance_of_errors",
]
