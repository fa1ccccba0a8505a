"""Workers that do not exist.

What would a crowd answer, and how long would it take? Asked before the first cent is spent.

A `Crowd` says who takes a HIT next and what he does with it. `SimulatedCrowd` draws answers and times from worker
profiles with a known truth; `RecordedCrowd` replays labels and times that real workers gave. Both repeat exactly from a
seeded generator. Nothing here knows a platform, a database or a clock: time is seconds, and whoever runs the crowd
decides where they start.

Source: requirement F11 (confusion, speed, drift, drop-out, idle gaps, replay); the errors are those of Dawid and
Skene (1979), one confusion matrix per worker.
"""

from __future__ import annotations

from hmc_crowd.simulation._crowd import Crowd, Question, SimulatedAnswer, SimulatedWork
from hmc_crowd.simulation._draw import draw_workers
from hmc_crowd.simulation._fit import fit_crowd
from hmc_crowd.simulation._profiles import WorkerProfile
from hmc_crowd.simulation._recorded import RecordedCrowd
from hmc_crowd.simulation._simulated import SimulatedCrowd

__all__ = [
    "Crowd",
    "Question",
    "RecordedCrowd",
    "SimulatedAnswer",
    "SimulatedCrowd",
    "SimulatedWork",
    "WorkerProfile",
    "draw_workers",
    "fit_crowd",
]
