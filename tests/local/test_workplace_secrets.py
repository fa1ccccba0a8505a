"""Secrets of a workplace: sealed under a key outside its database, which alone lets nobody in."""

from __future__ import annotations

import os
import secrets
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa
from hmc_crowd_local import connect
from hmc_crowd_local._tables_mturk import ACCOUNT, KEY, SECRET
from hmc_crowd_local.mturk_api import open_front_door

from hmc_crowd._base.keys import load_key, new_key, seal, unseal
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from pathlib import Path

    from hmc_crowd_local import LocalPlatform

    from hmc_crowd._base.clock import VirtualClock

VARIABLE = "HMC_CROWD_WORKPLACE_KEY"
PAGES, SCRIPT = secrets.token_hex(32), secrets.token_urlsafe(30)


def rows(platform: LocalPlatform, *columns: Any) -> list[Any]:
    with platform._database.read() as connection:
        return [tuple(row) for row in connection.execute(sa.select(*columns))]


def leave_open(platform: LocalPlatform) -> None:
    """Store secrets as versions before did: readable."""
    with platform._database.write() as connection:
        connection.execute(sa.insert(SECRET).values(name="pages", value=PAGES))
        now = platform._now()
        connection.execute(sa.insert(ACCOUNT).values(account_id="lab", balance_minor=0, created_at=now))
        row = {"access_key": "HMCOLD", "account_id": "lab", "secret": SCRIPT, "label": "", "created_at": now}
        connection.execute(sa.insert(KEY).values(row))


def test_what_the_database_holds_is_no_secret(database_url: str, clock: VirtualClock) -> None:
    with connect(database_url, clock=clock) as platform:
        made = [platform.secret(name).hex() for name in ("board", "pages")]
        key = platform.front_door().issue_key("lab").secret_access_key
        held = [value for (value,) in [*rows(platform, SECRET.c.value), *rows(platform, KEY.c.secret)]]
    assert not any(each in value for each in (*made, key) for value in held)
    with connect(database_url, clock=clock) as again:
        assert [again.secret(name).hex() for name in ("board", "pages")] == made


def test_the_key_is_a_file_for_its_owner_alone(database_url: str, clock: VirtualClock) -> None:
    before = os.umask(0)
    try:
        with connect(database_url, clock=clock) as platform:
            platform.secret("board")
            file = platform.vault().file
    finally:
        os.umask(before)
    assert file is not None
    assert oct(file.stat().st_mode & 0o777) == "0o600"
    assert platform._database.is_sqlite == (file.name == "store.db.key")


def test_secrets_of_an_older_version_are_sealed_and_stay_what_they_were(database_url: str, clock: VirtualClock) -> None:
    with connect(database_url, clock=clock) as platform:
        leave_open(platform)
        invite = platform.invites().issue("ann").token
    with connect(database_url, clock=clock) as platform:
        assert platform.secret("pages").hex() == PAGES
        assert platform.invites().open(invite).worker == "ann"
        assert platform.front_door().holder_of("HMCOLD") == ("lab", SCRIPT)
        held = [value for (value,) in [*rows(platform, SECRET.c.value), *rows(platform, KEY.c.secret)]]
    assert not any(each in value for each in (PAGES, SCRIPT) for value in held)


def test_the_front_door_seals_them_too(database_url: str, clock: VirtualClock) -> None:
    with connect(database_url, clock=clock) as platform:
        leave_open(platform)
    door = open_front_door(database_url, clock=clock)
    assert door.holder_of("HMCOLD") == ("lab", SCRIPT)
    door.close()
    with connect(database_url, clock=clock) as platform:
        assert SCRIPT not in str(rows(platform, KEY.c.secret))


def test_the_readable_values_leave_the_file(tmp_path: Path, clock: VirtualClock) -> None:
    with connect(str(tmp_path / "w.db"), clock=clock) as platform:
        leave_open(platform)
    with connect(str(tmp_path / "w.db"), clock=clock):
        # By another process: to open it in this one would drop SQLite's locks.
        files = [str(each) for each in tmp_path.glob("w.db*")]
        on_disk = subprocess.run(["cat", *files], check=True, capture_output=True).stdout
    assert (PAGES.encode() in on_disk, SCRIPT.encode() in on_disk) == (False, False)


def test_the_readable_values_leave_postgresqls_pages(postgres_url: str, clock: VirtualClock) -> None:
    with connect(postgres_url, clock=clock) as platform:
        leave_open(platform)
    with connect(postgres_url, clock=clock) as platform, platform._database.engine.connect() as connection:
        # A table of two rows that was written anew has no row version before them.
        for table in (SECRET, KEY):
            first = sa.text(f"SELECT min(ctid)::text FROM {table.name}")
            assert connection.execute(first).scalar() == "(0,1)"


