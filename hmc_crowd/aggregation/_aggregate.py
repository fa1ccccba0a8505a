"""One call from answers to labels, for whoever does not want to meet the estimators."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.aggregation._choose import ALL_METHODS, Choice, choose
from hmc_crowd.aggregation._choose_core import LEAST_GOLD
from hmc_crowd.aggregation._counts import AnswerCounts
from hmc_crowd.aggregation._crowdkit import aggregate_with_crowdkit
from hmc_crowd.aggregation._dask import DaskEngine
from hmc_crowd.aggregation._names import as_pandas
from hmc_crowd.aggregation._numeric import NumericAggregator
from hmc_crowd.aggregation._result import AggregateResult
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._engine import Engine, EngineName
    from hmc_crowd.aggregation._protocol import Aggregator
    from hmc_crowd.aggregation._repeats import Repeats

__all__ = ["METHODS", "aggregate", "aggregator", "method_name"]

METHODS: dict[str, Callable[[], Aggregator]] = dict(ALL_METHODS)

_CROWDKIT = "crowdkit:"


def aggregate(
    answers: Any,
    *,
    method: str | Aggregator = "dawid_skene",
    gold: Any = None,
    labels: Iterable[Any] | None = None,
    history: Any = None,
    strata: Any = None,
    weights: Any = None,
    repeats: Repeats | None = None,
    engine: EngineName | Engine | None = None,
    client: Any = None,
    progress: Progress | None = None,
) -> AggregateResult:
    """Turn many answers per item into one label with its doubt.

    Parameters
    ----------
    answers : pandas.DataFrame, or a polars or pyarrow table, a Hugging Face Dataset, or a list of dicts
        Columns ``task, worker, label`` (``task`` holds the item id) and optionally ``submitted``; one aspect.
    method : str or Aggregator, default "dawid_skene"
        By name with its defaults, dashes as good as underscores: ``bwa, dawid_skene, ebcc, glad, ibcc, mace, majority,
        one_coin, wawa, weighted``; ``numeric`` for numbers (with ``labels``: steps in order); ``choose`` picks one by
        the gold (`choose`); ``crowdkit:NAME`` is for texts, comparisons, sets of labels and masks
        (`aggregate_with_crowdkit`). Or an estimator of your own making, such as ``DawidSkene(prior=0)``. No other
        method is ever put in the place of a named one; doubts stand in ``AggregateResult.cautions``.
    gold : pandas.DataFrame, pandas.Series or mapping, optional
        Known labels, columns ``item`` (or ``task``) and ``label``: they enter as truth. Gold for items without answers
        is counted and otherwise ignored.
    labels : iterable, optional
        The whole label set in label order; name it when a label may not have been chosen by anybody yet.
    history : WorkerHistory or pandas.DataFrame, optional
        Past counts ``worker, label, truth, count`` of known workers, for methods that learn about workers.
    strata : str, Series or mapping, optional
        Stratum of each task, or the column that holds it, see `DawidSkene`.
    weights : str or array of float, optional
        Weight of each answer, at least 0: a column of ``answers``, or one number a row; for methods of labels.
    repeats : {"latest", "all", "refuse"}, optional
        What to do with several answers of one worker to one task; for methods by name.
    engine : {"auto", "numpy", "numba", "dask"} or Engine, optional
        What computes Dawid-Skene, see `DawidSkene`; "dask" also takes the path of partitioned Parquet as ``answers``.
    client : distributed.Client or str, optional
        With ``engine="dask"``: the client, or the address of the scheduler. Default: the client that is open already.
    progress : callable, optional
        Told after each iteration of a method that has any: what is counted, how many are done, how many at most.

    Returns
    -------
    AggregateResult
        Frozen.

    Raises
    ------
    InputError, FrameError
        An unknown method, or tables that are not as described.
    ModelError
        More labels than memory allows.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [("a", "w1", "yes"), ("a", "w2", "yes"), ("b", "w1", "no"), ("b", "w2", None)],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> result = aggregate(answers, method="majority")
    >>> result.frame[["item", "label", "confidence", "n_answers", "tied"]].to_dict("records")[1]
    {'item': 'b', 'label': 'no', 'confidence': 1.0, 'n_answers': 1, 'tied': False}
    >>> result.counts.missing_label
    1
    """
    answers, gold, history = (
        as_pandas(table, name=name) for name, table in (("answers", answers), ("gold", gold), ("history", history))
    )
    given = {"history": history, "strata": strata, "weights": weights}
    more = {name: value for name, value in given.items() if value is not None}
    if not isinstance(method, str):
        if isinstance(method, type) or not hasattr(method, "fit"):
            raise InputError(
                f"method is {method!r}; give a name such as 'dawid_skene', or an estimator with a fit method"
            )
        _refuse(method="an estimator", engine=engine, client=client, repeats=repeats)
        return _fitted(method, answers, gold, labels, more, progress)
    name = method_name(method)
    if name.startswith(_CROWDKIT):
        _refuse(method=method, engine=engine, client=client, repeats=repeats, gold=gold, labels=labels, **more)
        return aggregate_with_crowdkit(answers, name)
    kept: dict[str, Any] = {} if repeats is None else {"repeats": repeats}
    if name == "numeric":
        _refuse(method=method, engine=engine, client=client, **more)
        return _of_numbers(NumericAggregator(labels, **kept).fit(answers, gold))
    if name == "choose":
        _refuse(method=method, engine=engine, client=client, **more)
        return _of_choice(answers, gold, labels, kept, progress)
    model = aggregator(name, engine=engine, client=client, repeats=repeats)
    return _fitted(model, answers, gold, labels, more, progress)


def method_name(method: str) -> str:
    """Return a method's name as it is written here, or say which there are.

    Examples
    --------
    >>> method_name("Dawid-Skene")
    'dawid_skene'
    """
    name = method.strip().lower().replace("-", "_")
    if name.startswith(_CROWDKIT) or name in METHODS or name in {"choose", "numeric"}:
        return name
    known = ", ".join(map(repr, (*METHODS, "choose", "numeric")))
    raise InputError(f"method is {method!r}; choose one of {known} or 'crowdkit:NAME', or pass an estimator")


def aggregator(
    method: str, *, engine: EngineName | Engine | None = None, client: Any = None, repeats: Repeats | None = None
) -> Aggregator:
    """Return the estimator of a name; arguments as in `aggregate`.

    Raises
    ------
    InputError
        The name means no estimator of labels, or an engine is given that it does not run on.

    Examples
    --------
    >>> type(aggregator("one-coin")).__name__
    'OneCoinDawidSkene'
    """
    name = method_name(method)
    if name not in METHODS:
        raise InputError(f"method is {method!r}, which has no estimator of its own; call aggregate with it")
    make: Any = METHODS[name]
    if "engine" not in signature(make).parameters:
        _refuse(method=repr(name), engine=engine, client=client)
    if client is not None and engine != "dask":
        raise InputError(f"client goes with engine='dask', engine is {engine!r}; name it, or leave client out")
    more: dict[str, Any] = {} if repeats is None else {"repeats": repeats}
    if engine is not None:
        more["engine"] = DaskEngine(client) if engine == "dask" else engine
    made: Aggregator = make(**more)
    return made


def _refuse(*, method: str, **given: Any) -> None:
    """Refuse what a method cannot use: leaving it out without a word would be a silent default."""
    unused = [name for name, value in given.items() if value is not None]
    if unused:
        use = "go" if len(unused) > 1 else "goes"
        with_what = "method='dawid_skene' by name" if {"engine", "client"} & set(unused) else "other methods"
        raise InputError(
            f"{' and '.join(unused)} {use} with {with_what}, not with {method}; leave out what does not fit"
        )


def _fitted(
    model: Aggregator, answers: Any, gold: Any, labels: Any, more: dict[str, Any], progress: Progress | None
) -> AggregateResult:
    known = signature(model.fit).parameters
    _refuse(method=getattr(model, "method", type(model).__name__), **{k: v for k, v in more.items() if k not in known})
    if progress is not None and "progress" in known:
        more = {**more, "progress": progress}
    return result_of(model.fit(answers, gold, labels=labels, **more))


def _of_choice(
    answers: pd.DataFrame, gold: Any, labels: Any, kept: dict[str, Any], progress: Progress | None
) -> AggregateResult:
    """Choose by the gold, and return the chosen method's labels, corrected, with its own view of the workers."""
    if gold is None:
        raise InputError("method='choose' compares methods on gold; give gold, or name a method")
    labels = None if labels is None else list(labels)
    choice: Choice = choose(answers, gold, labels=labels, progress=progress, **kept)
    plain = result_of(ALL_METHODS[choice.method](**kept).fit(answers, labels=labels))
    values = choice.probabilities.to_numpy()
    frame = plain.frame.assign(label=choice.labels.to_numpy(), confidence=values.max(axis=1))
    frame["tied"] = (values == values.max(axis=1, keepdims=True)).sum(axis=1) > 1
    frame[[f"p_{label}" for label in choice.probabilities.columns]] = values
    few = f"Gold is too little to choose a method by ({choice.n_gold} answered items, fewer than {LEAST_GOLD})."
    enough = choice.n_gold >= LEAST_GOLD
    return replace(
        plain,
        frame=frame,
        method=f"{plain.method}, {'chosen by gold' if enough else 'the default'}",
        cautions=plain.cautions if enough else (few, *plain.cautions),
        assumptions=(f"Chosen: {choice}", *choice.assumptions, *plain.assumptions),
        counts=replace(plain.counts, gold=choice.n_gold + choice.n_gold_unused, gold_used=choice.n_gold),
    )


