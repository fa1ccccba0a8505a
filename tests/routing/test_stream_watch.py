"""Windows with their own certificate, alarms that raise the audit, shifts, and prices that hold a budget."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.routing import (
    AuditCounts,
    ErrorAlarm,
    PriceController,
    ScoreBins,
    StreamWatch,
    audit_probabilities,
    certify_batch,
    shift_test,
)

QUIET = AuditCounts(items=20_000, human=5000, audited=300, wrong=3)


def watch(**changes: Any) -> StreamWatch:
    return StreamWatch(**{"target": 0.95, "allowed_error": 0.05, **changes})


def window(of: StreamWatch, rng: np.random.Generator, rate: float, **more: Any) -> Any:
    """Play one window of 6,000 kept items; those audited are drawn at the watch's own rate."""
    audited = int(rng.binomial(6000, of.audit_probability))
    wrong = rng.random(audited) < rate
    of.observe(wrong)
    return of.close("w", AuditCounts(8000, 2000, audited, int(wrong.sum())), **more)


def test_a_quiet_window_is_certified_as_a_batch() -> None:
    report = watch().close("1", QUIET)
    assert report.certificate == certify_batch(20_000, 5000, 300, 3)
    assert report.holds
    assert report.reasons == ()


def test_joint_windows_share_the_error() -> None:
    stream = watch(joint=True)
    levels = [stream.close(str(n), QUIET).certificate.level for n in range(3)]
    # 1 - .05 * 6 / (pi k)^2
    assert levels == pytest.approx([1 - 0.05 * 6 / (np.pi * k) ** 2 for k in (1, 2, 3)])


def test_an_alarm_raises_the_audit_at_once_and_withdraws_the_certificate() -> None:
    stream = watch(calm_windows=2)
    assert stream.audit_probability == 0.02
    assert stream.observe([1] * 10)
    assert stream.audit_probability == 0.1
    report = stream.close("1", AuditCounts(20_000, 5000, 10, 10))
    assert report.certificate is None
    assert not report.holds
    assert "the error of audited items is above 0.05" in report.reasons
    assert [stream.close(str(n), QUIET).audit_probability for n in (2, 3)] == [0.1, 0.02]


def test_a_shift_of_scores_withdraws_the_certificate_until_the_reference_follows() -> None:
    rng = np.random.default_rng(1)
    stream = watch(reference_scores=rng.beta(8, 2, 20_000))
    assert stream.close("1", QUIET, scores=rng.beta(8, 2, 5000)).reasons == ()
    moved = rng.beta(6, 2, 5000)
    shifted = stream.close("2", QUIET, scores=moved)
    assert shifted.shifts["scores"].shifted
    assert "the scores shifted" in shifted.reasons[0]
    stream.rebase(scores=moved)
    assert stream.close("3", QUIET, scores=rng.beta(6, 2, 5000)).certificate is not None


def test_a_shift_of_the_mix_counts_too() -> None:
    stream = watch(reference_mix={"en": 8000, "de": 2000})
    assert stream.close("1", QUIET, mix={"en": 790, "de": 210}).reasons == ()
    assert "the mix shifted" in stream.close("2", QUIET, mix={"en": 500, "fr": 500}).reasons[0]


def test_what_the_watch_compares_must_be_given() -> None:
    with pytest.raises(StateError, match="scores is missing"):
        watch(reference_scores=[0.1, 0.9]).close("1", QUIET)
    with pytest.raises(StateError, match="mix is missing"):
        watch(reference_mix={"en": 1}).close("1", QUIET)


def test_unanswered_audit_items_count_as_wrong_in_the_window() -> None:
    waiting = watch().close("1", AuditCounts(20_000, 5000, 300, 3, unanswered=20))
    assert waiting.certificate == certify_batch(20_000, 5000, 300, 3, unanswered=20)
    assert waiting.certificate.agreement_at_least < certify_batch(20_000, 5000, 300, 3).agreement_at_least


def test_more_answers_than_the_audit_had_are_refused() -> None:
    stream = watch()
    stream.observe([0] * 10)
    with pytest.raises(InputError, match="10 were observed"):
        stream.close("1", AuditCounts(100, 50, 10, 0, unanswered=1))


def test_budget_and_deadline_are_part_of_the_report() -> None:
    moments = {"closed": datetime(2026, 1, 1, 13, tzinfo=UTC), "deadline": datetime(2026, 1, 1, 12, tzinfo=UTC)}
    spent = {"spent": {"human_s": 4000, "money_minor": 90}, "allowed": {"human_s": 3600, "money_minor": 100}}
    report = watch().close("1", QUIET, **spent, **moments)
    assert (report.over_budget, report.late) == (("human_s",), True)
    assert "human_s exceeded" in str(report)
    assert report.to_frame()["late"].tolist() == [True]


