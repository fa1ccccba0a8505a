"""The workplace: a platform of our own, with its own database, its own workers and no fees.

It recruits nobody by itself: workers come through the worker's door (`LocalPlatform.accept`, `save_answer`, `submit`,
`return_`), or a simulated crowd takes the open places (`LocalPlatform.rehearse`). The campaign knows it by the port
(`hmc_crowd.platform`) alone. Every rule of the state machine lives in `Desk`, in memory and without a database, so the
same rules serve the product, the rehearsal and the tests' fake.
"""

from __future__ import annotations

from hmc_crowd_local._connect import connect
from hmc_crowd_local._desk import Desk
from hmc_crowd_local._door import Door
from hmc_crowd_local._orders import OrderDoor
from hmc_crowd_local._platform import LocalPlatform
from hmc_crowd_local._records import AnswerRecord, HitRecord, SubmissionRecord
from hmc_crowd_local._rehearse import rehearse_desk
from hmc_crowd_local._states import Action, next_state
from hmc_crowd_local._timing import PageEvent
from hmc_crowd_local._tokens import read_token, sign_token, work_url

__all__ = [
    "Action",
    "AnswerRecord",
    "Desk",
    "Door",
    "HitRecord",
    "LocalPlatform",
    "OrderDoor",
    "PageEvent",
    "SubmissionRecord",
    "connect",
    "next_state",
    "read_token",
    "rehearse_desk",
    "sign_token",
    "work_url",
]
