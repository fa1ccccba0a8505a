"""Links of the MTurk door's workers on the board: who has one, taken back at once, made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from hmc_crowd.board._desk import Page
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from hmc_crowd.board._desk import Visit

__all__ = ["end_link", "links", "new_link"]


def links(visit: Visit) -> Page:
    """List the workers of the MTurk API, and whether the link of each works."""
    return _page(visit)


def new_link(visit: Visit) -> Page:
    """Make a new link of a worker and show it this once; the one of before is refused from now on."""
    worker = visit.form.get("worker", "").strip()
    try:
        key = _door(visit).issue_worker_key(worker, is_new=True)
    except InputError as error:
        return _page(visit, problem=str(error))
    base = visit.house.settings.public_url or visit.house.workplace.served_at() or ""
    link = f"{base.rstrip('/')}/mturk/hits?{urlencode({'workerId': worker, 'key': key})}"
    return _page(visit, said=f"{worker} has a new link; any earlier one is refused.", link=link)


def end_link(visit: Visit) -> Page:
    """Take a worker's link back."""
    worker = visit.form.get("worker", "").strip()
    try:
        _door(visit).revoke_worker_key(worker)
    except InputError as error:
        return _page(visit, problem=str(error))
    return _page(visit, said=f"The link of {worker} is taken back.")


def _page(visit: Visit, **told: str) -> Page:
    shown = {"said": "", "problem": "", "link": ""} | told
    return Page("links.html", {"links": _door(visit).worker_links(), **shown}, 422 if shown["problem"] else 200)


def _door(visit: Visit) -> Any:
    if visit.house.workplace is None:
        raise StateError("the board was opened without the local workplace; use hmc-crowd keys worker")
    return visit.house.workplace.front_door()
