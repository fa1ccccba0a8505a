"""A front door on a live port, boto3's unmodified client, and small HITs for both."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import boto3
import httpx
import uvicorn
from botocore.config import Config
from hmc_crowd_local.mturk_api import FrontDoor, Key, WorkersDoor
from hmc_crowd_local.mturk_api._shapes import problems_of, service_model, write_times
from hmc_crowd_mturk._questions import answer_name

from hmc_crowd.platform import FeeSchedule, Hit, HitItem

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock

AMAZON_FEES = FeeSchedule(rate=Decimal("0.20"), rate_at_10=Decimal("0.20"), minimum_minor=1)
NAMESPACES = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
EXTERNAL = (
    f'<ExternalQuestion xmlns="{NAMESPACES}2006-07-14/ExternalQuestion.xsd">'
    "<ExternalURL>https://survey.example.org/q?a=1&amp;b=2</ExternalURL><FrameHeight>600</FrameHeight></ExternalQuestion>"
)


def html_question(html: str) -> str:
    return (
        f'<HTMLQuestion xmlns="{NAMESPACES}2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[{html}]]></HTMLContent>'
        "<FrameHeight>450</FrameHeight></HTMLQuestion>"
    )


class Server:
    """A server on a free port of loopback that serves whatever application it is given; starting one takes a while."""

    def __init__(self) -> None:
        self.app: Any = None
        options: dict[str, Any] = {"log_level": "warning", "lifespan": "off", "ws": "none", "interface": "asgi3"}
        config = uvicorn.Config(self._serve, host="127.0.0.1", port=0, **options)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=10)


def boto(url: str, key: Key, **config: Any) -> Any:
    """boto3's own client; nothing of it is changed."""
    return boto3.client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id=key.access_key_id,
        aws_secret_access_key=key.secret_access_key,
        config=Config(
            **{
                "retries": {"mode": "standard", "total_max_attempts": 1},
                "connect_timeout": 5,
                "read_timeout": 20,
                **config,
            }
        ),
    )


@dataclass
class House:
    """A front door that is served: its url, its rules, and both kinds of client."""

    url: str
    door: FrontDoor
    workers: WorkersDoor
    clock: VirtualClock
    key: Key
    calls: list[str]

    @property
    def client(self) -> Any:
        return boto(self.url, self.key)

    def page(self, method: str, path: str, **options: Any) -> httpx.Response:
        return httpx.request(method, self.url + path, timeout=20, **options)

    def hit(self, client: Any = None, **options: Any) -> str:
        values = {
            "Title": "Judge", "Description": "Read and judge.", "Reward": "0.05", "Question": EXTERNAL,
            "AssignmentDurationInSeconds": 600, "LifetimeInSeconds": 86_400, "MaxAssignments": 3, **options,
        }  # fmt: skip
        hit_id: str = (client or self.client).create_hit(**values)["HIT"]["HITId"]
        return hit_id

    def work(self, hit_id: str, worker: str, submit: bool = True, **fields: str) -> str:
        work = self.workers.accept(hit_id, worker)
        if submit:
            self.workers.submit(work.assignment_id, list((fields or {"answer": "yes"}).items()))
        return work.assignment_id


class CheckedDoor(FrontDoor):
    """Checks every response against the output shape of the service model."""

    def call(self, account: str, operation: str, request: Any) -> dict[str, Any]:
        answer = super().call(account, operation, request)
        shape = service_model().operation_model(operation).output_shape
        assert list(problems_of(shape, write_times(answer))) == []
        return answer


def make_hit(key: str = "K1", *, redundancy: int = 3, **options: Any) -> Hit:
    items = tuple(
        HitItem(f"{key}-{i}", "label", "dialogue", i, f"Text {i} & <b>x</b>", labels=("yes", "no")) for i in (1, 2)
    )
    values: dict[str, Any] = {"items": items, "redundancy": redundancy, "pay_minor": 5, "currency": "USD", **options}
    return Hit(key, "Judge two replies", "Read and judge.", **values)


def answer_fields(hit: Hit, label: str = "yes") -> dict[str, str]:
    return {answer_name(number): label for number, _ in enumerate(hit.items, start=1)}
