"""The work itself, by forms alone: every kind of question, drafts, skipping, handing in, coming late, coming back."""

from __future__ import annotations

import json

import pytest
from pages_house import Plain, dialogue, every_kind, question

from hmc_crowd.platform import Hit


def answers(house, name):
    return {(each.item, each.aspect): each.label for each in house.local.saved_answers([name])[name]}


def test_a_dialogue_is_answered_turn_by_turn_and_handed_in(house, plain) -> None:
    name, link = house.work(dialogue())
    plain.get(link)
    assert plain.path == "q/1"
    assert "Hello, can you help me?" in plain.text  # the turn before the judged one
    assert plain.text.count('aria-current="true"') == 1
    plain.answer(a0="0", do="next")
    assert plain.path == "q/2"
    plain.answer(a0="1", do="next")
    assert plain.path == "review"
    plain.send("Hand in")
    assert plain.path == "done"
    assert "Your work is handed in." in plain.text
    found = house.local.answers([name])[name]
    assert [(each.item, each.label) for each in found] == [("t2", "polite"), ("t4", "rude")]


def test_every_kind_of_question_keeps_its_answer(house, plain) -> None:
    name, link = house.work(every_kind())
    plain.get(link)
    plain.answer(a0="1", a1="4", do="next")
    plain.answer(a0=["2", "0"], do="next")
    swapped = plain.text.index("No idea.") < plain.text.index("Take the first street left.")
    plain.answer(a0="0", do="next")  # what stands at the left
    plain.answer(a0="Please wait. <b>&\r\nBye", do="next")
    plain.answer(a0="0", do="next")
    plain.answer(a0="1", do="next")
    plain.send("Hand in")
    found = answers(house, name)
    assert found[("nominal", "label")] == "rude"
    assert found[("nominal", "tone")] == "5"
    assert json.loads(found[("multi", "label")]) == ["insult", "irony"]
    assert found[("pair", "label")] == ("theirs" if swapped else "ours")
    assert found[("free", "label")] == "Please wait. <b>&\nBye"
    (pair,) = [each for each in house.local.answers([name])[name] if each.item == "pair"]
    assert pair.swapped is swapped


def test_both_sides_of_a_pair_are_shown_first_and_the_label_is_that_of_the_pair(house) -> None:
    hit = Hit("p", "Pairs", "", (question("pair", kind="pair", labels=("ours", "theirs", "tie"),
              options=("OURS", "THEIRS")),), 12, 5, "USD")  # fmt: skip
    seen = set()
    for i in range(12):
        name, link = house.work(hit, f"w{i}")
        plain = Plain(house.client())
        plain.get(link)
        swapped = plain.text.index("THEIRS") < plain.text.index("OURS</div>")
        plain.answer(a0="0", do="next")
        assert answers(house, name)[("pair", "label")] == ("theirs" if swapped else "ours")
        plain.get(link + "/q/1")
        # The page shows again what was chosen, at the side where it was chosen.
        assert ("a0", "0") in plain.form('name="was_').fields
        seen.add(swapped)
    assert seen == {True, False}


def test_a_tie_stays_a_tie(house, plain) -> None:
    hit = Hit(
        "p", "Pairs", "", (question("pair", kind="pair", labels=("a", "b", "tie"), options=("x", "y")),), 1, 5, "USD"
    )
    name, link = house.work(hit)
    plain.get(link)
    plain.answer(a0="2")
    assert answers(house, name)[("pair", "label")] == "tie"


def test_labels_of_a_pair_are_never_on_the_page(house, plain) -> None:
    _, link = house.work(every_kind())
    plain.get(link + "/q/3")
    assert "theirs" not in plain.text
    assert "ours" not in plain.text.replace("yours", "").replace("hours", "")


def test_none_of_these_is_an_answer_and_taking_it_back_is_none(house, plain) -> None:
    name, link = house.work(every_kind())
    plain.get(link + "/q/2")
    plain.answer(a0="none", do="save")
    assert answers(house, name) == {("multi", "label"): "[]"}
    plain.answer(a0=["none", "1"], do="save")  # a label after all
    assert answers(house, name) == {("multi", "label"): '["threat"]'}
    form = plain.form('name="was_')
    plain.client.post(form.action, data={key: value for key, value in form.fields if key != "a0"})
    assert name not in house.local.saved_answers([name])


def test_an_emptied_text_is_no_answer(house, plain) -> None:
    name, link = house.work(every_kind())
    plain.get(link + "/q/4")
    plain.answer(a0="something", do="save")
    plain.answer(a0="  ", do="save")
    assert name not in house.local.saved_answers([name])


def test_coming_back_goes_to_the_first_open_question_with_the_draft_in_place(house, plain) -> None:
    _, link = house.work(dialogue())
    plain.get(link)
    plain.answer(a0="1", do="next")
    other = Plain(house.client())  # another device
    other.get(link)
    assert other.path == "q/2"
    other.get(link + "/q/1")
    assert ("a0", "1") in other.form('name="was_').fields


def test_another_tab_does_not_undo_what_this_one_changed(house, plain) -> None:
    name, link = house.work(dialogue())
    other = Plain(house.client())
    plain.get(link + "/q/1")
    other.get(link + "/q/1")
    plain.answer(a0="1", do="next")
    other.answer(do="next")  # opened before, untouched
    assert answers(house, name) == {("t2", "label"): "rude"}


def test_handing_in_too_early_says_what_is_missing(house, plain) -> None:
    name, link = house.work(dialogue())
    plain.get(link + "/q/1")
    plain.answer(a0="0", do="review")
    page = plain.send("Hand in")
    assert page.status_code == 422
    assert "Questions without an answer: 1." in plain.text
    assert house.local.submission(name).state.value == "accepted"


