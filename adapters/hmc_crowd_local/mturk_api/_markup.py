"""Start tags of a page of HTML, found in one pass whatever the page holds.

Pages come from requesters, and a worker's request makes the server read them: so each character is looked at a fixed
number of times. (The standard library's parser takes ten seconds for 65 kB of ``<input`` without an end.) What browsers
take for text is text here too: comments, and what stands inside ``script``, ``style``, ``textarea`` and ``title``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["StartTag", "start_tags"]

# Each matches where it is put or not at all: none looks for its beginning, so none can go over the page again.
_NAME = re.compile(r"[A-Za-z][^\s/>]*")
_GAP = re.compile(r"[\s/]*")
_ATTRIBUTE = re.compile(r"[^\s/>][^\s/>=]*")
_EQUALS = re.compile(r"\s*=\s*")
_BARE = re.compile(r"[^\s>]*")
_TEXT_INSIDE = {each: re.compile(f"</{each}", re.IGNORECASE) for each in ("script", "style", "textarea", "title")}


@dataclass(frozen=True)
class StartTag:
    """A start tag: its name and attributes in small letters as browsers take them, and where it stands in the page."""

    name: str
    attributes: Mapping[str, str]
    start: int
    end: int


def start_tags(html: str) -> Iterator[StartTag]:
    """Yield the start tags of a page in their order.

    Examples
    --------
    >>> [(each.name, dict(each.attributes)) for each in start_tags("<!-- <p> --><INPUT Name=q checked value='>'>")]
    [('input', {'name': 'q', 'checked': '', 'value': '>'})]
    """
    at = 0
    while (at := html.find("<", at)) >= 0:
        if html.startswith("<!--", at):
            end = html.find("-->", at + 4)
            if end < 0:
                return
            at = end + 3
            continue
        name = _NAME.match(html, at + 1)
        if name is None:
            at += 1
            continue
        found = _tag(html, at, name[0].lower(), name.end())
        if found is None:
            return  # the page ends inside the tag, and a browser drops it
        yield found
        at = found.end
        text = _TEXT_INSIDE.get(found.name)
        if text is not None:
            closing = text.search(html, at)
            if closing is None:
                return
            at = closing.end()


def _tag(html: str, start: int, name: str, at: int) -> StartTag | None:
    """Read a tag from behind its name on; None where the page ends before it does."""
    attributes: dict[str, str] = {}
    while True:
        at = _end_of(_GAP, html, at)
        if at >= len(html):
            return None
        if html[at] == ">":
            return StartTag(name, attributes, start, at + 1)
        end = _end_of(_ATTRIBUTE, html, at)
        attribute, value, at = html[at:end].lower(), "", end
        equals = _EQUALS.match(html, at)
        if equals is not None:
            at = equals.end()
            quote = html[at : at + 1]
            if quote in {'"', "'"}:
                end = html.find(quote, at + 1)
                if end < 0:
                    return None
                value, at = html[at + 1 : end], end + 1
            else:
                end = _end_of(_BARE, html, at)
                value, at = html[at:end], end
        attributes.setdefault(attribute, value)


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
