import numpy as np
import pytest

from hmc_crowd.errors import InputError
from hmc_crowd.simulation import WorkerProfile, draw_workers

EVEN = {"yes": {"yes": 0.9, "no": 0.1}, "no": {"yes": 0.2, "no": 0.8}}


def test_drift_moves_accuracy_and_stays_a_probability() -> None:
    tiring = WorkerProfile("w", EVEN, accuracy_drift=-0.2)
    # .9 - .2 * 50/100 = .8; after 1,000 answers it would be -1.1, so 0.
    assert tiring.probability_right("yes", answered=50) == pytest.approx(0.8)
    assert tiring.probability_right("yes", answered=1000) == 0.0
    assert WorkerProfile("w", EVEN, accuracy_drift=1.0).probability_right("yes", answered=100) == 1.0


def test_drift_of_speed_is_on_the_logarithm() -> None:
    learning = WorkerProfile("w", EVEN, speed=2.0, speed_drift=np.log(2))
    # Doubles per 100 answers.
    assert learning.speed_after(100) == pytest.approx(4.0)
    assert learning.speed_after(200) == pytest.approx(8.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"speed": 0.0}, "speed of worker 'w' is 0.0; it must be above 0"),
        ({"noise": -1.0}, "noise of worker 'w' is -1.0"),
        ({"setup_s": float("nan")}, "setup_s"),
        ({"drop_out": 1.5}, "drop_out of worker 'w' is 1.5; it must be between 0 and 1"),
        ({"speed_drift": float("inf")}, "speed_drift"),
        ({"return_probability": 0.6, "expire_probability": 0.6}, "exceed 1 together"),
        ({"confusion": {}}, "confusion of worker 'w' is empty"),
        ({"confusion": {"yes": {"yes": 0.9, "no": 0.2}}}, "true label 'yes' .* sum to 1"),
        ({"confusion": {"yes": {"yes": 1.1, "no": -0.1}}}, "sum to 1"),
    ],
)
def test_impossible_workers_are_refused(change: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        WorkerProfile(**{"worker": "w", "confusion": EVEN, **change})


def test_drawn_accuracies_have_the_mean_and_spread_asked_for(rng: np.random.Generator) -> None:
    workers = draw_workers(20_000, ["a", "b", "c"], accuracy=0.8, spread=0.1, rng=rng)
    right = np.array([each.confusion["a"]["a"] for each in workers])
    # Standard error of the mean .1/sqrt(20000) = .0007, of the spread about .0006: five of each.
    assert right.mean() == pytest.approx(0.8, abs=0.004)
    assert right.std() == pytest.approx(0.1, abs=0.004)
    assert workers[0].confusion["a"]["b"] == workers[0].confusion["a"]["c"] == pytest.approx((1 - right[0]) / 2)


def test_spammers_guess_and_hurry(rng: np.random.Generator) -> None:
    workers = draw_workers(40, ["a", "b", "c", "d"], spammers=0.25, speed_spread=0.0, rng=rng)
    spammers = [each for each in workers if each.speed == 4.0]
    assert len(spammers) == 10
    assert all(set(each.confusion["a"].values()) == {0.25} for each in spammers)
    assert all(each.speed == 1.0 for each in workers if each not in spammers)


def test_no_spread_makes_equal_workers_and_habits_are_passed_on(rng: np.random.Generator) -> None:
    workers = draw_workers(3, ["a", "b"], accuracy=1.0, spread=0.0, rng=rng, setup_s=7.0)
    assert [each.confusion["b"]["b"] for each in workers] == [1.0] * 3
    assert [(each.worker, each.setup_s) for each in workers] == [
        ("worker-1", 7.0),
        ("worker-2", 7.0),
        ("worker-3", 7.0),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "n is 0"),
        ({"labels": ["a"]}, "two different"),
        ({"labels": ["a", "b", "a"]}, "two different"),
        ({"accuracy": 1.2}, "accuracy is 1.2"),
        ({"accuracy": 1.0, "spread": 0.1}, "spread is 0.1"),
        ({"accuracy": 0.5, "spread": 0.5}, "less than 0.500"),
        ({"spammers": -0.1}, "spammers is -0.1"),
        ({"speed_spread": -1.0}, "speed_spread is -1.0"),
    ],
)
def test_impossible_crowds_are_refused(rng: np.random.Generator, change: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw_workers(**{"n": 5, "labels": ["a", "b"], "rng": rng, **change})
