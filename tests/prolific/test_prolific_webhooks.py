"""Webhooks (acceptance cases B19 to B23): hints that are verified, stored once, and read anew."""

from __future__ import annotations

import http.server
import json
import sqlite3
import threading

import pytest
from hmc_crowd_local import connect as open_workplace
from hmc_crowd_prolific import SqliteInbox, WebhookEvent, WebhookReceiver, process_events
from hmc_crowd_prolific.standin._hooks import sign

from hmc_crowd.errors import InputError, StoreError

SECRET = "hook-secret"
BODY = b'{"event_type":"submission.status.change","resource_id":"s1","participant_id":"p1","status":"APPROVED"}'


@pytest.fixture
def inbox(tmp_path):
    opened = SqliteInbox(tmp_path / "inbox.db")
    yield opened
    opened.close()


@pytest.fixture
def receiver(inbox, clock) -> WebhookReceiver:
    return WebhookReceiver([SECRET], inbox, clock=clock)


def headers(clock, *, body: bytes = BODY, secret: str = SECRET, event: str = "e1", age_s: float = 0) -> dict[str, str]:
    stamp = str(int(clock.now().timestamp() - age_s))
    return {
        "X-Prolific-Request-Timestamp": stamp,
        "X-Prolific-Request-Signature": sign(secret, stamp, body),
        "X-Event-ID": event,
    }


def test_b19_an_event_that_comes_twice_is_kept_once_and_answered_both_times(receiver, inbox, clock) -> None:
    assert [receiver.receive(headers(clock), BODY) for _ in range(2)] == [200, 200]
    assert inbox.pending() == [WebhookEvent("e1", "submission.status.change", "s1")]


def test_b19_an_event_that_comes_again_after_a_restart_is_not_processed_again(tmp_path, clock) -> None:
    for _ in range(2):
        inbox = SqliteInbox(tmp_path / "inbox.db")
        assert WebhookReceiver([SECRET], inbox, clock=clock).receive(headers(clock), BODY) == 200
        pending = inbox.pending()
        for event in pending:
            inbox.done(event.id)
        inbox.close()
    assert pending == []


@pytest.mark.parametrize("kind", ["file", "workplace"])
def test_a_delivery_sent_again_under_other_ids_is_kept_once(tmp_path, clock, kind) -> None:
    with open_workplace(str(tmp_path / "workplace.db"), clock=clock) as workplace:
        kept = SqliteInbox(tmp_path / "inbox.db") if kind == "file" else workplace.inbox("prolific")
        receiver = WebhookReceiver([SECRET], kept, clock=clock)
        signed = headers(clock)
        # Its body written otherwise is signed as well, and is the same delivery.
        bodies = [BODY, BODY.replace(b":", b": ").replace(b",", b", ")]
        signed["X-Prolific-Request-Signature"] = sign(SECRET, signed["X-Prolific-Request-Timestamp"], bodies[1])
        for number in range(20):
            assert receiver.receive(signed | {"X-Event-ID": f"other{number}"}, bodies[number % 2]) == 200
        assert len(kept.pending()) == 1
        clock.advance(1)
        assert receiver.receive(headers(clock, event="e2"), BODY) == 200
        assert len(kept.pending()) == 2


def test_an_inbox_of_an_older_version_goes_on(tmp_path, clock) -> None:
    with sqlite3.connect(tmp_path / "inbox.db") as database:
        database.execute(
            "CREATE TABLE prolific_event (id TEXT PRIMARY KEY, kind TEXT NOT NULL, resource_id TEXT NOT NULL, "
            "received_at TEXT NOT NULL, is_done INTEGER NOT NULL DEFAULT 0)"
        )
        database.execute("INSERT INTO prolific_event VALUES ('e0', 'study.status.change', 't0', '2026-01-01', 0)")
    database.close()
    inbox = SqliteInbox(tmp_path / "inbox.db")
    WebhookReceiver([SECRET], inbox, clock=clock).receive(headers(clock), BODY)
    assert [each.id for each in inbox.pending()] == ["e0", "e1"]
    inbox.close()


def test_b20_the_state_that_the_api_shows_wins_over_the_payload(lab, inbox) -> None:
    study = lab.connect().recruit(lab.order()).hit_id
    name = lab.submit(study, "ann")
    receiver = WebhookReceiver([SECRET], inbox, clock=lab.clock)
    early = BODY.replace(b"s1", name.encode())
    late = early.replace(b"APPROVED", b"AWAITING REVIEW")
    for number, body in enumerate((early, late)):
        assert receiver.receive(headers(lab.clock, body=body, event=f"e{number}"), body) == 200
    seen = []
    assert process_events(inbox, lab.connect().client, lambda _, held: seen.append(held.status.value)) == 2
    assert seen == ["AWAITING REVIEW"] * 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda given, body: (given, body.replace(b"APPROVED", b"REJECTED")),
        lambda given, body: ({**given, "X-Prolific-Request-Timestamp": "1"}, body),
        lambda given, body: ({**given, "X-Prolific-Request-Timestamp": "yesterday"}, body),
        lambda given, body: ({**given, "X-Prolific-Request-Signature": "c2lnbmF0dXJl"}, body),
        lambda given, body: ({**given, "X-Prolific-Request-Signature": "ü\udc80"}, body),
        lambda given, body: ({}, body),
    ],
)
def test_b21_what_is_not_prolifics_is_refused_and_only_counted(receiver, inbox, clock, spoil) -> None:
    given, body = spoil(headers(clock), BODY)
    assert receiver.receive(given, body) == 401
    assert (receiver.refused, inbox.pending()) == (1, [])


