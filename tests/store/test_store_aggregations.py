"""The newest aggregation of an aspect and its worker tables, in SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from hmc_crowd.errors import FrameError
from hmc_crowd.store import AggregationRecord

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store

WORKERS = pd.DataFrame({"worker": ["w2", "w1"], "n_answers": [3, 5], "accuracy": [0.5, None], "low": [0.1, None]})
COUNTS = pd.DataFrame(
    [("w2", "no", "yes", 0.25), ("w1", "yes", "yes", 4.5)], columns=["worker", "label", "truth", "count"]
)


def record(clock: VirtualClock, *, answers: int = 8) -> AggregationRecord:
    return AggregationRecord("default", "dawid_skene", ("no", "yes"), (0.25, 0.75), 6.0, answers, clock.now())


def test_what_was_saved_comes_back(store: Store, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.aggregations.save(campaign, record(clock), workers=WORKERS, counts=COUNTS)
    with store.read() as tx:
        assert tx.aggregations.latest(campaign, "default") == record(clock)
        workers, counts = tx.aggregations.workers(campaign, "default"), tx.aggregations.counts(campaign, "default")
        assert tx.aggregations.latest(campaign, "tone") is None
    assert workers["worker"].tolist() == ["w1", "w2"]
    assert workers["low"].isna().tolist() == [True, False]
    assert counts.to_dict("records") == [
        {"worker": "w1", "label": "yes", "truth": "yes", "count": 4.5},
        {"worker": "w2", "label": "no", "truth": "yes", "count": 0.25},
    ]


def test_a_later_aggregation_takes_the_place_of_the_former(store: Store, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.aggregations.save(campaign, record(clock), workers=WORKERS, counts=COUNTS)
        tx.aggregations.save(campaign, record(clock, answers=2), workers=WORKERS.head(1))
        latest = tx.aggregations.latest(campaign, "default")
        assert latest is not None
        assert latest.answers == 2
        assert tx.aggregations.workers(campaign, "default")["worker"].tolist() == ["w2"]
        assert tx.aggregations.counts(campaign, "default").empty


def test_a_wrong_table_changes_nothing(store: Store, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        tx.aggregations.save(campaign, record(clock), workers=WORKERS, counts=COUNTS)
        with pytest.raises(FrameError, match="truth"):
            tx.aggregations.save(campaign, record(clock), workers=WORKERS, counts=COUNTS.drop(columns="truth"))
        assert len(tx.aggregations.counts(campaign, "default")) == 2
