"""Quality control.

Can we trust these workers, and the gold they are measured with? Which items need an expert, and whom?

A decision speaks of whose answers enter an aggregation, with its evidence, and never of anybody's pay; what speaks of
pay guards people: `check_rejections` against refusal without good reason, `fair_pay` against too low a pay.
"""

from __future__ import annotations

from hmc_crowd.quality._agreement import AgreementRates, agreement_rates
from hmc_crowd.quality._alerts import ALERT_RULES, AlertNotice, AlertRule, AlertState, check_alerts
from hmc_crowd.quality._answer_checks import agreement_checks, gold_checks
from hmc_crowd.quality._approval import approval_ranking
from hmc_crowd.quality._capacity import Staffing, staffing
from hmc_crowd.quality._complexity import ComplexityModel, ComplexityReport, complexity_features, disagreement
from hmc_crowd.quality._decay import kept_share, literal_decay, priority_score, right_in_a_row, streak_bonus
from hmc_crowd.quality._diversity_agreement import group_agreement, group_cohesion
from hmc_crowd.quality._diversity_compare import GroupComparison, compare_groups
from hmc_crowd.quality._diversity_quota import DiverseDraw, Quota, age_group, draw_diverse
from hmc_crowd.quality._diversity_report import group_accuracy, group_labels
from hmc_crowd.quality._drift import answers_between, find_drift
from hmc_crowd.quality._drift_clusters import design_effect
from hmc_crowd.quality._drift_cusum import Cusum, Levels, RunLength, agreement_levels
from hmc_crowd.quality._drift_ease import check_ease
from hmc_crowd.quality._drift_trend import rolling_quality
from hmc_crowd.quality._drift_unknown import UnknownChange
from hmc_crowd.quality._exclusion import ExclusionEffect, exclude_workers, exclusion_effect
from hmc_crowd.quality._expert_allocate import Allocation, allocate_experts
from hmc_crowd.quality._expert_audit import AuditSample, audit_sample, verify_audit
from hmc_crowd.quality._expert_choose import ExpertChoice, choose_expert
from hmc_crowd.quality._expert_load import CapacityPlan, expert_workload, people_needed, what_if
from hmc_crowd.quality._expert_review import Appeal, escalate, open_appeal, overturn_rates, settle_appeal, tier_errors
from hmc_crowd.quality._expert_tiers import SOURCE_TIERS, Tier, place_in_tiers, tier_of
from hmc_crowd.quality._expert_transport import Transport, best_transport
from hmc_crowd.quality._experts import Expert
from hmc_crowd.quality._fair_pay import FairPay, fair_pay
from hmc_crowd.quality._gate import Decision, Decisions, ExpertGate, GateBase, Verdict
from hmc_crowd.quality._gate_compare import (
    GATE_CLAIMS,
    GateComparison,
    GateCurve,
    claims_beside,
    compare_gates,
    gate_curve,
)
from hmc_crowd.quality._gate_consensus import ConsensusGate, WeightedGate
from hmc_crowd.quality._gate_costs import GateCosts
from hmc_crowd.quality._gate_cross import HeldOutGate, cross_decide
from hmc_crowd.quality._gate_evidence import GateEvidence, gate_evidence
from hmc_crowd.quality._gate_export import decision_records
from hmc_crowd.quality._gate_learned import LearnedGate
from hmc_crowd.quality._gate_persist import load_gate, save_gate
from hmc_crowd.quality._gate_posterior import PosteriorGate
from hmc_crowd.quality._gate_rules import RULE_PRESETS, RuleGate
from hmc_crowd.quality._gate_split import GateSplit, split_answers
from hmc_crowd.quality._gold_draw import GoldDraw, draw_gold
from hmc_crowd.quality._gold_load import GoldLoad, gold_load
from hmc_crowd.quality._gold_marks import exact_marks, gold_confidence, semantic_marks, tolerance_marks
from hmc_crowd.quality._gold_report import gold_report
from hmc_crowd.quality._gold_scores import gold_scores
from hmc_crowd.quality._gold_turns import GoldTurns, gold_cells
from hmc_crowd.quality._mix import CLAIMS, MixPrices, claims_over_grid, mix_table, simulate_mix
from hmc_crowd.quality._mix_draw import MixSetting
from hmc_crowd.quality._pasted import flag_pasted, flag_signals
from hmc_crowd.quality._qualification import Attempt, Permission, QualificationTest, qualification_funnel
from hmc_crowd.quality._quality_features import FEATURES, quality_features
from hmc_crowd.quality._quality_model import QualityModelReport, WorkerQualityModel
from hmc_crowd.quality._quality_persist import load_quality_model, save_quality_model
from hmc_crowd.quality._quality_split import WorkerTimeSplit, split_by_worker_and_time
from hmc_crowd.quality._rejection import RejectionProposal, RejectionSignal, check_rejections
from hmc_crowd.quality._screen import screen_workers
from hmc_crowd.quality._work_times import WorkTimes, work_times
from hmc_crowd.quality._worker_quality import answer_weights, pool_prior, worker_quality