def _of_numbers(model: NumericAggregator) -> AggregateResult:
    """Return values in the form of labels: their interval beside them, no confidence."""
    from hmc_crowd import __version__  # because a result names the version that made it

    values, counts = model.values_, model.counts_
    frame = pd.DataFrame(
        {
            "item": values.index.to_numpy(),
            "label": model.labels_.to_numpy(),
            "confidence": float("nan"),
            "n_answers": values["n_answers"].to_numpy(),
            "tied": False,
            **{name: values[name].to_numpy() for name in ("value", "se", "low", "high")},
        }
    )
    if model.levels is not None:
        frame["confidence"] = model.probabilities_.to_numpy().max(axis=1)
    reliability = (
        f"PRMSE is {model.prmse_:.3f} for the values and {model.prmse_single_:.3f} for a typical single answer."
    )
    slow = () if model.converged_ else (f"Not converged after {model.n_iter_} iterations: raise n_iter or tol.",)
    return AggregateResult(
        frame=frame,
        workers=model.workers_,
        method=model.method,
        assumptions=(reliability, *model.assumptions),
        cautions=slow,
        counts=AnswerCounts(**counts.__dict__, labels=0 if model.levels is None else len(model.levels)),
        items_without_label=tuple(model.tasks_without_label_),
        n_iter=model.n_iter_,
        converged=model.converged_,
        objective=tuple(model.loss_history_),
        version=__version__,
    )


def result_of(model: Aggregator) -> AggregateResult:
    """Return what a fitted aggregator found, as one frozen object."""
    from hmc_crowd import __version__  # because a result names the version that made it

    probabilities = model.probabilities_
    frame = pd.DataFrame(
        {
            "item": probabilities.index.to_numpy(),
            "label": model.labels_.to_numpy(),
            "confidence": probabilities.to_numpy().max(axis=1),
            "n_answers": model.n_answers_.to_numpy(),
            "tied": model.tied_.to_numpy(),
        }
    )
    posterior = probabilities.set_axis([f"p_{label}" for label in probabilities.columns], axis=1).reset_index(drop=True)
    return AggregateResult(
        frame=pd.concat([frame, posterior], axis=1),
        workers=model.workers_,
        method=getattr(model, "method", type(model).__name__),
        assumptions=tuple(model.assumptions),
        cautions=tuple(getattr(model, "cautions", ())),
        counts=model.counts_,
        items_without_label=tuple(getattr(model, "tasks_without_label_", ())),
        n_iter=getattr(model, "n_iter_", None),
        converged=getattr(model, "converged_", None),
        objective=tuple(getattr(model, "loss_history_", ())),
        version=__version__,
    )
