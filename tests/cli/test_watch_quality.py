"""A look of watch sees who has become worse as soon as new answers are in, and says it once."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.campaign import Collected
from hmc_crowd.cli._watch import _look

sys.path.insert(0, str(Path(__file__).parents[1] / "campaign"))
from recorded import DAY_0, campaign_of, crowd_days, record


def test_drift_is_alerted_on_at_the_look_that_brought_the_answers(tmp_path: Path) -> None:
    rates = np.full((14, 9), 0.92)
    rates[7:, 0] = 0.3
    answers, truth, gold = crowd_days(rates, rng=np.random.default_rng(3))
    clock = VirtualClock((DAY_0 + (answers["submitted"].max() - DAY_0)).to_pydatetime())
    with campaign_of(tmp_path, truth, gold, clock=clock) as campaign:
        new = Collected(1, len(answers), 0, 0)

        def reconcile(_place: Any) -> Any:
            if new.answers:
                record(campaign, answers)
            return SimpleNamespace(
                collected=new, asked=(), ledger_gap_minor=0, is_settled=False, busy="", currency="USD"
            )

        campaign.reconcile = reconcile  # type: ignore[method-assign]
        at: Any = SimpleNamespace(campaign=campaign, place=None, options=dict)
        first = _look(at, None, "watch")
        assert ("drift", "w000") in {(each.rule, each.subject) for each in first.alerts}
        new = Collected(0, 0, 0, 0)
        assert _look(at, None, "watch").alerts == ()
