"""A proxy signs people in where its address was named; from anybody else its header is refused."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from board_house import NAME, forms, open_board, send
from starlette.testclient import TestClient

from hmc_crowd._base.serving import keep_peer
from hmc_crowd.board import TrustedProxy
from hmc_crowd.board._proxy import proxy_from
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from board_house import Board

HOME = f"/board/c/{quote(NAME)}"
ROLES = {"ann": "owner", "group:staff": "auditor", "rob": "reviewer"}


@pytest.fixture
def board(played: Path, tmp_path: Path) -> Iterator[Board]:
    folder = shutil.copytree(played, tmp_path / "board")
    proxy = TrustedProxy(("10.0.0.2", "fd00::/8"), ROLES)
    with open_board(folder, proxy=proxy) as opened:
        yield opened


def browser(board: Board, peer: str = "10.0.0.2", **headers: str) -> TestClient:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return TestClient(board.app, client=(peer, 5000), headers=given, follow_redirects=False)


def test_who_the_proxy_signed_in_sees_the_board(board: Board) -> None:
    page = browser(board, X_Forwarded_User="ann").get(HOME)
    assert (page.status_code, "owner, ann" in page.text, "Sign out" in page.text) == (200, True, False)


def test_groups_have_roles_too(board: Board) -> None:
    found = browser(board, X_Forwarded_User="bob", X_Forwarded_Groups="guests, staff")
    assert "auditor, bob" in found.get(HOME).text
    assert found.get(f"{HOME}/webhooks").status_code == 403


def test_who_has_no_role_is_told_so(board: Board) -> None:
    reply = browser(board, X_Forwarded_User="eve").get(HOME)
    assert (reply.status_code, "signed in as eve, who has no role" in reply.text) == (403, True)


@pytest.mark.parametrize("peer", ["10.0.0.3", "127.0.0.1", "testclient", "::1"])
def test_the_header_from_elsewhere_is_refused(board: Board, peer: str) -> None:
    for headers in ({"X_Forwarded_User": "ann"}, {"X_Forwarded_Groups": "staff"}):
        for path in (HOME, f"{HOME}/live", "/board/"):
            assert browser(board, peer, **headers).get(path).status_code == 403


@pytest.mark.parametrize("name", ["", " ", "x" * 300])
def test_a_name_that_is_none_is_refused(board: Board, name: str) -> None:
    assert browser(board, X_Forwarded_User=name).get(HOME).status_code == 403


def test_two_names_at_once_are_refused(board: Board) -> None:
    twice = [("X-Forwarded-User", "ann"), ("X-Forwarded-User", "x")]
    assert browser(board).get(HOME, headers=twice).status_code == 403


def test_without_the_header_keys_still_open_the_board(board: Board) -> None:
    client = browser(board, "203.0.113.5")
    assert client.get(HOME).status_code == 303
    assert client.post("/board/sign-in", data={"key": board.key("owner")}).status_code == 303
    assert client.get(HOME).status_code == 200


def test_forms_carry_a_mark_of_the_person(board: Board) -> None:
    ann, rob = (browser(board, X_Forwarded_User=name) for name in ("ann", "rob"))
    platform, name = board.waiting()
    where = f"{HOME}/submission?platform={platform}&id={name}"
    assert "1 approved" in send(rob, rob.get(where).text, "approve", do="go", budget="500.00").text
    assert "rob (signed in by the proxy)" in ann.get(where).text
    foreign = rob.get(where).text
    assert send(ann, foreign, "sign-out").status_code == 403


def test_marks_of_forms_are_bound_to_the_browser_and_to_time(board: Board) -> None:
    ann = browser(board, X_Forwarded_User="ann")
    platform, name = board.waiting()
    page = ann.get(f"{HOME}/submission?platform={platform}&id={name}").text
    elsewhere = browser(board, X_Forwarded_User="ann")
    assert send(elsewhere, page, "approve", do="go", budget="500.00").status_code == 403
    elsewhere.get(HOME)
    assert send(elsewhere, page, "approve", do="go", budget="500.00").status_code == 403
    board.clock.advance(13 * 3600)
    assert send(ann, page, "approve", do="go", budget="500.00").status_code == 403
    page = ann.get(f"{HOME}/submission?platform={platform}&id={name}").text
    assert "1 approved" in send(ann, page, "approve", do="go", budget="500.00").text


def test_a_form_of_another_site_is_refused_whoever_the_proxy_signed_in(board: Board) -> None:
    ann = browser(board, X_Forwarded_User="ann")
    platform, name = board.waiting()
    hidden = forms(ann.get(f"{HOME}/submission?platform={platform}&id={name}").text)["approve"]
    where = hidden.pop("")
    data = hidden | {"do": "go", "budget": "500.00"}
    assert ann.post(where, data=data, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"X_Forwarded_User": "group:staff"},
        {"X_Forwarded_User": "*"},
        {"X_Forwarded_User": "eve", "X_Forwarded_Groups": "Staff"},
        {"X_Forwarded_User": "eve", "X_Forwarded_Groups": "staff2, xstaff, staff/x, group:staff"},
        {"X_Forwarded_User": "eve", "X_Forwarded_Groups": '"guests,staff,others"'},
        {"X_Forwarded_User": "eve", "X_Forwarded_Groups": "cn=staff,ou=people"},
        {"X_Forwarded_User": "eve", "X_Forwarded_Groups": "staff;guests"},
        {"X_Forwarded_User": "eve", "X_Forwarded_Groups": '"guests,staff'},
        {"X_Forwarded_User": "eve", "X_Forwarded_Group": "staff"},
        {"X_Forwarded_User": "eve", "Groups": "staff"},
        {"X_Forwarded_User": "Ann"},
        {"X_Forwarded_User": "ann,rob"},
    ],
)
def test_what_only_looks_like_a_group_or_a_person_has_no_role(board: Board, headers: dict[str, str]) -> None:
    assert browser(board, **headers).get(HOME).status_code == 403


@pytest.mark.parametrize("blank", [b"\xa0", b"\xc2\xa0", b"\xe2\x80\x83", b"\x85"])
def test_other_blanks_are_part_of_a_name(board: Board, blank: bytes) -> None:
    for headers in (
        [(b"X-Forwarded-User", b"eve"), (b"X-Forwarded-Groups", blank + b"staff" + blank)],
        [(b"X-Forwarded-User", b"ann" + blank)],
    ):
        assert browser(board).get(HOME, headers=headers).status_code == 403


def test_two_headers_of_groups_are_refused(board: Board) -> None:
    twice = [("X-Forwarded-User", "eve"), ("X-Forwarded-Groups", "guests"), ("X-Forwarded-Groups", "staff")]
    assert browser(board).get(HOME, headers=twice).status_code == 403


def test_a_name_in_other_letters_is_read_as_the_proxy_wrote_it(board: Board) -> None:
    proxy = TrustedProxy(("10.0.0.2",), {"zoë": "auditor"})
    object.__setattr__(board.house.settings, "proxy", proxy)
    page = browser(board).get(HOME, headers=[(b"X-Forwarded-User", "zoë".encode())])
    assert (page.status_code, "auditor, zoë" in page.text) == (200, True)


def test_the_machine_door_takes_keys_alone(board: Board) -> None:
    assert browser(board, X_Forwarded_User="ann").get("/api/queue").status_code == 401


def test_forwarded_addresses_do_not_make_a_proxy(board: Board) -> None:
    # uvicorn writes the forwarded address over the real one; who connected is kept before that.
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    app: Any = keep_peer(ProxyHeadersMiddleware(board.app, "203.0.113.5"))
    headers = {"X-Forwarded-User": "ann", "X-Forwarded-For": "10.0.0.2"}
    assert TestClient(app, client=("203.0.113.5", 1), headers=headers).get(HOME).status_code == 403
    assert TestClient(app, client=("10.0.0.2", 1), headers=headers).get(HOME).status_code == 200


def test_settings_come_from_the_environment() -> None:
    given = {
        "HMC_CROWD_BOARD_PROXIES": "10.0.0.2, fd00::/8",
        "HMC_CROWD_BOARD_ROLES": "ann@example.org=owner, group:staff=auditor",
        "HMC_CROWD_BOARD_USER_HEADER": "X-Auth-Request-Email",
    }
    assert proxy_from(given) == TrustedProxy(
        ("10.0.0.2", "fd00::/8"), {"ann@example.org": "owner", "group:staff": "auditor"}, "X-Auth-Request-Email"
    )
    assert proxy_from({}) is None


@pytest.mark.parametrize(
    "given",
    [
        {"ROLES": "ann=owner"},
        {"PROXIES": "10.0.0.2"},
        {"PROXIES": "proxy.lan", "ROLES": "ann=owner"},
        {"PROXIES": "10.0.0.2", "ROLES": "ann"},
        {"PROXIES": "10.0.0.2", "ROLES": "ann=boss"},
    ],
)
def test_half_a_setting_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(InputError):
        proxy_from({f"HMC_CROWD_BOARD_{name}": value for name, value in given.items()})
