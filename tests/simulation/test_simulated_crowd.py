from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import InputError
from hmc_crowd.simulation import Question, SimulatedAnswer, SimulatedCrowd, SimulatedWork, WorkerProfile, draw_workers

LABELS = ("yes", "no", "maybe")
NOBODY: frozenset[str] = frozenset()


def questions(n: int, *, groups: int = 1, n_words: int = 0) -> list[Question]:
    return [Question(f"i{i}", "label", f"g{i * groups // n}", n_words, LABELS) for i in range(n)]


def one(**options: object) -> WorkerProfile:
    rows = {truth: {label: 0.8 if label == truth else 0.1 for label in LABELS} for truth in LABELS}
    return WorkerProfile(**{"worker": "w", "confusion": rows, "noise": 0.0, **options})


def crowd(*profiles: WorkerProfile, n: int = 2000, seed: int = 0, **options: object) -> SimulatedCrowd:
    truth = {f"i{i}": "yes" for i in range(n)}
    return SimulatedCrowd(profiles, truth, rng=np.random.default_rng(seed), **options)


def test_labels_follow_the_confusion() -> None:
    rows = {"yes": {"yes": 0.6, "no": 0.3, "maybe": 0.1}}
    work = crowd(one(confusion=rows), n=20_000).work("h", questions(20_000), NOBODY)
    share = {label: count / 20_000 for label, count in Counter(each.label for each in work.answers).items()}
    # Standard errors below .0035: four of them.
    assert share == pytest.approx({"yes": 0.6, "no": 0.3, "maybe": 0.1}, abs=0.014)


def test_difficulty_turns_an_answer_into_a_guess() -> None:
    hard = {f"i{i}": 1.0 for i in range(9000)}
    work = crowd(one(), n=9000, difficulty=hard).work("h", questions(9000), NOBODY)
    share = sum(each.label == "yes" for each in work.answers) / 9000
    # One label of three; standard error .005.
    assert share == pytest.approx(1 / 3, abs=0.02)


def test_fewer_labels_keep_the_accuracy() -> None:
    rows = {"yes": {"yes": 0.6, "no": 0.0, "maybe": 0.4}}
    asked = [Question(f"i{i}", labels=("yes", "no")) for i in range(9000)]
    work = crowd(one(confusion=rows), n=9000).work("h", asked, NOBODY)
    assert {each.label for each in work.answers} == {"yes", "no"}
    assert sum(each.label == "yes" for each in work.answers) / 9000 == pytest.approx(0.6, abs=0.021)


def test_times_by_hand() -> None:
    # Speed 2 and no noise: set-up 30/2 once per group; an item 6/2 + 10 words at .5/2 each = 3 + 2.5.
    profile = one(speed=2.0, setup_s=30.0, seconds_per_item=6.0, seconds_per_word=0.5)
    work = crowd(profile).work("h", questions(4, groups=2, n_words=10), NOBODY)
    assert [each.setup_s for each in work.answers] == [15.0, 0.0, 15.0, 0.0]
    assert [each.seconds for each in work.answers] == [5.5] * 4
    assert (work.setup_s, work.active_s, work.idle_s, work.elapsed_s) == (30.0, 52.0, 0.0, 52.0)


def test_item_seconds_come_before_the_profile() -> None:
    work = crowd(one(speed=2.0, setup_s=0.0), item_seconds={"i0": 100.0}).work("h", questions(2), NOBODY)
    assert [each.seconds for each in work.answers] == [50.0, 2.0]


def test_noise_has_mean_one_and_the_spread_asked_for() -> None:
    work = crowd(one(noise=0.5, setup_s=0.0, seconds_per_item=10.0), n=20_000).work("h", questions(20_000), NOBODY)
    seconds = np.array([each.seconds for each in work.answers])
    # sd of the mean: 10 * sqrt(exp(.25) - 1) / sqrt(20000) = .038.
    assert seconds.mean() == pytest.approx(10.0, abs=0.16)
    assert np.log(seconds).std() == pytest.approx(0.5, abs=0.012)


def test_idle_gaps_come_as_often_and_as_long_as_asked() -> None:
    work = crowd(one(idle_probability=0.2, idle_mean_s=50.0), n=20_000).work("h", questions(20_000), NOBODY)
    idle = np.array([each.idle_s for each in work.answers])
    assert (idle > 0).mean() == pytest.approx(0.2, abs=0.012)
    assert idle[idle > 0].mean() == pytest.approx(50.0, abs=4.0)


def test_outcomes_come_as_often_as_asked() -> None:
    crew = crowd(one(return_probability=0.2, expire_probability=0.1))
    works = [crew.work(f"h{i}", questions(3), NOBODY) for i in range(3000)]
    share = Counter(each.outcome for each in works)
    # Standard errors below .009.
    assert share["return"] / 3000 == pytest.approx(0.2, abs=0.03)
    assert share["expire"] / 3000 == pytest.approx(0.1, abs=0.03)
    assert {len(each.answers) for each in works if each.outcome == "submit"} == {3}
    assert {len(each.answers) for each in works if each.outcome != "submit"} == {0, 1, 2}


