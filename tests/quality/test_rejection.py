"""May this work be refused? (acceptance cases B09 to B11, pitfalls P23 and P25)"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import InputError, NeedsHumanError
from hmc_crowd.quality import RejectionProposal, RejectionSignal, check_rejections

GOLD = RejectionSignal("gold", "5 of 6 known items wrong", 5)
SAME = RejectionSignal("same_label", "all 40 answers are A")


def proposals(count: int) -> list[RejectionProposal]:
    return [RejectionProposal(f"s{number}", (GOLD, SAME), "x" * 100) for number in range(count)]


@pytest.mark.parametrize(
    "signals",
    [
        (),
        (GOLD,),
        (GOLD, RejectionSignal("gold", "another five", 5)),
        # B11: one failed gold item is no signal, whatever else there is.
        (RejectionSignal("gold", "1 of 6 wrong", 1), SAME),
        # P25: the suspicion that a model wrote the answers is no ground.
        (RejectionSignal("language_model", "reads like one"), SAME),
        # What flags answers for review is none either, under whatever name it is handed in.
        *((RejectionSignal(flag, "seen 9 times", 9), SAME) for flag in ("pasted", "Typed too fast", "copied")),
    ],
)
def test_b11_fewer_than_two_independent_signals_never_reject(signals: tuple[RejectionSignal, ...]) -> None:
    with pytest.raises(InputError, match="needs two"):
        RejectionProposal("s1", signals, "x" * 100)


def test_b09_the_message_has_a_hundred_characters() -> None:
    with pytest.raises(InputError, match="has 99 characters"):
        RejectionProposal("s1", (GOLD, SAME), " " + "x" * 99 + " ")
    assert RejectionProposal("s1", (GOLD, SAME), "x" * 100).submission_id == "s1"


@pytest.mark.parametrize(("rule", "evidence"), [("", "seen"), ("gold", " ")])
def test_a_signal_has_a_rule_and_evidence(rule: str, evidence: str) -> None:
    with pytest.raises(InputError, match="a signal needs both"):
        RejectionSignal(rule, evidence)


def test_b10_more_than_the_cap_rejects_nobody() -> None:
    # 5 of 100 are 5 %, the cap is 2 %.
    with pytest.raises(NeedsHumanError, match=r"5 of 100 .*nothing was rejected"):
        check_rejections(proposals(5), handed_in=100, signed_off_by="Kim")


def test_earlier_rejections_count_towards_the_cap() -> None:
    assert len(check_rejections(proposals(2), handed_in=100, signed_off_by="Kim")) == 2
    with pytest.raises(NeedsHumanError):
        check_rejections(proposals(2), handed_in=100, rejected_before=1, signed_off_by="Kim")


def test_one_is_always_within_the_cap() -> None:
    assert len(check_rejections(proposals(1), handed_in=3, signed_off_by="Kim")) == 1


def test_nobody_is_rejected_without_a_persons_sign_off() -> None:
    with pytest.raises(NeedsHumanError, match="sign-off"):
        check_rejections(proposals(1), handed_in=100, signed_off_by=" ")


def test_nothing_proposed_needs_no_signature() -> None:
    assert check_rejections([], handed_in=0, signed_off_by="") == ()


@pytest.mark.parametrize(
    ("count", "options"),
    [(1, {"cap": 1.5}), (1, {"cap": -0.1}), (3, {"handed_in": 2})],
)
def test_what_makes_no_sense_is_refused(count: int, options: dict) -> None:
    with pytest.raises(InputError):
        check_rejections(proposals(count), **{"handed_in": 100, "signed_off_by": "Kim", **options})


def test_a_submission_is_proposed_once() -> None:
    with pytest.raises(InputError, match="again"):
        check_rejections([*proposals(1), *proposals(1)], handed_in=100, signed_off_by="Kim")


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 400), st.floats(0, 1))
def test_all_or_none_and_never_above_the_cap(new: int, before: int, more: int, cap: float) -> None:
    handed_in = new + before + more
    try:
        found = check_rejections(
            proposals(new), handed_in=handed_in, rejected_before=before, signed_off_by="Kim", cap=cap
        )
    except NeedsHumanError:
        assert new + before > max(1, cap * handed_in - 1)
        return
    assert len(found) == new
    assert not new or new + before <= max(1, cap * handed_in + 1e-9)


def test_a_cap_of_whole_submissions_is_not_lost_to_rounding() -> None:
    # 29% of 100 is 28.999... as a float
    signals = (RejectionSignal("gold", "5 of 6 wrong", 5), RejectionSignal("same_label", "all 40 answers are A"))
    proposals = [RejectionProposal(f"s{number}", signals, "x" * 100) for number in range(29)]
    assert len(check_rejections(proposals, handed_in=100, signed_off_by="Kim", cap=0.29)) == 29


@pytest.mark.parametrize("rule", ["LLM", " Language model", "language-model", "AI"])
def test_a_suspicion_never_counts_however_it_is_written(rule: str) -> None:
    assert not RejectionSignal(rule, "looks written by a machine", 9).counts


def test_one_rule_written_twice_is_one_signal() -> None:
    both = (RejectionSignal("gold", "5 of 6 wrong", 5), RejectionSignal("Gold ", "5 of 6 wrong again", 5))
    with pytest.raises(InputError, match="has 1 independent signals"):
        RejectionProposal("s", both, "x" * 100)
    assert not RejectionSignal("Gold", "1 of 6 wrong").counts
