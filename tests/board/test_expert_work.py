"""Experts' own work on the board: further looks, appeals that look like any case, samples that auditors alone see."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from board_house import NAME, enter, forms, send
from starlette.testclient import TestClient

if TYPE_CHECKING:
    from collections.abc import Callable

    from board_house import Board

HOME = f"/board/c/{quote(NAME)}"
SIZE = {"width": 900, "height": 700}


class Person:
    """An expert with a key of his own, and a browser."""

    def __init__(self, board: Board, name: str, pool: str) -> None:
        with board.house.store.begin() as tx:
            record, self.key = tx.keys.issue("expert", label=name, skills=[f"pool:{pool}"])
        self.id, self.board = record.id, board
        self.browser = TestClient(board.app, follow_redirects=False)
        assert self.browser.post("/board/sign-in", data={"key": self.key}).status_code == 303

    def list(self) -> list[str]:
        page = self.browser.get(f"{HOME}/experts").text
        return re.findall(r'<li><a href="[^"]+/experts/case[^"]+">([^<]+)</a>', page)

    def case(self, item: str) -> Any:
        return self.browser.get(f"{HOME}/experts/case?id={item}&aspect=label")

    def decide(self, item: str, label: str) -> None:
        self.board.clock.advance(60)
        page = send(self.browser, self.case(item).text, "judge", label=label).text
        send(self.browser, page, "decide", label=label)


@pytest.fixture
def person(board: Board) -> Callable[[str, str], Person]:
    campaign = board.house.campaign(NAME)
    for name, kind in (("juniors", "tier1"), ("seniors", "tier2")):
        campaign.add_pool(name, kind=kind, pay_form="per_hour", price_minor=3000, capacity_per_hour=60)
    campaign.set_reviews(1.0, top=2)
    return lambda name, pool: Person(board, name, pool)


def label_of(board: Board, item: str) -> str:
    return str(board.house.campaign(NAME).labels().set_index("item")["label"][item])


def test_a_second_look_and_an_escalation_on_the_pages(board: Board, person: Any) -> None:
    eva, max_, ida = person("eva", "juniors"), person("max", "juniors"), person("ida", "seniors")
    item = eva.list()[0]
    eva.decide(item, "good")
    assert item not in eva.list()
    assert item in max_.list()
    max_.decide(item, "bad")
    # Now it is the next tier's, and nobody else's, whatever address he writes.
    again = person("tom", "juniors")
    assert item not in again.list()
    assert again.case(item).status_code == 409
    assert item in ida.list()
    ida.decide(item, "bad")
    assert label_of(board, item) == "bad"
    page = board.browser("owner").get(f"{HOME}/item?id={item}").text
    assert "the highest tier settles it" in page
    assert item not in person("uli", "seniors").list()


def test_nothing_on_an_experts_pages_tells_an_appeal(board: Board, person: Any) -> None:
    eva, max_ = person("eva", "seniors"), person("max", "seniors")
    first, other = eva.list()[:2]
    board.house.campaign(NAME).set_reviews(0.0)
    eva.decide(first, "good")
    board.house.campaign(NAME).appeal(first, by="Ann Author", reason="it was meant kindly")
    # The one that is appealed about stands among the others, in an order that chance made.
    assert first in max_.list()

    def plain(item: str, text: str) -> str:
        text = re.sub(r'value="[0-9a-f]{64}"', "", text)
        return re.sub(r"So it goes \d+\.", "", text).replace(item, "ITEM")

    assert "somebody appeals" in board.browser("owner").get(f"{HOME}/item?id={first}").text
    appealed, usual = max_.case(first).text, max_.case(other).text
    assert plain(first, appealed) == plain(other, usual)
    assert not re.search(r"appeal|\bAnn\b|kindly|second|\beva\b", appealed, re.I)
    after = send(max_.browser, appealed, "judge", label="bad").text
    assert not re.search(r"appeal|\bAnn\b|kindly|second|\beva\b", after, re.I)
    said = send(max_.browser, after, "decide", label="bad").text
    assert not re.search("appeal|overturn|upheld", said, re.I)
    # Whoever judged is kept out.
    assert eva.case(first).status_code == 200
    assert "Your own judgement" not in eva.case(first).text


def test_an_expert_cannot_post_to_what_he_is_excluded_from(board: Board, person: Any) -> None:
    eva, max_, tom = (person(name, "juniors") for name in ("eva", "max", "tom"))
    item, other = eva.list()[:2]
    eva.decide(item, "good")
    max_.decide(item, "good")
    page = tom.case(other).text
    for what in ("judge", "decide"):
        form = forms(page).get(what) or forms(page)["judge"]
        address = form[""].replace("/judge", f"/{what}")
        hidden = {name: value for name, value in form.items() if name}
        reply = tom.browser.post(address, data=hidden | {"id": item, "label": "bad"})
        assert reply.status_code in {403, 409}
    assert label_of(board, item) == "good"


def test_owners_see_load_tiers_and_appeals_and_judges_no_appeal(board: Board, person: Any) -> None:
    eva, max_, ida = person("eva", "juniors"), person("max", "juniors"), person("ida", "seniors")
    item = eva.list()[0]
    for who, label in ((eva, "good"), (max_, "bad"), (ida, "bad")):
        who.decide(item, label)
    board.house.campaign(NAME).appeal(item, by="Ann Author", reason="it was meant kindly")
    page = board.browser("owner").get(f"{HOME}/expert-work").text
    assert "A second expert looks at 100% of what one expert decided" in page
    assert "Labels not upheld by a higher tier" in page
    assert "50.0% (" in page
    assert "meant kindly" in page
    reviewer = board.browser("reviewer").get(f"{HOME}/expert-work").text
    assert "Appeals" in reviewer
    assert "kindly" not in reviewer
    auditor = board.browser("auditor").get(f"{HOME}/expert-work").text
    assert "Appeals" not in auditor
    assert eva.browser.get(f"{HOME}/expert-work").status_code == 403


def test_without_experts_the_page_says_so(board: Board) -> None:
    page = board.browser("owner").get(f"{HOME}/expert-work").text
    assert "There is no expert" in page


def drawn(board: Board, size: int = 6) -> tuple[Any, str]:
    """Draw a sample as an auditor; the browser, and the page that shows the key."""
    browser = board.browser("auditor")
    page = send(browser, browser.get(f"{HOME}/sample").text, "draw", size=str(size)).text
    return browser, page


def test_an_auditor_judges_and_opens_a_sample_that_nobody_else_sees(board: Board) -> None:
    browser, page = drawn(board)
    key = re.search(r"<code>([0-9a-f]{64})</code>", page)[1]  # type: ignore[index]
    campaign = board.house.campaign(NAME)
    items = campaign.secret_audit_cases(bytes.fromhex(key))["item"].tolist()
    page = send(browser, page, "next").text
    for n, item in enumerate(items, 1):
        assert f"{n} of 6" in page
        assert forms(page)["judge"]["id"] == item
        assert "The crowd" not in page
        empty = send(browser, page, "judge")
        assert (empty.status_code, "Choose one" in empty.text) == (422, True)
        page = send(browser, page, "judge", label="good").text
    assert "All 6 are judged" in page
    # Sealed: other roles have no such page, and the owner's pages count and name nothing.
    for role in ("owner", "reviewer", "expert"):
        other = board.browser(role)
        assert other.get(f"{HOME}/sample").status_code == 403
        assert other.post(f"{HOME}/sample/next", data={"key": key}).status_code == 403
    shown = board.browser("owner").get(f"{HOME}/expert-work").text
    assert "6 of 6" in shown
    assert "sealed" in shown
    assert not any(item in shown for item in items)
    assert key not in shown
    page = send(browser, page, "open").text
    assert re.search(r"of 6 labels wrong: an error rate of", page)
    assert "sealed" not in board.browser("owner").get(f"{HOME}/expert-work").text


def test_an_auditor_sees_figures_and_nobodys_labels(board: Board) -> None:
    browser = board.browser("auditor")
    platform, submission = board.waiting()
    for path in ("item?id=i01", f"submission?platform={platform}&id={submission}", "experts", "experts/case?id=i01"):
        assert browser.get(f"{HOME}/{path}").status_code == 403, path
    # Nothing on the pages that are his leads there.
    for path in ("", "/confusion", "/expert-work", "/sample"):
        page = browser.get(f"{HOME}{path}")
        assert page.status_code == 200
        assert not re.search(r'(href|action)="[^"]*/(item|submission|experts)\b', page.text), path
    assert re.search(r'href="[^"]*/submission\?', board.browser("reviewer").get(HOME).text)


def test_a_wrong_key_or_size_opens_nothing(board: Board) -> None:
    browser, _ = drawn(board)
    start = browser.get(f"{HOME}/sample").text
    for key, said in (("zz", "no key of a sample"), ("ab" * 32, "has drawn no sample")):
        reply = send(browser, start, "next", key=key)
        assert (reply.status_code, said in reply.text) == (422, True)
    for size in ("", "-1", "many", "999"):
        assert send(browser, start, "draw", size=size).status_code == 422
    assert browser.post(f"{HOME}/sample/next", data={"key": "ab" * 32}).status_code == 403


def test_a_key_that_is_spoilt_on_the_way_is_named(board: Board) -> None:
    browser, page = drawn(board)
    page = send(browser, page, "next").text
    reply = send(browser, page, "judge", key="zz")
    assert (reply.status_code, "no key of a sample" in reply.text) == (422, True)


# --- in a browser ---


class Looks:
    """Screenshots and what axe finds on the way."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.found = folder, dict[str, list[str]]()

    def at(self, page: Any, name: str) -> None:
        from axe_playwright_python.sync_playwright import Axe

        page.screenshot(path=self.folder / f"work-{name}.png", full_page=True)
        wrong = [each["id"] for each in Axe().run(page).response["violations"]]
        self.found |= {name: wrong} if wrong else {}
        page.set_viewport_size({"width": 320, "height": 640})
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, name
        page.set_viewport_size({"width": 900, "height": 700})


