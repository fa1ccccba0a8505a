"""A pilot's answers, checked, coded and drawn again."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Log"]


class Log:
    """A pilot's answers, checked and coded."""

    def __init__(self, answers: Any) -> None:
        answers = _pandas(answers)
        for name in ("task", "worker", "label"):
            if name not in answers:
                raise FrameError(f"answers lacks the column {name}; it needs task, worker, label and seconds")
            missing = answers[name].isna().to_numpy()
            if missing.any():
                raise FrameError(f"answers has no {name} in {first_rows(missing)}; fill these cells or drop the rows")
        self.seconds = _seconds(answers)
        tasks, self.item = np.unique(answers["task"].astype(str).to_numpy(), return_inverse=True)
        workers, self.worker = np.unique(answers["worker"].astype(str).to_numpy(), return_inverse=True)
        labels, self.label = np.unique(answers["label"].astype(str).to_numpy(), return_inverse=True)
        self.n_items, self.n_workers, self.n_labels = len(tasks), len(workers), max(2, len(labels))
        order = np.argsort(self.item, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(self.item[order])) + 1)
        pairs = [pair for rows in groups for pair in combinations(rows.tolist(), 2)]
        if not pairs:
            raise FrameError("no item of answers has two answers; a pilot needs several people an item, such as five")
        self.pairs = np.array(pairs)
        self.same = self.label[self.pairs[:, 0]] == self.label[self.pairs[:, 1]]
        self.agreement = self._agreement(np.ones(self.n_items), np.ones(self.n_workers))
        self.alpha = _alpha(answers)

    def _agreement(self, items: NDArray[np.float64], workers: NDArray[np.float64]) -> float:
        a, b = self.pairs.T
        weight = items[self.item[a]] * workers[self.worker[a]] * workers[self.worker[b]]
        total = float(weight.sum())
        return float(weight[self.same].sum()) / total if total else math.nan

    def bootstrap(self, draws: int, rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
        """Return mean, median and P90 of the seconds, and the agreement, over draws of items and workers."""
        found: dict[str, list[float]] = {"mean": [], "median": [], "p90": [], "agreement": []}
        order = np.argsort(self.seconds)
        sorted_s = self.seconds[order]
        for _ in range(draws):
            items = rng.multinomial(self.n_items, np.full(self.n_items, 1 / self.n_items)).astype(float)
            workers = rng.multinomial(self.n_workers, np.full(self.n_workers, 1 / self.n_workers)).astype(float)
            weight = (items[self.item] * workers[self.worker])[order]
            total, agreement = weight.sum(), self._agreement(items, workers)
            if total == 0 or math.isnan(agreement):
                continue
            cumulated = np.cumsum(weight) / total
            found["mean"].append(float((weight * sorted_s).sum() / total))
            found["median"].append(float(sorted_s[np.searchsorted(cumulated, 0.5 - 1e-12)]))
            found["p90"].append(float(sorted_s[np.searchsorted(cumulated, 0.9 - 1e-12)]))
            found["agreement"].append(agreement)
        if len(found["mean"]) < draws // 4:
            raise FrameError("answers are too few for bands; a pilot needs some 30 items and 5 workers")
        return {name: np.array(values) for name, values in found.items()}


def _pandas(answers: Any) -> Any:
    """Return a pandas frame as it is, any other library's as one."""
    import pandas as pd

    from hmc_crowd.io import read_frame

    return answers if isinstance(answers, pd.DataFrame) else read_frame(answers, kind=None, name="answers").frame


def _seconds(answers: Any) -> NDArray[np.float64]:
    import pandas as pd

    if "seconds" in answers:
        values: NDArray[np.float64] = pd.to_numeric(answers["seconds"], errors="coerce").to_numpy(dtype=np.float64)
    elif "started" in answers and "submitted" in answers:
        begun, done = (pd.to_datetime(answers[name], utc=True) for name in ("started", "submitted"))
        values = (done - begun).dt.total_seconds().to_numpy(dtype=np.float64)
    else:
        raise FrameError("answers has neither seconds nor started and submitted; add what each answer took")
    bad = np.flatnonzero(~(values > 0) | ~np.isfinite(values))
    if bad.size:
        raise FrameError(f"answers row {bad[0]} took {values[bad[0]]} seconds; times must be above 0")
    return values


def _alpha(answers: Any) -> float:
    from hmc_crowd.metrics import krippendorff_alpha

    found = krippendorff_alpha(answers[["task", "worker", "label"]], interval="none")
    return math.nan if found.value is None else float(found.value)
