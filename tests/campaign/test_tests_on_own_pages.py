"""The qualification test on pages of one's own: one file for pages and campaign, attempts into SQL, funnel, effort."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hmc_crowd_local._tables_pages import ATTEMPT
from hmc_crowd_local.pages import People, Step, Study, read_study
from hmc_crowd_local.pages._exam import Exam, Exams, ExamState
from outside_house import hits_of

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.campaign import Campaign
from hmc_crowd.campaign._test_scores import checks_of_tests, known_checks, pool_scores
from hmc_crowd.effort import worker_features
from hmc_crowd.errors import DuplicateError, InputError, StateError
from hmc_crowd.platform import find_platform
from hmc_crowd.quality import QualificationTest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
SPEND = {"redundancy": 3, "pay_minor": 50, "budget_minor": 1_000_000, "dry_run": False}
TERMS = 'test_name = "tone"\ntest_needed = 2\ntest_attempts = 2\ntest_delay_s = 3600\n'
QUESTION = '[[test]]\ntext = "{}"\nlabels = ["kind", "rude"]\nlabel = "kind"\n'


def write(folder: Path, *texts: str, terms: str = TERMS) -> Path:
    path = folder / "study.toml"
    path.write_text(terms + "".join(QUESTION.format(each) for each in texts or ("Hello.", "Thanks.")))
    return path


def take(workplace: Any, study: Study, worker: str, right: int, at: Any, *, sent_by: str | None = None) -> None:
    """End an attempt as the pages do."""
    people, exams = People(workplace._database), Exams(workplace._database)
    step = people.step(worker, study, "test")
    given = ("kind",) * right + ("rude",) * (len(study.test) - right)
    exams.finish(worker, study, Exam(ExamState.OPEN, step.tries + 1), given, sent_by=sent_by, at=at)


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory, small_batch: Any) -> Path:
    """A published campaign that keeps the study's test, made once: a copy is quicker."""
    folder, clock = tmp_path_factory.mktemp("published"), VirtualClock(START)
    with (
        find_platform("local", str(folder / "workplace.db"), clock=clock) as place,  # type: ignore[attr-defined]
        Campaign.create(folder / "c.db", labels=["good", "bad"], seed=7, clock=clock) as campaign,
    ):
        campaign.add_items(small_batch.items)
        campaign.add_predictions(small_batch.predictions)
        campaign.add_gold(small_batch.gold)
        campaign.estimate_effort()
        campaign.plan(trade_off=0.5, max_human=8, audit=4)
        campaign.add_study_test(write(folder), platform=place)
        campaign.publish(place, **SPEND)
    return folder


@pytest.fixture
def house(published: Path, tmp_path: Path, clock: Any) -> Iterator[tuple[Any, Any, Study]]:
    """A campaign that keeps the study's test, its workplace, and the study."""
    folder = shutil.copytree(published, tmp_path, dirs_exist_ok=True)
    with (
        find_platform("local", str(folder / "workplace.db"), clock=clock) as place,  # type: ignore[attr-defined]
        Campaign.open(folder / "c.db", clock=clock) as campaign,
    ):
        yield campaign, place, read_study(folder / "study.toml")


def arrive(workplace: Any, *workers: str) -> None:
    hit_id = next(iter(workplace.find_all().values())).hit_id
    for each in workers:
        workplace.accept(hit_id, each)


def test_the_file_that_the_pages_ask_is_what_the_campaign_keeps(house: Any, tmp_path: Path) -> None:
    campaign, workplace, study = house
    (kept,) = campaign.tests()
    assert (kept.name, kept.version, kept.pass_right, kept.attempts, kept.delay_s) == ("tone", 1, 2, 2, 3600.0)
    assert dict(kept.key) == dict(study.asked_test.key)
    campaign.add_study_test(tmp_path / "study.toml", platform=workplace)
    assert len(campaign.tests()) == 1
    with pytest.raises(DuplicateError, match="give the next number"):
        campaign.add_study_test(write(tmp_path, "Hello!", "Thanks."), platform=workplace)
    second = write(tmp_path, "Hello!", "Thanks.", terms=TERMS + "test_version = 2\n")
    assert campaign.add_study_test(second, platform=workplace).version == 2
    with pytest.raises(InputError, match="no test that anybody could fail"):
        campaign.add_study_test(write(tmp_path, terms="test_needed = 0\n"), platform=workplace)


def test_every_mark_comes_back_as_it_was_set(house: Any, tmp_path: Path) -> None:
    campaign, workplace, _ = house
    for needed in range(1, 8):
        terms = f'test_name = "t{needed}"\ntest_needed = {needed}\n'
        path = write(tmp_path, *(f"Text {n}." for n in range(7)), terms=terms)
        assert campaign.add_study_test(path, platform=workplace).pass_right == needed


