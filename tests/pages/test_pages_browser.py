"""The pages in a real headless Chromium: a worker's whole life, keyboard, no script, tabs, reload, offline, axe."""

from __future__ import annotations

from typing import Any

import pytest
from browser_house import DESK, PHONE, look, saved, sound
from pages_house import SECRET, dialogue, every_kind, full_study, question

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("size", "scheme"), [(DESK, "light"), (PHONE, "dark")])
def test_the_whole_life_of_a_worker(live, new_page, size, scheme) -> None:
    house = live(study=full_study(), note=lambda _name: "You got 2 of 2 known answers right.")
    name, link = house.work(every_kind())
    page = new_page(viewport=size, color_scheme=scheme)
    shot = f"life-{size['width']}"
    page.goto(link)
    sound(page, f"{shot}-01-consent")
    page.get_by_role("button", name="I agree and take part").click()
    page.get_by_role("alert").wait_for()
    page.get_by_label("I have read this.").check()
    page.get_by_label("I am 18 or older.").check()
    page.get_by_role("button", name="I agree and take part").click()
    page.get_by_role("heading", name="Did we explain it well?").wait_for()
    page.get_by_role("group", name="What do you judge?").get_by_label("Pictures").check()
    page.get_by_role("group", name="May you stop?").get_by_label("Yes").check()
    page.get_by_role("button", name="Send").click()
    sound(page, f"{shot}-02-check-wrong")
    page.get_by_role("group", name="What do you judge?").get_by_label("Replies").check()
    page.get_by_role("group", name="May you stop?").get_by_label("Yes").check()
    page.get_by_role("button", name="Send").click()
    page.get_by_role("heading", name="Training").wait_for()
    sound(page, f"{shot}-03-training")
    page.get_by_label("polite").check()
    page.get_by_role("button", name="Next").click()
    page.get_by_text("Nobody is told to shut up politely.").wait_for()
    sound(page, f"{shot}-04-training-feedback")
    page.get_by_role("link", name="Go on").click()
    for _ in range(2):
        page.get_by_role("heading", name="Test").wait_for()
        page.get_by_label("polite").check()
        page.get_by_role("button", name="Next").click()
    page.get_by_role("group", name="Is it polite?").get_by_label("rude").check()
    page.get_by_role("group", name="How warm is it?").get_by_label("4").check()
    saved(page)
    sound(page, f"{shot}-05-nominal-ordinal")
    page.get_by_role("button", name="Next").click()
    page.get_by_label("insult").check()
    page.get_by_label("irony").check()
    sound(page, f"{shot}-06-multi")
    page.get_by_role("button", name="Next").click()
    page.get_by_label("Equally good").check()
    sound(page, f"{shot}-07-pair")
    page.get_by_role("button", name="Next").click()
    page.get_by_label("Write a better reply.").fill("Just a moment, please.")
    sound(page, f"{shot}-08-text")
    page.get_by_role("button", name="Next").click()
    page.get_by_label("polite").check()
    sound(page, f"{shot}-09-arabic-item")
    page.get_by_role("button", name="Next").click()
    assert not page.get_by_text("He was hurt badly.").is_visible()
    look(page, f"{shot}-10-veiled")
    page.get_by_text("This text may disturb.").click()
    page.get_by_text("He was hurt badly.").wait_for()
    sound(page, f"{shot}-11-unveiled")
    page.get_by_text("Something else").check()
    page.get_by_role("button", name="Skip", exact=True).click()
    page.get_by_role("heading", name="Overview").wait_for()
    sound(page, f"{shot}-12-overview")
    page.get_by_role("button", name="Hand in").click()
    page.get_by_text("Your work is handed in.").wait_for()
    sound(page, f"{shot}-13-done")
    page.get_by_role("link", name="A few questions about you").click()
    sound(page, f"{shot}-14-survey")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("Your work is handed in.").wait_for()
    found = house.local.submission(name)
    assert found.state.value == "submitted"
    assert found.time_quality == "ok"
    assert 0 < found.active_s <= found.page_elapsed_s + 2


