"""Quality control.

Can we trust these workers, and the gold they are measured with?

Nothing here concerns payment: a decision speaks of whose answers enter an aggregation, with its evidence.
"""

from __future__ import annotations

from hmc_crowd.quality._agreement import AgreementRates, agreement_rates
from hmc_crowd.quality._gold_report import gold_report
from hmc_crowd.quality._gold_scores import gold_scores
from hmc_crowd.quality._screen import screen_workers

__all__ = ["AgreementRates", "agreement_rates", "gold_report", "gold_scores", "screen_workers"]
