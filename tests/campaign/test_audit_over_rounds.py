"""The certificate holds over rounds, even when what was learnt from the audit moves the border of the next plan."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign._decide import PlanRequest, decide
from hmc_crowd.campaign._units import Before, Units
from hmc_crowd.routing import certify_batch


def request(max_human: float, audit: int) -> PlanRequest:
    return PlanRequest(
        trade_off=1.0,
        max_human=max_human,
        max_human_s=None,
        max_money_minor=None,
        audit=audit,
        effort="share",
        redundancy=3,
        pay_per_hour_minor=None,
    )


def units(confidence: np.ndarray, share: np.ndarray) -> Units:
    frame = pd.DataFrame({"item": np.arange(len(share)).astype(str)})
    return Units(frame, confidence, share, share * 60, "test")


def one_batch(rng: np.random.Generator, n: int) -> bool:
    """Play two rounds; between them an adversary who saw the first audit prices its wrong items down. Did it hold?"""
    wrong = rng.random(n) < 0.08
    confidence, share = rng.uniform(0.6, 1.0, n), rng.uniform(0.0, 0.3, n)
    first = decide(units(confidence, share), np.zeros(n, dtype=np.int8), request(0.2, n // 6), rng)
    # Wrong audited items become cheap, so the next plan gives them to people and the old audit looks clean.
    share = np.where(first.audited & wrong, 0.0, share + 0.3)
    before = np.where(first.to_people, Before.PEOPLE, np.where(first.audited, Before.AUDIT, Before.FREE)).astype(
        np.int8
    )
    second = decide(units(confidence, share), before, request(0.4, n // 6), rng)
    audited_wrong = int((second.audited & wrong).sum())
    bound = certify_batch(n, int(second.to_people.sum()), int(second.audited.sum()), audited_wrong)
    left = int((wrong & ~second.to_people & ~second.audited).sum())
    return left <= bound.wrong_at_most


@pytest.mark.parametrize(("batches", "n"), [(400, 240), pytest.param(4000, 600, marks=pytest.mark.slow)])
def test_the_bound_holds_although_the_second_plan_saw_the_first_audit(batches: int, n: int) -> None:
    rng = np.random.default_rng(11)
    held = sum(one_batch(rng, n) for _ in range(batches))
    # 95 % promised; three standard errors of the Monte Carlo below it would be a broken promise.
    assert held / batches >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / batches)


def test_an_unchanged_plan_keeps_its_audit_and_tops_it_up(rng: np.random.Generator) -> None:
    n = 200
    batch = units(rng.uniform(0.6, 1.0, n), rng.uniform(0.0, 0.3, n))
    first = decide(batch, np.zeros(n, dtype=np.int8), request(0.3, 20), rng)
    before = np.where(first.to_people, Before.PEOPLE, np.where(first.audited, Before.AUDIT, Before.FREE)).astype(
        np.int8
    )
    second = decide(batch, before, request(0.3, 30), rng)
    assert (second.to_people == first.to_people).all()
    assert (second.audited >= first.audited).all()
    assert second.audited.sum() == 30


def test_a_changed_plan_hands_the_old_audit_to_people_outside_the_cap(rng: np.random.Generator) -> None:
    n = 200
    batch = units(rng.uniform(0.6, 1.0, n), rng.uniform(0.0, 0.1, n))
    first = decide(batch, np.zeros(n, dtype=np.int8), request(0.1, 20), rng)
    before = np.where(first.to_people, Before.PEOPLE, np.where(first.audited, Before.AUDIT, Before.FREE)).astype(
        np.int8
    )
    second = decide(batch, before, request(0.2, 20), rng)
    assert second.to_people[first.audited].all()
    assert not (second.audited & first.audited).any()
    # 20 by the first plan, 20 more by the second, and the 20 audited ones on top of the cap of 40.
    assert second.to_people.sum() == 40 + 20
