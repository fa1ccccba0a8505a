"""From a platform into SQL: submissions with their three clocks, answers with their times; safe to repeat at any time.

Every page of submissions becomes one transaction: worker identities, submissions and answers together. What is there
already is left as it is, so an interrupted collection goes on where it stopped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.campaign._data import known_labels
from hmc_crowd.campaign._pseudonyms import pseudonyms
from hmc_crowd.campaign._publish import require_published
from hmc_crowd.errors import InputError
from hmc_crowd.platform import SubmissionState, TaskPages
from hmc_crowd.store import SubmissionRecord

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.platform import Platform, RemoteAnswer, RemoteSubmission
    from hmc_crowd.store import HitRecord, Transaction

__all__ = ["Collected", "collect"]

_PAGE = 500


@dataclass(frozen=True)
class Collected:
    """What a collection brought: new or changed submissions, new answers, and answers that cannot be used."""

    submissions: int
    answers: int
    unusable: int
    open_places: int

    def __str__(self) -> str:
        unusable = f", {self.unusable:,} answers unusable" if self.unusable else ""
        return (
            f"{self.submissions:,} submissions new or changed, {self.answers:,} new answers{unusable}; "
            f"{self.open_places:,} places still open"
        )


def collect(
    context: Context, platform: Platform, pages: TaskPages | None = None, progress: Progress | None = None
) -> Collected:
    """Read everything the platform holds of the campaign's HITs and store what is new."""
    if pages is None:
        if not isinstance(platform, TaskPages):
            raise InputError(f"platform {platform.name!r} shows no pages of its own; pass pages= as well")
        pages = platform
    with context.store.read() as tx:
        hits = {hit.platform_hit_id: hit for hit in require_published(context, tx) if hit.platform == platform.name}
        # Stored HITs know their round; None stands only in records that are yet to be written.
        rounds = {hit.key: hit.round for hit in hits.values() if hit.round is not None}
        seen = _finished(context, tx)
        labels = {each.name: set(known_labels(context, tx, each)) for each in tx.campaigns.aspects(context.campaign_id)}
    changed = stored = unusable = 0
    total = sum(hit.redundancy for hit in hits.values())
    remote = platform.submissions([key for key in hits if key is not None])
    news = (each for each in remote if seen.get((platform.name, each.submission_id)) != each.state)
    for page in _batched(news, _PAGE):
        answers = pages.answers([each.submission_id for each in page if each.state.has_work])
        with context.store.begin() as tx:
            names = pseudonyms(context.worker_key, platform.name, {each.worker for each in page})
            tx.workers.identify(platform.name, list(names), pseudonyms=names)
            changed += _put_submissions(context, tx, platform.name, page, hits, rounds, names)
            new, bad = _put_answers(context, tx, platform.name, page, hits, rounds, names, answers, labels)
            stored, unusable = stored + new, unusable + bad
        if progress is not None:
            progress("collecting", changed, total)
    # The platform is asked before the transaction, which would hold the database while the network answers.
    gone = _gone(context, platform, hits)
    with context.store.begin() as tx:
        open_places = _settle(context, tx, platform, list(hits.values()), gone)
        if changed or stored:
            context.log(tx, "collected", submissions=changed, answers=stored, unusable=unusable)
    return Collected(changed, stored, unusable, open_places)


def _finished(context: Context, tx: Transaction) -> dict[tuple[str, str], str]:
    """Return the state of each submission that has nothing more to bring, unless its state changes.

    Work that was handed in and has no answers here is asked for again: where people are recruited in one place and work
    in another, the word that they are done may come before their answers.
    """
    known = tx.work.submissions(context.campaign_id)
    answers = tx.work.answers(context.campaign_id)
    with_answers = set(zip(answers["platform"], answers["submission_id"], strict=True))
    keys = zip(known["platform"], known["submission_id"], strict=True)
    return {
        key: state
        for key, state in zip(keys, known["state"], strict=True)
        if key in with_answers or not SubmissionState(state).has_work
    }


def _put_submissions(
    context: Context,
    tx: Transaction,
    platform: str,
    page: Sequence[RemoteSubmission],
    hits: Mapping[str | None, HitRecord],
    rounds: Mapping[str, int],
    names: Mapping[str, str],
) -> int:
    by_round: dict[int, list[SubmissionRecord]] = {}
    for each in page:
        key = hits[each.hit_id].key
        by_round.setdefault(rounds[key], []).append(
            SubmissionRecord(
                submission_id=each.submission_id,
                platform=platform,
                hit_key=key,
                worker=names[each.worker],
                state=each.state.value,
                accepted_at=each.accepted_at,
                submitted_at=each.submitted_at,
                platform_elapsed_s=each.platform_elapsed_s,
                page_elapsed_s=each.page_elapsed_s,
                active_s=each.active_s,
                time_quality=each.time_quality,
            )
        )
    return sum(tx.work.put_submissions(context.campaign_id, number, rows) for number, rows in by_round.items())


