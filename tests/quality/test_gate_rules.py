"""Gates with fixed rules: each rule by hand, and the cases in which no gate may accept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import DawidSkene, calibrate, certify_stopping
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import (
    ConsensusGate,
    LearnedGate,
    PosteriorGate,
    RuleGate,
    WeightedGate,
    gate_evidence,
)


def answers_of(*labels: str, confidence: float | None = None) -> pd.DataFrame:
    rows = pd.DataFrame(
        [("a", f"w{place}", label) for place, label in enumerate(labels)], columns=["task", "worker", "label"]
    )
    return rows if confidence is None else rows.assign(confidence=confidence)


GOOD = {"w0": 0.9, "w1": 0.8, "w2": 0.7}


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"risk": "low", "complexity": 0.2}, "accepted"),
        ({"risk": "high", "complexity": 0.2}, "high_risk"),
        ({"risk": None, "complexity": 0.2}, "unknown_risk"),
        ({"risk": "low", "complexity": 0.8}, "accepted"),  # above .8, not from .8 on
        ({"risk": "low", "complexity": 0.81}, "complex"),
        ({"risk": "low", "complexity": None}, "unknown_complexity"),
    ],
)
def test_the_sources_first_version(item: dict[str, Any], reason: str) -> None:
    found = RuleGate.preset("source").needs_expert({"item": "a", **item}, answers_of("x", "x"), GOOD)
    assert (found.reason, found.needs_expert) == (reason, reason != "accepted")


@pytest.mark.parametrize(
    ("quality", "length", "reason"),
    [(0.6, 1000, "accepted"), (0.59, 10, "low_quality"), (0.9, 1001, "long_text"), (0.9, None, "unknown_text")],
)
def test_the_sources_second_version(quality: float, length: int | None, reason: str) -> None:
    gate = RuleGate.preset("source_text")
    item = {"item": "a", "text_length": length}
    assert gate.needs_expert(item, answers_of("x"), {"w0": quality}).reason == reason


def test_quality_is_the_mean_of_the_workers_or_the_lowest() -> None:
    # (.9 + .8 + .6) / 3 = .767, the lowest is .6
    workers = {"w0": 0.9, "w1": 0.8, "w2": 0.6}
    rows = answers_of("x", "x", "x")
    off = {"risk": None, "complexity": None}
    assert RuleGate(**off).needs_expert("a", rows, workers).reason == "accepted"  # type: ignore[arg-type]
    assert RuleGate(**off, of="lowest").needs_expert("a", rows, workers).reason == "low_quality"  # type: ignore[arg-type]


def test_a_mean_that_is_the_threshold_but_for_rounding_passes() -> None:
    workers = {"w0": 0.8, "w1": 0.8, "w2": 0.5}  # the mean is .7
    assert not RuleGate(risk=None, complexity=None).needs_expert("a", answers_of("x", "x", "x"), workers).needs_expert


def test_an_unknown_worker_has_quality_one_half() -> None:
    found = gate_evidence(None, answers_of("x", "y", "y"), {"w0": 0.9})
    assert found.quality[0] == pytest.approx((0.9 + 0.5 + 0.5) / 3)


def test_a_rule_whose_column_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="no column risk"):
        RuleGate().decide(None, answers_of("x"))


@pytest.mark.parametrize(
    ("labels", "confidence", "reason", "label"),
    [
        ("xx", 0.9, "too_few_answers", "x"),
        ("xxx", 0.9, "accepted", "x"),
        ("xxx", 0.7, "low_confidence", "x"),  # confidence must be above .7
        ("xxxxxxxyyy", 0.71, "accepted", "x"),  # agreement 7/10
        ("xxxyy", 0.9, "borderline", "x"),  # .6 >= .5 and .9 > .8: a label, but to an expert
        ("xxxyy", 0.8, "low_agreement", "x"),
        ("xxyy", 0.95, "tie", None),  # would pass the .5 rule with an arbitrary winner
        ("xxyyz", 0.95, "tie", None),
    ],
)
def test_consensus_by_the_sources_rules(labels: str, confidence: float, reason: str, label: str | None) -> None:
    found = ConsensusGate().needs_expert("a", answers_of(*labels, confidence=confidence))
    assert (found.reason, found.label, found.needs_expert) == (reason, label, reason != "accepted")


def test_confidence_is_that_of_the_winning_answers() -> None:
    rows = answers_of("x", "x", "x", "y").assign(confidence=[0.9, 0.8, 0.7, 0.1])
    assert gate_evidence(None, rows).confidence[0] == pytest.approx(0.8)


def test_without_stated_confidence_consensus_accepts_nothing() -> None:
    assert ConsensusGate().needs_expert("a", answers_of("x", "x", "x")).reason == "no_confidence"


def test_quality_may_stand_for_confidence_if_asked() -> None:
    assert ConsensusGate(by="quality").needs_expert("a", answers_of("x", "x", "x"), GOOD).reason == "accepted"


def test_a_weighted_label_can_differ_from_the_majority() -> None:
    # x has .95, y has .4 + .4 = .8 of 1.75: .543 < .7
    found = WeightedGate().needs_expert("a", answers_of("x", "y", "y"), {"w0": 0.95, "w1": 0.4, "w2": 0.4})
    assert (found.label, found.reason) == ("x", "low_agreement")
    assert WeightedGate(agreement=0.54).needs_expert(
        "a", answers_of("x", "y", "y"), {"w0": 0.95, "w1": 0.4, "w2": 0.4}
    ).reason == ("accepted")


def test_equal_weights_are_a_tie_whatever_the_rounding() -> None:
    # .1 + .2 and .3 differ in the last bit
    found = WeightedGate(at_least=1).needs_expert("a", answers_of("x", "x", "y"), {"w0": 0.1, "w1": 0.2, "w2": 0.3})
    assert found.reason == "tie"


def test_a_worker_counts_once() -> None:
    rows = pd.DataFrame([("a", "w0", "x"), ("a", "w0", "x"), ("a", "w1", "y")], columns=["task", "worker", "label"])
    assert gate_evidence(None, rows).n_answers.tolist() == [2]
    late = pd.DataFrame(
        [("a", "w0", "x", "2026-01-05T09:00Z", 0.1), ("a", "w0", "y", "2026-01-05T10:00Z", 0.9)],
        columns=["task", "worker", "label", "submitted", "confidence"],
    )
    found = gate_evidence(None, late)
    assert (found.label.tolist(), found.confidence.tolist()) == (["y"], [0.9])


@pytest.mark.parametrize(
    "gate",
    [
        RuleGate(risk=None, quality=None, complexity=None),
        ConsensusGate(at_least=1, by="quality"),
        WeightedGate(at_least=1, agreement=0.0),
        LearnedGate("random_forest", features="answers", threshold=1.0),
    ],
    ids=lambda gate: gate.name,
)
def test_ties_and_items_without_answers_go_to_an_expert_by_every_gate(gate: Any) -> None:
    items = pd.DataFrame({"item": ["a", "b"]})
    if isinstance(gate, LearnedGate):
        gate.fit(None, answers_of("x"), gold={"a": "x"})
    found = gate.decide(items, answers_of("x", "y"), {"w0": 0.9, "w1": 0.9}).frame
    assert found["needs_expert"].tolist() == [True, True]
    assert found["reason"].tolist() == ["tie", "no_answers"]
    assert found["label"].tolist() == [None, None]


def test_one_form_decides_like_the_other(rng: np.random.Generator) -> None:
    rows = pd.DataFrame(
        [(f"i{item}", f"w{worker}", rng.choice(["x", "y"])) for item in range(30) for worker in range(3)],
        columns=["task", "worker", "label"],
    )
    items = pd.DataFrame({"item": [f"i{n}" for n in range(30)], "complexity": rng.random(30)})
    workers = {f"w{n}": float(rng.random()) for n in range(3)}
    gate = RuleGate(risk=None)
    many = gate.decide(items, rows, workers).frame
    for place, item in enumerate(items.to_dict("records")):
        one = gate.needs_expert(item, rows[rows["task"] == item["item"]].to_dict("records"), workers)
        assert (one.needs_expert, one.reason, one.evidence) == tuple(
            many.loc[place, ["needs_expert", "reason", "evidence"]]
        )


def test_order_of_rows_and_names_change_nothing(rng: np.random.Generator) -> None:
    rows = pd.DataFrame(
        [(item, worker, int(rng.integers(3))) for item in range(40) for worker in range(4)],
        columns=["task", "worker", "label"],
    )
    workers = pd.Series({worker: float(rng.random()) for worker in range(4)})
    first = WeightedGate().decide(None, rows, workers).frame
    renamed = rows.assign(label=rows["label"].map({0: 2, 1: 0, 2: 1})).sample(frac=1, random_state=1)
    second = WeightedGate().decide(None, renamed, workers).frame
    assert first["needs_expert"].tolist() == second["needs_expert"].tolist()
    assert first["agreement"].to_numpy() == pytest.approx(second["agreement"].to_numpy())


def test_support_is_the_posterior_of_workers_right_with_their_quality() -> None:
    # odds of x: (.9/.1) * (.2/.8) = 2.25, so 2.25 / 3.25
    found = gate_evidence(None, answers_of("x", "y"), {"w0": 0.9, "w1": 0.8})
    assert found.tied[0]
    found = gate_evidence(None, answers_of("x", "x", "y"), {"w0": 0.9, "w1": 0.5, "w2": 0.8})
    assert found.support[0] == pytest.approx(2.25 / 3.25)


def crowd(rng: np.random.Generator, n: int = 300) -> tuple[pd.DataFrame, pd.Series[int]]:
    truth = rng.integers(0, 2, n)
    skill = np.linspace(0.55, 0.95, 10)
    rows = [
        (item, worker, int(truth[item] if rng.random() < skill[worker] else 1 - truth[item]))
        for item in range(n)
        for worker in rng.permutation(10)[:5]
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), pd.Series(truth)


def test_a_posterior_gate_accepts_what_is_sure_after_calibration(rng: np.random.Generator) -> None:
    answers, truth = crowd(rng)
    model = DawidSkene().fit(answers)
    calibration = calibrate(model, truth[:150])
    found = PosteriorGate(model, calibration, threshold=0.9).decide(None, answers).frame
    accepted = found[~found["needs_expert"]]
    right = accepted["label"].to_numpy() == truth[accepted["item"]].to_numpy()
    # Calibrated: about as many are right as the probabilities say, which are at least .9.
    assert len(accepted) > 100
    assert right.mean() > 0.9
    expected = calibration.apply(model)
    assert (1 - found["score"].to_numpy()) == pytest.approx(expected.confidence.to_numpy(), abs=1e-6)


def test_a_certified_rule_brings_its_threshold(rng: np.random.Generator) -> None:
    answers, truth = crowd(rng, 600)
    rule = certify_stopping(answers, truth[:400], max_error=0.15, rng=rng)
    gate = PosteriorGate(DawidSkene().fit(answers), rule)
    assert gate.threshold == rule.threshold
    reasons = gate.decide(None, answers).reasons()
    assert set(reasons) <= {"accepted", "unsure", "too_few_answers"}


def test_without_calibration_everything_goes_to_an_expert(rng: np.random.Generator) -> None:
    answers, _ = crowd(rng, 30)
    assert PosteriorGate(DawidSkene().fit(answers)).decide(None, answers).reasons() == {"not_calibrated": 30}


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: RuleGate(quality=1.2), "quality is 1.2"),
        (lambda: RuleGate(risk="severe"), "risk is 'severe'"),  # type: ignore[arg-type]
        (lambda: RuleGate(text_length=-1), "text_length is -1"),
        (lambda: RuleGate.preset("other"), "preset is 'other'"),
        (lambda: ConsensusGate(agreement=-0.1), "agreement is -0.1"),
        (lambda: ConsensusGate(at_least=0), "at_least is 0"),
        (lambda: WeightedGate(agreement=2), "agreement is 2"),
        (lambda: LearnedGate("svm"), "kind is 'svm'"),  # type: ignore[arg-type]
    ],
)
def test_settings_out_of_range_are_one_sentence(make: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


@pytest.mark.parametrize(
    ("items", "rows", "workers", "says"),
    [
        (None, pd.DataFrame({"task": ["a"], "label": ["x"]}), None, "lacks the column worker"),
        (pd.DataFrame({"item": ["a", "a"]}), answers_of("x"), None, "'a' twice"),
        (pd.DataFrame({"item": ["a"], "risk": ["severe"]}), answers_of("x"), None, "risk must be low"),
        (pd.DataFrame({"item": ["a"], "urgency": [7]}), answers_of("x"), None, "urgency must be 1 to 5"),
        (pd.DataFrame({"item": ["a"], "complexity": [1.5]}), answers_of("x"), None, "complexity must lie"),
        (None, answers_of("x"), {"w0": 1.5}, "quality must lie"),
        (None, answers_of("x", confidence=3.0), None, "confidence must lie"),
        (None, answers_of("x"), pd.DataFrame({"worker": ["a", "a"], "quality": [0.5, 0.6]}), "'a' twice"),
    ],
)
def test_wrong_tables_are_one_sentence(items: Any, rows: Any, workers: Any, says: str) -> None:
    with pytest.raises(FrameError, match=says):
        gate_evidence(items, rows, workers)


def test_numbers_and_text_never_meet_and_are_refused() -> None:
    with pytest.raises(FrameError, match="different kinds, text and numbers"):
        gate_evidence(pd.DataFrame({"item": [1]}), answers_of("x").assign(task="1"))
    with pytest.raises(FrameError, match="the workers are of different kinds, text and numbers"):
        gate_evidence(None, answers_of("x"), {0: 0.9})


def test_no_answers_at_all_are_no_error() -> None:
    found = RuleGate(risk=None, complexity=None).needs_expert("a", [])
    assert (found.needs_expert, found.reason, found.evidence) == (True, "no_answers", "no answers")
    nothing = WeightedGate().decide(None, pd.DataFrame(columns=["task", "worker", "label"]))
    assert len(nothing) == 0


def test_the_same_settings_have_the_same_version() -> None:
    assert RuleGate().version == RuleGate().version
    assert RuleGate().version != RuleGate(quality=0.6).version
