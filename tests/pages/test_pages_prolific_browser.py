"""Participants of Prolific in a real browser, from arrival to completion code, and the campaign that collects them.

Everything is the real thing but Prolific itself, whose stand-in recruits, knows the submissions and takes the code: the
campaign publishes a study, the served application answers the study's address, and what people did is collected,
approved and labelled.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pandas as pd
import pytest

pytest.importorskip("fastapi")
sys.path.insert(0, str(Path(__file__).parents[1] / "campaign"))

from browser_house import DESK, PHONE, sound
from hmc_crowd_prolific.standin import Options, running_standin
from outside_house import Recruiting, orders_of
from pages_house import served

from hmc_crowd._base.clock import SystemClock, VirtualClock
from hmc_crowd._base.serving import ServeSettings, load_mounts, make_app
from hmc_crowd.campaign import Campaign
from hmc_crowd.platform import find_platform

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.browser

TRUTH = {f"i{number}": ("polite", "rude")[number % 2] for number in range(4)}
STUDY = """title = "Polite machines"
information = "You judge replies of a machine."
consent = ["I have read this."]
"""


class Study:
    """A published study, its address, and the campaign behind it."""

    def __init__(self, folder: Path, standin: Any, stack: ExitStack) -> None:
        self.standin = standin
        clock = VirtualClock(datetime.now(UTC))
        standin.world.reset(clock, Options())
        self.pages: Any = find_platform("local", str(folder / "workplace.db"), clock=SystemClock())
        stack.callback(self.pages.close)
        (folder / "study.toml").write_text(STUDY, encoding="utf-8")
        environment = {"HMC_CROWD_PROLIFIC_TOKEN": standin.world.token, "HMC_CROWD_PROLIFIC_URL": standin.api}
        # The address is known when the server listens, and the application needs it: it is handed over then.
        late: list[Any] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await late[0](scope, receive, send)

        self.url = stack.enter_context(served(app))
        self.pages.serve_at(self.url)
        settings = ServeSettings(
            self.pages, self.url, SystemClock(), environment=environment, study=str(folder / "study.toml")
        )
        mounts = load_mounts(settings)
        for each in mounts:
            stack.callback(each.close or (lambda: None))
        late.append(make_app(mounts))
        self.people = Recruiting(standin, standin, self.pages, clock, stack)
        self.platform = self.people.connect(study_url=f"{self.url}/prolific/arrive", minimum_hourly_minor=0)
        self.campaign = stack.enter_context(self._campaign(folder))
        self.campaign.publish(
            self.platform, pages=self.pages, dry_run=False, redundancy=2, pay_per_hour_minor=1200, budget_minor=20_000
        )
        ((self.order, self.id),) = orders_of(self.campaign)

    def _campaign(self, folder: Path) -> Campaign:
        made = Campaign.create(folder / "campaign.db", "tone", labels=["polite", "rude"], seed=7, clock=SystemClock())
        items = pd.DataFrame({"item": list(TRUTH), "text": [f"Reply {name} of the machine." for name in TRUTH]})
        made.add_items(items)
        made.add_predictions(items[["item"]].assign(label="polite", confidence=0.55))
        made.estimate_effort()
        made.plan(trade_off=0.01, max_human=len(TRUTH), audit=0)
        return made

    def take(self, who: str) -> tuple[str, str]:
        """Take a place as Prolific's own page offers it: submission and address."""
        taken = self.people._control(f"participants/{who}/take?study={self.id}")
        return taken["id"], taken["location"]

    def status(self, submission: str) -> str:
        with self.standin.world.lock:
            return str(self.standin.world.submissions[submission].status)


@pytest.fixture(scope="module")
def standin() -> Iterator[Any]:
    with running_standin() as running:
        yield running


@pytest.fixture
def study(tmp_path: Path, standin: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.chdir(tmp_path)
    for name in [each for each in os.environ if each.startswith("HMC_CROWD_PROLIFIC_")]:
        monkeypatch.delenv(name)
    with ExitStack() as stack:
        yield Study(tmp_path, standin, stack)


def agree(page: Any) -> None:
    page.get_by_label("I have read this.").check()
    page.get_by_role("button", name="I agree").click()


def answer(page: Any) -> None:
    """Give the true answer to what is on the page, and go on."""
    item = re.search(r"Reply (i\d) of", page.locator(".judged").inner_text())
    assert item is not None
    page.get_by_label(TRUTH[item[1]]).check()
    page.locator("#answer button.main").click()


def work(page: Any) -> None:
    for _ in TRUTH:
        number = page.locator(".progress span").inner_text()
        answer(page)
        page.wait_for_function(
            "before => !document.querySelector('.progress span') "
            "|| document.querySelector('.progress span').innerText !== before",
            arg=number,
        )
    page.get_by_role("button", name="Hand in").click()
    page.get_by_text("Your work is handed in.").wait_for()


def code_of(page: Any) -> str:
    """The code in the completion link; the link itself leads to Prolific, where this browser cannot go."""
    link = page.get_by_role("link", name="Back to").or_(page.locator("a.button.main")).first.get_attribute("href")
    parts = urlsplit(link)
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "app.prolific.com", "/submissions/complete")
    (code,) = parse_qs(parts.query)["cc"]
    return code