def test_the_rolling_error_forgets() -> None:
    stream = watch(rolling=2, allowed_error=0.9)
    stream.observe([1] * 50)
    stream.close("1", AuditCounts(200, 50, 50, 50))
    for n in (2, 3):
        stream.observe([0] * 50)
        report = stream.close(str(n), AuditCounts(200, 50, 50, 0))
    assert report.error_low == pytest.approx(0.0, abs=1e-6)
    assert report.error_high < 0.15


def test_the_state_goes_on_in_another_process() -> None:
    rng = np.random.default_rng(2)
    stream = watch(reference_scores=rng.random(100), reference_mix={"a": 5, "b": 5})
    stream.observe([0, 1, 0])
    state = json.loads(json.dumps(stream.to_dict()))
    again = StreamWatch.from_dict(state)
    for each in (stream, again):
        each.observe([0] * 20)
    counts, scores = AuditCounts(2000, 500, 23, 1), rng.random(50)
    one, two = (each.close("1", counts, scores=scores, mix={"a": 6, "b": 4}) for each in (stream, again))
    assert one == two
    with pytest.raises(InputError, match="state has format"):
        StreamWatch.from_dict({})


def false_alarms(runs: int, windows: int) -> float:
    """Alarms per window of an alarm that is reset after each, with the error just at what is allowed."""
    rng = np.random.default_rng(3)
    raised = 0
    for _ in range(runs):
        alarm = ErrorAlarm(0.05, false_alarms=0.05)
        for _ in range(windows):
            alarm.start_window()
            if alarm.add(rng.random(40) < 0.05):
                raised += 1
                alarm.reset()
    return raised / (runs * windows)


def test_false_alarms_are_rare() -> None:
    assert false_alarms(10, 60) <= 0.05


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_promised() -> None:
    assert false_alarms(200, 200) <= 0.05


