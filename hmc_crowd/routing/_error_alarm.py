"""When has the machine become worse? An alarm that looks after every audited item and rarely cries wolf.

Bets that the error rate is above what is allowed win as soon as it is. A change may come at any time, so a new stake
is laid at the start of each window and all that was won is kept in play; while the rate is as allowed, the money in
play cannot be expected to exceed the number of stakes laid. Hence the mean number of windows before a false alarm is
at least ``1 / false_alarms``, whatever the sizes of the windows and however often one looks.

Source: Shin, Ramdas, Rinaldo (2023), "E-detectors: a nonparametric framework for sequential change detection".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hmc_crowd._base.checks import float_vector
from hmc_crowd.errors import InputError
from hmc_crowd.routing._bets import THETA, log_mix
from hmc_crowd.routing._checks import share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

__all__ = ["ErrorAlarm"]

# Values that are played at once.
_BLOCK = 1 << 14


class ErrorAlarm:
    """Says when the mean loss of audited items exceeds what is allowed.

    Parameters
    ----------
    allowed : float
        Mean loss that is still fine, in (0, 1).
    false_alarms : float, default 0.01
        At most one false alarm in ``1 / false_alarms`` windows on average.

    Examples
    --------
    >>> alarm = ErrorAlarm(0.03)
    >>> alarm.start_window()
    >>> alarm.add([0] * 97 + [1] * 3)
    False
    >>> alarm.start_window()
    >>> alarm.add([0, 1, 0, 0, 1] * 20)
    True
    """

    def __init__(self, allowed: float, *, false_alarms: float = 0.01) -> None:
        self.allowed = share("allowed", allowed, open_low=True)
        self.false_alarms = share("false_alarms", false_alarms, open_low=True)
        if self.allowed >= 1.0:
            raise InputError("allowed is 1; every error rate is allowed then: give a rate below 1")
        self._log = np.full(len(THETA), -math.inf)

    @property
    def evidence(self) -> float:
        """Money in play per stake: an alarm at ``1 / false_alarms``."""
        return math.exp(min(float(log_mix(self._log)), 700.0))

    @property
    def raised(self) -> bool:
        """Whether the evidence has reached the limit."""
        return bool(log_mix(self._log) >= -math.log(self.false_alarms))

    def start_window(self) -> None:
        """Lay a new stake."""
        self._log = np.logaddexp(self._log, 0.0)

    def add(self, losses: ArrayLike) -> bool:
        """Take in the losses of answered audit items, each in [0, 1]; return whether the alarm is raised by any."""
        values = float_vector(losses, name="losses", low=0.0, high=1.0, allow_empty=True)
        for first in range(0, len(values), _BLOCK):
            block = values[first : first + _BLOCK]
            grown = np.log1p(THETA[:, None] * (block / self.allowed - 1.0)[None, :])
            path = self._log[:, None] + np.cumsum(grown, axis=1)
            # The play ends where the alarm is raised: what comes later may not take it back.
            high = np.flatnonzero(log_mix(path) >= -math.log(self.false_alarms))
            self._log = path[:, int(high[0]) if len(high) else -1]
            if len(high):
                return True
        return self.raised

    def reset(self) -> None:
        """Begin anew, as after an alarm was dealt with."""
        self._log = np.full(len(THETA), -math.inf)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain values."""
        return {
            "allowed": self.allowed,
            "false_alarms": self.false_alarms,
            "log": [None if each == -math.inf else each for each in self._log.tolist()],
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Self:
        """Return the alarm that `to_dict` described."""
        new = cls(state["allowed"], false_alarms=state["false_alarms"])
        log = np.array([-math.inf if each is None else each for each in state["log"]], dtype=np.float64)
        if log.shape != new._log.shape:
            raise InputError(f"state holds {len(log)} numbers where {len(new._log)} belong; give what to_dict returned")
        new._log = log
        return new
