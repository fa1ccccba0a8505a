"""Fit, choose and certify data are kept apart; losses stay within bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import (
    BeyondTolerance,
    Bounded,
    CertifyData,
    ChooseData,
    DataLedger,
    FitData,
    ZeroOne,
    certify_batch,
    certify_labels,
    choose_setting,
    split_roles,
)


def audit(n: int = 200, wrong: int = 6, **changes: Any) -> CertifyData:
    given = {"truth": ["a"] * n, "machine": ["b"] * wrong + ["a"] * (n - wrong), "evidence": "people_blind"}
    return CertifyData(range(n), **{**given, **changes})


def test_labels_certify_as_their_counts_do() -> None:
    assert certify_labels(audit(), items=5673, human=2836) == certify_batch(5673, 2836, 200, 6)


def test_labels_certify_once() -> None:
    data = audit()
    certify_labels(data, items=5673, human=2836)
    with pytest.raises(StateError, match="were spent on a certificate already"):
        certify_labels(data, items=5673, human=2836)


def test_a_call_that_failed_spends_nothing() -> None:
    data = audit()
    with pytest.raises(InputError, match="audited is 200"):
        certify_labels(data, items=100, human=0)
    assert certify_labels(data, items=5673, human=2836).audited == 200


def test_each_function_takes_its_own_kind_only() -> None:
    fit = FitData(range(3), [1, 1, 1], [1, 1, 0], "with_model")
    pick = ChooseData(range(3), [1, 1, 1], [1, 1, 0], "people_blind")
    for other in (fit, pick):
        with pytest.raises(InputError, match="give CertifyData"):
            certify_labels(other, items=10, human=5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="give ChooseData"):
        choose_setting(audit(3, 1), [[True] * 3])  # type: ignore[arg-type]


@pytest.mark.parametrize("evidence", ["people_suggested", "with_model", "expert_informed", None, ""])
@pytest.mark.parametrize("kind", [ChooseData, CertifyData])
def test_labels_that_are_not_blind_are_refused(kind: Any, evidence: Any) -> None:
    with pytest.raises(InputError, match="only labels given blind"):
        kind(["i", "j"], ["a", "a"], ["a", "b"], ["people_blind", evidence])


def test_a_ledger_refuses_a_second_use_over_calls() -> None:
    ledger = DataLedger()
    FitData(["a", "b"], [1, 1], [1, 0], "people_blind", ledger=ledger)
    FitData(["b"], [1], [1], "people_blind", ledger=ledger)
    with pytest.raises(StateError, match="'b' were used to fit"):
        CertifyData(["b", "c"], [1, 1], [1, 0], "people_blind", ledger=ledger)
    CertifyData(["c"], [1], [1], "people_blind", ledger=ledger)
    with pytest.raises(StateError, match="'c' were used to certify"):
        CertifyData(["c"], [1], [1], "people_blind", ledger=ledger)
    again = DataLedger(ledger.to_dict())
    with pytest.raises(StateError, match="'a' were used to fit"):
        ChooseData(["a"], [1], [1], "people_blind", ledger=again)


def test_a_group_has_one_use() -> None:
    ledger = DataLedger()
    FitData(["a"], [1], [1], "people_blind", groups=["d1"], ledger=ledger)
    with pytest.raises(StateError, match="groups 'd1' were used to fit"):
        ChooseData(["b"], [1], [1], "people_blind", groups=["d1"], ledger=ledger)


def test_a_refused_use_leaves_no_trace() -> None:
    ledger = DataLedger()
    FitData(["a"], [1], [1], "people_blind", groups=["d1"], ledger=ledger)
    before = ledger.to_dict()
    with pytest.raises(StateError):
        CertifyData(["b"], [1], [1], "people_blind", groups=["d1"], ledger=ledger)
    assert ledger.to_dict() == before


def test_split_keeps_groups_whole_and_everything_once() -> None:
    n = 500
    groups = np.arange(n) // 5
    parts = split_roles(range(n), ["a"] * n, ["a"] * n, "people_blind", groups=groups, rng=np.random.default_rng(3))
    assert sorted(item for part in parts for item in part.items) == list(range(n))
    assert [len(part) for part in parts] == [250, 100, 150]
    assert sum(len(set(part.groups.tolist())) for part in parts) == 100


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.5, 0.6, -0.1), (0.2, 0.2, 0.2)])
def test_shares_that_do_not_sum_to_one_are_refused(shares: Any) -> None:
    with pytest.raises(InputError, match="shares is"):
        split_roles([1], ["a"], ["a"], "people_blind", shares=shares, rng=np.random.default_rng(0))


def test_items_are_named_once_and_columns_are_as_long() -> None:
    with pytest.raises(InputError, match="holds an id twice"):
        FitData(["a", "a"], [1, 1], [1, 1], "people_blind")
    with pytest.raises(InputError, match="truth has 1 rows but items has 2"):
        FitData(["a", "b"], [1], [1, 1], "people_blind")


def test_scores_within_a_tolerance_are_right() -> None:
    data = CertifyData(range(4), [1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 4.1, 4.0], "people_blind")
    found = certify_labels(data, items=10, human=6, loss=BeyondTolerance(1.0))
    assert (found.audited, found.wrong) == (4, 1)


def test_the_mean_error_of_everything_audited_is_known() -> None:
    # all 4 kept items audited: nothing is left
    data = CertifyData(range(4), [1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 4.0, 4.0], "people_blind")
    found = certify_labels(data, items=10, human=6, loss=Bounded(3), rng=np.random.default_rng(0))
    assert found.value == pytest.approx(0.0, abs=1e-6)
    assert found.audit_mean_loss == pytest.approx((0.5 / 3 + 1 / 3) / 4)


def test_unanswered_items_have_the_worst_loss() -> None:
    def bound(unanswered: int) -> float:
        data = CertifyData(range(40), [1.0] * 40, [1.0] * 40, "people_blind")
        loss, rng = Bounded(1), np.random.default_rng(0)
        return float(certify_labels(data, items=500, human=0, unanswered=unanswered, loss=loss, rng=rng).value)

    assert bound(5) > bound(0)


@pytest.mark.parametrize(
    ("loss", "truth", "machine", "why"),
    [
        (Bounded(1), [0.0], [2.0], "must give between 0 and 1"),
        (lambda t, m: np.zeros(len(t)), [1], [1], "loss is"),
        (BeyondTolerance(0.5), ["a"], ["b"], "must hold numbers"),
    ],
)
def test_losses_that_cannot_be_used_are_refused(loss: Any, truth: Any, machine: Any, why: str) -> None:
    data = CertifyData(range(len(truth)), truth, machine, "people_blind")
    with pytest.raises(InputError, match=why):
        certify_labels(data, items=10, human=5, loss=loss, rng=np.random.default_rng(0))


@pytest.mark.parametrize("make", [lambda: Bounded(0), lambda: Bounded(-1), lambda: BeyondTolerance(-0.1)])
def test_scales_that_make_no_sense_are_refused(make: Any) -> None:
    with pytest.raises(InputError):
        make()


def test_zero_one_compares_any_labels() -> None:
    assert ZeroOne()([1, "x", "y"], [1, "x", "z"]).tolist() == [0.0, 0.0, 1.0]
