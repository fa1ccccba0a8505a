"""What does work teach that was given back or ran out of time, and what a model per item instead of per group?"""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign import Campaign
from hmc_crowd.campaign._timed import _begun, timed_rows
from hmc_crowd.effort import EffortModel
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.platform import find_platform
from hmc_crowd.simulation import SimulatedCrowd, draw_workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hmc_crowd._base.clock import VirtualClock

LABELS = ["good", "bad"]
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """What reaches the model matters here, not how good it is."""
    monkeypatch.setitem(EffortModel.__init__.__kwdefaults__, "n_estimators", 3)


@pytest.fixture
def worked(tmp_path: Path, clock: VirtualClock) -> Iterator[Campaign]:
    """A round over 40 items in 10 groups, of whose work about a third was given back or walked away from."""
    rng = np.random.default_rng(3)
    items = pd.DataFrame({"item": [f"i{row}" for row in range(40)], "group": [f"g{row // 4}" for row in range(40)]})
    items["text"] = ["so it goes " * int(length) for length in rng.integers(1, 9, 40)]
    truth = dict(zip(items["item"], rng.choice(LABELS, 40), strict=True))
    place: Any = find_platform("local", str(tmp_path / "workplace.db"), clock=clock)
    with place, Campaign.create(tmp_path / "c.db", labels=LABELS, seed=1, clock=clock) as campaign:
        campaign.add_items(items)
        campaign.add_predictions(pd.DataFrame({"item": items["item"], "label": "good", "confidence": 0.5}))
        campaign.estimate_effort()
        campaign.plan(trade_off=0.0, max_human=40, audit=0, redundancy=3)
        campaign.publish(place, dry_run=False, pay_per_hour_minor=1200, budget_minor=50_000, target_minutes=2)
        people = {"accuracy": 0.9, "return_probability": 0.2, "expire_probability": 0.2}
        workers = draw_workers(30, LABELS, rng=np.random.default_rng(4), **people)
        place.rehearse(SimulatedCrowd(workers, truth, rng=np.random.default_rng(5)))
        clock.advance(86_400)
        campaign.collect(place)
        yield campaign


def test_time_outs_reach_the_model_that_knows_them(worked: Campaign) -> None:
    known = worked.learn(kind="log_time")
    with worked._context.store.read() as tx:
        plain = timed_rows(worked._context, tx, per="group", cut_off=False).frame
    assert known.cut_off > 0
    assert known.rows == len(plain) + known.cut_off
    assert plain["finished"].all()
    assert f"{known.cut_off} times are lower bounds" in " ".join(known.notes)


def test_a_model_per_item_predicts_each_item(worked: Campaign) -> None:
    found = worked.learn(per="item")
    assert found.per == "item"
    assert found.rows == 120  # 40 items, three people each
    assert "120 timed items" in str(found)
    estimate = worked.estimate_effort()
    assert (estimate.items, estimate.groups) == (40, 10)
    assert "effort model" in estimate.model


def test_a_model_of_the_other_kind_is_replaced_without_a_comparison(worked: Campaign) -> None:
    worked.learn()
    found = worked.learn(per="item")
    assert found.in_use
    assert "not per item" in " ".join(found.notes)
    assert found.previous_mae_s is None


def test_an_unknown_unit_is_refused(worked: Campaign) -> None:
    with pytest.raises(InputError, match="per group or per item"):
        worked.learn(per="day")


def test_a_model_with_features_that_the_items_lack_says_which(worked: Campaign) -> None:
    rng = np.random.default_rng(1)
    worked.train_effort({"mood": rng.uniform(size=40)}, rng.uniform(20, 60, 40))
    with pytest.raises(StateError, match="looks at mood"):
        worked.estimate_effort()


def test_bounds_by_hand() -> None:
    # Reading allowances: 10 words 60 s, 100 words 90 s. Of 50 s active, 60/150 fall to a and 90/150 to b: 20 and 30.
    # Of 400 s, more than the allowance of both, the allowances are left.
    items = pd.DataFrame({"item": ["x", "y"], "group": ["a", "b"], "text": ["w " * 10, "w " * 100]})
    asked = [SimpleNamespace(item=name, aspect="label") for name in ("x", "y")]
    work = pd.DataFrame(
        {
            "submission_id": ["1", "2", "walked away", "suspect", "done"],
            "state": ["returned", "expired", "expired", "expired", "approved"],
            "active_s": [50.0, 400.0, np.nan, 50.0, 50.0],
            "time_quality": ["ok", "ok", "no_heartbeat", "clock_suspect", "ok"],
        }
    ).assign(platform="local", hit_key="h", worker="w", accepted_at=START, round=1)
    tx: Any = SimpleNamespace(
        work=SimpleNamespace(submissions=lambda _: work, hits=lambda _: [SimpleNamespace(key="h", items=asked)]),
        plans=SimpleNamespace(latest=lambda *_: None),
    )
    found = _begun(tx, 1, items)
    assert found["seconds"].tolist() == [20, 30, 60, 90]
    assert not found["finished"].any()
    assert found["group"].tolist() == ["a", "b", "a", "b"]
