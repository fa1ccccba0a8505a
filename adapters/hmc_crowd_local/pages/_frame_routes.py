"""Somebody opens our pages in the frame of an MTurk-API platform: who, for what, and where is it handed in?

The parameters of the address are chosen by whoever made the link. So answers go to the one origin that the settings
name, a preview claims nothing, and links that nobody asked for take at most some places: which assignments are real the
platform knows, and our places for its HITs grow with those that come.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hmc_crowd_local._records import Recruited
from hmc_crowd_local.pages._replies import Goto
from hmc_crowd_local.pages._texts import asked_language
from hmc_crowd_local.pages._visit import RefusedError, in_language

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd_local.pages._visit import House
    from hmc_crowd_local.pages._work_store import Work

__all__ = ["PLATFORM", "arrive", "fields_of", "origin_of"]

PLATFORM = "mturk"
_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
_ID = re.compile(r"[A-Z0-9]{1,64}")
# Of a HIT, real and invented.
_MOST_ARRIVALS = 1_000


def origin_of(url: str) -> str:
    """Return scheme and host of an address, to be compared; nothing where it is no address.

    >>> origin_of("https://Work.example.org/path")
    'https://work.example.org'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""  # half an address of IPv6, letters that are none of a host's
    return f"{parts.scheme}://{parts.netloc}".lower()


def arrive(house: House, parameters: Mapping[str, str], *, root: str) -> Goto:
    """Give the worker of an assignment the HIT that it is for; again the same work comes back.

    Raises
    ------
    RefusedError
        The address is a preview, or not one that the platform makes; or the HIT is not here, or has no place left.
    """
    submit_to = house.settings.submit_origin
    if not submit_to:
        raise RefusedError("no_such_page", 404)
    assignment = parameters.get("assignmentId", _PREVIEW)
    if assignment == _PREVIEW:
        raise RefusedError("only_preview", 200)
    worker, hit_id = parameters.get("workerId", ""), parameters.get("hitId", "")
    given = origin_of(parameters.get("turkSubmitTo", ""))
    if given != origin_of(submit_to) or not all(_ID.fullmatch(each) for each in (assignment, worker, hit_id)):
        raise RefusedError("bad_link", 404)
    key = parameters.get("hit", "")
    found = Recruited(PLATFORM, assignment, key)
    held = house.local.claim_work(worker, found)
    # The platform offers a returned place again before anybody tells us: ours must not be what is missing.
    if held is None and house.local.grow_order(PLATFORM, key, most=_MOST_ARRIVALS):
        held = house.local.claim_work(worker, found)
    work = None if held is None else house.works.read(held)
    if work is None:
        raise RefusedError("not_offered", 404)
    return Goto(address=in_language(f"{root}/s/{house.work_token(work)}", asked_language(parameters)))


def fields_of(work: Work) -> list[tuple[str, str]]:
    """Return the fields of the form that hands the work in there: the answers, and when each was given.

    Their names are those that `hmc_crowd_mturk` reads back: numbers, for an item's id may say that it is gold.
    """
    found = [("assignmentId", work.submission.external_id or ""), ("submissionId", work.submission.submission_id)]
    for name, question in enumerate(work.hit.items, start=1):
        each = work.answers.get((question.item, question.aspect))
        if each is None:
            continue
        found.append((f"answer:{name}", each.label))
        if each.shown_at is not None and each.answered_at is not None:
            millis = [round(at.timestamp() * 1000) for at in (each.shown_at, each.answered_at)]
            found.append((f"times:{name}", f"{millis[0]},{millis[1]}"))
    return found
