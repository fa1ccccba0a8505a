"""The submissions file that Prolific gives out, and answers joined to it.

Who took part, when, and how did it end? Prolific does not hold the answers: they lie with the survey, which knows
people by their participant or submission id. `ProlificExport.join` gives such answers their times and status.

Guarantee: personal details (age, sex, nationality and all other columns that a researcher may have asked for) are not
read unless they are named; which were there is listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.io._read import read_frame

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from hmc_crowd.io._read import Loaded

__all__ = ["ProlificExport", "read_prolific_export"]

# Headers of now and of before 2022.
_NAMES = {
    "submission": ("Submission id", "session_id"),
    "worker": ("Participant id", "participant_id"),
    "status": ("Status", "status"),
    "started": ("Started at", "started_datetime"),
    "submitted": ("Completed at", "completed_date_time"),
    "seconds": ("Time taken", "time_taken"),
    "completion_code": ("Completion code", "entered_code"),
    "approvals": ("Total approvals", "num_approvals"),
}
_NOT_PERSONAL = {
    "Reviewed at", "Archived at", "reviewed_at_datetime", "archived_datetime", "Custom study tncs accepted at",
    "num_rejections", "prolific_score",
}  # fmt: skip
# What stands in cells of people who withdrew, or whose details are too old.
_WITHDRAWN = {"CONSENT_REVOKED", "DATA_EXPIRED"}
_LEFT_OUT = ("returned", "timed-out", "rejected", "screened out")


@dataclass(frozen=True)
class ProlificExport:
    """What a submissions file holds.

    Parameters
    ----------
    submissions : pandas.DataFrame
        ``submission, worker, status, started, submitted, seconds, completion_code, approvals``, and the details that
        were asked for. Status is in small letters, times are aware UTC.
    details_left_out : tuple of str
        Columns with personal details that are in the file and were not read.
    withdrawn : int
        Submissions of people who revoked their consent: they are not in ``submissions``.
    """

    submissions: pd.DataFrame
    details_left_out: tuple[str, ...]
    withdrawn: int

    def join(self, answers: pd.DataFrame, *, leave_out: Sequence[str] = _LEFT_OUT) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Give answers from a survey their times and status.

        Parameters
        ----------
        answers : pandas.DataFrame
            ``task, worker, label`` and, if a worker may take part twice, ``submission``.
        leave_out : sequence of str
            Statuses whose answers do not count: by default returned, timed-out, rejected and screened out.

        Returns
        -------
        kept, left_out : pandas.DataFrame
            The answers with ``started, submitted, seconds, status``; and those left out, with the reason in ``status``
            ('unknown' for a worker or submission that the file does not have).

        Raises
        ------
        FrameError
            ``answers`` has neither a worker nor a submission, or a worker has several submissions and ``submission`` is
            missing.
        """
        key = "submission" if "submission" in answers.columns else "worker"
        if key not in answers.columns:
            raise FrameError("answers has neither the column submission nor worker; add one as Prolific names them")
        twice = self.submissions[key][self.submissions[key].duplicated()]
        if len(twice) and twice.isin(answers[key]).any():
            raise FrameError(
                f"worker {twice.iloc[0]!r} has several submissions; add the column submission to answers to tell them "
                "apart"
            )
        known = self.submissions.drop_duplicates(key).set_index(key)[["started", "submitted", "seconds", "status"]]
        there = answers.drop(columns=[name for name in known.columns if name in answers.columns])
        joined = there.join(known, on=key)
        joined["status"] = joined["status"].astype(object).where(joined["status"].notna(), "unknown")
        out = joined["status"].isin([*(status.lower() for status in leave_out), "unknown"])
        return joined[~out].reset_index(drop=True), joined[out].reset_index(drop=True)

    def __str__(self) -> str:
        statuses = ", ".join(f"{n:,} {name}" for name, n in self.submissions["status"].value_counts().items())
        return f"{len(self.submissions):,} submissions ({statuses}); {self.withdrawn:,} withdrawn"


