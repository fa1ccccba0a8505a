"""Prolific: people recruited and paid through its REST API, by a typed client and a platform behind the port.

`connect` gives a `ProlificPlatform` (`hmc_crowd.platform.Platform` and `Recruiter`): one study with many places for a
whole round, and our router (`ProlificRouter`) behind its address. `ProlificClient` is the API itself. `BonusPayer` pays
at most once, `WebhookReceiver` takes what Prolific sends, `review` and `checked_rejections` hold the fair rules.

What is promised: a study is published once per key whatever breaks; `pay` is never sent twice; an unknown state moves
no money; the token is never shown. `hmc_crowd_prolific.standin` is a server to try all of it against.
"""

from __future__ import annotations

from hmc_crowd_prolific._app import make_app
from hmc_crowd_prolific._arrivals import Arrival, ArrivalOutcome, ProlificRouter, WorkDoor, completion_url
from hmc_crowd_prolific._bonuses import Bonus, plan_batches
from hmc_crowd_prolific._client import API_URL, ProlificClient
from hmc_crowd_prolific._connect import connect
from hmc_crowd_prolific._drafts import CodeAction, CompletionCode, StudyDraft
from hmc_crowd_prolific._groups import allow_group, band_name
from hmc_crowd_prolific._models import Study, Submission
from hmc_crowd_prolific._pace import Pace
from hmc_crowd_prolific._payer import BonusPayer, BonusRecord, BonusState
from hmc_crowd_prolific._platform import ProlificPlatform
from hmc_crowd_prolific._quote import Quote
from hmc_crowd_prolific._review import (
    RejectionProposal,
    ReviewAction,
    ReviewCase,
    ReviewDeadline,
    Signal,
    checked_rejections,
    review,
    review_deadlines,
)
from hmc_crowd_prolific._settings import ACADEMIC_FEES, CORPORATE_FEES, StudySettings
from hmc_crowd_prolific._statuses import StudyStatus, SubmissionStatus
from hmc_crowd_prolific._webhooks import Inbox, SqliteInbox, WebhookEvent, WebhookReceiver, process_events

__all__ = [
    "ACADEMIC_FEES",
    "API_URL",
    "CORPORATE_FEES",
    "Arrival",
    "ArrivalOutcome",
    "Bonus",
    "BonusPayer",
    "BonusRecord",
    "BonusState",
    "CodeAction",
    "CompletionCode",
    "Inbox",
    "Pace",
    "ProlificClient",
    "ProlificPlatform",
    "ProlificRouter",
    "Quote",
    "RejectionProposal",
    "ReviewAction",
    "ReviewCase",
    "ReviewDeadline",
    "Signal",
    "SqliteInbox",
    "Study",
    "StudyDraft",
    "StudySettings",
    "StudyStatus",
    "Submission",
    "SubmissionStatus",
    "WebhookEvent",
    "WebhookReceiver",
    "WorkDoor",
    "allow_group",
    "band_name",
    "checked_rejections",
    "completion_url",
    "connect",
    "make_app",
    "plan_batches",
    "process_events",
    "review",
    "review_deadlines",
]
