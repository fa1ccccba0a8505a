"""One call from answers to labels, for whoever does not want to meet the estimators."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.aggregation._choose import ALL_METHODS
from hmc_crowd.aggregation._crowdkit import aggregate_with_crowdkit
from hmc_crowd.aggregation._dask import DaskEngine
from hmc_crowd.aggregation._result import AggregateResult
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._engine import Engine, EngineName
    from hmc_crowd.aggregation._protocol import Aggregator

__all__ = ["METHODS", "aggregate"]

METHODS: dict[str, Callable[[], Aggregator]] = dict(ALL_METHODS)


def aggregate(
    answers: pd.DataFrame,
    *,
    method: str | Aggregator = "dawid_skene",
    gold: Any = None,
    labels: Iterable[Any] | None = None,
    engine: EngineName | Engine | None = None,
    client: Any = None,
    progress: Progress | None = None,
) -> AggregateResult:
    """Turn many answers per item into one label with its doubt.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label`` (``task`` holds the item id) and optionally ``submitted``; one aspect.
    method : {"dawid_skene", "majority"} or Aggregator, default "dawid_skene"
        By name with its defaults, or an estimator of your own making, such as ``DawidSkene(prior=0)``. No other method
        is ever put in its place; doubts about the choice stand in ``AggregateResult.cautions``. ``"crowdkit:NAME"`` is
        for texts, comparisons, sets of labels and masks, see `aggregate_with_crowdkit`.
    gold : pandas.DataFrame, pandas.Series or mapping, optional
        Known labels, columns ``item`` (or ``task``) and ``label``: they enter as truth. Gold for items without answers
        is counted and otherwise ignored.
    labels : iterable, optional
        The whole label set in label order; name it when a label may not have been chosen by anybody yet.
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
    if isinstance(method, str) and method.startswith("crowdkit:"):
        _refuse_engine(method, engine, client)
        return aggregate_with_crowdkit(answers, method)
    if isinstance(method, str):
        if method not in METHODS:
            raise InputError(
                f"method is {method!r}; choose one of {', '.join(map(repr, METHODS))}, or pass an estimator"
            )
        model = _made(method, engine, client)
    elif isinstance(method, type) or not hasattr(method, "fit"):
        raise InputError(f"method is {method!r}; give a name such as 'dawid_skene', or an estimator with a fit method")
    else:
        _refuse_engine("an estimator", engine, client)
        model = method
    more = {"progress": progress} if progress is not None and "progress" in signature(model.fit).parameters else {}
    return result_of(model.fit(answers, gold, labels=labels, **more))


def _made(method: str, engine: EngineName | Engine | None, client: Any) -> Aggregator:
    """Return the estimator of a name, on an engine if one is named."""
    make: Any = METHODS[method]
    if "engine" not in signature(make).parameters:
        _refuse_engine(repr(method), engine, client)
    if client is not None and engine != "dask":
        raise InputError(f"client goes with engine='dask', engine is {engine!r}; name it, or leave client out")
    if engine is None:
        made: Aggregator = make()
    else:
        made = make(engine=DaskEngine(client) if engine == "dask" else engine)
    return made


def _refuse_engine(method: str, engine: EngineName | Engine | None, client: Any) -> None:
    if engine is not None or client is not None:
        raise InputError(f"engine and client go with method='dawid_skene' by name, not with {method}; leave them out")


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
