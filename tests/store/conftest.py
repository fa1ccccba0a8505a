"""An open store on each database, and one campaign in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from hmc_crowd.store import AspectRecord, HitItemRecord, HitRecord, Store, SubmissionRecord, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hmc_crowd._base.clock import VirtualClock


@pytest.fixture
def store(database_url: str, clock: VirtualClock, tmp_path: Path) -> Iterator[Store]:
    with open_store(database_url, create=True, clock=clock, artefacts=tmp_path / "artefacts", large=1000) as opened:
        yield opened


@pytest.fixture
def campaign(store: Store, clock: VirtualClock) -> int:
    """A campaign with the aspect "malevolent" and three items a, b, c."""
    with store.begin() as tx:
        made = tx.campaigns.create("demo", {"trade_off": 4.6}, created_at=clock.now())
        tx.campaigns.add_aspect(made.id, AspectRecord("malevolent", "nominal", ("yes", "no")))
        tx.frames.add_items(made.id, items("a", "b", "c"))
    return made.id


def items(*names: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item": list(names),
            "group": ["g"] * len(names),
            "position": range(len(names)),
            "text": [f"text of {name}" for name in names],
        }
    )


def hit(key: str, *names: str, **changes: object) -> HitRecord:
    asked = tuple(HitItemRecord(name, "malevolent", at) for at, name in enumerate(names))
    values = {"title": "Judge", "redundancy": 3, "pay_minor": 240, "currency": "USD", "expected_s": 600.0} | changes
    return HitRecord(key=key, items=asked, **values)


def submission(name: str, worker: str = "w1", **changes: object) -> SubmissionRecord:
    values = {"platform": "local", "hit_key": "h1", "state": "submitted"} | changes
    return SubmissionRecord(submission_id=name, worker=worker, **values)


@pytest.fixture
def worked(store: Store, campaign: int) -> int:
    """The campaign with a HIT h1 over a, b, c and two submissions s1 (w1), s2 (w2)."""
    with store.begin() as tx:
        tx.work.add_hits(campaign, 1, [hit("h1", "a", "b", "c")])
        tx.work.put_submissions(campaign, 1, [submission("s1", "w1"), submission("s2", "w2")])
    return campaign
