"""Gold of a campaign: what publishing says of it, how it marks people by the kind of question, and its state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign import Aspect, Campaign
from hmc_crowd.campaign._gold_marking import GoldRule, Meaning, best_guess
from hmc_crowd.campaign._gold_pool import gold_pool, gold_shown, missed_gold
from hmc_crowd.campaign._test_scores import known_checks
from hmc_crowd.errors import InputError, PlatformError
from hmc_crowd.platform import RemoteAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

TONE = (Aspect("tone", ("kind", "rude")),)
KINDS = (
    Aspect("tone", ("kind", "rude")),
    Aspect("warmth", ("1", "2", "3", "4", "5"), kind="ordinal"),
    Aspect("length", ("0", "100"), kind="numeric"),
    Aspect("flaws", ("insult", "threat", "lie"), kind="multi_label"),
    Aspect("why", kind="text"),
)
KNOWN = {"tone": "kind", "warmth": "5", "length": "40", "flaws": '["insult", "threat"]', "why": "it is polite"}
SPEND = {"redundancy": 2, "pay_minor": 100, "budget_minor": 1_000_000}


@pytest.fixture
def make(tmp_path: Path, clock: Any) -> Iterator[Callable[..., Campaign]]:
    """Make a planned campaign of items i0, i1, ... and gold g0, g1, ... with the labels given by aspect."""
    made: list[Campaign] = []

    def build(
        items: int, gold: dict[str, Sequence[str]] | None = None, *, aspects: Any = TONE, **features: Any
    ) -> Campaign:
        campaign = Campaign.create(tmp_path / f"c{len(made)}.db", aspects=aspects, seed=1, clock=clock)
        made.append(campaign)
        known = max((len(labels) for labels in (gold or {}).values()), default=0)
        names = [f"g{row}" for row in range(known)] + [f"i{row}" for row in range(items)]
        campaign.add_items(pd.DataFrame({"item": names, "text": "So it goes.", **features}))
        campaign.add_predictions(pd.DataFrame({"item": names, "label": "kind", "confidence": 0.6}), aspect="tone")
        for aspect, labels in (gold or {}).items():
            campaign.add_gold(pd.DataFrame({"item": names[: len(labels)], "label": labels}), aspect=aspect)
        campaign.add_effort(pd.DataFrame({"item": names, "seconds": 30.0}))
        campaign.plan(trade_off=0.0, max_human=None, audit=0)
        return campaign

    yield build
    for campaign in made:
        campaign.close()


def say_all(campaign: Campaign, place: Any, clock: Any, worker: str, says: Callable[[str, str], str]) -> None:
    """Let a worker do every HIT."""
    for remote in place.find_all().values():
        hit = place.hit(remote.hit_id)
        taken = place.accept(remote.hit_id, worker)
        now = clock.now()
        said = [RemoteAnswer(each.item, each.aspect, says(each.item, each.aspect), now, now) for each in hit.items]
        place.hand_in(taken.submission_id, worker, said)


def names(campaign: Campaign, place: Any) -> dict[str, str]:
    with campaign._context.store.read() as tx:
        return tx.workers.known(place.name)


# --- what publishing says


def test_the_sheet_says_what_gold_costs_and_tells(make: Any, workplace: Any) -> None:
    # 18 items of 30 s at a target of 5 minutes: 270 s of work and one gold, so two HITs of ten, two people each.
    campaign = make(18, {"tone": ["kind", "rude"] * 3})
    sheet = campaign.publish(workplace, **SPEND, target_minutes=5, dry_run=True)
    assert (sheet.hits, sheet.answers) == (2, 40)
    gold = sheet.gold
    # 4 of 40 answers, of 2 x 2 x 1.00; both people can do both HITs: two gold each, +-1.96 sqrt(.16 / 4).
    assert (gold.load.answers, gold.load.share, gold.load.cost_minor) == (4, 0.1, 40)
    assert (gold.load.per_worker, gold.people, gold.people_from, gold.load.items_needed) == (2.0, 2, "fewest", 2)
    assert gold.load.half_width == pytest.approx(0.392)
    assert (gold.items, gold.mixed_in, gold.hits_each, gold.most_shown, gold.hits_without) == (6, 2, 2, 2, 0)
    assert sheet.notes == ()
    assert "4 of the answers (10.0%), about 0.40 USD" in str(gold)
    # Told that four share the work, one gold answer each is expected.
    told = campaign.publish(workplace, **SPEND, target_minutes=5, people=4, dry_run=True).gold
    assert (told.load.per_worker, told.people_from) == (1.0, "told")


def test_the_sheet_is_the_same_after_publishing(make: Any, workplace: Any) -> None:
    campaign = make(18, {"tone": ["kind", "rude"] * 3})
    dry = campaign.publish(workplace, **SPEND, target_minutes=5, dry_run=True)
    assert campaign.publish(workplace, **SPEND, target_minutes=5, dry_run=False).gold == dry.gold
    assert campaign.publish(workplace, **SPEND, target_minutes=5, dry_run=True).gold == dry.gold


@pytest.mark.parametrize(
    ("gold", "options", "says"),
    [
        ({}, {}, "the campaign has no gold, so nobody's answers can be checked"),
        ({"tone": ["kind", "rude"]}, {"gold_share": 0.0}, "no gold is mixed in"),
        ({"tone": ["rude"] * 6}, {}, "is of one label, so whoever always says 'rude' passes"),
        (
            {"tone": ["kind", "rude"]},
            {"gold_limit": 2},
            "4 of 6 HITs carry no gold, which rests at its limit of 2 people: make about 4 more gold items, or raise",
        ),
        (
            # One gold in each of six HITs, two items: a person can take two, so twelve places need six people.
            {"tone": ["kind", "rude"]},
            {"people": 3},
            "too little gold for 3 people, one of them can take 2 of the 6 HITs: make 2 more gold items, lower "
            "gold_share, or have at least 6 people",
        ),
    ],
)
def test_what_is_wrong_with_gold_is_said_in_a_sentence(
    make: Any, workplace: Any, gold: Any, options: Any, says: str
) -> None:
    sheet = make(54, gold).publish(workplace, **SPEND, target_minutes=5, **options, dry_run=True)
    assert len(sheet.notes) == 1
    assert says in sheet.notes[0]


def test_enough_balanced_gold_needs_no_word(make: Any, workplace: Any) -> None:
    sheet = make(54, {"tone": ["kind", "rude"] * 3}).publish(workplace, **SPEND, target_minutes=5, people=2)
    assert sheet.notes == ()
    assert sheet.gold.hits_each == 6


def test_own_pages_give_nobody_gold_twice(make: Any, workplace: Any) -> None:
    campaign = make(18, {"tone": ["kind"]})
    sheet = campaign.publish(workplace, **SPEND, target_minutes=5, dry_run=False)
    assert sheet.gold.hits_each == 1
    first, second = (remote.hit_id for remote in workplace.find_all().values())
    workplace.accept(first, "ann")
    with pytest.raises(PlatformError, match="would show it twice"):
        workplace.accept(second, "ann")
    assert workplace.accept(second, "bob")


def test_gold_is_balanced_when_published(make: Any, workplace: Any) -> None:
    campaign = make(54, {"tone": ["kind"] * 12 + ["rude"] * 3})
    campaign.publish(workplace, **SPEND, target_minutes=5, dry_run=False)
    with campaign._context.store.read() as tx:
        shown = gold_shown(campaign._context, tx)
    # Six HITs: three of each label, each once, for two people.
    assert sorted(shown.values()) == [2] * 6
    assert sum(item in {"g12", "g13", "g14"} for item, _ in shown) == 3


def test_the_limit_holds_over_rounds_and_is_shown(make: Any, workplace: Any, clock: Any) -> None:
    campaign = make(18, {"tone": ["kind", "rude", "rude"]})
    campaign.publish(workplace, **SPEND, target_minutes=5, gold_limit=3, dry_run=False)
    table = campaign.gold_table().set_index("item")
    assert sorted(table["given_out"]) == [0, 2, 2]
    assert not table["rests"].any()
    assert set(table["limit"]) == {3}
    for worker in ("ann", "bob"):
        say_all(campaign, workplace, clock, worker, lambda item, _: "kind")
    campaign.collect(workplace)
    campaign.plan(trade_off=0.0, max_human=None, audit=0)
    again = {**SPEND, "redundancy": 4, "target_minutes": 5, "gold_limit": 3}
    # Two more people for each question: 2 + 2 are above 3, so the unshown item alone is left, for one of two HITs.
    sheet = campaign.publish(workplace, **again, dry_run=False)
    assert (sheet.gold.mixed_in, sheet.gold.hits_without, sheet.gold.most_shown) == (1, 1, 2)
    assert set(campaign.gold_table()["given_out"]) == {2}


def test_a_senseless_limit_is_refused(make: Any, workplace: Any) -> None:
    campaign = make(9, {"tone": ["kind"]})
    for value, says in ((0, "gold_limit is 0"), (1, "at least 2"), (2.5, "whole number")):
        with pytest.raises(InputError, match=says):
            campaign.publish(workplace, **SPEND, gold_limit=value)


# --- how hard gold is


def test_difficulty_is_the_share_that_missed_it_pulled_towards_all_gold(make: Any, workplace: Any, clock: Any) -> None:
    campaign = make(18, {"tone": ["kind", "rude"]})
    campaign.publish(workplace, **SPEND, target_minutes=5, dry_run=False)
    for worker in ("ann", "bob"):
        say_all(campaign, workplace, clock, worker, lambda item, _: "kind")
    campaign.collect(workplace)
    with campaign._context.store.read() as tx:
        missed = missed_gold(campaign._context, tx)
        pool = gold_pool(campaign._context, tx).set_index("item")["difficulty"]
    # Two of four are right, so a prior of (1, 1): (1 + 0) / (2 + 2) and (1 + 2) / (2 + 2).
    assert missed["difficulty"].tolist() == [0.25, 0.75]
    assert pool["g0"] < pool["g1"]
    table = campaign.gold_table().set_index("item")
    assert table["missed"].to_dict() == {"g0": 0, "g1": 2}
    assert table["answers"].to_dict() == {"g0": 2, "g1": 2}
    assert table["workers"].to_dict() == {"g0": 2, "g1": 2}


def test_before_answers_difficulty_is_complexity_or_else_effort(make: Any) -> None:
    campaign = make(1, {"tone": ["kind"] * 4}, complexity=[0.9, 0.1, np.nan, np.nan, np.nan])
    campaign.add_effort(pd.DataFrame({"item": ["g2", "g3"], "seconds": [20.0, 90.0]}))
    with campaign._context.store.read() as tx:
        found = gold_pool(campaign._context, tx).set_index("item")["difficulty"]
    # Places among those that the same measure speaks of.
    assert found[["g0", "g1", "g2", "g3"]].tolist() == [1.0, 0.5, 0.5, 1.0]


# --- marks by the kind of question


@pytest.fixture
def marked(make: Any, workplace: Any, clock: Any) -> Callable[..., Campaign]:
    """A campaign of all kinds with one gold item: each worker knows it but for what is given."""

    def play(**workers: dict[str, str]) -> Campaign:
        campaign: Campaign = make(1, {name: [label] for name, label in KNOWN.items()}, aspects=KINDS)
        campaign.publish(workplace, **{**SPEND, "redundancy": len(workers)}, dry_run=False)
        for worker, said in workers.items():
            say_all(campaign, workplace, clock, worker, lambda _, aspect, said=said: {**KNOWN, **said}[aspect])
        campaign.collect(workplace)
        return campaign

    return play


def right_of(campaign: Campaign, place: Any, worker: str, **options: Any) -> tuple[int, int]:
    table = campaign.check_gold(**options).workers.set_index("worker")
    row = table.loc[names(campaign, place)[worker]]
    return int(row["right"]), int(row["n"])


def test_gold_is_marked_by_the_kind_of_question(marked: Any, workplace: Any) -> None:
    cases: dict[str, tuple[dict[str, str], int]] = {
        "all": ({}, 4),
        "other_label": ({"tone": "rude"}, 3),
        "a_step_off": ({"warmth": "4"}, 4),  # on a scale of five that is right
        "far_off": ({"warmth": "1"}, 3),
        "a_tenth_off": ({"length": "50"}, 4),  # of 0 to 100
        "more_off": ({"length": "51"}, 3),
        "one_lacks": ({"flaws": '["insult"]'}, 3),
        "other_order": ({"flaws": '["threat", "insult"]'}, 4),
    }
    campaign = marked(**{worker: said for worker, (said, _) in cases.items()})
    table = campaign.check_gold().workers.set_index("worker")
    found = {worker: int(table.loc[name, "right"]) for worker, name in names(campaign, workplace).items()}
    assert found == {worker: right for worker, (_, right) in cases.items()}
    assert set(table["n"]) == {4}  # the text does not count without an encoder


def test_a_tolerance_is_kept_and_counts_everywhere(marked: Any, workplace: Any) -> None:
    campaign = marked(ann={"warmth": "4", "length": "51", "flaws": '["insult"]'})
    assert right_of(campaign, workplace, "ann") == (2, 4)
    assert str(campaign.set_gold_tolerance(11, aspect="length")) == "length: right within 11"
    campaign.set_gold_tolerance(1, aspect="flaws")
    assert right_of(campaign, workplace, "ann") == (4, 4)
    campaign.set_gold_tolerance(0, aspect="warmth")
    assert right_of(campaign, workplace, "ann") == (3, 4)
    table = campaign.check_quality().workers.set_index("worker")
    assert table.loc[names(campaign, workplace)["ann"], "right"] == 3
    assert campaign.set_gold_tolerance(None, aspect="warmth").is_default
    assert right_of(campaign, workplace, "ann") == (4, 4)


def test_the_effort_models_test_score_marks_gold_by_the_same_rules(marked: Any) -> None:
    campaign = marked(ann={"warmth": "4", "length": "51", "why": "so it is"})
    with campaign._context.store.read() as tx:
        checks = known_checks(campaign._context, tx)
    # Of label, step, number and set the number alone is wrong; the text counts for nobody.
    assert sorted(checks["right"]) == [0.0, 1.0, 1.0, 1.0]


def test_texts_count_by_meaning_where_an_encoder_is_given(marked: Any, workplace: Any) -> None:
    campaign = marked(ann={"why": "friendly words"}, bob={})
    vectors = {"it is polite": [1.0, 0.0], "friendly words": [0.8, 0.6]}
    asked: list[list[str]] = []

    def encode(texts: Sequence[str]) -> list[list[float]]:
        asked.append(list(texts))
        return [vectors[text] for text in texts]

    # (.8 + 1) / 2 = .9
    assert right_of(campaign, workplace, "ann", encoder=encode, similar=0.9) == (5, 5)
    assert right_of(campaign, workplace, "ann", encoder=encode, similar=0.91) == (4, 5)
    # bob's text is the gold text: nothing is to be encoded for him.
    assert asked == [["friendly words", "it is polite"]] * 2
    quality = campaign.check_quality(encoder=encode).workers.set_index("worker")
    assert quality.loc[names(campaign, workplace)["ann"], "n"] == 5
    with pytest.raises(InputError, match=r"similar is 0; give a share above 0"):
        campaign.check_gold(encoder=encode, similar=0)


def test_what_does_not_count_and_what_is_tolerated_is_said(marked: Any) -> None:
    campaign = marked(ann={})
    notes = campaign.check_gold().notes
    assert "gold of aspect why is in words and does not count; give an encoder, such as 'minilm'" in notes
    assert "gold of warmth: right within 1 of 5 steps (by default)" in notes
    # One gold item: always its label is always right.
    assert any("whoever always says 'kind' is right on 100%" in each for each in notes)
    assert any("in words" in each for each in campaign.check_quality().notes)


def test_the_workplace_is_told_by_the_same_rules(marked: Any, workplace: Any) -> None:
    marked(ann={"warmth": "4", "tone": "rude"})
    ((_, right, n),) = workplace.standing("ann")
    assert (right, n) == (3, 4)


def test_a_senseless_tolerance_is_refused(make: Any) -> None:
    campaign = make(1, {"tone": ["kind"]}, aspects=KINDS)
    for aspect, value, says in (
        ("tone", 1, "nominal, whose labels are right or wrong"),
        ("why", 1, "text, whose labels"),
        ("warmth", 4, "where every answer would be right"),
        ("warmth", -1, "at least 0"),
        ("length", float("inf"), "at least 0"),
    ):
        with pytest.raises(InputError, match=says):
            campaign.set_gold_tolerance(value, aspect=aspect)
    assert all(rule.is_default for rule in campaign.gold_rules().values())


def test_defaults_go_by_the_scale(make: Any) -> None:
    aspects = (*TONE, Aspect("short", ("1", "2", "3"), kind="ordinal"), Aspect("free", kind="numeric"))
    campaign = make(1, {"free": ["10", "30"]}, aspects=aspects)
    rules = campaign.gold_rules()
    # No step of three; a tenth of the gold's span where a number has no ends.
    assert (rules["short"].tolerance, rules["free"].tolerance) == (0.0, 2.0)


# --- rules by hand


def test_the_best_guess_on_a_scale_is_the_middle_of_its_tolerance() -> None:
    rule = GoldRule("warmth", "ordinal", ("1", "2", "3", "4", "5"), 1.0)
    # Of 1, 4, 5, 5 always "4" is right on three and always "5" too; the first counts.
    assert best_guess(rule, ["1", "4", "5", "5"]) == ("4", 0.75)
    assert best_guess(GoldRule("why", "text", (), 0.0), ["a", "a"]) == ("", 0.0)


def test_a_number_on_the_edge_of_its_tolerance_is_right() -> None:
    rule = GoldRule("length", "numeric", (), 0.1)
    assert rule.is_right(["0.4", "0.41", "x", None], ["0.3"] * 4).tolist() == [True, False, False, False]


def test_each_pair_of_texts_is_compared_once() -> None:
    calls: list[int] = []

    def encode(texts: Sequence[str]) -> list[list[float]]:
        calls.append(len(texts))
        return [[1.0, float(len(text))] for text in texts]

    marks = Meaning(encode).marks(["a", "a", "bb"], ["a", "a", "a"])
    # (1, 1) and (1, 2): cosine 3 / sqrt(10).
    assert marks == pytest.approx([1.0, 1.0, (3 / np.sqrt(10) + 1) / 2])
    assert calls == [4]


@pytest.mark.text
def test_an_encoder_may_be_named() -> None:
    near, far = Meaning("minilm").marks(["it is polite", "the sky fell"], ["it is very polite", "it is polite"])
    assert near > 0.9
    assert far < 0.6
