"""The batch file that MTurk's requester site gives out, as answers.

Who answered what in a batch that ran there? One row of the file is one submission: ``Input.*`` columns hold what was
shown, ``Answer.*`` columns what was said. Guarantee: every cell of an answer column becomes an answer, or is counted as
left out; a rate without any judged work is unknown, not bad.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.money import parse_money
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.io._read import read_frame

if TYPE_CHECKING:
    import os

    from hmc_crowd.io._read import Loaded

__all__ = ["MTurkBatch", "read_mturk_batch"]

_NEEDED = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus")
_TIME = re.compile(r"[A-Z][a-z]{2} ([A-Z][a-z]{2} \d{1,2} \d{2}:\d{2}:\d{2}) ([A-Z]{3,4}) (\d{4})")
# MTurk writes Pacific time; the others are what its files hold besides.
_HOURS = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4}
_RATE = re.compile(r"(\d+)% \((\d+)/(\d+)\)")
_NUMBERED = re.compile(r"(.*?)[._-]?(\d+)")
_RATES = {"lifetime": "LifetimeApprovalRate", "days_30": "Last30DaysApprovalRate", "days_7": "Last7DaysApprovalRate"}


@dataclass(frozen=True)
class MTurkBatch:
    """What a batch file holds.

    Parameters
    ----------
    answers : pandas.DataFrame
        ``task, worker, label, aspect, started, submitted, seconds, submission, hit``; ``aspect`` is there only if a
        submission answers several questions. Times are aware UTC.
    submissions : pandas.DataFrame
        One row each: ``submission, hit, worker, status, started, submitted, seconds, reward_minor`` (US cents), and of
        the worker ``lifetime_approved, lifetime_judged, lifetime_rate`` and the same for ``days_30`` and ``days_7``. A
        rate is missing where nothing was judged ('0% (0/0)').
    inputs : pandas.DataFrame
        What was shown: ``hit`` and the ``Input.*`` columns without their prefix, one row per HIT.
    rejected, empty : int
        Answers left out because their submission was rejected, or because the cell is empty.

    See Also
    --------
    read_mturk_batch : Reads one.
    """

    answers: pd.DataFrame
    submissions: pd.DataFrame
    inputs: pd.DataFrame
    rejected: int
    empty: int

    def __str__(self) -> str:
        return (
            f"{len(self.answers):,} answers from {len(self.submissions):,} submissions to {len(self.inputs):,} HITs "
            f"({self.rejected:,} of rejected submissions and {self.empty:,} empty ones left out)"
        )


def read_mturk_batch(
    path: str | os.PathLike[str], *, item: str | None = None, keep_rejected: bool = False
) -> MTurkBatch:
    """Read the results file of an MTurk batch.

    Parameters
    ----------
    path : path
        The CSV file as downloaded.
    item : str, optional
        Which input names the item, without ``Input.``. A HIT with several items has numbered columns, such as
        ``Input.item_1`` with ``Answer.label_1``: give the part without the number. Default: the only input, or one
        called ``item``, ``item_id`` or ``id`` (numbered or not), else the HIT itself is the item.
    keep_rejected : bool, default False
        Take answers of rejected submissions too; they are counted otherwise.

    Returns
    -------
    MTurkBatch
        Its ``answers`` go straight into `hmc_crowd.aggregation`.

    Raises
    ------
    FrameError
        It is no batch file, has no answers, or a time, a rate or an item cannot be read; the message names the lines.
    InputError
        ``item`` names no input.

    Notes
    -----
    Radio buttons of ``crowd-form`` come as one column per choice with true or false: where no submission has two of
    them true they become one answer, the choice.
    """
    loaded = read_frame(path, kind=None)
    frame = loaded.frame.rename(columns=lambda name: str(name).strip())
    missing = [name for name in _NEEDED if name not in frame]
    if missing:
        raise FrameError(
            f"{path} lacks the column {', '.join(missing)} of an MTurk batch file; download the results again"
        )
    said = {str(n).removeprefix("Answer."): frame[n] for n in frame.columns if str(n).startswith("Answer.")}
    if not said:
        raise FrameError(f"{path} has no Answer.* column, so nobody has answered yet; download the results later")
    submissions = _submissions(frame, loaded)
    shown = frame[[name for name in frame.columns if str(name).startswith("Input.")]]
    shown = shown.rename(columns=lambda name: str(name).removeprefix("Input."))
    stem = _item_stem(list(shown.columns), item)
    parts = [
        pd.DataFrame({"task": _task(stem, name, shown, frame, loaded), "aspect": aspect, "label": column})
        for name, aspect, column in _questions(said, stem, list(shown.columns))
    ]
    answers, rejected, empty = _long(parts, submissions, keep_rejected=keep_rejected)
    inputs = shown.assign(hit=frame["HITId"]).drop_duplicates("hit").reset_index(drop=True)
    return MTurkBatch(answers, submissions, inputs[["hit", *shown.columns]], rejected, empty)


def _submissions(frame: pd.DataFrame, loaded: Loaded) -> pd.DataFrame:
    given = pd.DataFrame(
        {
            "submission": frame["AssignmentId"],
            "hit": frame["HITId"],
            "worker": frame["WorkerId"],
            "status": frame["AssignmentStatus"].str.lower(),
            "started": _times(frame, "AcceptTime", loaded),
            "submitted": _times(frame, "SubmitTime", loaded),
            "seconds": pd.to_numeric(_column(frame, "WorkTimeInSeconds"), errors="coerce"),
            "reward_minor": _rewards(_column(frame, "Reward")),
        }
    )
    for name in ("submission", "hit", "worker"):
        blank = given[name].isna() | given[name].str.strip().eq("")
        if blank.any():
            raise FrameError(
                f"{loaded.where.name}: no {name} in {loaded.rows(blank.to_numpy(dtype=bool))}; download again"
            )
    twice = given["submission"].duplicated().to_numpy()
    if twice.any():
        raise FrameError(f"{loaded.where.name}: a submission stands twice, again in {loaded.rows(twice)}; keep one row")
    for name, column in _RATES.items():
        given = pd.concat([given, _rates(_column(frame, column), name, column, loaded)], axis=1)
    return given


def _column(frame: pd.DataFrame, name: str) -> pd.Series[Any]:
    return frame[name] if name in frame else pd.Series([""] * len(frame), dtype=object)


def _rewards(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Return rewards in US cents, missing where the file has none."""
    minor = [
        parse_money(cell, currency="USD", name="Reward").minor if cell.strip() else None for cell in cells.fillna("")
    ]
    return pd.Series(minor, dtype="Int64")


