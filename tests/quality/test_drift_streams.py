"""Gold and agreement watched side by side: checks as they came, harder rounds, rates of false alarms that add up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import UnknownChange, agreement_checks, check_ease, design_effect, find_drift, pool_prior

NOON = pd.Timestamp("2026-01-05T12:00Z")


def answers(*rows: tuple[str, str, str, int]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["task", "worker", "label", "minute"])
    return table.assign(submitted=NOON + pd.to_timedelta(table["minute"], "min")).drop(columns="minute")


def test_an_answer_is_checked_when_enough_others_are_there() -> None:
    came = answers(("a", "ann", "x", 0), ("a", "bob", "x", 1), ("a", "cy", "y", 2), ("a", "dan", "y", 3))
    found = agreement_checks(came, as_it_came=True).set_index("worker")
    # At minute 2 the others of cy say x; those of ann and of bob are split. At minute 3 ann's others say x, y, y and
    # bob's, too: both differ. Dan's said x, x, y when he came.
    assert found["right"].to_dict() == {"cy": False, "ann": False, "bob": False, "dan": False}
    assert ((found["at"] - NOON) / pd.Timedelta(minutes=1)).to_dict() == {"cy": 2, "ann": 3, "bob": 3, "dan": 3}
    assert found["others"].to_dict() == {"cy": 2, "ann": 3, "bob": 3, "dan": 3}


def test_later_answers_change_no_check() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (f"t{n}", f"w{w}", rng.choice(["x", "y", "z"]), int(m))
        for n in range(60)
        for w, m in enumerate(rng.permutation(9))
    ]
    every = answers(*rows)
    early = every[every["submitted"] < NOON + pd.Timedelta(minutes=5)]
    before = agreement_checks(early, as_it_came=True)
    after = agreement_checks(every, as_it_came=True)
    both = before.merge(after, on=["task", "worker"], suffixes=("", "_later"))
    assert len(before) > 100
    assert len(both) == len(before)
    assert (both["right"] == both["right_later"]).all()
    assert (both["at"] == both["at_later"]).all()
    assert (after.loc[~after["task"].isna(), "at"] < NOON + pd.Timedelta(minutes=9)).all()


def test_with_three_answers_it_is_the_usual_check() -> None:
    rng = np.random.default_rng(1)
    rows = [(f"t{n}", f"w{w}", rng.choice(["x", "y"]), n * 10 + w) for n in range(80) for w in rng.permutation(6)[:3]]
    usual, came = (agreement_checks(answers(*rows), as_it_came=each) for each in (False, True))
    by = ["task", "worker"]
    assert (came.pop("others") == 2).all()
    pd.testing.assert_frame_equal(
        usual.sort_values(by, ignore_index=True), came.sort_values(by, ignore_index=True), check_dtype=False
    )


def test_where_nobody_else_answered_nothing_is_checked() -> None:
    assert agreement_checks(answers(("a", "ann", "x", 0), ("b", "bob", "x", 1)), as_it_came=True).empty
    with pytest.raises(FrameError, match="submitted"):
        agreement_checks(answers(("a", "ann", "x", 0)).drop(columns="submitted"), as_it_came=True)


def steady(workers: int, easy: int, hard: int, seed: int, *, hard_rate: float = 0.7) -> pd.DataFrame:
    """Checks of workers right on .9 of the first round and on less of the second, whoever they are."""
    rng = np.random.default_rng(seed)
    rate = np.concatenate([np.full(easy, 0.9), np.full(hard, hard_rate)])
    right = rng.random((workers, easy + hard)) < rate
    seconds = np.arange(easy + hard)[None, :] * 60 + np.arange(workers)[:, None]
    return pd.DataFrame(
        {
            "worker": np.repeat(np.arange(workers), easy + hard),
            "right": right.ravel(),
            "at": NOON + pd.to_timedelta(seconds.ravel(), "s"),
            "round": np.tile(np.repeat([1, 2], [easy, hard]), workers),
        }
    )


def test_a_harder_round_is_nobody_s_fall_and_a_fall_in_it_is_found() -> None:
    checks = steady(40, 100, 100, 3)
    # The levels are those of all checks together, .8, from which the ease of each is counted.
    watch = UnknownChange((32.0, 8.0), between_alarms=2000)
    plain = find_drift(checks, watch)
    eased = check_ease(checks, ["round"])
    fair = find_drift(eased, watch)
    assert plain["worker"].nunique() > 20
    # 8,000 answers at one false alarm in 2,000: four, and three standard errors.
    assert len(fair) <= 10
    rng = np.random.default_rng(4)
    fallen = (eased["worker"] < 4) & (eased["round"] == 2)
    worse = eased.assign(right=np.where(fallen, rng.random(len(eased)) < 0.3, eased["right"]))
    found = find_drift(worse, watch)
    assert set(range(4)) <= set(found.loc[found["at"] > NOON + pd.Timedelta(minutes=100), "worker"])


def dialogues(workers: int, sittings: int, seed: int) -> pd.DataFrame:
    """Checks in sittings of ten; how hard a sitting is differs much, and nobody changes."""
    rng = np.random.default_rng(seed)
    odds = np.repeat(2.5 + rng.normal(0, 1.3, (workers, sittings)), 10, axis=1)
    right = rng.random(odds.shape) < 1 / (1 + np.exp(-odds))
    seconds = np.arange(sittings * 10)[None, :] * 60 + np.arange(workers)[:, None]
    return pd.DataFrame(
        {
            "worker": np.repeat(np.arange(workers), sittings * 10),
            "right": right.ravel(),
            "at": NOON + pd.to_timedelta(seconds.ravel(), "s"),
            "sitting": np.tile(np.repeat(np.arange(sittings), 10), workers),
        }
    )


def test_answers_of_one_dialogue_ring_no_alarm_about_somebody_steady() -> None:
    checks = dialogues(60, 40, 2)
    effect = design_effect(checks, ["sitting"])
    assert 1.3 < effect < 3
    prior = pool_prior(*(checks.groupby("worker")["right"].agg(each) for each in ("sum", "size")))
    plain = find_drift(checks, UnknownChange(prior, between_alarms=6000))
    told = find_drift(checks, UnknownChange(prior, between_alarms=6000, design_effect=effect))
    # 24,000 checks at one false alarm in 6,000: four, and three standard errors.
    assert len(plain) > 20
    assert len(told) <= 10


def test_independent_answers_lose_nothing() -> None:
    rng = np.random.default_rng(1)
    shuffled = dialogues(30, 30, 3)
    alone = shuffled.assign(right=rng.random(len(shuffled)) < 0.9)
    assert design_effect(alone, ["sitting"]) < 1.1
    few = alone[alone["sitting"] < 3]
    # Three sittings of each say nothing: as if the ten answers of a sitting were one.
    assert design_effect(few, ["sitting"]) == 10
    assert design_effect(alone.iloc[:0], ["sitting"]) == 1
    with pytest.raises(FrameError, match="lacks the column hit"):
        design_effect(alone, ["hit"])
    with pytest.raises(InputError, match=r"design_effect is 0\.5"):
        UnknownChange((9.0, 1.0), between_alarms=100, design_effect=0.5)


def test_one_setting_is_neither_easy_nor_hard() -> None:
    checks = steady(5, 30, 30, 1)
    assert (check_ease(checks.assign(round=1), ["round"])["ease"] == 0).all()
    with pytest.raises(FrameError, match="lacks the column batch"):
        check_ease(checks, ["batch"])


def test_ease_is_that_of_the_others_as_known_at_the_moment() -> None:
    checks = steady(6, 60, 60, 2)
    cut = NOON + pd.Timedelta(minutes=80)
    whole, early = check_ease(checks, ["round"]), check_ease(checks[checks["at"] < cut], ["round"])
    # One constant apart (the reference is the rate of all checks), the past is what it was.
    gap = whole["ease"].to_numpy()[: len(early)] - early["ease"].to_numpy()
    assert np.ptp(gap) < 1e-9
    mine = checks["worker"] == 0
    other = check_ease(checks.assign(right=np.where(mine, ~checks["right"], checks["right"])), ["round"])
    own = (whole["worker"] == 0).to_numpy()
    gap = whole["ease"].to_numpy()[own] - other["ease"].to_numpy()[own]
    assert np.ptp(gap) < 1e-9


def both_streams(workers: int, n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = workers * n
    stream = rng.permutation(np.repeat([0, 1], [rows // 5, rows - rows // 5]))
    at = NOON + pd.to_timedelta(np.arange(rows), "s")
    worker = np.tile(np.arange(workers), n)
    return pd.DataFrame({"worker": worker, "right": rng.random(rows) < 0.9, "at": at, "stream": stream})


def test_rates_of_false_alarms_of_two_streams_add_up() -> None:
    checks = both_streams(150, 300, 6)
    watches = [UnknownChange((36.0, 4.0), between_alarms=between) for between in (1000, 4000)]
    found = find_drift(checks, watches)
    # 9,000 checks at one in 1,000 and 36,000 at one in 4,000: 18, and three standard errors.
    assert len(found) <= 18 + 3 * np.sqrt(18)
    assert set(found["stream"]) <= {0, 1}


def test_an_alarm_of_one_stream_starts_both_watches_anew() -> None:
    at = NOON + pd.to_timedelta(np.arange(80), "h")
    right = np.ones(80, dtype=bool)
    right[60:66] = False
    table = pd.DataFrame({"worker": "ann", "right": right, "at": at, "stream": 0})
    # Shortly before the alarm on gold agreement has begun to fall, too; neither alone goes on from there.
    table.loc[63:65, "stream"] = 1
    watches = [UnknownChange((9.0, 1.0), between_alarms=100) for _ in range(2)]
    alone = [find_drift(table[table["stream"] == n].assign(stream=0), watches[:1]) for n in range(2)]
    assert len(alone[1]) == 0
    assert len(find_drift(table, watches)) == len(alone[0]) == 1


def test_streams_that_no_watch_is_for_are_named() -> None:
    with pytest.raises(FrameError, match="knows 1"):
        find_drift(both_streams(2, 5, 0), [UnknownChange((9.0, 1.0), between_alarms=100)])
