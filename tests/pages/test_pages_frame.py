"""People of an MTurk-API platform in its frame: an assignment gets its HIT, and is handed in at one place alone."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import pytest
from hmc_crowd_mturk import read_answer
from pages_house import Plain, dialogue

from hmc_crowd.errors import InputError

from hmc_crowd_local.pages import PagesSettings  # isort: skip

ORIGIN = "https://workers.example.org"


@pytest.fixture
def framed(new_house):
    house = new_house(submit_origin=ORIGIN)
    hit = dialogue(redundancy=1)
    house.local.open_order(hit.key, [hit])
    return house


def address(**changes: Any) -> str:
    from urllib.parse import urlencode

    values = {"hit": "dialogue", "hitId": "H1", "assignmentId": "A1", "workerId": "AANN", "turkSubmitTo": ORIGIN}
    return "/work/mturk?" + urlencode({name: each for name, each in {**values, **changes}.items() if each is not None})


def test_an_assignment_gets_its_work_and_is_handed_in_where_it_belongs(framed) -> None:
    plain = Plain(framed.client())
    plain.get(address())
    assert plain.path == "q/1"
    assert plain.page.headers["content-security-policy"].endswith(f"frame-ancestors {ORIGIN}")
    assert "x-frame-options" not in plain.page.headers
    framed.clock.advance(20)
    plain.answer(a0="0", do="next")
    framed.clock.advance(20)
    plain.answer(a0="1", do="review")
    plain.send("Hand in")
    assert f"form-action 'self' {ORIGIN};" in plain.page.headers["content-security-policy"]
    form = next(each for each in plain.forms() if "externalSubmit" in each.action)
    assert form.action == f"{ORIGIN}/mturk/externalSubmit"
    fields = dict(form.fields)
    assert fields["assignmentId"] == "A1"
    # What the platform keeps of this form, the adapter reads back as the answers with their times.
    document = Element("QuestionFormAnswers")
    for name, value in form.fields:
        answer = SubElement(document, "Answer")
        SubElement(answer, "QuestionIdentifier").text = name
        SubElement(answer, "FreeText").text = unescape(value)
    asked = [(each.item, each.aspect) for each in dialogue().items]
    read = {each.item: each for each in read_answer(tostring(document, encoding="unicode"), questions=asked).answers}
    assert {name: each.label for name, each in read.items()} == {"t2": "polite", "t4": "rude"}
    assert (read["t2"].submitted_at - read["t2"].started_at).total_seconds() == pytest.approx(20)


def test_the_same_assignment_finds_its_work_again(framed) -> None:
    plain = Plain(framed.client())
    first = plain.get(address()).url
    plain.answer(a0="0", do="next")
    again = Plain(framed.client())
    again.get(address())
    assert again.path == "q/2"
    assert str(again.page.url).rsplit("/q/", 1)[0] == str(first).rsplit("/q/", 1)[0]


def test_a_preview_claims_nothing(framed) -> None:
    plain = Plain(framed.client())
    for changes in ({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "workerId": None}, {"assignmentId": None}):
        reply = plain.get(address(**changes))
        assert (reply.status_code, "This is a preview." in reply.text) == (200, True)
        assert reply.headers["content-security-policy"].endswith(f"frame-ancestors {ORIGIN}")
    assert framed.local.places_held("mturk", "dialogue") == []


@pytest.mark.parametrize(
    "changes",
    [
        {"turkSubmitTo": "https://evil.example.org"},
        {"turkSubmitTo": f"{ORIGIN}.evil.example.org"},
        {"turkSubmitTo": "http://workers.example.org"},
        {"turkSubmitTo": None},
        {"assignmentId": "a b"},
        {"assignmentId": ""},
        {"workerId": "<script>"},
        {"workerId": None},
        {"hitId": "../x"},
        {"hit": "nowhere"},
        {"hit": ""},
    ],
)
def test_an_address_that_the_platform_does_not_make_is_refused(framed, changes) -> None:
    reply = framed.client().get(address(**changes), follow_redirects=False)
    assert reply.status_code == 404
    assert "<script>" not in reply.text
    assert framed.local.places_held("mturk", "dialogue") == []


def test_without_an_origin_nobody_comes_in(house) -> None:
    hit = dialogue()
    house.local.open_order(hit.key, [hit])
    assert house.client().get(address()).status_code == 404


def test_a_place_that_the_platform_offers_again_is_not_missing_here(framed) -> None:
    # One place; the first returned it on the platform, which has not told us.
    first, second = Plain(framed.client()), Plain(framed.client())
    first.get(address())
    second.get(address(assignmentId="A2", workerId="ABOB"))
    assert second.path == "q/1"
    # Nobody has two assignments of one HIT.
    third = Plain(framed.client())
    assert third.get(address(assignmentId="A3", workerId="ABOB")).status_code == 404


def test_somebody_else_s_assignment_is_not_opened(framed) -> None:
    Plain(framed.client()).get(address())
    assert Plain(framed.client()).get(address(workerId="ABOB")).status_code == 404


def test_invented_arrivals_find_an_end(framed, monkeypatch) -> None:
    from hmc_crowd_local.pages import _frame_routes

    monkeypatch.setattr(_frame_routes, "_MOST_ARRIVALS", 3)
    found = [
        framed.client().get(address(assignmentId=f"A{n}", workerId=f"AW{n}"), follow_redirects=False).status_code
        for n in range(6)
    ]
    assert found == [303] * 3 + [404] * 3


def test_own_people_are_not_offered_the_platform_s_hits(framed) -> None:
    from hmc_crowd_local.pages import Invites
    from pages_house import SECRET

    invite = Invites(framed.local, secret=SECRET).issue("eve")
    plain = Plain(framed.client())
    plain.get(f"/work/i/{invite.token}")
    assert "Judge the replies" not in plain.text


def test_the_origin_is_an_address() -> None:
    with pytest.raises(InputError, match="write origins"):
        PagesSettings(submit_origin="workers.example.org; script-src *")


def test_a_published_hit_waits_in_an_order_of_its_own(tmp_path, clock, new_house) -> None:
    """The campaign publishes on a platform that frames our pages: the work is there before anybody comes."""
    import pandas as pd

    from hmc_crowd.campaign import Campaign
    from hmc_crowd.testing import FakePlatform

    house = new_house(submit_origin=ORIGIN)
    platform = FakePlatform(clock=clock)
    with Campaign.create(tmp_path / "c.db", labels=["good", "bad"], seed=1, clock=clock) as campaign:
        campaign.add_items(pd.DataFrame({"item": ["a", "b"], "text": ["so", "it goes"]}))
        campaign.add_predictions(pd.DataFrame({"item": ["a", "b"], "label": "good", "confidence": 0.5}))
        campaign.estimate_effort()
        campaign.plan(trade_off=0.0, max_human=2, audit=0)
        paid = {"redundancy": 1, "pay_minor": 100, "budget_minor": 1_000, "dry_run": False}
        campaign.publish(platform, pages=house.local, **paid)
        (key,) = campaign.hits()["hit"]
    plain = Plain(house.client())
    plain.get(address(hit=key))
    assert plain.path == "q/1"
    assert re.search(r"so|it goes", plain.text)


@pytest.mark.parametrize("to", ["http://[::1", "https://\u2100.example", "", "x" * 5000])
def test_an_address_to_hand_in_to_that_is_none_is_refused(framed, to) -> None:
    assert framed.client().get(address(turkSubmitTo=to)).status_code == 404
