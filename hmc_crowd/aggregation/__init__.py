"""Many answers -> one label.

What is the truth when workers disagree, and how sure are we?

>>> import pandas as pd
>>> answers = pd.DataFrame({"task": ["a", "a", "a"], "worker": ["w1", "w2", "w3"], "label": ["yes", "no", "yes"]})
>>> MajorityVote().fit_predict(answers).to_dict()
{'a': 'yes'}
"""

from __future__ import annotations

from hmc_crowd.aggregation._aggregate import aggregate
from hmc_crowd.aggregation._counts import AnswerCounts
from hmc_crowd.aggregation._crowdkit import CROWDKIT_METHODS, aggregate_with_crowdkit
from hmc_crowd.aggregation._dask import DaskEngine
from hmc_crowd.aggregation._dawid_skene import DawidSkene
from hmc_crowd.aggregation._engine import Engine, LocalEngine
from hmc_crowd.aggregation._majority import MajorityVote
from hmc_crowd.aggregation._protocol import Aggregator
from hmc_crowd.aggregation._result import AggregateResult

__all__ = [
    "CROWDKIT_METHODS",
    "AggregateResult",
    "Aggregator",
    "AnswerCounts",
    "DaskEngine",
    "DawidSkene",
    "Engine",
    "LocalEngine",
    "MajorityVote",
    "aggregate",
    "aggregate_with_crowdkit",
]
