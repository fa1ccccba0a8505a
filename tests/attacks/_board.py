"""The scene of the board and the machine API: two campaigns, people of each role, what belongs to whom.

Strangers are everybody but the owner: a browser or a program without a key, and each of the other roles.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import sqlalchemy as sa
from starlette.testclient import TestClient

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.board._render import slug
from hmc_crowd.board._session import form_mark
from hmc_crowd.store import ROLES, AspectRecord
from tests.attacks import _houses  # noqa: F401  finds board_house
from tests.attacks._table import Scene, prepared

from board_house import NAME, Board, build_played, forms, open_board  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = datetime(2026, 1, 6, 9, 0, tzinfo=UTC)
OTHER = "other/campaign"
#: Texts of items: of the queue's own people, and of what the machine kept, which is nobody's.
QUEUED, KEPT = "TEXT OF THE QUEUE", "TEXT THAT THE MACHINE KEPT"
#: Written with every visit, whoever comes: what is in them is no campaign's.
LEFT_OUT = frozenset({"heartbeat", "alembic_version"})


def build(folder: Path) -> None:
    """Play a campaign and give a worker and an expert items of their own, once."""
    build_played(folder)
    keys: dict[str, list[str]] = {}
    with open_board(folder, clock=VirtualClock(NOW)) as board:
        waiting = board.waiting()

        def issue(*names: str) -> None:
            with board.house.store.begin() as tx:
                for name in names:
                    record, key = tx.keys.issue(name.split()[-1], label=name, per_hour=100)
                    keys[name] = [record.id, key]

        # First those who hold what others must not reach, so that the expert's item is theirs.
        issue("holder worker", "holder expert", "owner")
        with board.house.store.begin() as tx:
            made = tx.campaigns.create(OTHER, {"currency": "USD", "seed": 1, "uid": "u"}, created_at=board.clock.now())
            tx.campaigns.add_aspect(made.id, AspectRecord("label", "nominal", ("good", "bad")))
        owner = Client(board, keys["owner"][1])
        doubtful = {"confidence": 0.5, "effort": 0.0, "text": QUEUED, "risk": "low"}
        items = [{"item": "e-item", **doubtful, "risk": "high"}, {"item": "w-item", **doubtful}]
        items += [
            {"item": f"kept{n}", "confidence": 1.0, "effort": 9.0, "text": f"{KEPT} {n}.", "risk": "low"}
            for n in range(9)
        ]
        reply = owner.post("/api/allocate", json={"key": "fill", "campaign": NAME, "items": items}).json()
        kept = [row["item"] for row in reply["decisions"] if row["destination"] == "machine"]
        for role, item in (("worker", "w-item"), ("expert", "e-item")):
            body = {"key": "fill", "campaign": NAME, "lease_s": 86_400, "limit": 50}
            given = Client(board, keys[f"holder {role}"][1]).post("/api/claim", json=body).json()
            assert item in [row["item"] for row in given["items"]], given
        hook = {"key": "h", "campaign": NAME, "url": "http://127.0.0.1:9/x", "events": ["alert"]}
        made_hook = owner.post("/api/webhooks", json=hook).json()
        issue(*(role for role in ROLES if role != "owner"))
    told = {"keys": keys, "kept": kept, "hook": made_hook["webhook"], "waiting": waiting}
    told["secret"] = made_hook["secret"]
    (folder / "known.json").write_text(json.dumps(told))


def Client(board: Board, key: str | None) -> TestClient:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return TestClient(board.app, headers=headers, follow_redirects=False)


class BoardScene(Scene):
    """A board and a machine door under attack."""

    def __init__(self, board: Board, folder: Path, known: dict[str, Any]) -> None:
        super().__init__()
        self.board, self.folder, self.number = board, folder, 0
        self.keys = {name: key for name, (_, key) in known["keys"].items()}
        self.key_ids = {name: number for name, (number, _) in known["keys"].items()}
        self.kept, self.hook = known["kept"], known["hook"]
        texts = [f"{KEPT} {name.removeprefix('kept')}." for name in self.kept]
        self.foreign = (*texts, known["secret"], *self.keys.values())
        self.platform, self.submission = known["waiting"]
        self.signed_in = {role: self._signed_in(role) for role in ("expert", "auditor", "reviewer", "owner")}

    def _signed_in(self, role: str) -> str:
        """Sign in once per role; browsers take the cookie."""
        browser = Client(self.board, None)
        browser.get("/board/sign-in")
        page = browser.get("/board/sign-in").text
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page))
        same = {"Origin": "http://testserver"}
        reply = browser.post("/board/sign-in", data=hidden | {"key": self.keys[role]}, headers=same)
        assert reply.status_code == 303, reply.text
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())

    def program(self, role: str | None = None, *, key: str | None = None) -> TestClient:
        """An attacker's program: with the key of a role, with any text as a key, or with none."""
        return self.recording(Client(self.board, key if role is None else self.keys[role]))

    def browser(self, role: str | None = None, **headers: str) -> TestClient:
        """An attacker's browser: signed in as a role, or not."""
        made = self.recording(Client(self.board, None))
        made.headers.update(headers)
        if role is not None:
            made.headers["Cookie"] = self.signed_in[role]
        return made

    def mark(self, role: str, path: str) -> str:
        """The mark of a form that our page for a role would carry, whether the role may send it or not."""
        token = self.signed_in[role].partition("=")[2]
        return form_mark(self.board.house.secret, token, path, at=self.board.clock.now())

    def send(self, role: str, path: str, *, mark: str | None = None, **fields: str) -> Any:
        """Send a form below the board as a role, with a right mark by default."""
        right = self.mark(role, path) if mark is None else mark
        where = "/board/" + path.replace(NAME, quote(slug(NAME), safe=""))
        return self.browser(role).post(where, data={"mark": right, **fields})

    def body(self, **fields: Any) -> dict[str, Any]:
        """A body of the machine API with a key of its own, about the first campaign."""
        self.number += 1
        return {"key": f"attack{self.number}", "campaign": NAME, **fields}

    def forms(self, browser: TestClient, page: str) -> dict[str, dict[str, str]]:
        """The forms of a page by the end of their action; its action is under the empty name."""
        return forms(browser.get(page).text)

    def stored(self) -> Any:
        found = {}
        for name in ("campaign.db", "workplace.db"):
            engine = sa.create_engine(f"sqlite:///{self.folder / name}", poolclass=sa.NullPool)
            with engine.connect() as connection:
                for table in sa.inspect(connection).get_table_names():
                    if table not in LEFT_OUT:
                        found[name, table] = connection.exec_driver_sql(f'SELECT * FROM "{table}"').all()
        return found

    def goes_on(self) -> None:
        assert Client(self.board, self.keys["owner"]).get("/api/queue", params={"campaign": NAME}).status_code == 200
        page = Client(self.board, None).get("/board/", headers={"Cookie": self.signed_in["owner"]})
        assert page.status_code == 200
        assert NAME in page.text

    def ends(self) -> None:
        for role, item in (("worker", "w-item"), ("expert", "e-item")):
            holder = Client(self.board, self.keys[f"holder {role}"])
            sent = self.body(answers=[{"item": item, "label": "good"}])
            assert holder.post("/api/answers", json=sent).status_code == 200


@contextmanager
def board() -> Iterator[BoardScene]:
    """A campaign after one round, an item claimed by a worker and one by an expert; a second campaign; a webhook."""
    source = prepared(build)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(shutil.copytree(source, Path(name) / "board"))
        known = json.loads((folder / "known.json").read_text())
        limits = {"sign_ins_per_minute": 10**6, "door_per_minute": 10**6, "per_minute": 10**6, "body_s": 0.4}
        with open_board(folder, clock=VirtualClock(NOW), **limits) as opened:
            yield BoardScene(opened, folder, known)