def test_the_other_pages_are_sound_too(live, new_page) -> None:
    from hmc_crowd_local.pages import Invites

    house = live(study=full_study(checks=(), training=(), test=(), consent=()))
    invites = Invites(house.local, secret=SECRET)
    remote = house.local.publish(every_kind())
    page = new_page(viewport=PHONE)
    page.goto(invites.issue("ann").url(house.url))
    sound(page, "other-01-home")
    page.get_by_role("link", name="Look at it").click()
    sound(page, "other-02-start")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="I agree").click()
    link = page.url.rpartition("/q/")[0]
    for path in ("guide", "ask/1", "preferences", "withdraw", "return", "consent", "review"):
        page.goto(f"{link}/{path}")
        sound(page, f"other-{path.replace('/', '-')}")
    page.goto(f"{link}/ask/1")
    page.get_by_label("Your question").fill("Why?")
    page.get_by_role("button", name="Send").click()
    sound(page, "other-thread")
    for path in ("/work/s/forged", f"/work/hit/{remote.hit_id}", "/work/nowhere"):
        page.goto(house.url + path)
        sound(page, f"other-refused-{path.count('/')}{len(path)}")
    page.goto(f"{link}/withdraw")
    page.get_by_role("button", name="Leave the study").click()
    page.get_by_text("You have left this study.").wait_for()
    page.goto(invites.issue("ann").url(house.url))
    sound(page, "other-home-after")


@pytest.mark.parametrize("language", ["de", "es", "vi", "ar"])
def test_every_language_is_sound_on_a_narrow_screen(live, new_page, language) -> None:
    house = live()
    _, link = house.work(every_kind())
    page = new_page(viewport=PHONE, locale=language)
    page.goto(f"{link}/q/1")
    sound(page, f"language-{language}-question")
    direction = "rtl" if language == "ar" else "ltr"
    assert page.evaluate("getComputedStyle(document.body).direction") == direction
    page.goto(f"{link}/q/3")
    sound(page, f"language-{language}-pair")


def test_the_keyboard_alone_is_enough(live, new_page) -> None:
    house = live()
    name, link = house.work(dialogue())
    page = new_page()
    page.goto(link)
    page.keyboard.press("2")  # the second answer of the first open question
    saved(page)
    page.keyboard.press("ArrowUp")  # arrows move the choice
    saved(page)
    assert page.get_by_label("polite").is_checked()
    page.keyboard.press("Enter")
    page.wait_for_url("**/q/2")
    while page.evaluate("document.activeElement.name") != "a0":
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Overview").wait_for()
    while page.evaluate("document.activeElement.textContent.trim()") != "Hand in":
        page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    page.get_by_text("Your work is handed in.").wait_for()
    assert [each.label for each in house.local.answers([name])[name]] == ["polite", "polite"]


def test_number_keys_can_be_turned_off_and_never_type_into_a_text(live, new_page) -> None:
    house = live()
    _, link = house.work(every_kind())
    page = new_page()
    page.goto(f"{link}/q/4")
    page.get_by_label("Write a better reply.").press_sequentially("1 2 3")
    assert page.get_by_label("Write a better reply.").input_value() == "1 2 3"
    page.goto(f"{link}/q/1")
    page.get_by_text("Keyboard", exact=True).click()
    page.get_by_label("Use the number keys").uncheck()
    page.reload()
    page.keyboard.press("1")
    assert page.locator("input[name=a0]:checked").count() == 0


def test_roles_names_and_states_are_told(live, new_page) -> None:
    house = live()
    _, link = house.work(every_kind())
    page = new_page()
    page.goto(f"{link}/q/1")
    page.get_by_label("rude").check()
    tree = page.locator("main").aria_snapshot()
    for line in (
        'heading "Question 1 of 6" [level=1]', 'group "Is it polite?"', 'radio "polite"', 'radio "rude" [checked]',
        'group "How warm is it?"', 'button "Next"', "status", 'list "Dialogue"', 'link "Ask about this question"',
    ):  # fmt: skip
        assert line in tree, f"{line} not in\n{tree}"
    page.goto(f"{link}/q/2")
    page.get_by_label("None of these").check()
    assert 'checkbox "None of these" [checked]' in page.locator("main").aria_snapshot()
    page.get_by_label("insult").check()
    assert not page.get_by_label("None of these").is_checked()
    saved(page)


def test_without_script_everything_works_and_the_clock_says_so(live, new_page) -> None:
    house = live()
    name, link = house.work(dialogue())
    page = new_page(java_script_enabled=False, viewport=PHONE)
    page.goto(link)
    for label in ("rude", "polite"):
        page.get_by_label(label).check()
        page.get_by_role("button", name="Next" if label == "rude" else "To the overview").click()
    page.get_by_role("button", name="Hand in").click()
    page.get_by_text("Your work is handed in.").wait_for()
    found = house.local.submission(name)
    assert (found.time_quality, found.active_s) == ("no_heartbeat", None)
    assert [each.label for each in house.local.answers([name])[name]] == ["rude", "polite"]


