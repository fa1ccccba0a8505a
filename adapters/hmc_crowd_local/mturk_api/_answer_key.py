"""Qualification tests: questions, answers as the API writes them, and the score that an AnswerKey gives.

Source: AWS's descriptions of QuestionForm and AnswerKey. A question's score is that of the first option whose
selections are exactly those that were made, else its default; the sum is mapped to a value.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from hmc_crowd._base.money import round_half_up
from hmc_crowd_local.mturk_api._form_check import check_form
from hmc_crowd_local.mturk_api._problems import TurkError, invalid
from hmc_crowd_local.mturk_api._questions import check_size, read_question
from hmc_crowd_local.mturk_api._xml import child, children, local, parse, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from xml.etree.ElementTree import Element

    from hmc_crowd_local.mturk_api._settings import Settings

__all__ = ["check_answer_key", "check_test", "form_fields", "score"]

_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_MULTIPLIER = re.compile(r"[+-]?([0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9})")
_MOST_VALUE = 2**31 - 1


def check_test(text: str, settings: Settings) -> None:
    """Refuse a test that is no QuestionForm."""
    test = read_question(text, settings, name="Test")
    if test.form is None:
        raise TurkError("XMLParseError", f"Test is a {test.kind}; a qualification test must be a QuestionForm")
    check_form(test.form, name="Test")


def check_answer_key(text: str) -> None:
    """Refuse an AnswerKey that could not score: by scoring an empty answer with it."""
    check_size(text, name="AnswerKey")
    score(text, {})


def score(answer_key: str, given: Mapping[str, set[str]]) -> int:
    """Return the qualification value of a test.

    Parameters
    ----------
    answer_key : str
        The AnswerKey document.
    given : mapping of str to set of str
        Selections made, by question.
    """
    root = parse(answer_key, name="AnswerKey")
    if local(root) != "AnswerKey":
        raise TurkError("XMLParseError", f"AnswerKey has the root element {local(root)!r}")
    total = sum(_question_score(each, given) for each in children(root, "Question"))
    mapping = child(root, "QualificationValueMapping")
    return _bounded(Decimal(total)) if mapping is None else _mapped(mapping, total)


def _question_score(question: Element, given: Mapping[str, set[str]]) -> int:
    name = text_of(question, "QuestionIdentifier")
    if not name:
        raise TurkError("XMLParseError", "AnswerKey has a Question without QuestionIdentifier")
    made = given.get(name, set())
    for option in children(question, "AnswerOption"):
        wanted = {(each.text or "").strip() for each in children(option, "SelectionIdentifier")}
        points = _whole(text_of(option, "AnswerScore"), "AnswerScore")
        if wanted == made:
            return points
    default = text_of(question, "DefaultScore")
    return 0 if default is None else _whole(default, "DefaultScore")


def _mapped(mapping: Element, total: int) -> int:
    percentage, scale, ranges = (child(mapping, n) for n in ("PercentageMapping", "ScaleMapping", "RangeMapping"))
    if percentage is not None:
        most = _whole(text_of(percentage, "MaximumSummedScore"), "MaximumSummedScore")
        if most < 1:
            raise invalid(f"MaximumSummedScore is {most}; give 1 or more")
        return _bounded(Decimal(100 * total) / most)
    if scale is not None:
        text = text_of(scale, "SummedScoreMultiplier") or ""
        if not _MULTIPLIER.fullmatch(text):
            raise invalid(f"SummedScoreMultiplier is {text[:40]!r}; give a number such as 2 or 0.5")
        return _bounded(Decimal(text) * total)
    if ranges is not None:
        parts = ("InclusiveLowerBound", "InclusiveUpperBound", "QualificationValue")
        # All are read, whichever holds: a key that is taken must be able to score every test.
        rows = [[_whole(text_of(each, name), name) for name in parts] for each in children(ranges, "SummedScoreRange")]
        other = _whole(text_of(ranges, "OutOfRangeQualificationValue"), "OutOfRangeQualificationValue")
        return next((value for low, high, value in rows if low <= total <= high), other)
    raise TurkError("XMLParseError", "QualificationValueMapping has no mapping that is known")


def _whole(text: str | None, name: str) -> int:
    if not _WHOLE.fullmatch(text or ""):
        raise invalid(f"{name} of AnswerKey is {(text or '')[:40]!r}; give a whole number of up to nine digits")
    return int(text or "")


def _bounded(value: Decimal) -> int:
    """Return a qualification value: a whole number that the API can show."""
    return max(-_MOST_VALUE, min(_MOST_VALUE, round_half_up(value)))


def form_fields(form: Element, fields: Iterable[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Turn what a rendered QuestionForm sent into (identifier, kind, value), in the order of the questions."""
    sent: dict[str, list[str]] = {}
    for name, value in fields:
        sent.setdefault(name, []).append(value)
    found = []
    for question in children(form, "Question"):
        name = text_of(question, "QuestionIdentifier") or ""
        specification = child(question, "AnswerSpecification")
        is_choice = specification is not None and child(specification, "SelectionAnswer") is not None
        kind = "SelectionIdentifier" if is_choice else "FreeText"
        found += [(name, kind, value) for value in sent.get(name, [])]
        found += [(name, "OtherSelectionText", value) for value in sent.get(f"{name}.other", []) if value]
    return found
