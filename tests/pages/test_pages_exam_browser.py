"""The qualification test in a browser by keyboard alone: fail, wait, come back, pass, work; wide and narrow."""

from __future__ import annotations

from typing import Any

import pytest
from browser_house import DESK, PHONE, sound
from hmc_crowd_local.pages import Practice, Study
from pages_house import SECRET, dialogue, question, served

from hmc_crowd_local.pages import Invites  # isort: skip

pytestmark = pytest.mark.browser

FOCUSED = """() => {
  const now = document.activeElement;
  const text = now.labels && now.labels.length ? now.labels[0].innerText : now.innerText || "";
  return { text: now === document.body ? "" : text.trim(), checked: Boolean(now.checked) };
}"""
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


class Keys:
    """Somebody who has nothing but a keyboard."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def reach(self, wanted: str) -> None:
        for _ in range(60):
            if wanted in self.page.evaluate(FOCUSED)["text"]:
                return
            self.page.keyboard.press("Tab")
        pytest.fail(f"{wanted!r} cannot be reached by Tab on {self.page.url}")

    def press(self, wanted: str) -> None:
        self.reach(wanted)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def choose(self, wanted: str) -> None:
        for _ in range(60):
            if self.page.evaluate("document.activeElement.type") == "radio":
                break
            self.page.keyboard.press("Tab")
        self.page.keyboard.press("Space")
        for _ in range(6):
            now = self.page.evaluate(FOCUSED)
            if now["checked"] and wanted in now["text"]:
                return
            self.page.keyboard.press("ArrowDown")
        pytest.fail(f"{wanted!r} cannot be chosen by arrows on {self.page.url}")

    def answer(self, *wanted: str) -> None:
        for each in wanted:
            self.choose(each)
            self.press("Next")


@pytest.mark.parametrize(("size", "name"), [(DESK, "1280"), (PHONE, "320")])
def test_fail_wait_try_again_pass_and_work(new_house: Any, new_page: Any, clock: Any, size: Any, name: str) -> None:
    house = new_house(study=STUDY)
    house.local.publish(dialogue(redundancy=1))
    with served(house.app) as url:
        page = new_page(viewport=size)
        keys = Keys(page)
        home = Invites(house.local, secret=SECRET).issue("ann").url(url)
        page.goto(home)
        keys.press("Look at it")
        keys.press("Begin")
        keys.answer("rude")
        page.get_by_text("Nobody is told to shut up politely.").wait_for()
        keys.press("Go on")
        page.get_by_text("Attempt 1 of 3.").wait_for()
        sound(page, f"exam-{name}-1-question")
        keys.answer("polite", "rude")
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
        keys.answer("polite", "polite")
        page.wait_for_url("**/q/1")
        keys.answer("polite")
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
