"""One command erases a person in the campaigns' database and in the workplace, and looks at the bytes afterwards."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa
from hmc_crowd_local import PageEvent
from hmc_crowd_local import _tables_pages as pages
from hmc_crowd_local._tables import SUBMISSION, WORK_SPAN
from hmc_crowd_local.pages import People, Study

from hmc_crowd._base.erasing import files_holding
from hmc_crowd.platform import find_platform

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.campaign import Campaign

RAW = "annabel-archer-77"
SPEND = {"redundancy": 2, "pay_per_hour_minor": 1200, "budget_minor": 20_000, "dry_run": False}


def live(place: Any, campaign: Campaign, clock: VirtualClock, *, worker: str = RAW) -> str:
    """Leave traces of a worker in every table of the workplace that people come near; return the submission."""
    hit = place.hit(next(iter(place.find_all().values())).hit_id)
    remote = place.find(hit.key)
    name = str(place.accept(remote.hit_id, worker).submission_id)
    place.open_page(name, worker)
    for each in hit.items:
        clock.advance(20)
        place.record_events(name, worker, [PageEvent("input", clock.now(), each.item, "p")])
        place.save_answer(name, worker, item=each.item, aspect=each.aspect, label=each.labels[0])
    place.submit(name, worker)
    place.reject(name, f"{worker} gave the same answer everywhere, also where the texts differ a lot.")
    place.invites().issue(worker, attributes={"region": "south"})
    now, study = clock.now(), Study()
    people = People(place._database)
    people.set_opt_outs(worker, ["violence"], at=now)
    people.expose(worker, "i0001", at=now)
    people.withdraw(worker, study, wants_erasure=True, language="en", at=now)
    with place._database.write() as connection:
        rows = {
            pages.MESSAGE: {"message_id": "m1", "submission_id": name, "item": "i", "author": "worker", "at": now},
            pages.FEEDBACK: {"submission_id": name, "clear": 5, "fair": 5, "text": f"I am {worker}", "at": now},
            pages.STEP: {"worker": worker, "study": "s", "kind": "survey", "version": "1", "tries": 1, "at": now},
            pages.STANDING: {"worker": worker, "scope": "s", "right": 1, "n": 2, "at": now},
            pages.SEAT: {"worker": worker, "scope": "s"},
        }
        rows[pages.MESSAGE]["text"] = f"Yours, {worker}"
        rows[pages.STEP]["detail"] = f'["{worker}"]'
        for table, row in rows.items():
            connection.execute(sa.insert(table), [row])
    campaign.collect(place)
    return name


def letters(folder: Path, word: str) -> list[str]:
    return sorted(Path(each).name for each in files_holding([word], folder.rglob("*")))


@pytest.fixture
def scene(small: Any, workplace: Any, clock: VirtualClock) -> tuple[Campaign, Any, str]:
    campaign = small()
    campaign.publish(workplace, **SPEND)
    return campaign, workplace, live(workplace, campaign, clock)


def test_the_raw_id_is_in_no_byte_of_both_databases(scene: Any, tmp_path: Path) -> None:
    campaign, place, name = scene
    assert letters(tmp_path, RAW)
    dry = campaign.forget(RAW, dry_run=True, workplaces=[place])
    assert (dry.dry_run, dry.people, bool(dry.workplaces[0].total)) == (True, 1, True)
    before = letters(tmp_path, RAW)
    done = campaign.forget(RAW, workplaces=[place])
    assert before
    assert letters(tmp_path, RAW) == []
    assert done.still_in == done.workplaces[0].still_in == ()
    assert done.workplaces[0].rows == dry.workplaces[0].rows
    # The work stays, under a name of no one.
    with place._database.read() as connection:
        worker = connection.execute(sa.select(SUBMISSION.c.worker)).scalar_one()
        spans = set(connection.execute(sa.select(WORK_SPAN.c.worker)).scalars())
    assert worker.startswith("gone-")
    assert spans == {worker}
    assert len(place.saved_answers([name])[name]) > 0
    again = campaign.forget(RAW, workplaces=[place])
    assert str(again) == "nothing is stored of this worker"


def test_a_pseudonym_is_enough_and_the_workplace_is_erased_too(scene: Any, tmp_path: Path) -> None:
    campaign, place, _ = scene
    with campaign._context.store.read() as tx:
        pseudonym = tx.workers.known("local")[RAW]
    campaign.forget(pseudonym, workplaces=[place])
    assert letters(tmp_path, RAW) == letters(tmp_path, pseudonym) == []


def test_who_never_came_into_a_campaign_is_erased_at_the_workplace(small: Any, workplace: Any, tmp_path: Path) -> None:
    campaign = small()
    workplace.invites().issue(RAW)
    done = campaign.forget(RAW, workplaces=[workplace])
    assert (done.people, str(done)) == (0, "forgot 1 worker: 1 rows of the workplace")
    assert letters(tmp_path, RAW) == []


def test_others_are_left_as_they_are(scene: Any, clock: VirtualClock) -> None:
    campaign, place, _ = scene
    other = f"{RAW}-junior"
    remote = next(iter(place.find_all().values()))
    place.accept(remote.hit_id, other)
    place.invites().issue(other)
    campaign.forget(RAW, workplaces=[place])
    with place._database.read() as connection:
        assert other in set(connection.execute(sa.select(SUBMISSION.c.worker)).scalars())
        assert other in set(connection.execute(sa.select(pages.INVITE.c.worker)).scalars())


def test_collecting_again_brings_nobody_back(scene: Any, tmp_path: Path) -> None:
    campaign, place, _ = scene
    campaign.forget(RAW, workplaces=[place])
    before = campaign.status()
    collected = campaign.collect(place)
    assert (collected.submissions, collected.answers) == (0, 0)
    assert campaign.status().submissions == before.submissions
    assert letters(tmp_path, RAW) == []


def test_a_stale_copy_in_a_page_that_was_split_is_written_over(tmp_path: Path, clock: VirtualClock) -> None:
    # Rows that moved to other pages leave copies behind, which no later deletion reaches.
    with find_platform("local", str(tmp_path / "w.db"), clock=clock) as place:
        for number in range(400):
            place.invites().issue(RAW if number % 7 == 0 else f"other{number:04d}", label="x" * (number % 90))
        place.erase_person(RAW)
        assert letters(tmp_path, RAW) == []


def test_a_reader_that_holds_the_log_is_said_and_the_next_call_empties_it(tmp_path: Path, clock: VirtualClock) -> None:
    with find_platform("local", str(tmp_path / "w.db"), clock=clock) as place:
        place.invites().issue(RAW)
        reader = sqlite3.connect(tmp_path / "w.db", timeout=0.1, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM workplace_invite").fetchone()
        place._database._engine.dispose()

        @sa.event.listens_for(place._database.engine, "connect")
        def _impatient(connection: Any, _record: Any) -> None:
            connection.execute("PRAGMA busy_timeout=50")

        told = place.erase_person(RAW).still_in
        assert len(told) == 1
        assert "w.db-wal: somebody reads the database just now" in told[0]
        reader.close()
        assert place.erase_person(RAW).still_in == ()
        assert letters(tmp_path, RAW) == []


def test_old_pages_that_a_reader_keeps_are_said_and_the_next_call_writes_them_anew(scene: Any, tmp_path: Path) -> None:
    campaign, place, _ = scene
    store = campaign._context.store
    store.flush_log()
    file = Path(store.url.partition(":///")[2])
    assert letters(tmp_path, RAW)
    reader = sqlite3.connect(file, timeout=0.1, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM submission").fetchone()
    told = campaign.forget(RAW, workplaces=[place]).still_in
    assert len(told) == 1
    assert f"{file.name}: somebody reads the database just now" in told[0]
    assert letters(tmp_path, RAW)
    reader.close()
    again = campaign.forget(RAW, workplaces=[place])
    assert (again.people, again.still_in) == (0, ())
    assert letters(tmp_path, RAW) == []


def test_a_word_in_an_item_s_text_is_content_and_is_named(scene: Any) -> None:
    campaign, place, _ = scene
    with place._database.write() as connection:
        connection.exec_driver_sql(f"UPDATE workplace_hit_item SET text = 'so said {RAW}, twice' WHERE ordinal = 0")
    told = campaign.forget(RAW, workplaces=[place]).workplaces[0].still_in
    assert len(told) == 1
    assert told[0].startswith("workplace_hit_item, column text:")


def test_backups_that_still_hold_the_id_are_named(scene: Any, tmp_path: Path, clock: VirtualClock) -> None:
    from hmc_crowd.backup import back_up

    campaign, place, _ = scene
    keepers = [campaign._context.store.keeper(), place.keeper()]
    old, other = tmp_path / "old.zip", tmp_path / "notes.txt"
    back_up(keepers, old, artefacts=None, now=clock.now())
    other.write_text("nothing")
    told = campaign.forget(RAW, workplaces=[place], backups=[old, other]).backups
    assert told == (str(old),)
    new = tmp_path / "new.zip"
    back_up(keepers, new, artefacts=None, now=clock.now())
    assert campaign.forget(RAW, workplaces=[place], backups=[old, new]).backups == (str(old),)


def test_who_asks_to_be_erased_is_listed_until_it_is_done(scene: Any, clock: VirtualClock) -> None:
    campaign, place, _ = scene
    ((asked),) = place.erasure_requests()
    assert (asked.worker, asked.asked_at <= clock.now()) == (RAW, True)
    clock.advance(timedelta(days=1).total_seconds())
    People(place._database).withdraw("bob", Study(), wants_erasure=False, language="en", at=clock.now())
    assert [each.worker for each in place.erasure_requests()] == [RAW]
    campaign.forget(RAW, workplaces=[place])
    assert place.erasure_requests() == []


def test_it_is_the_same_on_each_database(database_url: str, clock: VirtualClock) -> None:
    with find_platform("local", database_url, clock=clock) as place:
        place.invites().issue(RAW, attributes={"region": "south"})
        People(place._database).set_opt_outs(RAW, ["violence"], at=clock.now())
        done = place.erase_person(RAW)
        assert (done.rows, done.still_in) == ({"workplace_invite": 1, "workplace_opt_out": 1}, ())
