"""What stands inside a worker's frame: the requester's page, made to work here without its old hosts.

Legacy pages name hosts of the closed service for their form's target and their scripts. In what is shown, and only
there, those become ours; the stored question stays as it was sent. A page is taken apart once and put together from
its pieces for each worker, so that nothing in a request can be more than the text of one attribute.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from hmc_crowd.errors import InputError
from hmc_crowd_local.mturk_api._form_check import plain_text
from hmc_crowd_local.mturk_api._markup import start_tags
from hmc_crowd_local.mturk_api._xml import child, children, local, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

__all__ = ["Prepared", "external_address", "form_parts", "prepare", "require_post"]

_HOSTS = {
    "//www.mturk.com/mturk/externalSubmit": "/mturk/externalSubmit",
    "//workersandbox.mturk.com/mturk/externalSubmit": "/mturk/externalSubmit",
    "//s3.amazonaws.com/mturk-public/externalHIT_v1.js": "/mturk/static/externalHIT_v1.js",
    "//assets.crowd.aws/crowd-html-elements.js": "/mturk/static/crowd.js",
}
_INSIDE = '<script src="/mturk/static/inside.js"></script>'


@dataclass(frozen=True)
class Prepared:
    """The page of an HTMLQuestion in pieces: the assignment's field stands between each two of them."""

    pieces: tuple[str, ...]

    def page(self, assignment_id: str) -> str:
        """Return the page with its assignment in the form already, so that it works without JavaScript too."""
        field = f'<input type="hidden" name="assignmentId" id="assignmentId" value="{escape(assignment_id)}">'
        return field.join(self.pieces)


def prepare(html: str, *, page_name: str) -> Prepared:
    """Take the page of an HTMLQuestion apart: old hosts replaced, our helper added, in time linear in its length.

    >>> prepare("<form><input name=assignmentId></form>", page_name="taskAnswers").page("A1")[:50]
    '<form><input type="hidden" name="assignmentId" id='
    """
    pieces, last = [], 0
    for tag in start_tags(html):
        if tag.name == "input" and tag.attributes.get("name") == "assignmentId":
            pieces.append(_own_hosts(html[last : tag.start]))
            last = tag.end
    pieces.append(_own_hosts(html[last:]) + _INSIDE)
    if "crowd-form" in html and page_name != "taskAnswers":
        name = json.dumps(page_name).replace("<", "\\u003c")
        pieces[0] = f"<script>document.documentElement.dataset.taskAnswers = {name};</script>" + pieces[0]
    return Prepared(tuple(pieces))


def require_post(html: str) -> None:
    """Refuse a layout that nobody could hand in: answers are taken by POST alone, from a form or a ``crowd-form``.

    Raises
    ------
    InputError
        It names the line to change.
    """
    forms = [each for each in start_tags(html) if each.name in {"form", "crowd-form"}]
    if any(each.name == "crowd-form" or each.attributes.get("method", "").lower() == "post" for each in forms):
        return
    wanted = '<form method="post" action="https://www.mturk.com/mturk/externalSubmit">'
    if not forms:
        raise InputError(f"html has no form, so nobody could hand it in; put {wanted} and </form> around the page")
    start = forms[0].start
    line = html[html.rfind("\n", 0, start) + 1 :].partition("\n")[0].strip()
    raise InputError(
        f"html has no form that is sent by POST, so nobody could hand it in; line {html.count(chr(10), 0, start) + 1} "
        f"is {line[:120]!r}: begin its form with {wanted}"
    )


def _own_hosts(html: str) -> str:
    for old, ours in _HOSTS.items():
        for scheme in ("https:", "http:", ""):
            html = html.replace(scheme + old, ours)
    return html


def external_address(url: str, **parameters: str | None) -> str:
    """Return an ExternalURL with the frame's parameters behind those that it has.

    >>> external_address("https://e.org/p?x=1#top", assignmentId="A1", workerId=None)
    'https://e.org/p?x=1&assignmentId=A1#top'
    """
    parts = urlsplit(url)
    added = urlencode({name: value for name, value in parameters.items() if value is not None})
    return urlunsplit(parts._replace(query="&".join(part for part in (parts.query, added) if part)))


def form_parts(form: Element) -> Iterator[dict[str, Any]]:
    """Yield what a QuestionForm shows, part by part, as plain text and choices; formatted content loses its tags."""
    for element in form:
        if local(element) == "Overview":
            yield from _texts(element)
        elif local(element) == "Question":
            yield from _question(element)


def _texts(element: Element) -> Iterator[dict[str, Any]]:
    for each in element:
        kind, text = local(each), (each.text or "").strip()
        if kind == "Title":
            yield {"kind": "title", "text": text}
        elif kind == "Text":
            yield {"kind": "text", "text": text}
        elif kind == "FormattedContent":
            yield {"kind": "text", "text": plain_text(text)}
        elif kind == "List":
            for entry in children(each, "ListItem"):
                yield {"kind": "text", "text": "• " + (entry.text or "").strip()}


def _question(element: Element) -> Iterator[dict[str, Any]]:
    name = text_of(element, "QuestionIdentifier") or ""
    required = (text_of(element, "IsRequired") or "false").lower() == "true"
    content, specification = child(element, "QuestionContent"), child(element, "AnswerSpecification")
    shown = [] if content is None else list(_texts(content))
    yield from shown[:-1]
    text = shown[-1]["text"] if shown else (text_of(element, "DisplayName") or name)
    selection = None if specification is None else child(specification, "SelectionAnswer")
    if selection is None:
        free = None if specification is None else child(specification, "FreeTextAnswer")
        default = "" if free is None else (text_of(free, "DefaultText") or "")
        part = {"kind": "free", "name": name, "text": text, "required": required, "default": default}
        yield {**part, **_constraints(None if free is None else child(free, "Constraints"))}
        return
    choices = child(selection, "Selections")
    least, most = (text_of(selection, f"{which}SelectionCount") or "1" for which in ("Min", "Max"))
    style = (text_of(selection, "StyleSuggestion") or "").lower()
    yield {
        "kind": "choice",
        "name": name,
        "text": text,
        "required": required,
        "single": most == "1" and style not in {"checkbox", "multichooser"},
        "options": [] if choices is None else [_option(each) for each in children(choices, "Selection")],
        "other": choices is not None and child(choices, "OtherSelection") is not None,
        "hint": "" if {least, most} <= {"0", "1"} else f"Choose {least} to {most}.",
    }


def _constraints(element: Element | None) -> dict[str, Any]:
    """Return what a browser holds an answer to: ``attributes`` of the field, and whether it is ``one_line``."""
    length, number, form = (
        None if element is None else child(element, name) for name in ("Length", "IsNumeric", "AnswerFormatRegex")
    )
    found: dict[str, str] = {}
    if length is not None:
        found = {"minlength": length.get("minLength", ""), "maxlength": length.get("maxLength", "")}
    if number is not None:
        found = {"type": "number", "step": "any", "min": number.get("minValue", ""), "max": number.get("maxValue", "")}
    elif form is not None:
        # The expression may match anywhere in the answer; a browser's pattern must match the whole of it.
        found |= {"pattern": f"[\\s\\S]*(?:{form.get('regex')})[\\s\\S]*", "title": form.get("errorText", "")}
    attributes = [(name, value) for name, value in found.items() if value]
    return {"attributes": attributes, "one_line": number is not None or form is not None}


def _option(selection: Element) -> tuple[str, str]:
    value = text_of(selection, "SelectionIdentifier") or ""
    text = text_of(selection, "Text") or plain_text(text_of(selection, "FormattedContent") or "")
    return value, text or escape(value)
