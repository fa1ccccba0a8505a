"""A worker's whole life by keyboard alone, without script and on two devices; forced colours, zoom, right to left."""

from __future__ import annotations

from typing import Any

import pytest
from browser_house import (
    CONTROLS,
    FOCUSED,
    PHONE,
    ZOOMED,
    Keyboard,
    is_marked,
    look,
    saved,
    sound,
    untold,
    violations,
)
from pages_house import SECRET, every_kind, full_study

pytestmark = pytest.mark.browser


def test_the_whole_life_by_keyboard_alone(live: Any, new_page: Any) -> None:
    from hmc_crowd_local.pages import Invites

    house = live(study=full_study())
    house.local.publish(every_kind())
    page = new_page()
    keys = Keyboard(page)
    page.goto(Invites(house.local, secret=SECRET).issue("ann").url(house.url))
    keys.press("Look at it")
    keys.press("Begin")
    keys.tick("I have read this.")
    keys.tick("I am 18 or older.")
    keys.press("I agree and take part")
    page.get_by_role("heading", name="Did we explain it well?").wait_for()
    keys.choose("Replies", group="What do you judge?")
    keys.choose("Yes", group="May you stop?")
    keys.press("Send")
    page.get_by_role("heading", name="Training").wait_for()
    keys.choose("rude")
    keys.press("Next")
    keys.press("Go on")
    for _ in range(2):
        page.get_by_role("heading", name="Test").wait_for()
        keys.choose("polite")
        with page.expect_navigation():
            page.keyboard.press("Enter")
    page.wait_for_url("**/q/1")
    keys.choose("rude", group="Is it polite?")
    keys.choose("4", group="How warm is it?")
    keys.press("Next")
    page.wait_for_url("**/q/2")
    keys.tick("irony")
    keys.press("Next")
    page.wait_for_url("**/q/3")
    keys.choose("Equally good")
    keys.press("Next")
    page.wait_for_url("**/q/4")
    keys.reach("Write a better reply.")
    page.keyboard.type("Just a moment, please.")
    keys.press("Next")
    page.wait_for_url("**/q/5")
    keys.choose("polite")
    keys.press("Next")
    page.wait_for_url("**/q/6")
    keys.reach("This text may disturb.")
    page.keyboard.press("Enter")
    page.get_by_text("He was hurt badly.").wait_for()
    keys.choose("rude")
    keys.press("To the overview")
    page.get_by_role("heading", name="Overview").wait_for()
    keys.press("Hand in")
    page.get_by_text("Your work is handed in.").wait_for()
    keys.choose("5", group="clear")
    keys.press("Send")
    page.get_by_role("status").wait_for()
    keys.press("A few questions about you")
    keys.press("Send")
    page.get_by_text("Your work is handed in.").wait_for()
    (name,) = [each.submission_id for each in house.local.submissions([house.local.find("kinds").hit_id])]
    said = {(each.item, each.aspect): each.label for each in house.local.answers([name])[name]}
    assert said["nominal", "label"] == said["grim", "label"] == "rude"
    assert said["nominal", "tone"] == "4"
    assert said["free", "label"] == "Just a moment, please."
    assert said["pair", "label"] == "tie"
    assert house.local.submission(name).state.value == "submitted"


def test_the_whole_life_without_script(live: Any, new_page: Any) -> None:
    house = live(study=full_study())
    name, link = house.work(every_kind())
    page = new_page(java_script_enabled=False, viewport=PHONE)
    page.goto(link)
    for label in ("I have read this.", "I am 18 or older."):
        page.get_by_label(label).check()
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("group", name="What do you judge?").get_by_label("Replies").check()
    page.get_by_role("group", name="May you stop?").get_by_label("Yes").check()
    page.get_by_role("button", name="Send").click()
    page.get_by_label("rude").check()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("link", name="Go on").click()
    for _ in range(2):
        page.get_by_label("polite").check()
        page.get_by_role("button", name="Next").click()
    page.get_by_role("group", name="Is it polite?").get_by_label("polite").check()
    page.get_by_role("group", name="How warm is it?").get_by_label("2").check()
    page.get_by_role("button", name="Next").click()
    page.get_by_label("threat").check()
    page.get_by_role("button", name="Next").click()
    page.locator(".choice input").first.check()
    page.get_by_role("button", name="Next").click()
    page.get_by_label("Write a better reply.").fill("Sure.")
    page.get_by_role("button", name="Next").click()
    # A question left open is named, and nothing is lost on the way back to it.
    page.get_by_role("button", name="Next").click()
    look(page, "plain-missing")
    page.goto(f"{link}/q/5")
    page.get_by_label("polite").check()
    page.get_by_role("button", name="Next").click()
    page.get_by_text("This text may disturb.").click()
    page.get_by_label("rude").check()
    page.get_by_role("button", name="To the overview").click()
    page.get_by_role("button", name="Hand in").click()
    page.get_by_text("Your work is handed in.").wait_for()
    found = house.local.submission(name)
    assert (found.state.value, found.time_quality, found.active_s) == ("submitted", "no_heartbeat", None)
    assert len(house.local.answers([name])[name]) == 7


