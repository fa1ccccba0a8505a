"""The qualification test on the pages: attempts, delay, mark, versions; what is told and kept, whose place is free."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from hmc_crowd_local._tables_pages import ATTEMPT, STEP
from hmc_crowd_local.pages import Practice, Step, Study
from hmc_crowd_local.pages._exam import exam_of
from pages_house import SECRET, Plain, dialogue, question

from hmc_crowd.errors import InputError

from hmc_crowd_local.pages import Invites, People, read_study  # isort: skip

RIGHT, WRONG = "0", "1"  # every right answer is "polite", the first of two
ASKED = tuple(Practice(question(f"e{n}", text=f"Thank you {n}."), "polite", "Because I say so.") for n in range(3))


def study_of(**options) -> Study:
    return Study(**{"test": ASKED, "test_needed": 3, "test_attempts": 3, "test_delay_s": 600.0, **options})


def begin(house, hit=None, worker="ann"):
    name, link = house.work(hit or dialogue(), worker)
    plain = Plain(house.client())
    plain.get(link)
    return name, link, plain


def answer(plain, *choices: str) -> None:
    for each in choices:
        plain.send('name="place"', a0=each)


def attempts(house) -> list:
    with house.local._database.read() as connection:
        return connection.execute(sa.select(ATTEMPT).order_by(ATTEMPT.c.at)).all()


def test_who_failed_is_told_kindly_when_he_may_try_again_and_nothing_of_the_answers(new_house, clock) -> None:
    house = new_house(study=study_of())
    _, link, plain = begin(house)
    answer(plain, RIGHT, WRONG, RIGHT)
    assert "Thank you for taking the test." in plain.text
    assert f"{clock.now() + timedelta(seconds=600):%Y-%m-%d %H:%M} UTC" in plain.text
    assert "(10 minutes)" in plain.text
    assert "Attempt 2 of 3." in plain.text
    for telling in ("right answer", "Because I say so.", "polite", "Not right", "2 of 3 right"):
        assert telling not in plain.text
    plain.get(link + "/q/1")
    assert plain.path == "test"


def test_after_the_wait_the_same_link_asks_again_and_passing_opens_the_work(new_house, clock) -> None:
    house = new_house(study=study_of())
    name, link, plain = begin(house)
    answer(plain, RIGHT, WRONG, RIGHT)
    clock.advance(599)
    assert "You may try again from" in plain.get(link).text
    clock.advance(1)
    plain.get(link)
    assert "You may try again now" in plain.text
    assert "Attempt 2 of 3." in plain.text
    answer(plain, RIGHT, RIGHT, RIGHT)
    assert plain.path == "q/1"
    assert house.local.submission(name).state.value == "accepted"
    rows = attempts(house)
    assert [(each.number, each.right, each.n, each.passed) for each in rows] == [(1, 2, 3, False), (2, 3, 3, True)]
    assert [each.at for each in rows] == [clock.now() - timedelta(seconds=600), clock.now()]


def test_without_a_delay_the_next_attempt_begins_at_once(new_house) -> None:
    house = new_house(study=study_of(test_delay_s=0.0))
    name, _, plain = begin(house)
    answer(plain, WRONG, WRONG, WRONG)
    assert "You may try again now" in plain.text
    assert "Question 1 of 3" in plain.text
    assert house.local.submission(name).state.value == "accepted"


def test_the_last_attempt_that_fails_frees_the_place_and_is_final(new_house, clock) -> None:
    house = new_house(study=study_of(test_attempts=2, test_delay_s=0.0))
    name, link, plain = begin(house)
    answer(plain, WRONG, WRONG, WRONG)
    answer(plain, WRONG, WRONG, WRONG)
    assert "This time it was not enough to take part." in plain.text
    assert "try again" not in plain.text
    assert house.local.submission(name).state.value == "returned"
    clock.advance(10**6)
    assert plain.get(link + "/test").status_code == 403
    assert len(attempts(house)) == 2


def test_a_wait_longer_than_the_work_frees_the_place_and_the_link_leads_to_the_test(new_house, clock) -> None:
    house = new_house(study=study_of(test_delay_s=48 * 3600.0))
    name, link, plain = begin(house, dialogue(redundancy=1))
    answer(plain, WRONG, RIGHT, RIGHT)
    assert house.local.submission(name).state.value == "returned"
    assert "Others can do the work that you had begun meanwhile." in plain.text
    clock.advance(48 * 3600)
    plain.get(link)
    assert "Attempt 2 of 3." in plain.text
    answer(plain, RIGHT, RIGHT, RIGHT)
    assert "The work is given back." in plain.text
    _, again = house.work(dialogue(key="other", items=(question("other"),)))
    plain.get(again)
    assert plain.path == "q/1"


def test_an_old_window_answers_nothing_of_a_later_attempt(new_house) -> None:
    house = new_house(study=study_of(test_delay_s=0.0))
    _, _, plain = begin(house)
    old = plain.form('name="place"')
    answer(plain, WRONG, WRONG, WRONG)
    plain.client.post(old.action, data={**dict(old.fields), "a0": RIGHT})
    assert People(house.local._database).step("ann", house.settings.study, "test").detail == ()


def test_invited_people_are_offered_work_again_once_they_may_try(new_house, clock) -> None:
    house = new_house(study=study_of(test_delay_s=48 * 3600.0))
    _, _, plain = begin(house)
    house.local.publish(dialogue(key="other", items=(question("other"),)))
    invite = Invites(house.local, secret=SECRET).issue("ann")
    answer(plain, WRONG, WRONG, WRONG)
    plain.get(f"/work/i/{invite.token}")
    assert "You may try again from" in plain.text
    assert "There is nothing to do now." in plain.text
    clock.advance(48 * 3600)
    plain.get(f"/work/i/{invite.token}")
    assert "You may try again now" in plain.text
    assert "Look at it" in plain.text


def test_invited_people_take_the_test_again_without_holding_anybodys_place(new_house, clock) -> None:
    house = new_house(study=study_of(test_delay_s=48 * 3600.0))
    _, _, plain = begin(house, dialogue(redundancy=1))
    invite = Invites(house.local, secret=SECRET).issue("ann")
    answer(plain, WRONG, WRONG, WRONG)
    clock.advance(48 * 3600)
    plain.get(f"/work/i/{invite.token}/test")
    assert "Attempt 2 of 3." in plain.text
    answer(plain, RIGHT, WRONG, RIGHT)
    assert "You may try again from" in plain.text
    plain.get(f"/work/i/{invite.token}/test")
    assert "You may try again from" in plain.text
    clock.advance(48 * 3600)
    plain.get(f"/work/i/{invite.token}/test")
    answer(plain, RIGHT, RIGHT, RIGHT)
    assert plain.path == ""
    assert "try again" not in plain.text
    assert [each.passed for each in attempts(house)] == [False, False, True]
    _, link = house.work(dialogue(key="other", items=(question("other"),)))
    plain.get(link)
    assert plain.path == "q/1"


def test_whoever_has_no_attempt_left_is_told_so_at_home(new_house) -> None:
    house = new_house(study=study_of(test_attempts=1, test_delay_s=0.0))
    _, _, plain = begin(house)
    invite = Invites(house.local, secret=SECRET).issue("ann")
    answer(plain, WRONG, WRONG, WRONG)
    plain.get(f"/work/i/{invite.token}")
    assert "This time it was not enough to take part." in plain.text
    assert plain.get(f"/work/i/{invite.token}/test").status_code == 403


def test_nobody_takes_the_test_at_home_before_it_is_due(new_house) -> None:
    house = new_house(study=study_of(information="You judge replies."))
    invite = Invites(house.local, secret=SECRET).issue("ann")
    plain = Plain(house.client())
    plain.get(f"/work/i/{invite.token}/test")
    assert plain.path == ""
    assert attempts(house) == []


def test_more_attempts_than_before_let_those_try_again_who_had_none_left(new_house) -> None:
    once = study_of(test_attempts=1, test_delay_s=0.0)
    house = new_house(study=once)
    _, link, plain = begin(house)
    answer(plain, WRONG, WRONG, WRONG)
    assert plain.page.status_code == 403
    object.__setattr__(house.settings, "study", replace(once, test_attempts=2))
    plain.get(link)
    assert "Attempt 2 of 2." in plain.text
    answer(plain, RIGHT, RIGHT, RIGHT)
    assert [each.number for each in attempts(house)] == [1, 2]


@pytest.mark.parametrize(("also", "path"), [((), "test"), ((1,), "q/1")])
def test_a_changed_test_is_asked_again_unless_the_older_version_still_counts(new_house, also, path) -> None:
    study = study_of()
    house = new_house(study=study)
    _, link, plain = begin(house)
    answer(plain, RIGHT, RIGHT, RIGHT)
    assert plain.path == "q/1"
    changed = replace(study, test=ASKED[:2], test_needed=2, test_version=2, test_also=also)
    object.__setattr__(house.settings, "study", changed)
    plain.get(link)
    assert plain.path == path


def test_a_failed_older_version_counts_for_nothing(new_house) -> None:
    study = study_of()
    house = new_house(study=study)
    _, link, plain = begin(house)
    answer(plain, RIGHT, RIGHT, WRONG)
    changed = replace(study, test=ASKED[:2], test_needed=2, test_version=2, test_also=(1,))
    object.__setattr__(house.settings, "study", changed)
    plain.get(link)
    assert plain.path == "test"
    assert "Attempt 1 of 3." in plain.text


def test_the_last_answer_sent_twice_is_one_attempt(new_house) -> None:
    house = new_house(study=study_of())
    _, _, plain = begin(house)
    answer(plain, WRONG, WRONG)
    form = plain.form('name="place"')
    for choice in (WRONG, RIGHT, RIGHT):
        plain.client.post(form.action, data={**dict(form.fields), "a0": choice})
    assert [(each.number, each.right) for each in attempts(house)] == [(1, 0)]


@pytest.mark.parametrize(
    ("terms", "needed"),
    [({"test_needed": 2}, 2), ({"test_share": 0.5}, 2), ({}, 3), ({"test_share": 1.0}, 3), ({"test_needed": 0}, 0)],
)
def test_the_mark_is_a_count_or_a_share_and_nine_of_ten_by_default(terms, needed) -> None:
    assert Study(test=ASKED, **terms).passing == needed


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"test_needed": 4}, "it must lie between"),
        ({"test_share": 1.1}, "above 0, at most 1"),
        ({"test_share": 0.5, "test_needed": 1}, "give one of them"),
        ({"test_attempts": 0}, "at least 1"),
        ({"test_delay_s": -1.0}, "0 or more seconds"),
        ({"test_delay_s": float("nan")}, "0 or more seconds"),
        ({"test_version": 2, "test_also": (2,)}, "only earlier ones"),
        ({"test_version": 0}, "count from 1"),
    ],
)
def test_terms_that_nobody_means_are_refused(terms, message) -> None:
    with pytest.raises(InputError, match=message):
        Study(test=ASKED, **terms)


@pytest.mark.parametrize(
    ("kind", "labels", "label", "given"),
    [
        ("multi_label", ("insult", "threat"), '["threat", "insult"]', {"a0": ["0", "1"]}),
        ("multi_label", ("insult", "threat"), "threat", {"a0": "1"}),
        ("numeric", ("0", "10"), "7,0", {"a0": "7"}),
        ("text", (), "Sorry.", {"a0": "Sorry."}),
        ("ordinal", ("1", "2"), "2", {"a0": "1"}),
    ],
)
def test_every_kind_of_question_can_be_passed_however_its_answer_is_written(
    new_house, kind, labels, label, given
) -> None:
    asked = Practice(question("e0", kind=kind, labels=labels), label)
    house = new_house(study=study_of(test=(asked,), training=(asked,), test_needed=1))
    _, link, plain = begin(house)
    plain.send('name="place"', **given)
    assert "Right" in plain.text
    plain.get(link)
    plain.send('name="place"', **given)
    assert plain.path == "q/1"


def test_a_test_that_nobody_can_fail_is_none_for_a_campaign() -> None:
    with pytest.raises(InputError, match="no test that anybody could fail"):
        _ = Study(test=ASKED, test_needed=0).asked_test
    with pytest.raises(InputError, match="no test that anybody could fail"):
        _ = Study().asked_test


def test_a_changed_text_is_another_item_and_so_another_content() -> None:
    study = study_of()
    other = replace(ASKED[0], item=replace(ASKED[0].item, text="Thanks."))
    changed = replace(study, test=(other, *ASKED[1:]))
    assert study.asked_test.content == study_of(test_attempts=1).asked_test.content
    assert study.asked_test.content != changed.asked_test.content
    assert study.asked_test.content != replace(study, test_needed=2).asked_test.content
    assert len(study.asked_test.key.keys() - changed.asked_test.key.keys()) == 1


def test_the_terms_are_read_from_the_file(tmp_path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        'key = "s"\ntest_share = 0.9\ntest_attempts = 2\ntest_delay_s = 60\ntest_name = "tone"\ntest_version = 3\n'
        'test_also = [1, 2]\n[[test]]\ntext = "Hi"\nlabels = ["kind", "rude"]\nlabel = "kind"\n'
    )
    found = read_study(path)
    asked = found.asked_test
    assert (asked.name, asked.version, asked.needed, asked.attempts, asked.delay_s) == ("tone", 3, 1, 2, 60.0)
    assert found.test_also == (1, 2)
    (item,) = asked.key
    assert item.startswith("test-1@")


def test_how_it_stands_follows_from_what_is_stored(clock) -> None:
    now, study = clock.now(), study_of()
    later = now + timedelta(seconds=600)
    cases = [
        (Step(), None, now, ("open", 1)),
        (Step(0, None, None, ("polite",)), None, now, ("open", 1)),
        (Step(1, None, 0.0), now, now, ("waits", 2)),
        (Step(1, None, 0.0), now, later, ("open", 2)),
        (Step(1, None, None, ("polite",)), now, now, ("open", 2)),
        (Step(3, False, 0.0, ("rude",)), now, later, ("failed", 3)),
        (Step(1, True, 1.0, ("polite",)), now, now, ("passed", 1)),
    ]
    for step, last, at, wanted in cases:
        found = exam_of(study, step, last_at=last, at=at)
        assert (found.state.value, found.number) == wanted, step


def test_an_attempt_and_how_it_stands_are_kept_together_or_not_at_all(new_house, monkeypatch) -> None:
    house = new_house(study=study_of())
    _, _, plain = begin(house)
    answer(plain, WRONG, WRONG)

    def broken(*_arguments, **_options):
        raise InputError("the disk is full")

    monkeypatch.setattr("hmc_crowd_local.pages._exam.upsert", broken)
    answer(plain, WRONG)
    monkeypatch.undo()
    assert attempts(house) == []
    with house.local._database.read() as connection:
        assert connection.execute(sa.select(STEP.c.tries)).scalars().all() == [0]


def test_an_answer_to_a_question_of_the_old_test_is_none_to_the_new_one(new_house) -> None:
    study = study_of()
    house = new_house(study=study)
    _, _, plain = begin(house)
    other = tuple(Practice(question(f"n{n}", text=f"Go away {n}."), "polite", "") for n in range(3))
    # The page of the old test is still open when the study's file changes.
    object.__setattr__(house.settings, "study", replace(study, test=other, test_version=2))
    answer(plain, RIGHT)
    assert "Go away 0." in plain.text
    answer(plain, WRONG, RIGHT, RIGHT)
    assert "Thank you for taking the test." in plain.text
    assert [(row.test_version, row.right) for row in attempts(house)] == [(2, 2)]
