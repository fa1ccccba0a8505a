from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.routing import Policy, keyed_fraction, keyed_fractions, route
from hmc_crowd.routing._draw import siphash

GRID = st.integers(0, 6).map(lambda i: i / 6)


def test_siphash_gives_the_published_vectors() -> None:
    # Aumasson and Bernstein, appendix A: key 00..0f, input 00..0e; and their reference code's vector for no input
    key = bytes(range(16))
    assert siphash(key, bytes(range(15))) == 0xA129CA6149BE45E5
    assert siphash(key, b"") == 0x726FDB47DD0E0E31


@given(st.lists(st.text(max_size=40), max_size=30), st.binary(min_size=1, max_size=40))
def test_column_of_draws_equals_single_draws_bit_for_bit(items: list[str], key: bytes) -> None:
    assert keyed_fractions(key, items).tolist() == [keyed_fraction(key, item) for item in items]


def test_draws_are_spread_evenly_and_depend_on_the_key() -> None:
    items = [f"item-{i}" for i in range(100_000)]
    first, second = keyed_fractions(b"a", items), keyed_fractions(b"b", items)
    # 20 bins: chi-square with 19 degrees of freedom stays under 52 with probability .9999
    counts = np.histogram(first, bins=20, range=(0, 1))[0]
    assert ((counts - 5000) ** 2 / 5000).sum() < 52
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / math.sqrt(len(items))
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 4 / math.sqrt(len(items))


@given(
    st.lists(st.tuples(GRID, GRID), min_size=1, max_size=30),
    st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    st.floats(0, 1),
    st.sampled_from(["at_most", "exactly"]),
)
def test_same_batch_gives_the_plan_again(
    pairs: list[tuple[float, float]], price: float, share: float, mode: str
) -> None:
    confidence, effort = np.array(pairs).T
    plan = route(confidence, effort, trade_off=price, max_human=share, cap=mode)  # type: ignore[arg-type]
    again = plan.policy(audit_probability=0.3).decide_batch([f"i{n}" for n in range(len(pairs))], confidence, effort)
    assert again.to_human.tolist() == plan.to_human.tolist()
    assert again.gain.tolist() == plan.gain.tolist()


def test_same_batch_gives_the_plan_again_with_values_per_item() -> None:
    rng = np.random.default_rng(3)
    inputs = {name: rng.random(500) for name in ("confidence", "effort", "human_confidence", "machine_effort")}
    plan = route(**inputs, trade_off=1.3, max_human=0.4)
    assert plan.policy().decide_batch(None, **inputs).to_human.tolist() == plan.to_human.tolist()


def test_cheapest_first_gives_the_plan_again() -> None:
    effort = [3.0, 1.0, 2.0, 1.0, 2.0]
    plan = route([0.5] * 5, effort, trade_off=math.inf, max_human=3, cap="exactly")
    policy = Policy.from_json(plan.policy().to_json())
    assert policy.decide_batch(None, [0.5] * 5, effort).to_human.tolist() == plan.to_human.tolist()


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 5)), min_size=1, max_size=40), st.floats(0, 1))
def test_one_by_one_equals_the_batch_but_for_ties(pairs: list[tuple[float, float]], share: float) -> None:
    confidence, effort = np.array(pairs).T
    policy = route(confidence, effort, trade_off=0.37, max_human=share).policy(audit_probability=0.4, key=b"mine")
    items = [f"item {n}" for n in range(len(pairs))]
    batch = policy.decide_batch(items, confidence, effort)
    for row, item in enumerate(items):
        single = policy.decide(item, *pairs[row])
        assert single.gain == batch.gain[row]
        if single.gain != policy.threshold:
            assert single == batch[row]


def test_decision_states_gain_reason_and_inclusion_probability() -> None:
    # threshold: the border gain 1 - .5 = .5
    policy = route([0.5, 0.75], [0.0, 0.0], max_human=1).policy(audit_probability=0.25, version="v1")
    people, kept = policy.decide("a", 0.25, 0.0), policy.decide("b", 0.75, 0.0)
    assert (people.destination, people.gain, people.inclusion_probability) == ("people", 0.75, 1.0)
    assert people.reason == "gain 0.75 is above the threshold 0.5, so people judge it"
    assert kept.inclusion_probability == 0.25
    assert kept.policy_version == "v1"


def test_audited_items_are_drawn_with_the_stated_probability() -> None:
    policy = route([0.5, 0.6], [0.0, 0.0], max_human=1).policy(audit_probability=0.05, key=b"k")
    batch = policy.decide_batch([f"item-{n}" for n in range(40_000)], np.full(40_000, 0.9), np.zeros(40_000))
    # standard error sqrt(.05 * .95 / 40000) = .00109; four of them
    assert abs(batch.audited.mean() - 0.05) < 0.0044
    assert set(batch.inclusion_probability) == {0.05}
    assert not (batch.audited & batch.to_human).any()
    assert (batch.destination == "audit").sum() == batch.audited.sum()


def test_single_item_at_the_border_goes_by_the_plans_share_of_ties() -> None:
    # 20 tied items, 5 of them to people: probability .25, standard error sqrt(.1875 / 20000) = .0031
    policy = route([0.5] * 20, [0.0] * 20, max_human=5).policy(audit_probability=0.2)
    decisions = [policy.decide(f"new {n}", 0.5, 0.0) for n in range(20_000)]
    assert abs(np.mean([each.destination == "people" for each in decisions]) - 0.25) < 0.0124
    # people by .25, else audited by .2: .25 + .75 * .2 = .4
    assert decisions[0].inclusion_probability == pytest.approx(0.4)
    seen = np.mean([each.destination != "machine" for each in decisions])
    assert abs(seen - 0.4) < 4 * math.sqrt(0.24 / 20_000)


