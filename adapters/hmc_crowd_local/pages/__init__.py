"""The workers' pages: where people read, answer and hand in, on any device, in five languages, with or without script.

A link is all that anybody needs: `hmc_crowd_local.sign_token` makes one for a submission, `Invites` makes them for
people of one's own. `make_pages_app` serves them; `Study` says what is read and passed before the work.
"""

from __future__ import annotations

from hmc_crowd_local._tokens import read_token, sign_token, work_url
from hmc_crowd_local.pages._app import make_pages_app
from hmc_crowd_local.pages._invites import Invite, Invites
from hmc_crowd_local.pages._people import People, Step
from hmc_crowd_local.pages._settings import PagesSettings
from hmc_crowd_local.pages._study import Check, Practice, Study, SurveyQuestion, read_study
from hmc_crowd_local.pages._threads import Feedback, Message, Threads
from hmc_crowd_local.pages._work_store import Skip, WorkStore

__all__ = [
    "Check",
    "Feedback",
    "Invite",
    "Invites",
    "Message",
    "PagesSettings",
    "People",
    "Practice",
    "Skip",
    "Step",
    "Study",
    "SurveyQuestion",
    "Threads",
    "WorkStore",
    "make_pages_app",
    "read_study",
    "read_token",
    "sign_token",
    "work_url",
]