@pytest.mark.parametrize(("age_s", "status"), [(86_400, 200), (86_402, 401), (-86_400, 200), (-86_402, 401)])
def test_b21_a_stamp_more_than_a_day_away_is_refused(receiver, clock, age_s, status) -> None:
    assert receiver.receive(headers(clock, age_s=age_s), BODY) == status


def test_b22_a_signature_over_the_body_written_again_is_accepted(receiver, clock) -> None:
    written_again = json.dumps(json.loads(BODY)).encode()
    assert written_again != BODY
    assert receiver.receive(headers(clock, body=written_again), BODY) == 200


def test_b23_during_a_rotation_both_secrets_are_right_and_later_one(inbox, clock) -> None:
    both = WebhookReceiver(["new", SECRET], inbox, clock=clock)
    assert [both.receive(headers(clock, secret=each, event=each), BODY) for each in ("new", SECRET)] == [200, 200]
    assert WebhookReceiver(["new"], inbox, clock=clock).receive(headers(clock), BODY) == 401


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"event_type": 1, "resource_id": "s1"}', b"\xff", b"[" * 100_000])
def test_a_signed_delivery_that_is_no_event_is_refused_as_such(receiver, inbox, clock, body) -> None:
    assert receiver.receive(headers(clock, body=body), body) == 400
    assert inbox.pending() == []


def test_an_event_whose_handling_fails_stays_pending(lab, inbox) -> None:
    study = lab.connect().recruit(lab.order()).hit_id
    inbox.add(WebhookEvent("e1", "study.status.change", study), at=lab.clock.now())

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        process_events(inbox, lab.connect().client, fail)
    assert len(inbox.pending()) == 1
    seen = []
    process_events(inbox, lab.connect().client, lambda _, held: seen.append(held.id))
    assert (seen, inbox.pending()) == ([study], [])


def test_what_is_stored_names_no_person(receiver, tmp_path, clock) -> None:
    receiver.receive(headers(clock), BODY)
    assert b"p1" not in (tmp_path / "inbox.db").read_bytes()


def test_secrets_and_files_that_cannot_be_used_are_refused(inbox, clock, tmp_path) -> None:
    with pytest.raises(InputError, match="secrets is empty"):
        WebhookReceiver([], inbox, clock=clock)
    with pytest.raises(StoreError, match="give a file that can be written"):
        SqliteInbox(tmp_path / "no" / "folder" / "inbox.db")


class Endpoint:
    """A receiver on a real port; answers 500 as often as it is told to."""

    def __init__(self, receiver: WebhookReceiver) -> None:
        self.failures = 0
        self.answers: list[int] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if outer.failures:
                    outer.failures -= 1
                    status = 500
                else:
                    status = receiver.receive(dict(self.headers), body)
                outer.answers.append(status)
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/hook"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def test_deliveries_come_through_signed_and_are_retried_until_they_arrive(lab, inbox) -> None:
    platform = lab.connect()
    hooks, workspace = platform.client.hooks, lab.world.workspace
    assert "submission.status.change" in hooks.event_types()
    endpoint = Endpoint(WebhookReceiver([hooks.new_secret(workspace)], inbox, clock=lab.clock))
    try:
        subscription = hooks.subscribe(workspace, "submission.status.change", endpoint.url)
        name = lab.submit(platform.recruit(lab.order()).hit_id, "ann")
        endpoint.failures = 3
        for _ in range(5):
            lab.standin.deliver()
            lab.clock.advance(600)
        # Two events, taken and handed in; three failures in between.
        assert sorted(endpoint.answers) == [200, 200, 500, 500, 500]
        assert {each["status"] for each in hooks.deliveries(subscription.id)} == {"SUCCEEDED"}
        assert [each.resource_id for each in inbox.pending()] == [name, name]
        assert [each.id for each in hooks.subscriptions(workspace)] == [subscription.id]
        hooks.unsubscribe(subscription.id)
        assert hooks.subscriptions(workspace) == []
    finally:
        endpoint.close()


def test_a_live_subscription_must_be_https(lab) -> None:
    client = lab.connect().client
    client.http.mode = "live"
    with pytest.raises(InputError, match="public https addresses only"):
        client.hooks.subscribe(lab.world.workspace, "study.status.change", "http://example.org/hook")
