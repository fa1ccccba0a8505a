"""The board in a real headless Chromium: axe on every page, live figures, keyboard, a phone's width, paper."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from board_house import NAME, Board

pytestmark = pytest.mark.browser

HOME = f"/board/c/{quote(NAME)}"


def open_page(chromium: Any, **options: Any) -> Any:
    size = {"width": 1280, "height": 900}
    context = chromium.new_context(**{"viewport": size, "reduced_motion": "reduce", **options})
    page = context.new_page()
    page.set_default_timeout(10_000)
    page.said = []
    page.on("console", lambda message: page.said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: page.said.append(str(error)))
    return page


def sign_in(page: Any, url: str, key: str) -> None:
    page.goto(f"{url}/board/")
    page.get_by_label("Key").fill(key)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Campaigns").wait_for()


def paths(board: Board) -> dict[str, str]:
    platform, name = board.waiting()
    with board.house.store.read() as tx:
        worker = tx.work.submissions(1)["worker"].iloc[0]
    return {
        "campaigns": "/board/",
        "overview": HOME,
        "item": f"{HOME}/item?id=i00",
        "worker": f"{HOME}/worker?id={worker}",
        "submission": f"{HOME}/submission?platform={platform}&id={name}",
        "confusion": f"{HOME}/confusion",
        "webhooks": f"{HOME}/webhooks",
        "links": "/board/links",
        "not-found": f"{HOME}/item?id=nowhere",
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page(board: Board, served: str, chromium: Any, scheme: str, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    board.house.campaign(NAME).add_pool("experts", kind="tier2", pay_form="per_hour", price_minor=6000)
    page = open_page(chromium, color_scheme=scheme, bypass_csp=True)
    page.goto(f"{served}/board/sign-in")
    found = {"sign-in": Axe().run(page).response["violations"]}
    sign_in(page, served, board.key("owner"))
    shots = Path(os.environ.get("HMC_CROWD_SCREENSHOTS") or tmp_path)
    for name, path in paths(board).items():
        page.goto(served + path)
        found[name] = Axe().run(page).response["violations"]
        page.screenshot(path=shots / f"{name}-{scheme}.png", full_page=True)
    page.context.close()
    assert {name: [each["id"] for each in wrong] for name, wrong in found.items() if wrong} == {}


def test_pages_fit_a_phone(board: Board, served: str, chromium: Any, tmp_path: Path) -> None:
    board.house.campaign(NAME).add_pool("experts", kind="tier2", pay_form="per_hour", price_minor=6000)
    page = open_page(chromium, viewport={"width": 320, "height": 640})
    sign_in(page, served, board.key("owner"))
    shots = Path(os.environ.get("HMC_CROWD_SCREENSHOTS") or tmp_path)
    for name, path in paths(board).items():
        page.goto(served + path)
        page.screenshot(path=shots / f"{name}-phone.png", full_page=True)
        # Sums grow while a campaign runs.
        page.evaluate(
            "document.querySelectorAll('.figure .big').forEach((each) => { each.textContent = '123,456.78 USD' })"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name
    page.context.close()


def test_the_figures_follow_what_happens(board: Board, served: str, chromium: Any) -> None:
    page = open_page(chromium)
    sign_in(page, served, board.key("owner"))
    page.goto(served + HOME)
    page.get_by_text("are kept up to date").wait_for()
    before = page.locator("#live").get_attribute("data-mark")
    _, name = board.waiting()
    waits = board.status().not_reviewed
    board.house.campaign(NAME).approve(board.place, [name], budget_minor=100_000, dry_run=False, by="the test")
    page.locator(f"#live:not([data-mark='{before}'])").wait_for()
    row = page.locator("dt", has_text="Waiting for a review").locator("xpath=following-sibling::dd[1]")
    assert row.inner_text().startswith(f"{waits - 1:,}")
    assert page.said == []
    page.context.close()


def test_a_submission_is_approved_by_keyboard_without_script(board: Board, served: str, chromium: Any) -> None:
    page = open_page(chromium, java_script_enabled=False)
    sign_in(page, served, board.key("reviewer"))
    page.goto(served + paths(board)["submission"])
    page.locator("#approve-budget").focus()
    page.keyboard.type("500.00")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("status").wait_for()
    assert "1 approved" in page.get_by_role("status").inner_text()
    page.context.close()


def test_on_paper_there_are_no_controls(board: Board, served: str, chromium: Any) -> None:
    page = open_page(chromium)
    sign_in(page, served, board.key("owner"))
    page.goto(served + HOME)
    page.emulate_media(media="print")
    assert page.get_by_role("button", include_hidden=False).count() == 0
    assert page.get_by_role("heading", name="Alerts").is_visible()
    page.context.close()