def _times(frame: pd.DataFrame, name: str, loaded: Loaded) -> pd.Series[Any]:
    cells = _column(frame, name).fillna("").tolist()
    times = [_time(cell.strip()) if cell.strip() else None for cell in cells]
    wrong = np.array([time is None and bool(cell.strip()) for time, cell in zip(times, cells, strict=True)])
    if wrong.any():
        raise FrameError(
            f"{loaded.where.name}: {name} is no time such as 'Mon Nov 04 22:15:19 PST 2019' (zones: "
            f"{', '.join(_HOURS)}): {loaded.rows(wrong, cells)}; correct these cells"
        )
    return pd.Series(pd.to_datetime(pd.Series(times, dtype=object), utc=True).astype("datetime64[us, UTC]"))


def _time(cell: str) -> datetime | None:
    """Return an aware UTC time, or None for what is none."""
    found = _TIME.fullmatch(re.sub(r"\s+", " ", cell))
    try:
        if found is None:
            return datetime.fromisoformat(cell).astimezone(UTC) if re.search(r"([Zz]|[+-]\d\d:?\d\d)$", cell) else None
        if found[2] not in _HOURS:
            return None
        zone = timezone(timedelta(hours=_HOURS[found[2]]))
        return datetime.strptime(f"{found[1]} {found[3]}", "%b %d %H:%M:%S %Y").replace(tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _rates(cells: pd.Series[Any], name: str, column: str, loaded: Loaded) -> pd.DataFrame:
    found = [_RATE.fullmatch(cell.strip()) for cell in cells.fillna("")]
    wrong = np.array(
        [match is None and bool(cell.strip()) for match, cell in zip(found, cells.fillna(""), strict=True)]
    )
    if wrong.any():
        raise FrameError(
            f"{loaded.where.name}: {column} is no rate such as '57% (12/21)': {loaded.rows(wrong, cells.tolist())}; "
            "correct these cells"
        )
    approved = np.array([np.nan if match is None else float(match[2]) for match in found])
    judged = np.array([np.nan if match is None else float(match[3]) for match in found])
    rate = np.divide(approved, judged, out=np.full(len(found), np.nan), where=judged > 0)
    return pd.DataFrame({f"{name}_approved": approved, f"{name}_judged": judged, f"{name}_rate": rate})


def _item_stem(inputs: list[str], item: str | None) -> str | None:
    """Return the name of the input that names the item, None where the HIT does."""
    plain = set(inputs) | {found[1] for name in inputs if (found := _NUMBERED.fullmatch(name))}
    if item is not None:
        if item.removeprefix("Input.") not in plain:
            raise InputError(
                f"item is {item!r}; choose one of the inputs {', '.join(sorted(plain)) or '(there are none)'}"
            )
        return item.removeprefix("Input.")
    if len(inputs) == 1:
        return inputs[0]
    return next((name for name in ("item", "item_id", "itemid", "id") if name in plain), None)


def _questions(
    said: dict[str, pd.Series[Any]], stem: str | None, inputs: list[str]
) -> list[tuple[str, str, pd.Series[Any]]]:
    """Return (column, aspect, labels) of each question, choices of one radio group joined."""
    questions: dict[str, pd.Series[Any]] = {}
    groups: dict[str, dict[str, pd.Series[Any]]] = {}
    for name, column in said.items():
        group, dot, choice = name.rpartition(".")
        if dot and column.fillna("").str.strip().str.lower().isin(["true", "false", ""]).all():
            groups.setdefault(group, {})[choice] = column.fillna("").str.strip().str.lower().eq("true")
        else:
            questions[name] = column
    for group, choices in groups.items():
        table = pd.DataFrame(choices)
        if len(choices) > 1 and bool((table.sum(axis=1) <= 1).all()):
            questions[group] = table.idxmax(axis=1).where(table.any(axis=1), None)
        else:
            questions |= {f"{group}.{choice}": said[f"{group}.{choice}"] for choice in choices}
    numbered = stem is not None and stem not in inputs
    found = [(name, _NUMBERED.fullmatch(name)) for name in questions]
    return [(name, match[1] if numbered and match else name, questions[name]) for name, match in found]


def _task(stem: str | None, name: str, shown: pd.DataFrame, frame: pd.DataFrame, loaded: Loaded) -> pd.Series[Any]:
    """Return the item that an answer column is about, per row."""
    if stem is None:
        return frame["HITId"]
    task = shown.get(stem)
    if task is None:
        number = _NUMBERED.fullmatch(name)
        fits = [n for n in shown if (m := _NUMBERED.fullmatch(str(n))) and number and (m[1], m[2]) == (stem, number[2])]
        if not fits:
            raise InputError(
                f"Answer.{name} has no input {stem!r} with its number; name another item, or rename the column"
            )
        task = shown[fits[0]]
    blank = (task.isna() | task.str.strip().eq("")).to_numpy(dtype=bool)
    if blank.any():
        raise FrameError(f"{loaded.where.name}: the item is empty in {loaded.rows(blank)}; fill in Input.{stem}")
    return task


def _long(
    parts: list[pd.DataFrame], submissions: pd.DataFrame, *, keep_rejected: bool
) -> tuple[pd.DataFrame, int, int]:
    """Return the answers one below the other, and how many were left out as rejected or empty."""
    columns = ["worker", "started", "submitted", "seconds", "submission", "hit"]
    joined = pd.concat([pd.concat([part, submissions[[*columns, "status"]]], axis=1) for part in parts])
    empty = joined["label"].isna() | joined["label"].astype(object).map(lambda cell: str(cell).strip() == "")
    rejected = joined["status"].eq("rejected") & ~empty
    taken = joined[~empty] if keep_rejected else joined[~empty & ~rejected]
    several = taken["aspect"].nunique() > 1
    order = ["task", "worker", "label", *(["aspect"] if several else []), *columns[1:]]
    left_out = 0 if keep_rejected else int(rejected.sum())
    return taken[order].reset_index(drop=True), left_out, int(empty.sum())
