"""SAE: who judges what? Which items people must see, what that brings, and how far the finished batch can be trusted.

`route` plans a batch exactly, `Plan.policy` freezes the rule for items to come, `sweep` and `choose` find its settings,
`route_within` keeps to minutes and money, `draw_audit` and `certify_batch` bound what is still wrong.

Where to look: everything public is imported here, and what bounds errors also in `certificate`.

- who judges what under a cap: `_route`, `_gain`, `_plan`, `_policy`, `_rule`, `_decision`, `_sweep`, `_choose`,
  `_outcome`; the same with minutes and money: `_within`, `_knapsack`
- pools, quotas and deadlines: `_allocate`, `_pools`, `_rows`, `_solve`, `_priced`, `_core`, `_clash`, `_summarised`,
  `_frontier`
- a plan that keeps a promise: `_certified` and `_certified_*`, `_audit_size`
- whom to audit: `_audit`, `_group_audit`, `_audit_probabilities`, `_draw`
- what is still wrong in a batch: `_certificate`, `_strata`, `_spending`, `_anytime`, `_group_certificate`, `_accuracy`,
  `_certify_labels`, all on `_hypergeometric` or `_bets`
- settings chosen on labels: `_choose_setting`, `_learn_then_test`, `_data_roles`, `_losses`
- traffic to come and streams: `_future`, `_error_sequence`, `_error_alarm`, `_shift`, `_stream_watch`, `_window`,
  `_price_controller`

Source: Zhang, Ren, de Rijke (2021), "A Human-machine Collaborative Framework for Evaluating Malevolence in Dialogues".
"""

from __future__ import annotations

from hmc_crowd.routing._accuracy import AccuracyCertificate, OptimisticAccuracy, certify_accuracy, optimistic_accuracy
from hmc_crowd.routing._allocate import allocate
from hmc_crowd.routing._allocation import Allocation, LimitUse
from hmc_crowd.routing._anytime import certify_any_time
from hmc_crowd.routing._audit import AuditDraw, draw_audit
from hmc_crowd.routing._audit_probabilities import audit_probabilities
from hmc_crowd.routing._audit_size import AuditSize, allowed_wrong, audit_size, certification_chance
from hmc_crowd.routing._certificate import Certificate, certify_batch
from hmc_crowd.routing._certified import plan_certified
from hmc_crowd.routing._certified_plan import CertifiedPlan
from hmc_crowd.routing._certify_labels import LossCertificate, certify_labels
from hmc_crowd.routing._choose import Choice, choose, pareto_front
from hmc_crowd.routing._choose_setting import ChosenSetting, choose_setting, choose_threshold
from hmc_crowd.routing._data_roles import CertifyData, ChooseData, DataLedger, FitData, split_roles
from hmc_crowd.routing._decision import Decision, Decisions
from hmc_crowd.routing._draw import keyed_fraction, keyed_fractions
from hmc_crowd.routing._error_alarm import ErrorAlarm
from hmc_crowd.routing._error_sequence import DriftingErrorSequence, ErrorSequence
from hmc_crowd.routing._frontier import allocation_frontier
from hmc_crowd.routing._future import FutureRate, bound_future_errors, bound_future_errors_in_groups
from hmc_crowd.routing._gain import cap_count
from hmc_crowd.routing._group_audit import GroupDraw, draw_group_audit
from hmc_crowd.routing._group_certificate import certify_groups
from hmc_crowd.routing._learn_then_test import learn_then_test
from hmc_crowd.routing._losses import BeyondTolerance, Bounded, Loss, ZeroOne
from hmc_crowd.routing._outcome import PlanOutcome, TouchedGroups, evaluate_plan, touched_groups
from hmc_crowd.routing._plan import Border, Plan
from hmc_crowd.routing._policy import Policy
from hmc_crowd.routing._pools import Limits, Pool, Quota, quotas_by
from hmc_crowd.routing._price_controller import PriceController
from hmc_crowd.routing._route import baseline_plan, route
from hmc_crowd.routing._shift import ScoreBins, ShiftResult, shift_test
from hmc_crowd.routing._spending import AlphaSpending, certify_rounds
from hmc_crowd.routing._strata import AuditCounts, certify_strata
from hmc_crowd.routing._stream_watch import StreamWatch
from hmc_crowd.routing._sweep import sweep
from hmc_crowd.routing._upper import agreement_at_most
from hmc_crowd.routing._window import WindowReport
from hmc_crowd.routing._within import BudgetPlan, route_within

__all__ = [
    "AccuracyCertificate",
    "Allocation",
    "AlphaSpending",
    "AuditCounts",
    "AuditDraw",
    "AuditSize",
    "BeyondTolerance",
    "Border",
    "Bounded",
    "BudgetPlan",
    "Certificate",
    "CertifiedPlan",
    "CertifyData",
    "Choice",
    "ChooseData",
    "ChosenSetting",
    "DataLedger",
    "Decision",
    "Decisions",
    "DriftingErrorSequence",
    "ErrorAlarm",
    "ErrorSequence",
    "FitData",
    "FutureRate",
    "GroupDraw",
    "LimitUse",
    "Limits",
    "Loss",
    "LossCertificate",
    "OptimisticAccuracy",
    "Plan",
    "PlanOutcome",
    "Policy",
    "Pool",
    "PriceController",
    "Quota",
    "ScoreBins",
    "ShiftResult",
    "StreamWatch",
    "TouchedGroups",
    "WindowReport",
    "ZeroOne",
    "agreement_at_most",
    "allocate",
    "allocation_frontier",
    "allowed_wrong",
    "audit_probabilities",
    "audit_size",
    "baseline_plan",
    "bound_future_errors",
    "bound_future_errors_in_groups",
    "cap_count",
    "certification_chance",
    "certify_accuracy",
    "certify_any_time",
    "certify_batch",
    "certify_groups",
    "certify_labels",
    "certify_rounds",
    "certify_strata",
    "choose",
    "choose_setting",
    "choose_threshold",
    "draw_audit",
    "draw_group_audit",
    "evaluate_plan",
    "keyed_fraction",
    "keyed_fractions",
    "learn_then_test",
    "optimistic_accuracy",
    "pareto_front",
    "plan_certified",
    "quotas_by",
    "route",
    "route_within",
    "shift_test",
    "split_roles",
    "sweep",
    "touched_groups",
]
