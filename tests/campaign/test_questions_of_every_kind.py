"""Several questions about an item, of every kind: asked together, answered on the pages, aggregated by kind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd.campaign import Aspect, Campaign, read_aspects
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.platform import Capabilities

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ASPECTS = (
    Aspect("tone", ("kind", "rude"), guideline="Rude is what hurts."),
    Aspect("warmth", ("1", "2", "3"), kind="ordinal", question="How warm is it?"),
    Aspect("length", ("0", "100"), kind="numeric"),
    Aspect("flaws", ("insult", "threat"), kind="multi_label"),
    Aspect("better", kind="pair", question="Which answer is better?"),
    Aspect("why", kind="text"),
)
ITEMS = pd.DataFrame(
    {
        "item": ["i1", "i2"],
        "text": ["Where is the station?", "What is the time?"],
        "response_a": ["Left, then right.", "Noon."],
        "response_b": ["No idea.", "Late."],
    }
)
SAID = {
    "ann": {"tone": "kind", "warmth": "3", "length": "10", "flaws": "[]", "better": "a", "why": "clear"},
    "bob": {"tone": "kind", "warmth": "2", "length": "20", "flaws": '["insult"]', "better": "a", "why": "short"},
    "cid": {"tone": "rude", "warmth": "3", "length": "30", "flaws": '["insult"]', "better": "b", "why": "odd"},
}


@pytest.fixture
def campaign(tmp_path: Path, clock: Any) -> Iterator[Campaign]:
    with Campaign.create(tmp_path / "c.db", aspects=ASPECTS, seed=1, clock=clock) as made:
        made.add_items(ITEMS)
        made.add_predictions([{"item": i, "label": "kind", "confidence": 0.6} for i in ("i1", "i2")], aspect="tone")
        made.estimate_effort()
        made.plan(trade_off=0.0, max_human=None, audit=0)
        yield made


def answer_all(workplace: Any, clock: Any) -> None:
    from hmc_crowd.platform import RemoteAnswer

    for worker, said in SAID.items():
        for hit_id in [remote.hit_id for remote in workplace.find_all().values()]:
            hit = workplace.hit(hit_id)
            work = workplace.accept(hit_id, worker)
            now = clock.now()
            answers = [
                RemoteAnswer(each.item, each.aspect, said[each.aspect], now, now, swapped=each.kind == "pair" or None)
                for each in hit.items
            ]
            workplace.hand_in(work.submission_id, worker, answers)


@pytest.fixture
def answered(campaign: Campaign, workplace: Any, clock: Any) -> Campaign:
    campaign.publish(workplace, redundancy=3, pay_minor=100, budget_minor=100_000, dry_run=False)
    answer_all(workplace, clock)
    collected = campaign.collect(workplace)
    assert (collected.answers, collected.unusable) == (2 * 3 * 6, 0)
    return campaign


def test_the_first_aspect_is_planned_and_all_are_asked(campaign: Campaign, workplace: Any) -> None:
    plan = campaign.plan(trade_off=0.0, max_human=None, audit=0)
    assert (plan.items, plan.people) == (2, 2)
    campaign.publish(workplace, redundancy=3, pay_minor=100, budget_minor=100_000, dry_run=False)
    (remote,) = workplace.find_all().values()
    hit = workplace.hit(remote.hit_id)
    by_aspect = {each.aspect: each for each in hit.items if each.item == "i1"}
    assert set(by_aspect) == {each.name for each in ASPECTS}
    assert by_aspect["better"].options == ("Left, then right.", "No idea.")
    assert (by_aspect["warmth"].kind, by_aspect["warmth"].question) == ("ordinal", "How warm is it?")
    assert hit.guideline == "Rude is what hurts."
    # One item's seconds are shared by all that is asked about it.
    with campaign._context.store.read() as tx:
        (record,) = tx.work.hits(1)
    assert record.expected_s == pytest.approx(plan.human_s, rel=0.01)


def test_answers_become_labels_by_their_kind(answered: Campaign) -> None:
    result = answered.aggregate()
    found = {
        name: answered.labels(aspect=name).set_index("item")["label"].to_dict()
        for name in ("tone", "warmth", "length", "flaws", "better")
    }
    assert found["tone"] == {"i1": "kind", "i2": "kind"}
    assert found["warmth"] == {"i1": "3", "i2": "3"}  # 3, 2, 3: nearer to 3
    # Biases of -10, 0 and 10 around 20, on both items.
    assert [float(each) for each in found["length"].values()] == pytest.approx([20, 20])
    assert [json.loads(each) for each in found["flaws"].values()] == [["insult"], ["insult"]]
    assert found["better"] == {"i1": "a", "i2": "a"}
    assert any("texts: kept, and not aggregated" in note for note in result.notes)
    assert answered.labels(aspect="why").empty


def test_sides_are_stored_with_each_answer(answered: Campaign) -> None:
    with answered._context.store.read() as tx:
        answers = tx.work.answers(1)
    pairs = answers[answers["aspect"] == "better"]
    assert pairs["swapped"].tolist() == [True] * 6
    assert answers.loc[answers["aspect"] == "tone", "swapped"].isna().all()


def test_a_round_is_over_when_every_question_has_its_answers(answered: Campaign) -> None:
    answered.aggregate()
    assert answered.status().work_left == 0


def test_numbers_and_sets_out_of_range_are_unusable(campaign: Campaign, workplace: Any, monkeypatch: Any) -> None:
    from hmc_crowd.campaign._aspects import canonical

    aspects = {each.name: each for each in campaign._context.aspects()}
    for name, label in (("length", "101"), ("length", "nan"), ("flaws", '["late"]'), ("flaws", "["), ("why", " ")):
        assert canonical(aspects[name], aspects[name].labels, label) is None, label
    assert canonical(aspects["length"], ("0", "100"), "7.50") == "7.5"


def test_gold_is_asked_what_the_others_are_asked(tmp_path: Path, clock: Any, workplace: Any) -> None:
    with Campaign.create(tmp_path / "g.db", aspects=ASPECTS[:2], seed=1, clock=clock) as made:
        names = [f"i{n}" for n in range(12)]
        made.add_items(pd.DataFrame({"item": names, "text": "so it goes"}))
        made.add_predictions(pd.DataFrame({"item": names, "label": "kind", "confidence": 0.6}), aspect="tone")
        made.add_gold(pd.DataFrame({"item": names[:4], "label": "rude"}), aspect="tone")
        made.estimate_effort()
        made.plan(trade_off=0.0, max_human=None, audit=0)
        made.publish(workplace, redundancy=1, pay_minor=100, budget_minor=100_000, dry_run=False)
        for remote in workplace.find_all().values():
            asked = [(each.item, each.aspect) for each in workplace.hit(remote.hit_id).items]
            items = dict.fromkeys(item for item, _ in asked)
            assert set(items) & set(names[:4])
            assert sorted(asked) == sorted((item, aspect) for item in items for aspect in ("tone", "warmth"))


def test_every_item_is_asked_in_the_order_of_the_campaign_gold_too(tmp_path: Path, clock: Any, workplace: Any) -> None:
    names = [f"i{n}" for n in range(4)]
    # Not the order of the alphabet: a page whose questions stood in another order would be known for gold.
    aspects = [Aspect("tone", ("kind", "rude")), Aspect("better", ("yes", "no")), Aspect("ends", ("well", "badly"))]
    with Campaign.create(tmp_path / "g.db", aspects=aspects, seed=1, clock=clock) as campaign:
        campaign.add_items([{"item": item, "text": f"Text {item}."} for item in names])
        campaign.add_predictions([{"item": i, "label": "kind", "confidence": 0.6} for i in names], aspect="tone")
        campaign.add_gold([{"item": "i0", "label": "kind"}], aspect="tone")
        campaign.estimate_effort()
        campaign.plan(trade_off=0.0, max_human=None, audit=0)
        campaign.publish(workplace, redundancy=2, pay_minor=100, budget_minor=100_000, gold_share=0.25, dry_run=False)
        (remote,) = workplace.find_all().values()
        shown = workplace.hit(remote.hit_id).items
    asked = {item: [each.aspect for each in shown if each.item == item] for item in names}
    assert asked == {item: ["tone", "better", "ends"] for item in names}


def test_pairs_need_two_responses(tmp_path: Path, clock: Any) -> None:
    with Campaign.create(tmp_path / "p.db", aspects=[Aspect("better", kind="pair")], seed=1, clock=clock) as made:
        with pytest.raises(FrameError, match="lack the column response_a"):
            made.add_items([{"item": "i1", "text": "t"}])
        with pytest.raises(FrameError, match="response_b is empty in row 0"):
            made.add_items([{"item": "i1", "text": "t", "response_a": "x", "response_b": ""}])
        made.add_items(ITEMS)
        made.add_predictions([{"item": i, "label": "tie", "confidence": 0.6} for i in ("i1", "i2")])


def test_predictions_follow_the_kind(campaign: Campaign) -> None:
    campaign.add_predictions([{"item": "i1", "label": '["threat", "insult"]', "confidence": 0.6}], aspect="flaws")
    flaws = campaign.labels(aspect="flaws")
    assert flaws["label"].tolist() == ['["insult", "threat"]']
    with pytest.raises(FrameError, match="a number from 0 to 100"):
        campaign.add_predictions([{"item": "i1", "label": "long", "confidence": 0.6}], aspect="length")
    with pytest.raises(InputError, match="answered by texts"):
        campaign.add_predictions([{"item": "i1", "label": "because", "confidence": 0.6}], aspect="why")
    with pytest.raises(FrameError, match="label is empty in row 0"):
        campaign.add_gold([{"item": "i1", "label": " "}], aspect="why")


def test_a_platform_that_cannot_ask_a_kind_is_refused_in_a_sentence(
    campaign: Campaign, workplace: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(type(workplace), "capabilities", Capabilities())
    with pytest.raises(InputError, match=r"cannot ask the numeric aspect 'length' .*local workplace"):
        campaign.publish(workplace, redundancy=3, pay_minor=100)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"kind": "stars"}, "choose nominal, ordinal"),
        ({"kind": "ordinal", "labels": ("1",)}, "at least two"),
        ({"kind": "numeric", "labels": ("9", "1")}, "least and the largest"),
        ({"kind": "pair", "labels": ("x", "y")}, "a, b and"),
        ({"kind": "text", "labels": ("x",)}, "has none"),
        ({"kind": "multi_label"}, "name those"),
        ({"labels": ("x", "x")}, "repeat"),
    ],
)
def test_wrong_aspects_are_named(values: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Aspect("q", **values)


def test_a_text_cannot_route(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="put one before it"):
        Campaign.create(tmp_path / "t.db", aspects=[Aspect("why", kind="text")])
    assert not (tmp_path / "t.db").exists()


def test_aspects_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "how.txt").write_text("Look closely.\n", encoding="utf-8")
    path = tmp_path / "aspects.toml"
    path.write_text('[[aspect]]\nname = "tone"\nlabels = ["kind", "rude"]\nguideline_file = "how.txt"\n[[aspect]]\n'
                    'name = "better"\nkind = "pair"\n', encoding="utf-8")  # fmt: skip
    tone, better = read_aspects(path)
    assert (tone.guideline, better.labels) == ("Look closely.", ("a", "b", "tie"))
    for content, says in (
        ("x =", "no TOML"),
        ("x = 1", "nothing else"),
        ('[[aspect]]\nname = "a"\ncolour = 1', "colour"),
    ):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=says):
            read_aspects(path)


def test_an_expert_has_both_responses_before_him_whatever_is_asked(answered: Campaign) -> None:
    answered.aggregate()
    for aspect in ("tone", "better"):
        assert answered.case("i1", "eva", aspect=aspect).options == ("Left, then right.", "No idea.")


def test_what_else_is_asked_follows_the_first_question_and_says_so(campaign: Campaign) -> None:
    first, other = (campaign.explain("i1", aspect=name) for name in ("tone", "warmth"))
    assert (first.destination, other.destination) == ("people", "people")
    assert other.why == f"the first question decides: {first.why}"
    assert (other.gain, other.rank) == (None, None)
