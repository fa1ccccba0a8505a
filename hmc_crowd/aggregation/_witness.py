"""The model as one more witness.

Answers are few, and a classifier knows something too. Its probabilities are averaged with the workers' answers, each
weighed by how much better it agrees with the others than the most frequent label alone would.

Guarantee: the result carries the evidence ``with_model``; calibration and choice refuse it. Workers' weights rest on
the agreement among workers alone: the model cannot vouch for those who follow it.

Source, in our own words: Goh, Tkachenko, Mueller (2022), "CROWDLAB: Supervised Learning to Infer Consensus Labels and
Quality Scores for Data with Multiple Annotators".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._codes import encode
from hmc_crowd.aggregation._names import coded as place_in
from hmc_crowd.aggregation._votes import Votes, votes_of
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import Repeats
    from hmc_crowd.aggregation._counts import AnswerCounts

__all__ = ["WitnessResult", "with_witness"]

_LEAST_WEIGHT = 1e-6


@dataclass(frozen=True)
class WitnessResult:
    """Labels that a model helped to make.

    Parameters
    ----------
    labels_, probabilities_ : pandas.Series, pandas.DataFrame
        Per task, as estimators publish them.
    workers_ : pandas.DataFrame
        ``worker, n_answers, agreement, weight``.
    model_weight : float
        Weight of the model beside one answer.
    model_agreement, baseline : float
        How often the model, and the most frequent label, agree with the majority of tasks with several answers.
    counts_ : AnswerCounts
    evidence : str
        Always "with_model".
    """

    labels_: pd.Series[Any]
    probabilities_: pd.DataFrame
    workers_: pd.DataFrame
    model_weight: float
    model_agreement: float
    baseline: float
    counts_: AnswerCounts
    evidence: str = "with_model"
    assumptions: tuple[str, ...] = (
        "The model was not trained on these tasks' answers (use out-of-sample probabilities).",
        "Never use these labels to certify, calibrate or choose: the model would vouch for itself.",
    )

    def __str__(self) -> str:
        return f"with a model of weight {self.model_weight:.2f}: {len(self.labels_):,} items labelled; {self.counts_}"


def with_witness(
    answers: pd.DataFrame,
    predictions: pd.DataFrame,
    *,
    labels: Iterable[Any] | None = None,
    repeats: Repeats = "latest",
) -> WitnessResult:
    """Combine a classifier's probabilities with the answers.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label`` and optionally ``submitted``.
    predictions : pandas.DataFrame
        Columns ``item`` (or ``task``) and ``p_<label>`` for every label; or one column per label, indexed by task.
        Every answered task needs a row; other rows are ignored.
    labels : iterable, optional
        The whole label set; default the labels of the answers, in the predictions' columns.
    repeats : see `MajorityVote`.

    Raises
    ------
    FrameError
        A task has no prediction, a label has no column, or probabilities are missing or not in [0, 1].

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [("a", "u", "x"), ("a", "v", "y"), ("b", "u", "y"), ("b", "v", "y"), ("c", "u", "x"), ("c", "v", "x")],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> predictions = pd.DataFrame({"item": ["a", "b", "c"], "p_x": [0.1, 0.2, 0.9], "p_y": [0.9, 0.8, 0.1]})
    >>> found = with_witness(answers, predictions)
    >>> found.labels_.to_dict(), found.evidence
    ({'a': 'y', 'b': 'y', 'c': 'x'}, 'with_model')
    """
    coded = encode(answers, labels=labels if labels is None else list(labels), repeats=repeats)
    model = _model_table(predictions, coded.tasks, coded.labels)
    votes = votes_of(coded)
    shares = votes.shares()
    crowd = coded.n_answers > 1
    # Ties of the majority are resolved by the model, where it prefers one.
    majority = (shares + 1e-6 * model).argmax(axis=1)
    everybody = crowd if crowd.any() else np.ones(len(crowd), dtype=bool)
    frequent = np.bincount(majority[everybody], minlength=votes.n_labels).argmax()
    baseline = min(float((majority[everybody] == frequent).mean()), 1 - 1e-3)
    agreement = _agreements(votes, crowd[votes.task])
    # How often an answer is the consensus, over tasks with several: what one answer is worth.
    followed = shares[np.arange(len(majority)), majority][everybody].mean()
    typical = float(np.clip(followed, 1.0 / votes.n_labels, 1 - 1e-3))
    weight = np.clip(1 - (1 - agreement) / (1 - baseline), _LEAST_WEIGHT, None)
    model_agreement = float((model.argmax(axis=1) == majority)[everybody].mean())
    model_weight = max(1 - (1 - model_agreement) / (1 - baseline), _LEAST_WEIGHT)
    model_weight *= float(np.sqrt(coded.n_answers.mean()))
    values = _average(votes, model, weight, model_weight, typical)
    chosen = coded.labels.take(values.argmax(axis=1))
    index = coded.tasks.rename("task")
    found = pd.Series(chosen.to_numpy(), index=index, name="label", dtype=chosen.dtype)
    probabilities = pd.DataFrame(values, index=index, columns=coded.labels)
    for table in (found, probabilities):  # so that they say it also where they are passed on alone
        table.attrs["evidence"] = "with_model"
    return WitnessResult(
        labels_=found,
        probabilities_=probabilities,
        workers_=pd.DataFrame(
            {"worker": coded.workers, "n_answers": coded.worker_answers, "agreement": agreement, "weight": weight}
        ),
        model_weight=model_weight,
        model_agreement=model_agreement,
        baseline=baseline,
        counts_=coded.counts,
    )


def _average(
    votes: Votes, model: NDArray[np.float64], weight: NDArray[np.float64], model_weight: float, typical: float
) -> NDArray[np.float64]:
    """Return the weighted mean of the model's and the answers' distributions; an answer is right with ``typical``."""
    k = votes.n_labels
    miss = (1 - typical) / max(k - 1, 1)
    per_answer = weight[votes.worker]
    total = votes.by_task(per_answer)[:, None]
    said = votes.by_cell(per_answer * (typical - miss)) + miss * total
    result: NDArray[np.float64] = (said + model_weight * model) / (total + model_weight)
    result /= result.sum(axis=1, keepdims=True)
    return result


def _agreements(votes: Votes, several: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return each worker's agreement with the other workers of the same tasks; who met nobody gets the mean."""
    count = votes.by_cell(np.ones(len(votes.task)))
    same = count.ravel()[votes.cell] - 1
    others = count.sum(axis=1)[votes.task] - 1
    met = several & (others > 0)
    agree = np.where(met, same / np.maximum(others, 1), 0.0)
    pairs = votes.by_worker(np.where(met, 1.0, 0.0))
    typical = float(agree.sum() / max(met.sum(), 1)) if met.any() else 0.5
    found = np.full(votes.n_workers, typical)
    np.divide(votes.by_worker(agree), pairs, out=found, where=pairs > 0)
    return found


