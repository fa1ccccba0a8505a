import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.simulation import Question, SimulatedCrowd, WorkerProfile, fit_crowd


def test_without_smoothing_rows_are_the_counts() -> None:
    log = pd.DataFrame({"worker": "w", "truth": ["x"] * 4 + ["y"] * 2, "label": list("xxxy") + list("yx")})
    (profile,) = fit_crowd(log, smoothing=0.0)
    # Three of four x right, one of two y.
    assert profile.confusion["x"] == pytest.approx({"x": 0.75, "y": 0.25})
    assert profile.confusion["y"] == pytest.approx({"x": 0.5, "y": 0.5})


def test_smoothing_draws_towards_the_crowd_by_hand() -> None:
    log = pd.DataFrame({"worker": ["a"] * 3 + ["b"], "truth": ["x"] * 4, "label": ["x", "x", "x", "y"]})
    a, b = fit_crowd(log, smoothing=2.0)
    # Crowd's row for x, one answer spread evenly: (3 + .5, 1 + .5) / 5 = (.7, .3).
    # a: (3 + 2 * .7) / 5 = .88; b: (0 + 2 * .7) / 3 = .4667. Nobody saw a y: the crowd's row is even.
    assert a.confusion["x"]["x"] == pytest.approx(0.88)
    assert b.confusion["x"]["x"] == pytest.approx(1.4 / 3)
    assert a.confusion["y"] == pytest.approx({"x": 0.5, "y": 0.5})
    assert (a.activity, b.activity) == (3.0, 1.0)


def test_a_score_in_place_of_labels_by_hand() -> None:
    log = pd.DataFrame({"worker": ["a", "a", "b", "b"], "correct": [1.0, 0.9, 0.5, 0.6]})
    a, b = fit_crowd(log, labels=["x", "y", "z"], smoothing=2.0)
    # Mean of all .75; a: (1.9 + 2 * .75) / 4 = .85; b: (1.1 + 1.5) / 4 = .65; errors over the two other labels.
    assert a.confusion["x"] == pytest.approx({"x": 0.85, "y": 0.075, "z": 0.075})
    assert b.confusion["z"]["z"] == pytest.approx(0.65)


def test_times_without_smoothing_by_hand() -> None:
    # Logs of 2 and 8 around 4: mean log 4, squared deviations 2 * (log 2)^2 over n - 1 = 1.
    log = pd.DataFrame({"worker": "w", "correct": 1.0, "seconds": [2.0, 8.0]})
    (profile,) = fit_crowd(log, labels=["x", "y"], smoothing=0.0)
    variance = 2 * np.log(2) ** 2
    assert profile.noise == pytest.approx(np.sqrt(variance))
    assert profile.seconds_per_item == pytest.approx(4 * np.exp(variance / 2))
    assert (profile.setup_s, profile.seconds_per_word, profile.speed) == (0.0, 0.0, 1.0)


def test_speed_is_relative_to_what_was_expected() -> None:
    log = pd.DataFrame(
        {"worker": ["slow"] * 3 + ["fast"] * 3, "correct": 1.0, "expected_s": [1.0, 10.0, 4.0] * 2,
         "seconds": [2.0, 20.0, 8.0, 0.5, 5.0, 2.0]}
    )  # fmt: skip
    fast, slow = fit_crowd(log, labels=["x", "y"], smoothing=0.0)
    assert (fast.worker, fast.speed, slow.speed) == ("fast", pytest.approx(2.0), pytest.approx(0.5))


