"""Dawid and Skene's model.

Who errs how, and what is the truth then?

Each worker has an error matrix P(answered | true); given the truth, answers are independent. Labels and matrices are
learnt together by expectation maximisation (`_em`), from the shares of the votes or from gold, with gold clamped in
every step.

Guarantee: the objective never falls and is reported step by step; the result does not depend on the order of rows, nor,
ties aside, on any name. Not guaranteed: a global maximum, or that a posterior is calibrated (it is overconfident:
calibrate it on gold before a threshold decides anything).

Source: Dawid and Skene (1979), "Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._base import CategoricalAggregator, require_room, worker_label_index
from hmc_crowd.aggregation._em import EmFit, Progress, Sums, Tables, expectation_maximisation
from hmc_crowd.aggregation._engine import Engine, EngineName, engine_of, moments_of
from hmc_crowd.aggregation._history import WorkerHistory, past_counts, with_history
from hmc_crowd.aggregation._prior import CLASS_PSEUDO, prior_counts, prior_strength
from hmc_crowd.aggregation._skills import accuracy_of, accuracy_of_moments, spammer_score
from hmc_crowd.aggregation._start import first_tables, tables_from
from hmc_crowd.aggregation._strata import by_stratum, strata_of
from hmc_crowd.aggregation._vote_base import require_positive, worker_frame
from hmc_crowd.aggregation._votes import answer_weights, votes_of
from hmc_crowd.aggregation._weighted_em import weighted_em
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.aggregation._codes import CodedAnswers, Repeats
    from hmc_crowd.aggregation._skills import Accuracy
    from hmc_crowd.aggregation._ties import TieRule
    from hmc_crowd.aggregation._votes import Votes

__all__ = ["DawidSkene"]

# In simulation (see `_prior`) the automatic prior keeps the default level with a majority vote where workers gave one
# answer each, and ahead from about 5 answers per worker and label; a weak prior of one's own fell behind by up to .25.
# A label with this share of the answers that no item gets is a sign of a collapsed fit.
_OFTEN_ANSWERED = 0.15
_FEW_ANSWERS_PER_CLASS = 5


# Expected counts below this are not worth a row.
_LEAST_COUNT = 1e-6


def weighted_fit(votes: Votes, pseudo: NDArray[np.float64], *, class_pseudo: float, n_iter: int, tol: float) -> EmFit:
    """Fit on weighted votes, in the form that the engines return."""
    k = votes.n_labels
    given = np.isin(np.arange(k), np.concatenate((votes.label[votes.weight > 0], votes.gold)))
    of_classes = np.where(given, class_pseudo, 0.0)[None, :]
    found = weighted_em(votes, votes.shares(), pseudo=pseudo, n_iter=n_iter, tol=tol, class_pseudo=of_classes)
    with np.errstate(divide="ignore"):
        tables = Tables(np.log(found.class_share[0]), np.log(found.errors).reshape(-1, k))
    answered = np.stack([votes.by_choice(found.posterior[votes.task, true]) for true in range(k)], axis=2)
    sums = Sums(answered.reshape(-1, k), found.posterior.sum(axis=0), found.history[-1])
    return EmFit(found.posterior, tables, sums, found.history, found.converged)


@dataclass(frozen=True)
class _Learnt:
    """What the tables of workers are made from."""

    coded: CodedAnswers
    fit: EmFit
    accuracy: Callable[[], Accuracy]


class DawidSkene(CategoricalAggregator):
    """Learn each worker's error matrix and, with it, the labels.

    Parameters
    ----------
    n_iter : int, default 200
        Most E-steps.
    tol : float, default 1e-7
        Stop when the objective gains at most this much per task in one step.
    prior : float or "auto", default "auto"
        How many answers the prior is worth for each worker, in all: ``prior / K`` for each true label, two thirds of it
        right, the rest spread evenly over the other labels. "auto" follows the number of labels and the answers per
        worker (`prior_strength`; about 6 with two labels); ``prior_used_`` says what came out. With any prior, one task
        of each label counts beside the real ones, so that on few tasks no label is lost. 0 gives maximum likelihood.
    tie : {"first_label", "most_common"}, default "first_label"
        Which of several equally probable labels is given; they are flagged in ``tied_``.
    repeats : {"latest", "all", "refuse"}, default "latest"
        Several answers of one worker to one task: the latest by the column ``submitted`` counts (repeats that agree
        need no times); each counts; or they are an error.
    engine : {"auto", "numpy", "numba", "dask"} or Engine, default "auto"
        What computes. "auto" is numpy, and from two million answers on compiled loops in all processors where numba is
        installed; "dask" is the Dask client of this process, see `DaskEngine`. All give the same labels, and
        posteriors equal to 1e-9.

    Attributes
    ----------
    labels_, probabilities_, tied_, ties_, n_answers_, counts_, tasks_without_label_
        As in `MajorityVote`; ``probabilities_`` are posteriors, task x label.
    errors_ : pandas.DataFrame
        P(answered | true) as ``errors_.loc[(worker, answered label), true label]``.
    priors_ : pandas.Series
        Share of each label among the tasks.
    skills_ : pandas.Series
        Per worker, the probability of a right answer to a task drawn from all: the diagonal of the error matrix
        weighted by ``priors_``.
    workers_ : pandas.DataFrame
        Columns ``worker, n_answers, skill, accuracy, se, low, high, spammer_score``: ``accuracy`` is the expected share
        of right answers without the prior, with standard error and 95% interval.
    loss_history_ : list of float
        The objective at each E-step: the marginal log-likelihood, plus the log prior density up to a constant if
        ``prior`` > 0. It never falls.
    n_iter_, converged_ : int, bool
        E-steps done, and whether ``tol`` was reached.

    See Also
    --------
    MajorityVote : Preferable when workers gave only a few answers each: with K labels a worker has K * (K - 1) unknown
        rates. In simulation the automatic prior keeps up with it even at one answer each, and is better from about five
        answers per worker and label; a weaker prior may fall far behind. ``cautions`` says where this applies.

    Notes
    -----
    One class only gives that class with probability 1; a single worker gives that worker's answers back, as nothing
    else is known; workers who oppose each other everywhere leave ties. Nothing switches method silently.

    Examples
    --------
    Two workers agree; the third always says the opposite, which is as informative:

    >>> truth = [0, 1, 0, 1, 1, 0, 1, 0]
    >>> answers = pd.DataFrame(
    ...     [(task, worker, label) for task, label in enumerate(truth) for worker in ("ann", "bob")]
    ...     + [(task, "eve", 1 - label) for task, label in enumerate(truth)],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> model = DawidSkene(prior=0).fit(answers)
    >>> model.labels_.tolist() == truth
    True
    >>> model.skills_.round(3).to_dict()
    {'ann': 1.0, 'bob': 1.0, 'eve': 0.0}
    """

    method = "Dawid-Skene"

    # Comparisons with implementations that clip counts set this, see `next_tables`.
    _trace = 0.0

    priors_: pd.Series[Any]
    loss_history_: list[float]
    n_iter_: int
    converged_: bool
    prior_used_: float
    stratum_priors_: pd.DataFrame | None
    stratum_skills_: pd.DataFrame | None

    def __init__(
        self,
        n_iter: int = 200,
        *,
        tol: float = 1e-7,
        prior: float | Literal["auto"] = "auto",
        tie: TieRule = "first_label",
        repeats: Repeats = "latest",
        engine: EngineName | Engine = "auto",
    ) -> None:
        super().__init__(tie=tie)
        if isinstance(n_iter, bool) or not isinstance(n_iter, int | np.integer) or n_iter < 1:
            raise InputError(f"n_iter is {n_iter!r}; give a whole number of at least 1")
        if prior != "auto" and not (isinstance(prior, int | float | np.number) and 0 <= prior < np.inf):
            raise InputError(
                f"prior is {prior!r}; give a number of answers of at least 0 (0 is maximum likelihood), or 'auto'"
            )
        self.n_iter = int(n_iter)
        self.tol = require_positive(tol, name="tol")
        self.prior: float | Literal["auto"] = "auto" if prior == "auto" else float(prior)
        self.repeats: Repeats = repeats
        engine_of(engine)  # refuses what is none
        self.engine: EngineName | Engine = engine

    def fit(
        self,
        answers: pd.DataFrame,
        gold: Any = None,
        *,
        labels: Iterable[Any] | None = None,
        start: DawidSkene | None = None,
        history: WorkerHistory | pd.DataFrame | None = None,
        weights: str | ArrayLike | None = None,
        strata: str | pd.Series[Any] | Mapping[Any, Any] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn labels and error matrices.

        Parameters
        ----------
        answers : pandas.DataFrame
            Columns ``task, worker, label`` and optionally ``submitted``.
        gold : pandas.DataFrame, pandas.Series or mapping, optional
            Known labels. Their posterior is clamped, so that they teach the error matrices in every step.
        labels : iterable, optional
            The whole label set in label order; default the sorted labels met.
        start : DawidSkene, optional
            A fitted model to start from (warm start): known workers keep their matrices, new ones get the mean of all.
            Default: start from the shares of the votes or, with gold, from what gold says of each worker.
        history : WorkerHistory or pandas.DataFrame, optional
            Past counts ``worker, label, truth, count`` of known workers: they count in every M-step.
        weights : str or array of float, optional
            Weight of each answer, at least 0: a column of ``answers``, or one number a row. Default 1 each. Weighted
            answers, and strata, are computed in this process by scipy, whatever the engine.
        strata : str, pandas.Series or mapping, optional
            Stratum of each task (routed, audit, confidence band), or the column that holds it: label shares and error
            matrices may then differ by stratum, each worker's pulled towards his own over all strata.
        progress : callable, optional
            Called after each iteration with what is counted, how many are done, and how many there are at most.

        Raises
        ------
        FrameError
            The table is not as described; see the message.
        InputError
            ``start`` was not fitted, or on another label set.
        ModelError
            The worker table or the posteriors would not fit in memory.
        """
        if not isinstance(answers, pd.DataFrame) and not (weights is None and strata is None):
            raise InputError("weights and strata need the answers in this process; give them as a pandas DataFrame")
        coded, session = engine_of(self.engine).prepare(answers, gold, labels=labels, repeats=self.repeats)
        n_tasks, n_workers, k = len(coded.tasks), len(coded.workers), len(coded.labels)
        require_room("DawidSkene", cells=n_workers * k * k, shape=f"{n_workers:,} workers x {k:,} x {k:,} labels")
        require_room("DawidSkene", cells=n_tasks * k, shape=f"{n_tasks:,} tasks x {k:,} labels")
        median = float(np.median(coded.worker_answers))
        self.prior_used_ = prior_strength(k, answers_per_worker=median) if self.prior == "auto" else self.prior
        pseudo = prior_counts(k, strength=self.prior_used_)
        past = past_counts(history, coded.workers, coded.labels)
        if past is not None:
            pseudo = pseudo + past
        trace, of_classes = self._trace, CLASS_PSEUDO if self.prior_used_ else 0.0
        tables = (
            first_tables(session, pseudo, class_pseudo=of_classes, trace=trace)
            if start is None
            else tables_from(start, coded)
        )
        if weights is None:
            fit = expectation_maximisation(
                session,
                tables,
                pseudo=pseudo,
                class_pseudo=of_classes,
                n_iter=self.n_iter,
                tol=self.tol,
                progress=progress,
                trace=trace,
            )
            votes = None
        else:
            votes = votes_of(coded, weight=answer_weights(answers, coded, weights))
            fit = weighted_fit(votes, pseudo, class_pseudo=of_classes, n_iter=self.n_iter, tol=self.tol)
        self.stratum_priors_ = self.stratum_skills_ = None
        if strata is not None:
            fit = self._fit_strata(coded, fit, votes or votes_of(coded), strata_of(strata, answers, coded.tasks))
        self._publish(coded, fit.posterior)
        self.counts_ = with_history(coded.counts, history, coded.workers)
        self.priors_ = pd.Series(np.exp(fit.tables.log_class), index=coded.labels.rename("label"), name="prior")
        self.loss_history_, self.n_iter_, self.converged_ = list(fit.history), len(fit.history), fit.converged
        if votes is None:
            moments = session.moments() if strata is None else moments_of(coded, fit.posterior, n_workers=n_workers)
            accuracy = partial(accuracy_of_moments, coded.worker_answers, moments, past=past)
        else:
            accuracy = partial(accuracy_of, votes, fit.posterior)
        self._learnt = _Learnt(coded, fit, accuracy)
        for name in ("errors_", "skills_", "workers_"):
            self.__dict__.pop(name, None)
        return self

    def _fit_strata(
        self, coded: CodedAnswers, fit: EmFit, votes: Votes, strata: tuple[NDArray[np.intp], pd.Index[Any]]
    ) -> EmFit:
        found = by_stratum(
            votes,
            strata[0],
            fit.posterior,
            pooled=fit.tables.errors,
            class_share=np.exp(fit.tables.log_class),
            strength=max(self.prior_used_ / len(coded.labels), 1.0),
            n_iter=self.n_iter,
            tol=self.tol,
        )
        names, workers = strata[1].rename("stratum"), coded.workers.rename("worker")
        self.stratum_priors_ = pd.DataFrame(found.class_share, index=names, columns=coded.labels)
        skills = np.einsum("wskk,sk->ws", found.errors, found.class_share)
        self.stratum_skills_ = pd.DataFrame(skills, index=workers, columns=names)
        return replace(fit, posterior=found.posterior, history=found.history, converged=found.converged)

    # The tables of workers are made when asked for: on small jobs they would cost as much as half of the iterations.
    @cached_property
    def errors_(self) -> pd.DataFrame:
        """P(answered | true), rows (worker, answered label), one column a true label."""
        coded = self._learnt.coded
        errors = self._learnt.fit.tables.errors.reshape(-1, len(coded.labels))
        return pd.DataFrame(errors, index=worker_label_index(coded.workers, coded.labels), columns=coded.labels)

    @cached_property
    def skills_(self) -> pd.Series[Any]:
        """Probability of a right answer to a task drawn from all, per worker."""
        skills = np.einsum("wkk,k->w", self._learnt.fit.tables.errors, self.priors_.to_numpy())
        return pd.Series(skills, index=self._learnt.coded.workers.rename("worker"), name="skill")

    @cached_property
    def workers_(self) -> pd.DataFrame:  # type: ignore[override]  # because the base class holds it as an attribute
        """The table of workers."""
        score = spammer_score(self._learnt.fit.tables.errors)
        skills = self.skills_.to_numpy()
        return worker_frame(self._learnt.coded, self._learnt.accuracy(), skill=skills, spammer_score=score)

    @property
    def _answered(self) -> NDArray[np.float64]:
        k = len(self.priors_)
        return self._learnt.fit.sums.answered.reshape(-1, k, k)

    @property
    def history_(self) -> WorkerHistory:
        """Expected counts of each worker in this fit, without prior or past: what a later fit takes as ``history``."""
        who, answered, true = np.nonzero(self._answered > _LEAST_COUNT)
        labels, workers = self.priors_.index, self.skills_.index
        table = {"worker": workers.take(who), "label": labels.take(answered), "truth": labels.take(true)}
        return WorkerHistory(pd.DataFrame({**table, "count": self._answered[who, answered, true]}))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the result rests on, one sentence each."""
        worth = self.prior_used_
        prior = f"a prior worth {worth:g} answers a worker" if worth else "maximum likelihood, no prior"
        return (
            f"Given the truth, workers err independently, each by one error matrix ({prior}).",
            "Confidence is an uncalibrated posterior, usually too high: calibrate it on gold before using a threshold.",
            *self._shared_assumptions(self.counts_.gold_used),
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """What makes this fit doubtful, one sentence each; empty if nothing was noticed."""
        found = []
        if not self.converged_:
            found.append(f"Not converged after {self.n_iter_} iterations: raise n_iter or tol.")
        median, k = float(self.workers_["n_answers"].median()), len(self.priors_)
        if k > 1 and median < _FEW_ANSWERS_PER_CLASS * k:
            found.append(
                f"Half of the workers gave at most {median:g} answers, few for {k} labels: compare with majority vote."
            )
        given = self._answered.sum(axis=(0, 2))
        unused = (given >= _OFTEN_ANSWERED * given.sum()) & ~self.priors_.index.isin(self.labels_)
        if unused.any():
            lost = ", ".join(map(repr, self.priors_.index[unused].tolist()))
            found.append(
                f"No item got {lost}, although people gave it often: the fit may have collapsed, as it does on few "
                "items; compare with majority vote."
            )
        return tuple(found)
