"""The loop: the only place that joins the store, a platform and the pure parts."""

from hmc_crowd.campaign._campaign import Campaign
from hmc_crowd.campaign._collect import Collected
from hmc_crowd.campaign._context import Aspect
from hmc_crowd.campaign._effort import EffortEstimate
from hmc_crowd.campaign._explain import Explanation
from hmc_crowd.campaign._labels import Aggregated, CampaignCertificate, GoldCheck
from hmc_crowd.campaign._learn import Learned
from hmc_crowd.campaign._plan import CampaignPlan
from hmc_crowd.campaign._publish import CostSheet
from hmc_crowd.campaign._run import RunResult
from hmc_crowd.campaign._status import Status
from hmc_crowd.campaign.quote import FEES, Coverage, Quote, quote

__all__ = [
    "FEES",
    "Aggregated",
    "Aspect",
    "Campaign",
    "CampaignCertificate",
    "CampaignPlan",
    "Collected",
    "CostSheet",
    "Coverage",
    "EffortEstimate",
    "Explanation",
    "GoldCheck",
    "Learned",
    "Quote",
    "RunResult",
    "Status",
    "quote",
]