def test_batch_of_another_size_keeps_the_share_of_ties() -> None:
    policy = route([0.5] * 4, [0.0] * 4, max_human=1).policy()
    assert policy.decide_batch(None, [0.5] * 8, [0.0] * 8).to_human.tolist() == [True] * 2 + [False] * 6


@dataclass
class Thing:
    item: str
    confidence: float
    effort: float


def test_item_may_be_a_mapping_or_an_object() -> None:
    policy = route([0.5, 0.6], [0.1, 0.1], max_human=1, trade_off=0.5).policy()
    values = {"item": "x", "confidence": 0.2, "effort": 0.3}
    assert policy.decide(values) == policy.decide(Thing(**values)) == policy.decide("x", 0.2, 0.3)  # type: ignore[arg-type]


def test_json_brings_the_rule_back_and_holds_no_key() -> None:
    policy = route([0.1, 0.7], [0.3, 0.1], trade_off=0.1, max_human=1).policy(audit_probability=0.1, key=b"secret")
    text = policy.to_json()
    assert "secret" not in text
    assert "secret" not in repr(policy)
    back = Policy.from_json(text, key=b"secret")
    assert back == policy
    assert back.decide("z", 0.9, 0.1) == policy.decide("z", 0.9, 0.1)


def test_equal_rules_have_equal_versions_and_others_do_not() -> None:
    plan = route([0.1, 0.7], [0.3, 0.1], max_human=1)
    versions = [
        plan.policy().version,
        plan.policy().version,
        plan.policy(audit_probability=0.1).version,
        plan.policy(key=b"other").version,
        route([0.2, 0.7], [0.3, 0.1], max_human=1).policy().version,
    ]
    assert versions[0] == versions[1]
    assert len(set(versions)) == 4


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda data: "{", "not JSON"),
        (lambda data: "[]", "no policy of hmc_crowd"),
        (lambda data: json.dumps({**data, "kind": "x"}), "no policy of hmc_crowd"),
        (lambda data: json.dumps({**data, "format": 2}), "format is 2"),
        (lambda data: json.dumps({**data, "extra": 2}), r"\(extra\)"),
        (lambda data: json.dumps({key: each for key, each in data.items() if key != "cap"}), r"\(cap\)"),
        (lambda data: json.dumps({**data, "trade_off": "lots"}), "trade_off 'lots'"),
        (lambda data: json.dumps({**data, "trade_off": -1}), "no rule"),
        (lambda data: json.dumps({**data, "border_to_people": 5}), "no rule"),
        (lambda data: json.dumps({**data, "audit_probability": 2}), "audit_probability is 2.0"),
        (lambda data: json.dumps({**data, "key_fingerprint": "0"}), "key is not the one"),
    ],
)
def test_spoilt_json_is_refused(spoil: object, says: str) -> None:
    data = json.loads(route([0.1, 0.7], [0.3, 0.1], max_human=1).policy().to_json())
    with pytest.raises(InputError, match=says):
        Policy.from_json(spoil(data))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("a", 1.5, 0.1), "confidence is 1.5"),
        (("a", math.nan, 0.1), "confidence is nan"),
        (("a", 0.5, -1.0), "effort is -1.0"),
        (("a", 0.5, math.inf), "effort is inf"),
        (("a",), "confidence is None"),
        ((2.5, 0.5, 0.5), "item is 2.5"),
        (({"item": "a", "confidence": 0.5},), "effort is None"),
        (({"confidence": 0.5, "effort": 1.0},), "item is None"),
    ],
)
def test_bad_item_is_one_sentence(arguments: tuple[object, ...], says: str) -> None:
    policy = route([0.1, 0.7], [0.3, 0.1], max_human=1).policy()
    with pytest.raises(InputError, match=says):
        policy.decide(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("items", "says"),
    [
        (None, "items is None, but the policy audits"),
        (["a", "b", "a"], "items holds 'a' twice, in rows 0 and 2"),
        (["a", "b"], "items has 2 rows but confidence has 3"),
        (["a", "b", 1.5], "items, row 2, is 1.5"),
    ],
)
def test_bad_batch_is_one_sentence(items: object, says: str) -> None:
    policy = route([0.1, 0.7], [0.3, 0.1], max_human=1).policy(audit_probability=0.5)
    with pytest.raises(InputError, match=says):
        policy.decide_batch(items, [0.1, 0.2, 0.3], [0.1, 0.2, 0.3])


def test_values_per_item_must_come_with_the_item() -> None:
    policy = route([0.1, 0.7], [0.3, 0.1], max_human=1, human_confidence=[1.0, 0.9]).policy()
    with pytest.raises(InputError, match="human_confidence is missing: the plan had one per item"):
        policy.decide("a", 0.5, 0.5)
    assert policy.decide("a", 0.5, 0.5, human_confidence=0.75).gain == 0.25


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"audit_probability": 1.5}, "audit_probability is 1.5"),
        ({"key": b""}, "key must be bytes"),
        ({"key": "text"}, "key must be bytes"),
        ({"version": ""}, "version is ''"),
    ],
)
def test_bad_policy_is_refused(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        route([0.1], [0.1]).policy(**arguments)  # type: ignore[arg-type]


def test_whole_number_ids_are_written_out() -> None:
    policy = route([0.5, 0.6], [0.0, 0.0], max_human=1).policy(audit_probability=0.5)
    numbers = policy.decide_batch(np.arange(50), np.full(50, 0.9), np.zeros(50))
    texts = policy.decide_batch([str(n) for n in range(50)], np.full(50, 0.9), np.zeros(50))
    assert numbers.to_frame().equals(texts.to_frame())
