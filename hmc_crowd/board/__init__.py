"""The board: where is the campaign, whom does it need, and where shall the next item go?

Pages for the people in charge (`make_board_app`) and a door for programs (`make_door_app`), over the campaigns of one
database. Whoever comes in has a key with a role; what a role may see stands in one table (`_roles.py`).
"""

from __future__ import annotations

from hmc_crowd.board._app import make_board_app, make_door_app
from hmc_crowd.board._deliver import HookSettings, is_signed
from hmc_crowd.board._features import EntryGate, Features, RuleEntry
from hmc_crowd.board._gate import Alert, Figures, FixedGate, Gate
from hmc_crowd.board._house import BoardHouse, BoardSettings
from hmc_crowd.board._proxy import TrustedProxy
from hmc_crowd.board._staff import Candidate, ChoosesExpert, Wanted, best_expert

__all__ = [
    "Alert",
    "BoardHouse",
    "BoardSettings",
    "Candidate",
    "ChoosesExpert",
    "EntryGate",
    "Features",
    "Figures",
    "FixedGate",
    "Gate",
    "HookSettings",
    "RuleEntry",
    "TrustedProxy",
    "Wanted",
    "best_expert",
    "is_signed",
    "make_board_app",
    "make_door_app",
]
