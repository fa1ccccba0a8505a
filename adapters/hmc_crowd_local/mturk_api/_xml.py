"""XML from people we do not know: parsed without entities, DTDs or network; matched by local names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, ParseError, SubElement, tostring  # only to build; defusedxml parses

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

from hmc_crowd_local.mturk_api._problems import TurkError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["NAMESPACES", "answers_xml", "child", "children", "local", "parse", "plain", "text_of"]

_BASE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
_ANSWERS = _BASE + "2005-10-01/QuestionFormAnswers.xsd"

#: Root element -> namespaces that are known for it.
NAMESPACES = {
    "ExternalQuestion": (_BASE + "2006-07-14/ExternalQuestion.xsd",),
    "HTMLQuestion": (_BASE + "2011-11-11/HTMLQuestion.xsd",),
    "QuestionForm": (_BASE + "2017-11-06/QuestionForm.xsd", _BASE + "2005-10-01/QuestionForm.xsd"),
    "QuestionFormAnswers": (_ANSWERS,),
    "AnswerKey": (_BASE + "2005-10-01/AnswerKey.xsd",),
}
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parse(text: str, *, name: str) -> Element:
    """Return the root of a document, or refuse it: not well-formed, an entity or DTD in it, an unknown namespace."""
    try:
        root: Element = fromstring(text.strip(), forbid_dtd=True)
    except DefusedXmlException:
        raise TurkError("XMLParseError", f"{name} holds a DTD or an entity, which is refused") from None
    except (ParseError, ValueError) as error:
        raise TurkError("XMLParseError", f"There was an error parsing the XML of {name}: {error}") from None
    namespace, _, tag = root.tag.rpartition("}")
    known = NAMESPACES.get(tag)
    if known is None or namespace.lstrip("{") not in known:
        raise TurkError(
            "XMLParseError",
            f"{name} has the root element {tag!r} in the namespace {namespace.lstrip('{')!r}, which is not known",
        )
    return root


def local(element: Element) -> str:
    """Return an element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def children(element: Element, name: str) -> Iterator[Element]:
    """Yield the direct children of one local name."""
    return (each for each in element if local(each) == name)


def child(element: Element, name: str) -> Element | None:
    """Return the first direct child of one local name."""
    return next(children(element, name), None)


def text_of(element: Element, name: str) -> str | None:
    """Return the text of the first direct child of one name, stripped; None where there is no such child."""
    found = child(element, name)
    return None if found is None else (found.text or "").strip()


def plain(text: str) -> str:
    """Return the text without the characters that XML 1.0 cannot hold.

    >>> plain("a" + chr(0) + "b" + chr(11) + "c")
    'abc'
    """
    return _FORBIDDEN.sub("", text)


def answers_xml(fields: Iterable[tuple[str, str, str]]) -> str:
    """Build QuestionFormAnswers from (identifier, kind, value), kind being FreeText, SelectionIdentifier, ...

    Fields of one identifier that follow one another and are selections share an Answer element.
    """
    root = Element("QuestionFormAnswers", {"xmlns": _ANSWERS})
    last: tuple[str, str] | None = None
    answer = root
    for identifier, kind, value in fields:
        if last != (identifier, kind) or kind != "SelectionIdentifier":
            answer = SubElement(root, "Answer")
            SubElement(answer, "QuestionIdentifier").text = plain(identifier)
        SubElement(answer, kind).text = plain(value)
        last = (identifier, kind)
    return '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n' + tostring(root, encoding="unicode")
