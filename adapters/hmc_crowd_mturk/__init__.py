"""Any endpoint that speaks the MTurk Requester API, behind the port of `hmc_crowd.platform`.

Amazon's own service is closed and is never addressed. This adapter is verified against this project's own endpoint,
the workplace's front door (`hmc_crowd_local.mturk_api`).
"""

from __future__ import annotations

from hmc_crowd_mturk._answers import AnswerProblem, AnswerReading, read_answer
from hmc_crowd_mturk._arrival import Arrival, read_arrival
from hmc_crowd_mturk._connect import connect
from hmc_crowd_mturk._mapping import MTurkSubmission
from hmc_crowd_mturk._money import AMAZON_FEES, assignment_fee, currency_amount
from hmc_crowd_mturk._notifications import Event, Notification, read_notification, receive_notifications
from hmc_crowd_mturk._people import BonusPayment
from hmc_crowd_mturk._platform import MTurkPlatform
from hmc_crowd_mturk._questions import external_question, html_question
from hmc_crowd_mturk._requirements import HITS_APPROVED, LOCALE, PERCENT_APPROVED, Requirement
from hmc_crowd_mturk._retry import retry_later
from hmc_crowd_mturk._top_up import TopUp, plan_top_up

__all__ = [
    "AMAZON_FEES",
    "HITS_APPROVED",
    "LOCALE",
    "PERCENT_APPROVED",
    "AnswerProblem",
    "AnswerReading",
    "Arrival",
    "BonusPayment",
    "Event",
    "MTurkPlatform",
    "MTurkSubmission",
    "Notification",
    "Requirement",
    "TopUp",
    "assignment_fee",
    "connect",
    "currency_amount",
    "external_question",
    "html_question",
    "plan_top_up",
    "read_answer",
    "read_arrival",
    "read_notification",
    "receive_notifications",
    "retry_later",
]