def judge_in(page: Any, address: str, label: str) -> None:
    page.goto(address)
    page.get_by_role("radio", name=label, exact=True).check()
    page.get_by_role("button", name="Keep it and show").click()
    page.get_by_role("heading", name="What is known").wait_for()
    page.get_by_role("radio", name=label, exact=True).check()
    page.get_by_role("button", name="Decide").click()
    page.get_by_role("status").wait_for()


@pytest.mark.browser
def test_two_experts_an_escalation_an_appeal_and_an_auditor_in_a_browser(
    board: Board, person: Any, served: str, chromium: Any, tmp_path: Path
) -> None:
    look = Looks(Path(os.environ.get("HMC_CROWD_SCREENSHOTS") or tmp_path))
    eva, max_, ida = person("eva", "juniors"), person("max", "juniors"), person("ida", "seniors")
    item = eva.list()[0]
    address = f"{served}{HOME}/experts/case?id={item}&aspect=label"
    for who, label in ((eva, "good"), (max_, "bad"), (ida, "bad")):
        board.clock.advance(60)
        page = enter(chromium, served, who.key, viewport=SIZE)
        page.goto(f"{served}{HOME}/experts")
        assert page.get_by_role("link", name=item, exact=True).count() == 1
        judge_in(page, address, label)
        page.context.close()
    assert label_of(board, item) == "bad"
    board.clock.advance(60)
    board.house.campaign(NAME).appeal(item, by="Ann Author", reason="it was meant kindly")
    uli = person("uli", "seniors")
    page = enter(chromium, served, uli.key, viewport=SIZE)
    page.goto(address)
    look.at(page, "appealed")
    judge_in(page, address, "bad")
    page.context.close()
    auditor = enter(chromium, served, board.key("auditor"), viewport=SIZE)
    auditor.get_by_role("link", name=NAME).first.click()
    auditor.get_by_role("link", name="Sample of your own").click()
    look.at(auditor, "sample-start")
    auditor.get_by_label("How many labels").fill("2")
    auditor.get_by_role("button", name="Draw").click()
    auditor.get_by_text("Keep this key").wait_for()
    look.at(auditor, "sample-key")
    auditor.get_by_role("button", name="Judge the first one").click()
    for n in (1, 2):
        auditor.get_by_text(f"{n} of 2").wait_for()
        look.at(auditor, f"sample-case-{n}")
        auditor.get_by_role("radio", name="good", exact=True).check()
        auditor.get_by_role("button", name="Keep it and go on").click()
    auditor.get_by_role("button", name="Open the sample").click()
    auditor.get_by_text("an error rate of").wait_for()
    look.at(auditor, "sample-opened")
    auditor.context.close()
    owner = enter(chromium, served, board.key("owner"), viewport=SIZE)
    owner.goto(f"{served}{HOME}/expert-work")
    owner.get_by_text("upheld").first.wait_for()
    look.at(owner, "owner")
    owner.context.close()
    assert look.found == {}
