"""Who is who, kept by two processes at the same moment."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

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
