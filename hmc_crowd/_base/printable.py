"""Texts of strangers as a terminal may show them: no control character reaches it, each is written out.

An item's id, a message or a file's name can hold sequences that clear the screen, rewrite what stood there, set the
title or type for the reader; others turn the direction of what follows.
"""

from __future__ import annotations

import re

__all__ = ["escaped", "escaped_json", "escaped_lines"]

# What moves a terminal's cursor, ends a line, or turns the direction of what follows.
_CODES = (*range(32), *range(127, 160), 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = {code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _CODES}
_IN_JSON = re.compile("[" + "".join(map(re.escape, map(chr, (code for code in _CODES if code > 32)))) + "]")


def escaped(text: str) -> str:
    r"""Return a text whose control characters are written out, ends of lines too.

    >>> print(escaped("a" + chr(10) + chr(27) + "[31mb"))
    a\x0a\x1b[31mb
    """
    return text.translate(_CONTROLS)


def escaped_lines(text: str) -> str:
    r"""Return lines as they are, and all other control characters written out.

    >>> print(escaped_lines("a" + chr(10) + chr(155) + "31mb"))
    a
    \x9b31mb
    """
    return "\n".join(map(escaped, text.split("\n")))


def escaped_json(text: str) -> str:
    r"""Return JSON with the same meaning whose control characters are escapes of JSON.

    >>> print(escaped_json('{"a": "' + chr(155) + chr(8238) + '"}'))
    {"a": "\u009b\u202e"}
    """
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
