"""Question documents: built by an XML library, so that no text can break them.

Characters beyond the basic plane (emoji) become HTML entities, because the service refused them; sizes are counted in
bytes; what XML cannot hold is refused with its place.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit
from xml.etree.ElementTree import Element, SubElement, tostring  # only to build

from hmc_crowd.errors import InputError
from hmc_crowd_mturk._guard import is_loopback

if TYPE_CHECKING:
    from hmc_crowd.platform import Hit, HitItem

__all__ = ["answer_name", "external_question", "html_question", "page_of"]

_BASE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
_MOST_BYTES = 65_535
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def external_question(url: str, *, frame_height: int = 0) -> str:
    """Return the document of a question on a page of your own.

    Parameters
    ----------
    url : str
        https, or http on this machine.
    frame_height : int, default 0
        Pixels; 0 lets the platform choose.

    Raises
    ------
    InputError
        Another scheme, characters that no URL has, or too large a document.

    Examples
    --------
    >>> "a=1&amp;b=2" in external_question("https://example.org/q?a=1&b=2")
    True
    """
    parts = urlsplit(url)
    is_allowed = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not is_allowed or not parts.hostname:
        raise InputError(f"url is {url[:200]!r}; the platform shows https pages only")
    if not url.isascii() or any(each.isspace() for each in url):
        url = quote(url, safe="%/:=&?~#+!$,;'@()*[]")
    root = Element("ExternalQuestion", {"xmlns": _BASE + "2006-07-14/ExternalQuestion.xsd"})
    SubElement(root, "ExternalURL").text = url
    SubElement(root, "FrameHeight").text = str(frame_height)
    return _checked(tostring(root, encoding="unicode"))


def html_question(html: str, *, frame_height: int = 0) -> str:
    """Return the document of a question that is one HTML page; any page will do, emoji and ``]]>`` included.

    Examples
    --------
    >>> "&amp;#x1F600;" in html_question(f"<p>{chr(0x1F600)}</p>")
    True
    """
    found = _FORBIDDEN.search(html)
    if found is not None:
        raise InputError(
            f"html holds the character U+{ord(found[0]):04X} at {found.start()}, which XML cannot hold; remove it"
        )
    root = Element("HTMLQuestion", {"xmlns": _BASE + "2011-11-11/HTMLQuestion.xsd"})
    SubElement(root, "HTMLContent").text = _narrow(html)
    SubElement(root, "FrameHeight").text = str(frame_height)
    return _checked(tostring(root, encoding="unicode"))


def _narrow(html: str) -> str:
    """Write characters of four bytes as HTML entities."""
    return "".join(f"&#x{ord(each):X};" if ord(each) > 0xFFFF else each for each in html)


def _checked(document: str) -> str:
    size = len(document.encode("utf-8"))
    if size > _MOST_BYTES:
        raise InputError(
            f"the question has {size:,} bytes, at most {_MOST_BYTES:,} are allowed; put fewer items into a HIT, "
            "or give external_url"
        )
    return document


# The page of a HIT.

_SHOWN = ("nominal", "ordinal", "text")


def answer_name(number: int) -> str:
    """Return the form field of a question: its number in the HIT, from 1, and nothing that tells what it asks about.

    Workers read a page's source, and an item's id may say that it is gold.

    >>> answer_name(3)
    'answer:3'
    """
    return f"answer:{number}"


def page_of(hit: Hit, *, submit_to: str) -> str:
    """Return the page that shows a HIT: one form, no script needed to answer it.

    A small script notes when each question was answered first, and fills in the assignment where the platform does
    not; without it the answers come just the same.

    Raises
    ------
    InputError
        A question is of a kind that one plain form cannot show.
    """
    for each in hit.items:
        _require_plain(each)
    body = "\n".join(_question(each, number) for number, each in enumerate(hit.items, start=1))
    return _PAGE.format(
        title=escape(hit.title), description=escape(hit.description), action=escape(submit_to), questions=body
    )


def _require_plain(item: HitItem) -> None:
    """Refuse what this page would show wrongly: a form of radio buttons has no sides to swap and blurs no text."""
    if item.kind not in _SHOWN:
        raise InputError(
            f"item {item.item!r} asks a question of kind {item.kind!r}, and the page for MTurk shows only "
            f"{', '.join(_SHOWN)}; give external_url with pages that show it, or publish on your own workplace"
        )


def _question(item: HitItem, number: int) -> str:
    name = answer_name(number)
    context = "".join(f"<p>{escape(each)}</p>" for each in item.context)
    text = f'{context}<p class="text">{escape(item.text)}</p>'
    legend = f"<legend>{number}. {escape(item.question or item.aspect)}</legend>"
    if not item.labels or item.kind == "text":
        return f'<fieldset>{legend}{text}<textarea name="{name}" rows="3" required></textarea></fieldset>'
    choices = "".join(
        f'<label><input type="radio" name="{name}" value="{escape(each)}" required> {escape(each)}</label>'
        for each in item.labels
    )
    return f"<fieldset>{legend}{text}{choices}</fieldset>"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 0 auto; padding: 1rem; }}
fieldset {{ margin: 0 0 1.5rem; }} label {{ display: block; padding: .4rem 0; }} .text {{ font-weight: bold; }}
</style></head><body>
<h1>{title}</h1><p>{description}</p>
<form method="post" action="{action}">
<input type="hidden" name="assignmentId" id="assignmentId" value="">
{questions}
<button type="submit">Submit</button>
</form>
<script>
"use strict";
(function () {{
  const form = document.forms[0], id = new URLSearchParams(location.search).get("assignmentId") || "";
  if (!form.assignmentId.value) form.assignmentId.value = id;
  if (!id || id === "ASSIGNMENT_ID_NOT_AVAILABLE") form.querySelector("button").disabled = true;
  const shown = Date.now(), done = {{}};
  form.addEventListener("change", function (event) {{
    const name = event.target.name;
    if (!name.startsWith("answer:")) return;
    if (!done[name]) {{
      done[name] = document.createElement("input");
      done[name].type = "hidden"; done[name].name = "times:" + name.slice(7);
      form.append(done[name]);
    }}
    done[name].value = shown + "," + Date.now();
  }});
}})();
</script></body></html>
"""
