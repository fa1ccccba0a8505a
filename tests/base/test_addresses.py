"""Wherever an address is shown, no password, key or token is in it."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from hmc_crowd_local import connect as open_workplace
from hmc_crowd_local._database import Database
from hmc_crowd_mturk._guard import check_endpoint
from hmc_crowd_prolific import connect
from hmc_crowd_prolific._settings import router_url

from hmc_crowd._base.addresses import shown_address, without_secrets
from hmc_crowd._base.reach import Outside, look_at_address
from hmc_crowd.board import HookSettings
from hmc_crowd.board._deliver import check_address
from hmc_crowd.errors import HmcCrowdError, InputError, PlatformError
from hmc_crowd.judges._ask import Request
from hmc_crowd.judges.endpoint import Endpoint
from hmc_crowd.store._engine import parse_url

HIDDEN = "hunter2"
ADDRESSES = [
    f"postgresql://ann:{HIDDEN}@db/work",
    f"postgresql://db/work?user=ann&password={HIDDEN}",
    f"postgresql://db/work?sslmode=require&sslpassword={HIDDEN}&connect_timeout=3",
    f"postgresql://db/work?PASSWORD={HIDDEN}",
    f"postgresql+psycopg://ann:pa/{HIDDEN}@db/work",
    f"postgresql://ann:a@{HIDDEN}@db/work",
    f"postgresql://ann:a?{HIDDEN}@db/work?sslmode=require",
    f"https://ann:a/b?{HIDDEN}@example.org/v1",
    f"https://ann:{HIDDEN}@example.org/v1",
    f"https://example.org/hook?token={HIDDEN}",
    f"https://example.org/hook?a=1&api_key={HIDDEN}#x",
    f"https://example.org/hook?key={HIDDEN}",
    f"https://example.org/hook?sig={HIDDEN};x-secret={HIDDEN}",
    f"https://example.org/hook?X-Amz-Signature={HIDDEN}&X-Amz-Security-Token={HIDDEN}",
    f"https://example.org/hook?client_secret={HIDDEN}&access_token={HIDDEN}&Authorization={HIDDEN}",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_secret_is_masked_wherever_it_stands(address: str) -> None:
    assert HIDDEN not in shown_address(address)
    assert "***" in shown_address(address)


@pytest.mark.parametrize("address", [each for each in ADDRESSES if not any(sign + HIDDEN in each for sign in "/@?")])
def test_a_secret_is_masked_inside_a_sentence(address: str) -> None:
    said = without_secrets(f"nothing answers at {address}; check 'user' and the network")
    assert HIDDEN not in said
    assert said.startswith("nothing answers at ")
    assert said.endswith("; check 'user' and the network")


@pytest.mark.parametrize(
    "address",
    [
        "sqlite:///work.db",
        "sqlite:////home/ann:b@c/work.db",
        "work.db",
        "postgresql://ann@db:5432/work?sslmode=require",
        "https://example.org:8443/v1/?page=2&monkey=1",
        "https://example.org:8443/v1?by=ann@example.org",
        "12/h",
        "a?b=c",
    ],
)
def test_what_holds_no_secret_stays_as_it_is(address: str) -> None:
    assert shown_address(address) == address


@pytest.mark.parametrize("address", [each for each in ADDRESSES if each.startswith("postgresql")][:4])
def test_databases_are_shown_without_it(address: str) -> None:
    assert HIDDEN not in parse_url(address).shown
    made = Database(sa.make_url(address.replace("postgresql://", "postgresql+psycopg://")))
    assert HIDDEN not in made.shown


UNESCAPED = [f"postgresql://ann:a@{HIDDEN}@db/work", f"postgresql://ann:{HIDDEN}:x@db:{HIDDEN}/w"]


@pytest.mark.parametrize("address", UNESCAPED)
def test_a_password_that_was_not_escaped_is_no_part_of_a_host(address: str) -> None:
    for call in (parse_url, open_workplace):
        said = refused(partial(call, address))
        assert HIDDEN not in said
        assert "%40" in said or "URL" in said


def test_a_database_that_does_not_answer_is_named_without_it() -> None:
    from hmc_crowd.store import open_store

    with pytest.raises(HmcCrowdError) as caught:
        open_store(f"postgresql://127.0.0.1:9/work?user=ann&password={HIDDEN}&connect_timeout=1")
    assert HIDDEN not in str(caught.value)


def refused(call: Any) -> str:
    with pytest.raises(HmcCrowdError) as caught:
        call()
    return str(caught.value)


def test_no_refusal_repeats_it() -> None:
    token = {"HMC_CROWD_PROLIFIC_TOKEN": "secret"}
    query = f"?password={HIDDEN}"
    said = [
        refused(lambda: check_address(f"http://example.org/{query}", HookSettings())),
        refused(lambda: check_address(f"https://ann:{HIDDEN}@example.org/", HookSettings())),
        refused(lambda: Endpoint(f"ftp://example.org/{query}", "m")),
        refused(lambda: Endpoint(f"https://ann:{HIDDEN}@example.org/v1", "m")),
        refused(lambda: check_endpoint(f"ftp://example.org/{query}")),
        refused(lambda: connect(f"http://example.org/{query}", environment=token)),
        refused(lambda: connect(f"https://example.org/{query}", mode="stub", environment=token)),
    ]
    assert all(HIDDEN not in each for each in said), said


def test_a_judges_endpoint_that_refuses_is_named_without_it() -> None:
    network = httpx.MockTransport(lambda _: httpx.Response(401, stream=httpx.ByteStream(b"{}")))
    client = Endpoint(f"https://example.org/v1?api_key={HIDDEN}", "m", transport=network, attempts=1)
    with pytest.raises(PlatformError) as caught:
        client.complete([Request((("user", "Which?"),), 5, 0.0, 0)], lambda *_: None)
    assert HIDDEN not in str(caught.value)


def test_an_account_and_a_client_show_none() -> None:
    environment = {"HMC_CROWD_PROLIFIC_TOKEN": "secret"}
    with connect(f"https://example.org/api/?key={HIDDEN}", environment=environment) as platform:
        assert HIDDEN not in repr(platform.client) + repr(platform.client.http)
    with pytest.raises(InputError) as caught:
        router_url(f"http://example.org/?token={HIDDEN}")
    assert HIDDEN not in str(caught.value)


def test_a_look_from_outside_names_none() -> None:
    found = look_at_address(f"http://example.org/?token={HIDDEN}", Outside({}), check="address", expect={200: "ours"})
    assert HIDDEN not in str(found)


@pytest.mark.parametrize("text", ["a." * 30_000, "?" + "auth" * 15_000, "-a" * 30_000])
def test_long_foreign_texts_are_read_in_a_moment(text: str) -> None:
    before = perf_counter()
    assert without_secrets(text) == text
    assert perf_counter() - before < 2.0
