"""Is this an answer to that question? Six kinds of question, and how each writes its answer as text.

A nominal or ordinal answer is one of the labels, a pair's answer is the label of the pair as given (never of the sides
as shown), a multi-label answer is a JSON list of labels in their order, a numeric one is a number between the two
labels, and a text is a text. A question that lists no labels takes any text, or, where it is numeric, any number.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hmc_crowd.platform import HitItem

__all__ = [
    "KINDS",
    "MOST_CHARS",
    "as_number",
    "bounds",
    "check_question",
    "checked_label",
    "join_labels",
    "split_labels",
]

KINDS = ("nominal", "ordinal", "numeric", "multi_label", "pair", "text")
MOST_CHARS = 20_000
_PAIR = 2
_WHOLE = 2.0**53


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
    if each.kind == "numeric":
        bounds(each)
    if each.suggestion:
        checked_label(each, each.suggestion)


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
    if each.kind == "numeric":
        return as_number(each, label)
    if not each.labels:
        return label
    if each.kind == "multi_label" and label not in each.labels:
        return join_labels(each, split_labels(label))
    if label not in each.labels:
        raise InputError(f"label of item {each.item!r} is {label!r}; allowed are {', '.join(each.labels)}")
    return join_labels(each, [label]) if each.kind == "multi_label" else label


def bounds(each: HitItem) -> tuple[float, float]:
    """Return the least and the largest number that answer a numeric question; infinite where it names none."""
    if not each.labels:
        return -math.inf, math.inf
    ends = [_float(label) for label in each.labels]
    if len(ends) != _PAIR or not ends[0] < ends[1]:
        raise InputError(
            f"labels of the numeric item {each.item!r} are {', '.join(each.labels)}; give the least and the largest "
            "number, or none"
        )
    return ends[0], ends[1]


def as_number(each: HitItem, label: str) -> str:
    """Return a number as it is stored, or refuse what is none, or lies outside the bounds.

    >>> from hmc_crowd.platform import HitItem
    >>> as_number(HitItem("i1", "score", "d", 1, "Hi", labels=("0", "100"), kind="numeric"), " 7,50 ")
    '7.5'
    """
    low, high = bounds(each)
    # In half of the world a comma stands where the others write a point.
    number = _float(label.strip().replace(",", "."))
    if not low <= number <= high:
        raise InputError(f"label of item {each.item!r} is {label[:40]!r}; give a number from {low:g} to {high:g}")
    return str(int(number)) if number.is_integer() and abs(number) < _WHOLE else repr(number)


def _float(text: str) -> float:
    try:
        return float(text) if math.isfinite(float(text)) and "_" not in text else math.nan
    except ValueError:
        return math.nan


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