def test_accuracy_drifts_with_the_answers_given() -> None:
    crew = crowd(one(accuracy_drift=-0.05, confusion={"yes": {"yes": 1.0, "no": 0.0, "maybe": 0.0}}))
    shares = []
    for i in range(2):
        work = crew.work(f"h{i}", questions(1000), NOBODY)
        shares.append(sum(each.label == "yes" for each in work.answers) / 1000)
    # 1 - .05 per 100 answers: on average .75 over the first 1,000, .25 over the second.
    assert shares == pytest.approx([0.75, 0.25], abs=0.06)


def test_speed_drifts_with_the_answers_given() -> None:
    work = crowd(one(speed_drift=np.log(2), setup_s=0.0, seconds_per_item=8.0)).work("h", questions(101), NOBODY)
    # Twice as fast after 100 answers.
    assert (work.answers[0].seconds, work.answers[100].seconds) == pytest.approx((8.0, 4.0))


def test_drop_out_is_for_good() -> None:
    crew = crowd(one(drop_out=0.5))
    done = 0
    while crew.work(f"h{done}", questions(1), NOBODY) is not None:
        done += 1
    assert 1 <= done < 60
    assert crew.work("other", questions(1), NOBODY) is None


def test_length_of_stay_is_geometric() -> None:
    profiles = [one(worker=f"w{i}", drop_out=0.25) for i in range(300)]
    crew = crowd(*profiles)
    hits = 0
    while crew.work(f"h{hits}", questions(1), NOBODY) is not None:
        hits += 1
    # 300 stays of mean 4, sd sqrt(12): standard error of the sum 60.
    assert hits == pytest.approx(1200, abs=240)


def test_nobody_comes_twice_or_is_let_in_when_barred() -> None:
    crew = crowd(*draw_workers(5, LABELS, rng=np.random.default_rng(3)))
    already: set[str] = set()
    while (work := crew.work("h", questions(2), frozenset(already))) is not None:
        assert work.worker not in already
        already.add(work.worker)
    assert len(already) == 5


def test_activity_weighs_who_comes_first() -> None:
    crew = crowd(one(worker="busy", activity=3.0), one(worker="rare", activity=1.0), one(worker="never", activity=0.0))
    first = Counter(crew.work(f"h{i}", questions(1), NOBODY).worker for i in range(4000))
    # 3 to 1; standard error .007.
    assert first["busy"] / 4000 == pytest.approx(0.75, abs=0.028)
    assert first["never"] == 0


@settings(max_examples=20, deadline=None)
@given(order=st.permutations(range(6)), seed=st.integers(0, 50))
def test_the_order_of_visits_changes_nothing(order: list[int], seed: int) -> None:
    workers = draw_workers(4, LABELS, rng=np.random.default_rng(9), return_probability=0.2, idle_probability=0.1)

    def visit(hits):
        crew = crowd(*workers, seed=seed)
        return {h: crew.work(f"h{h}", questions(3), NOBODY) for h in hits}

    assert visit(order) == visit(range(6))


def test_another_seed_gives_other_answers() -> None:
    workers = draw_workers(4, LABELS, rng=np.random.default_rng(9))
    first, second = (crowd(*workers, seed=seed).work("h", questions(20), NOBODY) for seed in (1, 2))
    assert first != second


def test_truth_may_differ_by_aspect() -> None:
    perfect = one(confusion={label: {label: 1.0} for label in LABELS})
    truth = {("i", "tone"): "no", ("i", "label"): "yes"}
    crew = SimulatedCrowd([perfect], truth, rng=np.random.default_rng(0))
    work = crew.work("h", [Question("i", "tone"), Question("i", "label")], NOBODY)
    assert [each.label for each in work.answers] == ["no", "yes"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"profiles": []}, "profiles hold 0 workers"),
        ({"profiles": [one(), one()]}, "2 workers, 1 names"),
        ({"truth": {"i": "other"}}, "label 'other', for which worker 'w' has no row"),
        ({"difficulty": {"i": 1.5}}, "difficulty of item 'i' is 1.5; it must be between 0 and 1"),
        ({"item_seconds": {"i": -1.0}}, "item_seconds of item 'i' is -1.0"),
    ],
)
def test_impossible_crowds_are_refused(change: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SimulatedCrowd(**{"profiles": [one()], "truth": {"i": "yes"}, "rng": np.random.default_rng(0), **change})


def test_a_question_without_truth_is_named() -> None:
    with pytest.raises(InputError, match="no label for item 'x', aspect 'label'"):
        crowd(one()).work("h", [Question("x")], NOBODY)


def test_a_truth_that_is_not_allowed_is_named() -> None:
    with pytest.raises(InputError, match="truth of item 'i0' is 'yes', which its question does not allow"):
        crowd(one()).work("h", [Question("i0", labels=("no", "maybe"))], NOBODY)


def test_impossible_work_is_refused() -> None:
    with pytest.raises(InputError, match="outcome is 'done'"):
        SimulatedWork("w", 0.0, "done", (SimulatedAnswer("i", "label", "yes"),))
    with pytest.raises(InputError, match="starts_after_s is -1"):
        SimulatedWork("w", -1.0, "submit", ())
