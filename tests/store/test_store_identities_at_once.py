"""Who is who, kept by two processes at the same moment."""

from __future__ import annotations

import threading
import time
import traceback
from typing import TYPE_CHECKING

import sqlalchemy as sa

from hmc_crowd.errors import HmcCrowdError

if TYPE_CHECKING:
    from hmc_crowd.store import Store


def test_two_processes_that_meet_the_same_people_at_once_keep_them_once(store: Store) -> None:
    names = {"A1": "w1", "A2": "w2"}
    written, failures = threading.Event(), list[Exception]()

    def other() -> None:
        written.wait(10)
        try:
            with store.begin() as tx:
                tx.workers.identify("mturk", ["A1", "A2"], pseudonyms=names)
        except Exception as error:  # noqa: BLE001 because the test looks at whatever comes
            failures.append(error)

    thread = threading.Thread(target=other)
    thread.start()
    with store.begin() as tx:
        tx.workers.identify("mturk", ["A2"], pseudonyms=names)
        written.set()
        time.sleep(0.3)  # the other has read by now that nobody is known
    thread.join(20)
    assert failures == []
    with store.read() as tx:
        assert tx.workers.known("mturk") == names
        assert tx.workers.raw_ids("mturk", ["w2", "w9"]) == {"w2": "A2"}


def test_a_traceback_shows_no_raw_id(store: Store) -> None:
    statement = sa.text("INSERT INTO worker_identity (platform, raw_id) VALUES ('mturk', :raw)")
    try:
        with store.begin() as tx:
            tx.workers._session.run(statement, {"raw": "SECRET"})
    except HmcCrowdError:
        shown = traceback.format_exc()
    assert "worker_identity" in shown
    # PostgreSQL's own detail names the row that it refused; what is ours names nothing.
    assert "'SECRET'" not in shown
