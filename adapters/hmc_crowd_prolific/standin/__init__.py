"""A stand-in for Prolific: can our code be trusted with real money before it ever meets Prolific?

It answers the calls that the adapter makes by the rules that Prolific documents (and by those that hurt: ``pay`` pays
again, lists drift, the wallet is busy), keeps its own state in memory, and moves by a clock of its own. It is for tests
and demos: its control plane under ``/_ctl/`` plays the participants and breaks things.
"""

from __future__ import annotations

from hmc_crowd_prolific.standin._app import make_app
from hmc_crowd_prolific.standin._serve import StandIn, running_standin
from hmc_crowd_prolific.standin._world import Options, World

__all__ = ["Options", "StandIn", "World", "make_app", "running_standin"]