def _model_table(predictions: pd.DataFrame, tasks: pd.Index[Any], labels: pd.Index[Any]) -> NDArray[np.float64]:
    if not isinstance(predictions, pd.DataFrame):
        raise FrameError(f"predictions is a {type(predictions).__name__}; give a frame with item and p_<label> columns")
    frame = predictions
    for key in ("item", "task"):
        if key in frame.columns:
            named = {f"p_{label}": label for label in labels}
            frame = frame.set_index(key)
            frame = frame[[column for column in frame.columns if column in named]].rename(columns=named)
            break
    if not frame.index.is_unique:
        raise FrameError(
            f"predictions names item {frame.index[frame.index.duplicated()][0]!r} twice; keep one row each"
        )
    columns = place_in(pd.Index(frame.columns), labels)
    if (columns < 0).any():
        raise FrameError(
            f"predictions has no probability for the label {labels[columns < 0].tolist()[0]!r}; add its column"
        )
    rows = place_in(pd.Index(frame.index), tasks)
    if (rows < 0).any():
        missing = tasks[rows < 0]
        raise FrameError(
            f"predictions has no row for {len(missing)} answered items, first {missing.tolist()[0]!r}; add them"
        )
    try:
        values = frame.to_numpy(dtype=float)[rows][:, columns]
    except (TypeError, ValueError) as error:
        raise FrameError(f"predictions must hold numbers: {error}") from None
    if not bool(((values >= 0) & (values <= 1)).all()) or bool((values.sum(axis=1) <= 0).any()):
        raise InputError("predictions must be probabilities in [0, 1] with a positive sum in every row; correct them")
    result: NDArray[np.float64] = values / values.sum(axis=1, keepdims=True)
    return result
