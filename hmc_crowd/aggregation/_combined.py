"""How sure are machine and people together, when people were shown what the machine says?

An average of two confidences is the confidence of neither. Evidence adds on the log scale: if machine and people erred
independently, the odds of a label would be the product of both their odds. They do not, because a suggestion anchors:
part of the agreement is an echo. So the weights are learnt, on items whose label is known,

    P(label) proportional to machine(label)^a * people(label)^b * exp(c * echoes(label)),

a multinomial logistic model in which ``echoes`` counts the answers that repeat a shown suggestion. With a = b = 1 and
c = 0 it is Bayes' rule for independent witnesses; few known labels leave the weights near that, many move them. A
negative c says that an answer which repeats the machine is worth less than one which contradicts it.

Guarantee: the fit is the only maximum of a strictly concave function; rows sum to 1. Source: Genest, Zidek (1986), on
logarithmic opinion pools; the anchoring of people by advice, Tversky, Kahneman (1974).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from hmc_crowd._base.parameters import Parameters
from hmc_crowd.aggregation._names import require_columns
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["CombinedConfidence", "answer_evidence"]

_BAYES = np.array([1.0, 1.0, 0.0])
# A probability of 0 would be a certainty that nothing can outweigh.
_LEAST = 1e-6
_MOST_STEPS = 100


def answer_evidence(
    answers: pd.DataFrame,
    reliability: Mapping[str, float],
    labels: Sequence[str],
    *,
    suggestion: str | None = None,
    default: float = 0.7,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what people's answers alone say of each label, and how many of them repeat what they were shown.

    Parameters
    ----------
    answers : pandas.DataFrame
        ``task, worker, label``, one aspect; and the column named by ``suggestion``.
    reliability : mapping of str to float
        How often each worker is right, in [0, 1]; his errors fall on the other labels alike.
    labels : sequence of str
        All of them, in their order.
    suggestion : str, optional
        The column with the label that the worker saw, missing where he saw none.
    default : float, default 0.7
        Reliability of workers of whom nothing is known.

    Returns
    -------
    tuple of pandas.DataFrame
        Index task, a column for each label: probabilities under equal prior odds, and counts of echoes.

    Raises
    ------
    FrameError, InputError
        A label is none of ``labels``, or a reliability no share.

    Examples
    --------
    >>> answers = pd.DataFrame({"task": ["t", "t"], "worker": ["ann", "bob"], "label": ["yes", "yes"]})
    >>> people, _ = answer_evidence(answers, {"ann": 0.8, "bob": 0.6}, ["yes", "no"])
    >>> round(float(people.loc["t", "yes"]), 4)  # .8 * .6 against .2 * .4
    0.8571
    """
    require_columns(answers, ("task", "worker", "label"), name="answers")
    names = list(labels)
    place = pd.Index(names).get_indexer(pd.Index(answers["label"]))
    if (place < 0).any():
        raise FrameError(f"answers hold the label {answers['label'][place < 0].iloc[0]!r}; labels are {names}")
    right = answers["worker"].map(dict(reliability)).fillna(default).to_numpy(dtype=np.float64)
    if len(names) < 2 or not ((right >= 0) & (right <= 1)).all():
        raise InputError("labels must be two or more, and every reliability a share in [0, 1]")
    right = np.clip(right, _LEAST, 1 - _LEAST)
    said = np.full((len(answers), len(names)), 1.0)
    said *= ((1 - right) / (len(names) - 1))[:, None]
    said[np.arange(len(answers)), place] = right
    code, tasks = pd.factorize(answers["task"], sort=True)
    score = np.zeros((len(tasks), len(names)))
    np.add.at(score, code, np.log(said))
    echoes = np.zeros_like(score)
    if suggestion is not None:
        is_echo = (answers[suggestion].astype(object) == answers["label"].astype(object)).to_numpy(dtype=bool)
        np.add.at(echoes, (code[is_echo], place[is_echo]), 1.0)
    index = pd.Index(tasks, name="task")
    return pd.DataFrame(_softmax(score), index, names), pd.DataFrame(echoes, index, names)


