"""The qualification test on pages of one's own: one file says what is asked, the attempts come back into the history.

The study's file is what the pages ask, so it is what a campaign keeps, too: `hmc-crowd serve --study FILE` asks its
test, `add_study_test` keeps version, key and mark of the same file. Nothing is copied to the pages, so nothing there
can be out of date: an attempt names the digest of what was asked, and counts for the version of that content alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd._base.qualifying import content_of_test
from hmc_crowd.campaign import _qualifying
from hmc_crowd.campaign._pseudonyms import pseudonyms
from hmc_crowd.errors import InputError
from hmc_crowd.platform import KeepsTests
from hmc_crowd.quality import QualificationTest, qualification_funnel
from hmc_crowd.store import AttemptRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform, RemoteAttempt
    from hmc_crowd.store import Transaction

__all__ = ["CollectedAttempts", "add_study_test", "collect_attempts", "funnel"]


@dataclass(frozen=True)
class CollectedAttempts:
    """What a look at the pages brought: new attempts, and those at questions or a mark that no version here has."""

    new: int
    unmatched: int = 0

    def __str__(self) -> str:
        said = f"{self.new:,} new attempts at tests"
        if not self.unmatched:
            return said
        return f"{said}; {self.unmatched:,} at other questions or another mark: first add_study_test()"


def add_study_test(context: Context, platform: Platform, study: str | Path) -> QualificationTest:
    """Keep the test of a study's file as a version of the campaign's."""
    asked = _pages(platform).read_test(study)
    test = QualificationTest(
        asked.name,
        asked.version,
        asked.key,
        training=asked.training or None,
        pass_share=asked.needed / len(asked.key),
        attempts=asked.attempts,
        delay_s=asked.delay_s,
    )
    _qualifying.add_test(context, test)
    return test


def collect_attempts(context: Context, pages: object) -> CollectedAttempts:
    """Bring the attempts made on pages of one's own into the history; what is there already is left as it is."""
    tests = _qualifying.tests(context)
    if not tests or not isinstance(pages, KeepsTests):
        return CollectedAttempts(0)
    scope = context.uid()
    new = unmatched = 0
    for name in sorted({test.name for test in tests}):
        known = {(test.version, _content(test)) for test in tests if test.name == name}
        found = pages.test_attempts(scope, name)
        usable = [each for each in found if (each.version, each.content) in known]
        unmatched += len(found) - len(usable)
        if usable:
            with context.store.begin() as tx:
                new += _store(context, tx, name, usable)
    return CollectedAttempts(new, unmatched)


def _store(context: Context, tx: Transaction, name: str, found: Sequence[RemoteAttempt]) -> int:
    """Store what is new, numbered on in the order of time; pseudonyms as everywhere."""
    held = tx.qualifications.attempts(context.campaign_id, name)
    who = {
        platform: pseudonyms(context.worker_key, platform, {each.worker for each in found if each.platform == platform})
        for platform in sorted({each.platform for each in found})
    }
    seen = {(each.worker, each.version, each.at) for each in held}
    gone = _forgotten(tx, who, held)
    count: dict[tuple[str, int], int] = {}
    for made in held:
        key = made.worker, made.version
        count[key] = max(count.get(key, 0), made.number)
    new = 0
    for each in found:
        worker = who[each.platform][each.worker]
        is_gone = (each.version, each.at, each.right, each.n) in gone
        if (worker, each.version, each.at) in seen or is_gone:
            continue
        tx.workers.identify(each.platform, [each.worker], pseudonyms=who[each.platform])
        number = count[worker, each.version] = count.get((worker, each.version), 0) + 1
        row = AttemptRecord(worker, name, each.version, number, each.right, each.n, each.passed, each.at)
        tx.qualifications.add_attempt(context.campaign_id, row)
        new += 1
    if new:
        context.log(tx, "test attempts collected", test=name, attempts=new)
    return new


def _forgotten(tx: Transaction, platforms: Iterable[str], held: Sequence[AttemptRecord]) -> set[tuple[object, ...]]:
    """Return the attempts whose worker was forgotten: the pages still name him, and he must not come back by that."""
    known = {worker for platform in platforms for worker in tx.workers.known(platform).values()}
    return {(each.version, each.at, each.right, each.n) for each in held if each.worker not in known}


def funnel(
    context: Context, name: str, platform: Platform | None, *, version: int | None, also: Sequence[int]
) -> pd.DataFrame:
    """Count who came as far as where; see `Campaign.test_funnel`."""
    with context.store.read() as tx:
        test = _qualifying.find(context, tx, name, version)
        wanted = {test.version, *also}
        kept = [each for each in tx.qualifications.attempts(context.campaign_id, name) if each.version in wanted]
        work = tx.work.submissions(context.campaign_id)
    if isinstance(platform, KeepsTests):
        known = [each for each in _qualifying.tests(context) if each.name == name and each.version in wanted]
        scope = context.uid()
        return qualification_funnel(platform.test_funnel(scope, name, {_content(each) for each in known}))
    passed = {each.worker for each in kept if each.passed}
    handed_in = set(work.loc[work["submitted_at"].notna(), "worker"])
    return qualification_funnel(
        {"tried": len({each.worker for each in kept}), "passed": len(passed), "worked": len(passed & handed_in)}
    )


def _pages(platform: Platform) -> KeepsTests:
    if not isinstance(platform, KeepsTests):
        raise InputError(f"platform {platform.name!r} has no pages that ask tests; name your own workplace")
    return platform


def _content(test: QualificationTest) -> str:
    return content_of_test({str(item): str(label) for item, label in test.key.items()}, test.pass_right)
