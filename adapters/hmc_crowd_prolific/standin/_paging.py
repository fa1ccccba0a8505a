"""Lists in pages, and the drift that numbered pages show over a changing set (rule S13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hmc_crowd_prolific.standin._world import World

__all__ = ["page_of"]

_R = TypeVar("_R")


def page_of(
    world: World, records: Sequence[_R], show: Callable[[_R], dict[str, Any]], query: Mapping[str, str], path: str
) -> dict[str, Any]:
    """Return one page by ``page`` and ``page_size``, with the link to the next one.

    A waiting fault changes this page once: ``skip`` leaves out its first row (it moved to a page read before),
    ``repeat`` shows the row before it again, ``shuffle`` turns the page round, ``empty`` shows nothing but a next link.
    """
    size = int(query.get("page_size", world.options.page_size))
    number = int(query.get("page", 1))
    start = (number - 1) * size
    shown = list(records[start : start + size])
    has_next = start + size < len(records)
    fault = world.page_faults.pop(0) if world.page_faults else ""
    if fault == "skip":
        shown = shown[1:]
    elif fault == "repeat" and start:
        shown = [records[start - 1], *shown]
    elif fault == "shuffle":
        shown = shown[::-1]
    elif fault == "empty":
        shown, has_next, number = [], True, number - 1
    others = {name: value for name, value in query.items() if name not in {"page", "page_size"}}
    words = "&".join(f"{name}={value}" for name, value in {**others, "page": number + 1, "page_size": size}.items())
    following = f"https://api.prolific.com{path}?{words}" if has_next else None
    return {
        "results": [show(each) for each in shown],
        "_links": {"next": {"href": following}},
        "meta": {"count": len(records)},
    }