def test_a_machine_that_became_worse_is_noticed_soon() -> None:
    rng = np.random.default_rng(4)
    stream = watch()
    for _ in range(10):
        assert window(stream, rng, 0.03).reasons == ()
    noticed = next(n for n in range(1, 20) if window(stream, rng, 0.15).reasons)
    assert noticed <= 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"target": 2}, "target is 2"),
        ({"allowed_error": 0}, "allowed is 0"),
        ({"allowed_error": 1}, "allowed is 1"),
        ({"audit_probability": 0}, "audit_probability is 0"),
        ({"alarm_probability": 0.01}, "must raise the audit's share"),
        ({"calm_windows": 0}, "calm_windows is 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        watch(**change)


# --- shift --------------------------------------------------------------------------------------------------------


def test_shift_by_hand() -> None:
    # 10 and 30 against 20 and 20, margins 30 and 50 of 80: expected 15 and 25 in both.
    # G = 2 (10 ln(10/15) + 30 ln(30/25) + 20 ln(20/15) + 20 ln(20/25)) = 5.412
    found = shift_test([10, 30], [20, 20])
    g = 2 * (10 * np.log(10 / 15) + 30 * np.log(30 / 25) + 20 * np.log(20 / 15) + 20 * np.log(20 / 25))
    from scipy.stats import chi2

    assert found.p_value == pytest.approx(chi2.sf(g, 1))
    assert found.distance == 0.25
    assert not found.shifted


def test_a_shift_must_be_beyond_chance_and_large() -> None:
    assert not shift_test([500_000, 500_000], [51_000, 49_000]).shifted
    assert shift_test([500_000, 500_000], [60_000, 40_000]).shifted
    assert not shift_test([5, 5], [6, 4]).shifted


def test_nothing_to_compare_is_no_shift() -> None:
    assert shift_test([3, 4], [0, 0]).p_value == 1.0
    assert shift_test({"a": 3}, {"a": 9}).p_value == 1.0


def test_bins_must_be_the_same() -> None:
    with pytest.raises(InputError, match="window has 3 bins"):
        shift_test([1, 2], [1, 2, 3])


def test_ties_stay_in_one_bin() -> None:
    bins = ScoreBins.of([0.5] * 80 + [0.9] * 20)
    assert bins.counts.tolist() == [80, 20]
    assert ScoreBins.of([0.5] * 10).counts.tolist() == [10]


# --- prices -------------------------------------------------------------------------------------------------------


def play(controller: PriceController, hours: int, rng: np.random.Generator) -> PriceController:
    """Arrivals double at noon and doubt rises later; an item takes about 30 s and 12 minor units of a person."""
    for hour in range(hours):
        n = int(rng.poisson(400 if hour % 24 < 12 else 800))
        gap = rng.beta(1, 6 if hour < hours / 2 else 3, n)
        seconds, money = rng.gamma(4, 7.5, n), np.full(n, 12.0)
        people = controller.gain(gap, human_s=seconds, money_minor=money) > 0
        spent = {"human_s": float(seconds[people].sum()), "money_minor": float(money[people].sum())}
        controller = controller.after(spent, hours=1.0)
    return controller


def test_minutes_and_money_are_held_whatever_comes() -> None:
    first = PriceController(
        {"human_s": 3000.0, "money_minor": 3000.0}, {"human_s": 0.01, "money_minor": 0.001}, step=0.3, most=0.1
    )
    after = play(first, 240, np.random.default_rng(5))
    for name in first.allowed:
        average = after.spent[name] / after.hours
        # The stated bound, whatever comes; here both come much nearer.
        assert average <= first.allowed[name] * (1 + np.log(0.1 / first.prices[name]) / (0.3 * 240))
        assert average <= 1.02 * first.allowed[name]
    # One of the two binds; seconds do: a person's 30 s cost 12, and 3,000 s would cost 1,200.
    assert after.spent["human_s"] / after.hours >= 0.95 * 3000
    assert after.prices["money_minor"] == pytest.approx(1e-9)


def test_prices_rise_with_too_much_and_fall_with_too_little() -> None:
    first = PriceController({"human_s": 100.0}, {"human_s": 0.01}, step=0.5)
    assert first.after({"human_s": 200.0}, hours=1.0).prices["human_s"] == pytest.approx(0.01 * np.exp(0.5))
    assert first.after({}, hours=2.0).prices["human_s"] == pytest.approx(0.01 * np.exp(-1.0))


def test_a_controller_is_stored_and_made_again() -> None:
    first = PriceController({"human_s": 100.0}, {"human_s": 0.01}).after({"human_s": 70.0}, hours=1.0)
    assert PriceController(**json.loads(json.dumps(first.to_dict()))) == first


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (lambda: PriceController({}, {}), "prices names"),
        (lambda: PriceController({"s": 1.0}, {"t": 1.0}), "prices names"),
        (lambda: PriceController({"s": 0.0}, {"s": 1.0}), r"allowed\['s'\] is 0"),
        (lambda: PriceController({"s": 1.0}, {"s": 1.0}, least=2.0, most=1.0), "least is 2"),
        (lambda: PriceController({"s": 1.0}, {"s": 1.0}).after({"x": 1.0}, hours=1), "spent names 'x'"),
        (lambda: PriceController({"s": 1.0}, {"s": 1.0}).after({"s": -1.0}, hours=1), r"spent\['s'\] is -1"),
        (lambda: PriceController({"s": 1.0}, {"s": 1.0}).after({}, hours=0), "hours is 0"),
        (lambda: PriceController({"s": 1.0}, {"s": 1.0}).gain(0.5, x=1.0), "cost names 'x'"),
    ],
)
def test_impossible_prices_are_refused(act: Any, why: str) -> None:
    with pytest.raises(InputError, match=why):
        act()


# --- probabilities ------------------------------------------------------------------------------------------------


def test_probabilities_sum_to_the_answers_and_keep_the_floor() -> None:
    rng = np.random.default_rng(6)
    spread = rng.beta(1, 5, 5000)
    for answers in (60.0, 400.0, 4800.0, 5000.0):
        chances = audit_probabilities(spread, answers=answers, least=0.01)
        assert chances.sum() == pytest.approx(answers)
        assert chances.min() >= 0.01
        assert chances.max() <= 1.0
        inside = (chances > 0.01) & (chances < 1.0)
        if inside.sum() > 1:
            assert np.ptp(chances[inside] / spread[inside]) < 1e-6


def test_no_uncertainty_is_an_even_draw() -> None:
    assert audit_probabilities([0.0] * 4, answers=1, least=0.1).tolist() == [0.25] * 4
    assert audit_probabilities([0.0, 0.0, 1.0], answers=2, least=0.1).tolist() == pytest.approx([0.5, 0.5, 1.0])


@pytest.mark.parametrize(
    ("change", "why"),
    [({"least": 0.0}, "least is 0"), ({"answers": 0.1}, "between 0.3 and 3"), ({"answers": 4}, "between 0.3 and 3")],
)
def test_probabilities_of_0_are_refused(change: dict[str, float], why: str) -> None:
    with pytest.raises(InputError, match=why):
        audit_probabilities([0.1, 0.2, 0.3], **{"answers": 1.0, "least": 0.1, **change})
