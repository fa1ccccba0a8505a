"""What did the worker answer? The Answer of an assignment, read without trusting it.

The platform promises a document of a certain form and no more: it may be absent or empty, and what it holds need not
fit the question. Whatever is wrong becomes a problem with a name; the raw text is kept, and the batch goes on. No
entity, file or address in it is ever followed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

from hmc_crowd._base.numbers import whole_number
from hmc_crowd.platform import RemoteAnswer, named

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element

__all__ = ["AnswerProblem", "AnswerReading", "fields_of", "read_answer"]

_VALUES = ("FreeText", "SelectionIdentifier", "OtherSelectionText", "UploadedFileKey")
_LATEST_MS = 32_503_679_999_999  # the year 2999
_NUMBER = re.compile(r"[1-9][0-9]{0,5}")


class AnswerProblem(StrEnum):
    """What was wrong with the Answer of an assignment."""

    ABSENT = "absent"
    EMPTY = "empty"
    HOSTILE = "hostile"
    NOT_XML = "not_xml"
    UNKNOWN_IDENTIFIER = "unknown_identifier"


@dataclass(frozen=True)
class AnswerReading:
    """What could be read of an Answer.

    Parameters
    ----------
    fields : tuple of (str, str)
        Every identifier with its value, in order; a selection of several is several pairs.
    answers : tuple of RemoteAnswer
        Those that answer a question of ours.
    problems : tuple of AnswerProblem
        What was wrong, each once.
    raw : str or None
        The document as it came.
    """

    fields: tuple[tuple[str, str], ...]
    answers: tuple[RemoteAnswer, ...]
    problems: tuple[AnswerProblem, ...]
    raw: str | None


def read_answer(raw: str | None, *, questions: Iterable[tuple[str, str]] | None = None) -> AnswerReading:
    """Read the Answer of an assignment.

    Parameters
    ----------
    raw : str or None
        The document, as ListAssignmentsForHIT has it.
    questions : iterable of (item, aspect), optional
        What was asked, in the HIT's order; an answer to anything else is a problem. By default whatever names a
        question is taken, and one that stands under a number has that alone (`hmc_crowd.platform.named`).

    Examples
    --------
    >>> read_answer(None).problems
    (<AnswerProblem.ABSENT: 'absent'>,)
    """
    fields, problem = fields_of(raw)
    if problem is not None:
        return AnswerReading((), (), (problem,), raw)
    asked = None if questions is None else list(questions)
    times = {name[6:]: value for name, value in fields if name.startswith("times:")}
    answers: dict[str, RemoteAnswer] = {}
    is_strange = False
    for name, value in fields:
        question = _question(name)
        if question is None:
            is_strange = is_strange or not name.startswith("times:")
            continue
        started, submitted = _times(times.get(name.partition(":")[2]))
        item, aspect, place = question
        answers[name] = RemoteAnswer(item, aspect, value, started, submitted, place=place)
    read = tuple(answers.values())
    if asked is not None:
        everything, known = named(read, asked), set(asked)
        read = tuple(each for each in everything if (each.item, each.aspect) in known)
        is_strange = is_strange or len(read) < len(everything)
    problems = []
    if is_strange:
        problems.append(AnswerProblem.UNKNOWN_IDENTIFIER)
    if not answers and not fields:
        problems.append(AnswerProblem.EMPTY)
    return AnswerReading(fields, read, tuple(problems), raw)


def fields_of(raw: str | None) -> tuple[tuple[tuple[str, str], ...], AnswerProblem | None]:
    """Return identifiers and values of a QuestionFormAnswers document, or what is wrong with it."""
    if raw is None:
        return (), AnswerProblem.ABSENT
    if not raw.strip():
        return (), AnswerProblem.EMPTY
    try:
        root: Element = fromstring(raw.strip(), forbid_dtd=True)
    except DefusedXmlException:
        return (), AnswerProblem.HOSTILE
    except (ParseError, ValueError):
        return (), AnswerProblem.NOT_XML
    if _local(root) != "QuestionFormAnswers":
        return (), AnswerProblem.NOT_XML
    found = []
    for answer in root:
        name = next(((each.text or "") for each in answer if _local(each) == "QuestionIdentifier"), None)
        if name is None:
            continue
        found += [(name, each.text or "") for each in answer if _local(each) in _VALUES]
    return tuple(found), None


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _question(name: str) -> tuple[str, str, int | None] | None:
    """Return item, aspect and number of what a field answers; pages made before numbers named item and aspect."""
    kind, _, rest = name.partition(":")
    if kind != "answer":
        return None
    if _NUMBER.fullmatch(rest):
        return "", "", int(rest)
    item, slash, aspect = rest.partition("/")
    return (unquote(item), unquote(aspect), None) if slash else None


def _times(text: str | None) -> tuple[datetime | None, datetime | None]:
    """Return when a question was shown and answered by the page's clock; both None where that cannot be."""
    shown, _, answered = (text or "").partition(",")
    first, second = whole_number(shown, most=_LATEST_MS), whole_number(answered, most=_LATEST_MS)
    if first is None or second is None or first > second:
        return None, None
    started, submitted = (datetime.fromtimestamp(each / 1000, tz=UTC) for each in (first, second))
    return started, submitted
