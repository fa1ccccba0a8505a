"""Who has passed which test? Versions and attempts in the store, and what a platform is told of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign._entrance import keep_told, require_qualifications
from hmc_crowd.campaign._pseudonyms import pseudonyms
from hmc_crowd.errors import StateError
from hmc_crowd.quality import Attempt, QualificationTest
from hmc_crowd.store import AttemptRecord, TestRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform
    from hmc_crowd.store import Transaction

__all__ = [
    "Synced",
    "add_test",
    "attempts",
    "find",
    "qualified",
    "sync",
    "take_test",
    "tests",
]


@dataclass(frozen=True)
class Synced:
    """What a platform was told of a test: ``id`` is the qualification type or participant group there."""

    test: str
    version: int
    platform: str
    id: str
    qualified: int
    changed: int

    def __str__(self) -> str:
        return (
            f"test {self.test!r}: {self.qualified:,} qualified workers on {self.platform}, {self.changed:,} changed "
            f"({self.id})"
        )


def add_test(context: Context, test: QualificationTest) -> None:
    """Keep a version of a test."""
    made = TestRecord(
        test.name,
        test.version,
        _texts(test.key),
        None if test.training is None else _texts(test.training),
        float(test.pass_share),
        test.attempts,
        float(test.delay_s),
    )
    with context.store.begin() as tx:
        tx.qualifications.add(context.campaign_id, made)
        context.log(tx, "test", test=test.name, version=test.version, items=len(test.key))


def tests(context: Context) -> list[QualificationTest]:
    """Return all versions of all tests."""
    with context.store.read() as tx:
        return [_test(each) for each in tx.qualifications.tests(context.campaign_id)]


def take_test(
    context: Context, name: str, worker: str, answers: Mapping[str, Any], *, platform: str | None, version: int | None
) -> Attempt:
    """Mark an attempt and keep it; ``worker`` is a platform's id where the platform is named, else a pseudonym."""
    with context.store.begin() as tx:
        test = find(context, tx, name, version)
        who = worker
        if platform is not None:
            named = pseudonyms(context.worker_key, platform, [worker])
            tx.workers.identify(platform, [worker], pseudonyms=named)
            who = named[worker]
        elif not tx.workers.is_known(worker):
            # A platform's id that was taken for a pseudonym would be kept in clear, and `forget` would not find it.
            raise StateError(f"nobody is known by the pseudonym {worker!r}; name the platform whose id it is")
        earlier = [_attempt(each) for each in tx.qualifications.attempts(context.campaign_id, test.name, worker=who)]
        given = {str(item): str(label) for item, label in answers.items()}
        made = test.mark(who, given, at=context.clock.now(), earlier=earlier)
        tx.qualifications.add_attempt(context.campaign_id, AttemptRecord(**made.__dict__))
    return made


def attempts(context: Context, name: str | None) -> list[Attempt]:
    """Return the attempts, oldest first."""
    with context.store.read() as tx:
        return [_attempt(each) for each in tx.qualifications.attempts(context.campaign_id, name)]


def qualified(context: Context, name: str, *, version: int | None, also: Sequence[int]) -> list[str]:
    """Return the pseudonyms of who passed a version, or an earlier one that still counts."""
    with context.store.read() as tx:
        return sorted(_scores(context, tx, find(context, tx, name, version), also))


def sync(
    context: Context, platform: Platform, name: str, *, version: int | None, also: Sequence[int], drop_excluded: bool
) -> Synced:
    """Tell a platform who is qualified."""
    keeper = require_qualifications(platform)
    with context.store.read() as tx:
        test = find(context, tx, name, version)
        scores = _scores(context, tx, test, also)
        left_out = _left_out(context, tx) if drop_excluded else set()
        scores = {worker: score for worker, score in scores.items() if worker not in left_out}
        raw = tx.workers.raw_ids(platform.name, scores)
    known = {raw[worker]: score for worker, score in scores.items() if worker in raw}
    there, changed = keeper.sync_qualification(
        _name_there(context, test), f"Passed the test {test.name}, version {test.version}.", known
    )
    with context.store.begin() as tx:
        keep_told(context, tx, platform.name, test.name, test.version, there)
        context.log(tx, "qualification synced", test=test.name, platform=platform.name, workers=len(known))
    return Synced(test.name, test.version, platform.name, there, len(known), changed)


def _name_there(context: Context, test: QualificationTest) -> str:
    """Return what a platform calls it; another campaign's test of the same name must not lose its people by ours."""
    return f"hmc {test.name} v{test.version} {context.uid()[-8:]}"


def _left_out(context: Context, tx: Transaction) -> set[str]:
    """Return the workers whose answers do not count, by the last look at them."""
    last = tx.work.answers(context.campaign_id).groupby("worker")["excluded"].last()
    return set(last[last.notna()].index)


def _scores(context: Context, tx: Transaction, test: QualificationTest, also: Sequence[int]) -> dict[str, int]:
    """Return the best score from 0 to 100 of each qualified worker."""
    made = [_attempt(each) for each in tx.qualifications.attempts(context.campaign_id, test.name)]
    counted = [each for each in made if each.passed and each.version in {test.version, *also}]
    return {
        worker: max(round(100 * each.score) for each in counted if each.worker == worker)
        for worker in {each.worker for each in counted}
    }


def find(context: Context, tx: Transaction, name: str, version: int | None) -> QualificationTest:
    """Return a version of a test, the newest by default."""
    held = tx.qualifications.tests(context.campaign_id, name)
    if not held:
        raise StateError(f"campaign {context.name!r} has no test {name!r}; first add_test()")
    for each in held:
        if each.version == version:
            return _test(each)
    if version is not None:
        raise StateError(f"test {name!r} has no version {version}; there are {', '.join(str(e.version) for e in held)}")
    return _test(held[-1])


def _test(record: TestRecord) -> QualificationTest:
    return QualificationTest(
        record.name,
        record.version,
        record.key,
        training=record.training,
        pass_share=record.pass_share,
        attempts=record.attempts,
        delay_s=record.delay_s,
    )


def _attempt(record: AttemptRecord) -> Attempt:
    return Attempt(**record.__dict__)


def _texts(key: Mapping[Any, Any]) -> dict[str, str]:
    return {str(item): str(label) for item, label in key.items()}
