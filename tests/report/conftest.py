"""A campaign's report with every section filled, and a real browser to look at it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.effort import count_time
from hmc_crowd.report import ReportData, Summary, time_both_ways

HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'> \"quoted\" & 'more' =1+1"


def made_up_groups() -> dict[str, Any]:
    """Two attributes: groups that differ in three labels, and one with nobody to compare with."""
    ends = {"difference_low": [-0.1, -0.05, 0.02, -0.2], "difference_high": [0.05, 0.15, 0.2, 0.1]}
    labels = pd.DataFrame(
        {
            "attribute": ["age group"] * 4 + ["region"],
            "group": ["18-25", "18-25", "46+", "46+", HOSTILE],
            "people": [12, 12, 8, 8, 20],
            "label": ["polite", "rude", "polite", HOSTILE, "polite"],
            "share": [0.6, 0.4, 0.7, 0.3, 0.65],
            "low": [0.5, 0.3, 0.6, 0.2, 0.6],
            "high": [0.7, 0.5, 0.8, 0.4, 0.7],
            "difference": [-0.03, 0.05, 0.11, -0.05, np.nan],
            **{name: [*each, np.nan] for name, each in ends.items()},
        }
    )
    pairs = labels.head(2)[["attribute", "group", "share", "low", "high"]].assign(other=["18-25", "46+"])
    return {
        "labels": labels,
        "agreement": pairs.assign(chance=0.5, kappa=[0.4, np.nan], kappa_low=-0.1, kappa_high=0.6),
        "cohesion": pairs[["attribute", "group"]].assign(inside=0.8, outside=0.7, difference=0.1, low=0.0, high=0.2),
        "said": ("age group: 46+ say 'polite' more often than others", f"region: {HOSTILE}"),
        "notes": ('region: groups of fewer than 5 people are put together as "other groups"',),
    }


def full_data() -> ReportData:
    """A made-up campaign: 120 items in 30 groups, some texts written by somebody who wants to break the page."""
    rng = np.random.default_rng(5)
    caps = np.linspace(0, 1, 21)
    curve = pd.concat(
        [
            pd.DataFrame(
                {
                    "trade_off": price,
                    "max_human": caps,
                    "human_share": caps,
                    "effort_share": caps ** (1 + price / 10),
                    "precision": 1 - 0.19 * (1 - caps) ** 2,
                    "recall": 1 - 0.2 * (1 - caps) ** 2,
                    "f1": 1 - 0.2 * (1 - caps) ** 2,
                    "accuracy": 1 - (0.14 + price / 100) * (1 - caps) ** 2,
                }
            )
            for price in (0.0, 2.0, 4.6, 10.0)
        ],
        ignore_index=True,
    )
    groups = np.arange(120) % 8 + 8 * (np.arange(120) // 32)
    return ReportData(
        title="Greetings pilot <script>alert(1)</script>",
        subtitle="Are the answers of the small model polite? 120 responses in 30 dialogues.",
        created_at=datetime(2026, 11, 3, 9, 30, tzinfo=UTC),
        summary=Summary(
            agreement=0.983,
            agreement_note="118 of 120 audited items",
            agreement_at_least=0.9412,
            level=0.95,
            certificate_note="exact batch bound",
            human_items=60,
            items=120,
            human_s=5004.0,
            planned_human_s=4500.0,
            human_s_note="logged",
            money_minor=4218,
            currency="USD",
            money_note="budget 50.00 USD, fees included",
        ),
        facts={"campaign": "c-01", "platform": "local", "labels": ["polite", "rude"], "plan_hash": "ab12" * 16},
        curve=curve,
        curve_note="Reliability is agreement with the people who judged everything once.",
        plan={
            "trade_off": 4.6,
            "cap": "at_most",
            "max_human": 60,
            "human_count": 60,
            "human_share": 0.5,
            "effort_share": 0.506,
            "accuracy": 0.985,
            "touched_groups": 16,
            "groups": 32,
            "ties": 0,
        },
        plan_time=time_both_ways(count_time(np.arange(120) < 60, groups, rng.gamma(4.0, 5.0, 120))),
        certificate={
            "statement": "With confidence 95 %, at least 94.1 % of the final labels agree with our people.",
            "agreement_at_least": 0.9412,
            "level": 0.95,
            "method": "exact hypergeometric bound for this batch",
            "kept": 60,
            "audited": 30,
            "wrong": 1,
            "assumptions": [
                "The audited items were drawn at random among the items that the machine kept.",
                "People judged them blind; their label counts as right.",
            ],
        },
        workers=pd.DataFrame(
            {
                "worker": ["w-7f3a", "w-91bc", HOSTILE],
                "answers": [60, 58, 62],
                "gold_right": [10, 9, 3],
                "gold_n": [10, 10, 10],
                "score": [1.0, 0.9, 0.3],
                "score_low": [0.72, 0.6, 0.11],
                "score_high": [1.0, 0.98, 0.6],
                "median_s": [18.2, 22.5, 2.1],
                "excluded_reason": [None, None, "gold score below 0.70"],
            }
        ),
        groups=made_up_groups(),
        gold=pd.DataFrame(
            {
                "item": ["g1", "g2"],
                "label": ["polite", "rude"],
                "answers": [3, 3],
                "right": [3, 1],
                "share_right": [1.0, 1 / 3],
                "suspect": [False, True],
            }
        ),
        item_seconds=rng.gamma(4.0, 5.0, 400),
        submission_seconds=rng.gamma(6.0, 60.0, 80),
        agreement=pd.DataFrame(
            {
                "measure": ["Share of pairs that agree", "Krippendorff's alpha, nominal"],
                "value": [0.91, 0.78],
                "low": [0.88, 0.7],
                "high": [0.94, np.nan],
                "n": [180, 60],
            }
        ),
        labels=pd.DataFrame(
            {
                "label": ["polite", "polite", "rude", "rude"],
                "source": ["machine", "crowd", "machine", "crowd"],
                "items": [50, 40, 10, 20],
                "share": [50 / 120, 40 / 120, 10 / 120, 20 / 120],
                "mean_confidence": [0.97, 0.95, 0.9, 0.93],
                "tied": [0, 1, 0, 0],
            }
        ),
        wrong_kept=pd.DataFrame(
            {
                "item": ["i-003", "i-017"],
                "group": ["d-1", "d-5"],
                "position": [3, 1],
                "text": [HOSTILE, "Oh brilliant, another rainy day, just what I needed to lift my spirits this week."],
                "machine_label": ["polite", "polite"],
                "true_label": ["rude", "rude"],
                "confidence": [0.98, 0.93],
                "effort": [0.02, 0.015],
                "reason": ["gain -0.07 is not positive", "gain -0.001 is not positive"],
            }
        ),
        effort_scores=pd.DataFrame(
            {
                "features": ["dialogue", "dialogue + worker"],
                "mse": [0.0085, 0.0035],
                "rmse": [0.0918, 0.0592],
                "mae": [0.0602, 0.0327],
                "r2": [0.4369, 0.7649],
            }
        ),
        effort_split={"setup_s": 12.4, "marginal_s": 7.9, "method": "least squares on logged seconds per item"},
        rounds=pd.DataFrame(
            {
                "round": [1, 2],
                "hits": [10, 4],
                "submissions": [30, 12],
                "answers": [140, 40],
                "spent_minor": [3000, 1218],
            }
        ),
        notes=["Workers are shown by pseudonym.", f"A hostile note: {HOSTILE}"],
    )


@pytest.fixture
def data() -> ReportData:
    return full_data()