def test_attempts_come_into_the_history_once_under_pseudonyms(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann", "bob")
    first = clock.now()
    take(workplace, study, "ann", 1, first)
    take(workplace, study, "bob", 2, first)
    assert str(campaign.collect_tests(workplace)) == "2 new attempts at tests"
    clock.advance(3600)
    take(workplace, study, "ann", 2, clock.now())
    found = campaign.collect(workplace)
    assert (found.attempts, found.attempts_unmatched) == (1, 0)
    assert "1 new attempts at tests" in str(found)
    assert campaign.collect_tests(workplace).new == 0
    made = campaign.test_attempts("tone")
    with campaign._context.store.read() as tx:
        who = tx.workers.known("local")
    rows = [(each.worker, each.number, each.right, each.n, each.passed, each.at) for each in made]
    assert sorted(rows) == sorted(
        [
            (who["ann"], 1, 1, 2, False, first),
            (who["bob"], 1, 2, 2, True, first),
            (who["ann"], 2, 2, 2, True, first + timedelta(seconds=3600)),
        ]
    )
    assert campaign.qualified("tone") == sorted([who["ann"], who["bob"]])


def test_people_whom_a_platform_sent_are_known_under_its_ids(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "5f00")
    take(workplace, study, "5f00", 2, clock.now(), sent_by="prolific")
    campaign.collect_tests(workplace)
    with campaign._context.store.read() as tx:
        assert list(tx.workers.known("prolific")) == ["5f00"]
        assert tx.workers.known("local") == {}

    class Prolific:
        name = "prolific"

        def sync_qualification(self, _name: str, _description: str, scores: dict[str, int]) -> tuple[str, int]:
            assert scores == {"5f00": 100}
            return "G1", 1

    place: Any = Prolific()
    assert campaign.sync_test(place, "tone").qualified == 1


def test_nobody_counts_by_a_test_that_the_campaign_does_not_know(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann", "bob")
    take(workplace, replace(study, test_needed=1), "ann", 1, clock.now())
    take(workplace, replace(study, test=study.test[:1], test_needed=1), "bob", 1, clock.now())
    found = campaign.collect_tests(workplace)
    assert (found.new, found.unmatched) == (0, 2)
    assert "2 at other questions or another mark" in str(found)
    assert campaign.qualified("tone") == []


def test_only_who_came_to_this_campaign_and_stayed_is_collected(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann", "bob")
    for worker in ("ann", "bob", "stranger"):
        take(workplace, study, worker, 2, clock.now())
    People(workplace._database).withdraw("bob", study, wants_erasure=True, language="en", at=clock.now())
    assert campaign.collect_tests(workplace).new == 1
    with campaign._context.store.read() as tx:
        assert list(tx.workers.known("local")) == ["ann"]


def test_who_was_forgotten_does_not_come_back_by_his_attempts(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann")
    take(workplace, study, "ann", 2, clock.now())
    campaign.collect_tests(workplace)
    campaign.forget("ann")
    assert campaign.collect_tests(workplace).new == 0
    (left,) = campaign.test_attempts("tone")
    with campaign._context.store.read() as tx:
        assert tx.workers.known("local") == {}
    assert campaign.qualified("tone") == [left.worker]


def test_attempts_on_paper_and_on_the_pages_are_numbered_on(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann")
    campaign.take_test("tone", "ann", {}, platform="local")
    clock.advance(3600)
    take(workplace, study, "ann", 2, clock.now())
    campaign.collect_tests(workplace)
    assert [(each.number, each.passed) for each in campaign.test_attempts()] == [(1, False), (2, True)]


def test_a_new_version_asks_again_unless_the_older_one_still_counts(house: Any, tmp_path: Path, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann", "bob")
    take(workplace, study, "ann", 2, clock.now())
    terms = TERMS + "test_version = 2\ntest_also = [1]\n"
    changed = write(tmp_path, "Hello!", "Thanks.", terms=terms)
    campaign.add_study_test(changed, platform=workplace)
    take(workplace, read_study(changed), "bob", 2, clock.now())
    campaign.collect_tests(workplace)
    assert len(campaign.qualified("tone")) == 1
    assert len(campaign.qualified("tone", also=(1,))) == 2


def test_the_funnel_says_how_far_people_came(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann", "bob", "cyd")
    take(workplace, study, "ann", 2, clock.now())
    take(workplace, study, "bob", 0, clock.now())
    take(workplace, study, "stranger", 2, clock.now())
    found = campaign.test_funnel("tone", platform=workplace)
    # 1 of 2 with a uniform prior: Beta(2, 2), symmetric about one half.
    assert found[["stage", "people"]].to_records(index=False).tolist() == [
        ("arrived", 3), ("tried", 2), ("passed", 1), ("worked", 0),
    ]  # fmt: skip
    passed = found.set_index("stage").loc["passed"]
    assert passed["share"] == 0.5
    assert passed["low"] + passed["high"] == pytest.approx(1.0)
    campaign.collect(workplace)
    told = campaign.test_funnel("tone")
    assert told[["stage", "people"]].to_records(index=False).tolist() == [("tried", 2), ("passed", 1), ("worked", 0)]
    with pytest.raises(StateError, match="no test 'moon'"):
        campaign.test_funnel("moon", platform=workplace)


def test_the_funnel_counts_consent_where_it_is_asked(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann", "bob")
    asks = replace(study, information="You judge replies.")
    People(workplace._database).give_consent("ann", asks, language="en", at=clock.now())
    for worker in ("ann", "bob"):
        take(workplace, study, worker, 2, clock.now())
    found = campaign.test_funnel("tone", platform=workplace)
    assert found[["stage", "people"]].to_records(index=False).tolist()[:3] == [
        ("arrived", 2), ("consented", 1), ("tried", 1),
    ]  # fmt: skip


def test_a_funnel_of_nobody_is_all_zero(house: Any) -> None:
    campaign, workplace, _ = house
    assert campaign.test_funnel("tone", platform=workplace)["people"].tolist() == [0, 0, 0, 0]


def test_a_platform_without_pages_is_refused(house: Any, tmp_path: Path) -> None:
    class Elsewhere:
        name = "elsewhere"

    place: Any = Elsewhere()
    with pytest.raises(InputError, match="no pages that ask tests"):
        house[0].add_study_test(tmp_path / "study.toml", platform=place)


def test_mturk_is_told_of_who_passed_and_loses_who_does_not_count_any_more(
    small: Callable[..., Any], turk: Any, tmp_path: Path
) -> None:
    campaign = small()
    key = {"q1": "good", "q2": "bad"}
    campaign.add_test(QualificationTest("tone", 1, key))
    campaign.publish(turk.platform, **SPEND)
    for worker in ("A1", "A2"):
        campaign.take_test("tone", worker, key, platform="mturk")
    hit = hits_of(campaign)[0]
    name = turk.work(hit, "A2", dict.fromkeys([each.item for each in hit.items], "good"))
    campaign.collect(turk.platform)
    told = campaign.sync_test(turk.platform, "tone")
    assert (told.qualified, told.changed) == (2, 2)
    assert campaign.sync_test(turk.platform, "tone").changed == 0
    with campaign._context.store.begin() as tx:
        tx.work.exclude(campaign._context.campaign_id, [name], "gold")
    assert campaign.sync_test(turk.platform, "tone").changed == 0
    assert campaign.sync_test(turk.platform, "tone", drop_excluded=True).changed == 1
    campaign.forget("A1")
    left = campaign.sync_test(turk.platform, "tone", drop_excluded=True)
    assert (left.qualified, left.changed, left.id) == (0, 1, told.id)


# The effort model's worker test score.


def test_the_worker_test_score_counts_tests_as_of_any_moment(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann")
    first = clock.now()
    take(workplace, study, "ann", 1, first)
    second = clock.advance(3600) or clock.now()
    take(workplace, study, "ann", 2, second)
    campaign.collect_tests(workplace)
    with campaign._context.store.read() as tx:
        checks = known_checks(campaign._context, tx)
    (who,) = set(checks["worker"])
    moments = [first, second, second + timedelta(seconds=1)]
    found = worker_features([who] * 3, as_of=moments, gold_checks=checks)
    # Before the first nothing is known; after it 1 of 2; after both 1 + 2 of 4.
    assert found["worker_test_score"].tolist() == [pytest.approx(float("nan"), nan_ok=True), 0.5, 0.75]
    assert found["n_gold"].tolist() == [0, 2, 4]


def test_who_passed_and_met_no_gold_is_one_of_the_pool(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann", "bob", "cyd")
    for worker, right in (("ann", 2), ("bob", 0), ("cyd", 1)):
        take(workplace, study, worker, right, clock.now())
    campaign.collect_tests(workplace)
    cid = campaign._context.campaign_id
    with campaign._context.store.begin() as tx:
        who = tx.workers.known("local")
        scores = pd.DataFrame({"worker": [who["cyd"]], "right": [5], "n": [8], "score": [0.625]})
        tx.workers.add_scores(cid, scores, as_of=clock.now())
        pool = pool_scores(tx, cid).set_index("worker")["score"]
    # cyd: 5 of 8 on gold and 1 of 2 in the test are 6 of 10.
    assert pool.to_dict() == pytest.approx({who["ann"]: 1.0, who["cyd"]: 0.6})


def test_without_tests_the_pool_is_what_it_was(house: Any) -> None:
    campaign = house[0]
    with campaign._context.store.read() as tx:
        pd.testing.assert_frame_equal(
            pool_scores(tx, campaign._context.campaign_id), tx.workers.scores(campaign._context.campaign_id)
        )
    assert checks_of_tests([]).empty


def test_effort_is_estimated_with_people_who_were_only_tested(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann")
    take(workplace, study, "ann", 2, clock.now())
    campaign.collect_tests(workplace)
    assert campaign.estimate_effort().items > 0


def test_an_attempt_of_before_this_was_kept_counts_for_nobody(house: Any, clock: Any) -> None:
    campaign, workplace, study = house
    arrive(workplace, "ann")
    take(workplace, study, "ann", 2, clock.now())
    with workplace._database.write() as connection:
        connection.execute(ATTEMPT.update().values(content=""))
    assert campaign.collect_tests(workplace).unmatched == 1
    assert People(workplace._database).step("ann", study, "test") == Step(1, True, 1.0, ("kind", "kind"))
