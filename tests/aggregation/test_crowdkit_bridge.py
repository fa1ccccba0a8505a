"""Through crowd-kit: what it does right comes out, its faults do not, and bad input is one sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation._crowdkit import CROWDKIT_METHODS, aggregate_with_crowdkit
from hmc_crowd.aggregation._crowdkit_faults import noisy_gradient, noisy_objective
from hmc_crowd.errors import FrameError, InputError

pytest.importorskip("crowdkit")

COLUMNS = ["task", "worker", "label"]


def texts() -> pd.DataFrame:
    rows = [
        ("a", "w1", "the cat sat"),
        ("a", "w2", "a cat sat"),
        ("a", "w3", "the cat sits"),
        ("b", "w1", "yes"),
        ("b", "w2", "yes"),
        ("b", "w3", "no way at all"),
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def comparisons(*wins: tuple[str, str, int], worker: str = "w") -> pd.DataFrame:
    """(winner, loser, how often), shown in both orders by turns."""
    rows = []
    for winner, loser, times in wins:
        for turn in range(times):
            left, right = (winner, loser) if turn % 2 else (loser, winner)
            rows.append((worker, left, right, winner))
    return pd.DataFrame(rows, columns=["worker", "left", "right", "label"])


def test_rover_takes_the_word_of_most_at_each_place() -> None:
    result = aggregate_with_crowdkit(texts(), "rover")
    assert result.frame.set_index("item")["label"].to_dict() == {"a": "the cat sat", "b": "yes"}
    assert result.frame["n_answers"].tolist() == [3, 3]


@pytest.mark.parametrize("name", ["rover", "rasa", "hrrasa"])
def test_neither_row_order_nor_names_of_workers_change_a_text(name: str) -> None:
    one = aggregate_with_crowdkit(texts(), name).frame["label"].tolist()
    mixed = texts().sample(frac=1, random_state=3)
    mixed["worker"] = mixed["worker"].map({"w1": "z", "w2": "a", "w3": "m"})
    assert aggregate_with_crowdkit(mixed, name).frame["label"].tolist() == one


@pytest.mark.parametrize("name", ["rasa", "hrrasa"])
def test_the_answer_nearest_to_all_is_taken(name: str) -> None:
    assert aggregate_with_crowdkit(texts(), name).frame["label"].tolist()[1] == "yes"


def test_an_encoder_of_ones_own_is_used() -> None:
    seen = []

    def encoder(text: str) -> np.ndarray:
        seen.append(text)
        return np.array([len(text), 1.0])

    aggregate_with_crowdkit(texts(), "rasa", encoder=encoder)
    assert set(seen) == set(texts()["label"])


def test_bradley_terry_reaches_its_maximum() -> None:
    # two items, 3 wins to 1: scores 3/4 and 1/4; crowd-kit alone stops after two steps of three items
    data = comparisons(("x", "y", 3), ("y", "x", 1), ("y", "z", 3), ("z", "y", 1))
    frame = aggregate_with_crowdkit(data, "bradley_terry").frame.set_index("item")
    assert frame["score"]["x"] / frame["score"]["y"] == pytest.approx(3.0, rel=1e-6)
    assert frame["score"]["y"] / frame["score"]["z"] == pytest.approx(3.0, rel=1e-6)
    assert frame["label"].to_dict() == {"x": 1, "y": 2, "z": 3}


def test_items_that_cannot_be_ranked_are_refused() -> None:
    with pytest.raises(FrameError, match=r"cannot place 1 items, such as \['x'\]"):
        aggregate_with_crowdkit(comparisons(("x", "y", 2), ("y", "z", 1), ("z", "y", 1)), "bradley_terry")


def test_the_gradient_of_the_noisy_model_is_that_of_its_objective() -> None:
    from scipy.optimize import check_grad

    rng = np.random.default_rng(0)
    data = rng.integers(1, 5, (40, 3))
    data[:, 2] = np.where(rng.random(40) < 0.5, data[:, 0], data[:, 1])
    workers = rng.integers(0, 3, 40)
    x = rng.normal(size=1 + 4 + 2 * 3)
    assert check_grad(noisy_objective, noisy_gradient, x, data, workers, 4, 3, 1e-2) < 1e-5


def test_the_noisy_model_finds_who_follows_the_scores() -> None:
    careful = comparisons(("x", "y", 20), ("y", "z", 20), ("x", "z", 20), ("z", "x", 1), worker="careful")
    always_left = careful.assign(worker="lazy", label=careful["left"])
    result = aggregate_with_crowdkit(pd.concat([careful, always_left]), "noisy-bradley-terry")
    assert result.frame.set_index("item")["label"].to_dict() == {"x": 1, "y": 2, "z": 3}
    skill = result.workers.set_index("worker")["skill"]
    assert skill["careful"] > 0.8 > 0.3 > skill["lazy"]


def test_the_global_generator_is_left_as_it_was() -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002  # because that is the generator in question
    aggregate_with_crowdkit(comparisons(("x", "y", 3), ("y", "x", 2)), "noisy_bradley_terry")
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_sets_of_labels_are_aggregated_label_by_label() -> None:
    rows = [
        (task, worker, label)
        for task, label in (("t1", ["house", "tree"]), ("t2", ["car"]), ("t3", []), ("t4", ["tree"]))
        for worker in ("w1", "w2", "w3")
    ]
    rows[2] = ("t1", "w3", ["house"])
    frame = aggregate_with_crowdkit(pd.DataFrame(rows, columns=COLUMNS), "binary_relevance").frame
    assert dict(zip(frame["item"], map(sorted, frame["label"]), strict=True)) == {
        "t1": ["house", "tree"],
        "t2": ["car"],
        "t3": [],
        "t4": ["tree"],
    }


@pytest.mark.parametrize("name", ["segmentation_majority", "segmentation_rasa", "segmentation_em"])
def test_masks_are_aggregated_pixel_by_pixel(name: str) -> None:
    right, wrong = np.array([[0, 1], [1, 1]], dtype=bool), np.array([[1, 0], [1, 1]], dtype=bool)
    empty = np.zeros((3, 2), dtype=int)
    rows = [("t1", "w1", right), ("t1", "w2", right), ("t1", "w3", wrong), ("t2", "w1", empty), ("t2", "w2", empty)]
    frame = aggregate_with_crowdkit(pd.DataFrame(rows, columns=COLUMNS), name).frame
    np.testing.assert_array_equal(frame["label"][0], right)
    np.testing.assert_array_equal(frame["label"][1], empty.astype(bool))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("wawa", "fails with scikit-learn 1.9; use method='wawa'"),
        ("mace", "workers are renamed.*use method='mace'"),
        ("dawid-skene", "stops too early; use method='dawid_skene'"),
        ("kos", "near chance"),
        ("magic", f"no method 'magic' here; choose one of {CROWDKIT_METHODS[0]}"),
    ],
)
def test_methods_that_are_wrong_there_are_refused_with_the_reason(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        aggregate_with_crowdkit(texts(), f"crowdkit:{name}")


@pytest.mark.parametrize(
    ("name", "rows", "words"),
    [
        ("rover", [("a", "w", 3)], "must hold texts: row 0 \\(3\\)"),
        ("rover", [("a", "w", None)], "1 rows and none with a label"),
        ("rover", [("a", "w", "x"), ("a", "w", "y")], "second answer of a worker to a task in row 1"),
        ("rover", [("a", None, "x")], "no worker in row 0"),
        ("binary_relevance", [("a", "w", "house")], "must hold lists of labels: row 0 \\('house'\\)"),
        ("segmentation_em", [("a", "w", np.array([0, 1]))], "two-dimensional masks of 0 and 1: not so in row 0"),
        (
            "segmentation_em",
            [("a", "w", np.zeros((2, 2))), ("a", "v", np.zeros((2, 3)))],
            "task 'a' has masks of different sizes",
        ),
    ],
)
def test_unusable_answers_are_refused_in_one_sentence(name: str, rows: list[tuple[object, ...]], words: str) -> None:
    with pytest.raises(FrameError, match=words):
        aggregate_with_crowdkit(pd.DataFrame(rows, columns=COLUMNS), name)


def test_a_comparison_must_name_one_of_its_two_items() -> None:
    data = pd.DataFrame({"left": ["x"], "right": ["y"], "label": ["z"]})
    with pytest.raises(FrameError, match="of which label is one: not so in row 0"):
        aggregate_with_crowdkit(data, "bradley_terry")


def test_missing_labels_are_counted() -> None:
    data = pd.concat([texts(), pd.DataFrame([("a", "w4", None)], columns=COLUMNS)])
    counts = aggregate_with_crowdkit(data, "rover").counts
    assert (counts.rows, counts.used, counts.missing_label) == (7, 6, 1)


def test_several_aspects_are_refused() -> None:
    answers = texts().assign(aspect=["tone", "facts"] * 3)
    with pytest.raises(FrameError, match="aspects 'facts', 'tone'; aggregate one"):
        aggregate_with_crowdkit(answers, "rover")


def test_items_without_any_text_are_named() -> None:
    more = pd.concat([texts(), pd.DataFrame([("z", "w1", None)], columns=COLUMNS)])
    result = aggregate_with_crowdkit(more, "rover")
    assert result.items_without_label == ("z",)
    assert result.counts.tasks_without_label == 1


def heard(rng: np.random.Generator) -> pd.DataFrame:
    words = ["so", "it", "goes", "on", "and", "up"]
    rows = [
        (f"t{task}", f"w{worker}", " ".join(rng.choice(words, 3)))
        for task in range(6)
        for worker in rng.choice(5, 4, replace=False)
    ]
    # Two people, two texts, equally far from their middle.
    return pd.DataFrame([*rows, ("tie", "w0", "left it"), ("tie", "w1", "took up")], columns=COLUMNS)


def marked(rng: np.random.Generator) -> pd.DataFrame:
    truth = rng.random((5, 4, 4)) < 0.5
    rows = [(f"t{t}", f"w{w}", truth[t] ^ (rng.random((4, 4)) < 0.1 * (1 + w))) for t in range(5) for w in range(4)]
    return pd.DataFrame(rows, columns=COLUMNS)


def listed(rng: np.random.Generator) -> pd.DataFrame:
    names = np.array(["house", "tree", "car"])
    truth = rng.random((8, 3)) < 0.5
    rows = [(f"t{t}", f"w{w}", names[truth[t] ^ (rng.random(3) < 0.2)].tolist()) for t in range(8) for w in range(4)]
    return pd.DataFrame(rows, columns=COLUMNS)


def compared(rng: np.random.Generator) -> pd.DataFrame:
    rows = []
    for worker in range(6):
        for _ in range(25):
            one, other = rng.choice(7, 2, replace=False)
            better = min(one, other) if rng.random() < 0.55 + 0.08 * worker else max(one, other)
            rows.append((f"w{worker}", f"i{one}", f"i{other}", f"i{better}"))
    return pd.DataFrame(rows, columns=["worker", "left", "right", "label"])


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", CROWDKIT_METHODS)
def test_no_method_depends_on_row_order_or_on_names(name: str, seed: int) -> None:
    """Rows mixed; workers, items and (where they are names) labels called otherwise, so that they sort otherwise."""
    rng = np.random.default_rng(seed)
    makers = {"ro": heard, "ra": heard, "hr": heard, "br": compared, "no": compared, "bi": listed, "se": marked}
    data = makers[name[:2]](rng)
    other = {old: f"{rng.integers(10**6):06d} {old}" for old in [*["w0", "w1", "w2", "w3", "w4", "w5"], "tie"]}
    other |= {f"{kind}{n}": f"{rng.integers(10**6):06d} {kind}{n}" for kind in "ti" for n in range(9)}
    other |= {"house": "a shed", "tree": "z wood", "car": "m van"} if name == "binary_relevance" else {}
    mixed = data.sample(frac=1, random_state=seed).reset_index(drop=True)
    for column in mixed:
        mixed[column] = [
            [other[each] for each in cell] if isinstance(cell, list) else other.get(cell, cell) if isinstance(cell, str)
            else cell
            for cell in mixed[column]
        ]  # fmt: skip
    one, two = (aggregate_with_crowdkit(each, name) for each in (data, mixed))
    before = one.frame.assign(item=[other[each] for each in one.frame["item"]]).set_index("item")
    after = two.frame.set_index("item").loc[before.index]
    for left, right in zip(before["label"], after["label"], strict=True):
        if name == "binary_relevance":
            assert {other[each] for each in left} == set(right)
        else:
            np.testing.assert_array_equal(left, right)
    if "score" in before:
        np.testing.assert_allclose(before["score"], after["score"], rtol=0, atol=1e-6)
    if name == "noisy_bradley_terry":
        skill = one.workers.assign(worker=[other[each] for each in one.workers["worker"]]).set_index("worker")["skill"]
        np.testing.assert_allclose(skill, two.workers.set_index("worker")["skill"].loc[skill.index], rtol=0, atol=1e-6)


def test_the_noisy_model_reaches_a_maximum() -> None:
    from hmc_crowd.aggregation._crowdkit_faults import noisy_model

    data = compared(np.random.default_rng(5))
    rough, fine = (noisy_model(data, n_iter=n) for n in (100, 10_000))
    np.testing.assert_allclose(rough[0].rank(), fine[0].rank())
