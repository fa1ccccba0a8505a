"""The scene of Prolific: a study with two places, Ann at work in one of them; Eve has an account and no place."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import sqlalchemy as sa
from starlette.testclient import TestClient

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd._base.serving import ServeSettings
from hmc_crowd.platform import Hit, HitItem, Recruitment
from hmc_crowd.testing import ChaosProxy
from tests.attacks._pages import empty_workplace
from tests.attacks._table import Scene, prepared
from tests.conftest import START
from tests.prolific.conftest import Lab

from hmc_crowd_local import LocalPlatform, connect  # isort: skip
from hmc_crowd_local._tables import METADATA  # isort: skip
from hmc_crowd_prolific._serve import mount  # isort: skip
from hmc_crowd_prolific.standin import Options, running_standin  # isort: skip
from hmc_crowd_prolific.standin._hooks import sign  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator

PUBLIC = "https://work.example.org"
SECRET = "the secret of the webhooks"
TEXT = "WHAT IS JUDGED"


class ProlificScene(Scene):
    """Our addresses for Prolific under attack; and the stand-in, which is served too."""

    foreign = (TEXT,)

    def __init__(self, lab: Lab, app: Any, workplace: LocalPlatform, clock: VirtualClock, study: str) -> None:
        super().__init__()
        self.lab, self.app, self.workplace, self.clock, self.study = lab, app, workplace, clock, study
        taken = lab.control(f"participants/ann/take?study={study}")
        self.submission, self.params = taken["id"], dict(parse_qsl(urlsplit(taken["location"]).query))
        self.address = self.honest.get("/arrive", params=self.params).headers["location"]
        self.foreign = (*self.foreign, self.address.rpartition("/")[2], SECRET, lab.world.token)

    @property
    def honest(self) -> TestClient:
        return TestClient(self.app, follow_redirects=False)

    @property
    def client(self) -> TestClient:
        """An attacker's browser or program."""
        return self.recording(self.honest)

    def arrive(self, **changes: str) -> Any:
        """Arrive with Ann's parameters, changed."""
        return self.client.get("/arrive", params=self.params | changes)

    def deliver(self, body: bytes, *, secret: str = SECRET, at: str | None = None, **headers: str) -> Any:
        """Deliver a webhook, signed with a secret."""
        stamp = at if at is not None else str(int(self.clock.now().timestamp()))
        signed = {"X-Prolific-Request-Timestamp": stamp, "X-Prolific-Request-Signature": sign(secret, stamp, body)}
        return self.client.post("/hook", content=body, headers=signed | headers)

    def event(self, **changes: Any) -> bytes:
        """The body of an event about Ann's submission."""
        known = {"event_type": "submission.status.change", "resource_id": self.submission, "status": "RETURNED"}
        return json.dumps(known | changes).encode()

    def stored(self) -> Any:
        with self.workplace._database.read() as connection:
            ours = [[tuple(row) for row in connection.execute(sa.select(table))] for table in METADATA.sorted_tables]
        world = self.lab.world
        with world.lock:
            theirs = [repr(sorted(each.items())) for each in (world.studies, world.submissions)]
        return ours, theirs

    def goes_on(self) -> None:
        again = self.honest.get("/arrive", params=self.params)
        assert again.status_code == 303
        assert urlsplit(again.headers["location"]).path.startswith("/work/s/")

    def ends(self) -> None:
        taken = self.lab.control(f"participants/bob/take?study={self.study}")
        params = dict(parse_qsl(urlsplit(taken["location"]).query))
        assert self.honest.get("/arrive", params=params).status_code == 303


@contextmanager
def prolific() -> Iterator[ProlificScene]:
    """A study on the stand-in whose work our workplace shows; deliveries are signed with `SECRET`."""
    clock = VirtualClock(START)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path = shutil.copy(prepared(empty_workplace) / "empty.db", folder)
        workplace = stack.enter_context(connect(str(path), clock=clock, pages=PUBLIC))
        standin = stack.enter_context(running_standin())
        standin.world.reset(clock, Options())
        lab = Lab(standin, stack.enter_context(ChaosProxy(standin.url)), clock, stack)
        items = tuple(HitItem(f"i{n}", "label", "d", n, TEXT, labels=("yes", "no")) for n in (1, 2))
        hits = [Hit("a", "Judge", "Read and judge.", items, 2, 200, "USD")]
        workplace.open_order("round-1", hits)
        study = lab.connect().recruit(Recruitment.for_hits("round-1", hits, expected_s=600)).hit_id
        environment = {
            "HMC_CROWD_PROLIFIC_TOKEN": lab.world.token,
            "HMC_CROWD_PROLIFIC_URL": f"{standin.url}/api/v1/",
            "HMC_CROWD_PROLIFIC_WEBHOOK_SECRET": SECRET,
        }
        mounted = mount(ServeSettings(workplace, PUBLIC, clock, environment=environment))
        assert mounted is not None
        stack.callback(mounted.close or (lambda: None))
        yield ProlificScene(lab, mounted.app, workplace, clock, study)