def read_prolific_export(path: str | os.PathLike[str], *, details: Sequence[str] = ()) -> ProlificExport:
    """Read the submissions ('demographic data') file of a Prolific study.

    Parameters
    ----------
    path : path
        The CSV file as downloaded; headers of before 2022 are known too.
    details : sequence of str, default ()
        Columns with personal details to take along, by their header.

    Returns
    -------
    ProlificExport
        Its ``join`` completes the answers of a survey.

    Raises
    ------
    FrameError
        It is no such file, or a time or duration cannot be read; the message names the lines.
    InputError
        ``details`` names a column that is not there.

    Notes
    -----
    Prolific writes times in UTC, in older files without saying so; they are taken as UTC.
    """
    if isinstance(details, str):
        raise InputError(f"details is the text {details!r}; give a list of column names")
    loaded = read_frame(path, kind=None)
    frame = loaded.frame.rename(columns=lambda name: str(name).strip())
    found = {ours: next((name for name in names if name in frame), None) for ours, names in _NAMES.items()}
    missing = [_NAMES[ours][0] for ours in ("submission", "worker", "status") if found[ours] is None]
    if missing:
        raise FrameError(f"{path} lacks the column {', '.join(missing)} of a Prolific export; download it again")
    unknown = [name for name in details if name not in frame]
    if unknown:
        raise InputError(
            f"details names {unknown[0]!r}, which {path} does not have; it has: {', '.join(frame.columns)}"
        )
    columns: dict[str, Any] = {ours: _text(frame[name]) for ours, name in found.items() if name is not None}
    withdrawn = columns["worker"].isin(_WITHDRAWN) | columns["status"].isin(_WITHDRAWN)
    for name in ("started", "submitted"):
        if name in columns:
            columns[name] = _times(columns[name], str(found[name]), loaded)
    for name in ("seconds", "approvals"):
        if name in columns:
            columns[name] = _numbers(columns[name], str(found[name]), loaded)
    columns["status"] = columns["status"].str.lower()
    given = pd.DataFrame(columns | {name: _text(frame[name]) for name in details})[~withdrawn].reset_index(drop=True)
    for name in ("submission", "worker"):
        blank = given[name].eq("").to_numpy(dtype=bool)
        if blank.any():
            raise FrameError(f"{path}: no {name} in {int(blank.sum())} rows; download the file again")
    taken = {name for name in found.values() if name is not None} | set(details) | _NOT_PERSONAL
    left = tuple(name for name in frame.columns if name not in taken)
    return ProlificExport(given, left, int(withdrawn.sum()))


def _text(cells: pd.Series[Any]) -> pd.Series[Any]:
    return cells.astype(object).where(cells.notna(), "").astype(str).str.strip()


def _gone(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Return the cells without those that say that there is nothing to say."""
    return cells.where(~cells.isin([*_WITHDRAWN, ""]), None)


def _times(cells: pd.Series[Any], name: str, loaded: Loaded) -> pd.Series[Any]:
    written = _gone(cells)
    times = pd.to_datetime(written, utc=True, format="ISO8601", errors="coerce")
    wrong = (written.notna() & times.isna()).to_numpy(dtype=bool)
    if wrong.any():
        raise FrameError(
            f"{loaded.where.name}: {name} is no time such as 2026-01-31T12:00:00Z: "
            f"{loaded.rows(wrong, cells.tolist())}; correct these cells"
        )
    return pd.Series(times.astype("datetime64[us, UTC]"))


def _numbers(cells: pd.Series[Any], name: str, loaded: Loaded) -> pd.Series[Any]:
    written = _gone(cells)
    numbers = pd.to_numeric(written, errors="coerce").astype(np.float64)
    wrong = (written.notna() & numbers.isna()).to_numpy(dtype=bool)
    if wrong.any():
        raise FrameError(
            f"{loaded.where.name}: {name} is no number: {loaded.rows(wrong, cells.tolist())}; correct these cells"
        )
    return pd.Series(numbers)
