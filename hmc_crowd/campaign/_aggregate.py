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
from hmc_crowd.campaign._aggregate_kinds import aggregate_numbers, aggregate_sets
from hmc_crowd.campaign._aspects import LABELLED
from hmc_crowd.campaign._data import known_labels
from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.campaign._label_rows import label_rows, with_posterior, withdraw_unsupported
from hmc_crowd.campaign._roles import use_labels
from hmc_crowd.campaign._suggested import with_machine
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store import AggregationRecord

if TYPE_CHECKING:
    from hmc_crowd.aggregation import AggregateResult
    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.store import Transaction

__all__ = [
    "AggregateRequest",
    "Aggregated",
    "aggregate",
    "require_method",
    "require_plain_update",
    "update_labels",
]

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
    include_stale: bool = False
    blind_only: bool = False


@dataclass(frozen=True)
class Aggregated:
    """What aggregation made of the answers; ``workers`` is the model's view of each worker.

    ``method`` names what ran, not what was asked for: questions of some kinds have a method of their own, and then a
    note says so. Several that ran are named in the order of the questions, with commas between.
    """

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
        answers = _answers(context, tx, include_stale=request.include_stale, blind_only=request.blind_only)
        gold = tx.frames.read(context.campaign_id, "gold")
        round_ = tx.campaigns.get(context.name).round
        parts = [
            _of_kind(context, tx, request, name, str(aspect), rows, gold, progress)
            for aspect, rows in answers.groupby("aspect", observed=True)
        ]
        found = [part.labels for part in parts if part.labels is not None]
        if not found:
            raise StateError("only texts were answered so far: they are kept, and there is nothing to aggregate")
        labels = pd.concat(found, ignore_index=True)
        ran = ", ".join(dict.fromkeys(part.method for part in parts if part.method))
        withdraw_unsupported(context, tx, answers)
        tx.labels.save(context.campaign_id, round_, labels)
        tied = int(labels["tied"].sum())
        context.log(tx, "aggregated", round=round_, labels=len(labels), tied=tied, method=ran)
    workers = pd.concat([each for part in parts for each in part.workers], ignore_index=True)
    notes = tuple(note for part in parts for note in part.notes)
    return Aggregated(labels, workers, ran, len(answers), tied, notes)


@dataclass(frozen=True)
class _Part:
    """What came of one aspect's answers, and by which method; texts give no labels."""

    labels: pd.DataFrame | None
    workers: tuple[pd.DataFrame, ...] = ()
    notes: tuple[str, ...] = ()
    method: str = ""


def _of_kind(
    context: Context,
    tx: Transaction,
    request: AggregateRequest,
    name: str,
    aspect: str,
    rows: pd.DataFrame,
    gold: pd.DataFrame,
    progress: Progress | None,
) -> _Part:
    """Aggregate one aspect in the way of its kind."""
    record = next(each for each in tx.campaigns.aspects(context.campaign_id) if each.name == aspect)
    known = gold.loc[gold["aspect"] == aspect, ["item", "label"]]
    some = known if len(known) else None
    levels = known_labels(context, tx, record)
    if record.kind == "text":
        return _Part(None, (), (f"the {len(rows):,} answers to {aspect!r} are texts: kept, and not aggregated",))
    ran, own = name, ""
    if record.kind in {"ordinal", "numeric"}:
        ran = "numeric"
        own = f"{aspect!r} is {record.kind}: its answers have an order, so 'numeric' aggregated them, not {name!r}"
        frame, result = aggregate_numbers(rows, levels=levels if record.kind == "ordinal" else None, gold=some)
        _keep(context, tx, "numeric", aspect, None, result)
        results = [result]
    elif record.kind == "multi_label":
        if name == "choose":
            ran = _STREAMED
            own = f"{aspect!r} has several labels, of which each is a question of its own: {ran!r} aggregated them all"

        def one(answers: pd.DataFrame, truth: pd.DataFrame | None) -> AggregateResult:
            model = aggregator(ran)
            return aggregate_answers(answers, method=model, gold=truth, labels=["yes", "no"])

        frame, results = aggregate_sets(rows, labels=levels, gold=some, one=one)
    else:
        result = _aspect(context, tx, request, name, aspect, rows, known, progress)
        frame, results = with_posterior(result.frame), [result]
    labels = label_rows(context, tx, frame, aspect, gold, rows)
    labels, more = with_machine(context, tx, record, labels, rows, results[0].workers)
    said = dict.fromkeys(note for each in results for note in (*each.cautions, *each.assumptions))
    # The default method is nobody's wish, and what stands in for it needs no excuse.
    told = (own,) if own and name != _STREAMED else ()
    return _Part(labels, tuple(each.workers.assign(aspect=aspect) for each in results), (*told, *said, *more), ran)


def require_method(context: Context, method: str) -> None:
    """Refuse, before anybody is paid, a method that aggregation would refuse in the end."""
    name = _method(AggregateRequest(method=method))
    with context.store.read() as tx:
        kinds = {each.name: each.kind for each in tx.campaigns.aspects(context.campaign_id)}
        gold = set(tx.frames.read(context.campaign_id, "gold", columns=["item", "aspect"])["aspect"].astype(str))
    without = [aspect for aspect, kind in kinds.items() if kind in LABELLED and aspect not in gold]
    if name == "choose" and without:
        raise InputError(
            f"method is 'choose', which compares methods on gold, and {without[0]!r} has none: add_gold() first, or "
            "name a method"
        )


def _method(request: AggregateRequest) -> str:
    name = method_name(request.method)
    if name == "numeric" or name.startswith("crowdkit:"):
        raise InputError(
            f"method is {name!r}, but a campaign's answers are single labels; export the answers and aggregate the file"
        )
    if request.strata not in (None, _STRATA):
        raise InputError(f"strata is {request.strata!r}; a campaign knows 'route' (routed, audit and gold items)")
    return name


def _answers(
    context: Context, tx: Transaction, *, include_stale: bool = False, blind_only: bool = False
) -> pd.DataFrame:
    answers = tx.work.answers(context.campaign_id, include_excluded=False)
    # A worker's second answer to an item, in a later round, is no second opinion.
    answers = answers[answers["retest"] == 0].reset_index(drop=True)
    fresh = answers if include_stale else answers[~Versions(context, tx).stale(answers)]
    kept = fresh[fresh["mode"] == "blind"] if blind_only else fresh
    if len(kept):
        return kept.reset_index(drop=True)
    if len(answers) and fresh.empty:
        raise StateError(
            f"every answer of campaign {context.name!r} was given under another guideline than the one in force; "
            "plan and publish again, or aggregate with include_stale=True"
        )
    if len(fresh):
        raise StateError(
            f"no answer of campaign {context.name!r} was given blind; leave blind_only out, or ask some people blind"
        )
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
        use_labels(context, tx, aspect, "choose", [] if known is None else known["item"], purpose="choice of a method")
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
        kinds = {each.name: each.kind for each in tx.campaigns.aspects(context.campaign_id)}
        for aspect, rows in answers.groupby("aspect", observed=True):
            if kinds[str(aspect)] not in LABELLED:
                notes.append(f"{aspect}: its labels stay as they are; aggregate() in full brings them up to date")
                continue
            frame, note = _updated(context, tx, str(aspect), rows, stored)
            parts.append(label_rows(context, tx, with_posterior(frame), str(aspect), gold, rows))
            notes.append(note)
        if not parts:
            raise StateError("no aspect has answers that an update can label; aggregate() in full")
        labels = pd.concat(parts, ignore_index=True)
        withdraw_unsupported(context, tx, answers)
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
