"""Quality control.

Can we trust these workers, and the gold they are measured with?

A decision speaks of whose answers enter an aggregation, with its evidence, and never of anybody's pay; the one
exception is `check_rejections`, which guards people against being refused without good reason.
"""

from __future__ import annotations

from hmc_crowd.quality._agreement import AgreementRates, agreement_rates
from hmc_crowd.quality._gold_report import gold_report
from hmc_crowd.quality._gold_scores import gold_scores
from hmc_crowd.quality._rejection import RejectionProposal, RejectionSignal, check_rejections
from hmc_crowd.quality._screen import screen_workers

__all__ = [
    "AgreementRates",
    "RejectionProposal",
    "RejectionSignal",
    "agreement_rates",
    "check_rejections",
    "gold_report",
    "gold_scores",
    "screen_workers",
]
