"""Where is the crowd wrong? A gate that learns it from items which both the crowd and an expert have judged.

The label to learn is whether the crowd's label differs from the expert's. A model gives a raw score; what counts is its
calibration, fitted on predictions for items that the model had not seen. An item goes to an expert where the
probability reaches what the costs of the two errors make worth it.

Guarantee: the model never sees an item of a fold while they are judged on it. Too little to learn from, or one outcome
alone, makes a gate that says so and sends everything to an expert.

Source: requirement D21, with the settings and features of the source.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pandas as pd

from hmc_crowd._base.parameters import Parameters
from hmc_crowd.aggregation._gold import gold_table  # because gold is read in one way
from hmc_crowd.confidence import Calibrator  # because a monotone calibration chosen by cross-validation is there
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.quality._gate import GateBase, Verdict, first_reason
from hmc_crowd.quality._gate_costs import GateCosts
from hmc_crowd.quality._gate_evidence import gate_evidence
from hmc_crowd.quality._gate_features import feature_names, feature_table
from hmc_crowd.quality._gate_trees import KINDS, SEED
from hmc_crowd.quality._matching import same_labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from hmc_crowd.quality._gate_evidence import GateEvidence
    from hmc_crowd.quality._gate_trees import Trees

__all__ = ["LearnedGate", "wrong_labels"]

_LEAST_ITEMS, _LEAST_EACH, _FOLDS = 20, 5, 5


class LearnedGate(Parameters, GateBase):
    """A logistic curve, a random forest or boosted trees that predict where the crowd's label is wrong.

    Parameters
    ----------
    kind : {"logistic", "xgboost", "random_forest"}, default "logistic"
        A logistic curve, which learns most from a few hundred items; or the source's: 200 boosted trees of depth 8 with
        learning rate .1, or a forest of 100 trees of depth 10, seed 42.
    features : {"answers", "source"} or sequence of str, default "answers"
        The source's features for this kind; "answers" adds what the answers say (agreement, support, ...), which is
        what predicts best on open data. Features that the training items lack are left out, see ``features_``.
    costs : GateCosts
        Of an expert's judgement and of a wrong label; they set the threshold.
    threshold : float, optional
        Probability of a wrong label from which on an item goes to an expert, in place of the costs'.
    weighted : bool, default False
        Judge the label with most weight, where answers weigh as much as their workers' quality, in place of the
        majority's.

    Attributes
    ----------
    features_ : tuple of str
    n_items_, n_wrong_ : int
        Training items with an untied label, and those where the crowd's was wrong.
    note_ : str
        Why the gate sends everything to an expert; empty where it learnt something.
    calibrator_ : Calibrator
        From raw score to probability.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 400)
    >>> rows = [
    ...     (item, worker, label if rng.random() < skill else 1 - label)
    ...     for item, label in enumerate(truth)
    ...     for worker, skill in enumerate((0.9, 0.7, 0.6))
    ... ]
    >>> answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> gate = LearnedGate()
    >>> gate = gate.fit(None, answers, {0: 0.9, 1: 0.7, 2: 0.6}, gold=dict(enumerate(truth)))
    >>> gate.decide(None, answers, {0: 0.9, 1: 0.7, 2: 0.6}).n_expert < 400
    True
    """

    features_: tuple[str, ...]
    n_items_: int
    n_wrong_: int
    note_: str
    calibrator_: Calibrator | None
    trees_: Trees | None
    data_hash_: str

    _kept_as = {"threshold": "_threshold"}  # noqa: RUF012

    def __init__(
        self,
        kind: Literal["logistic", "xgboost", "random_forest"] = "logistic",
        *,
        features: str | Sequence[str] = "answers",
        costs: GateCosts | None = None,
        threshold: float | None = None,
        weighted: bool = False,
    ) -> None:
        if kind not in KINDS:
            raise InputError(f"kind is {kind!r}; give {' or '.join(map(repr, KINDS))}")
        if threshold is not None and not 0 <= threshold <= 1:
            raise InputError(f"threshold is {threshold!r}; give a probability in [0, 1]")
        self.kind, self.features = kind, features
        self.costs = costs or GateCosts()
        self._threshold = None if threshold is None else float(threshold)
        self.weighted = bool(weighted)

    @property
    def name(self) -> str:  # type: ignore[override]
        """What decides, in words."""
        return f"learned ({self.kind})"

    @property
    def threshold(self) -> float:
        """From which probability of a wrong label on an expert looks: as given, else what the costs make of it."""
        return self.costs.threshold if self._threshold is None else self._threshold

    def fit(
        self,
        items: pd.DataFrame | None,
        answers: pd.DataFrame,
        workers: Any = None,
        *,
        gold: Any,
        groups: Mapping[Any, Any] | None = None,
    ) -> Self:
        """Learn from items with an expert's label.

        Parameters
        ----------
        items, answers, workers
            As for `decide`. The quality of the workers must not stem from this gold: the gate would learn from what
            it is to predict.
        gold : pandas.DataFrame, pandas.Series or mapping
            The expert's labels, columns ``item`` and ``label``.
        groups : mapping, optional
            Item to group, where rows are not independent, such as several sets of answers to one item: a group is never
            split in calibrating, and counts once when asked whether there is enough to learn from.

        Raises
        ------
        InputError
            There is no gold at all, or none for these items.
        """
        # A batch to decide about need not show every label that people may give.
        self.n_labels = int(answers["label"].nunique()) if "label" in answers else 0
        evidence = gate_evidence(items, answers, workers, weighted=self.weighted)
        wrong, known = wrong_labels(evidence, gold)
        if not np.isin(evidence.item, gold_table(gold).index).any():
            raise InputError("gold has no label for any of these items; give an expert's labels of answered items")
        self.features_ = feature_names(self.features, self.kind, evidence)
        X, y = feature_table(evidence, self.features_)[known], wrong[known]
        self.n_items_, self.n_wrong_ = len(y), int(y.sum())
        names = pd.Series(evidence.item[known], dtype=object)
        group = (names if groups is None else names.map(dict(groups)).fillna(names)).to_numpy()
        self.note_ = _too_little(y, group, self.features_)
        self.data_hash_ = hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest()
        self.trees_, self.calibrator_ = None, None
        if not self.note_:
            raw = _unseen(self.kind, X, y, group)
            self.calibrator_ = Calibrator().fit(1 - raw, ~y)
            self.trees_ = KINDS[self.kind].fit(X, y)
        return self

    def untaught(self, why: str) -> Self:
        """Return the gate as one that had nothing to learn from: everything goes to an expert, and it says why."""
        self.features_, self.n_items_, self.n_wrong_ = (), 0, 0
        self.note_, self.data_hash_ = why, ""
        self.trees_, self.calibrator_ = None, None
        return self

    def probability(self, evidence: GateEvidence) -> NDArray[np.float64]:
        """Return the probability that each item's label is wrong; NaN where the gate learnt nothing."""
        if not hasattr(self, "note_"):
            raise StateError("the gate has not learnt yet: call its fit first, or load one that has")
        if self.trees_ is None or self.calibrator_ is None:
            return np.full(len(evidence), np.nan)
        if not len(evidence):
            return np.empty(0)
        raw = np.clip(self.trees_.predict(feature_table(evidence, self.features_)), 0.0, 1.0)
        return 1 - self.calibrator_.transform(1 - raw)

    def judge(self, evidence: GateEvidence) -> Verdict:
        """Return where the probability of a wrong label reaches the threshold; it is the ``score``."""
        wrong = self.probability(evidence)
        untrained = np.isnan(wrong)
        likely = wrong >= self.threshold
        reason = first_reason([("untrained", untrained), ("likely_wrong", likely)], len(evidence))
        return Verdict(untrained | likely, reason, np.where(untrained, np.inf, wrong))

    def _settings(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "features": list(getattr(self, "features_", ())),
            "threshold": self.threshold,
            "weighted": self.weighted,
            "data": getattr(self, "data_hash_", ""),
        }

    def __str__(self) -> str:
        if not hasattr(self, "note_"):
            return f"{self.name}: not trained"
        learnt = f"{self.n_wrong_:,} wrong labels among {self.n_items_:,} items"
        return f"{self.name}: {self.note_ or f'learnt from {learnt}, to an expert from {self.threshold:.3g} on'}"


