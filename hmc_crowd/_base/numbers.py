"""Numbers out of text that strangers wrote: plain ASCII digits within a bound, or nothing.

``str.isdigit`` is true of a superscript two, which `int` refuses; `int` refuses 5,000 digits and takes Arabic ones;
`float` takes ``nan`` and ``inf``. What a page, a platform or a file says in text is read here, so that none of it
raises further in.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["finite_number", "whole_number"]


def whole_number(text: str | None, *, most: int, least: int = 0) -> int | None:
    r"""Return the whole number that plain digits say, or None for anything else.

    Parameters
    ----------
    text : str or None
        What somebody sent; a minus before the digits is read where ``least`` is below 0.
    most, least : int
        What it may be.

    Examples
    --------
    >>> whole_number("42", most=99), whole_number("420", most=99), whole_number("-5", most=9, least=-9)
    (42, None, -5)
    >>> [whole_number(each, most=99) for each in ("\u00b2", "\u0663", "--5", "", "9" * 5_000, None)]
    [None, None, None, None, None, None]
    """
    if text is None or len(text) > len(str(max(most, -least))) + 1:
        return None
    digits = text[1:] if least < 0 and text.startswith("-") else text
    if not (digits.isascii() and digits.isdecimal()):
        return None
    return int(text) if least <= int(text) <= most else None


def finite_number(value: Any) -> float | None:
    """Return a number, or a text that says one, as a finite float; None for anything else, truth values included.

    >>> finite_number("2.5"), finite_number(3), finite_number("1e400"), finite_number("nan"), finite_number(True)
    (2.5, 3.0, None, None, None)
    >>> finite_number(10**400) is finite_number("1_000") is finite_number([]) is None
    True
    """
    is_read = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_read and not (isinstance(value, str) and value.isascii() and "_" not in value):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
