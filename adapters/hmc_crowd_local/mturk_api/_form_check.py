"""What of a QuestionForm the workers' pages can show; the rest is refused by its name when the form is given.

A form that is shown in part would be paid work that nobody can do right: a question about a picture that is not there,
an upload without a field. Elements are those of AWS's QuestionForm schema.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from html import unescape
from typing import TYPE_CHECKING

from hmc_crowd_local.mturk_api._problems import invalid
from hmc_crowd_local.mturk_api._xml import child, children, local

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

__all__ = ["check_form", "plain_text"]

_CONTENT = {"Title", "Text", "List", "FormattedContent"}
#: Element -> the elements that are shown in it.
_SHOWN: Mapping[str, set[str]] = {
    "QuestionForm": {"Overview", "Question"},
    "Overview": _CONTENT,
    "QuestionContent": _CONTENT,
    "List": {"ListItem"},
    "Question": {"QuestionIdentifier", "DisplayName", "IsRequired", "QuestionContent", "AnswerSpecification"},
    "AnswerSpecification": {"FreeTextAnswer", "SelectionAnswer"},
    "FreeTextAnswer": {"Constraints", "DefaultText", "NumberOfLinesSuggestion"},
    "Constraints": {"IsNumeric", "Length", "AnswerFormatRegex"},
    "SelectionAnswer": {"MinSelectionCount", "MaxSelectionCount", "StyleSuggestion", "Selections"},
    "Selections": {"Selection", "OtherSelection"},
    "Selection": {"SelectionIdentifier", "Text", "FormattedContent"},
    "OtherSelection": {"DefaultText", "NumberOfLinesSuggestion"},
}
_ATTRIBUTES: Mapping[str, set[str]] = {
    "IsNumeric": {"minValue", "maxValue"},
    "Length": {"minLength", "maxLength"},
    "AnswerFormatRegex": {"regex", "errorText"},
}
# Content that has no text of its own: dropping its tags would drop all of it.
_MEDIA = {"applet", "audio", "canvas", "embed", "iframe", "img", "object", "svg", "video"}
_LINK = re.compile(r"""\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)


def check_form(root: Element, *, name: str) -> None:
    """Refuse a QuestionForm with a part that the pages do not show.

    Raises
    ------
    TurkError
        An element, an attribute of a constraint, or a picture in formatted content that workers would not see, by its
        name; or a constraint that no answer can be held against.
    """
    _check(root, name)


def _check(element: Element, name: str) -> None:
    kind = local(element)
    shown = _SHOWN.get(kind)
    if shown is None:
        if kind == "FormattedContent":
            _check_formatted(element, name)
        elif kind in _ATTRIBUTES:
            _check_constraint(element, name)
        return
    for each in element:
        if local(each) not in shown:
            raise _not_shown(f"the element {local(each)} in {kind}", name)
        _check(each, name)
    if kind == "Constraints" and len(list(children(element, "AnswerFormatRegex"))) > 1:
        raise _not_shown("more than one AnswerFormatRegex in Constraints", name)
    if kind == "Constraints" and child(element, "IsNumeric") is not None and len(element) > 1:
        raise _not_shown("IsNumeric beside other Constraints", name)


def _check_formatted(element: Element, name: str) -> None:
    for _, tag, _ in _pieces(element.text or ""):
        if tag in _MEDIA:
            raise _not_shown(f"<{tag}> in FormattedContent", name)


def _check_constraint(element: Element, name: str) -> None:
    kind = local(element)
    for attribute, value in element.attrib.items():
        if attribute not in _ATTRIBUTES[kind]:
            raise _not_shown(f"the attribute {attribute} of {kind}", name)
        is_count = kind == "Length" and not (value.isascii() and value.isdecimal() and len(value) < 10)
        if is_count or (kind == "IsNumeric" and not _is_number(value)):
            raise invalid(f"{name} has {kind} with {attribute}={value[:40]!r}; give a number")
    if kind == "AnswerFormatRegex" and not element.get("regex"):
        raise invalid(f"{name} has AnswerFormatRegex without regex; give the expression")


def _is_number(text: str) -> bool:
    try:
        return text.isascii() and len(text) < 40 and Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _not_shown(what: str, name: str) -> Exception:
    return invalid(
        f"{name} holds {what}, which the pages of this workplace cannot show; leave it out, or give an HTMLQuestion"
    )


def _pieces(formatted: str) -> Iterator[tuple[str, str, str]]:
    """Yield (tag, its name, the text behind it); one pass, however it is written: no pattern looks back or ahead."""
    first, *others = formatted.split("<")
    yield "", "", first
    for each in others:
        tag, end, text = each.partition(">")
        words = tag.split(maxsplit=1)
        yield (tag, words[0].strip("/").lower() if words else "", text) if end else ("", "", "<" + each)


def plain_text(formatted: str) -> str:
    """Return formatted content without its tags; where a link led is said behind it.

    >>> plain_text('Read <b>this</b> <a href="https://e.org/x">page</a> &amp; judge.')
    'Read this page (https://e.org/x) & judge.'
    """
    parts, link = [], ""
    for tag, name, text in _pieces(formatted):
        if name == "a" and tag.startswith("/"):
            parts.append(f" ({link})" if link else "")
            link = ""
        elif name == "a":
            found = _LINK.search(tag)
            link = "" if found is None else found[1] or found[2] or ""
        parts.append(" " + text if tag else text)
    return " ".join(unescape("".join(parts)).split())
