"""From a reply to what goes over the wire: HTML with its headers.

Every page forbids script and style that are not files of ours, sends no address of itself anywhere, and is not kept.
Only pages of the work may be framed, and only by origins that the settings name.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from hmc_crowd._base.money import Money
from hmc_crowd_local.pages._texts import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd_local.pages._texts import Texts
    from hmc_crowd_local.pages._visit import Visit

__all__ = ["STATIC", "draw", "headers", "static_file"]

STATIC: Mapping[str, str] = {"icon.svg": "image/svg+xml", "page.css": "text/css", "page.js": "text/javascript"}
_COMMON = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Robots-Tag": "noindex, nofollow",
}


@lru_cache(maxsize=4)
def static_file(name: str) -> bytes:
    """Return a file that pages load."""
    return files("hmc_crowd_local.pages").joinpath("static", name).read_bytes()


@lru_cache(maxsize=1)
def _environment() -> Environment:
    loader = PackageLoader("hmc_crowd_local.pages", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,  # templates are part of the program: no look at three files for every page
    )
    environment.filters["paragraphs"] = _paragraphs
    environment.filters["money"] = lambda minor, currency: str(Money(minor, currency))
    return environment


def _paragraphs(text: str) -> Markup:
    """Turn plain text into paragraphs: a blank line ends one, what is in it stays escaped."""
    parts = [part.strip() for part in text.replace("\r\n", "\n").split("\n\n")]
    return Markup("").join(Markup('<p dir="auto">{}</p>').format(escape(part)) for part in parts if part)


def draw(template: str, values: dict[str, Any], *, texts: Texts, visit: Visit | None, static: str) -> str:
    """Return a page as HTML."""
    languages = [(code, name) for code, (name, _) in LANGUAGES.items()]
    common = {"t": texts, "visit": visit, "static": static, "languages": languages}
    return _environment().get_template(template).render(**common, **values)


def headers(*, framed_by: Sequence[str] = (), form_to: str = "") -> dict[str, str]:
    """Return the headers of a page; ``form_to`` is an origin besides ours that a form of it may be sent to.

    >>> headers()["X-Frame-Options"], "X-Frame-Options" in headers(framed_by=("https://*.mturk.com",))
    ('DENY', False)
    """
    framers = " ".join(framed_by) or "'none'"
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        f"form-action 'self'{form_to and ' '}{form_to}; base-uri 'none'; frame-ancestors {framers}"
    )
    found = {"Content-Security-Policy": policy, **_COMMON}
    if not framed_by:
        found["X-Frame-Options"] = "DENY"
    return found
