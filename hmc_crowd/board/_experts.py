"""The pages where experts decide: first blind, then with everything revealed; and how often the crowd agreed with them.

Before an expert's own label is stored, no page for experts shows anything that others said, and their keys open no page
of the board that does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd.board._desk import Page
from hmc_crowd.campaign._adjudicate import cases, confusion, decide, judge, open_case
from hmc_crowd.campaign._aspects import CHOICES
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.board._desk import Visit
    from hmc_crowd.campaign._adjudicate import Case
    from hmc_crowd.campaign._context import Context

__all__ = ["aspects_of", "case", "case_values", "decide_case", "experts", "judge_case", "matrix"]

_LISTED = 50
_MOST_LABELS = 12
_OTHER = "all others"
_SHADES = 5


@dataclass(frozen=True)
class Choice:
    """One label in a form: its text, as the sides of a pair stand on the page."""

    value: str
    text: str


def experts(visit: Visit) -> Page:
    """List what waits for this expert, aspect by aspect."""
    return _list(visit)


def case(visit: Visit) -> Page:
    """Show one item: the question alone, or, once he has judged, all that is known."""
    context = _context(visit)
    return _case(visit, open_case(context, visit.query.get("id", ""), visit.who.id, aspect=visit.query.get("aspect")))


def judge_case(visit: Visit) -> Page:
    """Keep the blind label, and reveal the rest."""
    context, given = _context(visit), visit.form.get
    item, aspect = given("id", ""), given("aspect", "") or None
    if not given("label", ""):
        return _case(visit, open_case(context, item, visit.who.id, aspect=aspect), problem=True)
    return _case(visit, judge(context, item, given("label", ""), visit.who.id, aspect=aspect))


def decide_case(visit: Visit) -> Page:
    """Keep what the expert says in the end, and go on to the next item."""
    context, given = _context(visit), visit.form.get
    item, aspect = given("id", ""), given("aspect", "") or None
    if not given("label", ""):
        return _case(visit, open_case(context, item, visit.who.id, aspect=aspect), problem=True)
    return _list(visit, said=str(decide(context, item, given("label", ""), visit.who.id, aspect=aspect)))


def matrix(visit: Visit) -> Page:
    """Show how the crowd's labels compare with the experts' blind ones."""
    context = _context(visit)
    names = aspects_of(context)
    aspect = visit.query.get("aspect") or names[0]
    table = _at_most(confusion(context, aspect=aspect))
    counts = table.to_numpy()
    top, total = int(counts.max(initial=0)), int(counts.sum())
    rows = [
        {"label": label, "cells": [_cell(int(count), top) for count in row], "n": int(sum(row))}
        for label, row in zip(table.index, counts.tolist(), strict=True)
    ]
    values = {
        "aspect": aspect,
        "aspects": names,
        "labels": list(table.columns),
        "rows": rows,
        "columns": [int(each) for each in counts.sum(axis=0)],
        "total": total,
        "agreed": int(counts.trace()),
    }
    return Page("confusion.html", values)


def _context(visit: Visit) -> Context:
    return visit.house.context(visit.values["campaign"])


def aspects_of(context: Context) -> list[str]:
    """Return the aspects that experts decide, or refuse where there is none."""
    names = [each.name for each in context.aspects() if each.kind in CHOICES]
    if not names:
        raise InputError(f"campaign {context.name!r} asks nothing that is answered by one of several labels")
    return names


def _list(visit: Visit, *, said: str = "") -> Page:
    context = _context(visit)
    waiting = []
    for name in aspects_of(context):
        rows = cases(context, visit.who.id, aspect=name)
        some = list(zip(rows["item"].head(_LISTED), rows["is_begun"].head(_LISTED), strict=True))
        waiting.append({"aspect": name, "count": len(rows), "items": some})
    return Page("experts.html", {"waiting": waiting, "said": said, "listed": _LISTED})


def _case(visit: Visit, shown: Case, *, problem: bool = False) -> Page:
    return Page("case.html", {**case_values(visit, shown), "problem": problem}, 422 if problem else 200)


def case_values(visit: Visit, shown: Case) -> dict[str, Any]:
    """Return what a template shows of a case: the sides of a pair and its labels as they stand on this page."""
    swapped = bool(shown.options) and _is_swapped(visit.who.id, shown.item)
    choices = [Choice(label, _called(shown, label, swapped=swapped)) for label in shown.labels]
    if swapped and shown.kind == "pair":
        choices = [choices[1], choices[0], *choices[2:]]
    names = {each.value: each.text for each in choices}
    if shown.blind_label is None and not shown.labels:
        raise StateError(f"aspect {shown.aspect!r} has no labels yet; predictions or gold name them")

    def called(label: str | None) -> str:
        return "nothing" if label is None else names.get(label, label)

    return {
        "case": shown,
        "options": tuple(reversed(shown.options)) if swapped else shown.options,
        "choices": choices,
        "called": called,
        "chosen": shown.final_label or shown.blind_label,
    }


def _is_swapped(expert: str, item: str) -> bool:
    """Say whether an expert sees the sides of a pair the other way round; the same each time."""
    return int(digest("expert sides", expert, item)[:8], 16) % 2 == 1


def _called(shown: Case, label: str, *, swapped: bool) -> str:
    if shown.kind != "pair" or label not in {"a", "b"}:
        return "Equally good" if shown.kind == "pair" else label
    return "B is better" if (label == "a") == swapped else "A is better"


def _cell(count: int, top: int) -> tuple[int, int]:
    """Return a count with its shade, 0 for none."""
    return count, 0 if not count else 1 + (_SHADES - 1) * count // max(top, 1)


def _at_most(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of twelve labels at most: the most used ones, and all others together."""
    if len(table) <= _MOST_LABELS:
        return table
    used = table.sum(axis=1) + table.sum(axis=0)
    kept = set(used.sort_values(ascending=False, kind="stable").index[: _MOST_LABELS - 1])
    others = {label: _OTHER for label in table.index if label not in kept}
    renamed = table.rename(index=others, columns=others)
    found = renamed.groupby(level=0, sort=False).sum().T.groupby(level=0, sort=False).sum().T
    order = [label for label in table.index if label in kept] + [_OTHER]
    return found.loc[order, order]
