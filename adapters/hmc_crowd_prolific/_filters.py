"""Whom shall Prolific let in? Attributes and values of a quota, found among the filters that Prolific has now.

No filter id and no choice id is written down here: they change, so they come from `GET filters/`, by name, or from the
quota itself. What is not found, or found twice, is refused with what there is; a study that lets in the wrong people
costs money.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InfeasibleError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd.platform import Trait

__all__ = ["FEWEST_TOLD", "Filter", "filter_for"]

#: Fewer eligible people than this are told as 0.
FEWEST_TOLD = 25
_SHOWN = 8
_ALLOW, _BLOCK = "_allowlist", "_blocklist"
_BETWEEN = re.compile(r"(\d+)\s*[-\u2013]\s*(\d+)")
_FROM = re.compile(r"(\d+)\s*\+")


@dataclass(frozen=True)
class Filter:
    """A filter as Prolific lists it: of choices (id to text), or of a range."""

    id: str
    title: str
    kind: str
    choices: Mapping[str, str] = field(default_factory=dict)
    least: int | None = None
    most: int | None = None

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Filter:
        """Read a row of the list."""
        choices = row.get("choices") or {}
        bounds = [value if isinstance(value, int) else None for value in (row.get("min"), row.get("max"))]
        texts = {str(name): str(text) for name, text in choices.items()} if isinstance(choices, dict) else {}
        return cls(str(row["filter_id"]), str(row.get("title") or ""), str(row.get("type") or ""), texts, *bounds)


def filter_for(trait: Trait, known: Sequence[Filter]) -> dict[str, Any]:
    """Return the filter that lets in whoever has this trait.

    Raises
    ------
    InfeasibleError
        There is no such filter or choice, or nobody is left besides the values of the other cells.

    Examples
    --------
    >>> from hmc_crowd.platform import Trait
    >>> region = Filter("region-of-birth", "Region", "select", {"0": "North", "1": "South", "2": "East"})
    >>> filter_for(Trait("region", "south"), [region])
    {'filter_id': 'region-of-birth', 'selected_values': ['1']}
    >>> filter_for(Trait("region", "", others=("south",)), [region])["selected_values"]
    ['0', '2']
    >>> age = Filter("age", "Age", "range", least=18, most=100)
    >>> filter_for(Trait("age", "46+"), [age])
    {'filter_id': 'age', 'selected_range': {'lower': 46, 'upper': 100}}
    """
    found = _find(trait, known)
    if found.kind == "range":
        return _range(trait, found)
    if trait.value:
        return {"filter_id": found.id, "selected_values": _choices(trait, found, trait.value)}
    if found.id.endswith(_ALLOW):
        # Everybody else is whoever is in none of the groups: the counterpart of the filter says that.
        block = _find(replace(trait, filter_id=found.id.removesuffix(_ALLOW) + _BLOCK), known)
        return {"filter_id": block.id, "selected_values": _taken(trait, found)}
    return {"filter_id": found.id, "selected_values": _left_over(trait, found)}


def _find(trait: Trait, known: Sequence[Filter]) -> Filter:
    name = trait.filter_id or trait.attribute
    exact = [each for each in known if each.id == name]
    named = exact or ([] if trait.filter_id else [each for each in known if _same(name, each.title, each.id)])
    if len(named) == 1:
        return named[0]
    near = [each for each in named or known if named or _plain(name) in _plain(f"{each.title} {each.id}")]
    there = ", ".join(f"{each.title} ({each.id})" for each in (near or known)[:_SHOWN])
    what = "several filters" if named else "no filter"
    raise InfeasibleError(f"Prolific has {what} for {name!r}; name one in the quota's filter_id, such as {there}")


def _choices(trait: Trait, among: Filter, value: str) -> list[str]:
    """Return the choice ids of a value: as the quota says, or by Prolific's text."""
    given = trait.choices.get(value)
    found = list(given) if given else [name for name, text in among.choices.items() if _same(value, text)]
    # Which groups a workspace has does not stand in the list.
    unknown = [] if among.id.endswith(_ALLOW) else [name for name in found if name not in among.choices]
    if len(found) == 0 or unknown or (len(found) > 1 and not given):
        texts = ", ".join(f"{text} ({name})" for name, text in list(among.choices.items())[:_SHOWN])
        raise InfeasibleError(
            f"Prolific's filter {among.id!r} has no choice {(unknown or [value])[0]!r} of its own; name choices in the "
            f"quota, such as {texts or 'the id of a group'}"
        )
    return found


def _left_over(trait: Trait, among: Filter) -> list[str]:
    """Return the choices of nobody else's cell: nobody is to be of two cells."""
    taken = _taken(trait, among)
    left = [name for name in among.choices if name not in taken]
    if not left:
        raise InfeasibleError(
            f"the quotas leave people other than {', '.join(trait.others)}, whom Prolific does not have"
        )
    return left


def _taken(trait: Trait, among: Filter) -> list[str]:
    return [name for value in trait.others for name in _choices(trait, among, value)]


def _range(trait: Trait, among: Filter) -> dict[str, Any]:
    if trait.value:
        parts = _spans(trait, among, trait.value)
    else:
        parts = _gaps(among, sorted(span for value in trait.others for span in _spans(trait, among, value)))
        if not parts:
            others = ", ".join(trait.others)
            raise InfeasibleError(f"the quotas leave people of another {trait.attribute} than {others}; there are none")
    filters = [{"filter_id": among.id, "selected_range": {"lower": lower, "upper": upper}} for lower, upper in parts]
    return filters[0] if len(filters) == 1 else {"filter_id": "or", "selected_filters": filters}


def _spans(trait: Trait, among: Filter, value: str) -> list[tuple[int | None, int | None]]:
    """Return the ranges that a value stands for, such as ``18-25`` or ``46+``."""
    spans: list[tuple[int | None, int | None]] = []
    for text in trait.choices.get(value) or (value,):
        between, from_ = _BETWEEN.fullmatch(text.strip()), _FROM.fullmatch(text.strip())
        if between:
            spans.append((int(between[1]), int(between[2])))
        elif from_:
            spans.append((int(from_[1]), among.most))
        else:
            raise InfeasibleError(
                f"{value!r} is no range of Prolific's filter {among.id!r}; write it like 18-25 or 46+, or name such "
                "ranges in the quota's choices"
            )
    return spans


def _gaps(among: Filter, taken: Sequence[tuple[int | None, int | None]]) -> list[tuple[int | None, int | None]]:
    """Return the ranges between those that are taken, within the filter's bounds."""
    gaps: list[tuple[int | None, int | None]] = []
    start = among.least
    for lower, upper in taken:
        if lower is not None and (start is None or start < lower):
            gaps.append((start, lower - 1))
        if upper is None:
            return gaps
        start = upper + 1 if start is None else max(start, upper + 1)
    if among.most is None or start is None or start <= among.most:
        gaps.append((start, among.most))
    return gaps


def _same(name: str, *texts: str) -> bool:
    return _plain(name) in {_plain(each) for each in texts}


def _plain(text: str) -> str:
    """Return a name without case and punctuation: ``age_group`` is ``Age group``."""
    return re.sub(r"[\W_]+", " ", text).strip().casefold()
