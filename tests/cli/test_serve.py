"""`hmc-crowd serve`: what it serves, how it starts and ends; keys and layouts for scripts that use the MTurk API."""

from __future__ import annotations

import json
import resource
import signal
import socket
import stat
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import boto3
import httpx
import pytest
from botocore.exceptions import ClientError

from hmc_crowd.cli._serving import bind, is_loopback, public_address
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

START = [sys.executable, "-c", "from hmc_crowd.cli import main; main()", "serve", "--port", "0"]


class Serving:
    """A server of its own process, and what it said when it started."""

    def __init__(self, folder: Path, *options: str, files: int | None = None) -> None:
        few = [] if files is None else ["sh", "-c", f'ulimit -n {files} && exec "$@"', "sh"]
        self.process = subprocess.Popen(
            [*few, *START, *options, "--json"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.said: dict[str, Any] = json.loads(line or "{}")
        if "serving" not in self.said:
            pytest.fail(self.process.communicate()[1])
        self.url: str = next(each["url"] for each in self.said["serving"] if each["what"].startswith("MTurk API"))

    def stop(self, how: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(how)
        _, err = self.process.communicate(timeout=30)
        return self.process.returncode, err


@pytest.fixture
def start(tmp_path):
    running: list[Serving] = []

    def go(*options: str, **more: int) -> Serving:
        running.append(Serving(tmp_path, *options, **more))
        return running[-1]

    yield go
    for each in running:
        if each.process.poll() is None:
            each.process.kill()
            each.process.communicate()


def boto(url: str, key: dict[str, str]) -> Any:
    return boto3.client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id=key["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=key["AWS_SECRET_ACCESS_KEY"],
    )


def test_a_server_answers_scripts_and_workers_and_ends_with_0_on_sigterm(start, hmc) -> None:
    server = start()
    key = hmc("keys", "issue", "--json").json
    assert boto(server.url, key).get_account_balance()["AvailableBalance"] == "10000.00"
    assert httpx.get(f"{server.url}mturk/hits?workerId=A1").status_code == 403
    assert server.said["workplace"] == "sqlite:///workplace.db"
    assert server.said["pid"] == server.process.pid
    # Links that other commands print lead to this server, whatever port it took.
    link = hmc("invites", "issue", "ann", "--json").json["link"]
    assert httpx.get(link).status_code == 200
    assert server.stop(signal.SIGTERM) == (0, "")


def test_ctrl_c_ends_it_with_130_and_one_sentence(start) -> None:
    code, err = start().stop(signal.SIGINT)
    assert (code, err.count("\n")) == (130, 1)
    assert err.startswith("hmc-crowd: interrupted")


@pytest.mark.parametrize("half", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Half: "], ids=["silent", "half a head"])
def test_1500_half_open_connections_keep_nobody_out(start, hmc, half: bytes) -> None:
    server = start(files=1_024)  # what systems give a process that asks for no more
    key = hmc("keys", "issue", "--json").json
    address = ("127.0.0.1", httpx.URL(server.url).port or 0)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2_500)), hard))
    with ExitStack() as stack:
        for number in range(1_500):
            line = stack.enter_context(socket.create_connection(address, timeout=30))
            if half:
                line.sendall(half)
            if number % 500 == 499:
                assert httpx.get(f"{server.url}healthz", timeout=30).status_code == 200
                assert boto(server.url, key).get_account_balance()["AvailableBalance"] == "10000.00"
    assert server.stop(signal.SIGTERM) == (0, "")


def test_the_log_of_many_broken_requests_is_short_and_holds_no_control_characters(start) -> None:
    server = start()
    address = ("127.0.0.1", httpx.URL(server.url).port or 0)
    for _ in range(200):
        with socket.create_connection(address, timeout=30) as line:
            line.sendall(b"\x1b[2J\x00 nonsense\r\n\r\n")
            assert line.recv(100).startswith(b"HTTP/1.1 400 ")
    code, err = server.stop(signal.SIGTERM)
    assert code == 0
    assert err.count("\n") <= 6
    assert "195 more like the last of" in err
    assert all(each.isprintable() for each in err.splitlines())


def test_prolific_is_served_only_with_its_token(start, monkeypatch) -> None:
    assert not any("Prolific" in each["what"] for each in start().said["serving"])
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_TOKEN", "secret-token")
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_WEBHOOK_SECRET", "secret-hook")
    server = start()
    shown = {each["what"]: each["url"] for each in server.said["serving"]}
    assert shown["Prolific's participants (study URL)"].endswith("/prolific/arrive")
    assert httpx.get(shown["Prolific's participants (study URL)"]).status_code == 403
    assert httpx.post(shown["Prolific's webhooks"]).status_code == 401
    code, err = server.stop(signal.SIGTERM)
    assert "secret" not in f"{code}{err}{server.said}"


