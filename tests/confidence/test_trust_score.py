"""Trust score: by hand, against the reference's definition in its slowest form, and within its chunk of memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.confidence import TrustScore
from hmc_crowd.confidence._neighbours import Neighbours
from hmc_crowd.errors import InputError, ModelError, StateError


def all_distances(X: Any, Y: Any) -> Any:
    """Every distance from plain differences."""
    return np.sqrt(((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2))


def reference(X: Any, y: Any, new: Any, predicted: Any, *, k: int, alpha: float, filtering: str | None) -> Any:
    """google/TrustScore's definition in words of our own: sort every distance, take what it takes."""
    n_classes = int(y.max()) + 1
    if filtering == "uncertainty":
        near = np.argsort(all_distances(X, X), axis=1, kind="stable")[:, :k]
        share = np.stack([(y[near] == c).mean(axis=1) for c in range(n_classes)], axis=1)
        rows = np.where(share >= np.percentile(share, alpha * 100))[0]
        X, y = X[rows], y[rows]
    to_class = np.empty((len(new), n_classes))
    for c in range(n_classes):
        own = X[y == c]
        if filtering == "density":
            radius = np.sort(all_distances(own, own), axis=1)[:, k - 1]
            own = own[radius <= np.percentile(radius, (1 - alpha) * 100)]
        to_class[:, c] = np.sort(all_distances(new, own), axis=1)[:, 1]
    rows = np.arange(len(new))
    others = to_class.copy()
    others[rows, predicted] = np.inf
    return others.min(axis=1) / (to_class[rows, predicted] + 1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("filtering", [None, "density", "uncertainty"])
@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.37])
def test_equals_the_reference(n_classes: int, filtering: str | None, alpha: float, rng: np.random.Generator) -> None:
    y = rng.integers(0, n_classes, 400)
    X = rng.normal(size=(400, 6)) + y[:, None]
    new = np.concatenate([rng.normal(size=(80, 6)) + 1, X[:20]])  # some are training points themselves
    predicted = rng.integers(0, n_classes, 100)
    trust = TrustScore(10, alpha, filtering, chunk_bytes=4096).fit(X, y)
    expected = reference(X, y, new, predicted, k=10, alpha=alpha, filtering=filtering)
    np.testing.assert_allclose(trust.score(new, predicted), expected, rtol=1e-9)


def test_ratio_by_hand() -> None:
    # Class a at 0, 1; class b at 4, 6. From 2: second nearest a is 2 away (0), second nearest b is 4 away (6).
    trust = TrustScore().fit([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    assert trust.score([[2.0], [2.0]], ["a", "b"]) == pytest.approx([4 / 2, 2 / 4])


def test_nearest_instead_of_second_nearest_by_hand() -> None:
    # From 2: nearest a is 1 away, nearest b is 2 away.
    trust = TrustScore(neighbour=1).fit([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    assert trust.score([[2.0]], ["a"]) == pytest.approx([2.0])


def test_density_filter_by_hand() -> None:
    # Radii with k = 2 (the point itself counts): 0 -> 1, 1 -> 1, 2 -> 1, 9 -> 7. The 75th percentile of 1, 1, 1, 7 is
    # 2.5 (a quarter of the way from the third to the fourth): 9 is dropped.
    X = [[0.0], [1.0], [2.0], [9.0], [20.0], [21.0], [22.0], [23.0]]
    trust = TrustScore(2, 0.25, "density").fit(X, list("aaaabbbb"))
    assert trust.n_kept_ == (3, 4)


def test_a_point_kept_twice_is_its_own_neighbour_as_in_the_reference() -> None:
    # alpha = 0 lets every class probability through, so each point is there twice and its second neighbour is itself.
    trust = TrustScore(2, 0.0, "uncertainty").fit([[0.0], [1.0], [4.0], [5.0]], list("aabb"))
    assert trust.n_kept_ == (4, 4)
    assert trust.distances([[0.0]]).tolist() == [[0.0, 4.0]]


def test_bounds_come_from_calibration_items_and_stay() -> None:
    trust = TrustScore().fit([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    trust.set_bounds([1.0, 3.0])
    # Scores 2 and 0.5: (2 - 1) / 2 = 0.5, and below the lower bound.
    assert trust.confidence([[2.0], [2.0]], ["a", "b"]) == pytest.approx([0.5, 0.0])
    assert trust.confidence([[2.0]], ["a"]) == pytest.approx([0.5])  # alone as in a batch


def test_a_confidence_needs_bounds_first() -> None:
    trust = TrustScore().fit([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    with pytest.raises(StateError, match="first call fit_bounds"):
        trust.confidence([[2.0]], ["a"])
    trust.set_bounds([1.0, 3.0]).fit([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    with pytest.raises(StateError, match="fit_bounds"):
        trust.confidence([[2.0]], ["a"])


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"k": 0}, "k is 0"),
        ({"alpha": 1.0}, "alpha is 1.0"),
        ({"filtering": "noise"}, "'noise'"),
        ({"neighbour": True}, "neighbour is True"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        TrustScore(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_a_class_with_too_few_points_is_named() -> None:
    with pytest.raises(ModelError, match="class 'b' keeps 1 points"):
        TrustScore().fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])


@pytest.mark.parametrize(
    ("X", "predicted", "said"),
    [([[1.0, 2.0]], ["a"], "2 columns but 1"), ([[np.nan]], ["a"], "row 0"), ([[1.0]], ["c"], "none of the classes")],
)
def test_wrong_items_are_named(X: Any, predicted: Any, said: str) -> None:
    trust = TrustScore().fit([[0.0], [1.0], [4.0], [6.0]], ["a", "a", "b", "b"])
    with pytest.raises(InputError, match=said):
        trust.score(X, predicted)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 30),
    m=st.integers(1, 700),
    d=st.integers(1, 5),
    offset=st.sampled_from([0.0, 1e3, 1e8]),
    copies=st.sampled_from([1, 3]),
)
@settings(max_examples=40, deadline=None)
def test_distances_are_exact_whatever_the_points(seed: int, n: int, m: int, d: int, offset: float, copies: int) -> None:
    rng = np.random.default_rng(seed)
    points = np.repeat(rng.normal(size=(m, d)) + offset, copies, axis=0)
    X = np.concatenate([rng.normal(size=(n, d)) + offset, points[:1]])
    k = int(rng.integers(1, len(points) + 1))
    expected = np.sort(all_distances(X, points), axis=1)[:, k - 1]
    found = Neighbours.of(points, chunk_bytes=2048).kth_distance(X, k)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)


def test_points_that_float32_cannot_tell_apart_are_told_apart() -> None:
    # Differences of 1e-9 on a spread of 1: far below the resolution of the product.
    points = np.concatenate([np.arange(4000)[:, None] * 1e-9, [[1.0]]])
    found = Neighbours.of(points).kth_distance(np.array([[0.0]]), 3)
    assert found == pytest.approx([2e-9], rel=1e-6)


def test_identical_points_are_at_distance_zero() -> None:
    points = np.ones((50, 3))
    assert Neighbours.of(points).kth_distance(points[:2], 5).tolist() == [0.0, 0.0]


def test_memory_is_bounded_by_the_chunk(rng: np.random.Generator) -> None:
    points, X, chunk = rng.normal(size=(20_000, 4)), rng.normal(size=(2_000, 4)), 2**20
    near = Neighbours.of(points, chunk_bytes=chunk)
    tracemalloc.start()
    near.kth_distance(X, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All distances would take 320 MB.
    assert peak < 6 * chunk
