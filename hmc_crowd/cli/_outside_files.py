"""What do rows of a file, or the words of a command, ask to be rejected or paid? Read whole, or refused by line.

``reject``: the columns ``submission, rule, evidence, message[, count]``; several rows of a submission are its signals,
and its message stands in one of them, or in all. ``pay``: ``submission``, ``amount`` (``1.50USD``, or ``1.50`` in the
campaign's currency) or ``amount_minor`` (cents), and, where wanted, ``code`` and ``reason``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hmc_crowd.cli._arguments import TABLES, read_money
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from hmc_crowd.campaign import Bonus
    from hmc_crowd.io import Loaded
    from hmc_crowd.quality import RejectionProposal, RejectionSignal

__all__ = ["is_file", "read_bonuses", "read_proposals", "read_signal"]

_MOST = 1_000_000_000


def is_file(word: str) -> bool:
    """Tell a file from the id of a submission.

    Examples
    --------
    >>> is_file("bonuses.csv"), is_file("5f2b9c")
    (True, False)
    """
    return word.lower().endswith(TABLES)


def read_signal(text: str) -> RejectionSignal:
    """Read 'RULE=EVIDENCE', or 'RULE:N=EVIDENCE' where the rule was broken N times.

    Examples
    --------
    >>> read_signal("gold:4=4 of 5 known items wrong")
    RejectionSignal(rule='gold', evidence='4 of 5 known items wrong', count=4)
    """
    from hmc_crowd.quality import RejectionSignal

    found = re.fullmatch(r"\s*([^=:]+?)\s*(?::\s*([0-9]{1,6})\s*)?=(.*)", text, re.DOTALL)
    if found is None or not found[3].strip():
        raise InputError(f"--signal is {text!r}; write RULE=EVIDENCE, such as same_label='all 40 answers are good'")
    return RejectionSignal(found[1], found[3].strip(), int(found[2] or 1))


def read_proposals(path: Path) -> list[RejectionProposal]:
    """Read a file of rejections."""
    from hmc_crowd.quality import RejectionProposal, RejectionSignal

    loaded = _read(path, ("submission", "rule", "evidence", "message"), filled=("submission", "rule", "evidence"))
    frame = loaded.frame
    counts = _parsed(loaded, "count", path, _count) if "count" in frame else [1] * len(frame)
    together: dict[str, list[RejectionSignal]] = {}
    messages: dict[str, str] = {}
    texts = [_text(value) for value in frame["message"]]
    names = [_text(value) for value in frame["submission"]]
    differs = [bool(text) and messages.setdefault(n, text) != text for n, text in zip(names, texts, strict=True)]
    if any(differs):
        rows = loaded.rows(_mask(differs), frame["submission"].to_numpy())
        raise FrameError(f"{path}: message differs from that of the same submission above: {rows}; give it once")
    for name, rule, evidence, times in zip(names, frame["rule"], frame["evidence"], counts, strict=True):
        together.setdefault(name, []).append(RejectionSignal(_text(rule), _text(evidence), times))
    proposals = []
    for name, signals in together.items():
        try:
            proposals.append(RejectionProposal(name, tuple(signals), messages.get(name, "")))
        except InputError as error:
            raise FrameError(f"{path}: {loaded.rows(*_where(frame, name))}: {error}") from None
    return proposals


def read_bonuses(path: Path, currency: str) -> list[Bonus]:
    """Read a file of bonuses."""
    from hmc_crowd.campaign import Bonus

    loaded = _read(path, ("submission",), filled=("submission",))
    frame = loaded.frame
    if ("amount" in frame) == ("amount_minor" in frame):
        raise FrameError(f"{path} needs one column amount (1.50USD) or one amount_minor (150 cents); give one of them")
    if "amount" in frame:
        amounts = _parsed(loaded, "amount", path, lambda text: read_money(text, currency=currency, name="amount").minor)
    else:
        amounts = _parsed(loaded, "amount_minor", path, _count)
    found = []
    for row, (name, amount) in enumerate(zip(frame["submission"], amounts, strict=True)):
        given = {"reason_code": "code", "reason": "reason"}
        words = {key: _text(frame[column].iloc[row]) for key, column in given.items() if column in frame}
        try:
            found.append(Bonus(_text(name), amount, **{key: word for key, word in words.items() if word}))
        except InputError as error:
            mask = [index == row for index in range(len(frame))]
            raise FrameError(f"{path}: {loaded.rows(_mask(mask), frame['submission'].to_numpy())}: {error}") from None
    return found


def _read(path: Path, columns: Sequence[str], *, filled: Sequence[str]) -> Loaded:
    """Read a file that has these columns, and no empty cell in those that must be filled."""
    from hmc_crowd.io import read_frame

    loaded = read_frame(path, kind=None)
    missing = [name for name in columns if name not in loaded.frame]
    if missing:
        there = ", ".join(map(str, loaded.frame.columns))
        raise FrameError(f"{path} lacks the column {missing[0]}; it has {there}")
    for name in filled:
        empty = [not _text(value) for value in loaded.frame[name]]
        if any(empty):
            raise FrameError(f"{path}: {name} is empty: {loaded.rows(_mask(empty))}; fill or drop these rows")
    return loaded


def _parsed(loaded: Loaded, column: str, path: Path, read: Callable[[str], int]) -> list[int]:
    """Read a column cell by cell; name the first lines that cannot be read, with what was wrong with the first."""
    found, bad, why = [], [], ""
    for value in loaded.frame[column]:
        try:
            found.append(read(_text(value)))
            bad.append(False)
        except InputError as error:
            bad.append(True)
            why = why or str(error)
    if any(bad):
        rows = loaded.rows(_mask(bad), loaded.frame[column].to_numpy())
        raise FrameError(f"{path}: {column} cannot be read: {rows}; the first: {why}")
    return found


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}(?:\.0)?", text) or not 1 <= float(text) <= _MOST:
        raise InputError(f"{text!r} is no whole number of at least 1")
    return int(float(text))


def _where(frame: Any, name: str) -> tuple[Any, Any]:
    return _mask([_text(value) == name for value in frame["submission"]]), frame["submission"].to_numpy()


def _mask(bad: list[bool]) -> Any:
    import numpy as np

    return np.asarray(bad, dtype=bool)


def _text(value: Any) -> str:
    """Return a cell as text; a missing one is empty."""
    return "" if value is None or value != value else str(value).strip()  # NaN alone differs from itself
