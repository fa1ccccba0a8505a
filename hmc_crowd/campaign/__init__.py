"""The loop: the only place that joins the store, a platform and the pure parts."""

from hmc_crowd.campaign._adjudicate import Adjudicated, Case
from hmc_crowd.campaign._aggregate import Aggregated
from hmc_crowd.campaign._alerts import AlertLook, Lasting
from hmc_crowd.campaign._appeals import AppealState
from hmc_crowd.campaign._asked import Question
from hmc_crowd.campaign._aspects import Aspect, read_aspects
from hmc_crowd.campaign._assign import Assigned
from hmc_crowd.campaign._campaign import Campaign
from hmc_crowd.campaign._collect import Collected
from hmc_crowd.campaign._confidence import Calibrated
from hmc_crowd.campaign._cost_sheet import CostSheet
from hmc_crowd.campaign._effort import EffortEstimate
from hmc_crowd.campaign._expert_audit import CampaignAccuracy, ExpertDraw
from hmc_crowd.campaign._expert_load import ExpertLoad
from hmc_crowd.campaign._explain import Explanation
from hmc_crowd.campaign._extend import Extended
from hmc_crowd.campaign._figure import Figure
from hmc_crowd.campaign._gating import Gated
from hmc_crowd.campaign._gold_check import GoldCheck
from hmc_crowd.campaign._gold_marking import GoldRule
from hmc_crowd.campaign._gold_sheet import GoldSheet
from hmc_crowd.campaign._guideline import GuidelineChanged
from hmc_crowd.campaign._labels import CampaignCertificate
from hmc_crowd.campaign._learn import Learned
from hmc_crowd.campaign._own_tests import CollectedAttempts
from hmc_crowd.campaign._panel import Panel
from hmc_crowd.campaign._pay import Bonus, Paid
from hmc_crowd.campaign._plan import CampaignPlan
from hmc_crowd.campaign._qualifying import Synced
from hmc_crowd.campaign._quality_learning import LearnedQuality
from hmc_crowd.campaign._quota_check import QuotaProgress
from hmc_crowd.campaign._reconcile import Reconciled
from hmc_crowd.campaign._reject import Rejected
from hmc_crowd.campaign._review import Approved
from hmc_crowd.campaign._run import RunResult
from hmc_crowd.campaign._secret_result import SecretAudit, SecretDraw
from hmc_crowd.campaign._set_aside import SetAside
from hmc_crowd.campaign._standing import QualityCheck
from hmc_crowd.campaign._status import Status
from hmc_crowd.campaign._stop import Stopped
from hmc_crowd.campaign._stopping_bound import StoppingBound
from hmc_crowd.campaign._sure_sheet import SureSheet
from hmc_crowd.campaign._tier_figures import TierFigures
from hmc_crowd.campaign._tiers import ReviewPolicy
from hmc_crowd.campaign._traits import Traits
from hmc_crowd.campaign.quote import FEES, Coverage, Quote, quote

__all__ = [
    "FEES",
    "Adjudicated",
    "Aggregated",
    "AlertLook",
    "AppealState",
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
    "CollectedAttempts",
    "CostSheet",
    "Coverage",
    "EffortEstimate",
    "ExpertDraw",
    "ExpertLoad",
    "Explanation",
    "Extended",
    "Figure",
    "Gated",
    "GoldCheck",
    "GoldRule",
    "GoldSheet",
    "GuidelineChanged",
    "Lasting",
    "Learned",
    "LearnedQuality",
    "Paid",
    "Panel",
    "QualityCheck",
    "Question",
    "QuotaProgress",
    "Quote",
    "Reconciled",
    "Rejected",
    "ReviewPolicy",
    "RunResult",
    "SecretAudit",
    "SecretDraw",
    "SetAside",
    "Status",
    "Stopped",
    "StoppingBound",
    "SureSheet",
    "Synced",
    "TierFigures",
    "Traits",
    "quote",
    "read_aspects",
]
