"""Groups are compared on the same items: figures by hand, intervals that hold, a bias that is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import compare_groups, group_accuracy, group_agreement, group_cohesion, group_labels
from hmc_crowd.quality._diversity_agreement import cohesion_table
from hmc_crowd.quality._diversity_groups import form_groups
from hmc_crowd.quality._diversity_report import label_table

Frames = tuple[pd.DataFrame, pd.DataFrame]


def table(rows: list[tuple[Any, Any, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


def halves(people: int) -> pd.DataFrame:
    return pd.DataFrame({"worker": range(2 * people), "group": ["a"] * people + ["b"] * people})


def judged(
    rng: np.random.Generator,
    people: tuple[int, ...],
    *,
    items: int = 100,
    redundancy: int = 3,
    labels: str = "xyz",
    bias: float = 0.0,
    taste: float = 0.0,
) -> Frames:
    """Answers of groups a, b, ...: people differ from one another, and a sees rather the items that x fits.

    ``bias`` makes group a say x more often; ``taste`` makes it judge each item in a way of its own.
    """
    group = np.repeat(np.arange(len(people)), people)
    fits, bent = rng.normal(0, 1.2, (items, len(labels))), rng.normal(0, 0.5, (len(group), len(labels)))
    bent[group == 0, 0] += bias
    own = taste * rng.normal(0, 1.0, (items, len(labels)))
    # The largest of log chances with Gumbel noise are draws with these chances: of people, and of a label each.
    wish = 2 * np.where(group == 0, fits[:, :1], 0.0) / 1.2 + rng.gumbel(size=(items, len(group)))
    worker = np.argsort(-wish, axis=1)[:, :redundancy]
    tells = fits[:, None, :] + bent[worker] + np.where(group[worker][..., None] == 0, own[:, None, :], 0.0)
    said = np.array(list(labels))[(tells + rng.gumbel(size=tells.shape)).argmax(axis=2)]
    answers = pd.DataFrame(
        {"task": np.arange(items).repeat(redundancy), "worker": worker.ravel(), "label": said.ravel()}
    )
    return answers, pd.DataFrame({"worker": range(len(group)), "group": np.array(list("abcdef"))[group]})


def test_agreement_within_and_between_by_hand() -> None:
    # a: 3 people, b: 2 people, one task: a says x, x, y; b says x, y.
    # Within a: pairs xx, xy, xy: 1 of 3; x 2/3, y 1/3: chance 4/9 + 1/9 = 5/9, kappa (1/3 - 5/9) / (4/9) = -1/2.
    # Between: 3 * 2 pairs, x with x 2, y with y 1: 3 of 6; chance 2/3 * 1/2 + 1/3 * 1/2 = 1/2, kappa 0.
    answers = table([(0, 0, "x"), (0, 1, "x"), (0, 2, "y"), (0, 3, "x"), (0, 4, "y")])
    workers = pd.DataFrame({"worker": range(5), "group": list("aaabb")})
    found = group_agreement(answers, workers, "group", least_people=2).set_index(["group", "other"])
    columns = ["pairs", "share", "chance", "kappa"]
    assert found.loc[("a", "a"), columns].tolist() == pytest.approx([3, 1 / 3, 5 / 9, -1 / 2])
    assert found.loc[("a", "b"), columns].tolist() == pytest.approx([6, 1 / 2, 1 / 2, 0])
    assert found.loc[("b", "b"), columns].tolist() == pytest.approx([1, 0, 1 / 2, -1])


def test_the_difference_is_taken_item_by_item_by_hand() -> None:
    # Item 0: a says x, x; b says y: difference 1, weight 2 * 1 / 3 = 2/3. Item 1: a says y; b says y, y: 0, weight 2/3.
    # Item 2 only a saw. Difference (2/3 + 0) / (4/3) = 1/2; a's share there 1/2, b's 0.
    rows = [(0, 0, "x"), (0, 1, "x"), (0, 2, "y"), (1, 0, "y"), (1, 2, "y"), (1, 3, "y"), (2, 0, "x"), (2, 1, "x")]
    workers = pd.DataFrame({"worker": range(4), "group": list("aabb")})
    found = group_labels(table(rows), workers, "group", least_people=2).set_index(["group", "label"])
    row = found.loc[("a", "x")]
    assert row[["answers", "items", "share_there", "others_there", "difference"]].tolist() == [5, 2, 0.5, 0.0, 0.5]
    assert row["share"] == 4 / 5


def test_the_jackknife_is_each_figure_once_more_without_a_person() -> None:
    answers, workers = judged(np.random.default_rng(5), (6, 7), items=20, redundancy=6)
    grouped = form_groups(answers, workers, "group", 2)
    asked = {"x": label_table(grouped, 0.95), "cohesion": cohesion_table(grouped, 0.95)}
    pairs = group_agreement(answers, workers, "group", least_people=2)
    without: dict[str, list[float]] = {"labels": [], "cohesion": [], "kappa": []}
    for worker in workers["worker"]:
        rest = form_groups(answers[answers["worker"] != worker], workers, "group", 2)
        labels = label_table(rest, 0.95).query("group == 'a' and label == 'x'")
        without["labels"].append(labels["difference"].item())
        without["cohesion"].append(cohesion_table(rest, 0.95)["difference"].iloc[0])
        without["kappa"].append(
            group_agreement(answers[answers["worker"] != worker], workers, "group", least_people=2)["kappa"].iloc[1]
        )
    from scipy.stats import t

    for name, row, level in (
        ("labels", asked["x"].query("group == 'a' and label == 'x'").iloc[0], 0.95 ** (1 / 3)),
        ("cohesion", asked["cohesion"].iloc[0], 0.95 ** (1 / 2)),
        ("kappa", pairs.iloc[1], 0.95 ** (1 / 3)),
    ):
        sides = [np.array(without[name])[workers["group"] == each] for each in "ab"]
        parts = [((side - side.mean()) ** 2).sum() * (len(side) - 1) / len(side) for side in sides]
        freedom = sum(parts) ** 2 / sum(part**2 / (len(side) - 1) for part, side in zip(parts, sides, strict=True))
        half = t.ppf((1 + level) / 2, freedom) * sum(parts) ** 0.5
        ends = {"labels": ("difference_low", "difference_high"), "kappa": ("kappa_low", "kappa_high")}.get(
            name, ("low", "high")
        )
        middle = row["kappa"] if name == "kappa" else row["difference"]
        assert [row[each] for each in ends] == pytest.approx([max(middle - half, -1), min(middle + half, 1)]), name


@pytest.mark.parametrize(
    ("people", "redundancy", "labels", "repeats"),
    [
        ((12, 12), 3, "xyz", 40),
        pytest.param((15, 15), 3, "xyz", 1000, marks=pytest.mark.slow),
        pytest.param((15, 15), 2, "xy", 1000, marks=pytest.mark.slow),
        pytest.param((6, 30), 4, "xyz", 1000, marks=pytest.mark.slow),
        pytest.param((10, 10, 10), 3, "xyz", 1000, marks=pytest.mark.slow),
    ],
)
def test_groups_that_judge_alike_are_not_told_apart_though_they_saw_other_items(
    people: tuple[int, ...], redundancy: int, labels: str, repeats: int
) -> None:
    rng, held, cohere = np.random.default_rng(11), 0, 0
    for _ in range(repeats):
        answers, workers = judged(rng, people, redundancy=redundancy, labels=labels, items=60)
        grouped = form_groups(answers, workers, "group", 5)
        held += not label_table(grouped, 0.95)["differs"].any()
        cohere += not cohesion_table(grouped, 0.95)["differs"].any()
    # All intervals of a table hold in 95 of 100 repeats; the Monte Carlo standard error is 3.4 and .7 points.
    slack = 2.5 * (0.95 * 0.05 / repeats) ** 0.5
    assert held / repeats >= 0.95 - slack
    assert cohere / repeats >= 0.95 - slack


def test_a_comparison_of_plain_shares_would_have_misled() -> None:
    answers, workers = judged(np.random.default_rng(2), (30, 30), items=200, redundancy=5)
    found = group_labels(answers, workers, "group").query("label == 'x'").set_index("group")
    # Nobody is biased, yet the intervals of the shares do not even touch.
    assert found.loc["a", "low"] > found.loc["b", "high"]
    assert not found["differs"].any()


@pytest.mark.parametrize(("repeats", "least"), [(8, 0.85), pytest.param(200, 0.95, marks=pytest.mark.slow)])
def test_a_true_bias_is_found(repeats: int, least: float) -> None:
    rng, found = np.random.default_rng(3), 0
    for _ in range(repeats):
        answers, workers = judged(rng, (25, 25), items=150, redundancy=4, bias=1.8)
        row = group_labels(answers, workers, "group").set_index(["group", "label"]).loc[("a", "x")]
        found += bool(row["differs"]) and row["difference"] > 0
    assert found / repeats >= least


@pytest.mark.parametrize(("repeats", "slack"), [(40, 0.09), pytest.param(1000, 0.018, marks=pytest.mark.slow)])
def test_intervals_hold_a_true_difference(repeats: int, slack: float) -> None:
    rng, held = np.random.default_rng(4), 0
    for _ in range(repeats):
        # a says yes .15 more often of whatever item; people differ by their own rates, items by theirs.
        workers, item_rate = halves(15), rng.uniform(0.2, 0.6, 80)
        bent = rng.uniform(-0.15, 0.15, 30) + np.repeat([0.15, 0.0], 15)
        rows = [
            (item, worker, "yes" if rng.random() < item_rate[item] + bent[worker] else "no")
            for item in range(80)
            for worker in rng.choice(30, 4, replace=False)
        ]
        row = group_labels(table(rows), workers, "group").set_index(["group", "label"]).loc[("a", "yes")]
        held += row["difference_low"] <= 0.15 <= row["difference_high"]
    assert held / repeats >= 0.95 - slack


def test_a_way_of_judging_of_their_own_is_found_where_shares_are_alike() -> None:
    answers, workers = judged(np.random.default_rng(6), (20, 20), items=250, redundancy=6, taste=2.0)
    found = compare_groups(answers, workers, "group")
    assert not found.labels["differs"].any()
    row = found.cohesion.set_index("group").loc["a"]
    assert row["differs"]
    assert row["difference"] > 0
    assert any("a agree more with one another than with others on the same items" in each for each in found.findings)


def test_less_skill_is_seen_on_the_same_gold() -> None:
    rng = np.random.default_rng(7)
    rows = [(t, w, "x" if rng.random() < (0.9 if w < 20 else 0.6) else "y") for t in range(20) for w in range(40)]
    gold = pd.DataFrame({"item": range(20), "label": "x"})
    found = group_accuracy(table(rows), gold, halves(20), "group").set_index("group")
    assert found["differs"].all()
    assert found.loc["b", "difference"] < -0.2
    said = compare_groups(table(rows), halves(20), "group", gold=gold).findings
    assert any("b are right less often than others on the same gold" in each for each in said)


def test_nobody_is_compared_with_who_saw_other_items() -> None:
    rows = [(task, w, "x" if w < 5 else "y") for w in range(10) for task in (range(5) if w < 5 else range(5, 10))]
    found = compare_groups(table(rows), halves(5), "group")
    assert found.findings == ()
    assert found.labels["difference"].isna().all()
    assert str(found) == (
        "group: 10 people in 2 groups; no item was judged by people of two groups, so nothing can be told"
    )
    assert found.notes[0].startswith("nobody else judged an item of a, b")


def test_numbers_are_compared_by_their_mean() -> None:
    rng = np.random.default_rng(8)
    rows = [(t, w, 50.0 + t + (10 if w < 10 else 0) + rng.normal(0, 3)) for t in range(10) for w in range(20)]
    found = compare_groups(table(rows), halves(10), "group", numeric=True)
    row = found.labels.set_index("group").loc["a"]
    assert (row["label"], row["differs"]) == ("mean", True)
    assert row["difference"] == pytest.approx(10, abs=1)
    assert row["difference_low"] < 10 < row["difference_high"]
    assert found.agreement.empty
    assert found.findings[0].startswith("a give higher numbers than others of the same items")


def test_of_several_labels_chosen_each_is_compared() -> None:
    rows = [(t, w, "rude,wrong" if w < 10 else "wrong") for t in range(12) for w in range(20)]
    found = compare_groups(table(rows), halves(10), "group", members=lambda each: each.split(","))
    shares = found.labels.set_index(["group", "label"])["share"].to_dict()
    assert shares == {("a", "rude"): 1.0, ("a", "wrong"): 1.0, ("b", "rude"): 0.0, ("b", "wrong"): 1.0}


def test_groups_too_small_to_show_count_nowhere() -> None:
    rows = [(t, w, "x" if w < 12 else "y") for t in range(4) for w in range(14)]
    workers = pd.DataFrame({"worker": range(14), "group": ["a"] * 6 + ["b"] * 6 + ["c", "d"]})
    found = compare_groups(table(rows), workers, "group")
    assert found.groups["group"].tolist() == ["a", "b"]
    # c and d say y: with them among the others, a would differ.
    assert set(found.labels["label"]) == {"x", "y"}
    assert found.labels["difference"].tolist() == [0.0] * 4
    assert found.notes == (
        "people of groups of fewer than 5 people are not counted, to keep them from being told",
        "nobody has answered gold, so who is right is not in it",
    )


@pytest.mark.parametrize("people", [1, 4, 5, 9])
def test_too_few_people_are_said_in_a_sentence(people: int) -> None:
    rows = [(t, w, "x") for t in range(4) for w in range(people)]
    workers = pd.DataFrame({"worker": range(people), "group": ["a"] * people})
    found = compare_groups(table(rows), workers, "group")
    assert str(found).endswith("nothing to compare")
    assert any("so there is nothing to compare" in each for each in found.notes)


def test_everybody_of_one_mind_is_not_certainty() -> None:
    rows = [(t, w, "x") for t in range(20) for w in range(12)]
    found = compare_groups(table(rows), halves(6), "group")
    assert found.findings == ()
    row = found.labels.iloc[0]
    assert row["difference"] == 0
    assert row["difference_low"] < -0.3
    assert found.agreement["kappa"].isna().all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), labels=st.sampled_from(["xy", "xyz"]), redundancy=st.integers(2, 6))
def test_names_and_order_change_nothing_and_figures_stay_in_range(seed: int, labels: str, redundancy: int) -> None:
    rng = np.random.default_rng(seed)
    answers, workers = judged(rng, (7, 8), items=15, redundancy=redundancy, labels=labels)
    found = compare_groups(answers, workers, "group")
    mixed = answers.sample(frac=1, random_state=seed)
    again = compare_groups(mixed, workers.iloc[::-1], "group")
    pd.testing.assert_frame_equal(found.labels, again.labels)
    pd.testing.assert_frame_equal(found.cohesion, again.cohesion)
    difference = found.labels[["difference_low", "difference", "difference_high"]].dropna().to_numpy()
    assert (difference >= -1).all()
    assert (difference <= 1).all()
    assert (np.diff(difference) >= -1e-9).all()
    totals = found.labels.groupby("group")["share"].sum()
    assert totals.to_numpy() == pytest.approx(np.ones(len(totals)))
    # Two groups: what one says more often the other says less often.
    sums = found.labels.groupby("label")["difference"].sum(min_count=2).dropna()
    assert sums.to_numpy() == pytest.approx(np.zeros(len(sums)))


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"level": 95}, InputError, "level is 95"),
        ({"least_people": 0}, InputError, "least_people is 0"),
        ({"attribute": "region"}, FrameError, "workers lacks the column region"),
    ],
)
def test_wrong_settings_are_one_sentence(change: dict[str, Any], error: type[Exception], says: str) -> None:
    rows = [(t, w, "x") for t in range(4) for w in range(10)]
    asked = {"attribute": "group", **change}
    with pytest.raises(error, match=says):
        group_cohesion(table(rows), halves(5), asked.pop("attribute"), **asked)
