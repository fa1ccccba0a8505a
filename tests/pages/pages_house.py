"""A served set of task pages, a browser without script (forms and links), and HITs of every kind."""

from __future__ import annotations

import re
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING, Any

import uvicorn
from hmc_crowd_local import connect
from hmc_crowd_local.pages import (
    Check,
    PagesSettings,
    Practice,
    Study,
    SurveyQuestion,
    make_pages_app,
    sign_token,
    work_url,
)
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from hmc_crowd.platform import Hit, HitItem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx
    from hmc_crowd_local import LocalPlatform

    from hmc_crowd._base.clock import VirtualClock

SECRET = b"sixteen bytes at least"
LABELS = ("polite", "rude")


def question(item: str, **options: Any) -> HitItem:
    values = {"aspect": "label", "group": "d1", "position": 1, "text": f"Text of {item}", "labels": LABELS, **options}
    return HitItem(item, **values)


def dialogue(*, redundancy: int = 2, key: str = "dialogue", **options: Any) -> Hit:
    turns = ("Hello, can you help me?", "Of course. What is it?", "My order never came.", "That is your problem.")
    items = tuple(
        question(f"t{i}", position=i, text=turns[i - 1], context=turns[: i - 1], question="Is this turn polite?")
        for i in (2, 4)
    )
    values = {"items": items, "redundancy": redundancy, "pay_minor": 150, "currency": "USD", **options}
    return Hit(key, "Judge the replies", "Two replies of a shop assistant.", **values)


def every_kind(*, redundancy: int = 2, **options: Any) -> Hit:
    pair = ("Take the first street left.", "No idea.")
    items = (
        question("nominal", question="Is it polite?", text="Go away, please 🙂."),
        question(
            "nominal", aspect="tone", question="How warm is it?", kind="ordinal", labels=("1", "2", "3", "4", "5")
        ),
        question("multi", kind="multi_label", labels=("insult", "threat", "irony"), question="What is in it?"),
        question("pair", kind="pair", labels=("ours", "theirs", "tie"), options=pair, text="Where is the station?"),
        question("free", kind="text", labels=(), question="Write a better reply."),
        question("arabic", text="مرحبا، كيف حالك؟ 😀", language="ar", context=("أهلا",)),
        question("grim", sensitive=True, category="violence", text="He was hurt badly."),
    )
    values = {"items": items, "redundancy": redundancy, "pay_minor": 150, "currency": "USD", **options}
    return Hit("kinds", "Every kind of question", "One of each.", **values)


def full_study(**options: Any) -> Study:
    practice = Practice(question("p1", text="Shut up."), "rude", "Nobody is told to shut up politely.")
    exam = tuple(Practice(question(f"e{i}", text="Thank you."), "polite") for i in range(2))
    values: dict[str, Any] = {
        "title": "Polite machines",
        "information": "You judge replies of a machine.\n\nYou may stop at any time.",
        "consent": ("I have read this.", "I am 18 or older."),
        "contact": "lab@example.org",
        "guideline": "Polite is what a stranger would not mind.",
        "examples": (practice,),
        "checks": (Check("What do you judge?", ("Replies", "Pictures"), 0), Check("May you stop?", ("No", "Yes"), 1)),
        "training": (practice,),
        "test": exam,
        "test_needed": len(options.get("test", exam)),
        "survey": (SurveyQuestion("How old are you?", ("18-40", "over 40")), SurveyQuestion("Anything else?")),
        **options,
    }
    return Study(**values)


@dataclass
class PagesHouse:
    """A workplace with its pages mounted as they are served, and links into it."""

    local: LocalPlatform
    clock: VirtualClock
    settings: PagesSettings
    app: Starlette
    url: str = "http://testserver"

    def token(self, submission_id: str, *, expires_s: float = 3600 * 24 * 30) -> str:
        from datetime import timedelta

        return sign_token(SECRET, submission_id, expires_at=self.clock.now() + timedelta(seconds=expires_s))

    def work(self, hit: Hit, worker: str = "ann") -> tuple[str, str]:
        """Publish, accept, and return submission id and link."""
        remote = self.local.publish(hit)
        name = self.local.accept(remote.hit_id, worker).submission_id
        return name, work_url(self.url, self.token(name))

    def client(self, **headers: str) -> TestClient:
        return TestClient(self.app, base_url=self.url, headers=headers)


