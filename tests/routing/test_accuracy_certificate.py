from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.routing import certificate, certify_accuracy, certify_batch, optimistic_accuracy

COUNTS = {"human_audited": 300, "human_wrong": 6, "machine_audited": 300, "machine_wrong": 9}


def test_both_strata_share_the_error() -> None:
    # half of .05 each: both bounds at .975
    found = certify_accuracy(5673, 2836, **COUNTS)
    people = certify_batch(2836, 0, 300, 6, level=0.975).wrong_at_most
    machine = certify_batch(2837, 0, 300, 9, level=0.975).wrong_at_most
    assert (found.human_wrong_at_most, found.machine_wrong_at_most) == (people, machine)
    assert found.accuracy_at_least == (5673 - people - machine) / 5673


def test_people_who_err_are_not_taken_as_right() -> None:
    agreement = certify_batch(5673, 2836, 300, 9).agreement_at_least
    assert certify_accuracy(5673, 2836, **COUNTS).accuracy_at_least < agreement


def test_nobody_audited_people() -> None:
    found = certify_accuracy(100, 40, human_audited=0, human_wrong=0, machine_audited=60, machine_wrong=1)
    assert found.wrong_at_most == 40


def test_all_labels_of_one_kind() -> None:
    found = certify_accuracy(100, 100, human_audited=100, human_wrong=3, machine_audited=0, machine_wrong=0)
    assert found.accuracy_at_least == 1.0


@given(st.floats(0.01, 0.99))
def test_more_error_for_a_stratum_narrows_it(part: float) -> None:
    found = certify_accuracy(5673, 2836, human_share_of_error=part, **COUNTS)
    even = certify_accuracy(5673, 2836, **COUNTS)
    if part >= 0.5:
        assert found.human_wrong_at_most <= even.human_wrong_at_most
    else:
        assert found.machine_wrong_at_most <= even.machine_wrong_at_most


def test_only_audited_people_lead_to_the_word_accuracy() -> None:
    # Names of results say what they bound: accuracy is left to the two that measure or guess people's error.
    for name in certificate.__all__:
        fields = getattr(getattr(certificate, name), "__dataclass_fields__", {})
        speaks = [field for field in fields if "accuracy" in field]
        allowed = {
            "AccuracyCertificate": ["accuracy_at_least"],
            "OptimisticAccuracy": ["optimistic_accuracy_at_least"],
        }.get(name, [])
        assert speaks == allowed


def test_gold_gives_an_optimistic_bound_by_that_name() -> None:
    agreement = certify_batch(5673, 2836, 500, 15, level=0.975)
    found = optimistic_accuracy(agreement, 100, 0, level=0.95)
    # No error in 100 at the other .025: 1 - .025^(1/100)
    assert found.human_error_at_most == pytest.approx(1 - 0.025**0.01)
    assert found.optimistic_accuracy_at_least == pytest.approx(agreement.value - 1 + 0.025**0.01)
    assert "optimistic accuracy" in str(found)
    assert "if gold is as hard" in str(found)


def test_gold_needs_a_part_of_the_error() -> None:
    with pytest.raises(InputError, match=r"such as 0\.975"):
        optimistic_accuracy(certify_batch(5673, 2836, 500, 15), 100, 0, level=0.95)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"human": 6000}, "human is 6000 of 5673"),
        ({"human_wrong": 301}, "human stratum of 2836 labels: wrong is 301"),
        ({"machine_audited": 3000}, "machine stratum of 2837"),
        ({"human": 5673}, "machine_audited is 300, but machine gave no label"),
        ({"human_share_of_error": 0.0}, "human_share_of_error is 0"),
        ({"human_share_of_error": 1.0}, "human_share_of_error is 1"),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        certify_accuracy(**{"items": 5673, "human": 2836, **COUNTS, **change})