__all__ = [
    "ALERT_RULES",
    "CLAIMS",
    "FEATURES",
    "GATE_CLAIMS",
    "RULE_PRESETS",
    "SOURCE_TIERS",
    "AgreementRates",
    "AlertNotice",
    "AlertRule",
    "AlertState",
    "Allocation",
    "Appeal",
    "Attempt",
    "AuditSample",
    "CapacityPlan",
    "ComplexityModel",
    "ComplexityReport",
    "ConsensusGate",
    "Cusum",
    "Decision",
    "Decisions",
    "DiverseDraw",
    "ExclusionEffect",
    "Expert",
    "ExpertChoice",
    "ExpertGate",
    "FairPay",
    "GateBase",
    "GateComparison",
    "GateCosts",
    "GateCurve",
    "GateEvidence",
    "GateSplit",
    "GoldDraw",
    "GoldLoad",
    "GoldTurns",
    "GroupComparison",
    "HeldOutGate",
    "LearnedGate",
    "Levels",
    "MixPrices",
    "MixSetting",
    "Permission",
    "PosteriorGate",
    "QualificationTest",
    "QualityModelReport",
    "Quota",
    "RejectionProposal",
    "RejectionSignal",
    "RuleGate",
    "RunLength",
    "Staffing",
    "Tier",
    "Transport",
    "UnknownChange",
    "Verdict",
    "WeightedGate",
    "WorkTimes",
    "WorkerQualityModel",
    "WorkerTimeSplit",
    "age_group",
    "agreement_checks",
    "agreement_levels",
    "agreement_rates",
    "allocate_experts",
    "answer_weights",
    "answers_between",
    "approval_ranking",
    "audit_sample",
    "best_transport",
    "check_alerts",
    "check_ease",
    "check_rejections",
    "choose_expert",
    "claims_beside",
    "claims_over_grid",
    "compare_gates",
    "compare_groups",
    "complexity_features",
    "cross_decide",
    "decision_records",
    "design_effect",
    "disagreement",
    "draw_diverse",
    "draw_gold",
    "escalate",
    "exact_marks",
    "exclude_workers",
    "exclusion_effect",
    "expert_workload",
    "fair_pay",
    "find_drift",
    "flag_pasted",
    "flag_signals",
    "gate_curve",
    "gate_evidence",
    "gold_cells",
    "gold_checks",
    "gold_confidence",
    "gold_load",
    "gold_report",
    "gold_scores",
    "group_accuracy",
    "group_agreement",
    "group_cohesion",
    "group_labels",
    "kept_share",
    "literal_decay",
    "load_gate",
    "load_quality_model",
    "mix_table",
    "open_appeal",
    "overturn_rates",
    "people_needed",
    "place_in_tiers",
    "pool_prior",
    "priority_score",
    "qualification_funnel",
    "quality_features",
    "right_in_a_row",
    "rolling_quality",
    "save_gate",
    "save_quality_model",
    "screen_workers",
    "semantic_marks",
    "settle_appeal",
    "simulate_mix",
    "split_answers",
    "split_by_worker_and_time",
    "staffing",
    "streak_bonus",
    "tier_errors",
    "tier_of",
    "tolerance_marks",
    "verify_audit",
    "what_if",
    "work_times",
    "worker_quality",
]
