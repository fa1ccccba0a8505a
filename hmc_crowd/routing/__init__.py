"""SAE: who judges what? Which items people must see, what that brings, and how far the finished batch can be trusted.

`route` plans a batch exactly, `Plan.policy` freezes the rule for items to come, `sweep` and `choose` find its settings,
`route_within` keeps to minutes and money, `draw_audit` and `certify_batch` bound what is still wrong.

Source: Zhang, Ren, de Rijke (2021), "A Human-machine Collaborative Framework for Evaluating Malevolence in Dialogues".
"""

from __future__ import annotations

from hmc_crowd.routing._audit import AuditDraw, draw_audit
from hmc_crowd.routing._certificate import Certificate, certify_batch
from hmc_crowd.routing._choose import Choice, choose, pareto_front
from hmc_crowd.routing._decision import Decision, Decisions
from hmc_crowd.routing._draw import keyed_fraction, keyed_fractions
from hmc_crowd.routing._gain import cap_count
from hmc_crowd.routing._outcome import PlanOutcome, TouchedGroups, evaluate_plan, touched_groups
from hmc_crowd.routing._plan import Border, Plan
from hmc_crowd.routing._policy import Policy
from hmc_crowd.routing._route import baseline_plan, route
from hmc_crowd.routing._sweep import sweep
from hmc_crowd.routing._within import BudgetPlan, route_within

__all__ = [
    "AuditDraw",
    "Border",
    "BudgetPlan",
    "Certificate",
    "Choice",
    "Decision",
    "Decisions",
    "Plan",
    "PlanOutcome",
    "Policy",
    "TouchedGroups",
    "baseline_plan",
    "cap_count",
    "certify_batch",
    "choose",
    "draw_audit",
    "evaluate_plan",
    "keyed_fraction",
    "keyed_fractions",
    "pareto_front",
    "route",
    "route_within",
    "sweep",
    "touched_groups",
]
