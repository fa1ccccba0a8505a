"""One worker's life on SQLite and on PostgreSQL: every table of the pages is written and read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pages_house import SECRET, Plain, Tab, every_kind, full_study, make_house

from hmc_crowd_local.pages import Invites, People, Threads, WorkStore  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pages_house import PagesHouse


@pytest.fixture
def house(database_url, clock) -> Iterator[PagesHouse]:
    made = make_house(database_url, clock, study=full_study(), exposure_per_day=1)
    yield made
    made.local.close()


def test_a_life_from_invitation_to_withdrawal(house, clock) -> None:
    invites, people = Invites(house.local, secret=SECRET), People(house.local._database)
    hit = every_kind()
    hit_id = house.local.publish(hit).hit_id
    invite = invites.issue("ann")
    plain = Plain(house.client())
    plain.get(f"/work/i/{invite.token}/hit/{hit_id}")
    plain.send("Begin")
    link = "/".join(str(plain.page.url).split("/")[:6])
    plain.send('name="agree"', agree=["0", "1"], do="agree")
    plain.send("What do you judge?", c0="1", c1="1")
    plain.send("What do you judge?", c0="0", c1="1")
    for _ in range(3):
        plain.send('name="place"', a0="0")
        plain.get(link)
    assert plain.path == "q/1"
    tab = Tab(house, link)
    clock.advance(10)
    tab.note("input")
    assert tab.flush().status_code == 204
    assert tab.flush().status_code == 204
    plain.get(link)
    plain.answer(a0="0", a1="0", do="next")
    plain.answer(a0="none", do="next")
    plain.answer(a0="1", do="next")
    plain.answer(a0="text", do="save")
    plain.answer(a0="", do="save")
    plain.send("Why?", do="flag", reason="broken")
    plain.answer(a0="0", do="next")
    plain.answer(a0="0", do="next")
    plain.get(link + "/ask/1")
    plain.send("Your question", text="Why?")
    plain.get(link + "/review")
    plain.send("Hand in")
    plain.send("Was the task clear?", clear="5", fair="1", text="ok")
    plain.send("Was the task clear?", clear="4", fair="1", text="ok")
    plain.get(link + "/survey")
    plain.send("How old are you?", s0="18-40")
    plain.get(link + "/preferences")
    plain.send("Do not show me", category="violence")
    plain.get(link + "/withdraw")
    plain.send("Leave the study")
    (found,) = house.local.submissions([hit_id])
    name, study = found.submission_id, house.settings.study
    assert (found.state.value, found.active_s, found.time_quality) == ("submitted", 10.0, "ok")
    answers = {(each.item, each.aspect): each.label for each in house.local.answers([name])[name]}
    assert len(answers) == 6
    assert answers["multi", "label"] == "[]"
    assert [each.kind for each in WorkStore(house.local._database).skips([name])] == ["flag"]
    assert WorkStore(house.local._database).gaps(name) == 0
    threads = Threads(house.local._database, house.local._ids)
    assert threads.feedback(name).clear == 4
    assert len(threads.unanswered()) == 1
    assert people.step("ann", study, "checks").tries == 2
    assert people.step("ann", study, "survey").detail == ("18-40", "")
    assert dict(people.opt_outs()) == {"violence": 1}
    assert len(people.exposed("ann", at=clock.now())) == 1
    assert people.standing("ann", study) == "withdrawn"
    invites.revoke(invite.invite_id)
    assert plain.get(invite.url(house.url)).status_code == 404
