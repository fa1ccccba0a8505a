"""How good is the evaluation? Metrics of labels, scores, confidences, raters and preferences, each with an interval.

Questions: do final labels agree with the truth (reliability), do scores agree with people's (scoring), do people agree
(agreement), which response is preferred (preference), are subgroups treated alike (fairness), and what do few human
labels say about many machine ones (`ppi_mean`).

Every metric is a `Metric`: value, interval, rows used and left out with reasons, warnings. Undefined means value None
with a reason, never a plausible number.
"""

from __future__ import annotations

from hmc_crowd.metrics._anchoring import anchoring
from hmc_crowd.metrics._bradley_terry import BradleyTerry, bradley_terry
from hmc_crowd.metrics._codes import bool_vector, label_codes
from hmc_crowd.metrics._confidence import RiskCoverage, confidence_auc, risk_coverage, top_k_accuracy
from hmc_crowd.metrics._fairness import fairness_analysis
from hmc_crowd.metrics._fairness_result import FairnessAnalysis, GroupEffect
from hmc_crowd.metrics._fleiss_gwet import brennan_prediger, conger_kappa, fleiss_kappa, gwet_ac1, gwet_ac2
from hmc_crowd.metrics._fleiss_gwet_parts import agreement_weights
from hmc_crowd.metrics._icc import ICC_FORMS, icc
from hmc_crowd.metrics._krippendorff import krippendorff_alpha
from hmc_crowd.metrics._leaderboard import leaderboard
from hmc_crowd.metrics._leave_one_out import LeaveOneOut, leave_one_out_agreement
from hmc_crowd.metrics._outcomes import outcome_scores
from hmc_crowd.metrics._percent_agreement import pairwise_agreement, percent_agreement
from hmc_crowd.metrics._ppi import ppi_mean
from hmc_crowd.metrics._preference import expected_win_rate, length_bias_rate, position_swap_consistency
from hmc_crowd.metrics._preference_composite import Composite, composite_agreement, composite_choice
from hmc_crowd.metrics._preference_ranking import Ranking, rank_models
from hmc_crowd.metrics._preference_tables import CategoryTable, agreement_table, win_rate_table
from hmc_crowd.metrics._preference_tests import p_values_by_size, paired_p_values
from hmc_crowd.metrics._prmse import mse_true, prmse, true_score_variance, variance_of_errors
from hmc_crowd.metrics._rank_correlation import rank_correlation
from hmc_crowd.metrics._reliability import MacroScores, macro_from_counts, macro_scores, per_position
from hmc_crowd.metrics._reliability_table import Reliability, reliability
from hmc_crowd.metrics._result import Metric, metrics_frame
from hmc_crowd.metrics._routed_mean import routed_mean, routed_means
from hmc_crowd.metrics._routing_fairness import RoutingFairness, routing_fairness
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
    "ICC_FORMS",
    "BradleyTerry",
    "CategoryTable",
    "Composite",
    "FairnessAnalysis",
    "GroupEffect",
    "GroupMetrics",
    "LeaveOneOut",
    "MacroScores",
    "Metric",
    "Ranking",
    "Reliability",
    "RiskCoverage",
    "RoutingFairness",
    "Scaling",
    "ScoreReport",
    "Value",
    "adjacent_agreement",
    "agreement_table",
    "agreement_weights",
    "anchoring",
    "bool_vector",
    "bradley_terry",
    "brennan_prediger",
    "cohen_kappa",
    "composite_agreement",
    "composite_choice",
    "confidence_auc",
    "conger_kappa",
    "difference_of_standardized_means",
    "exact_agreement",
    "expected_win_rate",
    "fairness_analysis",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "icc",
    "krippendorff_alpha",
    "label_codes",
    "leaderboard",
    "leave_one_out_agreement",
    "length_bias_rate",
    "macro_from_counts",
    "macro_scores",
    "mean_squared_error",
    "mean_value",
    "metrics_frame",
    "mse_true",
    "outcome_scores",
    "p_values_by_size",
    "paired_p_values",
    "pairwise_agreement",
    "pearson",
    "per_position",
    "percent_agreement",
    "position_swap_consistency",
    "ppi_mean",
    "prmse",
    "quadratic_weighted_kappa",
    "r2",
    "rank_correlation",
    "rank_models",
    "reliability",
    "risk_coverage",
    "root_mean_squared_error",
    "routed_mean",
    "routed_means",
    "routing_fairness",
    "score_report",
    "score_types",
    "standardized_mean_difference",
    "top_k_accuracy",
    "true_score_variance",
    "variance_of_errors",
    "win_rate_table",
]
