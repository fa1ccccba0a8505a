"""How well did a worker do where the answer was known? Gold among the work, and the qualification tests before it.

Both are checks of the worker with a moment, so that the effort model's worker test score is known as of any instant: a
test that was taken later changes nothing.

Source: Zhang, Ren, de Rijke (2021), section 3.3, worker test score; requirements A22 and E3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.campaign._gold_rows import gold_rows

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AttemptRecord, Transaction

__all__ = ["checks_of_tests", "known_checks", "pool_scores"]


def known_checks(context: Context, tx: Transaction) -> pd.DataFrame:
    """Return every check of a worker, marked as `check_gold` does: ``worker, right, at``.

    For `hmc_crowd.effort.worker_features`. What is in words does not count: nobody compares its meaning here.
    """
    rows, keys = gold_rows(context, tx, tx.work.answers(context.campaign_id), first_only=True)
    checked = rows.merge(keys.rename(columns={"item": "task", "label": "known"}), on="task")
    right = (checked["label"] == checked["known"]).astype(float)
    of_gold = pd.DataFrame({"worker": checked["worker"], "right": right, "at": checked["submitted"]})
    tested = checks_of_tests(tx.qualifications.attempts(context.campaign_id))
    return pd.concat([of_gold, tested], ignore_index=True) if len(tested) else of_gold


def checks_of_tests(attempts: list[AttemptRecord]) -> pd.DataFrame:
    """Return one row per question of each attempt; which of them were right is not known, and makes no difference."""
    n = [each.n for each in attempts]
    right = [1.0 if place < each.right else 0.0 for each in attempts for place in range(each.n)]
    return pd.DataFrame(
        {
            "worker": np.repeat([each.worker for each in attempts], n) if attempts else [],
            "right": right,
            "at": pd.to_datetime([each.at for each in attempts for _ in range(each.n)], utc=True),
        }
    )


def pool_scores(tx: Transaction, campaign: int) -> pd.DataFrame:
    """Return the newest scores on gold with the tests counted in, and who passed a test and met no gold yet.

    ``worker, score`` and whatever else `WorkerRepository.scores` has, by worker.
    """
    scores, attempts = tx.workers.scores(campaign), tx.qualifications.attempts(campaign)
    if not attempts:
        return scores
    fresh = sorted({each.worker for each in attempts if each.passed} - set(scores["worker"]))
    scores = pd.concat([scores, pd.DataFrame({"worker": fresh, "right": 0, "n": 0})], ignore_index=True)
    told = checks_of_tests(attempts).groupby("worker")["right"].agg(["sum", "size"]).reindex(scores["worker"])
    right, n = told["sum"].fillna(0.0).to_numpy(), told["size"].fillna(0).to_numpy()
    tested = n > 0
    both = (scores["right"].to_numpy(dtype=float) + right) / np.maximum(scores["n"].to_numpy(dtype=float) + n, 1.0)
    return scores.assign(score=np.where(tested, both, scores["score"].astype(float)))
