"""Events reach real receivers: signed, tried again, never in the way of a request; and only where the owner allows."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError
from hmc_crowd_local.mturk_api import Deliverer
from hmc_crowd_mturk import read_notification

from hmc_crowd.errors import InputError

SECRET = b"secret"


class Receiver:
    """A receiver on loopback that fails as often as it is told to."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.failures = 0
        self.came = threading.Semaphore(0)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.failures -= 1
                self.send_response(500 if outer.failures >= 0 else 204)
                self.send_header("Content-Length", "0")
                self.end_headers()
                if outer.failures < 0:
                    outer.got.append((dict(self.headers), body))
                    outer.came.release()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.host}/events"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def wait(self) -> tuple[dict[str, str], bytes]:
        assert self.came.acquire(timeout=20)
        return self.got[-1]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.stop()


@pytest.fixture
def make_deliverer(receiver, clock):
    made: list[Deliverer] = []

    def go(**options) -> Deliverer:
        values = {"secret": SECRET, "clock": clock, "first_pause_s": 0.001, **options}
        made.append(Deliverer([receiver.host], **values))
        return made[-1]

    yield go
    for each in made:
        each.close()


def subscription(destination: str, transport: str = "SQS") -> dict:
    return {
        "Destination": destination, "Transport": transport, "Version": "2014-08-15",
        "EventTypes": ["AssignmentSubmitted"],
    }  # fmt: skip


def test_an_event_reaches_an_address_signed(make_house, make_deliverer, receiver) -> None:
    deliverer = make_deliverer()
    house = make_house(deliver=deliverer)
    hit_id = house.hit()
    kind = house.client.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    house.client.update_notification_settings(HITTypeId=kind, Notification=subscription(receiver.url), Active=True)
    name = house.work(hit_id, "A1ANN")
    headers, body = receiver.wait()
    expected = hmac.new(SECRET, f"{headers['X-Hmc-Timestamp']}.".encode() + body, hashlib.sha256).hexdigest()
    assert headers["X-Hmc-Signature"] == expected
    (event,) = read_notification(body.decode()).events
    assert (event.kind, event.hit_id, event.assignment_id) == ("AssignmentSubmitted", hit_id, name)


def test_a_receiver_that_fails_is_tried_again(make_deliverer, receiver) -> None:
    receiver.failures = 3
    deliverer = make_deliverer()
    deliverer(subscription(receiver.url), {"EventDocId": "e1", "Events": []})
    assert json.loads(receiver.wait()[1])["EventDocId"] == "e1"


def test_what_cannot_be_delivered_is_dropped_counted_and_does_not_hold_up_the_next(make_deliverer, receiver) -> None:
    deliverer = make_deliverer(attempts=2)
    receiver.failures = 2
    for number in (1, 2):
        deliverer(subscription(receiver.url), {"EventDocId": f"e{number}", "Events": []})
    assert json.loads(receiver.wait()[1])["EventDocId"] == "e2"
    deliverer.close()
    assert (deliverer.delivered, deliverer.dropped) == (1, 1)


def test_a_topic_is_sent_as_its_subscribers_get_it(make_deliverer, receiver) -> None:
    make_deliverer()(subscription(receiver.url, "SNS"), {"EventDocId": "e1", "Events": []})
    assert read_notification(receiver.wait()[1].decode()).document_id == "e1"


def test_queues_and_topics_go_through_the_clients_given(make_deliverer) -> None:
    sent: list[dict] = []
    done = threading.Semaphore(0)

    def keep(**values: str) -> None:
        sent.append(values)
        done.release()

    sqs = SimpleNamespace(send_message=keep, meta=SimpleNamespace(endpoint_url="https://sqs.eu-west-1.amazonaws.com"))
    deliverer = make_deliverer(sqs=sqs, sns=SimpleNamespace(publish=keep))
    for to in (
        subscription("https://sqs.eu-west-1.amazonaws.com/1/q"),
        subscription("arn:aws:sns:eu-west-1:1:topic", "SNS"),
    ):
        deliverer.check(to)
        deliverer(to, {"EventDocId": "e1", "Events": []})
        assert done.acquire(timeout=20)
    assert [set(each) for each in sent] == [{"QueueUrl", "MessageBody"}, {"TopicArn", "Message"}]
    assert read_notification(sent[0]["MessageBody"]).document_id == "e1"


@pytest.mark.parametrize(
    ("destination", "transport"),
    [
        ("ann@example.org", "Email"),
        ("https://elsewhere.example.org/", "SQS"),
        ("http://169.254.169.254/latest", "SQS"),
        ("arn:aws:sns:eu-west-1:1:topic", "SNS"),
        ("file:///etc/passwd", "SQS"),
    ],
)
def test_a_destination_that_the_owner_did_not_name_is_refused(
    make_deliverer, make_house, destination, transport
) -> None:
    deliverer = make_deliverer()
    with pytest.raises(InputError):
        deliverer.check(subscription(destination, transport))
    house = make_house(deliver=deliverer)
    with pytest.raises(ClientError, match=r"this workplace (does not deliver|sends no mail)"):
        house.client.send_test_event_notification(
            Notification=subscription(destination, transport), TestEventType="AssignmentSubmitted"
        )
