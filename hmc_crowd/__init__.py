"""hmc_crowd: decide which items people must judge, get them judged, and say how far the result can be trusted.

Names load on first use, so that ``import hmc_crowd`` stays quick: pandas, scikit-learn and SQLAlchemy are imported by
the parts that need them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import HmcCrowdError, InputError

if TYPE_CHECKING:
    from hmc_crowd.aggregation import DawidSkene, MajorityVote
    from hmc_crowd.campaign import Campaign
    from hmc_crowd.effort import EffortModel
    from hmc_crowd.routing import Plan, certify_batch, route, sweep

__all__ = [
    "Campaign",
    "DawidSkene",
    "EffortModel",
    "HmcCrowdError",
    "InputError",
    "MajorityVote",
    "Plan",
    "__version__",
    "certify_batch",
    "route",
    "sweep",
]

__version__ = "0.1.0"

_HOMES = {
    "Campaign": "hmc_crowd.campaign",
    "DawidSkene": "hmc_crowd.aggregation",
    "EffortModel": "hmc_crowd.effort",
    "MajorityVote": "hmc_crowd.aggregation",
    "Plan": "hmc_crowd.routing",
    "certify_batch": "hmc_crowd.routing",
    "route": "hmc_crowd.routing",
    "sweep": "hmc_crowd.routing",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
