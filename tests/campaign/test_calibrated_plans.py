"""A calibration changes what plans and labels say of confidence, never what was stored, and only for its aspect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd import Campaign
from hmc_crowd.campaign import Aspect
from hmc_crowd.errors import FrameError, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = [f"i{row:03}" for row in range(200)]


@pytest.fixture
def labelled(rng: np.random.Generator) -> pd.DataFrame:
    p = rng.uniform(0.5, 1, 2000)
    return pd.DataFrame({"confidence": p**0.1, "correct": rng.random(2000) < p})


@pytest.fixture
def campaign(tmp_path: Path, rng: np.random.Generator, clock: Any) -> Iterator[Campaign]:
    aspects = [Aspect("tone", ("good", "bad")), Aspect("fact", ("true", "false"))]
    with Campaign.create(tmp_path / "c.db", aspects=aspects, seed=1, clock=clock) as opened:
        opened.add_items(pd.DataFrame({"item": NAMES, "text": ["some words"] * 200}))
        confidence = rng.uniform(0.5, 1, 200) ** 0.1
        for aspect, label in (("tone", "good"), ("fact", "true")):
            frame = pd.DataFrame({"item": NAMES, "label": label, "confidence": confidence})
            opened.add_predictions(frame, aspect=aspect)
        opened.estimate_effort()
        yield opened


def test_only_the_aspect_that_was_calibrated_changes(campaign: Campaign, labelled: pd.DataFrame) -> None:
    before = {name: campaign.labels(aspect=name)["confidence"].to_numpy() for name in ("tone", "fact")}
    done = campaign.calibrate(labelled, aspect="tone")
    assert done.items == 2000
    assert done.raw_error_low > 0.1
    after = {name: campaign.labels(aspect=name)["confidence"].to_numpy() for name in ("tone", "fact")}
    assert after["tone"].mean() == pytest.approx(0.75, abs=0.03)
    assert after["fact"].tolist() == before["fact"].tolist()
    assert (np.argsort(after["tone"], kind="stable") == np.argsort(before["tone"], kind="stable")).all()


def test_a_plan_says_which_confidences_it_used(campaign: Campaign, labelled: pd.DataFrame) -> None:
    raw = campaign.plan(trade_off=0.1, max_human=None, audit=0)
    assert raw.notes == ()
    campaign.calibrate(labelled, aspect="tone", method="platt")
    plan = campaign.plan(trade_off=0.1, max_human=None, audit=0)
    assert plan.notes == ("confidences of 'tone': calibrated by platt on 2,000 labels",)
    assert plan.people > raw.people
    again = campaign.plan(trade_off=0.1, max_human=None, audit=0, confidence="raw")
    assert again.people == raw.people
    assert again.notes == ("confidences of 'tone': raw, as asked",)


def test_calibrating_again_starts_from_the_raw_confidences(campaign: Campaign, labelled: pd.DataFrame) -> None:
    first = campaign.calibrate(labelled, aspect="tone")
    labels = campaign.labels(aspect="tone")["confidence"].tolist()
    again = campaign.calibrate(labelled, aspect="tone")
    assert again == first  # the same is not stored twice
    assert campaign.labels(aspect="tone")["confidence"].tolist() == labels


def test_a_table_that_is_wrong_changes_nothing(campaign: Campaign, labelled: pd.DataFrame) -> None:
    with pytest.raises(FrameError, match="lacks the column correct"):
        campaign.calibrate(labelled.drop(columns="correct"), aspect="tone")
    with pytest.raises(FrameError, match="'perhaps'"):
        campaign.calibrate(labelled.astype({"correct": str}).replace({"True": "perhaps"}), aspect="tone")
    with pytest.raises(ModelError, match="at least 20"):
        campaign.calibrate(labelled.head(5), aspect="tone")
    assert campaign.plan(trade_off=0.1, audit=0).notes == ()
