"""The loop: the only place that joins the store, a platform and the pure parts."""

from hmc_crowd.campaign._adjudicate import Adjudicated, Case
from hmc_crowd.campaign._aggregate import Aggregated
from hmc_crowd.campaign._alerts import AlertLook, Lasting
from hmc_crowd.campaign._asked import Question
from hmc_crowd.campaign._aspects import Aspect, read_aspects
from hmc_crowd.campaign._assign import Assigned
from hmc_crowd.campaign._campaign import Campaign
from hmc_crowd.campaign._collect import Collected
from hmc_crowd.campaign._confidence import Calibrated
from hmc_crowd.campaign._cost_sheet import CostSheet
from hmc_crowd.campaign._effort import EffortEstimate
from hmc_crowd.campaign._expert_audit import CampaignAccuracy, ExpertDraw
from hmc_crowd.campaign._explain import Explanation
from hmc_crowd.campaign._extend import Extended
from hmc_crowd.campaign._figure import Figure
from hmc_crowd.campaign._gating import Gated
from hmc_crowd.campaign._guideline import GuidelineChanged
from hmc_crowd.campaign._labels import CampaignCertificate, GoldCheck
from hmc_crowd.campaign._learn import Learned
from hmc_crowd.campaign._panel import Panel
from hmc_crowd.campaign._pay import Bonus, Paid
from hmc_crowd.campaign._plan import CampaignPlan
from hmc_crowd.campaign._qualifying import Synced
from hmc_crowd.campaign._reconcile import Reconciled
from hmc_crowd.campaign._reject import Rejected
from hmc_crowd.campaign._review import Approved
from hmc_crowd.campaign._run import RunResult
from hmc_crowd.campaign._standing import QualityCheck
from hmc_crowd.campaign._status import Status
from hmc_crowd.campaign._stop import Stopped
from hmc_crowd.campaign.quote import FEES, Coverage, Quote, quote

__all__ = [
    "FEES",
    "Adjudicated",
    "Aggregated",
    "AlertLook",
    "Approved",
    "Aspect",
    "Assigned",
    "Bonus",
    "Calibrated",
    "Campaign",
    "CampaignAccuracy",
    "CampaignCertificate",
    "CampaignPlan",
    "Case",
    "Collected",
    "CostSheet",
    "Coverage",
    "EffortEstimate",
    "ExpertDraw",
    "Explanation",
    "Extended",
    "Figure",
    "Gated",
    "GoldCheck",
    "GuidelineChanged",
    "Lasting",
    "Learned",
    "Paid",
    "Panel",
    "QualityCheck",
    "Question",
    "Quote",
    "Reconciled",
    "Rejected",
    "RunResult",
    "Status",
    "Stopped",
    "Synced",
    "quote",
    "read_aspects",
]
