"""Which participants does a study let in? Filters over what they told Prolific (rule S12: as it stands now)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd_prolific.standin._errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd_prolific.standin._world import World

__all__ = ["FILTERS", "count_eligible", "is_eligible"]

# Names and numbers of the stand-in's own: whoever relied on them would fail with the real ones.
FILTERS: list[dict[str, Any]] = [
    {"filter_id": "participant_group_allowlist", "title": "Group", "type": "select", "data_type": "ParticipantGroupID"},
    {
        "filter_id": "participant_group_blocklist",
        "title": "No group",
        "type": "select",
        "data_type": "ParticipantGroupID",
    },
    {"filter_id": "age", "title": "Age", "type": "range", "data_type": "integer", "min": 18, "max": 100},
    {
        "filter_id": "standin-region",
        "title": "Region",
        "type": "select",
        "data_type": "ChoiceID",
        "choices": {"70": "North", "71": "South", "72": "East"},
    },
    {
        "filter_id": "standin-gender",
        "title": "Gender",
        "type": "select",
        "data_type": "ChoiceID",
        "choices": {"80": "Woman", "81": "Man", "82": "Non-binary"},
    },
]
_FEWEST_TOLD = 25
_MANY = 1000


def is_eligible(world: World, filters: Sequence[Mapping[str, Any]], participant: str) -> bool:
    """Whether all of these filters let a participant in; who did not answer a question is let in by none about it."""
    return all(_passes(world, each, participant) for each in filters)


def _passes(world: World, one: Mapping[str, Any], participant: str) -> bool:
    name = one.get("filter_id")
    if name in {"and", "or"}:
        inner = [_passes(world, each, participant) for each in one.get("selected_filters", [])]
        return all(inner) if name == "and" else any(inner)
    if name in {"participant_group_allowlist", "participant_group_blocklist"}:
        groups = [world.groups[each] for each in one.get("selected_values", []) if each in world.groups]
        is_member = any(participant in each.members for each in groups)
        return is_member is (name == "participant_group_allowlist")
    answer = world.traits.get(participant, {}).get(str(name))
    if answer is None:
        return False
    if "selected_range" in one:
        lower, upper = (one["selected_range"].get(end) for end in ("lower", "upper"))
        return bool((lower is None or answer >= lower) and (upper is None or answer <= upper))
    return str(answer) in one.get("selected_values", [])


def count_eligible(world: World, filters: Sequence[Mapping[str, Any]]) -> int:
    """Return how many of the participants that a test described are let in, many where it described none; few are 0."""
    known = {each["filter_id"] for each in FILTERS} | {"and", "or"}
    unknown = [str(each.get("filter_id")) for each in filters if each.get("filter_id") not in known]
    if unknown:
        raise Refusal(400, {"filters": [f"Unknown filter {unknown[0]}."]})
    if not world.traits:
        return _MANY
    found = sum(is_eligible(world, filters, each) for each in world.traits)
    return found if found >= _FEWEST_TOLD else 0
