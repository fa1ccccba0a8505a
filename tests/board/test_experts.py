"""Experts on the board: blind before they see, both labels kept, and a table that a phone and paper can hold."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from board_house import LABELS, NAME, enter, send

if TYPE_CHECKING:
    from board_house import Board

HOME = f"/board/c/{quote(NAME)}"


def first_case(browser: Any) -> str:
    page = browser.get(f"{HOME}/experts").text
    return re.search(r'href="([^"]+/experts/case[^"]+)"', page)[1].replace("&amp;", "&")  # type: ignore[index]


def test_an_expert_opens_these_pages_alone(board: Board) -> None:
    browser = board.browser("expert")
    assert "/experts" in browser.get("/board/").text
    assert browser.get(f"{HOME}/experts").status_code == 200
    for path in ("", "/part", "/live", "/item?id=i00", "/confusion"):
        assert browser.get(HOME + path).status_code == 403, path
    assert board.browser("owner").get(f"{HOME}/experts").status_code == 403


def test_nothing_is_revealed_before_the_blind_label_is_stored(board: Board) -> None:
    browser = board.browser("expert")
    where = first_case(browser)
    before = browser.get(where).text
    assert "Your own judgement" in before
    assert "The crowd" not in before
    assert "The machine" not in before
    empty = send(browser, before, "judge")
    assert (empty.status_code, "Choose one" in empty.text) == (422, True)
    after = send(browser, before, "judge", label=LABELS[0]).text
    assert "You, blind</dt><dd>good" in after
    assert "The crowd" in after
    changed = send(browser, after, "decide", label=LABELS[1]).text
    assert "changed from" in changed
    with board.house.store.read() as tx:
        said = tx.adjudications.read(1).iloc[0]
        label = tx.labels.read(1, items=[said["item"]]).iloc[0]
    assert (said["blind_label"], said["final_label"]) == tuple(LABELS)
    assert said["blind_at"].tzinfo is not None
    assert (label["label"], label["source"], label["evidence"]) == (LABELS[1], "expert", "expert_informed")
    assert first_case(browser) != where


def test_the_blind_label_cannot_be_given_twice(board: Board) -> None:
    browser = board.browser("expert")
    page = browser.get(first_case(browser)).text
    send(browser, page, "judge", label=LABELS[0])
    send(browser, page, "judge", label=LABELS[1])
    with board.house.store.read() as tx:
        assert tx.adjudications.read(1)["blind_label"].tolist() == [LABELS[0]]


@pytest.mark.parametrize(
    "fields", [{"label": "ugly"}, {"label": "good", "id": "nowhere"}, {"label": "good", "aspect": "x"}]
)
def test_forged_fields_change_nothing(board: Board, fields: dict[str, str]) -> None:
    browser = board.browser("expert")
    page = browser.get(first_case(browser)).text
    assert send(browser, page, "judge", **fields).status_code in {404, 409}
    with board.house.store.read() as tx:
        assert tx.adjudications.read(1).empty


def test_the_table_counts_blind_labels_against_the_crowds(board: Board) -> None:
    browser = board.browser("expert")
    for _ in range(3):
        page = browser.get(first_case(browser)).text
        send(browser, send(browser, page, "judge", label="good").text, "decide", label="good")
    table = board.browser("owner").get(f"{HOME}/confusion").text
    assert "of 3 items" in table
    assert re.search(r'<td class="all">3</td></tr></tbody>', table)


def test_more_than_twelve_labels_are_shown_as_eleven_and_the_others() -> None:
    import pandas as pd

    from hmc_crowd.board._experts import _at_most

    names = [f"label {n:02d}" for n in range(15)]
    table = pd.DataFrame(1, index=names, columns=names)
    table.loc["label 14", "label 14"] = 50
    shown = _at_most(table)
    assert shown.shape == (12, 12)
    assert shown.to_numpy().sum() == table.to_numpy().sum()
    assert "label 14" in shown.index
    assert shown.index[-1] == "all others"


@pytest.fixture
def twelve(board: Board) -> Board:
    """Judgements over twelve labels, as wide as the table gets."""
    names = [f"{word} {n}" for n, word in enumerate(("harassment", "hate", "self-harm", "violence") * 3)]
    now = board.clock.now()
    with board.house.store.begin() as tx:
        for n in range(30):
            tx.adjudications.judge(
                1, aspect="label", item=f"i{n:02d}", expert="e", label=names[n % 12], guideline_version="1", at=now,
                crowd_label=names[(n * 5) % 12],
            )  # fmt: skip
    return board


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 1280])
def test_the_table_is_readable_on_a_phone_and_on_paper(
    twelve: Board, served: str, chromium: Any, width: int, tmp_path: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = enter(chromium, served, twelve.key("owner"), viewport={"width": width, "height": 700})
    page.goto(f"{served}{HOME}/confusion")
    shots = Path(os.environ.get("HMC_CROWD_SCREENSHOTS") or tmp_path)
    page.screenshot(path=shots / f"confusion-{width}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert Axe().run(page).response["violations"] == []
    assert page.get_by_role("table").get_by_role("row").count() == 14
    assert page.get_by_role("columnheader", name="hate 1").count() == 1
    page.emulate_media(media="print")
    assert page.get_by_role("table").is_visible()
    page.context.close()


@pytest.mark.browser
def test_the_pages_of_experts_are_clean_by_keyboard_and_phone(
    board: Board, served: str, chromium: Any, tmp_path: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = enter(chromium, served, board.key("expert"), viewport={"width": 320, "height": 640})
    shots = Path(os.environ.get("HMC_CROWD_SCREENSHOTS") or tmp_path)
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        page.screenshot(path=shots / f"experts-{name}.png", full_page=True)
        found[name] = [each["id"] for each in Axe().run(page).response["violations"]]
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name

    page.goto(f"{served}{HOME}/experts")
    look("list")
    page.get_by_role("link", name="Go on with the next one").click()
    page.get_by_role("group", name="Your own judgement").wait_for()
    look("blind")
    page.get_by_role("radio", name="good").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What is known").wait_for()
    look("revealed")
    page.get_by_role("button", name="Decide").click()
    page.get_by_role("status").wait_for()
    look("decided")
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    page.context.close()