def wrong_labels(evidence: GateEvidence, gold: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where the crowd's label differs from the expert's, and where that is known (gold, and no tie)."""
    if gold is None or not len(gold):
        raise InputError("gold is empty; give at least one item with an expert's label")
    table = gold_table(gold)
    truth = table.reindex(evidence.item).to_numpy(dtype=object)
    known = pd.Series(truth, dtype=object).notna().to_numpy() & (evidence.n_answers > 0) & ~evidence.tied
    return known & ~same_labels(evidence.label, truth), known


def _too_little(y: NDArray[np.bool_], group: NDArray[Any], features: Sequence[str]) -> str:
    if not features:
        return "no feature is known for these items; everything goes to an expert"
    n, wrong, right = (len(pd.unique(each)) for each in (group, group[y], group[~y]))
    if n < _LEAST_ITEMS or min(wrong, right) < _LEAST_EACH:
        return (
            f"the crowd is wrong on {wrong:,} of {n:,} items to learn from, and {_LEAST_ITEMS} items with "
            f"{_LEAST_EACH} wrong and {_LEAST_EACH} right ones are needed; everything goes to an expert"
        )
    return ""


def _unseen(kind: str, X: NDArray[np.float64], y: NDArray[np.bool_], group: NDArray[Any]) -> NDArray[np.float64]:
    """Return raw scores of items by trees that had not seen them, nor others of their group."""
    rng = np.random.default_rng(SEED)
    code, _ = pd.factorize(group)
    has_wrong = np.zeros(code.max() + 1, dtype=bool)
    np.logical_or.at(has_wrong, code, y)
    fold, raw = np.empty(len(has_wrong), dtype=np.intp), np.empty(len(y))
    for outcome in (False, True):
        rows = rng.permutation(np.flatnonzero(has_wrong == outcome))
        fold[rows] = np.arange(len(rows)) % _FOLDS
    for one in range(_FOLDS):
        out = fold[code] == one
        raw[out] = KINDS[kind].fit(X[~out], y[~out]).predict(X[out])
    return np.clip(raw, 0.0, 1.0)
