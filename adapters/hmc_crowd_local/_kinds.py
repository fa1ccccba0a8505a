"""Is this an answer to that question? Five kinds of question, and how each writes its answer as text.

A nominal or ordinal answer is one of the labels, a pair's answer is the label of the pair as given (never of the sides
as shown), a multi-label answer is a JSON list of labels in their order, and a text is a text. A question that lists no
labels takes any text, whatever its kind.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hmc_crowd.platform import HitItem

__all__ = ["KINDS", "MOST_CHARS", "check_question", "checked_label", "join_labels", "split_labels"]

KINDS = ("nominal", "ordinal", "multi_label", "pair", "text")
MOST_CHARS = 20_000
_PAIR = 2


def check_question(each: HitItem) -> None:
    """Refuse a question that no page could ask."""
    if each.kind not in KINDS:
        raise InputError(f"kind of item {each.item!r} is {each.kind!r}; use one of {', '.join(KINDS)}")
    if each.kind == "pair" and (len(each.options) != _PAIR or len(each.labels) not in {_PAIR, _PAIR + 1}):
        raise InputError(
            f"item {each.item!r} is a pair with {len(each.options)} options and {len(each.labels)} labels; give two "
            "options, and the labels first, second and, for a tie, a third"
        )
    if each.kind == "multi_label" and not each.labels:
        raise InputError(f"item {each.item!r} asks for several labels and lists none; give labels")


def checked_label(each: HitItem, label: str) -> str:
    """Return the answer as it is stored, or refuse one that the question does not allow.

    Examples
    --------
    >>> from hmc_crowd.platform import HitItem
    >>> question = HitItem("i1", "tone", "d", 1, "Hi", labels=("kind", "rude"), kind="multi_label")
    >>> checked_label(question, '["rude", "kind"]'), checked_label(question, "rude")
    ('["kind", "rude"]', '["rude"]')
    """
    if len(label) > MOST_CHARS:
        raise InputError(f"label of item {each.item!r} has {len(label):,} characters; keep it under {MOST_CHARS:,}")
    if not each.labels:
        return label
    if each.kind == "multi_label" and label not in each.labels:
        return join_labels(each, split_labels(label))
    if label not in each.labels:
        raise InputError(f"label of item {each.item!r} is {label!r}; allowed are {', '.join(each.labels)}")
    return join_labels(each, [label]) if each.kind == "multi_label" else label


def join_labels(each: HitItem, chosen: Iterable[str]) -> str:
    """Write a multi-label answer: every label once, in the order of the question."""
    asked = set(chosen)
    strangers = sorted(asked - set(each.labels))
    if strangers:
        raise InputError(f"label of item {each.item!r} is {strangers[0]!r}; allowed are {', '.join(each.labels)}")
    return json.dumps([label for label in each.labels if label in asked], ensure_ascii=False)


def split_labels(label: str) -> tuple[str, ...]:
    """Read a multi-label answer.

    >>> split_labels('["kind", "rude"]')
    ('kind', 'rude')
    """
    try:
        found = json.loads(label)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise InputError(f"label is {label[:80]!r}; of a question with several labels it is a JSON list of them")
    return tuple(found)
