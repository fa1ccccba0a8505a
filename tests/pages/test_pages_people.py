"""The person before and after the work: consent, check, training, test, survey, withdrawal, opt-outs, invitations."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pages_house import SECRET, Plain, dialogue, every_kind, full_study, question

from hmc_crowd.errors import InputError
from hmc_crowd.platform import Hit, RemoteAnswer

from hmc_crowd_local.pages import Check, Invites, People, Practice, Study, read_study  # isort: skip


@pytest.fixture
def people(house):
    return People(house.local._database)


def begin(house, hit=None, worker="ann"):
    name, link = house.work(hit or dialogue(), worker)
    plain = Plain(house.client())
    plain.get(link)
    return name, link, plain


def agree(plain) -> None:
    plain.send("Your consent", agree=["0", "1"], do="agree")


def pass_check(plain) -> None:
    plain.send("What do you judge?", c0="0", c1="1")


CONSENT_ONLY = {"checks": (), "training": (), "test": ()}


def test_consent_comes_first_and_is_kept_with_the_hash_of_what_was_read(new_house, clock) -> None:
    study = full_study(**CONSENT_ONLY)
    house = new_house(study=study)
    _name, link, plain = begin(house)
    assert plain.path == "consent"
    assert "You judge replies of a machine." in plain.text
    plain.get(link + "/q/1")  # nobody gets round it
    assert plain.path == "consent"
    agree(plain)
    assert plain.path == "q/1"
    import sqlalchemy as sa
    from hmc_crowd_local._tables_pages import CONSENT

    with house.local._database.read() as connection:
        row = connection.execute(sa.select(CONSENT)).one()
    assert (row.worker, row.text_hash, row.version, row.given_at) == ("ann", study.consent_hash, "1", clock.now())


def test_a_statement_that_is_not_ticked_stops_with_a_message(new_house) -> None:
    house = new_house(study=full_study(**CONSENT_ONLY))
    _, _, plain = begin(house)
    page = plain.send("Your consent", agree=["0"], do="agree")
    assert page.status_code == 422
    assert "Tick every statement" in plain.text


def test_a_changed_text_is_asked_again(new_house) -> None:
    study = full_study(**CONSENT_ONLY)
    house = new_house(study=study)
    _, _link, plain = begin(house)
    agree(plain)
    changed = replace(study, information=study.information + "\n\nWe also keep your age.")
    people = People(house.local._database)
    assert people.standing("ann", study) == "consents"
    assert people.standing("ann", changed) == "unasked"


def test_saying_no_gives_the_work_back(new_house) -> None:
    house = new_house(study=full_study(**CONSENT_ONLY))
    name, _, plain = begin(house)
    plain.send("Your consent", do="decline")
    assert "The work is given back." in plain.text
    assert house.local.submission(name).state.value == "returned"


def test_leaving_the_study_ends_the_work_and_every_later_visit(new_house) -> None:
    study = full_study(**CONSENT_ONLY)
    house = new_house(study=study)
    name, link, plain = begin(house)
    agree(plain)
    plain.get(link + "/withdraw")
    plain.send("Leave the study", erase="yes")
    assert "You have left this study." in plain.text
    assert house.local.submission(name).state.value == "returned"
    ((worker, key, _, wants_erasure),) = People(house.local._database).withdrawals()
    assert (worker, key, wants_erasure) == ("ann", "study", True)
    other = dialogue(key="other")
    _, again = house.work(replace(other, items=tuple(replace(each, item=each.item + "x") for each in other.items)))
    assert plain.get(again).status_code == 403


def answers_of(house, items) -> list[RemoteAnswer]:
    now = house.clock.now()
    return [RemoteAnswer(each.item, each.aspect, each.labels[0], now, now) for each in items]


def test_leaving_the_study_frees_every_place_that_he_holds_in_it_and_no_other(new_house) -> None:
    house = new_house(study=full_study(**CONSENT_ONLY), studies={"theirs": full_study(key="theirs", **CONSENT_ONLY)})
    name, link, plain = begin(house)
    agree(plain)
    items = {key: tuple(replace(each, item=each.item + key) for each in dialogue().items) for key in "xyz"}
    held, _ = house.work(dialogue(key="x", items=items["x"]))
    done, _ = house.work(dialogue(key="y", items=items["y"]))
    house.local.hand_in(done, "ann", answers_of(house, items["y"]))
    theirs, _ = house.work(dialogue(key="z", items=items["z"], scope="theirs"))
    plain.get(link + "/withdraw")
    plain.send("Leave the study")
    states = [house.local.submission(each).state.value for each in (name, held, done, theirs)]
    assert states == ["returned", "returned", "submitted", "accepted"]


def test_the_check_may_be_tried_twice_and_the_place_is_free_after(new_house) -> None:
    house = new_house(study=full_study(training=(), test=()))
    hit = dialogue(redundancy=1)
    name, link, plain = begin(house, hit)
    agree(plain)
    assert plain.path == "check"
    plain.send("What do you judge?", c0="1", c1="1")
    assert "Tries left: 1." in plain.text
    assert plain.text.count("(not right)") == 1
    plain.send("What do you judge?", c0="1", c1="1")
    assert "The check was not passed" in plain.text
    assert house.local.submission(name).state.value == "returned"
    assert house.local.find(hit.key).is_open
    assert plain.get(link + "/check").status_code == 403


def test_an_unanswered_check_costs_no_try(new_house) -> None:
    house = new_house(study=full_study(training=(), test=()))
    _, _, plain = begin(house)
    agree(plain)
    assert plain.send("What do you judge?", c0="0").status_code == 422
    pass_check(plain)
    assert plain.path == "q/1"


def test_training_explains_and_never_refuses(new_house) -> None:
    house = new_house(study=full_study(checks=(), test=()))
    _, _, plain = begin(house)
    agree(plain)
    plain.send('name="place"', a0="0")
    assert "Not right" in plain.text
    assert "Nobody is told to shut up politely." in plain.text
    plain.get(plain.page.url.path.rpartition("/training")[0])
    assert plain.path == "q/1"


@pytest.mark.parametrize(("given", "path"), [(("0", "0"), "q/1"), (("0", "1"), "")])
def test_the_test_tells_nothing_until_its_end_and_decides(new_house, given, path) -> None:
    house = new_house(study=full_study(checks=(), training=()))
    _, _, plain = begin(house)
    agree(plain)
    for number, each in enumerate(given, start=1):
        assert f"Question {number} of 2" in plain.text
        assert "right answer" not in plain.text
        plain.send('name="place"', a0=each)
    assert plain.path == path
    if not path:
        assert "it was not enough" in plain.text


def test_a_practice_answer_sent_twice_counts_once(new_house) -> None:
    house = new_house(study=full_study(checks=(), training=()))
    _, _, plain = begin(house)
    agree(plain)
    form = plain.form('name="place"')
    for _ in range(3):
        plain.client.post(form.action, data={**dict(form.fields), "a0": "0"})
    step = People(house.local._database).step("ann", house.settings.study, "test")
    assert len(step.detail) == 1


def test_the_funnel_counts_people(new_house) -> None:
    study = full_study(training=(), test=())
    house = new_house(study=study)
    for worker, right in (("ann", True), ("bob", False)):
        _, _, plain = begin(house, worker=worker)
        agree(plain)
        for _ in range(1 if right else 2):
            plain.send("What do you judge?", c0="0" if right else "1", c1="1")
    found = People(house.local._database).funnel(study)
    assert (found["consented"], found["checks_begun"], found["checks_passed"], found["checks_failed"]) == (2, 2, 1, 1)


def test_what_is_passed_is_passed_for_the_next_hit(new_house) -> None:
    house = new_house(study=full_study(training=(), test=()))
    _, _, plain = begin(house)
    agree(plain)
    pass_check(plain)
    _, link = house.work(Hit("next", "Next", "", (question("n1"),), 1, 5, "USD"))
    plain.get(link)
    assert plain.path == "q/1"


def test_a_study_of_its_own_for_a_scope(new_house) -> None:
    house = new_house(studies={"strict": Study(key="strict", information="Read me.")})
    _, _, plain = begin(house, dialogue(scope="strict"))
    assert plain.path == "consent"
    _, _, plain = begin(house, dialogue(key="other"), worker="bob")
    assert plain.path == "q/1"


def test_the_survey_may_stay_open_and_is_asked_once(new_house) -> None:
    house = new_house(study=full_study(information="", consent=(), **CONSENT_ONLY))
    _, link, plain = begin(house)
    plain.answer(a0="0", do="next")
    plain.answer(a0="0", do="next")
    plain.send("Hand in")
    assert "A few questions about you" in plain.text
    plain.get(link + "/survey")
    plain.send("How old are you?", s0="18-40")
    assert "A few questions about you" not in plain.text
    step = People(house.local._database).step("ann", house.settings.study, "survey")
    assert step.detail == ("18-40", "")


# Disturbing text.


def test_disturbing_text_is_behind_a_word_of_warning(house, plain) -> None:
    _, link = house.work(every_kind())
    plain.get(link + "/q/6")
    before, _, inside = plain.text.partition('<details class="veil">')
    assert "He was hurt badly." not in before
    assert "He was hurt badly." in inside
    plain.get(link + "/review")
    assert "He was hurt badly." not in plain.text


def grim(n: int, key: str = "grim") -> Hit:
    items = tuple(question(f"{key}{i}", text=f"Grim text {i}.", sensitive=True, category="violence") for i in range(n))
    return Hit(key, "Grim", "", items, 5, 50, "USD")


def test_the_days_exposure_is_limited_and_skipping_costs_nothing(new_house, clock) -> None:
    house = new_house(exposure_per_day=2)
    name, _link, plain = begin(house, grim(3))
    for i in range(2):
        assert f"Grim text {i}." in plain.text
        plain.answer(a0="0", do="next")
    assert "Grim text 2." not in plain.text
    assert "You have seen enough disturbing texts for one day." in plain.text
    plain.send("Skip without loss", do="skip")
    plain.send("Hand in")
    assert house.local.submission(name).state.value == "submitted"
    from hmc_crowd_local.pages import WorkStore

    assert [each.kind for each in WorkStore(house.local._database).skips([name])] == ["exposure"]


def test_the_same_text_on_the_same_day_counts_once_and_the_next_day_begins_anew(new_house, clock) -> None:
    house = new_house(exposure_per_day=1)
    _, link, plain = begin(house, grim(2))
    plain.get(link + "/q/1")
    assert "Grim text 0." in plain.text
    plain.get(link + "/q/2")
    assert "Grim text 1." not in plain.text
    clock.advance(24 * 3600)
    plain.get(link + "/q/2")
    assert "Grim text 1." in plain.text


def test_an_answer_to_a_text_that_was_not_shown_is_not_kept(new_house) -> None:
    house = new_house(exposure_per_day=1)
    name, _link, plain = begin(house, grim(2))
    plain.answer(a0="0", do="next")
    form = plain.form()
    plain.client.post(form.action, data={**dict(form.fields), "a0": "1", "do": "next"})
    assert len(house.local.saved_answers([name])[name]) == 1


def test_opting_out_of_a_category_hides_it_and_the_planner_sees_how_many(house, people) -> None:
    _, link, plain = begin(house, grim(1))
    plain.get(link + "/preferences")
    plain.send("Do not show me", category="violence")
    assert "Saved" in plain.text
    plain.get(link + "/q/1")
    assert "Grim text 0." not in plain.text
    assert "you asked not to see" in plain.text
    assert dict(people.opt_outs()) == {"violence": 1}


# Invitations.


@pytest.fixture
def invites(house):
    return Invites(house.local, secret=SECRET)


def test_an_invited_worker_finds_takes_and_finishes_work(house, invites, plain) -> None:
    remote = house.local.publish(dialogue(redundancy=1))
    invite = invites.issue("ann", label="Ann Example")
    plain.get(invite.url(house.url))
    assert "Judge the replies" in plain.text
    assert "1.50 USD" in plain.text
    assert "ann" not in invite.token
    plain.get(f"/work/i/{invite.token}/hit/{remote.hit_id}")
    plain.send("Begin")
    assert plain.path == "q/1"
    plain.answer(a0="0", do="next")
    plain.answer(a0="0", do="next")
    plain.send("Hand in")
    assert f"/work/i/{invite.token}" in plain.text  # back to the list
    plain.get(invite.url(house.url))
    assert "handed in" in plain.text
    assert "There is nothing to do now." in plain.text


def test_work_under_way_is_gone_on_with(house, invites, plain) -> None:
    remote = house.local.publish(dialogue(redundancy=1))
    invite = invites.issue("ann")
    plain.get(f"/work/i/{invite.token}/hit/{remote.hit_id}")
    plain.send("Begin")
    plain.answer(a0="0", do="next")
    other = Plain(house.client())
    other.get(f"/work/hit/{remote.hit_id}?invite={invite.token}")
    assert other.path == "q/2"
    other.get(invite.url(house.url))
    assert "Under way" in other.text


def test_work_that_may_not_be_taken_is_not_offered(house, invites, people, plain, clock) -> None:
    hit_id = house.local.publish(grim(1)).hit_id
    people.set_opt_outs("ann", ["violence"], at=clock.now())
    invite = invites.issue("ann")
    plain.get(invite.url(house.url))
    assert "There is nothing to do now." in plain.text
    assert plain.get(f"/work/i/{invite.token}/hit/{hit_id}").status_code == 404


def test_a_revoked_invitation_closes_the_door_and_the_work_behind_it(house, invites, plain) -> None:
    invite = invites.issue("ann")
    _name, link = house.work(dialogue())
    assert plain.get(link).status_code == 200
    invites.revoke(invite.invite_id)
    assert plain.get(invite.url(house.url)).status_code == 404
    assert plain.get(link).status_code == 403
    invites.issue("ann")  # a new one opens it again
    assert plain.get(link).status_code == 200


@pytest.mark.parametrize("lifetime_s", [0, -1, float("nan"), float("inf"), 1e20])
def test_a_lifetime_that_no_calendar_holds_is_refused(invites, lifetime_s) -> None:
    with pytest.raises(InputError, match="a time above 0 and at most 100 years"):
        invites.issue("ann", lifetime_s=lifetime_s)


def test_an_invitation_expires(house, invites, plain, clock) -> None:
    invite = invites.issue("ann", lifetime_s=60)
    assert plain.get(invite.url(house.url)).status_code == 200
    clock.advance(60)
    assert plain.get(invite.url(house.url)).status_code == 404


def test_an_unknown_invitation_cannot_be_revoked(invites) -> None:
    with pytest.raises(InputError, match="invitation 'x' is unknown here"):
        invites.revoke("x")


# People whom another platform sent.


def recruited(house, **options):
    house.local.open_order("order", [dialogue()])
    door = house.local.order_door("prolific")
    return door.claim("order", worker="p1", submission_id="session1", **options)


def test_the_completion_link_comes_only_after_the_answers_are_committed(new_house) -> None:
    asked = []

    def completion(platform: str, external_id: str) -> str:
        asked.append((platform, external_id))
        return "https://app.prolific.com/submissions/complete?cc=CODE1"

    house = new_house(completion=completion)
    from urllib.parse import urlsplit

    from hmc_crowd_local import read_token, work_url

    token = recruited(house).rpartition("/")[2]
    name = read_token(house.local.secret("pages"), token, now=house.clock.now())
    link = work_url(house.url, house.token(name))
    plain = Plain(house.client())
    plain.get(link)
    for _ in range(2):
        assert "CODE1" not in plain.text
        plain.answer(a0="0", do="next")
    plain.get(urlsplit(link).path + "/done")
    assert asked == []
    assert "CODE1" not in plain.text
    plain.send("Hand in")
    assert "cc=CODE1" in plain.text
    assert asked == [("prolific", "session1")]
    assert len(house.local.answers([name])[name]) == 2


# The study file.


def test_a_study_is_read_from_a_file(tmp_path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        'information = "Read."\nconsent = ["Yes."]\ntest_needed = 1\n'
        '[[checks]]\nquestion = "Q?"\noptions = ["a", "b"]\nright = 1\n'
        '[[test]]\ntext = "Hi"\nlabels = ["kind", "rude"]\nlabel = "kind"\nexplanation = "It is."\n'
        '[[survey]]\nquestion = "Age?"\n'
    )
    study = read_study(path)
    assert study.checks == (Check("Q?", ("a", "b"), 1),)
    assert isinstance(study.test[0], Practice)
    assert study.test[0].item.labels == ("kind", "rude")
    assert study.survey[0].question == "Age?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("information = 3 4", "is no TOML"),
        ('informaton = "typo"', "is no study"),
        ('consent = ["yes"]', "nobody consents to nothing"),
        ("test_needed = 3", "it must lie between"),
        ('[[checks]]\nquestion = "Q"\noptions = ["a"]\nright = 1', "count from 0"),
        ('[[test]]\ntext = "x"', "is no study"),
        ('[[test]]\ntext = "x"\nlabels = ["a"]\nlabel = "b"', "allowed are a"),
    ],
)
def test_a_study_that_is_none_is_refused(tmp_path, text, message) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_study(path)


def test_the_documented_study_file_is_one(tmp_path) -> None:
    from pathlib import Path

    guide = Path(__file__).parents[2] / "docs" / "howto-run-your-own-workplace.md"
    path = tmp_path / "study.toml"
    path.write_text(guide.read_text("utf-8").partition("```toml")[2].partition("```")[0], encoding="utf-8")
    study = read_study(path)
    assert study.version == "2"
    assert [len(part) for part in (study.checks, study.training, study.test, study.survey)] == [1, 1, 1, 1]


def test_a_study_file_that_is_missing_is_one_sentence(tmp_path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_study(tmp_path / "none.toml")


def test_an_offer_says_how_many_answers_it_asks_for_and_its_title_once(new_house) -> None:
    house = new_house()
    hit = every_kind()
    house.local.publish(replace(hit, description=hit.title))
    plain = Plain(house.client())
    plain.get(f"/work/i/{Invites(house.local, secret=SECRET).issue('ann').token}")
    # Six texts, one of which is asked about twice.
    assert "Questions: 6 · Answers in all: 7" in plain.text
    assert plain.text.count(f">{hit.title}<") == 1
    remote = next(iter(house.local.find_all().values()))
    plain.get(f"{plain.page.url.path}/hit/{remote.hit_id}")
    assert "<dt>Answers in all</dt><dd>7</dd>" in plain.text
    assert f">{hit.title}</p>" not in plain.text
