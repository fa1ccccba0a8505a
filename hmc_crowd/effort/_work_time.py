"""How long did people really work on each answer? One number from three clocks, none of which is taken at its word.

An answer's time runs from being shown to being answered. No second of a worker counts twice, whether HITs were queued
or open in several tabs; the answers of a submission take no longer together than its active time; what is longer than
reading the text would need is cut; and what is then extreme for its kind of work is pulled in. The raw times are never
overwritten, every change is counted, and the same work by the platform's own clock stands beside it. Fast work is work
like any other: nothing here calls it bad.

Source: PLATFORMS.md section 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.effort._clean import clean_times
from hmc_crowd.effort._clocks import HAIR_S, clocks_agree, queued_seconds, reading_allowance, united_seconds
from hmc_crowd.effort._frames import as_pandas, require_columns, require_no_missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["WorkTimes", "clean_work_times"]

_SESSION_GAP_S = 1800.0


@dataclass(frozen=True, eq=False)
class WorkTimes:
    """Cleaned times of answers beside the raw ones.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per answer, in the order given: the input with ``seconds_raw``, ``seconds_clean``, ``time_quality``
        (ok, capped, no_heartbeat, overlap_adjusted or clock_suspect), ``winsorised`` and ``first_of_session``.
    n_capped, n_overlapping, n_suspect, n_winsorised : int
        Answers whose time was cut at the reading allowance, lay over other work of the same person, came with clocks
        that disagree, or was pulled in as extreme.
    n_first : int
        First answers of a session: instructions are read then, so they are winsorised among themselves.
    first_extra_s : float or None
        How much longer the median first answer took than the median other one.
    platform_ratio : float or None
        The platform's clock over the cleaned time, median of submissions: what a plan would cost by that clock.
    """

    frame: pd.DataFrame
    n_capped: int
    n_overlapping: int
    n_suspect: int
    n_winsorised: int
    n_first: int
    first_extra_s: float | None
    platform_ratio: float | None

    def __str__(self) -> str:
        by_platform = (
            ""
            if self.platform_ratio is None
            else f"; by the platform's clock the work took {self.platform_ratio:.2f} times as long"
        )
        return (
            f"{len(self.frame):,} times: {self.n_winsorised:,} winsorised, {self.n_capped:,} cut at the reading "
            f"allowance, {self.n_overlapping:,} overlapped, {self.n_suspect:,} with clocks that disagree{by_platform}"
        )


def clean_work_times(answers: Any, submissions: Any, words: Mapping[str, int]) -> WorkTimes:
    """Turn logged times of answers into times of work.

    Parameters
    ----------
    answers : table
        ``submission_id, worker, task, aspect, started, submitted``; every row with aware times.
    submissions : table
        ``submission_id, accepted_at, submitted_at, platform_elapsed_s, page_elapsed_s, active_s, time_quality``;
        clocks may be missing.
    words : mapping of str to int
        Length of the items' texts, for the reading allowance and the kinds of work that are compared.

    Raises
    ------
    FrameError
        A column is missing, or an answer has no times.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> answers = {"submission_id": ["s", "s"], "worker": ["w", "w"], "task": ["a", "b"], "aspect": ["x", "x"]}
    >>> answers |= {"started": [start, start + timedelta(seconds=20)]}
    >>> answers |= {"submitted": [start + timedelta(seconds=20), start + timedelta(hours=9)]}
    >>> clocks = {"submission_id": ["s"], "accepted_at": [start], "submitted_at": [start + timedelta(hours=9)]}
    >>> clocks |= {"platform_elapsed_s": [32400.0], "page_elapsed_s": [32400.0], "active_s": [80.0]}
    >>> times = clean_work_times(answers, clocks | {"time_quality": ["capped"]}, {"a": 10, "b": 10})
    >>> times.frame["seconds_raw"].tolist(), times.frame["seconds_clean"].tolist()
    ([20.0, 32380.0], [20.0, 60.0])
    """
    table, clocks = as_pandas(answers, name="answers"), as_pandas(submissions, name="submissions")
    keys = ["submission_id", "worker", "task", "aspect", "started", "submitted"]
    require_columns(table, keys, name="answers")
    require_no_missing(table, keys, name="answers")
    require_columns(
        clocks, ["submission_id", "accepted_at", "submitted_at", *_CLOCKS, "time_quality"], name="submissions"
    )
    work = _Work(table, clocks, words)
    frame = table.assign(
        seconds_raw=work.end - work.start, seconds=work.seconds(), first_of_session=work.first_of_session()
    )
    kinds = frame.assign(bin=work.kind())
    cleaned = clean_times(kinds, by=["aspect", "bin", "first_of_session"])
    frame = frame.drop(columns="seconds").assign(
        seconds_clean=cleaned.frame["seconds_clean"].to_numpy(),
        winsorised=cleaned.frame["winsorised"].to_numpy(),
        time_quality=work.quality(),
    )
    return work.summed_up(frame)


_CLOCKS = ("platform_elapsed_s", "page_elapsed_s", "active_s")


class _Work:
    """The answers with the clocks of their submissions, as arrays of seconds."""

    def __init__(self, answers: pd.DataFrame, submissions: pd.DataFrame, words: Mapping[str, int]) -> None:
        import pandas as pd

        clocks = submissions.drop_duplicates("submission_id").set_index("submission_id")
        here = clocks.reindex(answers["submission_id"])
        self.worker = pd.factorize(answers["worker"])[0]
        self.submission = pd.factorize(answers["submission_id"])[0]
        self.start, self.end = (_moments(answers[name]) for name in ("started", "submitted"))
        self.accepted, self.handed_in = (_moments(here[name]) for name in ("accepted_at", "submitted_at"))
        self.platform, self.page, self.active = (here[name].to_numpy(dtype=np.float64) for name in _CLOCKS)
        self.stored = here["time_quality"].fillna("no_heartbeat").to_numpy(dtype=object)
        self.words = answers["task"].map(words).fillna(0).to_numpy(dtype=np.float64)
        self.suspect = ~clocks_agree(self.active, self.page, self.platform) | (self.stored == "clock_suspect")
        # Time does not run backwards, but a clock that was set right does; such work counts as none, and says so.
        self.suspect |= (self.end < self.start) | (self.handed_in < self.accepted)
        self._one = np.unique(self.submission, return_index=True)[1]
        self.by_platform, self.waited = self._by_platform()
        self.overlapping = np.zeros(len(self.start), dtype=bool)
        self.capped = np.zeros(len(self.start), dtype=bool)

    def _by_platform(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the platform's time of each answer's submission, queues taken out."""
        start, end = self.accepted[self._one], self.handed_in[self._one]
        known = np.isfinite(start) & np.isfinite(end)
        seconds, waited = self.platform[self._one].copy(), np.zeros(len(start), dtype=bool)
        seconds[known], waited[known] = queued_seconds(self.worker[self._one][known], start[known], end[known])
        return seconds[self.submission], waited[self.submission]

    def seconds(self) -> NDArray[np.float64]:
        """Return what is left of each answer's time: one after the other, united over tabs, within the bound, cut."""
        # Where all questions stand on one page, each is worked on after the one before was answered.
        spent, _ = queued_seconds(self.submission, self.start, self.end)
        # Without a clock of the page, a submission is known to have begun only when the one before was handed in.
        queued = self.waited & ~np.isfinite(self.page)
        begin = np.where(queued, np.fmax(self.end - spent, self.handed_in - self.by_platform), self.end - spent)
        begin = np.minimum(begin, self.end)
        united, overlapping = united_seconds(self.worker, begin, self.end)
        self.overlapping = overlapping | (queued & (begin > self.end - spent + HAIR_S))
        trusted = np.isfinite(self.active) & ~self.suspect
        fitted = self._within(united, np.where(trusted, self.active, self.by_platform))
        allowed = np.minimum(fitted, reading_allowance(self.words))
        self.capped = allowed < fitted - HAIR_S
        return allowed

    def kind(self) -> NDArray[np.float64]:
        """Return the bin of each text's length: each holds texts up to twice as long as the one before."""
        return np.floor(np.log2(np.maximum(self.words, 1.0)))

    def _within(self, seconds: NDArray[np.float64], bound: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take the time that a submission has too much from the answers that took unusually long for their length.

        An idle gap lies in one answer, not in all of them: what is too much is taken from the most unusual one first,
        down to half of what such a text usually takes.
        """
        import pandas as pd

        readable = pd.Series(np.minimum(seconds, reading_allowance(self.words)))
        usual = readable.groupby(self.kind()).transform("median").to_numpy()
        limit, total = bound[self._one], np.bincount(self.submission, weights=seconds)
        order = np.lexsort((-seconds / np.maximum(usual, HAIR_S), self.submission))
        ends = np.cumsum(np.bincount(self.submission))
        fitted = seconds.copy()
        for which in np.flatnonzero(np.isfinite(limit) & (total > limit + HAIR_S)):
            rows = order[ends[which - 1] if which else 0 : ends[which]]
            spare = np.maximum(seconds[rows] - usual[rows] / 2, 0.0)
            taken = np.clip(total[which] - limit[which] - (np.cumsum(spare) - spare), 0.0, spare)
            left = seconds[rows] - taken
            fitted[rows] = left * min(1.0, limit[which] / max(left.sum(), HAIR_S))
        return fitted

    def first_of_session(self) -> NDArray[np.bool_]:
        """Return which answers come first after a pause of half an hour, or first of all."""
        order = np.lexsort((self.end, self.worker))
        before = np.concatenate([[np.nan], self.end[order][:-1]])
        other = np.concatenate([[True], self.worker[order][1:] != self.worker[order][:-1]])
        first = np.empty(len(order), dtype=bool)
        with np.errstate(invalid="ignore"):
            first[order] = other | (self.start[order] - before > _SESSION_GAP_S)
        return first

    def quality(self) -> NDArray[np.object_]:
        """Return the gravest thing that was found about each answer's time."""
        found = np.where(self.capped & (self.stored == "ok"), "capped", self.stored)
        found = np.where(self.overlapping, "overlap_adjusted", found)
        return np.where(self.suspect, "clock_suspect", found).astype(object)

    def summed_up(self, frame: pd.DataFrame) -> WorkTimes:
        """Count what was done."""
        clean, first = frame["seconds_clean"].to_numpy(), frame["first_of_session"].to_numpy()
        total = np.bincount(self.submission, weights=clean)
        platform = self.by_platform[self._one]
        known = np.isfinite(platform) & (total > 0)
        both = first.any() and not first.all()
        return WorkTimes(
            frame=frame,
            n_capped=int(self.capped.sum()),
            n_overlapping=int(self.overlapping.sum()),
            n_suspect=int(self.suspect.sum()),
            n_winsorised=int(frame["winsorised"].sum()),
            n_first=int(first.sum()),
            first_extra_s=float(np.median(clean[first]) - np.median(clean[~first])) if both else None,
            platform_ratio=float(np.median(platform[known] / total[known])) if known.any() else None,
        )


def _moments(values: Any) -> NDArray[np.float64]:
    """Return aware times as seconds; NaN where missing."""
    import pandas as pd

    series = pd.to_datetime(pd.Series(values), utc=True).astype("datetime64[us, UTC]")
    seconds = series.astype("int64").to_numpy(dtype=np.float64) / 1e6
    return np.where(series.isna().to_numpy(), np.nan, seconds)
