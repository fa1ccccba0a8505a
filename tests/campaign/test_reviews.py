"""Experts' own work: second looks, escalation, appeals; who may look, whose label holds, what is written down."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.campaign import Campaign, _looks
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.quality import Expert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NAMES = [f"i{n:02d}" for n in range(12)]
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
# Two of three people say "kind" everywhere.
CROWD = {"ann": "kind", "bob": "kind", "cy": "rude"}


def build(folder: Path, clock: Any) -> None:
    """A campaign whose 11 items people have answered and a gate sent to experts; the twelfth is gold."""
    with Campaign.create(folder / "c.db", labels=["kind", "rude", "odd"], seed=1, clock=clock) as made:
        risk = [2 if n % 2 else 0 for n in range(12)]
        made.add_items(pd.DataFrame({"item": NAMES, "text": "so it goes", "risk": risk}))
        made.add_predictions(pd.DataFrame({"item": NAMES, "label": "kind", "confidence": 0.8}))
        made.add_gold(pd.DataFrame({"item": NAMES[11:], "label": "rude"}))
        made.estimate_effort()
        made.plan(trade_off=0.0, max_human=11, audit=0)
        with made._context.store.begin() as tx:
            put = {"text": "", "destination": "people", "reason": "gain", "policy": "p", "gain": 0.0, "due_at": None}
            tx.door.put(1, [{**put, "item": item, "inclusion_probability": 1.0} for item in NAMES[:11]])
            for worker, label in CROWD.items():
                said = {"aspect": "label", "worker": worker, "started": None, "label": label}
                tx.door.answer(1, [{**said, "item": item} for item in NAMES[:11]], aspects=["label"], needed={})
        made.aggregate(method="majority")
        made.gate("consensus", agreement=0.9)


@pytest.fixture(scope="session")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reviews")
    build(folder, VirtualClock(START))
    return folder


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(START)


@pytest.fixture
def campaign(answered: Path, tmp_path: Path, clock: Any) -> Iterator[Campaign]:
    folder = shutil.copytree(answered, tmp_path / "copy")
    with Campaign.open(folder / "c.db", clock=clock) as opened:
        yield opened


@pytest.fixture
def say(campaign: Campaign, clock: VirtualClock) -> Callable[..., None]:
    """Let an expert judge and decide, a minute after the last one."""

    def do(expert: str, item: str, label: str, final: str | None = None) -> None:
        clock.advance(60)
        campaign.judge(item, label, expert=expert)
        campaign.decide(item, final or label, expert=expert)

    return do


def seat(campaign: Campaign, **tiers: int) -> None:
    """Tell the campaign its experts and their tiers."""
    with campaign._context.store.begin() as tx:
        tx.reviews.seat(1, tiers)


def state(campaign: Campaign, item: str) -> tuple[str, int]:
    row = campaign.reviews().set_index("item").loc[item]
    return str(row["state"]), int(row["to_tier"])


def label_of(campaign: Campaign, item: str) -> str:
    return str(campaign.labels().set_index("item")["label"][item])


def may_see(campaign: Campaign, *experts: str, item: str = "i00") -> list[str]:
    return [expert for expert in experts if item in set(campaign.cases(expert)["item"])]


# --- second looks and escalation ---


def test_without_a_setting_one_expert_settles_an_item(campaign: Campaign, say: Any) -> None:
    say("eva", "i00", "rude")
    assert state(campaign, "i00") == ("decided", 0)
    assert may_see(campaign, "eva", "max") == []
    assert campaign.decisions(newest=True).set_index("item").loc["i00", "decision"] == "decided"


def test_a_second_look_is_of_the_same_tier_and_never_by_the_same_person(campaign: Campaign, say: Any) -> None:
    seat(campaign, eva=2, max=2, ida=1, old=3)
    campaign.set_reviews(1.0)
    say("eva", "i00", "rude")
    assert state(campaign, "i00") == ("second_look", 2)
    assert may_see(campaign, "eva", "max", "ida", "old") == ["max", "old"]
    assert label_of(campaign, "i00") == "rude"
    last = campaign.decisions(newest=True).set_index("item").loc["i00"]
    assert (last["decision"], last["reason_code"], last["decider"]) == ("expert", "second_look", "gate")
    assert "another expert of tier 2 looks, too" in str(campaign.explain("i00"))
    say("max", "i00", "rude")
    assert state(campaign, "i00") == ("agreed", 0)
    last = campaign.decisions(newest=True).set_index("item").loc["i00"]
    assert (last["decision"], last["reason_code"], last["label"]) == ("decided", "experts_agree", "rude")
    assert "2 experts say the same" in str(campaign.explain("i00"))


def test_experts_who_differ_send_the_item_up_and_the_highest_tier_settles_it(campaign: Campaign, say: Any) -> None:
    seat(campaign, eva=1, max=1, mid=2, top1=3, top2=3, top3=3)
    campaign.set_reviews(1.0)
    say("eva", "i00", "rude")
    say("max", "i00", "odd")
    assert state(campaign, "i00") == ("escalate", 2)
    # Neither is right by being later.
    assert label_of(campaign, "i00") == "rude"
    assert may_see(campaign, "eva", "max", "mid", "top1") == ["mid", "top1"]
    say("mid", "i00", "odd")
    assert state(campaign, "i00") == ("escalate", 3)
    assert label_of(campaign, "i00") == "odd"
    say("top1", "i00", "rude")
    assert state(campaign, "i00") == ("settled", 0)
    assert label_of(campaign, "i00") == "rude"
    told = str(campaign.explain("i00"))
    assert "the highest tier settles it" in told
    assert "1 of tier 3 said rude" in told
    assert may_see(campaign, "top2", "top3") == []


def test_a_tie_at_the_top_asks_another_one_until_a_majority_says_the_same(campaign: Campaign, say: Any) -> None:
    campaign.set_reviews(1.0)
    for expert, label, then in (
        ("eva", "rude", ("second_look", 3)),
        ("max", "odd", ("second_opinion", 3)),
        ("ida", "kind", ("second_opinion", 3)),
        ("tom", "odd", ("second_opinion", 3)),
        ("uli", "odd", ("settled", 0)),
    ):
        say(expert, "i00", label)
        assert state(campaign, "i00") == then
    assert label_of(campaign, "i00") == "odd"


def test_the_top_is_a_setting(campaign: Campaign, say: Any) -> None:
    seat(campaign, eva=1, max=1, mid=2)
    campaign.set_reviews(1.0, top=1)
    say("eva", "i00", "rude")
    say("max", "i00", "odd")
    assert state(campaign, "i00") == ("second_opinion", 1)


def test_shares_are_by_tier_and_risk_and_drawn_by_a_secret(campaign: Campaign, say: Any) -> None:
    campaign.set_reviews({"high": 1.0})
    for item in NAMES[:4]:
        say("eva", item, "rude")
    # Odd items are of high risk.
    assert [state(campaign, item)[0] for item in NAMES[:4]] == ["decided", "second_look", "decided", "second_look"]
    campaign.set_reviews({3: 1.0})
    assert {state(campaign, item)[0] for item in NAMES[:4]} == {"second_look"}
    campaign.set_reviews(0.5)
    half = [state(campaign, item)[0] for item in NAMES[:4]]
    campaign.set_reviews(0.0)
    campaign.set_reviews(0.5)
    assert [state(campaign, item)[0] for item in NAMES[:4]] == half


@pytest.mark.parametrize("risk", [{}, {"risk": [None] * 4}], ids=["no column", "empty"])
def test_a_risk_that_nobody_knows_is_looked_at_as_a_high_one(
    campaign: Campaign, say: Any, monkeypatch: pytest.MonkeyPatch, risk: dict[str, Any]
) -> None:
    campaign.set_reviews({"high": 1.0})
    for item in NAMES[:4]:
        say("eva", item, "rude")
    monkeypatch.setattr(_looks, "known_of", lambda *_: pd.DataFrame({"item": NAMES[:4], **risk}))
    assert {state(campaign, item)[0] for item in NAMES[:4]} == {"second_look"}


@pytest.mark.parametrize("share", [1.5, -0.1, True, {"huge": 0.5}, {4: 0.5}, float("nan")])
def test_shares_out_of_range_are_named(campaign: Campaign, share: Any) -> None:
    with pytest.raises(InputError, match="second_look"):
        campaign.set_reviews(share)
    with pytest.raises(InputError, match="top is 4"):
        campaign.set_reviews(top=4)


def test_a_blind_label_is_not_yet_a_word_while_another_has_decided(campaign: Campaign, say: Any) -> None:
    campaign.set_reviews(1.0)
    say("eva", "i00", "rude")
    campaign.judge("i00", "odd", expert="max")
    assert label_of(campaign, "i00") == "rude"
    assert state(campaign, "i00")[0] == "second_look"
    assert may_see(campaign, "max") == ["max"]
    campaign.decide("i00", "rude", expert="max")
    assert state(campaign, "i00")[0] == "agreed"


def test_the_blind_words_alone_certify(campaign: Campaign, say: Any) -> None:
    """Both say rude in the end, but blind they differed: the label is informed."""
    from hmc_crowd.campaign._adjudicate import adjudicated

    campaign.set_reviews(1.0)
    say("eva", "i00", "kind", "rude")
    say("max", "i00", "rude")
    with campaign._context.store.read() as tx:
        row = adjudicated(campaign._context, tx, "label").iloc[0]
    assert (row["label"], row["evidence"], row["blind_label"]) == ("rude", "expert_informed", "kind")


def test_nobody_may_open_or_judge_what_he_is_excluded_from(campaign: Campaign, say: Any) -> None:
    seat(campaign, eva=2, max=2, ida=1)
    campaign.set_reviews(1.0)
    say("eva", "i00", "rude")
    for act in (
        lambda: campaign.case("i00", "ida"),
        lambda: campaign.judge("i00", "odd", expert="ida"),
        lambda: campaign.decide("i00", "odd", expert="ida"),
    ):
        with pytest.raises(StateError):
            act()
    # Whoever judged sees his own case, and can judge it no other way.
    assert campaign.case("i00", "eva").blind_label == "rude"
    assert campaign.judge("i00", "odd", expert="eva").blind_label == "rude"
    say("max", "i00", "rude")
    with pytest.raises(StateError, match="not among what waits"):
        campaign.case("i00", "tom")
    campaign.assign_experts([Expert("max", per_hour=100, tier=3), Expert("tom", tier=1)])
    theirs = campaign.assignments()["item"].iloc[0]
    with pytest.raises(StateError, match="not among what waits"):
        campaign.case(theirs, "tom")


def test_a_gate_that_accepts_keeps_its_items_from_experts(campaign: Campaign) -> None:
    campaign.gate("consensus", agreement=0.5, confidence=0.1)
    accepted = campaign.decisions(newest=True).query("decision == 'accept'")["item"]
    assert len(accepted)
    with pytest.raises(StateError, match="not among what waits"):
        campaign.case(str(accepted.iloc[0]), "eva")


def test_nothing_tells_a_further_look_from_a_first_one(campaign: Campaign, say: Any) -> None:
    campaign.set_reviews(1.0)
    say("eva", "i00", "rude")
    cases = campaign.cases("max")
    assert cases["confidence"].isna().all()
    assert set(cases["n_answers"]) == {0}
    shown, other = campaign.case("i00", "max"), campaign.case("i01", "max")
    assert (shown.crowd_label, shown.votes, shown.blind_label) == (other.crowd_label, other.votes, other.blind_label)
    # The reveal too shows the crowd and the machine, and no other expert.
    after = campaign.judge("i00", "odd", expert="max")
    assert (after.crowd_label, after.machine_label) == ("kind", "kind")
    assert dict(after.votes) == {"kind": 2, "rude": 1}


def test_further_looks_are_given_to_others_before_new_items(campaign: Campaign, say: Any) -> None:
    low = [Expert("eva", tier=1, per_hour=3), Expert("max", tier=1, per_hour=3)]
    risk = pd.DataFrame({"item": NAMES, "risk": "low", "complexity": 0.1})
    campaign.set_reviews(1.0)
    campaign.assign_experts(low, items=risk)
    mine = campaign.assignments().query("expert == 'eva'")["item"].tolist()
    for item in mine:
        say("eva", item, "rude")
    done = campaign.assign_experts(low, items=risk)
    # Max is full with his own three; eva judged the others herself.
    assert set(done.items.query("state == 'queued'")["item"]) >= set(mine)
    more = campaign.assign_experts([*low, Expert("ida", tier=1, per_hour=4)], items=risk)
    given = campaign.assignments().query("expert == 'ida'")
    assert set(mine) <= set(given["item"])
    assert given["place"].tolist() == [1, 2, 3, 4]
    assert more.given == 4
    assert set(campaign.cases("ida")["item"].head(4)) == set(given["item"])


def test_nobody_left_is_said_and_the_item_waits(campaign: Campaign, say: Any) -> None:
    campaign.set_reviews(1.0)
    say("eva", "i00", "rude")
    done = campaign.assign_experts([Expert("eva", tier=3, per_hour=100)])
    assert any("there is none who has not judged them" in note for note in done.notes)
    assert done.queued == 1
    none = campaign.assign_experts([])
    assert none.given == 0
    assert campaign.decisions(newest=True).set_index("item").loc["i00", "decision"] == "expert"
    load = campaign.expert_load([])
    assert "there is no expert" in load.notes[0]
    assert not load.plan.feasible


def test_a_disputed_item_is_neither_gated_nor_aggregated_away(campaign: Campaign, say: Any) -> None:
    campaign.set_reviews(1.0)
    say("eva", "i00", "rude")
    assert campaign.gate("consensus", agreement=0.1).items == 10
    campaign.aggregate(method="majority")
    assert label_of(campaign, "i00") == "rude"
    assert state(campaign, "i00") == ("second_look", 3)


def test_a_changed_guideline_asks_anew(campaign: Campaign, say: Any) -> None:
    campaign.set_reviews(1.0)
    say("eva", "i00", "rude")
    campaign.set_guideline("Judge again.", dry_run=False)
    assert campaign.reviews().empty


def test_lowering_the_share_of_second_looks_settles_what_waited_for_one(campaign: Campaign, say: Any) -> None:
    experts = [Expert("max", per_hour=60, tier=1)]
    seat(campaign, eva=1, max=1)
    campaign.set_reviews(1.0)
    say("eva", "i00", "rude")
    campaign.assign_experts(experts)
    campaign.set_reviews(0.0)
    # Nobody has it any more, and the decision in force says what holds.
    last = campaign.decisions(newest=True).set_index("item").loc["i00"]
    assert (last["decision"], last["label"]) == ("decided", "rude")
    assert "i00" not in set(campaign.assignments()["item"])
    # Raised again it waits for the second look at once, without another command.
    campaign.set_reviews(1.0)
    last = campaign.decisions(newest=True).set_index("item").loc["i00"]
    assert (last["decision"], last["reason_code"]) == ("expert", "second_look")


def test_what_is_nobodys_is_seen_by_the_tiers_that_it_asks_for_alone(campaign: Campaign) -> None:
    # Items of even numbers ask for tier 1, the others, of high risk, for tier 3.
    seat(campaign, jun=1, sen=3)
    assert set(campaign.cases("jun")["item"]) == {"i00", "i02", "i04", "i06", "i08", "i10"}
    assert len(campaign.cases("sen")) == 11
    with pytest.raises(StateError, match="not among what waits"):
        campaign.judge("i01", "rude", expert="jun")
    # What a table told when work was given out goes before the stored risk, also for what nobody had room for.
    told = pd.DataFrame({"item": NAMES[:11], "tier": [3] * 10 + [1]})
    campaign.assign_experts([Expert("jun", per_hour=1, tier=1), Expert("sen", per_hour=1, tier=3)], items=told)
    assert set(campaign.cases("jun")["item"]) == {"i10"}


def test_no_item_asks_for_a_tier_above_the_highest(campaign: Campaign) -> None:
    campaign.set_reviews(top=2)
    given = campaign.assign_experts([Expert("sen", per_hour=60, tier=2)])
    assert (given.given, given.queued) == (11, 0)


def test_an_expert_who_leaves_keeps_nothing_from_the_others(campaign: Campaign) -> None:
    with campaign._context.store.begin() as tx:
        one, other = (tx.keys.issue("expert", label=name)[0].id for name in ("eva", "max"))
    campaign.assign_experts()
    his = campaign.assignments().set_index("item")["expert"]
    begun = str(his[his == one].index[0])
    campaign.judge(begun, "rude", expert=one)
    assert may_see(campaign, other, item=begun) == []
    with campaign._context.store.begin() as tx:
        tx.keys.revoke(one)
    assert len(campaign.cases(other)) == 11
    said = " ".join(campaign.expert_load().notes)
    assert f"{(his == one).sum()} items are with experts who are not there" in said
    # His blind label is one of two now, and the other's word holds.
    campaign.judge(begun, "odd", expert=other)
    campaign.decide(begun, "odd", expert=other)
    assert label_of(campaign, begun) == "odd"


# --- appeals ---


def test_an_appeal_is_judged_blind_by_another_person_and_upheld(campaign: Campaign, say: Any) -> None:
    say("eva", "i00", "rude")
    opened = campaign.appeal("i00", by="Ann Author", reason="it was meant kindly")
    assert (opened.state, opened.label) == ("open", None)
    assert may_see(campaign, "eva", "max") == ["max"]
    shown = campaign.case("i00", "max")
    assert "kindly" not in repr(shown)
    say("max", "i00", "rude")
    row = campaign.appeals().iloc[0]
    assert (row["state"], row["label"], row["by"], row["role"]) == ("upheld", "rude", "Ann Author", "author")
    last = campaign.decisions(newest=True).set_index("item").loc["i00"]
    assert (last["decision"], last["reason_code"], last["label"]) == ("decided", "appeal_upheld", "rude")
    assert "upheld on appeal" in str(campaign.explain("i00"))
    assert campaign.settle_appeal("i00").state == "upheld"


def test_an_open_appeal_outlives_its_guideline(campaign: Campaign, say: Any) -> None:
    say("eva", "i00", "rude")
    campaign.appeal("i00", by="Ann", reason="no")
    campaign.set_guideline("Judge again.", dry_run=False)
    # Nobody has answered it: it is neither lost nor a person's, and it can be asked about.
    assert campaign.appeals()["state"].tolist() == ["open"]
    assert campaign.settle_appeal("i00").state == "open"
    with pytest.raises(StateError, match="is open"):
        campaign.settle_appeal("i00", label="odd", by="Olga")
    with pytest.raises(StateError, match="open already"):
        campaign.appeal("i00", by="Zoe", reason="no")
    say("max", "i00", "rude")
    assert campaign.appeals()["state"].tolist() == ["upheld"]


def test_what_came_of_an_appeal_stands_under_another_guideline(campaign: Campaign, say: Any) -> None:
    campaign.set_reviews(1.0)
    say("eva", "i00", "rude")
    campaign.appeal("i00", by="Ann", reason="no")
    say("max", "i00", "rude")
    campaign.set_guideline("Judge again.", dry_run=False)
    assert str(campaign.settle_appeal("i00")) == "appeal 1 about item i00: upheld: 'rude' stays"
    say("eva", "i00", "odd")
    say("max", "i00", "odd")
    assert campaign.settle_appeal("i00").state == "upheld"
    assert label_of(campaign, "i00") == "odd"
    # Under the new guideline the same person may object again.
    assert campaign.appeal("i00", by="Ann", reason="no").number == 2


def test_an_appellant_is_known_however_the_name_is_written(campaign: Campaign, say: Any) -> None:
    campaign.appeal("i00", by="Zoe Author", reason="no")
    for expert, label in (("eva", "odd"), ("max", "rude")):
        say(expert, "i00", label)
    with pytest.raises(InputError, match="who appealed"):
        campaign.settle_appeal("i00", label="odd", by=" zoe author ")
    campaign.settle_appeal("i00", label="odd", by="Olga")
    with pytest.raises(StateError, match="has appealed"):
        campaign.appeal("i00", by="zoe author", reason="no")


def test_a_third_person_decides_where_two_differ(campaign: Campaign, say: Any) -> None:
    say("eva", "i00", "rude")
    campaign.appeal("i00", by="Ann Author", reason="no")
    say("max", "i00", "kind")
    assert campaign.settle_appeal("i00").state == "third_needed"
    assert label_of(campaign, "i00") == "rude"
    assert may_see(campaign, "eva", "max", "ida") == ["ida"]
    # His blind label counts, not what he makes of it after the reveal.
    say("ida", "i00", "kind", "rude")
    assert campaign.appeals()["state"].tolist() == ["overturned"]
    assert label_of(campaign, "i00") == "kind"
    assert campaign.decisions(newest=True).set_index("item").loc["i00", "reason_code"] == "appeal_overturned"
    assert state(campaign, "i00") == ("overturned", 0)


def test_three_different_labels_are_a_persons_to_settle(campaign: Campaign, say: Any) -> None:
    say("eva", "i00", "rude")
    campaign.appeal("i00", by="Ann Author", reason="no")
    with pytest.raises(StateError, match="only after three experts"):
        campaign.settle_appeal("i00", label="kind", by="Olga Owner")
    say("max", "i00", "kind")
    say("ida", "i00", "odd")
    assert campaign.settle_appeal("i00").state == "review"
    assert may_see(campaign, "tom") == []
    assert label_of(campaign, "i00") == "rude"
    assert campaign.decisions(newest=True).set_index("item").loc["i00", "decision"] == "expert"
    with pytest.raises(InputError, match="who appealed"):
        campaign.settle_appeal("i00", label="kind", by="Ann Author")
    with pytest.raises(InputError, match="label is 'blue'"):
        campaign.settle_appeal("i00", label="blue", by="Olga Owner")
    assert campaign.settle_appeal("i00", label="kind", by="Olga Owner").state == "decided"
    assert label_of(campaign, "i00") == "kind"
    assert campaign.decisions(newest=True).set_index("item").loc["i00", "reason_code"] == "appeal_decided"


def test_the_crowds_label_can_be_appealed_against(campaign: Campaign, say: Any) -> None:
    campaign.gate("consensus", agreement=0.5, confidence=0.1)
    campaign.appeal("i00", by="w1", reason="my answer was right", role="worker")
    assert may_see(campaign, "eva") == ["eva"]
    say("eva", "i00", "rude")
    # Until it is settled the label is the crowd's, and stays so through aggregation and gates.
    campaign.aggregate(method="majority")
    campaign.gate("consensus", agreement=0.5, confidence=0.1)
    row = campaign.labels().set_index("item").loc["i00"]
    assert (row["label"], row["source"]) == ("kind", "crowd")
    say("max", "i00", "rude")
    row = campaign.labels().set_index("item").loc["i00"]
    assert (row["label"], row["source"], row["evidence"]) == ("rude", "expert", "expert_blind")


def test_appeals_are_given_out_like_any_other_case(campaign: Campaign, say: Any) -> None:
    people = [Expert(name, tier=3, per_hour=100) for name in ("eva", "max")]
    say("eva", "i00", "rude")
    campaign.appeal("i00", by="Ann Author", reason="no")
    campaign.assign_experts(people)
    given = campaign.assignments().set_index("item")
    assert given.loc["i00", "expert"] == "max"
    # Its place follows from the queue alone: nothing puts it first or last.
    assert set(given["place"]) == set(range(1, given["place"].max() + 1))
    assert "i00" in set(campaign.cases("max")["item"])


def test_an_expert_who_appeals_never_judges_it(campaign: Campaign, say: Any) -> None:
    say("eva", "i00", "rude")
    campaign.appeal("i00", by="max", reason="no", role="owner")
    assert may_see(campaign, "eva", "max", "ida") == ["ida"]
    with pytest.raises(StateError, match="not among"):
        campaign.judge("i00", "kind", expert="max")


def test_appeals_that_make_no_sense_are_refused(campaign: Campaign, say: Any) -> None:
    say("eva", "i00", "rude")
    campaign.appeal("i00", by="Ann", reason="no")
    for item, more, error, said in (
        ("i00", {"by": "Ann"}, StateError, "open already"),
        ("i11", {}, StateError, "is gold"),
        ("nowhere", {}, InputError, "no such item"),
        ("i01", {"by": " "}, InputError, "by is empty"),
        ("i01", {"reason": ""}, InputError, "reason is empty"),
        ("i01", {"role": "king"}, InputError, "role is 'king'"),
        ("i01", {"platform": "local"}, InputError, "only workers"),
    ):
        with pytest.raises(error, match=said):
            campaign.appeal(item, **{"by": "Bo", "reason": "no", **more})  # type: ignore[arg-type]
    say("max", "i00", "rude")
    with pytest.raises(StateError, match="has appealed about item 'i00' before"):
        campaign.appeal("i00", by="Ann", reason="still no")
    # Somebody else may, and neither of the two who judged judges again.
    assert campaign.appeal("i00", by="Bo", reason="no").number == 2
    assert may_see(campaign, "eva", "max", "ida") == ["ida"]
    with pytest.raises(StateError, match="nobody has appealed"):
        campaign.settle_appeal("i05")


def test_an_appeal_that_nobody_can_judge_says_so(campaign: Campaign, say: Any) -> None:
    say("eva", "i00", "rude")
    opened = campaign.appeal("i00", by="Ann", reason="no")
    assert "it waits" in opened.notes[0]
    seat(campaign, max=3)
    assert campaign.settle_appeal("i00").notes == ()


def test_the_log_says_neither_who_appealed_nor_why(campaign: Campaign) -> None:
    campaign.appeal("i00", by="Ann Author", reason="it was meant kindly")
    with campaign._context.store.read() as tx:
        told = [each for each in tx.events.read(1) if each.kind == "appeal opened"]
        tx.events.verify(1)
    assert told[0].payload == {"aspect": "label", "number": 1, "role": "author"}


def test_a_forgotten_workers_appeal_keeps_no_name_and_no_words(campaign: Campaign) -> None:
    campaign.appeal("i00", by="raw-7", reason="I am raw-7 of Ghent", role="worker", platform="local")
    assert campaign.appeals()["by"].iloc[0] != "raw-7"
    told = campaign.export_worker("raw-7")
    assert "Ghent" in str(told)
    campaign.forget("raw-7")
    row = campaign.appeals().iloc[0]
    assert "Ghent" not in str(row["reason"])
    assert (row["state"], row["role"]) == ("open", "worker")


# --- figures ---


def test_tiers_are_compared_with_known_labels_and_with_higher_tiers(campaign: Campaign, say: Any) -> None:
    seat(campaign, eva=1, max=1, top=3)
    campaign.set_reviews(1.0)
    assert "no expert has judged" in campaign.tier_figures().notes[0]
    for item in ("i00", "i02", "i04"):
        say("eva", item, "rude")
        say("max", item, "odd")
        say("top", item, "rude")
    found = campaign.tier_figures()
    # Each item: eva upheld, max overturned.
    assert found.overturned[["tier", "overturned", "n"]].to_numpy().tolist() == [[1.0, 3.0, 6.0]]
    assert "no label of a judged item is known" in found.notes[0]
    assert "3 of 6 overturned" in str(found)
    campaign.add_gold(pd.DataFrame({"item": ["i00", "i02"], "label": ["rude", "odd"]}))
    errors = campaign.tier_figures().errors
    # i00 is rude: of tier 1 one said rude, one odd.
    row = errors[(errors["tier"] == 1) & (errors["true"] == "rude") & (errors["answered"] == "odd")]
    assert row[["count", "n"]].to_numpy().tolist() == [[1, 2]]


def test_load_bottleneck_and_more_people(campaign: Campaign, clock: VirtualClock, say: Any) -> None:
    people = [Expert("eva", tier=1, per_hour=2), Expert("top", tier=3, per_hour=5, cost_minor=100)]
    known = pd.DataFrame({"item": NAMES, "risk": ["high"] * 2 + ["low"] * 10, "complexity": 0.1})
    clock.advance(3600)
    load = campaign.expert_load(people, items=known, add={1: 5})
    # 11 items came in one hour: nine of low risk to tier 1 (2 an hour), two to tier 3.
    table = load.plan.table.set_index("tier")
    assert table["arrivals_per_hour"].to_dict() == {1: 9.0, 3: 2.0}
    assert (load.plan.bottleneck, load.plan.feasible) == (1, False)
    assert load.then is not None
    assert load.then.feasible
    assert load.waiting.set_index("tier")["waiting"].to_dict() == {1: 9, 3: 2}
    campaign.assign_experts(people, items=known)
    load = campaign.expert_load(people, items=known)
    assert load.experts.set_index("expert")["load"].to_dict() == {"eva": 2, "top": 5}
    assert load.then is None
    with pytest.raises(InputError, match="add is"):
        campaign.expert_load(people, add={1: -1})
    with pytest.raises(InputError, match="over_hours"):
        campaign.expert_load(people, over_hours=0)


def test_tiers_without_people_leave_their_items_to_the_next(campaign: Campaign, clock: VirtualClock) -> None:
    clock.advance(3600)
    load = campaign.expert_load([Expert("top", tier=3, per_hour=50)], items=pd.DataFrame({"item": NAMES, "tier": 1}))
    assert load.plan.feasible
    assert load.waiting["nobody"].tolist() == [0]


def test_what_waits_while_later_items_are_settled_is_named(campaign: Campaign, clock: VirtualClock, say: Any) -> None:
    people = [Expert("eva", tier=3, per_hour=50), Expert("max", tier=3, per_hour=50)]
    say("eva", "i00", "rude")
    clock.advance(7200)
    campaign.appeal("i00", by="Ann", reason="no")
    # A gate that sends the others once more does not let their wait begin anew.
    campaign.gate("consensus", agreement=0.9)
    say("max", "i00", "rude")
    load = campaign.expert_load(people, items=pd.DataFrame({"item": NAMES, "tier": 1}))
    row = load.waiting.iloc[0]
    assert (row["waiting"], row["overtaken"]) == (10, 1)
    assert row["oldest_s"] > 7200
    assert "an item waits for 2.0 h while 1 that came later are settled" in load.notes[0]


def test_a_tie_in_everything_waits_for_people_and_accepts_nothing(campaign: Campaign, say: Any) -> None:
    campaign.set_reviews(1.0)
    for item in NAMES[:3]:
        say("eva", item, "rude")
        say("max", item, "odd")
    people = [Expert(name, tier=3, per_hour=100) for name in ("eva", "max")]
    done = campaign.assign_experts(people)
    assert set(done.items.query("state == 'queued'")["item"]) == set(NAMES[:3])
    load = campaign.expert_load(people)
    assert load.waiting["nobody"].sum() == 3
    assert "3 items ask for an expert who is not there" in load.notes[0]
    kept = campaign.decisions(newest=True).set_index("item").loc[NAMES[:3]]
    assert set(zip(kept["decision"], kept["reason_code"], strict=True)) == {("expert", "second_opinion")}


def test_what_only_a_person_can_settle_is_in_status_and_an_alert(campaign: Campaign, say: Any) -> None:
    campaign.appeal("i00", by="Ann", reason="no")
    say("eva", "i00", "odd")
    assert campaign.status().appeals == ()
    say("max", "i00", "rude")
    assert campaign.status().appeals == ("i00",)
    assert "appeals" in {each.rule for each in campaign.check_alerts().lasting}
    campaign.settle_appeal("i00", label="kind", by="Olga")
    assert campaign.status().appeals == ()
    assert [each.kind for each in campaign.check_alerts().notices] == ["recovery"]


def test_items_that_wait_a_day_for_an_expert_are_an_alert(campaign: Campaign, clock: VirtualClock, say: Any) -> None:
    clock.advance(23 * 3600)
    assert campaign.check_alerts().lasting == ()
    # That a gate decides anew does not let the wait begin anew.
    campaign.gate("consensus", agreement=0.9)
    clock.advance(2 * 3600)
    assert {each.rule for each in campaign.check_alerts().lasting} == {"expert queue"}
    for item in NAMES[:11]:
        say("eva", item, "rude")
    assert [each.kind for each in campaign.check_alerts().notices] == ["recovery"]


def test_a_storm_of_alerts_is_one_message_to_each_webhook(campaign: Campaign) -> None:
    from hmc_crowd.campaign._alerts import _contents
    from hmc_crowd.quality import AlertRule, check_alerts

    rule = AlertRule("worker quality", "quality", 0.3, "below", severity="high")
    for people, messages in ((20, 20), (1000, 1)):
        figures = {"quality": {f"w{n:04d}": 0.1 for n in range(people)}}
        notices, _ = check_alerts([rule], figures, at=START)
        told = _contents(campaign._context, notices)
        assert len(told) == messages
        assert all(set(each) == {"campaign", "what", "state", "text", "kind"} for each in told)
    assert "is about 1,000 at once: w0000, w0001" in told[0]["text"]


def test_experts_named_twice_or_without_a_name_and_odd_columns_are_refused(campaign: Campaign) -> None:
    with pytest.raises(InputError, match="name 'eva' twice"):
        campaign.assign_experts([Expert("eva"), Expert("eva", tier=2)])
    with pytest.raises(InputError, match="give each expert a name"):
        Expert(" ")
    odd = pd.DataFrame({"item": ["i00"], "complexity": ["high"]})
    with pytest.raises(InputError, match="complexity of item 'i00' is 'high'"):
        campaign.assign_experts([Expert("eva")], items=odd)
    with pytest.raises(InputError, match=r"top is 2\.0"):
        campaign.set_reviews(top=2.0)  # type: ignore[arg-type]
    assert campaign.assignments().empty


@pytest.mark.parametrize(
    ("gate", "settings", "words"),
    [
        ("rules", {"agreement": 0.5}, "has no setting 'agreement'; it has risk, quality, complexity"),
        ("rules", {"quality": "low"}, "cannot take quality='low'; give numbers"),
        ("consensus", {"agreement": None}, "cannot take agreement=None; give numbers"),
        ("weighted", {"share": 0.5}, "it has at_least, agreement"),
        ("posterior", {"rule": 0.5}, "it has threshold"),
        ("ml", {"costs_of_error": 3}, "it has kind, features, threshold"),
    ],
)
def test_wrong_settings_of_a_gate_are_named_in_words_of_ours(
    campaign: Campaign, gate: str, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError) as refused:
        campaign.gate(gate, **settings)
    assert words in str(refused.value)
    assert "__init__" not in str(refused.value)


def test_the_settings_that_are_named_are_those_that_gates_take() -> None:
    import inspect

    from hmc_crowd.campaign._gating import _SETTINGS
    from hmc_crowd.quality import ConsensusGate, LearnedGate, PosteriorGate, RuleGate, WeightedGate

    own = {"rules": RuleGate, "consensus": ConsensusGate, "weighted": WeightedGate}
    for name, kind in own.items():
        assert _SETTINGS[name] == tuple(inspect.signature(kind).parameters)
    assert set(_SETTINGS["ml"]) >= set(inspect.signature(LearnedGate).parameters) - {"costs"}
    assert set(_SETTINGS["posterior"]) == set(inspect.signature(PosteriorGate).parameters) - {"model", "rule"}
