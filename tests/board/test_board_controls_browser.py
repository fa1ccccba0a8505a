"""The board for whoever sees with ears, in colours of his own, or at 400 %: controls, forced colours, zoom."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from board_house import NAME, Board

sys.path.insert(0, str(Path(__file__).parents[1] / "pages"))

from browser_house import CONTROLS, ZOOMED, look, untold

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.browser

HOME = f"/board/c/{quote(NAME)}"


def pages(board: Board) -> dict[str, str]:
    """Every kind of page, by name."""
    platform, name = board.waiting()
    with board.house.store.read() as tx:
        worker = tx.work.submissions(1)["worker"].iloc[0]
    return {
        "campaigns": "/board/",
        "overview": HOME,
        "item": f"{HOME}/item?id=i00",
        "worker": f"{HOME}/worker?id={worker}",
        "submission": f"{HOME}/submission?platform={platform}&id={name}",
        "not-found": f"{HOME}/item?id=nowhere",
    }


@pytest.fixture
def signed_in(board: Board, served: str, chromium: Any) -> Iterator[Any]:
    """A page of an owner who signed in; options are those of the browser."""
    opened = []

    def go(**options: Any) -> Any:
        size = {"width": 1280, "height": 900}
        context = chromium.new_context(**{"viewport": size, "reduced_motion": "reduce", **options})
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.goto(f"{served}/board/")
        assert untold(page) == []
        page.get_by_label("Key").fill(board.key("owner"))
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Campaigns").wait_for()
        return page

    yield go
    for context in opened:
        context.close()


def test_role_name_and_state_of_every_control_are_told(board: Board, served: str, signed_in: Any) -> None:
    page = signed_in()
    wrong = {}
    for name, path in pages(board).items():
        page.goto(served + path)
        for details in page.locator("details").all():
            details.evaluate("node => { node.open = true }")
        wrong[name] = untold(page)
    assert {name: each for name, each in wrong.items() if each} == {}


def test_in_forced_colours_the_focus_can_be_seen_everywhere(board: Board, served: str, signed_in: Any) -> None:
    page = signed_in(forced_colors="active", color_scheme="dark")
    for name, path in pages(board).items():
        page.goto(served + path)
        look(page, f"board-forced-{name}")
        for _ in range(min(40, page.locator(CONTROLS).count())):
            page.keyboard.press("Tab")
            seen = page.evaluate(
                """() => { const now = document.activeElement, css = getComputedStyle(now);
                  const marked = css.outlineStyle !== "none" && parseFloat(css.outlineWidth) >= 1;
                  return now === document.body || marked; }"""
            )
            assert seen, (name, page.evaluate("document.activeElement.outerHTML.slice(0, 120)"))


def test_at_400_percent_nothing_runs_out_of_the_page(board: Board, served: str, signed_in: Any) -> None:
    page = signed_in(viewport=ZOOMED)
    for name, path in pages(board).items():
        page.goto(served + path)
        look(page, f"board-zoom-{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= ZOOMED["width"], name
