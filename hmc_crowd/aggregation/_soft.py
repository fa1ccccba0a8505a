"""Labels that stay plural.

How do people divide over a label, and do groups of people divide differently? And which tasks divide them?

Guarantee: a distribution adds up to 1, counts every worker once, and with few answers leans to the distribution over
all tasks (of the same group) by ``strength`` answers; 0 gives plain shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._base import require_room
from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._names import coded as place_in
from hmc_crowd.aggregation._vote_base import require_positive
from hmc_crowd.errors import FrameError, StateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hmc_crowd.aggregation._codes import Repeats

__all__ = ["soft_labels", "task_difficulty"]


def soft_labels(
    answers: pd.DataFrame,
    *,
    groups: pd.Series[Any] | Mapping[Any, Any] | None = None,
    strength: float = 1.0,
    labels: Iterable[Any] | None = None,
    repeats: Repeats = "latest",
) -> pd.DataFrame:
    """Return the distribution of labels per task, for all workers or by group of workers.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label`` and optionally ``submitted``.
    groups : pandas.Series or mapping, optional
        Group of each worker; workers of no group are in the group "unknown".
    strength : float, default 1.0
        Answers that the overall distribution counts for.
    labels, repeats
        As in ``fit``.

    Returns
    -------
    pandas.DataFrame
        One row per task, or per task and group that answered it: ``task[, group], n_answers, entropy`` (0 to 1), and
        ``p_<label>``.

    Examples
    --------
    >>> answers = pd.DataFrame({"task": "a", "worker": ["u", "v", "w"], "label": ["x", "y", "x"]})
    >>> found = soft_labels(answers, groups={"u": "old", "w": "old", "v": "young"}, strength=0)
    >>> found[["group", "p_x"]].to_numpy().tolist()
    [['old', 1.0], ['young', 0.0]]
    """
    strength = require_positive(strength, name="strength")
    coded = encode(answers, labels=None if labels is None else list(labels), repeats=repeats)
    k, n_tasks = len(coded.labels), len(coded.tasks)
    if groups is None:
        names, member = pd.Index(["all"]), np.zeros(len(coded.workers), dtype=np.intp)
    else:
        table = groups if isinstance(groups, pd.Series) else pd.Series(dict(groups))
        if not table.index.is_unique:
            raise FrameError(f"groups names worker {table.index[table.index.duplicated()][0]!r} twice; keep one group")
        place = place_in(pd.Index(table.index), coded.workers)
        named = [table.iloc[one] if one >= 0 else None for one in place.tolist()]
        text = ["unknown" if one is None or pd.isna(one) else str(one) for one in named]
        names = pd.Index(sorted(set(text)))
        member = np.asarray(names.get_indexer(pd.Index(text)), dtype=np.intp)
    shape = f"{n_tasks:,} tasks x {len(names):,} groups x {k:,} labels"
    require_room("soft_labels", cells=n_tasks * len(names) * k, shape=shape)
    cell = (coded.task * len(names) + member[coded.worker]) * k + coded.label
    counts = np.bincount(cell, minlength=n_tasks * len(names) * k).reshape(-1, k).astype(float)
    overall = counts.reshape(n_tasks, len(names), k).sum(axis=0)
    overall = (overall / np.maximum(overall.sum(axis=1, keepdims=True), 1.0))[np.arange(len(counts)) % len(names)]
    n = counts.sum(axis=1)
    rows = np.flatnonzero(n > 0)
    shares = (counts[rows] + strength * overall[rows]) / (n[rows] + strength)[:, None]
    logs = np.log(np.where(shares > 0, shares, 1.0))
    entropy = -(shares * logs).sum(axis=1) / np.log(k) if k > 1 else np.zeros(len(rows))
    frame = pd.DataFrame({"task": coded.tasks.take(rows // len(names))})
    if groups is not None:
        frame["group"] = names.take(rows % len(names)).to_numpy()
    frame["n_answers"] = n[rows].astype(int)
    frame["entropy"] = np.clip(entropy, 0.0, 1.0)
    return pd.concat([frame, pd.DataFrame(shares, columns=[f"p_{label}" for label in coded.labels])], axis=1)


def task_difficulty(answers: pd.DataFrame, model: Any, *, strength: float = 2.0) -> pd.Series[float]:
    """Return how often answers to each task are wrong, as the model sees it, in [0, 1].

    The expected share of wrong answers under the posterior, pulled to the mean of all tasks by ``strength`` answers.
    Tasks of ``answers`` that the model has not seen are left out.

    Examples
    --------
    >>> from hmc_crowd.aggregation import MajorityVote
    >>> rows = [("a", "u", 1), ("a", "v", 1), ("a", "w", 0), ("b", "u", 0), ("b", "v", 0), ("b", "w", 0)]
    >>> answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> found = task_difficulty(answers, MajorityVote().fit(answers))
    >>> bool(found["a"] > found["b"])
    True
    """
    posterior = getattr(model, "probabilities_", None)
    if not isinstance(posterior, pd.DataFrame):
        raise StateError("the model is not fitted; call its fit first")
    strength = require_positive(strength, name="strength")
    coded = encode(answers, labels=posterior.columns, repeats=getattr(model, "repeats", "latest"))
    place = place_in(pd.Index(posterior.index), coded.tasks)
    known = place >= 0
    inside = known[coded.task]
    right = posterior.to_numpy()[place[coded.task[inside]], coded.label[inside]]
    wrong = np.bincount(coded.task[inside], weights=1 - right, minlength=len(coded.tasks))
    n = np.bincount(coded.task[inside], minlength=len(coded.tasks))
    mean = wrong.sum() / max(n.sum(), 1)
    value = (wrong + strength * mean) / np.maximum(n + strength, 1e-300)
    return pd.Series(value[known], index=coded.tasks[known].rename("task"), name="difficulty")
