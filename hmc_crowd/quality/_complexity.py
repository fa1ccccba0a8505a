"""How likely is it that two people disagree on an item, before anybody has seen it?

That chance is the item's complexity, in [0, 1]. It is learnt from items that several people judged: from the text, the
predicted effort, and how hard such items were in the past. The probabilities that calibrate come from folds that did
not teach, so complexity .3 means that three in ten pairs of people disagree.

Source: requirement D20's complexity, which the source assumes as given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import float_vector
from hmc_crowd._base.parameters import Parameters
from hmc_crowd.aggregation._codes import encode  # because repeated and missing answers follow one rule
from hmc_crowd.errors import FrameError, InputError, ModelError, StateError
from hmc_crowd.quality._logistic_curve import LogisticCurve
from hmc_crowd.quality._votes import count_votes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

__all__ = ["ComplexityModel", "ComplexityReport", "complexity_features", "disagreement"]

_FORMAT = "hmc_crowd.quality.ComplexityModel 1"
# Looked for from the first mark of a row on: from each of them, a long row takes seconds.
_SENTENCE = re.compile(r"(?<![.!?])[.!?]+(?:\s|$)")
_WORD = re.compile(r"\w+")


def complexity_features(
    texts: Iterable[str], *, effort_s: ArrayLike | None = None, past_difficulty: ArrayLike | None = None
) -> pd.DataFrame:
    """Return what a text shows of its complexity, without any model.

    Parameters
    ----------
    texts : iterable of str, length n
    effort_s : array of float, optional
        Predicted seconds of each item, see `hmc_crowd.effort`; NaN is unknown.
    past_difficulty : array of float, optional
        In [0, 1], for example the disagreement on earlier items of the same group; NaN is unknown.

    Returns
    -------
    pandas.DataFrame
        ``log_words, word_length, log_sentences, variety, questions, digits`` and, where given, ``log_effort,
        past_difficulty``.

    Examples
    --------
    >>> complexity_features(["Is it? It is."])[["log_words", "questions"]].round(3).to_dict("records")
    [{'log_words': 1.609, 'questions': 0.5}]
    """
    rows = []
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"texts holds {text!r} in row {row}; give text, '' where there is none")
        words = _WORD.findall(text.lower())
        n, sentences = max(len(words), 1), max(len(_SENTENCE.findall(text)), 1)
        digits = sum(letter.isdigit() for letter in text) / max(len(text), 1)
        length = sum(map(len, words)) / n
        rows.append(
            (
                np.log1p(len(words)),
                length,
                np.log1p(sentences),
                len(set(words)) / n,
                text.count("?") / sentences,
                digits,
            )
        )
    columns = ["log_words", "word_length", "log_sentences", "variety", "questions", "digits"]
    found = pd.DataFrame(rows, columns=columns, dtype=float)
    for name, values in (("effort_s", effort_s), ("past_difficulty", past_difficulty)):
        if values is None:
            continue
        given = np.asarray(values, dtype=np.float64)
        high = 1.0 if name == "past_difficulty" else np.inf
        float_vector(given[~np.isnan(given)], name=name, low=0.0, high=high, allow_empty=True)
        if len(given) != len(found):
            raise InputError(f"{name} has {len(given)} rows but texts has {len(found)}; they must describe the same")
        found["log_effort" if name == "effort_s" else name] = np.log1p(given) if name == "effort_s" else given
    return found


def disagreement(answers: pd.DataFrame) -> pd.DataFrame:
    """Return how many pairs of answers to each item differ.

    Returns
    -------
    pandas.DataFrame
        ``item, n_answers, pairs, differ, share``; items with one answer have no pair and share NaN.

    Examples
    --------
    >>> rows = [("a", "w1", 1), ("a", "w2", 1), ("a", "w3", 0), ("b", "w1", 0)]
    >>> disagreement(pd.DataFrame(rows, columns=["task", "worker", "label"]))["share"].round(3).tolist()
    [0.667, nan]
    """
    coded = encode(answers)
    n, n_tasks = coded.n_answers, len(coded.tasks)
    pairs = n * (n - 1) // 2
    differ = pairs - count_votes(coded).agreeing_pairs(n_tasks)
    share = np.full(n_tasks, np.nan)
    np.divide(differ, pairs, out=share, where=pairs > 0)
    return pd.DataFrame({"item": coded.tasks, "n_answers": n, "pairs": pairs, "differ": differ, "share": share})


@dataclass(frozen=True)
class ComplexityReport:
    """How well the chance of disagreement was told for items of folds that did not teach.

    Parameters
    ----------
    items : int
    brier, brier_mean : float
        Mean squared error against the share of pairs that differ, and of the overall mean for every item.
    """

    items: int
    brier: float
    brier_mean: float

    @property
    def explained(self) -> float:
        """Share of the error of the mean that the model takes away; 0 or less: it tells nothing."""
        return 1 - self.brier / self.brier_mean if self.brier_mean > 0 else 0.0

    def __str__(self) -> str:
        told = f"{self.explained:.1%}" if self.explained > 0 else "nothing"
        return f"complexity of {self.items:,} items: {told} of the spread of disagreement is told"


class ComplexityModel(Parameters):
    """Learn the chance of disagreement: logistic regression on features, calibrated out of fold.

    Parameters
    ----------
    folds : int, default 5
        Items are dealt to folds at random; all rows of a group stay together where groups are given.
    seed : int, default 0

    Attributes
    ----------
    report_ : ComplexityReport
    feature_names_ : list of str

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> words = rng.uniform(0, 4, 300)
    >>> table = pd.DataFrame({"item": range(300), "n_answers": 5, "pairs": 10})
    >>> table["differ"] = rng.binomial(10, 0.1 + 0.2 * words)
    >>> model = ComplexityModel().fit(pd.DataFrame({"log_words": words}), table)
    >>> model.predict(pd.DataFrame({"log_words": [0.5, 3.5]})).round(1).tolist()
    [0.2, 0.8]
    """

    report_: ComplexityReport
    feature_names_: list[str]

    def __init__(self, *, folds: int = 5, seed: int = 0) -> None:
        if isinstance(folds, bool) or folds < 2:
            raise InputError(f"folds is {folds!r}; give a whole number of at least 2")
        self.folds, self.seed = folds, seed

    def fit(self, features: pd.DataFrame, table: pd.DataFrame, *, groups: ArrayLike | None = None) -> ComplexityModel:
        """Learn from items that several people judged.

        Parameters
        ----------
        features : pandas.DataFrame
            Numbers, one row per item, see `complexity_features`; NaN is unknown.
        table : pandas.DataFrame
            `disagreement` of the same items in the same order.
        groups : array, optional
            Group (dialogue) of each item.

        Raises
        ------
        ModelError
            Too few items have a pair, or all pairs are alike.
        """
        lacking = [name for name in ("n_answers", "pairs", "differ") if name not in table.columns]
        if lacking or len(table) != len(features):
            raise FrameError(f"table must be disagreement() of the {len(features)} items of features; it is not")
        used = table["pairs"].to_numpy() > 0
        X = features.to_numpy(dtype=np.float64)[used]
        share = (table["differ"].to_numpy() / np.maximum(table["pairs"].to_numpy(), 1))[used]
        if used.sum() < 10 * self.folds or share.min() == share.max():
            raise ModelError(
                f"{used.sum()} items with two answers, disagreement {share.min(initial=1):g} to "
                f"{share.max(initial=0):g}: too little to learn complexity from; send such items to people as before"
            )
        # Pairs of one item are not independent: n answers are worth n - 1 looks at its disagreement.
        weight = (table["n_answers"].to_numpy(dtype=float) - 1)[used]
        code = np.arange(len(X)) if groups is None else pd.factorize(np.asarray(groups)[used])[0]
        if code.max() + 1 < self.folds:
            raise ModelError(
                f"{code.max() + 1} groups cannot be dealt to {self.folds} folds; judge items of more groups"
            )
        self.feature_names_ = [str(name) for name in features.columns]
        fold = np.random.default_rng(self.seed).permutation(int(code.max()) + 1)[code] % self.folds
        held = np.empty(len(X))
        for part in range(self.folds):
            inside = fold != part
            if not inside.all():
                held[~inside] = LogisticCurve.fit(X[inside], share[inside], weight[inside]).logit(X[~inside])
        self._curve = LogisticCurve.fit(held[:, None], share, weight, rising=True)
        self._model = LogisticCurve.fit(X, share, weight)
        told, mean = _told(held, share, weight, fold), float(np.average(share, weights=weight))
        brier, flat = (float(np.average((share - each) ** 2, weights=weight)) for each in (told, np.full(len(X), mean)))
        self.report_ = ComplexityReport(len(X), brier, flat)
        return self

    def predict(self, features: pd.DataFrame) -> NDArray[np.float64]:
        """Return the complexity of items, in [0, 1]."""
        if not hasattr(self, "report_"):
            raise StateError("this ComplexityModel is not fitted; first call fit with items that people judged")
        lacking = [name for name in self.feature_names_ if name not in features.columns]
        if lacking:
            raise FrameError(f"features lacks the column {', '.join(lacking)}; pass those of the fit")
        X = features[self.feature_names_].to_numpy(dtype=np.float64)
        return self._curve.chance(self._model.logit(X)[:, None])

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted model as plain numbers that JSON can hold."""
        if not hasattr(self, "report_"):
            raise StateError("this ComplexityModel is not fitted; first call fit with items that people judged")
        return {
            "format": _FORMAT,
            "features": self.feature_names_,
            "model": self._model.to_dict(),
            "curve": self._curve.to_dict(),
            "report": [self.report_.items, self.report_.brier, self.report_.brier_mean],
        }

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> ComplexityModel:
        """Return the model that `to_dict` wrote.

        Raises
        ------
        ModelError
            It did not, or another version did.
        """
        made = cls()
        try:
            if state["format"] != _FORMAT:
                raise ValueError(f"format {state['format']!r} is not {_FORMAT!r}")
            made.feature_names_ = [str(name) for name in state["features"]]
            made._model = LogisticCurve.from_dict(state["model"], len(made.feature_names_))
            made._curve = LogisticCurve.from_dict(state["curve"], 1)
            items, brier, brier_mean = state["report"]
            made.report_ = ComplexityReport(int(items), float(brier), float(brier_mean))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"this is no complexity model that can be read here ({error}); fit it again") from None
        return made


def _told(
    held: NDArray[np.float64], share: NDArray[np.float64], weight: NDArray[np.float64], fold: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the chances for the report: of each fold by a curve that the other folds calibrate."""
    told = np.empty(len(held))
    for part in np.unique(fold):
        inside = fold == part
        curve = LogisticCurve.fit(held[~inside, None], share[~inside], weight[~inside], rising=True)
        told[inside] = curve.chance(held[inside, None])
    return told
