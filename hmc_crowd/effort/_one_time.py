"""Which of several submissions tells how long an item takes.

The source's rule: drop submissions that disagree with the agreed label; of the rest keep the one whose worker has the
higher test score; between equal scores choose at random (here with the generator that is passed in, whatever the
order of the rows).

Source: Zhang, Ren, de Rijke (2021), section 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_generator
from hmc_crowd.effort._frames import as_pandas, number_column, require_columns, require_no_missing, require_unique

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OneTime", "one_time_per_item"]


@dataclass(frozen=True, eq=False)
class OneTime:
    """One row per item, and what was dropped on the way.

    Attributes
    ----------
    frame : pandas.DataFrame
        The chosen rows of the submissions, sorted by item.
    n_disagreed : int
        Submissions dropped because their label is not the agreed one.
    n_drawn : int
        Items where equal scores were decided by chance.
    without : tuple
        Items that have no time: nobody gave the agreed label, or there is none.
    """

    frame: pd.DataFrame
    n_disagreed: int
    n_drawn: int
    without: tuple[Any, ...]

    def __str__(self) -> str:
        return (
            f"{len(self.frame):,} items with one time each; {self.n_disagreed:,} submissions disagreed, "
            f"{self.n_drawn:,} ties drawn, {len(self.without):,} items without a time"
        )


def one_time_per_item(
    submissions: Any, agreed: Any, *, rng: np.random.Generator, scores: Mapping[Any, float] | None = None
) -> OneTime:
    """Keep one submission, and so one time, per item.

    Parameters
    ----------
    submissions : table
        ``task, worker, label, seconds`` (``task`` may be a whole dialogue, ``label`` then its label); a worker once
        per task.
    agreed : table or mapping
        The agreed labels: columns ``item, label``, or item -> label.
    rng : numpy.random.Generator
        Decides between workers of equal score.
    scores : mapping, optional
        Worker -> test score; by default the column ``worker_test_score``. An unknown score ranks below every known one.

    Raises
    ------
    FrameError, InputError
        A column is missing, a worker answered a task twice, a time is missing or negative.

    Examples
    --------
    >>> rows = {"task": ["d", "d", "d"], "worker": ["a", "b", "c"], "label": ["x", "x", "y"], "seconds": [50, 70, 9]}
    >>> kept = one_time_per_item(rows, {"d": "x"}, rng=np.random.default_rng(1), scores={"a": 0.9, "b": 1.0, "c": 1.0})
    >>> kept.frame["seconds"].tolist(), kept.n_disagreed
    ([70], 1)
    """
    require_generator(rng)
    import pandas as pd

    table = as_pandas(submissions, name="submissions")
    wanted = ["task", "worker", "label", "seconds", *(["worker_test_score"] if scores is None else [])]
    require_columns(table, wanted, name="submissions")
    require_no_missing(table, ["task", "worker", "label"], name="submissions")
    pairs = pd.Series(list(zip(table["task"], table["worker"], strict=True)), dtype="object")
    require_unique(pairs, name="submissions (task, worker)")
    float_vector(table["seconds"].to_numpy(), name="submissions column seconds", low=0.0, allow_empty=True)
    truth = table["task"].map(agreed_labels(agreed))
    same = (table["label"] == truth).to_numpy()
    score = table["worker"].map(dict(scores)) if scores is not None else table["worker_test_score"]
    points = np.nan_to_num(number_column(score, name="worker test score"), nan=-np.inf)
    # Sorted before the draw, so that the result depends on the generator and not on the order of the rows.
    ready = table.assign(points_=points)[same].sort_values(["task", "worker"], kind="stable")
    best = ready[ready["points_"] == ready.groupby("task")["points_"].transform("max")]
    size = best.groupby("task", sort=True).size().to_numpy()
    start = np.concatenate([[0], np.cumsum(size)[:-1]]).astype(np.int64)
    pick = start + np.array([int(rng.integers(n)) if n > 1 else 0 for n in size], dtype=np.int64)
    kept = best.iloc[pick].drop(columns="points_").reset_index(drop=True)
    left = table["task"][~table["task"].isin(kept["task"])].drop_duplicates()
    known = truth.notna().to_numpy()
    return OneTime(kept, int((known & ~same).sum()), int((size > 1).sum()), tuple(left.tolist()))


def agreed_labels(agreed: Any) -> pd.Series[Any]:
    """Return item -> agreed label."""
    import pandas as pd

    if isinstance(agreed, Mapping) and not {"item", "label"} <= set(agreed):
        return pd.Series(dict(agreed), dtype="object")
    table = as_pandas(agreed, name="agreed")
    require_columns(table, ["item", "label"], name="agreed")
    require_unique(table["item"], name="agreed column item")
    return pd.Series(table["label"].to_numpy(), index=table["item"].to_numpy())
