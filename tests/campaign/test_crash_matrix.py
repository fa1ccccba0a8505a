"""Case C02 with real processes: kill -9 at every step of every operation, on both databases, then start again.

A child process does the operation and is killed at the step; the platforms run in this process and outlive it. Then the
same is asked for again, as a user would. What the platform's own books show decides: each effect exactly once, and a
bonus at most once. The default run kills at the step where most is at stake; `make test-all` at all of them.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from typing import Any

import crash_child
import pytest
from outside_house import hits_of, money_of, payments_of

# Forked from a server that has everything imported: a child starts in milliseconds.
FORK = multiprocessing.get_context("forkserver")
FORK.set_forkserver_preload(["crash_child"])

STEPS = ("before_intent", "after_intent", "sent", "after_remote", "after_local")
OPERATIONS = ("create", "publish", "extend", "approve", "reject", "pay")
WORST = {("sqlite", each, "after_remote") for each in OPERATIONS} | {
    ("postgresql", "publish", "after_remote"),
    ("postgresql", "pay", "sent"),
    ("postgresql", "pay", "after_remote"),
    ("sqlite", "pay", "sent"),
    ("sqlite", "create", "after_local"),
}
CASES = [
    pytest.param(database, operation, step, marks=() if (database, operation, step) in WORST else pytest.mark.slow)
    for database in ("sqlite", "postgresql")
    for operation in OPERATIONS
    for step in STEPS
]


def killed(job: crash_child.Job) -> None:
    child = FORK.Process(target=crash_child.run, args=(job,))
    child.start()
    child.join(120)
    assert child.exitcode == -9


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    def make(kind: str) -> str:
        if kind == "postgresql":
            return str(request.getfixturevalue("postgres_url"))
        return f"sqlite:///{tmp_path / 'crash.db'}"

    return make


class OnProlific:
    """The stand-in's own books before and after."""

    def __init__(self, recruiting: Any, campaign: Any, truth: dict[str, str]) -> None:
        self.recruiting, self.campaign, self.truth = recruiting, campaign, truth
        self.world = recruiting.world
        self.done: list[str] = []

    def prepare(self, operation: str) -> str:
        """Bring the campaign to where the operation makes sense; return what it is done to."""
        if operation == "publish":
            return ""
        pages = self.recruiting.pages
        self.campaign.publish(self.recruiting.platform, pages=pages, **crash_child.SPEND)
        if operation == "extend":
            return str(hits_of(self.campaign)[0].key)
        self.done = self.recruiting.fill(self.campaign, self.truth)
        self.campaign.collect(self.recruiting.platform, pages=pages)
        return self.done[0]

    def books(self) -> dict[str, Any]:
        with self.world.lock:
            paid = sum(each.times_paid + len(each.pays) for each in self.world.bonuses.values())
        studies = self.recruiting.studies()
        return {
            "studies": len(self.world.studies),
            "places": sum(each.body.total_available_places for each in studies),
            "bonuses": paid,
            "spent": self.world.spent_minor,
            "states": Counter(str(each.status) for each in self.world.submissions.values()),
        }

    def job(self, database: str, operation: str, step: str, target: str) -> crash_child.Job:
        return crash_child.Job(
            database=database,
            workplace=str(self.recruiting.workplace_file),
            now=self.recruiting.clock.now(),
            operation=operation,
            step=step,
            target=target,
            prolific={
                "url": f"{self.recruiting.standin.url}/api/v1/",
                "token": self.world.token,
                "workspace": self.world.workspace,
                "project": next(iter(self.world.projects)),
            },
        )

    def again(self, operation: str, target: str) -> None:
        """Start again, and let the clock pass what the platform needs."""
        place, pages = self.recruiting.platform, self.recruiting.pages
        for _ in range(2):
            self.recruiting.clock.advance(3600)
            self.campaign.reconcile(place, pages=pages)
            crash_child.perform(self.campaign, place, pages, operation, target)
        self.recruiting.clock.advance(3600)
        self.campaign.reconcile(place, pages=pages)


@pytest.mark.parametrize(("kind", "operation", "step"), [case for case in CASES if case.values[1] != "create"])
def test_c02_kill_9_on_prolific_leaves_each_effect_exactly_once(
    small: Any,
    recruiting: Any,
    small_batch: Any,
    database: Any,
    tmp_path: Any,
    kind: str,
    operation: str,
    step: str,
) -> None:
    recruiting.workplace_file = tmp_path / "workplace.db"
    where = database(kind)
    campaign = small(where)
    side = OnProlific(recruiting, campaign, small_batch.truth)
    target = side.prepare(operation)
    before = side.books()
    killed(side.job(where, operation, step, target))
    side.again(operation, target)
    after = side.books()
    if operation == "publish":
        with campaign._context.store.read() as tx:
            wanted = {each.order_key: 0 for each in tx.work.hits(campaign._context.campaign_id)}
            for each in tx.work.hits(campaign._context.campaign_id):
                wanted[each.order_key] += each.redundancy
        assert after["studies"] == len(wanted) == len(recruiting.studies())
        assert after["places"] == sum(wanted.values())
    elif operation == "extend":
        assert after["places"] == before["places"] + 2
    elif operation == "pay":
        lost = step == "sent"  # saved as sent and never sent: asked about for a day, then a question, never sent again
        assert after["bonuses"] - before["bonuses"] == (0 if lost else 1)
        assert [each.state for each in payments_of(campaign)] == (["planned"] if lost else ["paid"])
    else:
        state = "APPROVED" if operation == "approve" else "REJECTED"
        moved = {name: count for name, count in after["states"].items() if name == state}
        assert moved == {state: 1}
        again = crash_child.perform(campaign, recruiting.platform, recruiting.pages, operation, target)
        assert again.submissions == 0
        order = recruiting.pages.order_of("prolific", target)
        # What was rejected leaves its place to somebody else, whenever the process died.
        assert (target in recruiting.pages.places_held("prolific", order)) == (operation == "approve")
        assert (after["spent"] > before["spent"]) == (operation == "approve")
    assert money_of(campaign)[2] == 0


@pytest.mark.parametrize(("kind", "operation", "step"), [case for case in CASES if case.values[1] == "create"])
def test_c02_kill_9_while_creating_hits_makes_each_once(
    small: Any, turk: Any, database: Any, kind: str, operation: str, step: str
) -> None:
    where = database(kind)
    campaign = small(where)
    keys = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    job = crash_child.Job(
        database=where,
        workplace="",
        now=turk.clock.now(),
        operation=operation,
        step=step,
        mturk=turk.url,
        environment={name: os.environ[name] for name in keys},
    )
    killed(job)
    turk.clock.advance(3600)
    campaign.publish(turk.platform, **crash_child.SPEND)
    campaign.publish(turk.platform, **crash_child.SPEND)
    records = hits_of(campaign)
    assert sorted(each.platform_hit_id for each in records) == sorted(each.hit_id for each in turk.hits())
    assert turk.creates() >= len(records)
    assert money_of(campaign)[2] == 0
