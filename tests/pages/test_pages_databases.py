"""One worker's life on SQLite and on PostgreSQL: every table of the pages is written and read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pages_house import SECRET, Plain, Tab, every_kind, full_study, make_house

from hmc_crowd_local.pages import Invites, People, Threads, WorkStore  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pages_house import PagesHouse


@pytest.fixture
def house(database_url, clock) -> Iterator[PagesHouse]:
    made = make_house(database_url, clock, study=full_study(), exposure_per_day=1)
    yield made
    made.local.close()


def test_a_life_from_invitation_to_withdrawal(house, clock) -> None:
    invites, people = Invites(house.local, secret=SECRET), People(house.local._database)
    hit = every_kind()
    hit_id = house.local.publish(hit).hit_id
    invite = invites.issue("ann")
    plain = Plain(house.client())
    plain.get(f"/work/i/{invite.token}/hit/{hit_id}")
    plain.send("Begin")
    link = "/".join(str(plain.page.url).split("/")[:6])
    plain.send('name="agree"', agree=["0", "1"], do="agree")
    plain.send("What do you judge?", c0="1", c1="1")
    plain.send("What do you judge?", c0="0", c1="1")
    for _ in range(3):
        plain.send('name="place"', a0="0")
        plain.get(link)
    assert plain.path == "q/1"
    tab = Tab(house, link)
    clock.advance(10)
    tab.note("input")
    assert tab.flush().status_code == 204
    assert tab.flush().status_code == 204
    plain.get(link)
    plain.answer(a0="0", a1="0", do="next")
    plain.answer(a0="none", do="next")
    plain.answer(a0="1", do="next")
    plain.answer(a0="text", do="save")
    plain.answer(a0="", do="save")
    plain.send("Why?", do="flag", reason="broken")
    plain.answer(a0="0", do="next")
    plain.answer(a0="0", do="next")
    plain.get(link + "/ask/1")
    plain.send("Your question", text="Why?")
    plain.get(link + "/review")
    plain.send("Hand in")
    plain.send("Was the task clear?", clear="5", fair="1", text="ok")
    plain.send("Was the task clear?", clear="4", fair="1", text="ok")
    plain.get(link + "/survey")
    plain.send("How old are you?", s0="18-40")
    plain.get(link + "/preferences")
    plain.send("Do not show me", category="violence")
    plain.get(link + "/withdraw")
    plain.send("Leave the study")
    (found,) = house.local.submissions([hit_id])
    name, study = found.submission_id, house.settings.study
    assert (found.state.value, found.active_s, found.time_quality) == ("submitted", 10.0, "ok")
    answers = {(each.item, each.aspect): each.label for each in house.local.answers([name])[name]}
    assert len(answers) == 6
    assert answers["multi", "label"] == "[]"
    assert [each.kind for each in WorkStore(house.local._database).skips([name])] == ["flag"]
    assert WorkStore(house.local._database).gaps(name) == 0
    threads = Threads(house.local._database, house.local._ids)
    assert threads.feedback(name).clear == 4
    assert len(threads.unanswered()) == 1
    assert people.step("ann", study, "checks").tries == 2
    assert people.step("ann", study, "survey").detail == ("18-40", "")
    assert dict(people.opt_outs()) == {"violence": 1}
    assert len(people.exposed("ann", at=clock.now())) == 1
    assert people.standing("ann", study) == "withdrawn"
    invites.revoke(invite.invite_id)
    assert plain.get(invite.url(house.url)).status_code == 404


def test_a_test_is_tried_again_waited_for_and_read_by_a_campaign(database_url, clock) -> None:
    from pages_house import dialogue

    study = full_study(information="", consent=(), checks=(), training=(), test_attempts=2, test_delay_s=60.0)
    made = make_house(database_url, clock, study=study)
    try:
        _, link = made.work(dialogue(scope="c1:2"))
        plain = Plain(made.client())
        for choice in ("1", "0"):
            plain.get(link)
            for _ in range(2):
                plain.send('name="place"', a0=choice)
            clock.advance(60)
        assert plain.path == "q/1"
        found = made.local.test_attempts("c1", "study")
        assert [(each.worker, each.platform, each.right, each.passed) for each in found] == [
            ("ann", "local", 0, False),
            ("ann", "local", 2, True),
        ]
        assert {each.content for each in found} == {study.asked_test.content}
        told = made.local.test_funnel("c1", "study", [study.asked_test.content])
        assert told == {"arrived": 1, "tried": 1, "passed": 1, "worked": 0}
        assert made.local.test_attempts("c", "study") == []
    finally:
        made.local.close()


def test_windows_that_end_an_attempt_at_once_end_one(database_url, clock) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from hmc_crowd_local.pages._exam import Exam, Exams, ExamState

    study = full_study(test_attempts=2)
    made = make_house(database_url, clock, study=study)
    try:
        exams, now = Exams(made.local._database), clock.now()

        def end(label: str) -> bool:
            exam = Exam(ExamState.OPEN)
            return exams.finish("ann", study, exam, (label,) * 2, sent_by=None, at=now)

        with ThreadPoolExecutor(4) as pool:
            verdicts = list(pool.map(end, ["polite", "rude"] * 4))
        assert len(set(verdicts)) == 1
        step = People(made.local._database).step("ann", study, "test")
        assert (step.tries, step.passed) == (1, True if verdicts[0] else None)
    finally:
        made.local.close()