def test_a_reload_and_the_back_button_lose_nothing(live, new_page) -> None:
    house = live()
    name, link = house.work(dialogue())
    page = new_page()
    page.goto(link)
    page.get_by_label("rude").check()
    saved(page)
    page.reload()
    assert page.get_by_label("rude").is_checked()
    page.get_by_role("button", name="Next").click()
    page.wait_for_url("**/q/2")
    page.go_back()
    page.wait_for_url("**/q/1")
    assert page.get_by_label("rude").is_checked()
    page.get_by_label("polite").check()
    saved(page)
    assert house.local.saved_answers([name])[name][0].label == "polite"


def test_two_tabs_lose_nothing_and_count_no_second_twice(live, new_page) -> None:
    house = live()
    name, link = house.work(dialogue())
    one = new_page()
    two = one.context.new_page()
    one.goto(f"{link}/q/1")
    two.goto(f"{link}/q/2")
    one.get_by_label("rude").check()
    saved(one)
    two.get_by_label("polite").check()
    saved(two)
    two.get_by_role("button", name="To the overview").click()
    two.get_by_role("button", name="Hand in").click()
    two.get_by_text("Your work is handed in.").wait_for()
    one.get_by_role("button", name="Next").click()
    one.get_by_text("Your work is handed in.").wait_for()
    found = house.local.submission(name)
    assert {each.label for each in house.local.answers([name])[name]} == {"rude", "polite"}
    assert found.active_s <= found.page_elapsed_s + 0.5


def test_a_change_while_the_last_one_is_being_saved_is_saved_too(live, new_page) -> None:
    import time

    house = live()
    name, link = house.work(dialogue())
    page = new_page()

    def slowly(route: Any) -> None:
        time.sleep(0.4)
        route.continue_()

    page.route("**/q/1", slowly)
    page.goto(link)
    for label in ("rude", "polite", "rude", "polite"):
        page.get_by_label(label).check()
    page.wait_for_timeout(200)
    saved(page)
    page.wait_for_timeout(1500)
    saved(page)
    assert [each.label for each in house.local.saved_answers([name])[name]] == ["polite"]


def test_who_goes_back_to_the_first_choice_while_the_second_is_being_saved_keeps_the_first(live, new_page) -> None:
    house = live()
    name, link = house.work(dialogue())
    page = new_page()
    held: list[Any] = []
    page.goto(link)
    page.get_by_label("polite").check()
    saved(page)
    page.route("**/q/1", lambda route: held.append(route), times=1)
    page.get_by_label("rude").check()
    while not held:
        page.wait_for_timeout(20)
    page.get_by_label("polite").check()
    held[0].continue_()
    saved(page)
    assert [each.label for each in house.local.saved_answers([name])[name]] == ["polite"]


def test_reading_the_guide_is_work_and_reading_the_consent_is_not(live, new_page) -> None:
    house = live(study=full_study(checks=(), training=(), test=()))
    _name, link = house.work(dialogue())
    page = new_page()
    page.goto(link)
    assert page.locator("main[data-events]").count() == 0
    page.get_by_label("I have read this.").check()
    page.get_by_label("I am 18 or older.").check()
    page.get_by_role("button", name="I agree").click()
    page.wait_for_url("**/q/1")
    with page.expect_response("**/events") as sent:
        page.goto(f"{link}/guide")
    assert sent.value.status == 204
    page.goto(f"{link}/review")
    assert page.locator("main[data-events]").count() == 1


def test_ten_seconds_offline_lose_nothing(live, new_page) -> None:
    house = live()
    name, link = house.work(dialogue())
    page = new_page()
    page.goto(link)
    page.context.set_offline(True)
    page.get_by_label("rude").check()
    page.get_by_text("You are offline.").wait_for()
    look(page, "offline")
    page.get_by_role("button", name="Next").click()
    page.wait_for_timeout(10_000)
    assert page.get_by_label("rude").is_checked()
    page.context.set_offline(False)
    page.wait_for_url("**/q/2", timeout=20_000)
    assert house.local.saved_answers([name])[name][0].label == "rude"


def test_four_hundred_percent_is_a_narrow_page(live, new_page) -> None:
    # 1280 px at 400 % leave 320 CSS pixels; twice the letters must not push anything aside either.
    house = live()
    _, link = house.work(every_kind())
    page = new_page(viewport=PHONE)
    for number in range(1, 7):
        page.goto(f"{link}/q/{number}")
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
    look(page, "zoom-200-letters")


