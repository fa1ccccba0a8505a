"""What a second pair of eyes found: batches, money, privacy and pins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.judges import (
    Cascade,
    Completion,
    CompositeJudge,
    EmbeddingJudge,
    JudgeCalibration,
    LLMJudge,
    RougeJudge,
    alternative_annotator_test,
    as_predictions,
    check_pin,
    compare_judges,
    example_pairs,
    longer,
    outcomes_of,
    pin_judge,
    rouge,
    sample_pairs,
    shorter,
    turned_back,
)


class Counted:
    """A remote model that counts what it is asked."""

    name, version, leaves_machine = "remote", "1", True

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, requests: Any, done: Any) -> None:
        for place in range(len(requests)):
            self.asked += 1
            done(place, Completion("A"))


def test_a_probability_does_not_depend_on_the_other_pairs_of_the_batch() -> None:
    pairs = example_pairs()[0]
    whole = longer().judge(pairs)
    alone = pd.concat([longer().judge(pairs.iloc[[row]]) for row in (0, 40, 116)])
    assert alone["p_a"].tolist() == whole["p_a"].iloc[[0, 40, 116]].tolist()


def test_another_panel_is_refused_before_the_judge_is_asked() -> None:
    client, panel = Counted(), example_pairs()[0].iloc[:5]
    pin = pin_judge(LLMJudge(client), panel)
    asked = client.asked
    with pytest.raises(InputError, match="the panel's pairs are not those of the pin"):
        check_pin(LLMJudge(client), pin, panel.iloc[:4])
    assert client.asked == asked


def test_a_private_pair_stops_a_cascade_before_its_first_judge() -> None:
    pairs = example_pairs()[0].iloc[:40]
    truth = dict.fromkeys(pairs["item"], "b")
    client, first = Counted(), longer()
    remote = LLMJudge(client)
    cascade = Cascade([first, remote])
    tables = [first.judge(pairs), shorter().judge(pairs)]
    cascade.calibrate(tables, truth).choose(tables, truth, target=0.5)
    asked: list[int] = []
    first.judge = lambda given: asked.append(len(given))  # type: ignore[method-assign, assignment, return-value]
    with pytest.raises(InputError, match="1 pairs are for in_house only and remote is on another machine"):
        cascade.judge(pairs.assign(audience=["in_house"] + ["any"] * 39))
    assert (asked, client.asked) == ([], 0)


def test_a_composite_refuses_only_what_its_remote_judge_would_see() -> None:
    pairs = example_pairs()[0]
    kinds = pairs["category"].unique()
    remote = LLMJudge(Counted())
    judge = CompositeJudge({"near": longer(), "far": remote}, dict.fromkeys(kinds[1:], "near") | {kinds[0]: "far"})
    private = pairs.assign(audience=np.where(pairs["category"] == kinds[0], "any", "in_house"))
    assert len(judge.judge(private)) == len(pairs)
    with pytest.raises(InputError, match="nothing was sent"):
        judge.judge(pairs.assign(audience="in_house"))


def test_an_encoder_elsewhere_does_not_get_private_texts() -> None:
    seen: list[str] = []

    def far(texts: Any) -> Any:
        seen.extend(texts)
        return np.ones((len(texts), 2))

    pairs = example_pairs()[0].iloc[:3].assign(audience="in_house")
    with pytest.raises(InputError, match="nothing was sent"):
        EmbeddingJudge(far, version="1", leaves_machine=True).judge(pairs)
    assert seen == []
    allowed = EmbeddingJudge(far, version="1", leaves_machine=True, allow_audiences=["in_house"])
    assert len(allowed.judge(pairs)) == 3


def test_a_cascade_that_learnt_otherwise_is_another_cascade() -> None:
    pairs = example_pairs()[0]
    judged = RougeJudge().judge(pairs)
    versions = set()
    for label in ("a", "b"):
        cascade = Cascade([RougeJudge()])
        cascade.calibrate([judged], {item: label if row % 3 else "tie" for row, item in enumerate(pairs["item"])})
        versions.add(cascade.version)
    assert len(versions) == 2


def test_predictions_keep_the_judge_s_own_odds_and_make_their_label_the_likeliest() -> None:
    judged = pd.DataFrame(
        {
            "item": ["1", "2", "3"],
            "label": ["a", "b", "a"],
            "confidence": [0.7, 0.6, 0.2],
            "p_a": [0.5, 0.1, 0.5],
            "p_b": [0.3, 0.8, 0.3],
            "p_tie": [0.2, 0.1, 0.2],
        }
    )
    made = as_predictions(judged)
    # .3 shared as 3 to 2; .4 shared evenly; a label no better than a guess: a third each, its confidence kept.
    assert made[["p_a", "p_b", "p_tie"]].round(3).values.tolist() == [
        [0.7, 0.18, 0.12],
        [0.2, 0.6, 0.2],
        [0.333, 0.333, 0.333],
    ]
    assert made["confidence"].tolist() == [0.7, 0.6, 0.2]
    assert made[["p_a", "p_b", "p_tie"]].sum(axis=1).round(12).eq(1.0).all()


def test_equal_calibrations_have_one_fingerprint() -> None:
    pairs, _ = example_pairs()
    judged = RougeJudge().judge(pairs)
    truth = dict.fromkeys(pairs["item"], "b")
    first, second = (JudgeCalibration().fit(judged, truth) for _ in range(2))
    assert first.version == second.version != JudgeCalibration().fit(judged.iloc[:50], truth).version


def test_a_response_that_is_no_text_is_named() -> None:
    table = pd.DataFrame({"instruction_id": ["q"] * 2, "instruction": ["?"] * 2, "model": ["m", "n"]})
    with pytest.raises(FrameError, match="responses column response must hold text: row 1"):
        sample_pairs(table.assign(response=["x", None]), "m")


def test_the_table_of_letters_cuts_as_the_patterns_do() -> None:
    import re

    from hmc_crowd.judges import tokens

    rng = np.random.default_rng(3)
    patterns = {"words": r"[^\W_]+", "rouge-score": "[a-z0-9]+"}
    for text in ("".join(map(chr, rng.integers(0, 128, 40))) for _ in range(500)):
        for preset, pattern in patterns.items():
            assert tokens(text, preset) == re.findall(pattern, text.lower())


def test_a_label_that_no_judge_gives_cannot_be_turned_back() -> None:
    with pytest.raises(InputError, match="label is 'A'; give 'a', 'b', 'tie' or None"):
        turned_back("A", swapped=True)


def test_texts_without_spaces_overlap_by_character() -> None:
    # Two of three characters are shared, on both sides.
    assert rouge("我爱你", "我爱他").f == pytest.approx(2 / 3)
    pairs = pd.DataFrame(
        {"item": ["p"], "instruction": ["?"], "reference": ["我爱你"], "response_a": ["我爱他"], "response_b": ["不是"]}
    )
    assert RougeJudge().judge(pairs)["label"].tolist() == ["a"]


def test_a_study_without_an_answer_and_with_answers_to_other_pairs_is_refused() -> None:
    pairs, people = example_pairs()
    judged = {"longer": longer().judge(pairs)}
    with pytest.raises(FrameError, match="annotations have no rows; give at least one person's answer"):
        compare_judges(pairs, people.iloc[:0], judged)
    with pytest.raises(InputError, match="answer pair 'p0' and 0 more that are not in the pairs; correct their"):
        compare_judges(pairs, people.iloc[:1].assign(task="p0"), judged)


def test_a_label_that_no_judge_gives_is_not_taken_as_unread() -> None:
    with pytest.raises(InputError, match="judged holds the label 'A'; a judgement is 'a', 'b', 'tie', or none"):
        outcomes_of(pd.DataFrame({"label": ["a", "A"]}))
    with pytest.raises(InputError, match="judged has no column 'label'"):
        outcomes_of(["a"])


def test_an_unknown_unit_is_refused_before_anything_is_judged() -> None:
    with pytest.raises(InputError, match="unit is 'lines'; choose one of characters, words, tokens"):
        longer("lines")


def test_a_seed_is_no_generator_and_nobody_tested_is_said_in_words() -> None:
    table = pd.DataFrame({"instruction_id": ["1"], "instruction": ["x"], "model": ["m"], "response": ["r"]})
    with pytest.raises(InputError, match="rng is 3; give a numpy"):
        sample_pairs(table, "m", rng=3)  # type: ignore[arg-type]
    nobody = alternative_annotator_test(example_pairs()[1].iloc[:0], {})
    assert str(nobody).endswith("nobody could be tested (no answers)")
