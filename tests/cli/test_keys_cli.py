"""Keys on the command line: sign-ins listed and ended, the workplace's key renewed, wide files named with the cure."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

DB = "hmc-crowd.db"


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def signed_in(*roles: str) -> list[str]:
    """Issue keys, and let a browser sign in with each; return the sign-ins."""
    with open_store(DB, create=True) as store, store.begin() as tx:
        return [tx.sign_ins.start(tx.keys.issue(role)[0], lasts_s=3600)[0].id for role in roles]


def test_sign_ins_are_listed_and_ended(hmc: Any, tmp_path: Path) -> None:
    one, two, three = signed_in("owner", "auditor", "expert")
    listed = hmc("keys", "sign-ins", "--json").json
    assert [(each["id"], each["role"]) for each in listed] == [(one, "owner"), (two, "auditor"), (three, "expert")]
    assert hmc("keys", "sign-out", one, "--json").json == {"ended": 1}
    assert hmc("keys", "sign-out", "--key", listed[1]["key"]).code == 0
    assert [each["id"] for each in hmc("keys", "sign-ins", "--json").json] == [three]
    assert "ended: 1" in hmc("keys", "sign-out", "--all").out
    assert hmc("keys", "sign-ins", "--json").json == []
    assert hmc("keys", "sign-ins").out == "nobody is signed in\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name one sign-in"),
        (("x", "--all"), "name one sign-in"),
        (("x",), "sign-in 'x' is unknown, or over"),
        (("--key", "x"), "--key is 'x', which is unknown"),
    ],
)
def test_what_cannot_be_ended_is_said(hmc: Any, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    signed_in("owner")
    told = hmc("keys", "sign-out", *words)
    assert (told.code, said in told.err) == (2, True)


def test_a_new_key_is_a_dry_run_until_it_is_meant(hmc: Any, tmp_path: Path) -> None:
    signed_in("owner")
    link = hmc("invites", "issue", "ann", "--json").json
    assert hmc("keys", "issue", "--json").code == 0
    told = hmc("keys", "renew", "--json").json
    assert (told["secrets"], told["keys"], told["done"]) == (2, 1, False)
    assert hmc("invites", "list", "--json").json[0] == link | hmc("invites", "list", "--json").json[0]
    before = Path("workplace.db.key").read_bytes()
    done = hmc("keys", "renew", "--yes", "--json").json
    assert (done["done"], done["sign_ins"], Path(done["file"]).read_bytes() == before) == (True, 1, False)
    assert hmc("keys", "list", "--json").json[0]["revoked_at"] is not None
    assert hmc("keys", "sign-ins", "--json").json == []


def test_a_lost_key_is_told_with_the_way_out(hmc: Any, tmp_path: Path) -> None:
    hmc("invites", "issue", "ann")
    Path("workplace.db.key").unlink()
    told = hmc("invites", "list")
    assert (told.code, "hmc-crowd keys renew" in told.err, "Traceback" in told.err) == (2, True, False)
    assert hmc("keys", "renew", "--yes").code == 0
    assert hmc("invites", "list").code == 0


@pytest.mark.usefixtures("usual_umask")
def test_what_the_commands_write_is_the_owners_alone(hmc: Any, tmp_path: Path) -> None:
    signed_in("owner")
    hmc("invites", "issue", "ann")
    hmc("keys", "issue")
    hmc("batch-results", "--out", "batch.csv")
    hmc("backup", "--to", "kept.zip")
    found = {each.name: oct(each.stat().st_mode & 0o777) for each in Path().iterdir() if each.is_file()}
    assert {"hmc-crowd.db", "workplace.db", "workplace.db.key", "batch.csv", "kept.zip"} <= set(found)
    assert {name: mode for name, mode in found.items() if mode != "0o600"} == {}


def test_the_doctor_names_what_others_may_read(hmc: Any, tmp_path: Path) -> None:
    signed_in("owner")
    hmc("invites", "issue", "ann")
    for each in ("hmc-crowd.db", "workplace.db"):
        Path(each).chmod(0o644)
    told = hmc("doctor", "--json")
    rights = next(each for each in told.json if each["check"] == "private files")
    assert (told.code, rights["state"]) == (0, "warn")
    assert "chmod 600 hmc-crowd.db workplace.db" in rights["found"]
    assert "hmc-crowd keys renew" in rights["found"]
    # Looking changes nothing.
    assert oct(Path("workplace.db").stat().st_mode & 0o777) == "0o644"
    for each in ("hmc-crowd.db", "workplace.db"):
        Path(each).chmod(0o600)
    assert next(each for each in hmc("doctor", "--json").json if each["check"] == "private files")["state"] == "ok"


def test_a_backup_names_the_keys_that_are_not_in_it(hmc: Any, tmp_path: Path) -> None:
    signed_in("owner")
    hmc("invites", "issue", "ann")
    told = hmc("backup", "--to", "kept.zip")
    assert "workplace.db.key" in told.out + told.err
    Path("elsewhere").mkdir()
    words = ("--db", "elsewhere/c.db", "--workplace", "elsewhere/w.db")
    told = hmc("restore", "--from", "kept.zip", *words)
    assert "put its copy back as elsewhere/w.db.key" in told.out + told.err
    assert hmc("invites", "list", *words[2:]).code == 2
    Path("elsewhere/w.db.key").write_bytes(Path("workplace.db.key").read_bytes())
    assert hmc("invites", "list", *words[2:]).code == 0


def test_who_signed_out_stays_out_after_a_restore(hmc: Any, tmp_path: Path) -> None:
    with open_store(DB, create=True) as store, store.begin() as tx:
        _, token = tx.sign_ins.start(tx.keys.issue("owner")[0], lasts_s=3600)
    hmc("backup", "--to", "kept.zip")
    hmc("keys", "sign-out", "--all")
    assert hmc("restore", "--from", "kept.zip", "--yes").code == 0
    with open_store(DB) as store, store.read() as tx:
        assert tx.sign_ins.find(token) is None
