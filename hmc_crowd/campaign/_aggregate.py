"""From several answers to one label: a full aggregation, or an update under the worker tables of the last one.

A full aggregation learns about workers and items together and keeps the worker tables in SQL. An update labels the
items with new answers at once, under those tables; any later aggregation, also in another process, is the refit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.aggregation import AnswerStream, WorkerHistory, aggregator, method_name
from hmc_crowd.aggregation import aggregate as aggregate_answers
from hmc_crowd.campaign._data import known_labels
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store import AggregationRecord

if TYPE_CHECKING:
    from hmc_crowd.aggregation import AggregateResult
    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.store import Transaction

__all__ = ["AggregateRequest", "Aggregated", "aggregate", "require_plain_update", "update_labels"]

_STREAMED = "dawid_skene"
_STRATA = "route"
_STRATUM = {"people": "routed", "audit": "audit"}
_QUALITY = ["worker", "n_answers", "accuracy", "se", "low", "high"]


@dataclass(frozen=True)
class AggregateRequest:
    """What `Campaign.aggregate` was asked for."""

    method: str
    strata: str | None = None
    history: str | None = None
    engine: Any = None
    client: Any = None


@dataclass(frozen=True)
class Aggregated:
    """What aggregation made of the answers; ``workers`` is the model's view of each worker."""

    labels: pd.DataFrame
    workers: pd.DataFrame
    method: str
    answers: int
    tied: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        tied = f", {self.tied:,} tied" if self.tied else ""
        return f"{len(self.labels):,} labels from {self.answers:,} answers by {self.method}{tied}"


def aggregate(context: Context, request: AggregateRequest, progress: Progress | None = None) -> Aggregated:
    """Turn the answers so far into one label for each item and aspect that people answered."""
    name = _method(request)
    with context.store.begin() as tx:
        answers = _answers(context, tx)
        gold = tx.frames.read(context.campaign_id, "gold")
        round_ = tx.campaigns.get(context.name).round
        results = {}
        for aspect, rows in answers.groupby("aspect", observed=True):
            known = gold.loc[gold["aspect"] == aspect, ["item", "label"]]
            results[str(aspect)] = _aspect(context, tx, request, name, str(aspect), rows, known, progress)
        labels = pd.concat(
            [_label_rows(result.frame, aspect, gold) for aspect, result in results.items()], ignore_index=True
        )
        _withdraw_unsupported(context, tx, answers)
        tx.labels.save(context.campaign_id, round_, labels)
        tied = int(labels["tied"].sum())
        context.log(tx, "aggregated", round=round_, labels=len(labels), tied=tied, method=name)
    workers = pd.concat([result.workers.assign(aspect=name) for name, result in results.items()], ignore_index=True)
    notes = tuple(note for result in results.values() for note in (*result.cautions, *result.assumptions))
    return Aggregated(labels, workers, name, len(answers), tied, notes)


def _method(request: AggregateRequest) -> str:

    name = method_name(request.method)
    if name == "numeric" or name.startswith("crowdkit:"):
        raise InputError(
            f"method is {name!r}, but a campaign's answers are single labels; export the answers and aggregate the file"
        )
    if request.strata not in (None, _STRATA):
        raise InputError(f"strata is {request.strata!r}; a campaign knows 'route' (routed, audit and gold items)")
    return name


def _answers(context: Context, tx: Transaction) -> pd.DataFrame:
    answers = tx.work.answers(context.campaign_id, include_excluded=False)
    # A worker's second answer to an item, in a later round, is no second opinion.
    answers = answers[answers["retest"] == 0].reset_index(drop=True)
    if len(answers):
        return answers
    if len(tx.work.answers(context.campaign_id)):
        raise StateError(
            f"every answer of campaign {context.name!r} is left out of aggregation; plan and publish again, or "
            "check_gold() with a lower minimum"
        )
    raise StateError(f"campaign {context.name!r} has no answers; first collect()")


