"""The page in a real headless Chromium: quiet, self-contained, accessible, and no wider than a phone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.report import ReportData, write_report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


@pytest.fixture
def page_path(data: ReportData, tmp_path: Path) -> Path:
    return write_report(data, tmp_path / "report.html").html


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context()
    yield context.new_page()
    context.close()


def violations(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{each['id']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in found]


def test_opens_without_errors_or_requests(page: Page, page_path: Path) -> None:
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(page_path.as_uri())
    assert said == []
    assert asked == [page_path.as_uri()]
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").inner_text() == "Greetings pilot <script>alert(1)</script>"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_axe_finds_nothing(chromium: Browser, page_path: Path, scheme: Any, width: int) -> None:
    page = chromium.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    page.goto(page_path.as_uri())
    for details in page.locator("details").all():
        details.evaluate("node => { node.open = true }")
    found = violations(page)
    page.close()
    assert found == []


def test_a_phone_never_scrolls_sideways(page: Page, page_path: Path) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(page_path.as_uri())
    for details in page.locator("details").all():
        details.evaluate("node => { node.open = true }")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    # Of each chart the narrow drawing is the one shown, and its letters are readable.
    assert page.locator("svg.wide:visible").count() == 0
    assert page.locator("svg.narrow:visible").count() == 4
    sizes = page.eval_on_selector_all(
        "svg.narrow text",
        "nodes => nodes.map(node => node.getScreenCTM().a * parseFloat(getComputedStyle(node).fontSize))",
    )
    assert min(sizes) >= 11


def test_no_text_of_a_chart_leaves_its_drawing(page: Page, page_path: Path) -> None:
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(page_path.as_uri())
        outside = page.eval_on_selector_all(
            "svg:not([hidden]) text",
            """nodes => nodes.filter(node => {
                const a = node.getBoundingClientRect(), b = node.ownerSVGElement.getBoundingClientRect();
                const wide = a.left < b.left - 1 || a.right > b.right + 1;
                return b.width && (wide || a.top < b.top - 1 || a.bottom > b.bottom + 1);
            }).map(node => node.textContent)""",
        )
        assert outside == []


def test_an_empty_campaign_is_a_good_page_too(page: Page, tmp_path: Path) -> None:
    bare = ReportData(title="Bare", created_at=datetime(2026, 1, 1, tzinfo=UTC))
    page.goto(write_report(bare, tmp_path / "bare.html").html.as_uri())
    assert violations(page) == []
    assert page.locator("#absent li").count() == 13


def test_paper_shows_everything_in_black_on_white(chromium: Browser, page_path: Path) -> None:
    context = chromium.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(page_path.as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.pdf(format="A4")[:5] == b"%PDF-"
    context.close()
