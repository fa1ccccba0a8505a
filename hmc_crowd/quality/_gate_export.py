"""Who or what decided, by which policy, and why? Decisions as rows that can be kept, counted and contested."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from datetime import datetime

    from hmc_crowd.quality._gate import Decisions

__all__ = ["decision_records"]


def decision_records(decisions: Decisions, *, decided_at: datetime, decided_by: str | None = None) -> pd.DataFrame:
    """Return one row per decision for an export.

    Parameters
    ----------
    decisions : Decisions
        Of any gate.
    decided_at : datetime
        When; with a time zone.
    decided_by : str, optional
        The pseudonym of a person who decided in the gate's place; default the gate itself.

    Returns
    -------
    pandas.DataFrame
        Columns ``item, decided_at, decided_by, decider, policy, policy_version, decision, reason_code, evidence,
        label, score``; ``decider`` is ``gate`` or ``person``, ``decision`` is ``expert`` or ``accept``.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from hmc_crowd.quality import WeightedGate
    >>> answers = pd.DataFrame({"task": ["a"], "worker": ["w"], "label": ["x"]})
    >>> rows = decision_records(WeightedGate().decide(None, answers), decided_at=datetime(2026, 1, 5, tzinfo=UTC))
    >>> rows.loc[0, ["decider", "policy", "decision", "reason_code"]].tolist()
    ['gate', 'weighted', 'expert', 'too_few_answers']
    """
    if decided_at.tzinfo is None:
        raise InputError(f"decided_at is {decided_at}, without a time zone; give an aware time, such as in UTC")
    frame = decisions.frame
    return pd.DataFrame(
        {
            "item": frame["item"],
            "decided_at": decided_at,
            "decided_by": decided_by or f"{decisions.gate} {decisions.version}",
            "decider": "person" if decided_by else "gate",
            "policy": decisions.gate,
            "policy_version": decisions.version,
            "decision": frame["needs_expert"].map({True: "expert", False: "accept"}),
            "reason_code": frame["reason"],
            "evidence": frame["evidence"],
            "label": frame["label"],
            "score": frame["score"],
        }
    )
