"""What stands on the page of one item, and what does its form say? Choices have numbers: no label is ever typed.

The sides of a pair are swapped at random, seeded by submission and item: the same page shows the same sides on every
device. What the form says of left and right is turned back into the pair as given before it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError
from hmc_crowd_local._arms import is_swapped
from hmc_crowd_local._kinds import MOST_CHARS, as_number, join_labels, split_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hmc_crowd.platform import HitItem

__all__ = ["Ask", "Choice", "Sheet", "read_answers", "sheet_of", "sheets_of"]

NONE = "none"
_PAIR_TEXTS = ("pair_first", "pair_second", "pair_tie")
# XML 1.0 takes no other control characters, and neither does an export to it.
_KEPT_CONTROLS = "\t\n\r"


@dataclass(frozen=True)
class Choice:
    """One thing to choose: its value in the form, its text (or the key of one), and whether it is chosen."""

    value: str
    text: str
    is_chosen: bool
    is_key: bool = False


@dataclass(frozen=True)
class Ask:
    """One question of a page: ``field`` is its name in the form, ``control`` radio, checkbox, number or text.

    ``suggested`` is what the machine says, in the words of the choices (or keys of texts); empty in the blind arm.
    """

    field: str
    aspect: str
    question: str
    kind: str
    control: str
    choices: tuple[Choice, ...] = ()
    text: str = ""
    is_answered: bool = False
    suggested: tuple[Choice, ...] = ()
    bounds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """What stands on the page of one item."""

    item: str
    text: str
    language: str
    context: tuple[str, ...]
    options: tuple[str, ...]
    category: str
    sensitive: bool
    asks: tuple[Ask, ...]
    questions: tuple[HitItem, ...]
    swapped: bool | None
    mode: str = "blind"

    @property
    def is_answered(self) -> bool:
        """Whether every question of it has an answer."""
        return all(each.is_answered for each in self.asks)


def sheets_of(
    items: Sequence[HitItem],
    answers: Mapping[tuple[str, str], str],
    *,
    seed: str,
    mode_of: Callable[[str], str] = lambda _item: "blind",
) -> list[Sheet]:
    """Return the pages of a HIT, one for every item, in order, with all aspects that are asked of it.

    ``mode_of`` says of an item whether the machine's suggestion is shown.
    """
    by_item: dict[str, list[HitItem]] = {}
    for each in items:
        by_item.setdefault(each.item, []).append(each)
    return [sheet_of(each, answers, seed=seed, mode=mode_of(item)) for item, each in by_item.items()]


def sheet_of(
    questions: Sequence[HitItem], answers: Mapping[tuple[str, str], str], *, seed: str, mode: str = "blind"
) -> Sheet:
    """Return the page of one item."""
    first = questions[0]
    pair = next((each for each in questions if each.kind == "pair"), None)
    swapped = is_swapped(seed, first.item) if pair is not None else None
    options = pair.options if pair is not None else ()
    return Sheet(
        item=first.item,
        text=first.text,
        language=first.language,
        context=first.context,
        options=tuple(reversed(options)) if swapped else options,
        category=next((each.category for each in questions if each.category), ""),
        sensitive=any(each.sensitive for each in questions),
        asks=tuple(
            _with_suggestion(
                _ask(f"a{place}", each, answers.get((each.item, each.aspect)), swapped=bool(swapped)),
                each,
                swapped=bool(swapped),
                mode=mode,
            )
            for place, each in enumerate(questions)
        ),
        questions=tuple(questions),
        swapped=swapped,
        mode=mode,
    )


def _with_suggestion(ask: Ask, each: HitItem, *, swapped: bool, mode: str) -> Ask:
    """Add the choices that the machine would make; none of them is chosen for the worker."""
    if mode != "suggest" or not each.suggestion:
        return ask
    # Without labels any text is an answer, so there are no choices to find the machine's among.
    shown = replace(each, suggestion="")
    said = _ask(ask.field, shown, each.suggestion, swapped=swapped)
    found = tuple(choice for choice in said.choices if choice.is_chosen) or (Choice("", each.suggestion, False),)
    return replace(ask, suggested=found)


def _ask(field: str, each: HitItem, label: str | None, *, swapped: bool) -> Ask:
    question = each.question or (each.aspect if each.aspect != "label" else "")
    if each.kind == "numeric":
        return Ask(field, each.aspect, question, each.kind, "number", (), label or "", bool(label), (), each.labels)
    if not each.labels or each.kind == "text":
        return Ask(field, each.aspect, question, "text", "text", (), label or "", bool(label))
    if each.kind == "multi_label":
        chosen = None if label is None else set(split_labels(label))
        choices = [Choice(str(i), text, text in (chosen or ())) for i, text in enumerate(each.labels)]
        choices.append(Choice(NONE, "none_of_these", chosen == set(), is_key=True))
        return Ask(field, each.aspect, question, each.kind, "checkbox", tuple(choices), "", label is not None)
    if each.kind == "pair":
        choices = [
            Choice(str(i), _PAIR_TEXTS[i], each.labels[_side(i, swapped=swapped)] == label, is_key=True)
            for i in range(len(each.labels))
        ]
    else:
        choices = [Choice(str(i), text, text == label) for i, text in enumerate(each.labels)]
    return Ask(field, each.aspect, question, each.kind, "radio", tuple(choices), "", label is not None)


def _side(place: int, *, swapped: bool) -> int:
    """Return which response stands at this side; a tie stays a tie."""
    return 1 - place if swapped and place < len(_PAIR_TEXTS) - 1 else place


def read_answers(sheet: Sheet, form: Mapping[str, Sequence[str]]) -> dict[str, str | None]:
    """Return the label of each aspect that the form speaks of; None where the worker took an answer back.

    Raises
    ------
    InputError
        The form names a choice that the page did not have.
    """
    found: dict[str, str | None] = {}
    for ask, each in zip(sheet.asks, sheet.questions, strict=True):
        values = list(form.get(ask.field, ()))
        if ask.control == "text" and values:
            text = _clean(values[0])
            found[each.aspect] = text if text.strip() else None
        elif ask.control == "number" and values:
            found[each.aspect] = as_number(each, values[0]) if values[0].strip() else None
        elif ask.control == "checkbox":
            if values:
                found[each.aspect] = _several(ask, each, values)
            elif ask.is_answered:
                found[each.aspect] = None
        elif values:
            place = _number(values[0], len(each.labels))
            swapped = each.kind == "pair" and bool(sheet.swapped)
            found[each.aspect] = each.labels[_side(place, swapped=swapped)]
    return found


def _several(ask: Ask, each: HitItem, values: Sequence[str]) -> str:
    """Return a multi-label answer; what was chosen last wins between labels and none of them, as far as is known."""
    labels = [each.labels[_number(value, len(each.labels))] for value in values if value != NONE]
    had_none = any(choice.is_chosen for choice in ask.choices if choice.value == NONE)
    if NONE in values and not (labels and had_none):
        return join_labels(each, ())
    return join_labels(each, labels)


def _number(value: str, below: int) -> int:
    if not value.isascii() or not value.isdecimal() or len(value) > 4 or int(value) >= below:
        raise InputError("this choice is not on the page; open the question again")
    return int(value)


def _clean(text: str) -> str:
    """Return what a person wrote, without characters that no document can hold."""
    text = text.replace("\r\n", "\n")[: MOST_CHARS + 1]
    return (
        "".join(each for each in text if each in _KEPT_CONTROLS or (each >= " " and not "\ud800" <= each <= "\udfff"))
        .replace("\ufffe", "")
        .replace("\uffff", "")
    )
