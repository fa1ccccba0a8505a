"""What does a HIT show? Question documents, checked by rule R3 and taken apart for the worker's page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hmc_crowd_local.mturk_api._problems import TurkError, invalid
from hmc_crowd_local.mturk_api._xml import child, local, parse, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element

    from hmc_crowd_local.mturk_api._settings import Settings

__all__ = ["Question", "fill_layout", "read_question"]

_MOST_BYTES = 65_535  # of Question, Test and AnswerKey; AWS's guides and the service model's prose
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_PARAMETER = re.compile(r"\$\{([^{}]*)\}")
_HEIGHT = re.compile(r"[0-9]{1,5}")
_MOST_PIXELS = 20_000


@dataclass(frozen=True)
class Question:
    """A question document: exactly one of ``url`` (ExternalQuestion), ``html`` and ``form`` (QuestionForm) is set."""

    kind: str
    frame_height: int
    url: str | None = None
    html: str | None = None
    form: Element | None = None


def check_size(text: str, *, name: str) -> None:
    """Refuse a document that is too large or holds characters of four bytes."""
    size = len(text.encode("utf-8", errors="replace"))
    if size > _MOST_BYTES:
        raise invalid(f"{name} has {size} bytes, at most {_MOST_BYTES} are allowed")
    wide = next((each for each in text if ord(each) > 0xFFFF), None)
    if wide is not None:
        raise invalid(f"{name} holds the 4-byte character U+{ord(wide):X}; write it as the entity &#x{ord(wide):X};")


def read_question(text: str, settings: Settings, *, name: str = "Question") -> Question:
    """Check a question document and return its parts.

    Raises
    ------
    TurkError
        Not well-formed, unknown namespace, too large, a 4-byte character, or an ExternalURL that is not https.
    """
    check_size(text, name=name)
    root = parse(text, name=name)
    kind = local(root)
    if kind == "ExternalQuestion":
        return Question(kind, _frame_height(root), url=_external_url(root, settings))
    if kind == "HTMLQuestion":
        content = text_of(root, "HTMLContent")
        if not content:
            raise TurkError("XMLParseError", f"{name} has no HTMLContent")
        return Question(kind, _frame_height(root), html=content)
    if kind == "QuestionForm":
        if child(root, "Question") is None:
            raise TurkError("XMLParseError", f"{name} has no Question element")
        return Question(kind, 0, form=root)
    raise TurkError("XMLParseError", f"{name} is a {kind}; use ExternalQuestion, HTMLQuestion or QuestionForm")


def fill_layout(html: str, parameters: Iterable[tuple[str, str]]) -> str:
    """Return the HTMLQuestion of a layout with its ``${name}`` filled; values are HTML already, as the API has it.

    Raises
    ------
    TurkError
        A name of the layout has no value, or a value has no place in it.
    """
    values = dict(parameters)
    wanted = set(_PARAMETER.findall(html))
    if wanted != set(values):
        raise invalid(
            f"HITLayoutParameters are {', '.join(sorted(values)) or 'none'}; "
            f"the layout needs {', '.join(sorted(wanted)) or 'none'}"
        )
    filled = _PARAMETER.sub(lambda match: values[match[1]], html)
    wide = "".join(f"&#x{ord(each):X};" if ord(each) > 0xFFFF else each for each in filled)
    # Two sections, so that the end mark of a section can be inside the page.
    content = wide.replace("]]>", "]]]]><![CDATA[>")
    namespace = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd"
    return (
        f'<HTMLQuestion xmlns="{escape(namespace)}"><HTMLContent><![CDATA[{content}]]></HTMLContent>'
        "<FrameHeight>0</FrameHeight></HTMLQuestion>"
    )


def _frame_height(root: Element) -> int:
    text = text_of(root, "FrameHeight")
    if text is None or not _HEIGHT.fullmatch(text) or int(text) > _MOST_PIXELS:
        given = "missing" if text is None else repr(text[:40])
        raise TurkError(
            "XMLParseError",
            f"FrameHeight is {given}; give a number of pixels up to {_MOST_PIXELS:,}, 0 for the whole window",
        )
    return int(text)


def _external_url(root: Element, settings: Settings) -> str:
    url = text_of(root, "ExternalURL") or ""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 because it is read to be checked
    except ValueError:
        raise invalid(f"ExternalURL is {url[:200]!r}, which is no address") from None
    is_loopback = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or (is_loopback and settings.allow_http)):
        raise invalid(f"ExternalURL is {url[:200]!r}; it must begin with https://")
    return url
