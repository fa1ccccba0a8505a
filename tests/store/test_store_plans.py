"""A plan is stored once, as rows or as one file, and says the same either way."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError, StoreError
from hmc_crowd.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store

HEADER = {"trade_off": 4.6, "max_human": 0.5}


@pytest.fixture(params=["rows", "artefacts"])
def box(
    request: pytest.FixtureRequest, store: Store, made_url: str, clock: VirtualClock, tmp_path: Path
) -> Iterator[Store]:
    large = 1000 if request.param == "rows" else 2
    with open_store(made_url, clock=clock, artefacts=tmp_path / "artefacts", large=large) as opened:
        yield opened


def plan(**changes: object) -> pd.DataFrame:
    columns: dict[str, object] = {
        "item": ["c", "a", "b"],
        "aspect": "malevolent",
        "destination": ["people", "machine", "audit"],
        "pool": ["crowd", None, "crowd"],
        "reason": "gain",
        "gain": [0.5, -0.25, None],
        "confidence": [0.5, 0.9, 0.8],
        "effort_s": [12.5, 3.0, 4.0],
        "inclusion_probability": [1.0, 0.1, 0.1],
        "rank": [0, 1, 2],
    }
    return pd.DataFrame(columns | changes)


def test_a_plan_comes_back_in_its_own_order(box: Store, campaign: int) -> None:
    with box.begin() as tx:
        saved = tx.plans.save(campaign, 1, HEADER, plan())
    with box.read() as tx:
        pd.testing.assert_frame_equal(tx.plans.read(saved.id), plan(), check_dtype=False)
        assert tx.plans.latest(campaign) == saved
        assert (saved.header, saved.round) == (HEADER, 1)


def test_the_same_plan_again_is_the_stored_one(box: Store, campaign: int, clock: VirtualClock) -> None:
    with box.begin() as tx:
        saved = tx.plans.save(campaign, 1, HEADER, plan())
        clock.advance(60)
        assert (
            tx.plans.save(campaign, 1, HEADER, plan(destination=pd.Categorical(["people", "machine", "audit"])))
            == saved
        )
        other = tx.plans.save(campaign, 1, HEADER | {"trade_off": 0.0}, plan())
        assert (other.id != saved.id, other.created_at - saved.created_at) == (True, timedelta(seconds=60))
        later = tx.plans.save(campaign, 2, HEADER, plan())
        assert (tx.plans.latest(campaign), tx.plans.latest(campaign, 1)) == (later, other)


def test_the_plan_saved_last_is_the_latest_though_it_was_there_before(box: Store, campaign: int) -> None:
    with box.begin() as tx:
        first = tx.plans.save(campaign, 1, HEADER, plan())
        tx.plans.save(campaign, 1, HEADER | {"trade_off": 0.0}, plan())
    with box.begin() as tx:
        again = tx.plans.save(campaign, 1, HEADER, plan())
    with box.read() as tx:
        assert tx.plans.latest(campaign) == again
        assert again.content_hash == first.content_hash
        pd.testing.assert_frame_equal(tx.plans.read(again.id), plan(), check_dtype=False)


def test_rows_and_artefacts_have_the_same_hash(store: Store, made_url: str, campaign: int, tmp_path: Path) -> None:
    with store.begin() as tx:
        rows = tx.plans.save(campaign, 1, HEADER, plan())
    with open_store(made_url, artefacts=tmp_path / "other", large=1) as small, small.begin() as tx:
        file = tx.plans.save(campaign, 2, HEADER, plan())
    assert (rows.content_hash, rows.path) == (file.content_hash, None)
    assert file.path is not None
    assert file.content_hash[:24] in file.path


def test_only_what_people_see_can_be_read(box: Store, campaign: int) -> None:
    with box.begin() as tx:
        saved = tx.plans.save(campaign, 1, HEADER, plan())
        assert tx.plans.read(saved.id, people_only=True)["item"].tolist() == ["c", "b"]
        assert tx.plans.read(saved.id, items=["a", "c"], columns=["rank", "item"]).values.tolist() == [
            [0, "c"],
            [1, "a"],
        ]
        assert tx.plans.read(saved.id, people_only=True, items=["a"]).empty


def test_wrong_plans_are_refused(box: Store, campaign: int) -> None:
    with (
        pytest.raises(FrameError, match=r"destination must be machine, people, audit: row 1 \('mars'\)"),
        box.begin() as tx,
    ):
        tx.plans.save(campaign, 1, HEADER, plan(destination=["people", "mars", "audit"]))
    with pytest.raises(InputError, match="header cannot be stored as JSON"), box.begin() as tx:
        tx.plans.save(campaign, 1, {"trade_off": float("nan")}, plan())
    with box.read() as tx:
        assert tx.plans.latest(campaign) is None


def test_a_damaged_plan_file_is_named(store: Store, made_url: str, campaign: int, tmp_path: Path) -> None:
    with open_store(made_url, artefacts=tmp_path / "other", large=1) as small:
        with small.begin() as tx:
            saved = tx.plans.save(campaign, 2, HEADER, plan())
        (file,) = (tmp_path / "other").iterdir()
        file.write_bytes(file.read_bytes()[:100])
        with pytest.raises(StoreError, match="is damaged"), small.read() as tx:
            tx.plans.read(saved.id)


def test_an_unknown_plan_is_refused(store: Store, campaign: int) -> None:
    with pytest.raises(InputError, match="no plan has the id 77"), store.read() as tx:
        tx.plans.read(77)
