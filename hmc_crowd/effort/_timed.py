"""Features of every timed submission, as they were known when it was made.

One row is one worker's sitting with one dialogue: the dialogue's features, whether it was this worker's first
submission, and the worker's features as of the moment the work was begun. A model trained on these rows has seen
nothing that came later.

Source: Zhang, Ren, de Rijke (2021), section 3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.effort._dialogue import FeatureTable
from hmc_crowd.effort._frames import as_pandas, require_columns, require_no_missing
from hmc_crowd.effort._groups import DIALOGUE_FEATURES, WORKER_FEATURES
from hmc_crowd.effort._worker import first_submissions, worker_features
from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["submission_features"]


def submission_features(
    submissions: Any,
    dialogues: FeatureTable | pd.DataFrame,
    *,
    gold_checks: Any = None,
    reviews: Any = None,
    ranking: str = "past",
) -> pd.DataFrame:
    """Join dialogue features and worker features to submissions.

    Parameters
    ----------
    submissions : table
        One row per worker and dialogue: ``group, worker``, an aware time ``started`` or ``submitted``, and whatever
        else is to be kept, such as ``seconds``.
    dialogues : FeatureTable or table
        Features per group, as `dialogue_features` and `text_dialogue_features` make them.
    gold_checks, reviews, ranking
        As in `worker_features`; known as of ``started`` (of ``submitted`` where that is missing).

    Returns
    -------
    pandas.DataFrame
        The submissions with `DIALOGUE_FEATURES` and `WORKER_FEATURES`, as far as they are known; rows in their order.
        Unknown worker features are NaN.

    Raises
    ------
    FrameError
        A column is missing, or a group has no features.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> import pandas as pd
    >>> day = lambda number: datetime(2026, 1, number, tzinfo=UTC)
    >>> sittings = {"group": ["g", "g"], "worker": ["a", "a"], "submitted": [day(2), day(4)], "seconds": [60.0, 40.0]}
    >>> gold = {"worker": ["a"], "right": [True], "at": [day(3)]}
    >>> turns = pd.DataFrame({"turns": [5.0]}, index=pd.Index(["g"], name="group"))
    >>> rows = submission_features(sittings, turns, gold_checks=gold)
    >>> rows[["turns", "first_submission", "worker_test_score"]].to_dict("list")
    {'turns': [5.0, 5.0], 'first_submission': [1.0, 0.0], 'worker_test_score': [nan, 1.0]}
    """
    rows = as_pandas(submissions, name="submissions").reset_index(drop=True)
    moment = next((name for name in ("started", "submitted") if name in rows), None)
    require_columns(rows, ["group", "worker", *([] if moment else ["submitted"])], name="submissions")
    require_no_missing(rows, ["group", "worker"], name="submissions")
    frame = dialogues.frame if isinstance(dialogues, FeatureTable) else as_pandas(dialogues, name="dialogues")
    frame = frame.set_index("group") if "group" in frame else frame
    unknown = ~rows["group"].isin(frame.index).to_numpy()
    if unknown.any():
        raise FrameError(f"dialogues has no features for group {first_rows(unknown, rows['group'].to_numpy())}")
    ordered = rows["submitted" if "submitted" in rows else moment]
    known = worker_features(
        rows["worker"].tolist(), as_of=list(rows[moment]), gold_checks=gold_checks, reviews=reviews, ranking=ranking
    )
    features = frame.loc[rows["group"]].reset_index(drop=True)
    features["first_submission"] = first_submissions(rows["worker"].tolist(), list(ordered)).astype(np.float64)
    for name in WORKER_FEATURES:
        features[name] = known[name].to_numpy()
    wanted = [*(name for name in (*DIALOGUE_FEATURES, *WORKER_FEATURES) if name in features)]
    others = [name for name in features if name not in wanted]
    return rows.drop(columns=[*wanted, *others], errors="ignore").join(features[[*wanted, *others]])
