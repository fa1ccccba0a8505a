"""Cheap judge first, strong judge where the cheap one is unsure, people where both are.

One threshold on calibrated confidence: the first judge that reaches it gives the label, and the dear ones are not
asked about what a cheap one is sure of. The threshold is the smallest for which "at least `target` of the final labels
agree with people" passes a test at `level` (Learn-then-Test in a fixed order, from the most cautious threshold on), on
blind labels that nothing else was learnt from. Pairs that go to people count as right: their label is people's. The
test takes the pairs as independent: choose on one pair of each instruction where an instruction has several.

Sources: Angelopoulos et al. (2021), "Learn then Test"; the order of judges as in Lyu et al. (2024), "HREF", section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.judges._calibration import JudgeCalibration
from hmc_crowd.judges._judge import Judge, fingerprint
from hmc_crowd.judges._pairs import Pairs, read_pairs
from hmc_crowd.judges._private import refuse_private_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Cascade", "CascadeChoice"]

# From "nothing is kept" down to chance among three answers, fixed before any label is seen.
THRESHOLDS = tuple(round(step / 100, 2) for step in range(100, 33, -1))
PEOPLE = "people"


@dataclass(frozen=True)
class CascadeChoice:
    """What a cascade's threshold was chosen by.

    Parameters
    ----------
    threshold : float or None
        None: no threshold passes, everything goes to people.
    target, level : float
        The promise: at least `target` agreement, with probability `level`.
    n_pairs : int
        Pairs it was chosen on.
    shares : mapping of judge -> share of the pairs it decides
        And of ``"people"``, on these pairs.
    agreement : float
        On these pairs; optimistic, for the threshold was chosen on them. The promise is `target`.
    """

    threshold: float | None
    target: float
    level: float
    n_pairs: int
    shares: Mapping[str, float]
    agreement: float


class Cascade:
    """Judges in the order of their price; whoever is sure enough decides.

    Parameters
    ----------
    judges : sequence of Judge
        Cheapest first.

    Examples
    --------
    See ``examples/judge_and_people.py``.
    """

    name = "cascade"
    needs_reference = False

    def __init__(self, judges: Sequence[Judge]) -> None:
        if not judges:
            raise InputError("a cascade needs at least one judge")
        self.judges = tuple(judges)
        self.leaves_machine = any(judge.leaves_machine for judge in judges)
        self.choice: CascadeChoice | None = None
        self._maps: tuple[JudgeCalibration, ...] = ()

    @property
    def version(self) -> str:
        """Fingerprint of the judges, what their confidence means, and the threshold."""
        threshold = None if self.choice is None else self.choice.threshold
        maps = [each.version for each in self._maps]
        return fingerprint("cascade", [judge.version for judge in self.judges], maps, threshold)

    def calibrate(self, judged: Sequence[pd.DataFrame], people: Mapping[str, str]) -> Cascade:
        """Learn what each judge's confidence means.

        Parameters
        ----------
        judged : sequence of frames
            Each judge's judgements of the same pairs, in the order of the judges.
        people : mapping of item -> label
            Labels that are used for nothing else.
        """
        if len(judged) != len(self.judges):
            raise InputError(f"{len(judged)} tables for {len(self.judges)} judges; give one each, in their order")
        self._maps = tuple(JudgeCalibration().fit(each, people) for each in judged)
        return self

    def choose(
        self,
        judged: Sequence[pd.DataFrame],
        people: Mapping[str, str],
        *,
        target: float = 0.9,
        level: float = 0.95,
        evidence: str = "people_blind",
    ) -> CascadeChoice:
        """Choose the threshold on pairs that `calibrate` has not seen.

        Parameters
        ----------
        judged : sequence of frames
            Each judge's judgements, of the same pairs in the same order.
        people : mapping of item -> label
        target : float, default 0.9
            Share of the final labels that must agree with people.
        level : float, default 0.95
        evidence : str, default "people_blind"
            How people's labels came about; labels of people who saw a judge's are refused.
        """
        from scipy.special import bdtr

        from hmc_crowd.routing import ChooseData, learn_then_test  # because guarantees have one home

        if not 0.0 < target < 1.0:
            raise InputError(f"target is {target!r}; give a share in (0, 1)")
        self._ready()
        items = [str(item) for item in judged[0]["item"]]
        kept = np.array([item in people for item in items], dtype=bool)
        known = [item for item, has in zip(items, kept, strict=True) if has]
        if not known:
            raise InputError("no pair has people's label; choose the threshold on pairs that people judged")
        sure, label = self._stacked([each.loc[kept].reset_index(drop=True) for each in judged])
        truth = np.array([people[item] for item in known], dtype=object)
        ChooseData(known, truth, truth, evidence).spend("a cascade's threshold")
        wrong = np.array([int(_wrong(sure, label, truth, threshold).sum()) for threshold in THRESHOLDS])
        passed = learn_then_test(bdtr(wrong, len(known), 1.0 - target), level=level)
        last = int(np.flatnonzero(passed)[-1]) if passed.any() else None
        threshold = None if last is None else THRESHOLDS[last]
        stage = _stage(sure, threshold)
        names = [judge.name for judge in self.judges]
        shares = {name: float((stage == place).mean()) for place, name in enumerate(names)}
        shares[PEOPLE] = float((stage == -1).mean())
        agreement = 1.0 if last is None else 1.0 - wrong[last] / len(known)
        self.choice = CascadeChoice(threshold, target, level, len(known), shares, float(agreement))
        return self.choice

    def refuse_private(self, given: Pairs) -> None:
        """Refuse pairs that a later judge might not see, before an earlier one was asked."""
        for judge in self.judges:
            refuse_private_of(judge, given)

    def judge(self, pairs: Any) -> pd.DataFrame:
        """Return the judgements; `judge` names who decided, ``"people"`` where nobody was sure enough.

        A dear judge is asked about what the cheaper ones left only. Seconds and costs add up over whoever was asked.
        """
        import pandas as pd

        self._ready()
        if self.choice is None:
            raise StateError("this cascade has no threshold; call choose first")
        given = read_pairs(pairs)
        self.refuse_private(given)
        left = np.arange(len(given))
        parts, spent = [], np.zeros((2, len(given)))
        for judge, calibration in zip(self.judges, self._maps, strict=True):
            if not len(left):
                break
            said = calibration.transform(judge.judge(given.take(left)))
            spent[:, left] += said[["seconds", "cost_micro"]].to_numpy(dtype=np.float64).T
            threshold = 2.0 if self.choice.threshold is None else self.choice.threshold
            decides = said["confidence"].to_numpy(dtype=np.float64) >= threshold
            is_last = judge is self.judges[-1]
            taken = np.ones(len(left), dtype=bool) if is_last else decides
            part = said.loc[taken].assign(judge=np.where(decides[taken], judge.name, PEOPLE), row=left[taken])
            parts.append(part)
            left = left[~taken]
        whole = pd.concat(parts, ignore_index=True).sort_values("row", ignore_index=True).drop(columns="row")
        return whole.assign(seconds=spent[0], cost_micro=spent[1].astype(np.int64))

    def _ready(self) -> None:
        if not self._maps:
            raise StateError("this cascade does not know what its judges' confidence means; call calibrate first")

    def _stacked(self, judged: Sequence[pd.DataFrame]) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
        if len(judged) != len(self.judges) or any(list(each["item"]) != list(judged[0]["item"]) for each in judged):
            raise InputError("give one table for each judge, with the same pairs in the same order")
        said = [calibration.transform(each) for calibration, each in zip(self._maps, judged, strict=True)]
        sure = np.stack([np.nan_to_num(each["confidence"].to_numpy(dtype=np.float64), nan=-1.0) for each in said])
        return sure, np.stack([each["label"].to_numpy(dtype=object) for each in said])


def _stage(sure: NDArray[np.float64], threshold: float | None) -> NDArray[np.intp]:
    """Return which judge decides each pair, -1 for people; `sure` has shape (n_judges, n_pairs)."""
    enough = sure >= (2.0 if threshold is None else threshold)
    return np.where(enough.any(axis=0), enough.argmax(axis=0), -1)


def _wrong(
    sure: NDArray[np.float64], label: NDArray[np.object_], truth: NDArray[np.object_], threshold: float
) -> NDArray[np.bool_]:
    stage = _stage(sure, threshold)
    final = label[np.maximum(stage, 0), np.arange(len(truth))]
    return np.asarray((stage >= 0) & (final != truth))