def _put_answers(
    context: Context,
    tx: Transaction,
    platform: str,
    page: Sequence[RemoteSubmission],
    hits: Mapping[str | None, HitRecord],
    rounds: Mapping[str, int],
    names: Mapping[str, str],
    answers: Mapping[str, tuple[RemoteAnswer, ...]],
    labels: Mapping[str, set[str]],
) -> tuple[int, int]:
    """Store the answers whose label the aspect knows; count the others."""
    by_round: dict[int, list[tuple[object, ...]]] = {}
    unusable = 0
    for each in page:
        hit = hits[each.hit_id]
        asked = {(item.item, item.aspect) for item in hit.items}
        for answer in answers.get(each.submission_id, ()):
            known = labels.get(answer.aspect, set())
            if (answer.item, answer.aspect) not in asked or (known and answer.label not in known):
                unusable += 1
                continue
            by_round.setdefault(rounds[hit.key], []).append(
                (
                    each.submission_id,
                    platform,
                    answer.item,
                    answer.aspect,
                    names[each.worker],
                    answer.label,
                    answer.started_at,
                    answer.submitted_at,
                )
            )
    columns = ["submission_id", "platform", "item", "aspect", "worker", "label", "started", "submitted"]
    stored = 0
    for number, rows in by_round.items():
        frame = pd.DataFrame(rows, columns=columns).assign(mode="blind", retest=0)
        stored += tx.work.add_answers(context.campaign_id, number, frame)
    return stored, unusable


def _places_used(context: Context, tx: Transaction, platform: Platform) -> Counter[str]:
    """Return how many places of each HIT somebody has handed in."""
    submissions = tx.work.submissions(context.campaign_id)
    # A rejected submission keeps its place unless the platform frees it.
    taken = {"submitted", "approved"} | (set() if platform.capabilities.rejection_frees_slot else {"rejected"})
    return Counter(submissions.loc[submissions["state"].isin(taken), "hit_key"].tolist())


def _gone(context: Context, platform: Platform, hits: Mapping[str | None, HitRecord]) -> set[str]:
    """Return the HITs that nobody can take any more and whose submissions are all here.

    Somebody may have taken or filled a place since the submissions were read. Such a HIT is no longer open and yet not
    done with: it stays for the next collection, or its money would be freed and its items asked once more.
    """
    with context.store.read() as tx:
        used = _places_used(context, tx, platform)
        known = tx.work.submissions(context.campaign_id)
    states = dict(zip(zip(known["platform"], known["submission_id"], strict=True), known["state"], strict=True))
    unfilled = [hit for hit in hits.values() if hit.state == "open" and used[hit.key] < hit.redundancy]
    closed = [hit.platform_hit_id for hit in unfilled if not _is_open(platform, hit) and hit.platform_hit_id]
    moved = {
        each.hit_id
        for each in platform.submissions(closed)
        if states.get((platform.name, each.submission_id)) != each.state
    }
    return {hits[each].key for each in closed if each not in moved}


def _settle(
    context: Context, tx: Transaction, platform: Platform, hits: Sequence[HitRecord], gone: Container[str]
) -> int:
    """Settle the money of HITs that are full, or that nobody can take any more; return the places still open."""
    places_used = _places_used(context, tx, platform)
    submissions = tx.work.submissions(context.campaign_id)
    under_way = set(submissions.loc[submissions["state"] == "accepted", "hit_key"])
    open_places = 0
    for hit in hits:
        if hit.state != "open":
            continue
        used = places_used[hit.key]
        full = used >= hit.redundancy
        if not full and (hit.key in under_way or hit.key not in gone):
            open_places += hit.redundancy - used
            continue
        fee = platform.fees.fee_minor(hit.pay_minor, redundancy=hit.redundancy)
        tx.budget.settle(context.campaign_id, hit.key, used * (hit.pay_minor + fee))
        tx.work.set_hit(hit.key, state="complete" if full else "closed")
    return open_places


def _is_open(platform: Platform, hit: HitRecord) -> bool:
    remote = platform.find(hit.key)
    return remote is not None and remote.is_open


def _batched(source: Iterable[RemoteSubmission], size: int) -> Iterator[tuple[RemoteSubmission, ...]]:
    # itertools.batched came with Python 3.12.
    iterator = iter(source)
    while page := tuple(islice(iterator, size)):
        yield page
