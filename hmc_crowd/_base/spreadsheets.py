"""Texts that a spreadsheet would run as a formula, made inert: an apostrophe stands before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["inert", "inert_frame"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def inert(value: Any) -> Any:
    """Return what a spreadsheet does not run: a number written as text, or a lone sign, stays as it is.

    >>> [inert(each) for each in ("=1+1", "-3", "+", "@SUM(A1)", "hello", 7)]
    ["'=1+1", '-3', '+', "'@SUM(A1)", 'hello', 7]
    """
    if not isinstance(value, str) or not value.startswith(_FORMULA) or len(value) == 1:
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def inert_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a copy whose texts no spreadsheet runs; names of columns and of rows too.

    >>> import pandas as pd
    >>> inert_frame(pd.DataFrame({"text": ["=1+1", "-3", "hello"]}))["text"].tolist()
    ["'=1+1", '-3', 'hello']
    """
    texts = [name for name in frame.columns if frame[name].dtype.kind not in "biufcmM"]
    safe = frame.assign(**{str(name): frame[name].map(inert) for name in texts if isinstance(name, str)})
    return safe.rename(columns=inert, index=inert)
