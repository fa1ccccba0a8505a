"""The page where auditors judge a sample of their own: the key comes with each form, and is kept nowhere else.

The address of a page never names an item: who reads the log of requests learns nothing. Only auditors come here.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from hmc_crowd.board._desk import Page
from hmc_crowd.board._expert_work import sample_table
from hmc_crowd.board._experts import aspects_of, case_values
from hmc_crowd.campaign._secret_audit import audit_case, audit_cases, draw, judge_audited, open_audit
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd.board._desk import Visit
    from hmc_crowd.campaign._context import Context

__all__ = ["draw_sample", "judge_sample", "next_case", "open_sample", "start"]


def start(visit: Visit) -> Page:
    """Ask for the key of a sample, or offer to draw one."""
    return _start(visit)


def draw_sample(visit: Visit) -> Page:
    """Draw a sample under a fresh key, and show the key this once."""
    return _or_start(visit, _draw)


def next_case(visit: Visit) -> Page:
    """Show the next label of the sample that is not judged yet."""
    return _or_start(visit, _next)


def judge_sample(visit: Visit) -> Page:
    """Keep the label under its seal, and go on."""
    return _or_start(visit, _judge)


def open_sample(visit: Visit) -> Page:
    """Open the sample, and show what it says."""
    return _or_start(visit, _open)


def _or_start(visit: Visit, step: Callable[[Visit], Page]) -> Page:
    """Do a step; what stands in its way is said on the first page, where another key can be given."""
    try:
        return step(visit)
    except (InputError, StateError) as error:
        return _start(visit, problem=str(error))


def _draw(visit: Visit) -> Page:
    size = visit.form.get("size", "").strip()
    if not (size.isascii() and size.isdecimal()):
        raise InputError(f"size is {size!r}; give how many labels to draw")
    key = secrets.token_bytes(32)
    made = draw(_context(visit), key, int(size[:9]), auditor=visit.by, aspect=_aspect(visit))
    return _page(visit, "drawn", key=key.hex(), said=str(made))


def _judge(visit: Visit) -> Page:
    given = visit.form.get
    if not given("label", ""):
        return _next(visit, problem="Choose one of the labels first.")
    judge_audited(_context(visit), _key(visit), given("id", ""), given("label", ""), aspect=_aspect(visit))
    return _next(visit)


def _open(visit: Visit) -> Page:
    return _page(visit, "opened", result=open_audit(_context(visit), _key(visit), aspect=_aspect(visit)))


def _context(visit: Visit) -> Context:
    return visit.house.context(visit.values["campaign"])


def _aspect(visit: Visit) -> str:
    return visit.form.get("aspect", "") or visit.query.get("aspect", "") or aspects_of(_context(visit))[0]


def _key(visit: Visit) -> bytes:
    try:
        return bytes.fromhex(visit.form.get("key", "").strip())
    except ValueError:
        raise InputError(
            "this is no key of a sample; it is the line of letters and digits that was shown once"
        ) from None


def _next(visit: Visit, *, problem: str = "") -> Page:
    context, key = _context(visit), _key(visit)
    cases = audit_cases(context, key, aspect=_aspect(visit))
    left = cases.loc[~cases["is_judged"], "item"].tolist()
    if not left:
        return _page(visit, "judged", key=key.hex(), drawn=len(cases))
    shown = case_values(visit, audit_case(context, key, left[0], aspect=_aspect(visit)))
    place = len(cases) - len(left) + 1
    return _page(visit, "case", key=key.hex(), drawn=len(cases), place=place, problem=problem, **shown)


def _start(visit: Visit, *, problem: str = "") -> Page:
    return _page(visit, "start", samples=sample_table(_context(visit), _aspect(visit)), problem=problem)


def _page(visit: Visit, stage: str, *, problem: str = "", **values: Any) -> Page:
    common = {"stage": stage, "aspect": _aspect(visit), "said": "", "problem": problem}
    return Page("sample.html", {**common, **values}, 422 if problem else 200)