def test_from_arrival_to_a_paid_and_labelled_campaign(study: Study, new_page: Any) -> None:
    done = []
    for who, options in (("ann", {"viewport": DESK}), ("ben", {"viewport": PHONE, "has_touch": True})):
        submission, address = study.take(who)
        page = new_page(**options)
        page.goto(address)
        # Neither his id nor the submission's is in the address of the work, which others may see over his shoulder.
        assert who not in page.url
        assert submission not in page.url
        sound(page, f"prolific-{who}-1-consent")
        agree(page)
        sound(page, f"prolific-{who}-2-question")
        assert page.locator("a[href*='prolific.com']").count() == 0
        work(page)
        sound(page, f"prolific-{who}-3-done")
        assert study.status(submission) == "ACTIVE"
        study.people._control(f"submissions/{submission}/complete?cc={code_of(page)}")
        assert study.status(submission) == "AWAITING REVIEW"
        done.append(submission)
    campaign = study.campaign
    collected = campaign.collect(study.platform, pages=study.pages)
    assert (collected.submissions, collected.answers, collected.open_places) == (2, 8, 0)
    paid = campaign.approve(study.platform, pages=study.pages, dry_run=False, budget_minor=20_000, by="kim")
    assert (paid.approved, paid.disputed) == (2, 0)
    assert {study.status(each) for each in done} == {"APPROVED"}
    labels = campaign.aggregate().labels
    assert dict(zip(labels["item"], labels["label"], strict=True)) == TRUTH


def test_who_comes_back_finds_his_work_on_every_device(study: Study, new_page: Any) -> None:
    _, address = study.take("ann")
    desk = new_page()
    desk.goto(address)
    agree(desk)
    answer(desk)
    desk.wait_for_url("**/q/2")
    phone = new_page(viewport=PHONE, has_touch=True)
    phone.goto(address)
    # Consent is not asked again, and the first answer is there.
    phone.wait_for_url("**/q/2")
    desk.close()
    for _ in range(3):
        number = phone.url
        answer(phone)
        phone.wait_for_function("before => location.href !== before", arg=number)
    phone.get_by_role("button", name="Hand in").click()
    phone.get_by_text("Your work is handed in.").wait_for()
    first = code_of(phone)
    # And again, when all is done: the code, and no second HIT.
    again = new_page()
    again.goto(address)
    assert code_of(again) == first


def test_without_script_the_code_comes_too(study: Study, new_page: Any) -> None:
    submission, address = study.take("ann")
    page = new_page(java_script_enabled=False, viewport=PHONE)
    page.goto(address)
    agree(page)
    for _ in TRUTH:
        answer(page)
    page.get_by_role("button", name="Hand in").click()
    page.get_by_text("Your work is handed in.").wait_for()
    study.people._control(f"submissions/{submission}/complete?cc={code_of(page)}")
    assert study.campaign.collect(study.platform, pages=study.pages).answers == 4


FORGED = {
    "another participant's submission": lambda query, _other: query | {"PROLIFIC_PID": "mallory"},
    "a submission that does not exist": lambda query, _other: query | {"SESSION_ID": "0" * 24},
    "a study that is not ours": lambda query, _other: query | {"STUDY_ID": "f" * 24},
    "somebody else's submission under one's own name": lambda query, other: query | {"SESSION_ID": other},
    "no submission": lambda query, _other: {name: word for name, word in query.items() if name != "SESSION_ID"},
    "placeholders that nobody filled": lambda query, _other: {name: f"{{{{%{name}%}}}}" for name in query},
    "a script": lambda query, _other: query | {"SESSION_ID": "<script>alert(1)</script>"},
    "a path": lambda query, _other: query | {"SESSION_ID": "../../../users/me"},
}


def test_a_forged_arrival_gets_a_polite_page_and_no_work(study: Study, new_page: Any) -> None:
    _, address = study.take("ann")
    other, _ = study.take("ben")
    parts = urlsplit(address)
    query = {name: words[0] for name, words in parse_qs(parts.query).items()}
    before = list(study.pages.places_held("prolific", study.order))
    got = {}
    for how, forge in FORGED.items():
        answer_ = httpx.get(f"{study.url}{parts.path}", params=forge(query, other))
        got[how] = (answer_.status_code, "Reply i" in answer_.text or "<script" in answer_.text)
    assert got == dict.fromkeys(FORGED, (403, False))
    assert list(study.pages.places_held("prolific", study.order)) == before
    page = new_page(viewport=PHONE)
    page.goto(f"{study.url}{parts.path}")
    sound(page, "prolific-refused")


def test_a_place_that_is_given_back_goes_to_the_next(study: Study, new_page: Any) -> None:
    first, address = study.take("ann")
    study.take("ben")
    page = new_page()
    page.goto(address)
    agree(page)
    answer(page)
    page.wait_for_url("**/q/2")
    study.people.give_back(first)
    again = new_page()
    assert again.goto(address).status == 200
    assert "Reply i" not in again.content()
    sound(again, "prolific-over")
    third, its = study.take("cem")
    newest = new_page()
    newest.goto(its)
    agree(newest)
    work(newest)
    study.people._control(f"submissions/{third}/complete?cc={code_of(newest)}")
    assert study.campaign.collect(study.platform, pages=study.pages).answers >= 4