@pytest.mark.parametrize("kind", ["skip", "flag"])
def test_a_skipped_question_is_counted_with_its_reason_and_does_not_hinder(house, plain, kind) -> None:
    from hmc_crowd_local.pages import WorkStore

    name, link = house.work(dialogue())
    plain.get(link)
    plain.send("Why?", do=kind, reason="broken", reason_text="half a <sentence>")
    plain.answer(a0="0", do="next")
    plain.send("Hand in")
    assert "Answers: 1. Skipped: 1." in plain.text
    assert answers(house, name) == {("t4", "label"): "polite"}
    (one,) = WorkStore(house.local._database).skips([name])
    assert (one.item, one.kind, one.reason) == ("t2", kind, "broken: half a <sentence>")


def test_an_answer_after_a_skip_counts(house, plain) -> None:
    from hmc_crowd_local.pages import WorkStore

    name, link = house.work(dialogue())
    plain.get(link)
    plain.send("Why?", do="skip")
    plain.get(link + "/q/1")
    assert "You skipped this question." in plain.text
    plain.answer(a0="0", do="next")
    assert WorkStore(house.local._database).skips([name]) == []


def test_late_work_is_kept_and_the_page_stays_polite(house, plain, clock) -> None:
    name, link = house.work(dialogue(time_limit_s=60))
    plain.get(link)
    clock.advance(61)
    plain.answer(a0="0", do="next")
    plain.answer(a0="0", do="next")
    assert "You can still hand it in" in plain.text
    plain.send("Hand in")
    assert "came after its time was over" in plain.text
    (late,) = house.local.late_work(house.local.find("dialogue").hit_id)
    assert late.submission_id == name
    assert answers(house, name) == {("t2", "label"): "polite", ("t4", "label"): "polite"}


def test_handing_in_twice_changes_nothing(house, plain) -> None:
    name, link = house.work(dialogue())
    plain.get(link)
    plain.answer(a0="0", do="next")
    plain.answer(a0="0", do="next")
    form = plain.form("Hand in")
    plain.send("Hand in")
    before = house.local.submission(name)
    again = plain.client.post(form.action, data=dict(form.fields), follow_redirects=True)
    assert again.status_code == 200
    assert house.local.submission(name) == before


def test_work_that_is_handed_in_cannot_be_changed(house, plain) -> None:
    name, link = house.work(dialogue())
    plain.get(link)
    form = plain.form('name="was_')
    plain.answer(a0="0", do="next")
    plain.answer(a0="0", do="next")
    plain.send("Hand in")
    plain.client.post(form.action, data={**dict(form.fields), "a0": "1"})
    assert answers(house, name)[("t2", "label")] == "polite"
    plain.get(link + "/q/1")
    assert plain.path == "done"


def test_giving_back_frees_the_place(house, plain) -> None:
    hit = dialogue(redundancy=1)
    name, link = house.work(hit)
    plain.get(link + "/return")
    plain.send("Give the work back")
    assert "The work is given back." in plain.text
    assert house.local.submission(name).state.value == "returned"
    assert house.local.find(hit.key).is_open


def test_times_are_the_servers_and_a_change_on_a_later_visit_keeps_the_first(house, plain, clock) -> None:
    name, link = house.work(dialogue())
    plain.get(link)
    start = clock.now()
    clock.advance(20)
    plain.answer(a0="0", do="next")
    clock.advance(300)
    plain.get(link + "/q/1")
    clock.advance(5)
    plain.answer(a0="1", do="save")
    (one,) = house.local.saved_answers([name])[name]
    assert one.label == "rude"
    assert (one.started_at - start).total_seconds() == 0
    assert (one.submitted_at - start).total_seconds() == 20


def test_the_second_question_about_an_item_begins_where_the_first_ended(house, plain, clock) -> None:
    name, link = house.work(every_kind())
    plain.get(link)
    clock.advance(10)
    plain.answer(a0="0", do="save")
    clock.advance(4)
    plain.answer(a1="2", do="save")
    first, second = house.local.saved_answers([name])[name]
    assert (first.submitted_at - first.started_at).total_seconds() == 10
    assert (second.submitted_at - second.started_at).total_seconds() == 4


def test_the_thread_of_an_item_shows_question_and_answer(house, plain, clock) -> None:
    from hmc_crowd_local.pages import Threads

    name, link = house.work(dialogue())
    threads = Threads(house.local._database, house.local._ids)
    plain.get(link + "/ask/1")
    plain.send("Your question", text="Is irony rude? <script>")
    assert [each.text for each in threads.unanswered()] == ["Is irony rude? <script>"]
    clock.advance(60)
    threads.reply(name, "t2", "Only when it hurts.", at=clock.now())
    plain.get(link + "/ask/1")
    assert "Is irony rude? &lt;script&gt;" in plain.text
    assert "Only when it hurts." in plain.text
    assert threads.unanswered() == []


def test_feedback_after_the_hit_is_kept(house, plain) -> None:
    from hmc_crowd_local.pages import Threads

    name, link = house.work(dialogue())
    plain.get(link)
    plain.answer(a0="0", do="next")
    plain.answer(a0="0", do="next")
    plain.send("Hand in")
    plain.send("Was the task clear?", clear="4", text="Fine.")
    given = Threads(house.local._database, house.local._ids).feedback(name)
    assert (given.clear, given.fair, given.text) == (4, None, "Fine.")
    assert "Thank you for telling us." in plain.text
