"""Which models of time are there, by name."""

from __future__ import annotations

from hmc_crowd.effort._boost import Boosted
from hmc_crowd.effort._forest import Forest
from hmc_crowd.effort._log_time import LogTime

__all__: list[str] = []

Core = Forest | Boosted | LogTime

KINDS: dict[str, type[Forest] | type[Boosted] | type[LogTime]] = {
    "random_forest": Forest,
    "xgboost": Boosted,
    "log_time": LogTime,
}
