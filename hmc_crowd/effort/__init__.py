"""HEE: how long people will need.

Features of dialogues and workers (`dialogue_features`, from text `text_dialogue_features`, `worker_features`, one row a
sitting `submission_features`), times that can be trusted
(`clean_work_times`, `clean_times`, `training_times`), a model that learns from them (`EffortModel`), whether it is
still good (`compare_models`, `drift_report`, `backtest_total`), and what an item or a plan then costs (`plan_effort`,
`fit_setup_marginal`, `count_time`). Pure: arrays and tables in, values out.

Source: Zhang, Ren, de Rijke (2021), "A Human-machine Collaborative Framework for Evaluating Malevolence in Dialogues",
section 3.3 (human effort estimation).
"""

from hmc_crowd.effort._backtest import Backtest, backtest_total
from hmc_crowd.effort._clean import CleanTimes, clean_times, winsorise_seconds
from hmc_crowd.effort._clocks import clocks_agree, effective_seconds, reading_allowance, united_seconds
from hmc_crowd.effort._compare import ModelComparison, compare_losses, compare_models, held_out_quantiles
from hmc_crowd.effort._conformal import clustered_mean
from hmc_crowd.effort._dialogue import FeatureTable, dialogue_features
from hmc_crowd.effort._dialogue_text import count_paraphrased, group_texts, text_dialogue_features
from hmc_crowd.effort._drift import DriftReport, drift_report
from hmc_crowd.effort._evaluate import EffortScores, RegressionScores, pinball_loss, regression_scores
from hmc_crowd.effort._groups import (
    DIALOGUE_FEATURES,
    FEATURE_GROUPS,
    PAPER_COLUMNS,
    TEXT_FEATURES,
    WORKER_FEATURES,
    feature_names,
    from_paper_columns,
)
from hmc_crowd.effort._languages import LANGUAGES, Language, language_features
from hmc_crowd.effort._model import EffortModel
from hmc_crowd.effort._one_time import OneTime, one_time_per_item
from hmc_crowd.effort._perplexity import pseudo_perplexity
from hmc_crowd.effort._readability import readability
from hmc_crowd.effort._relation import Ablation, ablation, select_features, time_correlations
from hmc_crowd.effort._response import TimeCount, count_time, plan_effort, predict_over_pool, response_effort
from hmc_crowd.effort._setup import SetupMarginal, fit_setup_marginal, fit_setup_marginal_items
from hmc_crowd.effort._text import PriorEffort, count_tokens, prior_effort
from hmc_crowd.effort._timed import submission_features
from hmc_crowd.effort._training_times import TrainingTimes, inclusion_weights, training_times
from hmc_crowd.effort._work_time import WorkTimes, clean_work_times
from hmc_crowd.effort._worker import first_submissions, parse_approval_rate, worker_features

__all__ = [  # noqa: RUF022 - plain order, as tests/test_house.py asks; ruff would put constants first
    "Ablation",
    "Backtest",
    "CleanTimes",
    "DIALOGUE_FEATURES",
    "DriftReport",
    "EffortModel",
    "EffortScores",
    "FEATURE_GROUPS",
    "FeatureTable",
    "LANGUAGES",
    "Language",
    "ModelComparison",
    "OneTime",
    "PAPER_COLUMNS",
    "PriorEffort",
    "RegressionScores",
    "SetupMarginal",
    "TEXT_FEATURES",
    "TimeCount",
    "TrainingTimes",
    "WORKER_FEATURES",
    "WorkTimes",
    "ablation",
    "backtest_total",
    "clean_times",
    "clean_work_times",
    "clocks_agree",
    "clustered_mean",
    "compare_losses",
    "compare_models",
    "count_paraphrased",
    "count_time",
    "count_tokens",
    "dialogue_features",
    "drift_report",
    "effective_seconds",
    "feature_names",
    "first_submissions",
    "fit_setup_marginal",
    "fit_setup_marginal_items",
    "from_paper_columns",
    "group_texts",
    "held_out_quantiles",
    "inclusion_weights",
    "language_features",
    "one_time_per_item",
    "parse_approval_rate",
    "pinball_loss",
    "plan_effort",
    "predict_over_pool",
    "prior_effort",
    "pseudo_perplexity",
    "readability",
    "reading_allowance",
    "regression_scores",
    "response_effort",
    "select_features",
    "submission_features",
    "text_dialogue_features",
    "time_correlations",
    "training_times",
    "united_seconds",
    "winsorise_seconds",
    "worker_features",
]
