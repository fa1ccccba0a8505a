"""The scene of the task pages: Ann is half way through her work, Bob has work of his own."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import sqlalchemy as sa

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.platform import Hit
from tests.attacks import _houses  # noqa: F401  finds pages_house
from tests.attacks._table import Scene, prepared
from tests.conftest import START

from hmc_crowd_local import connect  # isort: skip
from hmc_crowd_local._tables import METADATA  # isort: skip
from pages_house import PagesHouse, Plain, dialogue, every_kind, full_study, make_house, question, served  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator

FOREIGN = "FOREIGN TEXT"
MOST = 20_000


class PagesScene(Scene):
    """Task pages under attack."""

    foreign = (FOREIGN,)

    def __init__(self, house: PagesHouse, ann: str, link: str, bob: str, bobs: str) -> None:
        super().__init__()
        self.house, self.ann, self.link, self.bob, self.bobs = house, ann, link, bob, bobs

    @property
    def client(self) -> Any:
        """An attacker's browser, or a program of his."""
        return self.recording(self.house.client())

    @property
    def token(self) -> str:
        return self.link.rpartition("/")[2]

    def post(self, path: str, *, link: str = "", **fields: str) -> Any:
        """Send a form as a program would: with a right mark, and whatever else it likes."""
        plain = Plain(self.client)
        plain.get(f"{link or self.link}/{path}")
        mark = next((value for form in plain.forms() for name, value in form.fields if name == "form"), "")
        return self.client.post(f"{link or self.link}/{path}", data={"form": mark, **fields}, follow_redirects=False)

    def stored(self) -> list[Any]:
        with self.house.local._database.read() as connection:
            return [[tuple(row) for row in connection.execute(sa.select(table))] for table in METADATA.sorted_tables]

    def saved(self) -> list[str]:
        return [each.label for each in self.house.local.saved_answers([self.ann])[self.ann]]

    @contextmanager
    def line(self) -> Iterator[socket.socket]:
        """A line of bytes to a real server."""
        with served(self.house.app) as url:
            where = urlsplit(url)
            with socket.create_connection((where.hostname, where.port), timeout=20) as made:
                yield made

    def goes_on(self) -> None:
        assert self.house.local.submission(self.bob).state.value == "accepted"
        page = self.house.client().get(f"{self.link}/q/1")
        assert page.status_code == 200
        assert "Go away, please" in page.text

    def ends(self) -> None:
        """Ann goes on as if nothing had happened."""
        plain = Plain(self.house.client())
        for number, answers in enumerate(
            ({"a0": "1", "a1": "3"}, {"a0": "0"}, {"a0": "2"}, {"a0": "Sure."}, {"a0": "0"}, {"a0": "1"})
        ):
            plain.get(f"{self.link}/q/{number + 1}")
            plain.answer(**answers, do="next")
        plain.get(f"{self.link}/review")
        plain.send("Hand in")
        assert self.house.local.submission(self.ann).state.value == "submitted"
        assert len(self.house.local.answers([self.ann])[self.ann]) == 7


def empty_workplace(folder: Path) -> None:
    connect(str(folder / "empty.db")).close()


@contextmanager
def pages() -> Iterator[PagesScene]:
    """Ann has answered one question of seven; Bob holds the only place of another HIT, with a text of its own."""
    study = full_study(information="", consent=(), checks=(), training=(), test=())
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        path = Path(shutil.copy(prepared(empty_workplace) / "empty.db", folder))
        house = make_house(path, VirtualClock(START), most_body_bytes=MOST, body_s=0.4, study=study)
        stack.callback(house.local.close)
        ann, link = house.work(every_kind(), "ann")
        bob, bobs = house.work(Hit("other", "Other", "", (question("o1", text=FOREIGN),), 1, 5, "USD"), "bob")
        house.local.open_page(ann, "ann")
        house.local.save_answer(ann, "ann", item="nominal", aspect="label", label="rude")
        house.work(dialogue(), "cem")
        # What a first visit stores is there before the attack.
        for number in range(1, 7):
            house.client().get(f"{link}/q/{number}")
        house.client().get(f"{bobs}/q/1")
        yield PagesScene(house, ann, link, bob, bobs)


def without_markup(text: str) -> str:
    """Drop the values of attributes that we write ourselves."""
    return re.sub(r'(?:value|action|data-[a-z-]+|href)="[^"]*"', "", text)