class CombinedConfidence(Parameters):
    """Weigh machine and people into one probability, calibrated on items whose label is known.

    Parameters
    ----------
    strength : float, default 4.0
        How firmly the weights are held at Bayes' rule: the precision of a normal prior on each.

    Attributes
    ----------
    weights_ : array of float, shape (3,)
        Of the machine, of the people, and of an echo.
    n_ : int
        Known labels learnt from.

    Examples
    --------
    Unfitted it is Bayes' rule: odds of 4 and of 1.5 make odds of 6.

    >>> float(CombinedConfidence().predict([[0.8, 0.2]], [[0.6, 0.4]])[0, 0].round(4))
    0.8571
    """

    def __init__(self, *, strength: float = 4.0) -> None:
        if not (np.isfinite(strength) and strength > 0):
            raise InputError(f"strength is {strength}; give a number above 0")
        self.strength = float(strength)
        self.weights_: NDArray[np.float64] = _BAYES.copy()
        self.n_ = 0

    def fit(self, machine: Any, people: Any, truth: Any, *, echoes: Any = None) -> Self:
        """Learn the weights.

        Parameters
        ----------
        machine, people : array of float, shape (n, k)
            Probability of each label by the machine, and by people's answers alone (`answer_evidence`).
        truth : array of int, shape (n,)
            Column of the known label.
        echoes : array of float, shape (n, k), optional
            Answers to each label that repeat a shown suggestion.

        Raises
        ------
        InputError
            Shapes differ, a row is no probability, or a truth no column.
        """
        parts = _parts(machine, people, echoes)
        known = np.asarray(truth)
        if known.shape != parts.shape[1:2] or known.dtype.kind not in "iu":
            raise InputError(f"truth has shape {known.shape}; give the column of the known label for every row")
        if len(known) and not (known.min() >= 0 and known.max() < parts.shape[2]):
            raise InputError(f"truth lies outside the {parts.shape[2]} labels; give columns from 0")
        self.weights_, self.n_ = _newton(parts, known, self.strength), len(known)
        return self

    def predict(self, machine: Any, people: Any, *, echoes: Any = None) -> NDArray[np.float64]:
        """Return the probability of each label, shape (n, k); the arguments are as in `fit`."""
        parts = _parts(machine, people, echoes)
        return _softmax(np.einsum("p,pnk->nk", self.weights_, parts))


def _parts(machine: Any, people: Any, echoes: Any) -> NDArray[np.float64]:
    """Return the three parts of the score, shape (3, n, k)."""
    tables = [np.asarray(each, dtype=np.float64) for each in (machine, people)]
    counts = np.zeros_like(tables[0]) if echoes is None else np.asarray(echoes, dtype=np.float64)
    if tables[0].ndim != 2 or any(each.shape != tables[0].shape for each in (*tables, counts)):
        raise InputError("machine, people and echoes must be tables of one shape, a row an item, a column a label")
    for name, table in zip(("machine", "people"), tables, strict=True):
        if table.size and not ((table >= 0).all() and np.allclose(table.sum(axis=1), 1.0, atol=1e-6)):
            raise InputError(f"{name} must hold probabilities: at least 0, every row summing to 1")
    logs = [np.log(np.clip(table, _LEAST, 1.0)) for table in tables]
    return np.stack([*logs, counts])


def _softmax(score: NDArray[np.float64]) -> NDArray[np.float64]:
    raised = np.exp(score - score.max(axis=1, keepdims=True)) if score.size else score
    result: NDArray[np.float64] = raised / raised.sum(axis=1, keepdims=True)
    return result


def _newton(parts: NDArray[np.float64], truth: NDArray[Any], strength: float) -> NDArray[np.float64]:
    """Maximise the log likelihood less the prior's penalty: concave, so halved Newton steps cannot miss it."""
    rows = np.arange(len(truth))

    def value(weights: NDArray[np.float64]) -> float:
        score = np.einsum("p,pnk->nk", weights, parts)
        top = score.max(axis=1) if len(score) else np.zeros(0)
        total = np.log(np.exp(score - top[:, None]).sum(axis=1)) + top
        return float((score[rows, truth] - total).sum() - strength / 2 * ((weights - _BAYES) ** 2).sum())

    weights = _BAYES.copy()
    for _ in range(_MOST_STEPS):
        chance = _softmax(np.einsum("p,pnk->nk", weights, parts))
        mean = np.einsum("nk,pnk->pn", chance, parts)
        slope = (parts[:, rows, truth] - mean).sum(axis=1) - strength * (weights - _BAYES)
        second = np.einsum("nk,pnk,qnk->pq", chance, parts, parts) - mean @ mean.T + strength * np.eye(3)
        step, before, size = np.linalg.solve(second, slope), value(weights), 1.0
        while size > 1e-9 and value(weights + size * step) < before:
            size /= 2
        weights = weights + size * step
        if float(np.abs(size * step).max()) < 1e-10:
            break
    return weights
