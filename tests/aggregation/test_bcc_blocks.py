"""Large jobs of iBCC and EBCC: cut into blocks, a start at a time, and the same values as in one piece."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import EBCC, IBCC
from hmc_crowd.aggregation import _bcc_core as core


def table(n_tasks: int, k: int) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Three answers a task by 12 workers, seven of ten right; gold for some."""
    rng = np.random.default_rng(5)
    truth = rng.integers(k, size=n_tasks)
    task = np.repeat(np.arange(n_tasks), 3)
    worker = (task + np.tile([0, 5, 7], n_tasks)) % 12
    label = np.where(rng.random(len(task)) < 0.7, truth[task], rng.integers(k, size=len(task)))
    return pd.DataFrame({"task": task, "worker": worker, "label": label}), pd.Series(truth[::9], range(0, n_tasks, 9))


@pytest.mark.parametrize("block", [1, 50, 1 << 40])
@pytest.mark.parametrize("model", [IBCC(), EBCC(3, n_restarts=2)])
def test_blocks_change_no_bit(monkeypatch: pytest.MonkeyPatch, model: Any, block: int) -> None:
    answers, gold = table(60, 4)
    past = pd.DataFrame([(w, a, t, 2.0 + (a == t)) for w in (0, 3, 99) for a in range(4) for t in range(4)],
                        columns=["worker", "label", "truth", "count"])  # fmt: skip
    for more in ({}, {"history": past}):
        plain = model.fit(answers, gold, **more)
        before = plain.probabilities_, plain.errors_, list(plain.loss_history_)
        with monkeypatch.context() as patch:
            patch.setattr(core, "_BLOCK", block)
            again = model.fit(answers, gold, **more)
        pd.testing.assert_frame_equal(again.probabilities_, before[0], check_exact=True)
        pd.testing.assert_frame_equal(again.errors_, before[1], check_exact=True)
        assert again.loss_history_ == pytest.approx(before[2], rel=1e-12)


def test_more_restarts_take_time_and_no_more_memory() -> None:
    answers, _ = table(3000, 5)
    peaks = []
    EBCC(10, n_restarts=1, n_iter=1).fit(answers)  # what is loaded late is loaded now
    for restarts in (1, 8):
        tracemalloc.start()
        EBCC(10, n_restarts=restarts, n_iter=1).fit(answers)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
