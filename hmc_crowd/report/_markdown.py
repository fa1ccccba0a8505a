"""How does a name that somebody chose stand in a Markdown file? As what it is: no markup, no HTML of its own."""

from __future__ import annotations

import re

__all__ = ["as_code", "as_text"]

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def as_text(text: str) -> str:
    r"""Return a text for a line of Markdown, in which nothing means anything.

    Examples
    --------
    >>> print(as_text("tone_of <b>voice</b> & more"))
    tone\_of \<b\>voice\</b\> \& more
    """
    return _MARKUP.sub(r"\\\1", " ".join(text.splitlines()))


def as_code(text: str) -> str:
    """Return a text as a code span, which shows it as it is written: where it begins and ends, too.

    Examples
    --------
    >>> print(as_code('<b>&"'), as_code("a`b"))
    `<b>&"` ``a`b``
    """
    line = " ".join(text.splitlines())
    # A fence is longer than any run of ticks inside; a tick at an end needs a space, which Markdown takes off again.
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    space = " " if line.startswith("`") or line.endswith("`") or line != line.strip() else ""
    return f"{fence}{space}{line}{space}{fence}"
