"""Pairs of responses to the same instruction, checked once and held as columns.

Response a is the target's, response b the baseline's: an outcome is a win of the target if a is preferred. References
are written by people and seen by machine judges only, never by people who judge.

Source: Lyu et al. (2024), "HREF", section 2.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["Pairs", "length_of", "read_pairs"]

REQUIRED = ("item", "instruction", "response_a", "response_b")
OPTIONAL = ("reference", "category", "audience")
UNITS = ("characters", "words", "tokens")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Checked pairs; every column is an array of text with one entry per pair.

    Parameters
    ----------
    item, instruction, response_a, response_b : array of str, shape (n,)
    reference : array of str, shape (n,)
        What a person would answer; blank where nobody wrote one.
    category : array of str, shape (n,)
        Kind of task; ``""`` where none was given.
    audience : array of str, shape (n,)
        Who may see the text: ``"any"``, or a name that a remote judge must be allowed by.
    numbers : mapping of str to array of float
        Numeric columns that came along, such as ``perplexity_a``.
    """

    item: NDArray[np.object_]
    instruction: NDArray[np.object_]
    response_a: NDArray[np.object_]
    response_b: NDArray[np.object_]
    reference: NDArray[np.object_]
    category: NDArray[np.object_]
    audience: NDArray[np.object_]
    numbers: Mapping[str, NDArray[np.float64]]

    def __len__(self) -> int:
        return len(self.item)

    def take(self, rows: Any) -> Pairs:
        """Return the pairs of these rows (positions or a mask)."""
        texts = {name: getattr(self, name)[rows] for name in (*REQUIRED, *OPTIONAL)}
        return Pairs(**texts, numbers={name: values[rows] for name, values in self.numbers.items()})

    @property
    def has_reference(self) -> NDArray[np.bool_]:
        """Whether a pair has a reference that is not blank, shape (n,)."""
        return np.array([bool(text.strip()) for text in self.reference], dtype=bool)

    @property
    def is_equal(self) -> NDArray[np.bool_]:
        """Whether both responses are the same text, shape (n,): every judge calls that a tie without being asked."""
        return np.array([a == b for a, b in zip(self.response_a, self.response_b, strict=True)], dtype=bool)


def read_pairs(frame: Any) -> Pairs:
    """Check a table of pairs.

    Parameters
    ----------
    frame : Pairs, data frame, or mapping of columns
        ``item, instruction, response_a, response_b`` and optionally ``reference, category, audience``; numeric columns
        are kept. Text is brought to Unicode's composed form (NFC), so that equal looks equal.

    Returns
    -------
    Pairs

    Raises
    ------
    FrameError
        A column is missing, a text is no text, an item is missing or comes twice, or there is no row.

    Examples
    --------
    >>> pairs = read_pairs({"item": ["p1"], "instruction": ["Greet me."], "response_a": ["Hi!"], "response_b": ["No."]})
    >>> len(pairs), pairs.audience.tolist(), pairs.has_reference.tolist()
    (1, ['any'], [False])
    """
    if isinstance(frame, Pairs):
        return frame
    columns = _columns(frame)
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise FrameError(f"pairs lack {', '.join(missing)}; columns are {', '.join(map(str, columns)) or 'none'}")
    n = len(columns["item"])
    if n == 0:
        raise FrameError("pairs are empty; give at least one")
    texts = {name: _texts(columns[name], name) for name in REQUIRED}
    blank = np.array([not name.strip() for name in texts["item"]], dtype=np.bool_)
    if blank.any():
        raise FrameError(f"pairs have no item in {first_rows(blank)}; every pair needs an id of its own")
    _unique(texts["item"])
    for name, default in (("reference", ""), ("category", ""), ("audience", "any")):
        texts[name] = _texts(columns[name], name, default) if name in columns else np.full(n, default, dtype=object)
    numbers = {}
    for name in (each for each in columns if each not in {*REQUIRED, *OPTIONAL}):
        array = np.asarray(columns[name])
        if array.dtype.kind in "fiu":
            numbers[str(name)] = array.astype(np.float64)
    return Pairs(**texts, numbers=numbers)


def length_of(texts: NDArray[np.object_], unit: str = "characters") -> NDArray[np.float64]:
    """Return lengths of texts, shape (n,).

    Parameters
    ----------
    texts : array of str, shape (n,)
    unit : {"characters", "words", "tokens"}, default "characters"
        Words are divided by white space, tokens as the ROUGE judge divides them.

    Examples
    --------
    >>> length_of(np.array(["It's late.", ""], dtype=object), "words").tolist()
    [2.0, 0.0]
    """
    if unit not in UNITS:
        raise InputError(f"unit is {unit!r}; choose one of {', '.join(UNITS)}")
    if unit == "characters":
        return np.array([len(text) for text in texts], dtype=np.float64)
    if unit == "words":
        return np.array([len(text.split()) for text in texts], dtype=np.float64)
    from hmc_crowd.judges._rouge import tokens

    return np.array([len(tokens(text)) for text in texts], dtype=np.float64)


def _columns(frame: Any) -> dict[str, Any]:
    if hasattr(frame, "columns"):
        return {str(name): frame[name].to_numpy() for name in frame.columns}
    if isinstance(frame, dict):
        sizes = {name: len(values) for name, values in frame.items()}
        if len(set(sizes.values())) > 1:
            raise FrameError(f"pairs have columns of {sizes} rows; they must describe the same pairs")
        return frame
    raise FrameError(f"pairs are {type(frame).__name__}; give a data frame or a mapping of columns")


def _texts(values: Any, name: str, default: str | None = None) -> NDArray[np.object_]:
    out = np.empty(len(values), dtype=object)
    bad = np.zeros(len(values), dtype=bool)
    for row, value in enumerate(values):
        if isinstance(value, str):
            out[row] = unicodedata.normalize("NFC", value)
        elif default is not None and (value is None or value != value):
            out[row] = default
        elif name == "item" and isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            out[row] = str(value)
        else:
            bad[row] = True
    if bad.any():
        raise FrameError(f"pairs column {name} must hold text: {first_rows(bad, np.asarray(values, dtype=object))}")
    return out


def _unique(item: NDArray[np.object_]) -> None:
    first = {name: row for row, name in reversed(list(enumerate(item.tolist())))}
    again = np.array([first[name] != row for row, name in enumerate(item.tolist())], dtype=np.bool_)
    if again.any():
        raise FrameError(f"pairs name an item twice: {first_rows(again, item)}; every pair needs an id of its own")