def test_work_goes_on_on_another_device(live: Any, new_page: Any) -> None:
    house = live()
    name, link = house.work(every_kind())
    desk, phone = new_page(), new_page(viewport=PHONE, has_touch=True, is_mobile=True)
    desk.goto(link)
    desk.get_by_label("rude").check()
    saved(desk)
    phone.goto(link)
    # It opens at the first question that is still open: the second one about the same text.
    assert phone.get_by_label("rude").is_checked()
    phone.get_by_role("group", name="How warm is it?").get_by_label("2").check()
    saved(phone)
    phone.goto(f"{link}/q/4")
    phone.get_by_label("Write a better reply.").fill("From the phone.")
    saved(phone)
    look(phone, "device-phone")
    desk.goto(f"{link}/q/4")
    assert desk.get_by_label("Write a better reply.").input_value() == "From the phone."
    # The first device still shows an old page: what it sends undoes nothing of the second.
    desk.goto(f"{link}/q/1")
    phone.goto(f"{link}/q/1")
    phone.get_by_role("group", name="How warm is it?").get_by_label("5").check()
    saved(phone)
    desk.get_by_role("group", name="Is it polite?").get_by_label("polite").check()
    saved(desk)
    said = {(each.item, each.aspect): each.label for each in house.local.saved_answers([name])[name]}
    assert said == {("nominal", "label"): "polite", ("nominal", "tone"): "5", ("free", "label"): "From the phone."}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_forced_colours_focus_and_choice_can_be_seen(live: Any, new_page: Any, scheme: str) -> None:
    house = live(study=full_study(consent=(), checks=(), training=(), test=(), information=""))
    _, link = house.work(every_kind())
    page = new_page(forced_colors="active", color_scheme=scheme)
    for number in range(1, 7):
        page.goto(f"{link}/q/{number}")
        if page.locator(".choice input").count():
            page.locator(".choice input").first.check()
            borders = page.locator(".choice label").evaluate_all(
                "all => all.map((each) => getComputedStyle(each).borderTopWidth)"
            )
            assert borders[:2] == ["2px", "1px"], number
        # Contrast is the reader's own here; axe computes it from colours that are not painted.
        sound(page, f"forced-{scheme}-{number}", without=("color-contrast",))
        page.locator("body").evaluate("() => document.activeElement.blur()")
        for _ in range(page.locator(CONTROLS).count()):
            page.keyboard.press("Tab")
            on_page = page.evaluate("document.activeElement !== document.body")
            assert not on_page or is_marked(page), page.evaluate(FOCUSED)


def test_at_400_percent_every_control_can_be_brought_into_view(live: Any, new_page: Any) -> None:
    house = live(study=full_study(checks=(), training=(), test=()))
    _, link = house.work(every_kind())
    page = new_page(viewport=ZOOMED)
    page.goto(link)
    visit = ["consent", "guide", "preferences", "withdraw", "return", "review", *(f"q/{n}" for n in range(1, 7))]
    page.get_by_label("I have read this.").check()
    page.get_by_label("I am 18 or older.").check()
    page.get_by_role("button", name="I agree").click()
    for path in visit:
        page.goto(f"{link}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= ZOOMED["width"], path
        for control in page.locator(CONTROLS).all():
            if not control.is_visible():
                continue
            control.focus()
            box = control.bounding_box()
            assert box["x"] >= 0, path
            assert box["x"] + box["width"] <= ZOOMED["width"] + 0.5, path
            assert box["height"] > ZOOMED["height"] or box["y"] + box["height"] <= ZOOMED["height"] + 0.5, path
        page.evaluate("scrollTo(0, 0)")
        look(page, f"zoom-400-{path.replace('/', '-')}")


def test_from_right_to_left_everything_is_the_other_way_round(live: Any, new_page: Any) -> None:
    house = live()
    _, link = house.work(every_kind())
    places = {}
    for language in ("en", "ar"):
        page = new_page(locale=language)
        page.goto(f"{link}/q/1")
        dot, label = page.locator(".choice").first.locator("input, label").all()
        mid = [each.bounding_box()["x"] + each.bounding_box()["width"] / 2 for each in (dot, label)]
        places[language] = mid[0] < mid[1]
        # A text is written in its own direction whatever the page's is.
        page.goto(f"{link}/q/5")
        arabic = page.get_by_text("مرحبا، كيف حالك؟").first
        assert arabic.evaluate("node => getComputedStyle(node).unicodeBidi") == "plaintext"
        page.goto(f"{link}/q/4")
        page.locator("#a0").fill("Left to right")
        assert page.locator("#a0").evaluate("node => node.matches(':dir(ltr)')")
        look(page, f"direction-{language}")
    assert places == {"en": True, "ar": False}


def test_motion_is_still_where_it_is_not_wanted(live: Any, new_page: Any) -> None:
    house = live()
    _, link = house.work(every_kind())
    page = new_page()
    page.goto(f"{link}/q/1")
    moving = page.evaluate(
        """() => Array.from(document.querySelectorAll("*")).filter((node) => {
          const css = getComputedStyle(node);
          return css.animationName !== "none" || (css.transitionDuration !== "0s" && css.transitionProperty !== "none"
            && parseFloat(css.transitionDuration) > 0);
        }).length"""
    )
    assert moving == 0


def test_the_proof_itself_finds_what_is_wrong(new_page: Any) -> None:
    page = new_page()
    page.set_content(
        """<html lang="en"><title>x</title><main><h1>x</h1><input type="text"><button></button><a href="#x"></a>
        <div role="checkbox" tabindex="0" aria-checked="false">not ours</div>
        <input type="checkbox" checked aria-label="lies" role="switch">
        <button tabindex="-1" aria-hidden="true">gone</button></main></html>"""
    )
    faults = " | ".join(untold(page))
    for fault in (
        'has no name: <input type="text">',
        "has no name: <button>",
        "has the role switch",
        "is ignored: <bu",
    ):
        assert fault in faults, faults
    assert violations(page) != []
