"""Right or wrong, and when we knew: answers to gold, and agreement with the others' consensus, in one form.

A check is dated by the moment at which it could be made, so that whatever is computed from the checks before an
instant has seen nothing of what came later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows
from hmc_crowd.aggregation._codes import encode  # because repeated and missing answers follow one rule
from hmc_crowd.aggregation._gold import gold_table  # because gold is read in one way
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._matching import require_one_kind, same_labels
from hmc_crowd.quality._votes import count_votes, votes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import Repeats  # because repeated answers follow one rule
    from hmc_crowd.quality._votes import Votes

__all__ = ["agreement_checks", "check_table", "gold_checks", "last_checks", "require_columns"]


def gold_checks(answers: pd.DataFrame, gold: Any) -> pd.DataFrame:
    """Return each answer to gold as a check, dated by its submission.

    Parameters
    ----------
    answers : pandas.DataFrame
        ``task, worker, label, submitted``.
    gold : pandas.DataFrame, pandas.Series or mapping
        Known labels.

    Returns
    -------
    pandas.DataFrame
        ``worker, task, right, at``, in order of time; answers without a label are left out.

    Examples
    --------
    >>> times = pd.date_range("2026-01-05", periods=2, tz="UTC")
    >>> answers = pd.DataFrame({"task": ["g1", "g2"], "worker": "ann", "label": ["yes", "no"], "submitted": times})
    >>> gold_checks(answers, {"g1": "yes", "g2": "yes"})["right"].tolist()
    [True, False]
    """
    known = gold_table(gold) if gold is not None else pd.Series(dtype=object)
    if len(known) == 0:
        raise InputError("gold is empty; give at least one item with a known label, or watch agreement_checks alone")
    require_columns(answers, ["task", "worker", "label", "submitted"], name="answers")
    _require_aware(answers)
    require_one_kind(known.index, answers["task"], name="the items of gold and answers.task")
    used = answers[answers["label"].notna() & answers["task"].isin(known.index)]
    right = same_labels(used["label"], known.reindex(used["task"]))
    return check_table(
        pd.DataFrame(
            {
                "worker": used["worker"].to_numpy(),
                "task": used["task"].to_numpy(),
                "right": right,
                "at": used["submitted"].array,
            }
        )
    )


def agreement_checks(
    answers: pd.DataFrame, *, least_others: int = 2, repeats: Repeats = "latest", as_it_came: bool = False
) -> pd.DataFrame:
    """Return for each answer whether it is what most of the *other* workers say.

    Parameters
    ----------
    answers : pandas.DataFrame
        ``task, worker, label`` and optionally ``submitted``; gold and other items together.
    least_others : int, default 2
        Other answers that a task needs to say anything.
    repeats : {"latest", "refuse"}, default "latest"
    as_it_came : bool, default False
        Check each answer once, at the first moment at which enough others had answered and were not tied, by what they
        had said until then; a worker's first answer counts. What comes later changes no check, which is what watching
        needs: who looks every day sees the history that he saw before. Needs ``submitted``.

    Returns
    -------
    pandas.DataFrame
        ``worker, task, right`` and, with ``submitted``, ``at``: the last submission of the task, since the others'
        answers were not known before, or, as it came, the moment of the check, with ``others``, how many had answered
        by then (two who agree are another measure than ten of whom most do: see `check_ease`). Tasks where the others
        are tied say nothing and are left out.

    Examples
    --------
    >>> rows = [("a", "ann", 1), ("a", "bob", 1), ("a", "cy", 0), ("b", "ann", 1)]
    >>> checks = agreement_checks(pd.DataFrame(rows, columns=["task", "worker", "label"]))
    >>> checks[["worker", "right"]].to_dict("records")  # without cy, ann and bob agree; without ann it is 1 against 1
    [{'worker': 'cy', 'right': False}]
    """
    if isinstance(least_others, bool) or least_others < 1:
        raise InputError(f"least_others is {least_others!r}; give a whole number of at least 1")
    if repeats == "all":
        raise InputError("repeats is 'all', which would compare workers with themselves; choose 'latest' or 'refuse'")
    if as_it_came:
        return _as_it_came(answers, least_others)
    coded = encode(answers, repeats=repeats)
    ahead = _lead_among_others(coded.task, count_votes(coded), len(coded.tasks))
    says = (coded.n_answers[coded.task] > least_others) & (ahead != 0)
    task, worker = coded.task[says], coded.worker[says]
    made = pd.DataFrame({"worker": coded.workers[worker], "task": coded.tasks[task], "right": ahead[says] > 0})
    if "submitted" not in answers.columns:
        return made
    _require_aware(answers)
    last = answers.groupby("task")["submitted"].max()
    return check_table(made.assign(at=last.reindex(made["task"]).array))


def _as_it_came(answers: pd.DataFrame, least_others: int) -> pd.DataFrame:
    require_columns(answers, ["task", "worker", "label", "submitted"], name="answers")
    _require_aware(answers)
    rows = answers[answers["label"].notna() & answers["submitted"].notna()].sort_values("submitted", kind="stable")
    rows = rows.drop_duplicates(["task", "worker"])
    place = rows.groupby("task").cumcount().to_numpy()
    task, tasks = pd.factorize(rows["task"])
    label, labels = pd.factorize(rows["label"])
    lead, others = (np.zeros(len(rows), dtype=np.intp) for _ in range(2))
    at = rows["submitted"].to_numpy(dtype="datetime64[us]", copy=True)
    for last in range(least_others, int(place.max(initial=-1)) + 1):
        # The state of each task when its answer number `last` came; whoever is not checked yet may be now.
        moment = np.full(len(tasks), np.datetime64("NaT", "us"))
        moment[task[place == last]] = at[place == last]
        there = np.flatnonzero((place <= last) & ~np.isnat(moment[task]))
        said = _lead_among_others(task[there], votes_of(task[there], label[there], len(labels)), len(tasks))
        new = (lead[there] == 0) & (said != 0)
        lead[there[new]], others[there[new]] = said[new], last
        at[there[new]] = moment[task[there[new]]]
    checked = lead != 0
    made = rows.loc[checked, ["worker", "task"]].reset_index(drop=True)
    made = made.assign(right=lead[checked] > 0, others=others[checked])
    return check_table(made.assign(at=pd.DatetimeIndex(at[checked]).tz_localize("UTC")))


def _lead_among_others(task: NDArray[np.intp], votes: Votes, n_tasks: int) -> NDArray[np.intp]:
    """Return of each answer whether its label leads among the *other* answers (1), another one does (-1), or none."""
    own = votes.count[votes.of_answer]
    first, second, third = (votes.highest(n_tasks, place)[task] for place in range(3))
    # The two largest of the other labels: what is left of the first three when this label is taken out.
    best = np.where(own == first, second, first)
    next_best = np.where((own == first) | (own == second), third, second)
    return np.where(own - 1 > best, 1, np.where((own - 1 < best) & (best > next_best), -1, 0)).astype(np.intp)


def check_table(checks: Any) -> pd.DataFrame:
    """Return checks with true booleans and aware times, in order of time."""
    if not isinstance(checks, pd.DataFrame):
        raise FrameError(f"checks is a {type(checks).__name__}; give a frame worker, right, at")
    require_columns(checks, ["worker", "right", "at"], name="checks")
    missing = checks[["worker", "right", "at"]].isna().any(axis=1).to_numpy()
    if missing.any():
        raise FrameError(f"checks misses a worker, a result or a time in {first_rows(missing)}; drop these rows")
    right = checks["right"].to_numpy()
    odd = ~np.isin(right, (True, False)) if len(right) else np.zeros(0, dtype=bool)
    if odd.any():
        raise FrameError(f"checks.right must be true or false, not so in {first_rows(odd, right)}; correct these rows")
    if len(checks) and getattr(checks["at"].dtype, "tz", None) is None:
        raise FrameError("checks.at has no time zone; pass aware times, for example pd.to_datetime(times, utc=True)")
    table = checks.assign(right=right.astype(bool), at=pd.to_datetime(checks["at"], utc=True))
    return table.sort_values("at", kind="stable", ignore_index=True)


def last_checks(checks: pd.DataFrame, window: int) -> pd.DataFrame:
    """Return each worker's last ``window`` checks, in order of time."""
    if isinstance(window, bool) or window < 1:
        raise InputError(f"window is {window!r}; give a whole number of at least 1")
    return checks.groupby("worker", sort=True).tail(window)


def _require_aware(answers: pd.DataFrame) -> None:
    if len(answers) and getattr(answers["submitted"].dtype, "tz", None) is None:
        raise FrameError(
            "answers.submitted has no time zone; pass aware times, such as pd.to_datetime(times, utc=True)"
        )


def require_columns(frame: pd.DataFrame, columns: Sequence[str], *, name: str) -> None:
    """Refuse a frame without these columns."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise FrameError(f"{name} lacks the column {', '.join(missing)}; it has {', '.join(map(str, frame.columns))}")