def make_house(path: Path, clock: Any, **options: Any) -> PagesHouse:
    local = connect(str(path), clock=clock)
    settings = PagesSettings(**{"per_minute": 10_000, "strangers_per_minute": 10_000, **options})
    pages = make_pages_app(local, secret=SECRET, settings=settings)
    return PagesHouse(local, clock, settings, Starlette(routes=[Mount("/work", pages)]))


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Serve an application on a free port until the block ends."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


_FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.DOTALL)
_ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')


@dataclass
class Form:
    """A form as a browser without script sees it."""

    action: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    html: str = ""


class Plain:
    """A browser that follows links and sends forms, and nothing else."""

    def __init__(self, client: TestClient | httpx.Client) -> None:
        self.client = client
        self.page: Any = None

    def get(self, url: str) -> Any:
        self.page = self.client.get(url, follow_redirects=True)
        return self.page

    @property
    def text(self) -> str:
        return str(self.page.text)

    @property
    def path(self) -> str:
        """The part of the address after the token."""
        return re.sub(r"^/work/[si]/[^/]+/?", "", self.page.url.path)

    def forms(self) -> list[Form]:
        found = []
        for head, body in _FORM.findall(self.text):
            action = unescape(dict(_ATTRIBUTE.findall(head))["action"])
            fields = []
            for tag in re.findall(r"<input\b[^>]*>", body):
                values = {name: unescape(value) for name, value in _ATTRIBUTE.findall(tag)}
                chosen = values.get("type") == "hidden" or re.search(r"\schecked\b", tag)
                if chosen and values.get("name"):
                    fields.append((values["name"], values["value"]))
            for head_, text in re.findall(r"<textarea\b([^>]*)>(.*?)</textarea>", body, re.DOTALL):
                fields.append((dict(_ATTRIBUTE.findall(head_))["name"], unescape(text)))
            found.append(Form(action, fields, body))
        return found

    def form(self, containing: str = "") -> Form:
        return next(each for each in self.forms() if containing in each.html)

    def send(self, containing: str = "", **values: str | list[str]) -> Any:
        """Send the form whose HTML contains a text, with these fields set."""
        form = self.form(containing)
        kept = [(name, value) for name, value in form.fields if name not in values]
        for name, value in values.items():
            kept += [(name, each) for each in ([value] if isinstance(value, str) else value)]
        from urllib.parse import urlencode

        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        self.page = self.client.post(form.action, content=urlencode(kept), headers=headers, follow_redirects=True)
        return self.page

    def answer(self, **values: str | list[str]) -> Any:
        return self.send('name="was_', **values)


class Tab:
    """A page that reports what it sees, with a clock of its own."""

    def __init__(self, house: Any, link: str, name: str = "tab1", number: int = 1) -> None:
        self.house, self.link, self.name, self.number = house, link, name, number
        self.plain = Plain(house.client())
        self.opened = house.clock.now()
        self.plain.get(f"{link}/q/{number}")
        self.stamp = re.search(r'data-events-form="([^"]+)"', self.plain.text).group(1)  # type: ignore[union-attr]
        self.seq, self.waiting, self.skew_ms = 0, [], 0.0
        self.note("shown")

    def ms(self) -> float:
        return float((self.house.clock.now() - self.opened).total_seconds() * 1000)

    def note(self, kind: str) -> None:
        event = {"seq": self.seq, "kind": kind, "t": self.ms(), "epoch": self.ms() + 1e12 + self.skew_ms}
        self.waiting.append({**event, "n": self.number})
        self.seq += 1

    def wait(self, seconds: float) -> None:
        self.house.clock.advance(seconds)

    def flush(self) -> Any:
        body = {"form": self.stamp, "page": self.name, "now": self.ms(), "events": self.waiting}
        sent = self.plain.client.post(self.link + "/events", json=body)
        if sent.status_code == 204:
            self.waiting = []
        return sent

    def hand_in(self) -> Any:
        self.flush()
        for number in (1, 2):
            self.plain.get(f"{self.link}/q/{number}")
            if 'name="was_' in self.plain.text:
                self.plain.answer(a0="0", do="review")
        self.plain.send("Hand in")
