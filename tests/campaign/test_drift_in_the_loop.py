"""Drift of a campaign's workers, on gold and by agreement with the others, looked at as the answers come in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from recorded import DAY_0, campaign_of, crowd_days, record

from hmc_crowd.errors import InputError
from hmc_crowd.quality import UnknownChange, answers_between, find_drift, gold_checks, pool_prior

if TYPE_CHECKING:
    from pathlib import Path

RATE = 0.001


def fall(workers: int, days: int, fallen: int, on: int) -> np.ndarray:
    """Everybody is right on .9, the first ``fallen`` on .6 from a day on."""
    rates = np.full((days, workers), 0.9)
    rates[on:, :fallen] = 0.6
    return rates


def alarms_of(campaign: Any, clock: Any, answers: pd.DataFrame, looks: list[int]) -> pd.DataFrame:
    """Store the answers up to each day of a look, and look."""
    before = DAY_0
    for day in looks:
        until = DAY_0 + pd.Timedelta(days=day)
        new = answers[(answers["submitted"] >= before) & (answers["submitted"] < until)]
        if len(new):
            record(campaign, new)
        clock.advance(max((until.to_pydatetime() - clock.now()).total_seconds(), 0))
        campaign.watch_drift(false_alarms=RATE)
        before = until
    with campaign._context.store.read() as tx:
        return tx.standing.alarms(campaign._context.campaign_id)


def days_to_alarm(alarms: pd.DataFrame, fallen: int, on: int) -> pd.Series:
    start = DAY_0 + pd.Timedelta(days=on)
    bad = alarms["worker"].isin([f"w{n:03d}" for n in range(fallen)]) & (alarms["at"] >= start)
    return (alarms[bad].groupby("worker")["at"].min() - start) / pd.Timedelta(days=1)


def gold_alone(answers: pd.DataFrame, gold: dict[str, str]) -> pd.DataFrame:
    checks = gold_checks(answers, gold)
    counts = checks.groupby("worker")["right"].agg(["sum", "size"])
    between = answers_between(workers=1, per_worker_day=2, false_alarms_per_day=RATE)
    return find_drift(checks, UnknownChange(pool_prior(counts["sum"], counts["size"]), between_alarms=between))


def check_two_streams(folder: Path, clock: Any, *, workers: int, days: int, fallen: int, looks: list[int]) -> None:
    on = days * 2 // 3
    answers, truth, gold = crowd_days(fall(workers, days, fallen, on), rng=np.random.default_rng(7), others=20)
    with campaign_of(folder, truth, gold, clock=clock) as campaign:
        alarms = alarms_of(campaign, clock, answers, looks)
        assert campaign.watch_drift(false_alarms=RATE) == 0
    both, one = days_to_alarm(alarms, fallen, on), days_to_alarm(gold_alone(answers, gold), fallen, on)
    assert len(both) == fallen
    # The pure gain is 7 to 1.6 days at 2 golds and 20 other answers a day; whoever gold alone did not find counts as
    # found on the last day.
    waited = np.concatenate([one.to_numpy(), np.full(fallen - len(one), days - on)])
    assert np.median(both) <= 4
    assert np.median(both) <= 0.6 * np.median(waited)
    assert set(alarms["reason"].str.partition(":")[0]) <= {"gold", "agreement"}
    assert alarms["reason"].str.startswith("agreement").any()
    start = DAY_0 + pd.Timedelta(days=on)
    false = (alarms["at"] < start) | ~alarms["worker"].isin([f"w{n:03d}" for n in range(fallen)])
    # A Poisson count at the rate that was asked for, three standard errors allowed.
    allowed = RATE * workers * days
    assert false.sum() <= allowed + 3 * np.sqrt(allowed)


def test_agreement_finds_a_fall_sooner_at_the_same_false_alarms(tmp_path: Path, clock: Any) -> None:
    check_two_streams(tmp_path, clock, workers=18, days=30, fallen=3, looks=[20, 24, 30])


@pytest.mark.slow
def test_agreement_finds_a_fall_sooner_of_many_people_looked_at_again_and_again(tmp_path: Path, clock: Any) -> None:
    check_two_streams(tmp_path, clock, workers=90, days=60, fallen=12, looks=[20, 34, 40, 44, 48, 54, 60])


def test_a_round_of_harder_items_is_nobody_s_fall(tmp_path: Path, clock: Any) -> None:
    rng = np.random.default_rng(3)
    easy, truth, gold = crowd_days(np.full((15, 18), 0.93), rng=rng, golds=0)
    hard, more, _ = crowd_days(np.full((15, 18), 0.75), rng=rng, golds=0, first_day=15)
    with campaign_of(tmp_path, truth | more, gold, clock=clock) as campaign:
        record(campaign, easy)
        record(campaign, hard, round=2)
        # Without gold there is agreement alone; it falls from .9 to .7 for everybody.
        assert campaign.watch_drift(false_alarms=RATE) <= 1


def test_who_looks_often_sees_what_who_looks_once_sees(tmp_path: Path, clock: Any) -> None:
    answers, truth, gold = crowd_days(fall(12, 16, 1, 8), rng=np.random.default_rng(5))
    found = []
    for name, looks in (("often", [6, 8, 9, 10, 11, 12, 16]), ("once", [16])):
        (tmp_path / name).mkdir()
        with campaign_of(tmp_path / name, truth, gold, clock=clock) as campaign:
            found.append(alarms_of(campaign, clock, answers, looks))
    first = [each[each["worker"] == "w000"]["at"].min() for each in found]
    assert abs(first[0] - first[1]) <= pd.Timedelta(days=1)
    # Found at the next look after it.
    assert pd.Timedelta(0) < found[0]["found_at"].min() - found[0]["at"].min() <= pd.Timedelta(days=2)


def test_answers_with_a_suggestion_and_second_answers_are_not_watched(tmp_path: Path, clock: Any) -> None:
    answers, truth, _ = crowd_days(np.full((12, 9), 0.95), rng=np.random.default_rng(2), golds=0)
    wrong = np.where(answers["label"] == "kind", "rude", "kind")
    bad = (answers["worker"] == "w000") & (answers["submitted"] >= DAY_0 + pd.Timedelta(days=6))
    told = answers.assign(label=np.where(bad, wrong, answers["label"]))
    with campaign_of(tmp_path, truth, {}, clock=clock) as campaign:
        record(campaign, answers[~bad])
        record(campaign, told[bad].assign(mode="suggest"))
        assert campaign.watch_drift(false_alarms=RATE) == 0
        # What he was asked a second time is no second answer of his to be checked either.
        again = told[(told["worker"] == "w000") & ~bad]
        flipped = np.where(again["label"] == "kind", "rude", "kind")
        later = again["submitted"] + pd.Timedelta(days=20)
        record(campaign, again.assign(label=flipped, submitted=later, retest=1))
        assert campaign.watch_drift(false_alarms=RATE) == 0


def test_a_changed_guideline_starts_the_watch_anew(tmp_path: Path, clock: Any) -> None:
    answers, truth, gold = crowd_days(fall(9, 14, 1, 7), rng=np.random.default_rng(4))
    with campaign_of(tmp_path, truth, gold, clock=clock) as campaign:
        record(campaign, answers)
        campaign.set_guideline("Judge the tone alone.", dry_run=False)
        assert campaign.watch_drift(false_alarms=RATE) == 0


def test_where_nobody_else_answered_there_is_nothing_to_watch(tmp_path: Path, clock: Any) -> None:
    answers, truth, _ = crowd_days(np.full((4, 3), 0.9), rng=np.random.default_rng(1), golds=0)
    with campaign_of(tmp_path, truth, {}, clock=clock) as campaign:
        assert campaign.watch_drift() == 0
        record(campaign, answers[answers["worker"] == "w000"])
        assert campaign.watch_drift() == 0
        with pytest.raises(InputError, match=r"false_alarms is 1\.5"):
            campaign.watch_drift(false_alarms=1.5)
