"""The qualification test in a browser by keyboard alone: fail, wait, come back, pass, work; wide and narrow."""

from __future__ import annotations

from typing import Any

import pytest
from browser_house import DESK, PHONE, Keyboard, sound
from hmc_crowd_local.pages import Practice, Study
from pages_house import SECRET, dialogue, question, served

from hmc_crowd_local.pages import Invites  # isort: skip

pytestmark = pytest.mark.browser

STUDY = Study(
    title="Polite machines",
    guideline="Polite is what a stranger would not mind.",
    training=(Practice(question("p1", text="Shut up."), "rude", "Nobody is told to shut up politely."),),
    test=tuple(
        Practice(question(f"e{n}", text=text), "polite") for n, text in enumerate(("Thank you.", "After you, please."))
    ),
    test_share=0.9,
    test_attempts=3,
    test_delay_s=1800.0,
)


def answer(keys: Keyboard, *wanted: str) -> None:
    for each in wanted:
        keys.choose(each)
        keys.press("Next")


@pytest.mark.parametrize(("size", "name"), [(DESK, "1280"), (PHONE, "320")])
def test_fail_wait_try_again_pass_and_work(new_house: Any, new_page: Any, clock: Any, size: Any, name: str) -> None:
    house = new_house(study=STUDY)
    house.local.publish(dialogue(redundancy=1))
    with served(house.app) as url:
        page = new_page(viewport=size)
        keys = Keyboard(page)
        home = Invites(house.local, secret=SECRET).issue("ann").url(url)
        page.goto(home)
        keys.press("Look at it")
        keys.press("Begin")
        answer(keys, "rude")
        page.get_by_text("Nobody is told to shut up politely.").wait_for()
        keys.press("Go on")
        page.get_by_text("Attempt 1 of 3.").wait_for()
        sound(page, f"exam-{name}-1-question")
        answer(keys, "polite", "rude")
        page.get_by_text("You may try again from").wait_for()
        assert "2026-01-05 09:30 UTC" in page.inner_text("main")
        assert "polite" not in page.inner_text("main")
        sound(page, f"exam-{name}-2-wait")
        keys.press("Take the test again")
        page.get_by_text("You may try again from").wait_for()  # too early
        page.goto(home)
        page.get_by_text("You may try again from").wait_for()
        sound(page, f"exam-{name}-3-home")
        clock.advance(1800)
        page.goto(home)
        assert page.get_by_text("You may try again from").count() == 0
        keys.press("Go on")
        page.get_by_text("You may try again now").wait_for()
        page.get_by_text("Attempt 2 of 3.").wait_for()
        sound(page, f"exam-{name}-4-again")
        answer(keys, "polite", "polite")
        page.wait_for_url("**/q/1")
        answer(keys, "polite")
        page.wait_for_url("**/q/2")
        keys.choose("polite")
        keys.press("To the overview")
        keys.press("Hand in")
        page.get_by_text("Your work is handed in.").wait_for()


def test_the_last_failure_says_so_kindly_in_the_readers_language(new_house: Any, new_page: Any, clock: Any) -> None:
    house = new_house(study=STUDY)
    _, link = house.work(dialogue())
    with served(house.app) as url:
        page = new_page(viewport=PHONE, locale="ar")
        page.goto(link.replace(house.url, url))
        page.locator("input[type=radio]").first.check()
        page.locator("button.main").click()
        page.locator("a.button.main").click()
        for attempt in range(3):
            clock.advance(1800)
            page.goto(link.replace(house.url, url))
            for _ in range(2):
                page.locator("input[type=radio]").nth(1).check()
                page.locator("button.main").click()
            if attempt == 1:
                sound(page, "exam-ar-wait")
        assert page.locator("html").get_attribute("dir") == "rtl"
        assert page.locator("time").count() == 0
        sound(page, "exam-ar-failed")
