"""What would happen if we spent the money? Campaigns played, pilots read and sums done before a cent is spent.

`simulate` plays a campaign some hundred times under several policies and says what accuracy, hours, money and days to
expect, and how likely each budget is to break. `pilot` reads thirty items with five answers each. `capacity`, `power`,
`cost` and `benchmark` are calculators. Nothing here talks to a platform or a database.

Sources: requirements F11, D2, D34, D35.
"""

from __future__ import annotations

from hmc_crowd.rehearsal._benchmark import BENCHMARK_POLICIES, benchmark
from hmc_crowd.rehearsal._capacity import Capacity, capacity
from hmc_crowd.rehearsal._cost import CostLine, CostTable, cost
from hmc_crowd.rehearsal._crowds import AssumedCrowd, RecordedAnswers, fit_assumed_crowd
from hmc_crowd.rehearsal._pilot import PilotReport, pilot
from hmc_crowd.rehearsal._policies import POLICIES
from hmc_crowd.rehearsal._power import Power, power
from hmc_crowd.rehearsal._simulate import Rehearsal, simulate

__all__ = [
    "BENCHMARK_POLICIES",
    "POLICIES",
    "AssumedCrowd",
    "Capacity",
    "CostLine",
    "CostTable",
    "PilotReport",
    "Power",
    "RecordedAnswers",
    "Rehearsal",
    "benchmark",
    "capacity",
    "cost",
    "fit_assumed_crowd",
    "pilot",
    "power",
    "simulate",
]
