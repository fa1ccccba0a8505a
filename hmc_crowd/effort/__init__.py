"""HEE: how long people will need.

Features of dialogues and workers (`dialogue_features`, `worker_features`), times that can be trusted (`clean_times`,
`one_time_per_item`), a model that learns from them (`EffortModel`), and what an item or a plan then costs
(`plan_effort`, `fit_setup_marginal`, `count_time`). Pure: arrays and tables in, values out.

Source: Zhang, Ren, de Rijke (2021), "A Human-machine Collaborative Framework for Evaluating Malevolence in Dialogues",
section 3.3 (human effort estimation).
"""

from hmc_crowd.effort._clean import CleanTimes, clean_times, winsorise_seconds
from hmc_crowd.effort._dialogue import FeatureTable, dialogue_features
from hmc_crowd.effort._evaluate import EffortScores, RegressionScores, regression_scores
from hmc_crowd.effort._groups import (
    DIALOGUE_FEATURES,
    FEATURE_GROUPS,
    PAPER_COLUMNS,
    TEXT_FEATURES,
    WORKER_FEATURES,
    feature_names,
    from_paper_columns,
)
from hmc_crowd.effort._model import EffortModel
from hmc_crowd.effort._one_time import OneTime, one_time_per_item
from hmc_crowd.effort._relation import Ablation, ablation, select_features, time_correlations
from hmc_crowd.effort._response import TimeCount, count_time, plan_effort, predict_over_pool, response_effort
from hmc_crowd.effort._setup import SetupMarginal, fit_setup_marginal, fit_setup_marginal_items
from hmc_crowd.effort._text import PriorEffort, count_tokens, prior_effort
from hmc_crowd.effort._worker import first_submissions, parse_approval_rate, worker_features

__all__ = [  # noqa: RUF022 - plain order, as tests/test_house.py asks; ruff would put constants first
    "Ablation",
    "CleanTimes",
    "DIALOGUE_FEATURES",
    "EffortModel",
    "EffortScores",
    "FEATURE_GROUPS",
    "FeatureTable",
    "OneTime",
    "PAPER_COLUMNS",
    "PriorEffort",
    "RegressionScores",
    "SetupMarginal",
    "TEXT_FEATURES",
    "TimeCount",
    "WORKER_FEATURES",
    "ablation",
    "clean_times",
    "count_time",
    "count_tokens",
    "dialogue_features",
    "feature_names",
    "first_submissions",
    "fit_setup_marginal",
    "fit_setup_marginal_items",
    "from_paper_columns",
    "one_time_per_item",
    "parse_approval_rate",
    "plan_effort",
    "predict_over_pool",
    "prior_effort",
    "regression_scores",
    "response_effort",
    "select_features",
    "time_correlations",
    "winsorise_seconds",
    "worker_features",
]