def test_a_fitted_crowd_is_like_the_one_that_made_the_log() -> None:
    rng = np.random.default_rng(5)
    rows = {"x": {"x": 0.9, "y": 0.1}, "y": {"x": 0.3, "y": 0.7}}
    made = WorkerProfile("w", rows, speed=1.5, noise=0.4, setup_s=0.0)
    truth = {f"i{i}": "xy"[i % 2] for i in range(4000)}
    expected = {item: 5.0 + i % 7 for i, item in enumerate(truth)}
    crew = SimulatedCrowd([made], truth, rng=rng, item_seconds=expected)
    work = crew.work("h", [Question(item) for item in truth], frozenset())
    log = pd.DataFrame(
        {"worker": "w", "label": [a.label for a in work.answers], "truth": [truth[a.item] for a in work.answers],
         "seconds": [a.seconds for a in work.answers], "expected_s": [expected[a.item] for a in work.answers]}
    )  # fmt: skip
    (fitted,) = fit_crowd(log)
    # Standard errors: .007 and .010 for the rows, about .65% for the speed, .0045 for the noise; four of each.
    assert fitted.confusion["x"]["x"] == pytest.approx(0.9, abs=0.028)
    assert fitted.confusion["y"]["y"] == pytest.approx(0.7, abs=0.042)
    assert fitted.speed == pytest.approx(1.5, rel=0.027)
    assert fitted.noise == pytest.approx(0.4, abs=0.018)


def test_mean_times_are_shrunk_by_hand() -> None:
    # Logs a: -1, 1 (mean 0), b: 3, 5 (mean 4). Within: (2 + 2) / (4 - 2) = 2. Between: 2 * 4 + 2 * 4 = 16 over 1,
    # less 2, by n0 = (4 - 8/4) / 1 = 2: 7. Trust 7 / (7 + 2/2) = .875 around 2: a .25, b 3.75. Noise: s^2 = 2 each.
    log = pd.DataFrame({"worker": ["a", "a", "b", "b"], "correct": 1.0, "seconds": np.exp([-1.0, 1.0, 3.0, 5.0])})
    a, b = fit_crowd(log, labels=["x", "y"], smoothing=0.0)
    assert np.log([a.seconds_per_item, b.seconds_per_item]) == pytest.approx([0.25 + 1, 3.75 + 1])


def test_workers_who_do_not_differ_share_one_mean() -> None:
    log = pd.DataFrame({"worker": ["a", "a", "b", "b"], "correct": 1.0, "seconds": [1.0, 4.0, 4.0, 1.0]})
    a, b = fit_crowd(log, labels=["x", "y"])
    assert a.seconds_per_item == b.seconds_per_item


@pytest.mark.parametrize(
    ("change", "options", "error", "message"),
    [
        ({"correct": 1.2}, {"labels": ["x", "y"]}, FrameError, "'correct' is 1.2 in row 0"),
        ({"correct": 1.0}, {}, InputError, "labels is None"),
        ({}, {"labels": ["x", "y"]}, FrameError, "neither the columns 'label' and 'truth' nor 'correct'"),
        ({"correct": 1.0, "seconds": 0.0}, {"labels": ["x", "y"]}, FrameError, "'seconds' is 0.0 in row 0"),
        ({"label": "q", "truth": "x"}, {"labels": ["x", "y"]}, FrameError, "'label' is 'q' in row 0, not in labels"),
        ({"correct": 1.0}, {"labels": ["x", "y"], "smoothing": -1}, InputError, "smoothing is -1"),
    ],
)
def test_a_wrong_log_is_refused(change, options, error, message) -> None:
    log = pd.DataFrame({"worker": ["w"]}).assign(**change)
    with pytest.raises(error, match=message):
        fit_crowd(log, **options)


def test_the_published_log_gives_one_profile_per_worker(data_dir) -> None:
    path = data_dir / "hmceval" / "per_dialogue.tsv"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    data = pd.read_csv(path, sep="\t")
    log = pd.DataFrame(
        {
            "worker": data["lifetime_ranking"],
            "correct": data["worker_score"] / 100,
            "seconds": data["WorkTimeInSeconds"],
        }
    )
    profiles = fit_crowd(log, labels=["malevolent", "non-malevolent"])
    assert len(profiles) == 425
    accuracy = np.array([each.confusion["malevolent"]["malevolent"] for each in profiles])
    assert accuracy.min() >= 0.9
    assert sum(each.activity for each in profiles) == 6000
    mean = np.average([each.seconds_per_item for each in profiles], weights=[each.activity for each in profiles])
    # The log's own mean is 90.0 s; a lognormal mean per worker comes within a tenth of it.
    assert mean == pytest.approx(data["WorkTimeInSeconds"].mean(), rel=0.1)
