"""Pools, skills and languages decide who is offered what; a worker's own page: pay, accuracy, messages, shifts."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from pages_house import SECRET, Plain, dialogue, question

from hmc_crowd._base.pools import Terms, Turn
from hmc_crowd.errors import InputError
from hmc_crowd.platform import BonusOrder, BonusRow, Hit

from hmc_crowd_local.pages import Invites, Study, Threads, read_study  # isort: skip


def hit(key: str, *, language: str = "", pay: int = 150, **terms: Any) -> Hit:
    items = (question(f"{key}-1", language=language), question(f"{key}-2", language=language))
    return Hit(key, f"Title of {key}", "", items, 2, pay, "USD", terms=Terms(**terms))


def home(house: Any, worker: str = "ann", **options: Any) -> tuple[str, Plain]:
    invite = Invites(house.local, secret=SECRET).issue(worker, **options)
    plain = Plain(house.client())
    plain.get(f"/work/i/{invite.token}")
    return f"/work/i/{invite.token}", plain


def do(house: Any, one: Hit, worker: str = "ann", seconds: float = 60.0) -> str:
    name = house.local.accept(house.local.publish(one).hit_id, worker).submission_id
    house.local.open_page(name, worker)
    house.clock.advance(seconds)
    for each in one.items:
        house.local.save_answer(name, worker, item=each.item, aspect=each.aspect, label="polite")
    house.local.submit(name, worker)
    return str(name)


@pytest.mark.parametrize(
    ("options", "offered"),
    [
        ({}, {"open", "german"}),
        ({"pool": "tier1"}, {"open", "german", "tier1"}),
        ({"skills": ["law"]}, {"open", "german", "law"}),
        ({"skills": ["language:vi"]}, {"open"}),
        ({"skills": ["law", "language:DE"], "pool": "tier1"}, {"open", "german", "law", "tier1", "german law"}),
        ({"pool": "tier2"}, {"open", "german"}),
    ],
)
def test_work_is_offered_by_pool_skills_and_language(house, options, offered) -> None:
    for one in (
        hit("open"),
        hit("german", language="de-AT"),
        hit("tier1", pool="tier1"),
        hit("law", skills=("law",)),
        hit("german law", skills=("law", "language:de")),
    ):
        house.local.publish(one)
    _, plain = home(house, **options)
    names = ("open", "german", "tier1", "law", "german law")
    assert {name for name in names if f"Title of {name}<" in plain.text} == offered


def test_another_pool_s_hit_cannot_be_taken_by_its_address(house) -> None:
    remote = house.local.publish(hit("tier1", pool="tier1"))
    door, plain = home(house, pool="tier2")
    assert plain.get(f"{door}/hit/{remote.hit_id}").status_code == 404


def test_many_hits_of_others_hide_nobody_s_work(house) -> None:
    house.local.show([hit(f"k{n:03d}", skills=("rare",)) for n in range(230)])
    house.local.show([hit("mine")])
    _, plain = home(house)
    assert "Title of mine" in plain.text


@pytest.mark.parametrize("wrong", ["", " ", "language:", "a\x00"])
def test_a_skill_is_a_word(house, wrong) -> None:
    with pytest.raises(InputError):
        Invites(house.local, secret=SECRET).issue("ann", skills=[wrong])


@pytest.mark.parametrize(
    ("terms", "pay", "shown"),
    [
        ({}, 150, "1.50 USD"),
        ({"pay_form": "per_hour", "rate_minor": 6000, "pool": "p"}, 0, "60.00 USD for an hour of active time"),
        ({"pay_form": "per_answer", "rate_minor": 60, "pool": "p"}, 120, "0.60 USD for each answer, 1.20 USD in all"),
        ({"pay_form": "salaried", "pool": "p"}, 0, None),
    ],
)
def test_pay_is_said_as_the_pool_is_paid(house, terms, pay, shown) -> None:
    remote = house.local.publish(hit("one", pay=pay, **terms))
    door, plain = home(house, pool="p")
    for path in ("", f"/hit/{remote.hit_id}"):
        plain.get(door + path)
        if shown is None:
            assert "USD" not in plain.text
        else:
            assert f"<bdi>{shown}</bdi>" in plain.text


def sums(plain: Plain) -> list[str]:
    import re

    return re.findall(r"<dd><bdi>([^<]*)</bdi></dd>", plain.text)


def test_earnings_go_from_pending_to_approved_to_paid(house) -> None:
    door, plain = home(house)
    plain.get(f"{door}/me")
    assert "Nothing yet." in plain.text
    first, second = do(house, hit("a")), do(house, hit("b"))
    refused = do(house, hit("c"))
    house.local.approve(first)
    house.local.reject(refused, "Every answer was the same, also where the texts differ much.")
    plain.get(f"{door}/me")
    assert sums(plain) == ["1.50 USD", "1.50 USD", "0.00 USD"]
    assert "Every answer was the same" in plain.text
    order = BonusOrder("o1", "h", "bonus", "Thanks", "USD", (BonusRow(first, "ann", 50),))
    house.local.send_bonus(order, house.local.prepare_bonus(order))
    assert house.local.paid_out(house.local.owed()) == 2
    house.local.approve(second)
    plain.get(f"{door}/me")
    assert sums(plain) == ["0.00 USD", "1.50 USD", "2.00 USD"]


def test_hours_are_paid_by_active_time_and_salaries_not_by_piece(house) -> None:
    door, plain = home(house)
    do(house, hit("hours", pay=0, pool="p", pay_form="per_hour", rate_minor=6000), seconds=90.0)
    do(house, hit("salary", pay=0, pool="p", pay_form="salaried"))
    plain.get(f"{door}/me")
    assert sums(plain) == ["1.50 USD", "0.00 USD", "0.00 USD"]  # 90 s of 60.00 an hour
    assert "Done as part of your paid time: 1" in plain.text


def test_nobody_sees_another_s_account(house) -> None:
    do(house, hit("a"))
    door, plain = home(house, "bob")
    plain.get(f"{door}/me")
    assert sums(plain) == []


def test_accuracy_is_told_where_the_study_allows_it_and_roughly(new_house) -> None:
    for tells, right, n, said in (
        (False, 9, 10, None),
        (True, 9, 10, "about 90%"),
        (True, 14, 17, "about 80%"),  # 82.4 percent
        (True, 9, 9, "when you have answered more"),
    ):
        house = new_house(study=Study(tells_accuracy=tells))
        house.local.tell_standing("", {"ann": (right, n), "bob": (0, 50)})
        door, plain = home(house)
        plain.get(f"{door}/me")
        assert ("Your accuracy" in plain.text) == tells
        assert said is None or said in plain.text


def test_a_study_file_may_tell_the_accuracy(tmp_path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("tells_accuracy = true")
    assert read_study(path).tells_accuracy


def test_messages_lead_to_their_conversation(house) -> None:
    one = dialogue()
    name = house.local.accept(house.local.publish(one).hit_id, "ann").submission_id
    threads = Threads(house.local._database, house.local._ids)
    threads.ask(name, "t4", "Is irony polite?", at=house.clock.now())
    house.clock.advance(60)
    threads.reply(name, "t4", "<b>No.</b>", at=house.clock.now())
    door, plain = home(house)
    plain.get(f"{door}/me")
    assert "&lt;b&gt;No.&lt;/b&gt;" in plain.text
    assert "Is irony polite?" not in plain.text  # the last of a thread stands for it
    import re

    (address,) = re.findall(r'href="(/work/s/[^"]+/ask/2)"', plain.text)
    plain.get(address)
    assert "Is irony polite?" in plain.text


def test_a_worker_says_when_he_works_and_takes_it_back(house, clock) -> None:
    door, plain = home(house, pool="tier1")
    house.local.put_turns("scope", [Turn("tier1", clock.now(), clock.now() + timedelta(hours=2), 3)])
    plain.get(f"{door}/me")
    assert "planned for your group: 3 people" in plain.text
    day = clock.now().date().isoformat()
    plain.send('name="day"', day=day, **{"from": "22:00", "to": "02:00", "zone": "330"})
    assert plain.path == "me"
    # 22:00 to 02:00 at UTC+05:30 are 16:30 to 20:30 UTC.
    force = house.local.workforce("tier1", starts_at=clock.now())
    assert [(turn.starts_at.strftime("%H:%M"), turn.ends_at.strftime("%H:%M")) for turn in force.turns] == [
        ("16:30", "20:30")
    ]
    assert plain.text.count("Take it back") == 1
    plain.send('name="shift"')
    assert house.local.workforce("tier1", starts_at=clock.now()).turns == ()
    assert "planned for your group" in plain.text  # the pool's own stays


@pytest.mark.parametrize(
    "wrong",
    [
        {"day": "2020-01-01"},
        {"day": "soon"},
        {"from": "25:00"},
        {"to": ""},
        {"day": "9999-12-31", "zone": "-720", "to": "08:00"},
    ],
)
def test_times_that_make_no_sense_are_said(house, wrong) -> None:
    door, plain = home(house)
    plain.get(f"{door}/me")
    page = plain.send('name="day"', **{"from": "09:00", "to": "12:00", "zone": "0", **wrong})
    assert page.status_code == 422
    assert "These times could not be read" in plain.text


def test_only_one_s_own_shifts_are_taken_back(house, clock) -> None:
    later = clock.now() + timedelta(hours=1)
    name = house.local.add_turn(Turn("", later, later + timedelta(hours=1), 1, "bob"))
    door, plain = home(house)
    plain.get(f"{door}/me")
    plain.send('name="day"', day=later.date().isoformat(), **{"from": "20:00", "to": "21:00", "zone": "0"})
    plain.send('name="shift"', shift=name)
    assert len(house.local.turns(pool="", worker="bob", starts_at=clock.now())) == 1


def test_a_form_of_another_page_is_refused(house) -> None:
    door, plain = home(house)
    plain.get(f"{door}/me")
    reply = plain.client.post(f"{door}/me/shifts", content="day=2030-01-01&from=09:00&to=10:00&form=x")
    assert reply.status_code == 403


def test_the_port_refuses_turns_that_make_no_sense(house, clock) -> None:
    now = clock.now()
    for turn in (Turn("p", now, now, 1, "ann"), Turn("p", now, now + timedelta(hours=1)), Turn("p", now, now, 0, "x")):
        with pytest.raises(InputError):
            house.local.add_turn(turn)


def test_terms_are_kept_with_the_hit(house) -> None:
    one = hit("a", pool="p", skills=("law",), pay_form="per_answer", rate_minor=75)
    remote = house.local.publish(one)
    assert house.local.hit(remote.hit_id) == one
    assert house.local.publish(one) == remote
    from hmc_crowd.errors import PlatformError

    with pytest.raises(PlatformError, match="other content"):
        house.local.publish(replace(one, terms=Terms()))


@pytest.mark.parametrize("zone", ["--5", "\u00b2", "-\u0663", "9" * 5_000, "61", "nan", "1e3"])
def test_a_zone_that_is_not_on_the_page_is_refused_and_nothing_is_kept(house, zone) -> None:
    door, plain = home(house)
    plain.get(f"{door}/me")
    form = plain.form('name="zone"')
    fields = {**dict(form.fields), "day": "2030-01-01", "from": "09:00", "to": "10:00", "zone": zone}
    sent = plain.client.post(form.action, data=fields, follow_redirects=False)
    assert sent.status_code == 422
    assert house.local.turns(pool="", worker="ann", starts_at=house.clock.now()) == []


@pytest.mark.parametrize("number", ["9" * 5_000, "\u0663", "\u00b2", "0", "-1", "99999", "x"])
def test_a_page_with_a_number_that_no_page_has_is_not_found(house, number) -> None:
    from pages_house import dialogue

    _, link = house.work(dialogue())
    client = house.client()
    client.get(f"{link}/q/1")
    for path in (f"q/{number}", f"ask/{number}"):
        assert client.get(f"{link}/{path}").status_code == 404
        assert client.post(f"{link}/{path}", data={"form": "x"}).status_code in {403, 404}


def test_who_asked_for_a_language_keeps_it_into_the_work_out_of_it_and_back_again(house) -> None:
    remote = house.local.publish(hit("open"))
    door, plain = home(house)
    plain.get(f"{door}?lang=de")
    plain.get(f"{door}/hit/{remote.hit_id}?lang=de")
    plain.send("name=")
    assert '<html lang="de"' in plain.text
    assert plain.page.url.path.startswith("/work/s/")
    # Somebody comes back to the invitation in a language, and goes on with what is under way.
    plain.get(f"{door}?lang=de")
    go_on = re.search(r'href="(/work/s/[^"]+)"', plain.text)
    assert go_on is not None
    plain.get(unescape(go_on.group(1)))
    assert '<html lang="de"' in plain.text
    plain.get(f"{door}/hit/{remote.hit_id}?lang=de")
    assert '<html lang="de"' in plain.text
