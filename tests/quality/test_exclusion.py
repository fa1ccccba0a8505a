"""Exclusion: on evidence, apart from pay, with a person's look where the evidence is thin, and with its effect told."""

from __future__ import annotations

import inspect

import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import RejectionSignal, exclude_workers, exclusion_effect, flag_signals

SAME = RejectionSignal("same_label", "all 40 answers are A")
DRIFT = RejectionSignal("drift", "alarm on 3 May")
MACHINE = RejectionSignal("language_model", "pasted 9 times", 9)
OTHERS = {f"w{number}": [] for number in range(20)}


def decided(**given: list[RejectionSignal]) -> pd.DataFrame:
    return exclude_workers(signals={**OTHERS, **given}).set_index("worker")


def screened(*decisions: str) -> pd.DataFrame:
    evidence = [f"right on {number} of 9" for number in range(len(decisions))]
    return pd.DataFrame(
        {"worker": [f"s{n}" for n in range(len(decisions))], "decision": decisions, "evidence": evidence}
    )


def test_two_independent_signals_exclude_one_asks_for_a_look() -> None:
    found = decided(ann=[SAME, DRIFT], bob=[SAME], cy=[SAME, SAME])
    assert found.loc[["ann", "bob", "cy"], "excluded"].tolist() == [True, False, False]
    assert found.loc[["ann", "bob", "cy"], "review"].tolist() == [False, True, True]
    assert found.loc["ann", "reason"] == "independent signals: drift, same_label"
    assert found.loc["ann", "evidence"] == "all 40 answers are A; alarm on 3 May"
    assert not found.loc["w0", "review"]


def test_p25_a_suspected_machine_is_only_looked_at() -> None:
    found = decided(ann=[MACHINE], bob=[MACHINE, SAME])
    assert not found["excluded"].any()
    assert found.loc[["ann", "bob"], "review"].all()


def test_d7_fast_alone_never_excludes() -> None:
    fast = RejectionSignal("too_fast", "3 s a judgement, the median is 20 s")
    found = decided(ann=[fast, fast])
    assert (found.loc["ann", "excluded"], found.loc["ann", "review"]) == (False, True)


def test_flags_of_pasting_are_such_signals() -> None:
    flags = pd.DataFrame({"worker": ["ann"] * 3, "flag": ["pasted", "copied", "pasted"], "evidence": list("abc")})
    found = exclude_workers(signals={**OTHERS, **flag_signals(flags)}).set_index("worker")
    assert (found.loc["ann", "excluded"], found.loc["ann", "review"]) == (False, True)
    assert "pasted 2 times" in found.loc["ann", "evidence"]


def test_gold_beyond_doubt_is_enough_and_doubtful_gold_is_one_signal() -> None:
    found = exclude_workers(screened("exclude", "doubtful", "keep", "unproven", *["keep"] * 6)).set_index("worker")
    assert found.loc[["s0", "s1", "s2", "s3"], "excluded"].tolist() == [True, False, False, False]
    assert found.loc["s1", "review"]
    both = exclude_workers(screened("doubtful", *["keep"] * 9), {"s0": [SAME]}).set_index("worker")
    assert both.loc["s0", "excluded"]
    assert both.loc["s0", "evidence"] == "right on 0 of 9; all 40 answers are A"


def test_gold_twice_is_one_signal() -> None:
    gold = RejectionSignal("gold", "5 of 6 wrong", 5)
    assert not exclude_workers(screened("doubtful", *["keep"] * 9), {"s0": [gold]})["excluded"].any()


def test_too_many_are_the_tasks_fault_and_go_to_a_person() -> None:
    found = exclude_workers(screened(*["exclude"] * 3, *["keep"] * 7))
    assert not found["excluded"].any()
    assert found["review"].sum() == 3
    assert found["reason"].iloc[0].startswith("3 of 10 workers would be excluded, more than 20%")


def test_nothing_here_speaks_of_pay() -> None:
    words = {"pay", "paid", "reject", "approve", "bonus"}
    assert not words & set(exclude_workers(screened("keep")).columns)
    assert not words & set(inspect.signature(exclude_workers).parameters)


def test_no_evidence_excludes_nobody() -> None:
    with pytest.raises(InputError, match="without evidence nobody is excluded"):
        exclude_workers()
    with pytest.raises(InputError, match="most is 2"):
        exclude_workers(screened("keep"), most=2)
    with pytest.raises(FrameError, match="lacks the column evidence"):
        exclude_workers(screened("keep").drop(columns="evidence"))


def test_the_effect_by_hand() -> None:
    effect = exclusion_effect(pd.Series({"a": 1, "b": 0, "c": 1, "d": 1}), pd.Series({"a": 1, "b": 1, "c": 1}))
    assert (effect.items, effect.changed, effect.lost) == (4, 1, 1)
    assert effect.share == pytest.approx(1 / 3)


def test_no_labels_no_effect() -> None:
    assert exclusion_effect({}, {}).share == 0
    with pytest.raises(InputError, match="after has the item 'z'"):
        exclusion_effect({}, {"z": 1})


def test_a_share_of_whole_people_is_not_lost_to_rounding() -> None:
    # 29% of 100 workers is 28.999... as a float
    signals = {who: [RejectionSignal("same_label", "x"), RejectionSignal("drift", "y")] for who in range(29)}
    found = exclude_workers(signals={**signals, **{who: [] for who in range(29, 100)}}, most=0.29)
    assert found["excluded"].sum() == 29
