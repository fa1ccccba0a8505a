"""What labels were used for, accuracy from an experts' audit, and the final figure with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.campaign import Campaign
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.metrics import routed_mean
from hmc_crowd.routing import AlphaSpending, certify_accuracy, certify_rounds

if TYPE_CHECKING:
    from collections.abc import Iterator

N, GOLD = 300, 40


@pytest.fixture
def truth() -> dict[str, str]:
    rng = np.random.default_rng(4)
    return {f"i{n:03d}": str(label) for n, label in enumerate(rng.choice(["good", "bad"], N, p=[0.7, 0.3]))}


@pytest.fixture
def campaign(tmp_path: Any, truth: dict[str, str], clock: Any) -> Iterator[Campaign]:
    rng = np.random.default_rng(3)
    names = list(truth)
    sure = rng.uniform(0.6, 1.0, N)
    said = [truth[name] if rng.random() < p else "good" for name, p in zip(names, sure, strict=True)]
    with Campaign.create(tmp_path / "c.db", labels=["good", "bad"], seed=5, clock=clock) as made:
        made.add_items(pd.DataFrame({"item": names, "text": "so it goes", "group": [f"g{n // 3}" for n in range(N)]}))
        made.add_predictions(pd.DataFrame({"item": names, "label": said, "confidence": sure}))
        made.add_gold(pd.DataFrame({"item": names[:GOLD], "label": [truth[name] for name in names[:GOLD]]}))
        made.estimate_effort()
        yield made


def answered(campaign: Campaign, truth: dict[str, str], *, wrong: tuple[str, ...] = (), **plan: Any) -> pd.DataFrame:
    """Plan, and put people's labels into the store as an aggregation would; return the plan's rows."""
    made = campaign.plan(**{"trade_off": 0.0, "max_human": 100, "audit": 60} | plan)
    context = campaign._context
    with context.store.begin() as tx:
        rows = tx.plans.read(made.plan_id)
        asked = rows[rows["destination"].astype(str) != "machine"]
        flipped = {"good": "bad", "bad": "good"}
        answers = [
            {"item": item, "aspect": "label", "worker": "ann", "started": None}
            | {"label": flipped[truth[item]] if item in wrong else truth[item]}
            for item in asked["item"]
        ]
        held = set(tx.work.answers(1)["task"])
        answers = [each for each in answers if each["item"] not in held]
        put = [
            {"item": each["item"], "text": "", "destination": "people", "reason": "gain", "policy": "p", "gain": 0.0}
            | {"inclusion_probability": 1.0, "due_at": None}
            for each in answers
        ]
        tx.door.put(1, put)
        tx.door.answer(1, answers, aspects=["label"], needed={})
    campaign.aggregate(method="majority")
    return rows


# --- what labels were used for ---


def test_what_certifies_is_refused_to_calibrate_and_gold_that_calibrates_is_noted(campaign: Any, truth: Any) -> None:
    rows = answered(campaign, truth)
    campaign.calibrate()
    audited = rows.loc[rows["destination"].astype(str) == "audit", "item"]
    table = pd.DataFrame({"item": audited, "confidence": 0.8, "correct": [1, 0] * 30})
    # Drawn is enough: the labels were paid for to certify.
    with pytest.raises(StateError, match="drawn to certify, so they cannot fit"):
        campaign.calibrate(table)
    campaign.certify()
    roles = campaign.data_roles()
    assert roles.groupby("role")["item"].nunique().to_dict() == {
        "certify": 60,
        "fit": GOLD - 1,
    }  # one is of a mixed group
    assert set(roles.loc[roles["role"] == "certify", "purpose"]) == {"certificate of round 1"}
    # Certifying again as answers come in is no second use.
    campaign.certify()
    assert len(campaign.data_roles()) == len(roles)


def test_certified_labels_are_refused_after_a_new_plan_too(campaign: Any, truth: Any) -> None:
    rows = answered(campaign, truth)
    campaign.certify()
    with campaign._context.store.begin() as tx:
        item = rows.loc[rows["destination"].astype(str) == "audit", "item"].iloc[0]
        with pytest.raises(StateError, match=r"used to certify already \(certificate of round 1\)"):
            tx.roles.enter(1, "label", "choose", [item], purpose="a choice")


def test_a_plan_never_audits_what_fitted(campaign: Any, truth: Any) -> None:
    names = list(truth)[GOLD:]
    campaign.calibrate(
        pd.DataFrame({"item": names, "confidence": np.linspace(0.6, 1, N - GOLD), "correct": [1, 0] * 130})
    )
    with pytest.raises(StateError, match=r"were used for calibration 1.*add_gold\(\) them"):
        campaign.plan(trade_off=0.0, max_human=100, audit=60)


@pytest.fixture
def talks(campaign: Any, truth: Any, tmp_path: Any) -> Any:
    """The same items as turns of dialogues of four; of every other dialogue all is gold, of the rest one turn."""
    names = list(truth)
    group = {name: f"d{n // 4}" for n, name in enumerate(names)}
    with Campaign.create(tmp_path / "talks.db", labels=["good", "bad"], seed=1, clock=campaign._context.clock) as made:
        made.add_items(pd.DataFrame({"item": names, "group": [group[each] for each in names], "text": "a turn"}))
        said = pd.DataFrame({"item": names, "label": [truth[each] for each in names], "confidence": 0.8})
        said.loc[::5, "label"] = "bad"
        said["confidence"] = np.linspace(0.6, 0.99, len(names))
        made.add_predictions(said)
        whole = {name for name in names[: len(names) // 2] if int(group[name][1:]) % 2 == 0}
        mixed = set(names[::4])
        made.add_gold(pd.DataFrame([(each, truth[each]) for each in sorted(whole | mixed)], columns=["item", "label"]))
        made.estimate_effort()
        made.whole, made.group = whole, group  # type: ignore[attr-defined]
        yield made


def test_no_turn_of_a_dialogue_calibrates_while_another_may_certify(talks: Any, truth: Any) -> None:
    learnt = talks.calibrate()
    assert learnt.left_out > 0
    roles = talks.data_roles()
    assert set(roles["item"]) == talks.whole
    plan = talks.plan(trade_off=0.0, max_human=20, audit=60)
    assert plan.audit == 60
    with talks._context.store.read() as tx:
        rows = tx.plans.read(plan.plan_id, columns=["item", "destination"])
    audited = rows.loc[rows["destination"].astype(str) == "audit", "item"]
    one = talks.group[audited.iloc[0]]
    sibling = next(each for each, group in talks.group.items() if group == one and each not in set(audited))
    table = pd.DataFrame({"item": [sibling, *sorted(talks.whole)], "confidence": 0.8, "correct": 1})
    table.loc[::2, "correct"] = 0
    with pytest.raises(StateError, match="one group"):
        talks.calibrate(table)


def test_a_plan_refuses_the_dialogues_of_the_calibration_in_use_and_a_new_one_lets_it_pass(talks: Any) -> None:
    """As an older database has it: the calibration was learnt from single turns."""
    mixed = list(talks.group)[4::8]
    talks.calibrate(pd.DataFrame({"item": mixed, "confidence": 0.8, "correct": [n % 2 for n in range(len(mixed))]}))
    with pytest.raises(StateError, match=r"one group \(dialogue\).*calibration 1.*calibrate\(\) again"):
        talks.plan(trade_off=0.0, max_human=0, audit=100)
    talks.calibrate()
    assert talks.plan(trade_off=0.0, max_human=0, audit=100).audit == 100


def test_choosing_a_method_by_gold_is_noted(campaign: Any, truth: Any) -> None:
    answered(campaign, truth)
    campaign.aggregate(method="choose")
    assert set(campaign.data_roles().query("role == 'choose'")["item"]) == set(list(truth)[:GOLD])


# --- accuracy ---


def judge_all(campaign: Campaign, truth: dict[str, str], *, but: int = 0) -> list[str]:
    items = campaign.cases("eve")["item"].tolist()
    with campaign._context.store.read() as tx:
        drawn = set(tx.expert_audits.items(1, "label", 1)["item"])
    some = [item for item in items if item in drawn]
    for item in some[but:]:
        campaign.judge(item, truth[item], expert="eve")
    return some


def test_accuracy_is_the_joint_bound_of_both_draws(campaign: Any, truth: Any) -> None:
    rows = answered(campaign, truth)
    campaign.certify()
    people = rows.loc[rows["destination"].astype(str) != "machine", "item"]
    drawn = campaign.draw_expert_audit(n_machine=20, n_people=10)
    # 260 items that are no gold: 100 people's by plan and 60 by audit, 100 the machine's.
    assert (drawn.people, drawn.machine) == (160, 100)
    before = campaign.labels().set_index("item")["label"]
    judge_all(campaign, truth)
    with campaign._context.store.read() as tx:
        items = tx.expert_audits.items(1, "label", 1)
    assert set(items.loc[items["stratum"] == "people", "item"]) <= set(people)
    machine = items.loc[items["stratum"] == "machine", "item"]
    wrong = sum(before[item] != truth[item] for item in machine)
    assert wrong > 0
    bound = certify_accuracy(260, 160, human_audited=10, human_wrong=0, machine_audited=20, machine_wrong=wrong)
    found = campaign.certify_accuracy()
    assert found.accuracy_at_least == bound.accuracy_at_least
    assert (found.machine_wrong, found.people_wrong, found.items) == (wrong, 0, 260)
    # What was found wrong is repaired.
    assert all(campaign.labels().set_index("item")["label"][item] == truth[item] for item in machine)
    with pytest.raises(StateError, match="of these very labels"):
        campaign.draw_expert_audit(n_machine=10, n_people=10)


def test_unjudged_labels_count_as_wrong(campaign: Any, truth: Any) -> None:
    answered(campaign, truth)
    campaign.draw_expert_audit(n_machine=20, n_people=10)
    judge_all(campaign, truth, but=12)
    found = campaign.certify_accuracy()
    assert found.people_pending + found.machine_pending == 12
    judge_all(campaign, truth)
    assert campaign.certify_accuracy().accuracy_at_least > found.accuracy_at_least


def test_nothing_tells_an_expert_which_cases_were_drawn(campaign: Any, truth: Any) -> None:
    answered(campaign, truth)
    campaign.draw_expert_audit(n_machine=20, n_people=10)
    cases = campaign.cases("eve")
    # All that people labelled wait for an expert; the machine's 20 stand among them.
    assert len(cases) == 160 + 20
    assert cases["confidence"].isna().all()
    assert set(cases["n_answers"]) == {0}
    with campaign._context.store.read() as tx:
        machine = tx.expert_audits.items(1, "label", 1).query("stratum == 'machine'")["item"].tolist()
        told = [str(each.payload) for each in tx.events.read(1)]
    places = np.flatnonzero(cases["item"].isin(machine))
    assert places.min() < 60 < 120 < places.max()
    assert not any(item in text for item in machine for text in told[-1:])
    shown = campaign.case(machine[0], "eve")
    assert (shown.crowd_label, shown.machine_label, shown.votes) == (None, None, ())
    kept = set(campaign.labels().query("source == 'machine'")["item"]) - set(machine)
    with pytest.raises(StateError, match="aggregate"):
        campaign.judge(sorted(kept)[0], "good", expert="eve")


def test_a_changed_label_needs_a_new_draw(campaign: Any, truth: Any) -> None:
    rows = answered(campaign, truth)
    campaign.draw_expert_audit(n_machine=20, n_people=10)
    with campaign._context.store.begin() as tx:
        some = tx.labels.read(1, aspect="label").head(1)
        flipped = some.assign(label="bad" if some["label"].iloc[0] == "good" else "good")
        tx.labels.save(1, 1, flipped.drop(columns="round"))
    with pytest.raises(StateError, match="labels have changed since experts' audit 1"):
        campaign.certify_accuracy()
    assert campaign.draw_expert_audit(n_machine=5, n_people=5).number == 2
    assert "draw 2" in " ".join(campaign.certify_accuracy().assumptions)
    assert len(rows)


def test_the_same_audit_never_calibrates(campaign: Any, truth: Any) -> None:
    answered(campaign, truth)
    campaign.draw_expert_audit(n_machine=20, n_people=10)
    with campaign._context.store.read() as tx:
        items = tx.expert_audits.items(1, "label", 1)["item"]
    with pytest.raises(StateError, match="drawn to certify"):
        campaign.calibrate(pd.DataFrame({"item": items, "confidence": 0.8, "correct": [1, 0] * 15}))


def test_without_a_draw_nothing_says_accuracy(campaign: Any, truth: Any) -> None:
    answered(campaign, truth)
    with pytest.raises(StateError, match=r"draw_expert_audit\(\)"):
        campaign.certify_accuracy()
    with pytest.raises(InputError, match="n_people is 161"):
        campaign.draw_expert_audit(n_machine=10, n_people=161)


# --- two looks ---


def test_both_looks_of_a_promise_hold_together(campaign: Any, truth: Any) -> None:
    """The first look's audit is within the second's; the better bound counts, at the promised level."""
    rows = answered(campaign, truth, trade_off=0.0, max_human=100, audit=60)
    context = campaign._context
    machine = {row["item"]: row["label"] for row in campaign_predictions(campaign)}
    first = rows.loc[rows["destination"].astype(str) == "audit", "item"]
    promise = {"target": 0.9, "level": 0.95, "look": 1, "look_level": 0.96}
    with context.store.begin() as tx:
        plan = tx.plans.latest(1)
        tx.plans.save(1, 1, {**plan.header, "promise": promise}, rows)
        topped = rows.copy()
        more = topped.index[(topped["destination"].astype(str) == "machine")][:40]
        topped["destination"] = topped["destination"].astype(str)
        topped.loc[more, "destination"] = "audit"
        tx.plans.save(1, 2, {**plan.header, "promise": {**promise, "look": 2, "look_level": 0.99}}, topped)
        tx.campaigns.set_round(1, 2)
    answer_items(campaign, truth, topped.loc[more, "item"].tolist())
    found = campaign.certify()
    wrong = [
        sum(machine[item] != truth[item] for item in some) for some in (first, [*first, *topped.loc[more, "item"]])
    ]
    bound = certify_rounds(
        260, 100, [(60, wrong[0]), (100, wrong[1])], spending=AlphaSpending(0.95, weights=(0.8, 0.2))
    )
    assert (found.level, found.agreement_at_least) == (0.95, bound.agreement_at_least)


def campaign_predictions(campaign: Campaign) -> list[dict[str, Any]]:
    with campaign._context.store.read() as tx:
        return tx.frames.read(1, "predictions")[["item", "label"]].to_dict("records")


def answer_items(campaign: Campaign, truth: dict[str, str], items: list[str]) -> None:
    with campaign._context.store.begin() as tx:
        put = {"text": "", "destination": "people", "reason": "gain", "policy": "p", "gain": 0.0, "due_at": None}
        tx.door.put(1, [{**put, "item": item, "inclusion_probability": 1.0} for item in items])
        said = {"aspect": "label", "worker": "ann", "started": None}
        tx.door.answer(1, [{**said, "item": i, "label": truth[i]} for i in items], aspects=["label"], needed={})
    campaign.aggregate(method="majority")


# --- the figure ---


def test_the_share_is_that_of_people_under_routing(campaign: Any, truth: Any) -> None:
    rows = answered(campaign, truth)
    figure = campaign.estimate("share:bad")
    machine = {row["item"]: row["label"] for row in campaign_predictions(campaign)}
    asked = (rows["destination"].astype(str) != "machine").to_numpy()
    y = np.where(asked, [float(truth[item] == "bad") for item in rows["item"]], np.nan)
    f = np.array([float(machine[item] == "bad") for item in rows["item"]])
    strata = np.where(rows["destination"].astype(str) == "people", "people", "rest")
    groups = np.array([f"g{int(item[1:]) // 3}" for item in rows["item"]])
    expected = routed_mean(y, f, strata=strata, clusters=groups)
    assert (figure.overall.value, figure.overall.low) == (expected.value, expected.low)
    assert figure.overall.n == 160
    true = np.mean([truth[item] == "bad" for item in rows["item"]])
    assert expected.low < true < expected.high
    assert "160 labels of people on 260 items" in str(figure)


def test_a_figure_by_category(campaign: Any, truth: Any) -> None:
    answered(campaign, truth)
    assert campaign.estimate("share:bad", by="sensitive", target="batch").table["category"].tolist() == ["False", "all"]
    other = pd.DataFrame({"item": list(truth), "category": ["a" if n % 3 else "b" for n in range(N)]})
    figure = campaign.estimate("share:bad", by=other)
    assert figure.table["category"].tolist() == ["a", "b", "all"]
    assert figure.table["n_items"].iloc[:2].sum() == 260
    with pytest.raises(InputError, match="give a column of the items"):
        campaign.estimate("share:bad", by="nothing")


def test_a_useless_machine_is_said_not_to_help(campaign: Any, truth: Any) -> None:
    campaign.add_predictions(pd.DataFrame({"item": list(truth), "label": "good", "confidence": 0.9}))
    answered(campaign, truth)
    figure = campaign.estimate("share:bad")
    assert not figure.table["machine_helps"].any()
    assert any("the machine does not help" in note for note in figure.notes)
    # Everything that is bad among the machine's is missing from the final labels.
    assert any("the final labels alone would say" in note for note in figure.notes)


@pytest.mark.parametrize("of", ["share:ugly", "mean", "win:a", "median"])
def test_a_figure_that_the_question_does_not_have(campaign: Any, truth: Any, of: str) -> None:
    answered(campaign, truth)
    with pytest.raises(InputError, match="of is"):
        campaign.estimate(of)


def test_labels_that_are_missing_are_told(campaign: Any, truth: Any) -> None:
    campaign.plan(trade_off=0.0, max_human=100, audit=60)
    with pytest.raises(StateError, match="aggregate"):
        campaign.estimate("share:bad")