def _aspect(
    context: Context,
    tx: Transaction,
    request: AggregateRequest,
    name: str,
    aspect: str,
    rows: pd.DataFrame,
    gold: pd.DataFrame,
    progress: Progress | None,
) -> AggregateResult:
    """Aggregate one aspect and keep what was learnt about its workers."""
    record = next(each for each in tx.campaigns.aspects(context.campaign_id) if each.name == aspect)
    labels = known_labels(context, tx, record) or None
    known = gold if len(gold) else None
    more: dict[str, Any] = {"gold": known, "labels": labels}
    if request.history is not None:
        more["history"] = _history(context, tx, request.history, aspect)
    if request.strata is not None:
        more["strata"] = _route(context, tx, rows, gold, aspect)
    if name == "choose":
        model = None
        result = aggregate_answers(rows, method=name, engine=request.engine, client=request.client, **more)
    else:
        model = aggregator(name, engine=request.engine, client=request.client)
        result = aggregate_answers(rows, method=model, progress=progress, **more)
    _keep(context, tx, name, aspect, model, result)
    return result


def _keep(context: Context, tx: Transaction, name: str, aspect: str, model: Any, result: AggregateResult) -> None:
    share = getattr(model, "priors_", None)
    history: WorkerHistory | None = getattr(model, "history_", None)
    labels = [column.removeprefix("p_") for column in result.frame.columns if column.startswith("p_")]
    record = AggregationRecord(
        aspect=aspect,
        method=name,
        labels=tuple(labels),
        class_share=None if share is None else tuple(share.tolist()),
        prior=getattr(model, "prior_used_", None),
        answers=result.counts.used,
        at=context.clock.now(),
    )
    workers = result.workers.reindex(columns=_QUALITY)
    counts = None if history is None else history.table
    tx.aggregations.save(context.campaign_id, record, workers=workers, counts=counts)


def _history(context: Context, tx: Transaction, name: str, aspect: str) -> WorkerHistory:
    """Return what another campaign learnt about its workers: pseudonyms are the same throughout a database."""
    other = tx.campaigns.get(name)
    if other.id == context.campaign_id:
        raise InputError(f"history is {name!r}, this very campaign: its answers would count twice; name another one")
    counts = tx.aggregations.counts(other.id, aspect)
    if counts.empty:
        raise StateError(
            f"campaign {name!r} has no worker tables for the aspect {aspect!r}; aggregate it first, by 'dawid_skene'"
        )
    return WorkerHistory(counts)


def _route(context: Context, tx: Transaction, rows: pd.DataFrame, gold: pd.DataFrame, aspect: str) -> pd.Series[Any]:
    """Return why people got each item: routed, audit, gold; the first round that sent it decides."""
    table = pd.Series("routed", index=pd.Index(rows["task"].unique()), dtype=object)
    for number in range(tx.campaigns.get(context.name).round, 0, -1):
        plan = tx.plans.latest(context.campaign_id, round=number)
        if plan is not None:
            units = tx.plans.read(plan.id, people_only=True, columns=["item", "aspect", "destination"])
            units = units[(units["aspect"].astype(str) == aspect) & units["item"].isin(table.index)]
            table[units["item"].to_numpy()] = units["destination"].astype(str).map(_STRATUM).to_numpy()
    table[table.index.isin(gold["item"])] = "gold"
    return table


def require_plain_update(**given: Any) -> None:
    """Refuse what an update cannot use: it only reads the tables that are there."""
    if given.pop("method") not in (_STREAMED, "dawid-skene"):
        raise InputError("update goes on from Dawid-Skene's worker tables; leave method out, or aggregate in full")
    unused = [name for name, value in given.items() if value is not None]
    if unused:
        raise InputError(f"update learns nothing anew, so {' and '.join(unused)} would change nothing; leave it out")