def test_a_key_from_the_environment_makes_no_file(
    database_url: str, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "a key of sixteen characters or more")
    with connect(database_url, clock=clock) as platform:
        made = platform.secret("board")
        assert platform.vault().file is None
        monkeypatch.setenv(VARIABLE, "another key of sixteen characters")
        with pytest.raises(StateError, match=f"{VARIABLE} is not the key of workplace .*hmc-crowd keys renew"):
            platform.secret("board")
        monkeypatch.setenv(VARIABLE, "a key of sixteen characters or more")
        assert platform.secret("board") == made
    monkeypatch.setenv(VARIABLE, "short")
    with connect(database_url, clock=clock) as platform, pytest.raises(InputError, match="has 5 characters"):
        platform.secret("board")


def test_without_its_key_a_workplace_opens_nothing_and_says_what_to_do(database_url: str, clock: VirtualClock) -> None:
    with connect(database_url, clock=clock) as platform:
        platform.secret("board")
        file = platform.vault().file
        assert file is not None
        kept = file.read_bytes()
        file.unlink()
    with connect(database_url, clock=clock) as platform:
        for name in ("board", "a new one"):
            with pytest.raises(StateError, match=r"\.key is missing, the key of workplace .*put its copy back"):
                platform.secret(name)
        assert not file.exists()
        file.write_bytes(kept)
        assert platform.secret("board")


def test_a_renewed_key_makes_links_and_keys_void_and_keeps_conditions(database_url: str, clock: VirtualClock) -> None:
    with connect(database_url, clock=clock) as platform:
        invite = platform.invites().issue("ann").token
        arms, board = platform.secret("arms"), platform.secret("board")
        script = platform.front_door().issue_key("lab").access_key_id
        assert platform.vault().counts() == (3, 1)
        done = platform.vault().renew(at=clock.now())
        assert (done.secrets, done.keys) == (3, 1)
        with pytest.raises(InputError, match="not one of ours"):
            platform.invites().open(invite)
        assert platform.front_door().holder_of(script) is None
        assert (platform.secret("arms"), platform.secret("board") == board) == (arms, False)


def test_a_lost_key_can_be_replaced(database_url: str, clock: VirtualClock) -> None:
    with connect(database_url, clock=clock) as platform:
        before = {name: platform.secret(name) for name in ("board", "arms")}
        file = platform.vault().file
        assert file is not None
        file.unlink()
        platform.vault().renew(at=clock.now())
        after = {name: platform.secret(name) for name in before}
    assert not set(before.values()) & set(after.values())


def test_who_is_stopped_while_the_key_is_renewed_loses_no_conditions(
    database_url: str, clock: VirtualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect(database_url, clock=clock) as platform:
        arms, board = platform.secret("arms"), platform.secret("board")

        def stopped(*_: object, **__: object) -> bytes:
            new_key(*_, **__)  # type: ignore[arg-type]
            raise KeyboardInterrupt

        monkeypatch.setattr("hmc_crowd_local._vault.new_key", stopped)
        with pytest.raises(KeyboardInterrupt):
            platform.vault().renew(at=clock.now())
        monkeypatch.undo()
    with connect(database_url, clock=clock) as platform:
        assert (platform.secret("arms"), platform.secret("board") == board) == (arms, False)
        platform.vault().renew(at=clock.now())
        assert platform.secret("arms") == arms


@pytest.mark.parametrize("content", [b"", b"half a key"])
def test_a_file_that_is_too_short_to_be_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "w.db.key").write_bytes(content)
    with pytest.raises(InputError, match=f"holds {len(content)} bytes, too few for a key; put its copy back"):
        load_key(VARIABLE, tmp_path / "w.db.key")


def test_a_sealed_value_fits_its_place_alone() -> None:
    held = seal(b"key", "secret/pages", "abc")
    for key, place, text in (
        (b"other", "secret/pages", held),
        (b"key", "secret/board", held),
        (b"key", "secret/pages", held[:-4] + "AAAA"),
        (b"key", "secret/pages", held[:-8]),
        (b"key", "secret/pages", "sealed:"),
        (b"key", "secret/pages", "sealed:ä"),
        (b"key", "secret/pages", "abc"),
    ):
        with pytest.raises(StateError, match="sealed under another key"):
            unseal(key, place, text)


def test_a_key_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=f"cannot be .*set {VARIABLE}"):
        load_key(VARIABLE, tmp_path / "file" / "w.db.key")
