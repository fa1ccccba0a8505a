"""What may a key do? One table of roles and rights; what is not in it is refused."""

from __future__ import annotations

__all__ = ["may"]

_RIGHTS = {
    "worker": frozenset({"queue", "claim", "answer"}),
    "expert": frozenset({"queue", "claim", "answer", "enter", "adjudicate"}),
    # Who judges labels must not have read them: an auditor sees figures, and no item's labels but in his own sample.
    "auditor": frozenset({"enter", "see", "metrics", "audit"}),
    "reviewer": frozenset({"enter", "see", "labels", "metrics", "review"}),
    "owner": frozenset(
        {"enter", "see", "labels", "metrics", "review", "pay", "allocate", "queue", "answer", "answer_for_others"}
        | {"hooks", "links"},
    ),
}


def may(role: str, right: str) -> bool:
    """Say whether a role has a right.

    Examples
    --------
    >>> may("owner", "allocate"), may("worker", "see")
    (True, False)
    """
    return right in _RIGHTS.get(role, frozenset())
