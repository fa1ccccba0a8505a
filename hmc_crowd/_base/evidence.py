"""How did a label come about? Only blind, model-free ones may certify, choose, calibrate, or correct a machine.

People who see the machine's label agree with it too often, and so do models put in people's place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["BLIND", "refuse_seeing", "require_blind"]

# Labels of people who saw neither the machine's label nor one another's, and those that were known before (`gold`).
BLIND = ("people_blind", "expert_blind", "gold")


def refuse_seeing(evidence: Iterable[Any], *, what: str) -> None:
    """Refuse labels that say they were not given blind, naming the first rows; those that say nothing pass.

    Examples
    --------
    >>> refuse_seeing(["people_blind", None], what="certify")
    >>> refuse_seeing(["people_suggested"], what="certify")
    Traceback (most recent call last):
        ...
    hmc_crowd.errors.InputError: evidence says people_suggested in row 0 (people_suggested); only labels given blind
    (people_blind, expert_blind, gold) may certify
    """
    told = list(evidence)
    _refuse(told, [isinstance(each, str) and each not in BLIND for each in told], what)


def require_blind(evidence: Iterable[Any], *, what: str) -> None:
    """Refuse labels that do not say that they were given blind, naming the first rows."""
    told = list(evidence)
    _refuse(told, [each not in BLIND for each in told], what)


def _refuse(told: list[Any], seeing: list[bool], what: str) -> None:
    if any(seeing):
        kinds = ", ".join(dict.fromkeys(str(each) for each, bad in zip(told, seeing, strict=True) if bad))
        raise InputError(
            f"evidence says {kinds} in {first_rows(np.array(seeing), told)}; only labels given blind "
            f"({', '.join(BLIND)}) may {what}"
        )