def test_hostile_texts_stay_texts(live, new_page) -> None:
    from dataclasses import replace

    evil = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>\"'&{{7*7}}"
    house = live(study=full_study(checks=(), training=(), test=(), information=evil, consent=(evil,), guideline=evil))
    base = every_kind()
    items = tuple(
        replace(each, text=evil, question=evil, context=(evil,), category=evil if each.sensitive else "",
                labels=(evil, "x") if each.kind == "nominal" and each.labels else each.labels,
                options=(evil, evil) if each.options else ())
        for each in base.items
    )  # fmt: skip
    _, link = house.work(replace(base, items=items, title=evil, description=evil, guideline=evil), worker=evil)
    page = new_page()
    page.goto(link)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="I agree").click()
    for number in range(1, 7):
        page.goto(f"{link}/q/{number}")
        assert page.evaluate("window.hacked") is None
        assert page.locator("main img, main script").count() == 0
    page.goto(f"{link}/review")
    assert page.evaluate("window.hacked") is None
    assert page.said == []


@pytest.mark.parametrize(("size", "scheme", "language"), [(DESK, "light", "en"), (PHONE, "dark", "ar")])
def test_a_worker_s_own_page(live, new_page, size, scheme, language) -> None:
    from datetime import timedelta

    from hmc_crowd_local.pages import Feedback, Invites, Study, Threads

    from hmc_crowd._base.pools import Terms, Turn

    house = live(study=Study(tells_accuracy=True))
    local, now = house.local, house.local._now()
    one = dialogue(terms=Terms("experts", (), "per_hour", 6000), pay_minor=0)
    name = local.accept(local.publish(one).hit_id, "ann").submission_id
    local.open_page(name, "ann")
    for each in one.items:
        local.save_answer(name, "ann", item=each.item, aspect=each.aspect, label="polite")
    local.submit(name, "ann")
    threads = Threads(local._database, local._ids)
    threads.ask(name, "t4", "Is irony polite?", at=now)
    threads.reply(name, "t4", "No: say what it does to a stranger.", at=now + timedelta(minutes=5))
    threads.put_feedback(Feedback(name, 5, 4, "A pleasant one.", now))
    local.tell_standing("", {"ann": (18, 20)})
    local.put_turns("s", [Turn("experts", now + timedelta(hours=20), now + timedelta(hours=24), 3)])
    local.add_turn(Turn("experts", now + timedelta(hours=44), now + timedelta(hours=47), 1, "ann"))
    invite = Invites(local, secret=SECRET).issue("ann", pool="experts", skills=["language:en"])
    page = new_page(viewport=size, color_scheme=scheme)
    page.goto(f"{invite.url(house.url)}?lang={language}")
    sound(page, f"home-{size['width']}")
    page.get_by_role("main").get_by_role("link").first.click()
    sound(page, f"own-{size['width']}")
    page.locator("#day").fill((now + timedelta(days=3)).date().isoformat())
    page.locator("#from").fill("14:00")
    page.locator("#to").fill("18:00")
    page.locator("#zone").select_option(label="UTC+01:00")
    page.locator("#shifts ~ form button").click()
    assert page.locator(".turns li").count() == 3
    assert "13:00" in page.locator(".turns li").last.inner_text()
    page.locator(".turns button").last.click()
    assert page.locator(".turns li").count() == 2
    sound(page, f"own-{size['width']}-after")


def test_what_was_typed_last_is_kept_when_another_link_is_followed(live, new_page) -> None:
    house = live()
    _, link = house.work(every_kind())
    page = new_page()
    page.on("dialog", lambda dialog: page.said.append(f"asked: {dialog.message}"))
    page.goto(f"{link}/q/4")
    page.get_by_label("Write a better reply.").fill("Just a moment, please.")
    page.get_by_role("link", name="Ask about this question").click()
    page.get_by_label("Your question").wait_for()
    page.get_by_role("link", name="Question 4").click()
    assert page.get_by_label("Write a better reply.").input_value() == "Just a moment, please."
    assert not page.said


def test_a_number_out_of_bounds_is_told_and_keeps_no_other_answer_from_being_saved(live, new_page) -> None:
    house = live()
    questions = (
        question("one", aspect="score", kind="numeric", labels=("0", "100"), question="How good?"),
        question("one", question="Is it polite?"),
    )
    name, link = house.work(every_kind(items=questions))
    page = new_page()
    page.goto(f"{link}/q/1")
    page.get_by_role("spinbutton").fill("500")
    page.get_by_label("rude").check()
    saved(page)
    assert [each.label for each in house.local.saved_answers([name])[name]] == ["rude"]
    page.get_by_role("spinbutton").fill("501")
    page.get_by_role("spinbutton").blur()
    assert "100" in page.get_by_role("status").inner_text()
    page.get_by_role("spinbutton").fill("50")
    page.get_by_role("button", name="To the overview").click()
    page.get_by_role("heading", name="Overview").wait_for()
    assert sorted(each.label for each in house.local.saved_answers([name])[name]) == ["50", "rude"]
