"""Your MTurk scripts, after MTurk: the workplace speaks the MTurk Requester API (2017-01-17).

An ordinary boto3 script runs against it when its ``endpoint_url`` is changed and its keys are ours. Requests are
checked against botocore's own service model, signatures are verified, and the service's state rules hold: tokens,
holds, expiry, abandonment, auto-approval, the rule of ten, qualifications, review policies. Workers work in a browser.
"""

from __future__ import annotations

from hmc_crowd_local.mturk_api._app import build_app
from hmc_crowd_local.mturk_api._batch_file import write_batch_file
from hmc_crowd_local.mturk_api._connect import open_front_door
from hmc_crowd_local.mturk_api._deliver import Deliverer
from hmc_crowd_local.mturk_api._front import FrontDoor
from hmc_crowd_local.mturk_api._keeper import Key, KeyRecord, LayoutRecord
from hmc_crowd_local.mturk_api._links import LinkRecord
from hmc_crowd_local.mturk_api._problems import TurkError
from hmc_crowd_local.mturk_api._settings import Settings
from hmc_crowd_local.mturk_api._workers_door import LateWork, Offer, Work, WorkersDoor

__all__ = [
    "Deliverer",
    "FrontDoor",
    "Key",
    "KeyRecord",
    "LateWork",
    "LayoutRecord",
    "LinkRecord",
    "Offer",
    "Settings",
    "TurkError",
    "Work",
    "WorkersDoor",
    "build_app",
    "open_front_door",
    "write_batch_file",
]
