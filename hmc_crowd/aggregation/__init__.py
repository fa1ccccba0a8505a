"""Many answers -> one label.

What is the truth when workers disagree, and how sure are we?

>>> import pandas as pd
>>> answers = pd.DataFrame({"task": ["a", "a", "a"], "worker": ["w1", "w2", "w3"], "label": ["yes", "no", "yes"]})
>>> MajorityVote().fit_predict(answers).to_dict()
{'a': 'yes'}
"""

from __future__ import annotations

from hmc_crowd.aggregation._aggregate import METHODS, aggregate, aggregator, method_name
from hmc_crowd.aggregation._bayes import BWA, EBCC, IBCC
from hmc_crowd.aggregation._calibrate import CalibratedPosterior, Calibration, calibrate
from hmc_crowd.aggregation._choose import Choice, choose, regret_curve
from hmc_crowd.aggregation._combined import CombinedConfidence, answer_evidence
from hmc_crowd.aggregation._counts import AnswerCounts
from hmc_crowd.aggregation._crowdkit import CROWDKIT_METHODS, aggregate_with_crowdkit
from hmc_crowd.aggregation._dask import DaskEngine
from hmc_crowd.aggregation._dawid_skene import DawidSkene
from hmc_crowd.aggregation._engine import Engine, LocalEngine
from hmc_crowd.aggregation._glad import GLAD
from hmc_crowd.aggregation._history import WorkerHistory
from hmc_crowd.aggregation._mace import MACE
from hmc_crowd.aggregation._majority import MajorityVote
from hmc_crowd.aggregation._numeric import NumericAggregator
from hmc_crowd.aggregation._one_coin import OneCoinDawidSkene
from hmc_crowd.aggregation._protocol import Aggregator
from hmc_crowd.aggregation._result import AggregateResult
from hmc_crowd.aggregation._skills import spammer_score
from hmc_crowd.aggregation._soft import soft_labels, task_difficulty
from hmc_crowd.aggregation._stopping import StoppingRule, certify_stopping
from hmc_crowd.aggregation._streaming import AnswerStream
from hmc_crowd.aggregation._sure import EarlyStops, SureLabels, sure_labels
from hmc_crowd.aggregation._weighted import Wawa, WeightedMajorityVote
from hmc_crowd.aggregation._witness import WitnessResult, with_witness

__all__ = [
    "BWA",
    "CROWDKIT_METHODS",
    "EBCC",
    "GLAD",
    "IBCC",
    "MACE",
    "METHODS",
    "AggregateResult",
    "Aggregator",
    "AnswerCounts",
    "AnswerStream",
    "CalibratedPosterior",
    "Calibration",
    "Choice",
    "CombinedConfidence",
    "DaskEngine",
    "DawidSkene",
    "EarlyStops",
    "Engine",
    "LocalEngine",
    "MajorityVote",
    "NumericAggregator",
    "OneCoinDawidSkene",
    "StoppingRule",
    "SureLabels",
    "Wawa",
    "WeightedMajorityVote",
    "WitnessResult",
    "WorkerHistory",
    "aggregate",
    "aggregate_with_crowdkit",
    "aggregator",
    "answer_evidence",
    "calibrate",
    "certify_stopping",
    "choose",
    "method_name",
    "regret_curve",
    "soft_labels",
    "spammer_score",
    "sure_labels",
    "task_difficulty",
    "with_witness",
]
