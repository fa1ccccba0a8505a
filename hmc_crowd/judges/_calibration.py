"""How sure may one be of a judge? Its own probability, corrected by people's labels on other pairs.

A judge's probability orders pairs; it does not say how often it is right. The map is learnt on pairs whose people's
labels are used for nothing else. A judge that gives no probability gets one number per answer: the share of such
answers with which people agree, drawn towards 1/3 by one imagined pair (three answers, chance agreement).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.parameters import Parameters
from hmc_crowd.errors import FrameError, ModelError, StateError
from hmc_crowd.judges._judge import LABELS, fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["JudgeCalibration", "as_predictions"]


class JudgeCalibration(Parameters):
    """Map a judge's probability to the chance that people agree.

    Attributes
    ----------
    n_pairs : int
        Pairs it was learnt from.
    method : str
        ``"isotonic"``, ``"platt"``, ``"temperature"``, or ``"per answer"`` where the judge gives no probability.

    Examples
    --------
    >>> import pandas as pd
    >>> judged = pd.DataFrame({"item": list("wxyz"), "label": ["a", "a", "b", "a"], "confidence": [np.nan] * 4})
    >>> calibration = JudgeCalibration().fit(judged, {"w": "a", "x": "a", "y": "tie", "z": "b"})
    >>> calibration.transform(judged)["confidence"].round(3).tolist()  # (2 + 1/3) / (3 + 1), (0 + 1/3) / (1 + 1)
    [0.583, 0.583, 0.167, 0.583]
    """

    def __init__(self) -> None:
        self.n_pairs, self.method = 0, ""
        self._map: Any = None
        self._share: dict[str, float] = {}

    def fit(self, judged: pd.DataFrame, people: Mapping[str, str]) -> JudgeCalibration:
        """Learn from pairs that people labelled too; pairs of one side only are left out.

        Parameters
        ----------
        judged : frame
            As judges return it.
        people : mapping of item -> 'a', 'b' or 'tie'
            Their aggregated, blind label.

        Raises
        ------
        ModelError
            No pair has both.
        """
        from hmc_crowd.confidence import Calibrator  # because there is one way to calibrate

        label, raw, right = _both(judged, people)
        if not len(label):
            raise ModelError("no pair has a judgement and people's label; calibrate on pairs that people judged too")
        self.n_pairs = len(label)
        self._share = {
            name: (float(right[label == name].sum()) + 1 / 3) / (int((label == name).sum()) + 1) for name in LABELS
        }
        known = ~np.isnan(raw)
        try:
            self._map = Calibrator().fit(raw[known], right[known]) if known.all() else None
        except ModelError:
            # Too few pairs, or all right: one number per answer needs no more than that.
            self._map = None
        self.method = "per answer" if self._map is None else str(self._map.method_)
        return self

    @property
    def version(self) -> str:
        """Fingerprint of the map: equal maps, equal fingerprints."""
        grid = np.linspace(0.0, 1.0, 101)
        curve = [] if self._map is None else np.round(self._map.transform(grid), 12).tolist()
        return fingerprint("calibration", curve, self._share)

    def transform(self, judged: pd.DataFrame) -> pd.DataFrame:
        """Return the judgements with calibrated `confidence` (NaN where there is no label)."""
        if not self.n_pairs:
            raise StateError("this calibration has seen no pairs; call fit first")
        label = judged["label"].to_numpy(dtype=object)
        has = np.array([isinstance(each, str) for each in label], dtype=bool)
        raw = judged["confidence"].to_numpy(dtype=np.float64)
        out = np.full(len(judged), np.nan)
        if self._map is not None:
            known = has & ~np.isnan(raw)
            out[known] = self._map.transform(raw[known])
        rest = has & np.isnan(out)
        out[rest] = [self._share[each] for each in label[rest]]
        return judged.assign(confidence=out)


def as_predictions(judged: pd.DataFrame) -> pd.DataFrame:
    """Return judgements as predictions for the plan: ``item, label, confidence, p_a, p_b, p_tie``.

    A pair without a label gets 'tie' with confidence 0 and a third for each answer, so that a plan sends it to people
    first. Else the label has its confidence, and the other two share the rest as the judge's own probabilities do
    (equally, where it has none). A confidence below that of another answer says that the label is no better than a
    guess: then each answer has a third, and the confidence stays what it is.

    Examples
    --------
    >>> import pandas as pd
    >>> judged = pd.DataFrame({"item": ["1", "2"], "label": ["a", None], "confidence": [0.8, np.nan],
    ...                        "p_a": np.nan, "p_b": np.nan, "p_tie": np.nan})
    >>> as_predictions(judged)[["label", "confidence", "p_a", "p_b"]].round(2).values.tolist()
    [['a', 0.8, 0.8, 0.1], ['tie', 0.0, 0.33, 0.33]]
    """
    import pandas as pd

    missing = [name for name in ("item", "label", "confidence") if name not in judged]
    if missing:
        raise FrameError(f"judgements lack {', '.join(missing)}; give the table a judge returned")
    label = judged["label"].to_numpy(dtype=object)
    has = np.array([isinstance(each, str) for each in label], dtype=bool)
    sure = np.where(has, np.nan_to_num(judged["confidence"].to_numpy(dtype=np.float64), nan=0.0), 0.0)
    chances = np.full((len(judged), 3), 1 / 3)
    own = _own_chances(judged)
    for column, name in enumerate(LABELS):
        mine = has & (label == name)
        others = own[mine]
        others[:, column] = 0.0
        total = others.sum(axis=1, keepdims=True)
        even = np.where(np.arange(3) == column, 0.0, 0.5)
        shares = np.divide(others, total, out=np.tile(even, (len(others), 1)), where=total > 0.0)
        chances[mine] = (1.0 - sure[mine])[:, None] * shares
        chances[mine, column] = sure[mine]
    chances[chances.max(axis=1) > np.where(has, sure, 0.0) + 1e-9] = 1 / 3
    named = {f"p_{name}": chances[:, column] for column, name in enumerate(LABELS)}
    filled = np.where(has, label, "tie")
    return pd.DataFrame({"item": judged["item"].to_numpy(), "label": filled, "confidence": sure, **named})


def _own_chances(judged: pd.DataFrame) -> NDArray[np.float64]:
    """Return the judge's own probabilities, shape (n, 3); 0 where it gives none."""
    named = [f"p_{name}" for name in LABELS]
    if any(name not in judged for name in named):
        return np.zeros((len(judged), 3))
    own: NDArray[np.float64] = np.nan_to_num(judged[named].to_numpy(dtype=np.float64), nan=0.0)
    return own


def _both(
    judged: pd.DataFrame, people: Mapping[str, str]
) -> tuple[NDArray[np.object_], NDArray[np.float64], NDArray[np.bool_]]:
    rows = [
        (label, confidence, label == people[item])
        for item, label, confidence in zip(judged["item"], judged["label"], judged["confidence"], strict=True)
        if isinstance(label, str) and item in people
    ]
    label = np.array([row[0] for row in rows], dtype=object)
    return label, np.array([row[1] for row in rows], dtype=np.float64), np.array([row[2] for row in rows], dtype=bool)