def update_labels(context: Context) -> Aggregated:
    """Label the items with new answers at once, under the worker tables of the last aggregation."""
    with context.store.begin() as tx:
        answers = _answers(context, tx)
        gold = tx.frames.read(context.campaign_id, "gold")
        stored = tx.labels.read(context.campaign_id)
        round_ = tx.campaigns.get(context.name).round
        parts, notes = [], []
        for aspect, rows in answers.groupby("aspect", observed=True):
            frame, note = _updated(context, tx, str(aspect), rows, stored)
            parts.append(_label_rows(frame, str(aspect), gold))
            notes.append(note)
        labels = pd.concat(parts, ignore_index=True)
        _withdraw_unsupported(context, tx, answers)
        if len(labels):
            tx.labels.save(context.campaign_id, round_, labels)
        tied = int(labels["tied"].sum())
        context.log(tx, "labels updated", round=round_, labels=len(labels), tied=tied)
    return Aggregated(labels, pd.DataFrame({"worker": []}), _STREAMED, len(answers), tied, tuple(notes))


def _updated(
    context: Context, tx: Transaction, aspect: str, rows: pd.DataFrame, stored: pd.DataFrame
) -> tuple[pd.DataFrame, str]:
    """Return the labels of the items whose number of answers has changed since they were labelled."""
    record = tx.aggregations.latest(context.campaign_id, aspect)
    if record is None or record.class_share is None or record.prior is None:
        raise StateError(
            f"there are no worker tables of aspect {aspect!r} to go on from; first aggregate() by 'dawid_skene'"
        )
    asked = next(each for each in tx.campaigns.aspects(context.campaign_id) if each.name == aspect)
    present = known_labels(context, tx, asked) or sorted(rows["label"].unique())
    if sorted(present) != sorted(record.labels):
        raise StateError(f"the labels of aspect {aspect!r} have changed since the worker tables; aggregate() in full")
    counts = WorkerHistory(tx.aggregations.counts(context.campaign_id, aspect))
    stream = AnswerStream.from_counts(record.labels, counts, class_share=record.class_share, prior=record.prior)
    known = stored[stored["aspect"].astype(str) == aspect].set_index("item")["n_answers"]
    size = rows.groupby("task")["task"].transform("size")
    touched = rows[(rows["task"].map(known) != size).to_numpy()]
    new = len(rows) - record.answers
    note = f"{aspect}: {new:,} answers more than the worker tables were learnt from; aggregate() in full learns them"
    if touched.empty:
        empty = pd.DataFrame({"task": [], "label": [], "confidence": [], "n_answers": [], "tied": []})
        return empty.rename(columns={"task": "item"}), note
    return stream.update(touched).rename(columns={"task": "item"}), note


def _withdraw_unsupported(context: Context, tx: Transaction, answers: pd.DataFrame) -> None:
    """Take back people's labels of items whose every answer was left out since: nobody who counts said so."""
    stored = tx.labels.read(context.campaign_id)
    stored = stored[stored["source"] == "crowd"]
    supported = pd.MultiIndex.from_frame(answers[["task", "aspect"]].astype(str))
    stored = stored[~pd.MultiIndex.from_frame(stored[["item", "aspect"]].astype(str)).isin(supported)]
    for aspect, rows in stored.groupby("aspect", observed=True):
        tx.labels.withdraw(context.campaign_id, rows["item"], aspect=str(aspect))


def _label_rows(frame: pd.DataFrame, aspect: str, gold: pd.DataFrame) -> pd.DataFrame:
    known = set(gold.loc[gold["aspect"] == aspect, "item"])
    frame = frame[~frame["item"].isin(known)]
    posterior_columns = [column for column in frame.columns if column.startswith("p_")]
    names = [column[2:] for column in posterior_columns]
    values = frame[posterior_columns].to_numpy()
    rows = frame[["item", "label", "confidence", "n_answers", "tied"]].copy()
    posterior = pd.Series(
        [dict(zip(names, each, strict=True)) for each in values.tolist()], index=rows.index, dtype=object
    )
    return rows.assign(posterior=posterior, aspect=aspect, source="crowd", evidence="people_blind")
