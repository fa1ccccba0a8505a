"""From values to a page: escaped everywhere, no script or style but our files, never framed, never kept."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hmc_crowd._base.addresses import shown_address
from hmc_crowd._base.money import Money

__all__ = ["HEADERS", "STATIC", "draw", "name_of", "slug", "static_file"]

STATIC = {"board.css": "text/css", "board.js": "text/javascript", "report.css": "text/css"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Robots-Tag": "noindex, nofollow",
}


def slug(name: str) -> str:
    """Write a campaign's name so that it is one part of a path: the slash as ``~1``, as JSON pointers do (RFC 6901).

    Examples
    --------
    >>> slug("tone/2026"), name_of("tone~12026"), name_of(slug("a~1/b")), slug("..")
    ('tone~12026', 'tone/2026', 'a~1/b', '~2~2')
    """
    written = name.replace("~", "~0").replace("/", "~1")
    # Browsers take such a part out of an address, however it is written.
    return written.replace(".", "~2") if set(written) == {"."} else written


def name_of(part: str) -> str:
    """Read a campaign's name back from its part of a path."""
    return part.replace("~2", ".").replace("~1", "/").replace("~0", "~")


@lru_cache(maxsize=8)
def static_file(name: str) -> bytes:
    """Return a file that pages load; the report's style sheet is the board's too."""
    if name == "report.css":
        return files("hmc_crowd.report").joinpath("templates", "style.css").read_bytes()
    return files("hmc_crowd.board").joinpath("static", name).read_bytes()


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hmc_crowd.board", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["address"] = shown_address
    environment.filters["part"] = lambda value: quote(str(value), safe="")
    environment.filters["money"] = lambda minor, currency: str(Money(int(minor), currency))
    environment.filters["slug"] = lambda name: quote(slug(str(name)), safe="")
    # Only the charts' own SVG passes unescaped: `hmc_crowd.report` escapes each text that it draws.
    environment.filters["drawing"] = Markup
    return environment


def draw(template: str, **values: Any) -> str:
    """Return a page as HTML."""
    return _environment().get_template(template).render(**values)
