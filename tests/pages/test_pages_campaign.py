"""A campaign whose work is done on the pages: what people click is what the campaign stores."""

from __future__ import annotations

import pandas as pd
import pytest
from pages_house import SECRET, Plain, make_house

from hmc_crowd.campaign import Campaign

from hmc_crowd_local.pages import Invites  # isort: skip


@pytest.fixture
def campaign(tmp_path, clock):
    made = Campaign.create(str(tmp_path / "campaign.db"), labels=["good", "bad"], seed=7, clock=clock)
    names = [f"i{index}" for index in range(6)]
    texts = ["so it goes", "well then", "grim words", "and so on", "once more", "the end"]
    made.add_items(
        pd.DataFrame(
            {
                "item": names, "group": ["g0"] * 3 + ["g1"] * 3, "position": [1, 2, 3] * 2, "text": texts,
                "sensitive": [False, False, True, False, False, False],
            }
        )
    )  # fmt: skip
    made.add_predictions(pd.DataFrame({"item": names, "label": "good", "confidence": 0.5}))
    made.estimate_effort()
    made.plan(trade_off=0.0, max_human=6, audit=0)
    yield made
    made.close()


def test_answers_skips_and_clocks_arrive_in_the_campaign(campaign, tmp_path, clock) -> None:
    house = make_house(tmp_path / "workplace.db", clock)
    paid = {"redundancy": 1, "pay_minor": 100, "budget_minor": 100_000, "content_warning": "Some grim words."}
    campaign.publish(house.local, dry_run=False, **paid)
    plain = Plain(house.client())
    invite = Invites(house.local, secret=SECRET).issue("ann")
    plain.get(invite.url(house.url))
    import re

    veiled = 0
    while offers := re.findall(r'href="(/work/i/[^"]+/hit/[^"]+)"', plain.text):
        plain.get(offers[0])
        plain.send("Begin")
        while plain.path.startswith("q/"):
            veiled += "This text may disturb." in plain.text
            clock.advance(30)
            if "once more" in plain.text and "Judge this one" in plain.text.split("once more")[0].rsplit("<li", 1)[1]:
                plain.send("Why?", do="skip", reason="broken")
            else:
                plain.answer(a0="1", do="next")
        plain.send("Hand in")
        plain.get(invite.url(house.url))
    collected = campaign.collect(house.local)
    assert collected.answers == 5
    assert collected.unusable == 0
    campaign.aggregate()
    people = campaign.labels().query("source == 'crowd'").set_index("item")["label"]
    assert people.to_dict() == dict.fromkeys(["i0", "i1", "i2", "i3", "i5"], "bad")
    assert veiled == 1
    house.local.close()
