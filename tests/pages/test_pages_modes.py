"""Suggestions on the pages: shown to the drawn arm alone, chosen for nobody, stored with each answer; and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hmc_crowd_local._arms import mode_of
from pages_house import Plain, dialogue, question, served

from hmc_crowd._base.clock import SystemClock
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

TONE = {"question": "Is it polite?", "suggestion": "rude"}


def asked(**options: Any) -> Any:
    items = (question("t1", **TONE), question("t1", aspect="why", kind="text", labels=()), question("t2", **TONE))
    return dialogue(items=items, redundancy=50, **options)


def shown(house: Any, hit: Any, worker: str) -> tuple[str, Plain]:
    name, link = house.work(hit, worker)
    plain = Plain(house.client())
    plain.get(f"{link}/q/1")
    return name, plain


def test_a_suggestion_is_shown_to_its_arm_alone_and_chosen_for_nobody(house: Any) -> None:
    hit = asked(suggest_share=0.5)
    seen = {}
    for n in range(12):
        name, plain = shown(house, hit, f"w{n}")
        is_shown = "The machine suggests:</strong> <bdi>rude</bdi>" in plain.text
        assert is_shown == (mode_of(house.local.secret("arms"), hit, f"w{n}", "t1") == "suggest")
        assert 'value="1" checked' not in plain.text
        plain.answer(a0="0", a1="Because.", do="next")
        plain.answer(a0="0", do="next")
        plain.send("Hand in")
        answers = {(each.item, each.aspect): each for each in house.local.answers([name])[name]}
        arm = answers["t1", "label"].mode
        assert (arm == "suggest") == is_shown
        # Who saw the machine's label has not judged the item's other question blind.
        assert answers["t1", "why"].mode == arm
        assert answers["t1", "label"].suggestion == "rude"
        assert answers["t1", "why"].suggestion == ""
        seen[arm] = seen.get(arm, 0) + 1
    assert set(seen) == {"blind", "suggest"}


def test_the_arm_is_the_same_on_every_device(house: Any) -> None:
    hit = asked(suggest_share=0.5)
    _, link = house.work(hit, "ann")
    pages = [Plain(house.client()).get(f"{link}/q/1").text for _ in range(3)]
    assert len({"machine suggests" in page for page in pages}) == 1


def test_nothing_is_shown_without_a_share(house: Any) -> None:
    _, plain = shown(house, asked(), "ann")
    assert "suggests" not in plain.text
    assert "rude" in plain.text


def test_a_suggested_pair_follows_the_sides_as_they_stand(house: Any) -> None:
    pair = question("p", kind="pair", labels=("a", "b", "tie"), options=("Left.", "Right."), suggestion="a")
    hit = dialogue(items=(pair,), redundancy=50, suggest_share=1.0)
    said = set()
    for n in range(8):
        name, plain = shown(house, hit, f"w{n}")
        is_first = plain.text.index("Left.") < plain.text.index("Right.")
        assert f"<bdi>{'A' if is_first else 'B'} is better</bdi>" in plain.text
        plain.answer(a0="0", do="review")
        plain.send("Hand in")
        (answer,) = house.local.answers([name])[name]
        assert answer.swapped is not is_first
        assert answer.label == ("a" if is_first else "b")
        said.add(is_first)
    assert said == {True, False}


def test_numbers_are_checked_and_written_one_way(house: Any) -> None:
    number = question("n", kind="numeric", labels=("0", "100"), question="How many points?")
    name, link = house.work(dialogue(items=(number,), key="points"))
    plain = Plain(house.client())
    plain.get(f"{link}/q/1")
    assert 'type="number"' in plain.text
    assert "from 0 to 100" in plain.text
    for wrong in ("101", "-1", "nan", "1e999", "many", "1_0"):
        assert plain.answer(a0=wrong, do="save").status_code == 400, wrong
        plain.get(f"{link}/q/1")
    plain.answer(a0=" 7,50 ", do="review")
    plain.send("Hand in")
    (answer,) = house.local.answers([name])[name]
    assert answer.label == "7.5"


@pytest.mark.parametrize(
    "options", [{"kind": "numeric", "labels": ("9", "1")}, {"suggestion": "ugly"}, {"kind": "stars"}]
)
def test_questions_that_no_page_can_ask_are_refused(house: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        house.local.publish(dialogue(items=(question("x", **options),)))


def test_a_hit_from_before_suggestions_keeps_its_content(house: Any) -> None:
    from dataclasses import replace

    hit = dialogue()
    first = house.local.publish(hit)
    assert house.local.publish(replace(hit, suggest_share=0.0)).hit_id == first.hit_id


@pytest.mark.browser
def test_numbers_and_suggestions_in_a_browser(new_house: Callable[..., Any], chromium: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    house = new_house(at=SystemClock())
    number = question("n", kind="numeric", labels=("0", "100"), question="How many points?", suggestion="40")
    hit = dialogue(items=(number, question("t", **TONE)), suggest_share=1.0)
    with served(house.app) as url:
        house.url = url
        name, link = house.work(hit)
        page = chromium.new_context(viewport={"width": 320, "height": 640}, bypass_csp=True).new_page()
        page.set_default_timeout(10_000)
        page.goto(link)
        assert page.get_by_text("The machine suggests: 40").count() == 1
        field = page.get_by_role("spinbutton", name="How many points?")
        expect(field).to_have_value("")
        # Digits typed here are a number, not a choice elsewhere on the page.
        field.press_sequentially("12.5")
        field.blur()
        expect(page.get_by_role("status")).to_have_text("Saved")
        assert Axe().run(page).response["violations"] == []
        page.get_by_role("button", name="Next").click()
        page.get_by_text("The machine suggests: rude").wait_for()
        assert page.get_by_role("radio", checked=True).count() == 0
        assert Axe().run(page).response["violations"] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.context.close()
    saved = {each.item: each.label for each in house.local.saved_answers([name])[name]}
    assert saved == {"n": "12.5"}


def test_answers_from_before_0006_were_given_blind(house: Any) -> None:
    import sqlalchemy as sa
    from hmc_crowd_local._migrate import downgrade, upgrade

    name, plain = shown(house, asked(suggest_share=1.0), "ann")
    plain.answer(a0="0", a1="Because.", do="next")
    assert house.local.saved_answers([name])[name][0].mode == "suggest"
    downgrade(house.local._database, "w0005")
    with house.local._database.read() as connection:
        columns = {each["name"] for each in sa.inspect(connection).get_columns("workplace_answer")}
    assert "mode" not in columns
    upgrade(house.local._database)
    (first, *_) = house.local.saved_answers([name])[name]
    assert (first.label, first.mode, first.suggestion) == ("polite", "blind", "")


def test_a_campaign_of_pairs_is_judged_on_the_pages(tmp_path: Any, clock: Any) -> None:
    import re

    import pandas as pd
    from hmc_crowd_local.pages import Invites
    from pages_house import SECRET, make_house

    from hmc_crowd.campaign import Aspect, Campaign

    house = make_house(tmp_path / "workplace.db", clock)
    # Sides are drawn by the submission: of so many items, all lie on one side once in half a million runs.
    names = [f"i{n}" for n in range(20)]
    items = pd.DataFrame(
        {"item": names, "text": "Where to?", "response_a": "Left it is.", "response_b": "Right it is."}
    )
    aspects = [Aspect("better", kind="pair", guideline="The shorter way is better.")]
    with Campaign.create(str(tmp_path / "c.db"), aspects=aspects, seed=7, clock=clock) as campaign:
        campaign.add_items(items)
        campaign.add_predictions(pd.DataFrame({"item": names, "label": "a", "confidence": 0.5}))
        campaign.estimate_effort()
        campaign.plan(trade_off=0.0, max_human=None, audit=0)
        campaign.publish(house.local, redundancy=1, pay_minor=100, budget_minor=100_000, dry_run=False)
        plain = Plain(house.client())
        invite = Invites(house.local, secret=SECRET).issue("ann")
        plain.get(invite.url(house.url))
        while offers := re.findall(r'href="(/work/i/[^"]+/hit/[^"]+)"', plain.text):
            plain.get(offers[0])
            plain.send("Begin")
            assert "The shorter way is better." in plain.text
            while plain.path.startswith("q/"):
                # She always takes the right way, on whichever side it stands.
                is_left = plain.text.index("Right it is.") < plain.text.index("Left it is.")
                plain.answer(a0="0" if is_left else "1", do="next")
            plain.send("Hand in")
            plain.get(invite.url(house.url))
        assert campaign.collect(house.local).answers == 20
        campaign.aggregate()
        assert set(campaign.labels()["label"]) == {"b"}
        with campaign._context.store.read() as tx:
            assert set(tx.work.answers(1)["swapped"]) == {True, False}
    house.local.close()
