"""Attacks with times, events and numbers, attempts to tell gold by its looks, and looks for somebody who was forgotten.

Nobody is paid for one second twice, one worker's nonsense stops nobody's collection, and who was erased is in no byte.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pandas as pd

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd._base.erasing import files_holding
from hmc_crowd.campaign import Campaign
from hmc_crowd.campaign._gold_looks import tells_of
from hmc_crowd.platform import Hit, HitItem, RemoteAnswer
from tests.attacks import Scene, attack, prepared, refused
from tests.attacks._mturk import EVE, MTurkScene, mturk
from tests.attacks._pages import PagesScene, pages
from tests.conftest import START

from hmc_crowd_local import connect  # isort: skip
from hmc_crowd_mturk._answers import read_answer  # isort: skip
from pages_house import Plain, Tab, question  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Numbers of pages and zones that no page has.

NUMBERS = {
    "of 5,000 digits": "9" * 5_000,
    "in Arabic digits": "\u0663",
    "that is a superscript": "\u00b2",
    "below zero": "-1",
    "of zero": "0",
    "with an exponent": "1e3",
    "that is not a number": "nan",
    "beyond the last": "99999",
}


def number_of_page(number: str) -> Callable[[PagesScene], None]:
    def act(scene: PagesScene) -> None:
        for path in ("q", "ask"):
            refused(scene.client.get(f"{scene.link}/{path}/{quote(number)}"))
            refused(scene.client.post(f"{scene.link}/{path}/{quote(number)}", data={"form": "x", "a0": "0"}))

    return act


for _name, _number in NUMBERS.items():
    attack("worker pages", f"a page number {_name}", pages, defence="404")(number_of_page(_number))

# Events: dated outside the work, sent in floods, in several HITs at once.


def batch(tab: Tab, **changes: Any) -> Any:
    body = {"form": tab.stamp, "page": tab.name, "now": tab.ms(), "events": tab.waiting, **changes}
    return tab.plain.client.post(tab.link + "/events", content=json.dumps(body))


ODD_EVENTS: dict[str, Any] = {
    "that are a number": 7,
    "of nothing": [None],
    "with a negative number": [{"seq": -1, "kind": "input", "t": 0}],
    "with a number of 2^40": [{"seq": 2**40, "kind": "input", "t": 0}],
    "with a fraction as number": [{"seq": 0.5, "kind": "input", "t": 0}],
    "at infinity": [{"seq": 0, "kind": "input", "t": float("inf")}],
    "at no time": [{"seq": 0, "kind": "input", "t": float("nan")}],
    "at a text": [{"seq": 0, "kind": "input", "t": "5"}],
    "at 10^400": [{"seq": 0, "kind": "input", "t": 10**400}],
    "whose kind is a list": [{"seq": 0, "kind": ["input"], "t": 0}],
    "more than a batch holds": [{"seq": n, "kind": "hidden", "t": 0} for n in range(501)],
}


def odd_events(events: Any) -> Callable[[PagesScene], None]:
    return lambda scene: refused(batch(Tab(scene.house, scene.link), events=events))


for _name, _events in ODD_EVENTS.items():
    attack("worker pages", f"page events {_name}", pages, defence="400")(odd_events(_events))


@attack("worker pages", "a second counted in four HITs", pages, defence="one clock for one person", stores="his work")
def _(scene: PagesScene) -> None:
    works = [scene.house.work(Hit(f"m{n}", "More", "", (question(f"m{n}"),), 1, 5, "USD"), "eve") for n in range(4)]
    tabs = [Tab(scene.house, link, f"tab{n}") for n, (_, link) in enumerate(works)]
    for _ in range(5):
        scene.house.clock.advance(15)
        for tab in tabs:
            tab.note("input")
    for tab in tabs:
        tab.flush()
        Plain(scene.house.client()).get(f"{tab.link}/q/1")
    active = 0.0
    for name, _ in works:
        scene.house.local.save_answer(name, "eve", item=_item_of(scene, name), aspect="label", label="rude")
        active += scene.house.local.submit(name, "eve", expects_events=True).active_s or 0.0
    assert active <= 75.0


@attack(
    "worker pages", "a flood of page events", pages, defence="capped by person and HIT", stores="some", is_slow=True
)
def _(scene: PagesScene) -> None:
    _, link = scene.house.work(Hit("flood", "More", "", (question("f1"),), 1, 5, "USD"), "eve")
    tab = Tab(scene.house, link)
    for _ in range(45):
        for kind in ("hidden", "visible") * 250:
            tab.note(kind)
        while tab.waiting:
            rest, tab.waiting = tab.waiting[200:], tab.waiting[:200]
            assert tab.flush().status_code == 204
            tab.waiting = rest
    import sqlalchemy as sa
    from hmc_crowd_local._tables import EVENT

    with scene.house.local._database.read() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(EVENT)).scalar_one() <= 20_001


@attack("worker pages", "an hour claimed for two seconds", pages, defence="the server's clock", stores="his work")
def _(scene: PagesScene) -> None:
    name, link = scene.house.work(Hit("brief", "More", "", (question("b1"),), 1, 5, "USD"), "eve")
    tab = Tab(scene.house, link)
    scene.house.clock.advance(2)
    tab.waiting = [{"seq": n, "kind": "input", "t": -30_000.0 * n, "epoch": 0, "n": 1} for n in range(120)]
    tab.flush()
    scene.house.local.save_answer(name, "eve", item="b1", aspect="label", label="rude")
    assert (scene.house.local.submit(name, "eve", expects_events=True).active_s or 0.0) <= 2.0


@attack("worker pages", "25 hours claimed by a program", pages, defence="the server's clock", stores="his work")
def _(scene: PagesScene) -> None:
    from datetime import timedelta

    name, _ = scene.house.work(Hit("claims", "More", "", (question("c1"),), 1, 5, "USD"), "eve")
    scene.house.clock.advance(2)
    now = scene.house.clock.now()
    claim = RemoteAnswer("c1", "label", "rude", now - timedelta(hours=25), now)
    assert (scene.house.local.hand_in(name, "eve", [claim]).active_s or 0.0) <= 2.0


def _item_of(scene: PagesScene, submission: str) -> str:
    return scene.house.local.hit(scene.house.local.submission(submission).hit_id).items[0].item


# The MTurk door: times in fields, events dated back, floods.

TIMES = {
    "superscripts": "\u00b2,\u00b2",
    "5,000 digits": "9" * 5_000 + "," + "9" * 5_000,
    "Arabic digits": "1,\u0663",
    "infinity": "inf,inf",
    "no number": "nan,nan",
    "the far future": "1,99999999999999",
    "backwards": "10,1",
    "signs": "-5,+5",
    "an exponent": "1e9,1e9",
    "one time": "5",
}


def times_of_field(times: str) -> Callable[[MTurkScene], None]:
    def act(scene: MTurkScene) -> None:
        taken = scene.workers.accept(scene.ids.hit, EVE).assignment_id
        sent = {**scene.who(), "assignmentId": taken, "answer:1": "yes", "times:1": times, "answer:i/label": "yes"}
        sent |= {"times:i/label": times}
        scene.client.post("/mturk/externalSubmit", data=sent)
        with scene.door.database.read() as connection:
            import sqlalchemy as sa
            from hmc_crowd_local._tables_mturk import ASSIGNMENT

            raw = connection.execute(sa.select(ASSIGNMENT.c.answer).where(ASSIGNMENT.c.worker == EVE)).scalar_one()
        read = read_answer(raw)
        assert raw is None or all(each.started_at is None for each in read.answers)

    return act


for _name, _times in TIMES.items():
    attack(
        "MTurk worker pages", f"times of {_name}", mturk, defence="no times, and the answer stays", stores="her work"
    )(times_of_field(_times))


@attack(
    "MTurk worker pages", "events of an hour in two seconds", mturk, defence="the server's clock", stores="her work"
)
def _(scene: MTurkScene) -> None:
    taken = scene.workers.accept(scene.ids.hit, EVE).assignment_id
    scene.workers.open_page(taken, EVE)
    scene.clock.advance(2)
    events = [{"seq": n, "kind": "input", "t": 30_000 * n, "item": None} for n in range(120)]
    sent = scene.client.post("/mturk/events", json={**scene.who(), "assignmentId": taken, "events": events})
    assert sent.status_code < 500
    scene.client.post("/mturk/externalSubmit", data={**scene.who(), "assignmentId": taken, "q": "yes"})
    assert _active(scene) <= 2.0


@attack("MTurk worker pages", "a second counted in two HITs", mturk, defence="one clock", stores="her work")
def _(scene: MTurkScene) -> None:
    taken = [scene.workers.accept(each, EVE).assignment_id for each in (scene.ids.hit, scene.ids.bobs_hit)]
    for name in taken:
        scene.workers.open_page(name, EVE)
    for step in range(5):
        for name in taken:
            events = [{"seq": step, "kind": "input"}]
            scene.client.post("/mturk/events", json={**scene.who(), "assignmentId": name, "events": events})
        scene.clock.advance(10)
    for name in taken:
        scene.client.post("/mturk/externalSubmit", data={**scene.who(), "assignmentId": name, "q": "yes"})
    assert _active(scene) <= 50.0


@attack(
    "MTurk worker pages", "a flood of events", mturk, defence="capped by person and HIT", stores="some", is_slow=True
)
def _(scene: MTurkScene) -> None:
    import sqlalchemy as sa
    from hmc_crowd_local._tables_mturk import M_EVENT

    taken = scene.workers.accept(scene.ids.hit, EVE).assignment_id
    for start in range(0, 24_000, 1_000):
        events = [{"seq": start + n, "kind": ("hidden", "visible")[n % 2]} for n in range(1_000)]
        scene.client.post("/mturk/events", json={**scene.who(), "assignmentId": taken, "events": events})
    with scene.door.database.read() as connection:
        kept = sa.select(sa.func.count()).select_from(M_EVENT).where(M_EVENT.c.worker == EVE)
        assert 0 < connection.execute(kept).scalar_one() <= 20_000


def _active(scene: MTurkScene) -> float:
    import sqlalchemy as sa
    from hmc_crowd_local._tables_mturk import ASSIGNMENT

    mine = sa.select(sa.func.coalesce(sa.func.sum(ASSIGNMENT.c.active_s), 0.0)).where(ASSIGNMENT.c.worker == EVE)
    with scene.door.database.read() as connection:
        return float(connection.execute(mine).scalar_one())


# One worker's nonsense, and what a collection makes of it; and whoever was forgotten.

RAW = "eve-archer-1977"


class CampaignScene(Scene):
    """A campaign whose HIT three people have done; one of them is the attacker."""

    def __init__(self, campaign: Campaign, place: Any, folder: Path) -> None:
        super().__init__()
        self.campaign, self.place, self.folder = campaign, place, folder

    def stored(self) -> Any:
        with self.campaign._context.store.read() as tx:
            answers = tx.work.answers(self.campaign._context.campaign_id)
        return sorted(set(answers["worker"])), len(answers)

    def collected(self) -> Any:
        return self.campaign.collect(self.place)

    def submissions(self) -> list[Any]:
        remote = self.place.find_all()
        return list(self.place.submissions([each.hit_id for each in remote.values()]))


def a_round(folder: Path) -> None:
    clock = VirtualClock(START)
    with connect(str(folder / "workplace.db"), clock=clock) as place:
        campaign = Campaign.create(str(folder / "campaign.db"), labels=["good", "bad"], seed=1, clock=clock)
        items = pd.DataFrame({"item": [f"i{n}" for n in range(4)], "group": "g", "text": "So it goes."})
        campaign.add_items(items)
        campaign.add_predictions(items[["item"]].assign(label="good", confidence=0.6))
        campaign.estimate_effort()
        campaign.plan(trade_off=0.0)
        campaign.publish(place, redundancy=3, pay_minor=50, budget_minor=9_000, dry_run=False, gold_share=0.0)
        for remote in place.find_all().values():
            for worker in ("ann", "bob", RAW):
                name = place.accept(remote.hit_id, worker).submission_id
                clock.advance(30)
                for each in place.hit(remote.hit_id).items:
                    place.save_answer(name, worker, item=each.item, aspect=each.aspect, label="good")
                place.submit(name, worker)
        campaign.close()


@contextmanager
def a_campaign() -> Iterator[CampaignScene]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(prepared(a_round), folder, dirs_exist_ok=True)
        clock = VirtualClock(START)
        clock.advance(3_600)
        with connect(str(folder / "workplace.db"), clock=clock) as place:
            opened = Campaign.open(str(folder / "campaign.db"), clock=clock)
            yield CampaignScene(opened, place, folder)
            opened.close()


def changed(field: str, value: Any) -> Callable[[CampaignScene], None]:
    from dataclasses import replace

    def act(scene: CampaignScene) -> None:
        honest = scene.place.submissions
        mine = {each.submission_id for each in scene.submissions() if each.worker == RAW}
        scene.place.submissions = lambda ids: (
            replace(each, **{field: value}) if each.submission_id in mine else each for each in honest(ids)
        )
        collected = scene.collected()
        del scene.place.submissions
        assert collected.submissions + len(collected.set_aside) >= 3
        assert collected.answers >= 8

    return act


ODD_ROWS: dict[str, tuple[str, Any]] = {
    "an id with a NUL": ("submission_id", "s\x00"),
    "half a character as worker": ("worker", "\ud800"),
    "no worker": ("worker", ""),
    "a worker of 100,000 letters": ("worker", "w" * 100_000),
    "an active time of NaN": ("active_s", float("nan")),
    "an infinite page time": ("page_elapsed_s", float("inf")),
    "a time below zero": ("platform_elapsed_s", -5.0),
    "a time of 10^400 seconds": ("active_s", 10**400),
    "a time of text": ("active_s", "long"),
}
for _name, (_field, _value) in ODD_ROWS.items():
    attack("command line", f"collect meets {_name}", a_campaign, defence="set aside or left out", stores="honest work")(
        changed(_field, _value)
    )


def failing(error: Exception) -> Callable[[CampaignScene], None]:
    def act(scene: CampaignScene) -> None:
        honest = scene.place.answers
        mine = {each.submission_id for each in scene.submissions() if each.worker == RAW}

        def read(names: Any) -> Any:
            if mine & set(names):
                raise error
            return honest(names)

        scene.place.answers = read
        collected = scene.collected()
        assert (len(collected.set_aside), collected.answers) == (1, 8)
        del scene.place.answers
        assert scene.collected().answers == 4

    return act


for _error in (ValueError("5,000 digits"), OverflowError("huge"), RecursionError("nested"), KeyError("no item")):
    attack(
        "command line",
        f"answers whose reading raises {type(_error).__name__}",
        a_campaign,
        defence="set aside, counted, and read again",
        stores="honest work",
    )(failing(_error))


def looked_for(*names: str) -> Callable[[CampaignScene], None]:
    def act(scene: CampaignScene) -> None:
        scene.collected()
        done = scene.campaign.forget(RAW, workplaces=[scene.place])
        assert (done.people, done.still_in) == (1, ())
        files = [path for name in names for path in scene.folder.glob(name)]
        assert files
        assert files_holding([RAW], files) == {}

    return act


for _where, _files in {
    "in the campaigns' database": ("campaign.db",),
    "in the workplace": ("workplace.db",),
    "in a log": ("*-wal", "workplace.db"),
    "anywhere": ("*",),
}.items():
    attack(
        "files and local users",
        f"somebody who was forgotten {_where}",
        a_campaign,
        defence="erased",
        stores="new names",
    )(looked_for(*_files))


# Gold by its looks: what is not drawn to look alike is said, with the odds, before anything is published.

LOOKS: dict[str, dict[str, Any]] = {
    "without a dialogue before it": {"context": ()},
    "in another script": {"text": "\u0645\u0631\u062d\u0628\u0627 \u0643\u064a\u0641"},
    "by its short text": {"text": "x"},
    "by its long text": {"text": "x" * 900},
    "by its labels": {"labels": ("a", "b", "c")},
    "by being blurred": {"sensitive": True},
}


def told_by(look: dict[str, Any]) -> Callable[[Any], None]:
    def act(_scene: Any) -> None:
        def page(name: str, **options: Any) -> HitItem:
            return HitItem(name, "label", name, 1, **{"text": f"{name} so it goes on", "context": ("Hi.",), **options})

        work, gold = [page(f"t{n:02d}") for n in range(40)], [page(f"g{n:02d}", **look) for n in range(6)]
        hit = Hit("k", "Judge", "", (*work, *gold), 1, 5, "USD")
        assert tells_of([(hit, {each.item for each in gold})]), "nobody was warned"

    return act


for _name, _look in LOOKS.items():
    attack("command line", f"gold told {_name}", a_campaign, defence="the cost sheet says the odds")(told_by(_look))