def test_a_port_that_is_taken_is_said_before_anything_is_made(hmc, tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = hmc("serve", "--port", str(port))
    assert done.code == 2
    assert f"port {port} of 127.0.0.1 cannot be served" in done.err
    assert not (tmp_path / "workplace.db").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--host", "0.0.0.0"), "which others can reach; add --public-url https://"),
        (("--host", "0.0.0.0", "--public-url", "http://work.example.org"), "give the https address"),
        (("--host", "0.0.0.0", "--public-url", "http://127.0.0.1:8000"), "give the https address"),
        (("--public-url", "work.example.org"), "give the https address"),
        (("--public-url", "https://work.example.org/a"), "without a path"),
        (("--public-url", "https://ann:secret@work.example.org"), "give the https address"),
        (("--port", "70000"), "70000"),
        (("--study", "none.toml"), "none.toml"),
        (("--workplace", ":memory:"), "which every connection sees for itself"),
    ],
)
def test_what_cannot_be_served_is_refused_in_a_sentence(hmc, arguments, said) -> None:
    done = hmc("serve", *(() if "--port" in arguments else ("--port", "0")), *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err


@pytest.mark.parametrize(
    ("host", "public", "expected"),
    [
        ("127.0.0.1", None, "http://127.0.0.1:80"),
        ("::1", None, "http://[::1]:80"),
        ("0.0.0.0", "https://w.org/", "https://w.org"),
        ("127.0.0.1", "https://w.org:8443", "https://w.org:8443"),
        ("127.0.0.1", "http://localhost:9", "http://localhost:9"),
    ],
)
def test_the_address_that_people_use(host, public, expected) -> None:
    assert public_address(host, 80, public) == expected


def test_answers_do_not_wait_for_an_acknowledgement_of_their_headers() -> None:
    with bind("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_address_in_the_local_network_is_no_loopback() -> None:
    assert [is_loopback(each) for each in ("127.0.0.9", "localhost", "192.168.1.5", "work.example.org")] == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(InputError):
        public_address("192.168.1.5", 80, None)


def test_a_key_is_issued_listed_without_its_secret_and_revoked(hmc, tmp_path) -> None:
    key = hmc("keys", "issue", "--label", "laptop", "--json").json
    listed = hmc("keys", "list", "--json")
    assert [(row["access_key_id"], row["label"], row["account"], row["revoked_at"]) for row in listed.json] == [
        (key["AWS_ACCESS_KEY_ID"], "laptop", "main", None)
    ]
    assert key["AWS_SECRET_ACCESS_KEY"] not in listed.out
    assert stat.S_IMODE((tmp_path / "workplace.db").stat().st_mode) == 0o600
    assert hmc("keys", "revoke", key["AWS_ACCESS_KEY_ID"]).code == 0
    assert hmc("keys", "list", "--json").json[0]["revoked_at"] is not None
    again = hmc("keys", "revoke", key["AWS_ACCESS_KEY_ID"])
    assert (again.code, "no key in use" in again.err) == (2, True)


def test_a_revoked_key_is_refused_by_a_running_server(start, hmc) -> None:
    server = start()
    key = hmc("keys", "issue", "--json").json
    client = boto(server.url, key)
    client.get_account_balance()
    hmc("keys", "revoke", key["AWS_ACCESS_KEY_ID"])
    with pytest.raises(ClientError, match="UnrecognizedClientException"):
        client.get_account_balance()


def test_the_secret_is_printed_as_a_shell_reads_it(hmc) -> None:
    lines = hmc("keys", "issue").out.splitlines()
    assert [line.partition("=")[0] for line in lines[:2]] == ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]


def test_a_layout_is_added_listed_and_used_by_a_script(start, hmc, tmp_path) -> None:
    (tmp_path / "judge.html").write_text("<form method=post>${text}<input name='answer'></form>", encoding="utf-8")
    layout = hmc("layouts", "add", "judge.html", "--json").json["layout_id"]
    listed = hmc("layouts", "list", "--json").json
    assert [(row["layout_id"], row["name"], row["n_bytes"]) for row in listed] == [(layout, "judge", 53)]
    client = boto(start().url, hmc("keys", "issue", "--json").json)
    hit = client.create_hit(
        Title="Judge",
        Description="Read and judge.",
        Reward="0.05",
        AssignmentDurationInSeconds=600,
        LifetimeInSeconds=3600,
        HITLayoutId=layout,
        HITLayoutParameters=[{"Name": "text", "Value": "Hello"}],
    )["HIT"]
    assert hit["HITLayoutId"] == layout


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.html", None, "cannot be read"),
        ("a.html", b"\xff\xfe", "no UTF-8"),
        ("a.html", b" ", "html is empty"),
        ("a.html", b"<p>${x}</p>", 'put <form method="post" action='),
        ("a.html", b"<p>${x}</p>\n<form action='/x'>", "line 2 is \"<form action='/x'>\""),
    ],
)
def test_a_file_that_is_no_layout_is_refused(hmc, tmp_path, name, content, said) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = hmc("layouts", "add", name)
    assert (done.code, said in done.err) == (2, True)
    assert hmc("layouts", "list", "--json").json == []


def test_a_worker_s_link_is_taken_back_and_made_anew(hmc) -> None:
    first = hmc("keys", "worker", "A1ANN", "--json").json["link"]
    assert hmc("keys", "worker", "A1ANN", "--json").json["link"] == first
    second = hmc("keys", "worker", "A1ANN", "--new", "--json").json["link"]
    assert second != first
    assert hmc("keys", "worker", "A1ANN", "--revoke", "--json").json == {"revoked": "A1ANN"}
    refused = hmc("keys", "worker", "A1ANN")
    assert (refused.code, "was taken back" in refused.err) == (2, True)
    (row,) = hmc("keys", "links", "--json").json
    assert (row["worker"], row["revoked_at"] is not None) == ("A1ANN", True)
    assert hmc("keys", "worker", "A1ANN", "--new", "--json").json["link"] not in {first, second}
    assert hmc("keys", "worker", "A1ANN", "--new", "--revoke").code == 2
