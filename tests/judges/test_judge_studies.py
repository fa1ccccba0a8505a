"""Who wrote the reference, each response against the person's, another baseline: the source's figures 3, 4, 7 and 8."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.judges import (
    AgainstPerson,
    LLMJudge,
    RougeJudge,
    compare_judges,
    compare_rankings,
    compare_references,
    example_pairs,
    longer,
    model_rates,
    shorter,
)


def test_the_response_that_does_better_against_the_person_s_wins() -> None:
    # Against "four" (4): a of 2 loses, b of 9 wins; both lose, the nearer one loses less surely; equal texts tie.
    pairs = {
        "item": ["1", "2", "3", "4"],
        "instruction": ["?"] * 4,
        "reference": ["four", "four", "four", " "],
        "response_a": ["ab", "abc", "xy", "ab"],
        "response_b": ["abcdefghi", "a", "xy", "b"],
    }
    judged = AgainstPerson(longer()).judge(pairs)
    assert judged["label"].fillna("none").tolist() == ["b", "a", "tie", "none"]
    assert judged["beats_a"].fillna("none").tolist() == ["b", "b", "b", "none"]
    assert judged["reason"].tolist() == ["", "", "", "no reference"]


def test_a_judge_that_needs_the_reference_cannot_be_compared_with_it() -> None:
    with pytest.raises(InputError, match="judge 'rouge' needs the person's response as reference"):
        AgainstPerson(RougeJudge())


def test_the_price_of_both_questions_is_counted_and_private_pairs_stay() -> None:
    class Remote:
        name, version, leaves_machine = "remote", "1", True

        def complete(self, requests: Any, done: Any) -> None:
            from hmc_crowd.judges import Completion

            for place in range(len(requests)):
                done(place, Completion("A", prompt_tokens=100, completion_tokens=1, seconds=0.5))

    pairs = example_pairs()[0].iloc[:3]
    judge = AgainstPerson(LLMJudge(Remote(), swap="none", price_in=2.0))
    judged = judge.judge(pairs)
    assert judge.leaves_machine
    assert judged["cost_micro"].tolist() == [400] * 3
    assert judged["seconds"].tolist() == [1.0] * 3
    with pytest.raises(InputError, match="nothing was sent"):
        judge.judge(pairs.assign(audience="in_house"))


def test_two_kinds_of_reference_by_hand() -> None:
    # People: a a | a a | b b | b b. By the person's reference all four are right, by the model's two: 1 - .5.
    pairs = pd.DataFrame({"item": list("wxyz"), "instruction": list("wxyz"), "response_a": "1", "response_b": "2"})
    answers = pd.DataFrame(
        [(item, f"p{worker}", label) for item, label in zip("wxyz", "aabb", strict=True) for worker in range(2)],
        columns=["task", "worker", "label"],
    )

    def said(labels: str) -> pd.DataFrame:
        return pd.DataFrame({"item": list("wxyz"), "label": list(labels)})

    row = compare_references(pairs, answers, {"j": said("aabb")}, {"j": said("abab")}).iloc[0]
    assert (row["person"], row["model"], row["difference"], row["n"]) == (1.0, 0.5, 0.5, 4)
    assert row["low"] < 0.5 < row["high"]
    with pytest.raises(InputError, match="give the same judges"):
        compare_references(pairs, answers, {"j": said("aabb")}, {"k": said("aabb")})


def test_judgements_in_other_words_are_refused() -> None:
    pairs, answers = example_pairs()
    judged = longer().judge(pairs)
    with pytest.raises(InputError, match="judge 'j' says 'win'; a judgement is 'a', 'b', 'tie', or none"):
        compare_judges(pairs, answers, {"j": judged.assign(label="win")})


def test_ids_read_as_numbers_are_the_same_ids() -> None:
    pairs, answers = example_pairs()
    number = {item: str(place) for place, item in enumerate(pairs["item"])}
    numbered = pairs.assign(item=pairs["item"].map(number))
    judged = {"longer": longer().judge(numbered)}
    found = compare_judges(numbered, answers.assign(task=answers["task"].map(number).astype(int)), judged)
    assert len(found.judges["longer"].stand_in.people) == 4


def test_the_best_judge_is_named() -> None:
    pairs, answers = example_pairs()
    judged = {"longer": longer().judge(pairs), "rouge": RougeJudge().judge(pairs), "shorter": shorter().judge(pairs)}
    assert compare_judges(pairs, answers, judged).best == "rouge"


def test_rankings_under_two_baselines() -> None:
    # m: win, win, tie = 5/6; n: loss, tie, loss = 1/6; o: 1/2. The other way round: reversed ranks.
    said = pd.DataFrame({"label": ["a", "a", "tie", "b", "tie", "b", "a", "b", "tie"]})
    turned = pd.DataFrame({"label": [{"a": "b", "b": "a", "tie": "tie"}[each] for each in said["label"]]})
    models = list("mmmnnnooo")
    first, second = model_rates(said, models), model_rates(turned, models)
    assert [float(first[name]) for name in "mno"] == pytest.approx([5 / 6, 1 / 6, 1 / 2])
    found = compare_rankings(first, {name: second[name] for name in "mno"})
    assert found.table["model"].tolist() == ["m", "o", "n"]
    assert (found.spearman.value, found.pearson.value) == (pytest.approx(-1.0), pytest.approx(-1.0))
    with pytest.raises(InputError, match="1 models are in both"):
        compare_rankings(first, {"m": second["m"]})


def test_an_unread_answer_is_left_out_of_a_model_s_rate() -> None:
    found = model_rates(pd.DataFrame({"label": ["a", None, np.nan]}), ["m"] * 3)
    assert (found["m"].value, found["m"].n) == (1.0, 1)
