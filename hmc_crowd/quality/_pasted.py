"""Does an answer look pasted, or written by a machine?

Flags for a person, and nothing more: people paste their own drafts, use screen readers and translate. A flag names
what was seen with its figures; no flag excludes or rejects anybody, and the rule ``language_model`` is one that
`check_rejections` never counts.

Source: PLATFORMS.md, P25; requirement F17.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._rejection import RejectionSignal

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["flag_pasted", "flag_signals"]

_SELF = re.compile(
    r"\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b|\bi(?:'m| am) (?:just )?an? ai\b"
    r"|\bmy (?:training data|knowledge cutoff)\b|\bi (?:cannot|can't) assist with\b|\bregenerate response\b",
    re.IGNORECASE,
)
_COLUMNS = ("worker", "task", "text")
_WORD = re.compile(r"\w+")


def flag_pasted(
    answers: pd.DataFrame,
    *,
    pasted_share: float = 0.5,
    characters_per_s: float = 15.0,
    alike: float = 0.9,
    least_words: int = 12,
) -> pd.DataFrame:
    """Return flags on free-text answers, for review by a person.

    Parameters
    ----------
    answers : pandas.DataFrame
        ``worker, task, text`` and, as far as the page tells, ``pasted_characters``, ``active_s``, ``left_page`` (how
        often the tab was left). Missing values raise no flag.
    pasted_share : float, default 0.5
        Flag ``pasted`` from this share of the text's characters on.
    characters_per_s : float, default 15
        Flag ``typed_too_fast`` above this speed: twice a professional typist's.
    alike : float, default 0.9
        Flag ``copied`` where another *worker's* text shares at least this part of its runs of three words (Jaccard).
    least_words : int, default 12
        Shorter texts are alike by chance and fast by nature: only ``language_model`` is looked for.

    Returns
    -------
    pandas.DataFrame
        One row per flag in the order of the answers: ``worker, task, flag, evidence, review`` (always true).

    Examples
    --------
    >>> text = "As an AI language model, I think that the second response is more helpful to the person who asks."
    >>> answers = pd.DataFrame([("ann", "i1", text, 90)], columns=["worker", "task", "text", "pasted_characters"])
    >>> flag_pasted(answers)[["flag", "evidence"]].to_dict("list")
    {'flag': ['language_model', 'pasted'], 'evidence': ["says 'As an AI'", '90 of 97 characters were pasted']}
    """
    lacking = [name for name in _COLUMNS if name not in answers.columns]
    if lacking:
        raise FrameError(f"answers lacks the column {', '.join(lacking)}; give worker, task, text")
    for name, value, high in (("pasted_share", pasted_share, 1.0), ("alike", alike, 1.0)):
        if not 0 < value <= high:
            raise InputError(f"{name} is {value!r}; give a share above 0, at most 1")
    if not characters_per_s > 0 or least_words < 1:
        raise InputError(f"characters_per_s is {characters_per_s!r}, least_words is {least_words!r}; give more than 0")
    texts = answers["text"].fillna("").astype(str).tolist()
    workers, tasks = answers["worker"].tolist(), answers["task"].tolist()
    long = [len(_WORD.findall(text)) >= least_words for text in texts]
    copies = _copies(texts, workers, long, alike)
    pasted, active, left = (_numbers(answers, name) for name in ("pasted_characters", "active_s", "left_page"))
    rows = []
    for row, text in enumerate(texts):
        seen = []
        if found := _SELF.search(text):
            seen.append(("language_model", f"says {found.group()!r}"))
        if long[row] and pasted[row] >= pasted_share * len(text):
            more = f", the page was left {left[row]:.0f} times" if left[row] > 0 else ""
            seen.append(("pasted", f"{pasted[row]:.0f} of {len(text)} characters were pasted{more}"))
        if long[row] and active[row] > 0 and len(text) > characters_per_s * active[row]:
            seen.append(("typed_too_fast", f"{len(text)} characters in {active[row]:.0f} s of activity"))
        if row in copies:
            seen.append(("copied", copies[row]))
        rows += [(workers[row], tasks[row], flag, evidence, True) for flag, evidence in seen]
    return pd.DataFrame(rows, columns=["worker", "task", "flag", "evidence", "review"])


def flag_signals(flags: pd.DataFrame) -> dict[Hashable, tuple[RejectionSignal, ...]]:
    """Return the flags of each worker as signals that never count: they ask for a look, whatever their number.

    Examples
    --------
    >>> flags = pd.DataFrame({"worker": ["ann"] * 2, "flag": ["pasted"] * 2, "evidence": ["90 of 99", "80 of 80"]})
    >>> [(each.rule, each.count, each.counts) for each in flag_signals(flags)["ann"]]
    [('language_model', 2, False)]
    """
    found: dict[Hashable, tuple[RejectionSignal, ...]] = {}
    for worker, rows in flags.groupby("worker", sort=True):
        kinds = ", ".join(f"{flag} {count} times" for flag, count in rows["flag"].value_counts(sort=False).items())
        first = str(rows["evidence"].iloc[0])
        found[worker] = (RejectionSignal("language_model", f"{kinds}; first: {first}", len(rows)),)
    return found


def _numbers(answers: pd.DataFrame, name: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if name not in answers.columns:
        return np.full(len(answers), np.nan)
    values: np.ndarray[tuple[int], np.dtype[np.float64]] = answers[name].to_numpy(dtype=np.float64, na_value=np.nan)
    return values


def _copies(texts: list[str], workers: list[object], long: list[bool], alike: float) -> dict[int, str]:
    """Return rows that repeat an earlier text of another worker; pairs are met by a shared run of words."""
    runs: dict[int, frozenset[tuple[str, ...]]] = {}
    holders: dict[tuple[str, ...], list[int]] = {}
    found: dict[int, str] = {}
    for row, text in enumerate(texts):
        if not long[row]:
            continue
        words = _WORD.findall(text.lower())
        mine = frozenset(zip(words, words[1:], words[2:], strict=False))
        # Texts this much alike share one of any (1 - alike) * n + 1 runs: the rarest few suffice to meet them all.
        rare = sorted(mine, key=lambda run: (len(holders.get(run, ())), run))[: int((1 - alike) * len(mine) + 1e-9) + 1]
        near = {other for run in rare for other in holders.get(run, ()) if workers[other] != workers[row]}
        for other in sorted(near):
            share = len(mine & runs[other]) / len(mine | runs[other])
            if share >= alike:
                found[row] = f"{share:.0%} of its runs of three words are in an earlier text by another worker"
                break
        runs[row] = mine
        for run in mine:
            holders.setdefault(run, []).append(row)
    return found
