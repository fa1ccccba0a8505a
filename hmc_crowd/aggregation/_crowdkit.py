"""Texts, rankings, sets of labels and image masks, through crowd-kit.

How do answers that are no single label become one? crowd-kit computes; this module checks what goes in, works round
its faults where that can be done, refuses where not, and gives the result in our form. Read in version 1.4.2:

    rover       takes the first row of a task as its skeleton. Here the most frequent text comes first, the others by
                their letters, so that neither row order nor names decide.
    rasa,       their text classes fail on any gold, and the average of hrrasa fails with pandas 3. Here texts are
    hrrasa      embedded first, the classes below are called, and the average is ours.
    bradley_    compares its scores with themselves and so stops after two steps; needs every item to be reachable from
    terry       every other by wins. Here the stop is off, and unreachable items are refused by name.
    noisy_      its gradient is shifted by one place and not added up, its regularisation has the wrong sign, and it
    bradley_    starts at random numbers that go by the order of names, from numpy's global generator, which it seeds:
    terry       renamed items and workers get other scores. Here the model is fitted by us, from a start without names.
    binary_     keeps its models in one dictionary for all instances, and splits a text into letters. Here the
    relevance   dictionary is its own, each label is aggregated by our `DawidSkene`, and texts are refused.
    segmen-     EM fails on Boolean masks and RASA divides by zero where all masks are empty. Here masks are integers,
    tation_*    and tasks without any marked pixel are answered directly.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.checks import first_rows
from hmc_crowd._base.extras import require
from hmc_crowd.aggregation._counts import AnswerCounts
from hmc_crowd.aggregation._crowdkit_faults import corrected_hrrasa, noisy_model, our_binary_base
from hmc_crowd.aggregation._names import require_columns, require_one_aspect
from hmc_crowd.aggregation._result import AggregateResult
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["CROWDKIT_METHODS", "aggregate_with_crowdkit"]

CROWDKIT_METHODS = (
    "rover",
    "rasa",
    "hrrasa",
    "bradley_terry",
    "noisy_bradley_terry",
    "binary_relevance",
    "segmentation_majority",
    "segmentation_rasa",
    "segmentation_em",
)

# crowd-kit's methods for single labels, and why ours stand in their place.
_REFUSED = {
    "majority_vote": "breaks ties by the order of labels without a word; use method='majority'",
    "wawa": "fails with scikit-learn 1.9; use method='wawa'",
    "zero_based_skill": "fails with scikit-learn 1.9; use method='weighted' or 'wawa'",
    "dawid_skene": "adds the prior once an answer and stops too early; use method='dawid_skene'",
    "one_coin_dawid_skene": "adds the prior once an answer and stops too early; use method='one_coin'",
    "glad": "is tens of times slower at the same accuracy; use method='glad'",
    "mace": "gives other labels when workers are renamed, and its restarts are one; use method='mace'",
    "kos": "fails on labels 1 and 2 and is near chance on real data; use method='dawid_skene'",
}
_MOST_ITEMS = 4_000
_BT_STEPS = 10_000
_DIGITS = {"bradley_terry": 12, "noisy_bradley_terry": 6}


def aggregate_with_crowdkit(
    answers: pd.DataFrame,
    name: str,
    *,
    encoder: Callable[[str], NDArray[np.float64]] | None = None,
    n_iter: int = 100,
) -> AggregateResult:
    """Aggregate answers that are no single label, through crowd-kit.

    Parameters
    ----------
    answers : pandas.DataFrame
        ``task, worker, label``. The label is a text (rover, rasa, hrrasa), a list of labels (binary_relevance), or a
        two-dimensional mask of 0 and 1 (segmentation_*). Comparisons (bradley_terry, noisy_bradley_terry) have the
        columns ``worker, left, right, label`` instead, where ``label`` is the item that won.
    name : str
        One of `CROWDKIT_METHODS`.
    encoder : callable, optional
        Text to vector, for rasa and hrrasa; default counts of letter triples, which need no model.
    n_iter : int, default 100
        Most iterations, where there are any.

    Returns
    -------
    AggregateResult
        ``frame`` has ``item, label, confidence, n_answers, tied``; for comparisons ``label`` is the rank from 1 and
        ``score`` stands beside it. ``confidence`` is missing: these methods give none.

    Raises
    ------
    InputError
        An unknown method, or one of crowd-kit's that gives wrong results; the message names ours.
    FrameError
        The table is not as described, or comparisons leave items that cannot be ranked.
    MissingExtraError
        crowd-kit is not installed.

    Examples
    --------
    >>> heard = pd.DataFrame(
    ...     [("a", "w1", "the cat sat"), ("a", "w2", "a cat sat"), ("a", "w3", "the cat sits")],
    ...     columns=["task", "worker", "label"],
    ... )
    >>> aggregate_with_crowdkit(heard, "rover").frame["label"].tolist()
    ['the cat sat']
    """
    name = name.removeprefix("crowdkit:").replace("-", "_").lower()
    if name in _REFUSED:
        raise InputError(f"crowd-kit's {name} {_REFUSED[name]}")
    if name not in CROWDKIT_METHODS:
        raise InputError(f"crowd-kit has no method {name!r} here; choose one of {', '.join(CROWDKIT_METHODS)}")
    if isinstance(n_iter, bool) or not isinstance(n_iter, int) or n_iter < 1:
        raise InputError(f"n_iter is {n_iter!r}; give a whole number of at least 1")
    kit = require("crowdkit.aggregation", extra="crowdkit", purpose=f"method='crowdkit:{name}'")
    if name.endswith("bradley_terry"):
        return _comparisons(kit, answers, name, n_iter)
    used, counts, bare = _checked(answers)
    if name in {"rover", "rasa", "hrrasa"}:
        labels, note = _texts(kit, used, name, encoder, n_iter)
    elif name == "binary_relevance":
        labels, note = _sets(kit, used)
    else:
        labels, note = _masks(kit, used, name, n_iter)
    return replace(_result(used, labels, counts, name, note), items_without_label=bare)


def _checked(answers: pd.DataFrame) -> tuple[pd.DataFrame, AnswerCounts, tuple[Any, ...]]:
    """Return the rows with a label, in an order that no permutation of the rows changes, and the tasks without any."""
    require_columns(answers, ("task", "worker", "label"), name="answers")
    require_one_aspect(answers)
    for column in ("task", "worker"):
        missing = answers[column].isna().to_numpy()
        if missing.any():
            raise FrameError(f"answers has no {column} in {first_rows(missing)}; fill the column or drop these rows")
    there = np.array([not _is_missing(label) for label in answers["label"]], dtype=bool)
    if not there.any():
        raise FrameError(f"answers has {len(answers)} rows and none with a label; collect answers first")
    used = answers.loc[there, ["task", "worker", "label"]]
    twice = used.duplicated(["task", "worker"]).to_numpy()
    if twice.any():
        raise FrameError(f"answers has a second answer of a worker to a task in {first_rows(twice)}; keep one")
    used = used.sort_values(["task", "worker"]).reset_index(drop=True)
    tasks = pd.Index(answers["task"].unique())
    bare = tuple(tasks[~tasks.isin(used["task"])].sort_values())
    counts = AnswerCounts(
        rows=len(answers),
        used=len(used),
        missing_label=len(answers) - len(used),
        repeated=0,
        tasks=used["task"].nunique(),
        workers=used["worker"].nunique(),
        labels=0,
        tasks_without_label=len(bare),
    )
    return used, counts, bare


def _is_missing(label: Any) -> bool:
    if hasattr(label, "__len__") and not isinstance(label, str):  # a list or a mask
        return False
    return bool(pd.isna(label))


def _texts(
    kit: Any, used: pd.DataFrame, name: str, encoder: Callable[[str], NDArray[np.float64]] | None, n_iter: int
) -> tuple[pd.Series[Any], str]:
    wrong = np.array([not isinstance(label, str) or not label.strip() for label in used["label"]], dtype=bool)
    if wrong.any():
        shown = dict(enumerate(map(repr, used["label"])))
        raise FrameError(f"answers.label must hold texts: {first_rows(wrong, shown)}; correct or drop these rows")
    if name == "rover":
        rows = used.rename(columns={"label": "text"})
        # The first text is the skeleton that the others are aligned to: take the most frequent one.
        rows["other"] = -rows.groupby(["task", "text"])["text"].transform("size")
        rows = rows.sort_values(["task", "other", "text"])
        found = kit.ROVER(str.split, " ".join).fit_predict(rows)
        return found, "Each place of the aligned texts gets the word most answers have there, the longest of several."
    rows = used.sort_values(["task", "label"]).reset_index(drop=True)
    vectors = _letter_triples(rows["label"]) if encoder is None else [np.asarray(encoder(t)) for t in rows["label"]]
    # Of two answers that are equally near the first is taken: let letters decide, not names.
    rows = rows.rename(columns={"label": "output"}).assign(embedding=pd.Series(list(vectors), dtype=object))
    model = kit.RASA(n_iter=n_iter) if name == "rasa" else corrected_hrrasa(kit)(n_iter=n_iter)
    found = model.fit_predict(rows)["output"]
    by = "letter triples" if encoder is None else "the given encoder"
    return found, f"Each item gets the answer nearest to the average of its answers, weighted by worker, by {by}."


def _letter_triples(texts: pd.Series[Any]) -> list[NDArray[np.float64]]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    found = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), max_features=2_000).fit_transform(texts)
    return list(found.toarray())


def _comparisons(kit: Any, answers: pd.DataFrame, name: str, n_iter: int) -> AggregateResult:
    noisy = name == "noisy_bradley_terry"
    columns = ["left", "right", "label", *(["worker"] if noisy or "worker" in answers else [])]
    require_columns(answers, columns, name="answers")
    require_one_aspect(answers)
    rows = answers.loc[answers["label"].notna(), columns]
    outside = (rows["label"] != rows["left"]) & (rows["label"] != rows["right"])
    wrong = (outside | (rows["left"] == rows["right"]) | rows[columns].isna().any(axis=1)).to_numpy(dtype=bool)
    if wrong.any() or rows.empty:
        place = first_rows(wrong) if wrong.any() else "all rows"
        raise FrameError(f"answers must compare two items of which label is one: not so in {place}; correct these rows")
    rows = rows.sort_values(columns).reset_index(drop=True)
    if noisy:
        scores, skills = noisy_model(rows, n_iter=n_iter)
        workers = pd.DataFrame({"worker": skills.index, "skill": skills.to_numpy()})
        workers.insert(1, "n_answers", rows["worker"].value_counts().reindex(workers["worker"]).to_numpy())
        workers = workers.sort_values("worker").reset_index(drop=True)
    else:
        _require_reachable(rows)
        scores = kit.BradleyTerry(n_iter=_BT_STEPS, tol=-1.0).fit_predict(rows)
        workers = pd.DataFrame({"worker": [], "n_answers": [], "skill": []})
    return _ranking(answers, rows, scores, workers, name)


def _require_reachable(rows: pd.DataFrame) -> None:
    """Refuse comparisons whose maximum likelihood does not exist: items that never win or never lose to the rest."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    items = pd.Index(pd.unique(pd.concat([rows["left"], rows["right"]]))).sort_values()
    if len(items) > _MOST_ITEMS:
        raise InputError(f"answers compares {len(items):,} items, and crowd-kit's tables grow with their square; "
                         f"rank at most {_MOST_ITEMS:,} at a time")  # fmt: skip
    loser = rows["left"].where(rows["left"] != rows["label"], rows["right"])
    edges = items.get_indexer(rows["label"]), items.get_indexer(loser)
    graph = coo_array((np.ones(len(rows)), edges), shape=(len(items), len(items)))
    n_groups, group = connected_components(graph, directed=True, connection="strong")
    if n_groups > 1:
        apart = items[group != np.bincount(group).argmax()].tolist()
        raise FrameError(
            f"bradley_terry cannot place {len(apart)} items, such as {apart[:3]}: they never won, or never lost, "
            "against the others; compare them more often, or use method='crowdkit:noisy_bradley_terry'"
        )


def _ranking(
    answers: pd.DataFrame, rows: pd.DataFrame, scores: pd.Series[Any], workers: pd.DataFrame, name: str
) -> AggregateResult:
    ordered = scores.sort_index()
    # Scores that differ by rounding alone are equal: what is rounded goes by the order of names.
    rank = ordered.round(_DIGITS[name]).rank(method="min", ascending=False).astype(int)
    compared = pd.concat([rows["left"], rows["right"]]).value_counts()
    frame = pd.DataFrame(
        {
            "item": ordered.index.to_numpy(),
            "label": rank.to_numpy(),
            "confidence": np.nan,
            "n_answers": compared.reindex(ordered.index).to_numpy(),
            "tied": rank.duplicated(keep=False).to_numpy(),
            "score": ordered.to_numpy(),
        }
    )
    counts = AnswerCounts(
        rows=len(answers), used=len(rows), missing_label=len(answers) - len(rows), repeated=0, tasks=len(frame),
        workers=rows["worker"].nunique() if "worker" in rows else 0, labels=len(frame),
    )  # fmt: skip
    note = "An item wins with odds that are the ratio of two scores; label is the rank, 1 is best."
    if name == "noisy_bradley_terry":
        note += " A worker follows the scores with probability skill, else a liking for one side."
    return _wrapped(frame, workers, counts, name, note)


def _sets(kit: Any, used: pd.DataFrame) -> tuple[pd.Series[Any], str]:
    wrong = np.array([isinstance(label, str) or not hasattr(label, "__iter__") for label in used["label"]], dtype=bool)
    if wrong.any():
        shown = dict(enumerate(map(repr, used["label"])))
        raise FrameError(f"answers.label must hold lists of labels: {first_rows(wrong, shown)}; write each as a list")
    model = kit.BinaryRelevance(our_binary_base())
    model.aggregators_ = {}
    lists: Any = [list(label) for label in used["label"]]
    found = model.fit_predict(used.assign(label=lists))
    return found, "Each label is a question of its own, answered with yes or no and aggregated by Dawid-Skene."


def _masks(kit: Any, used: pd.DataFrame, name: str, n_iter: int) -> tuple[pd.Series[Any], str]:
    masks = [np.asarray(label) for label in used["label"]]
    wrong = np.array([mask.ndim != 2 or not np.isin(mask, (0, 1)).all() for mask in masks], dtype=bool)
    if wrong.any():
        raise FrameError(f"answers.label must hold two-dimensional masks of 0 and 1: not so in {first_rows(wrong)}")
    sizes = pd.Series([mask.shape for mask in masks]).groupby(used["task"].to_numpy()).nunique()
    if (sizes > 1).any():
        raise FrameError(f"task {sizes.index[sizes > 1][0]!r} has masks of different sizes; bring them to one size")
    rows = used.assign(segmentation=pd.Series([mask.astype(np.int64) for mask in masks], dtype=object))
    marked = pd.Series([bool(mask.any()) for mask in masks]).groupby(used["task"].to_numpy()).any()
    full = rows[rows["task"].isin(marked.index[marked])]
    classes = {"segmentation_majority": "SegmentationMajorityVote", "segmentation_rasa": "SegmentationRASA"}
    make = getattr(kit, classes.get(name, "SegmentationEM"))
    model = make() if name == "segmentation_majority" else make(n_iter=n_iter)
    found = {} if full.empty else model.fit_predict(full).to_dict()
    first = rows.drop_duplicates("task").set_index("task")["segmentation"]
    answer = {task: found.get(task, np.zeros_like(mask)).astype(bool) for task, mask in first.items()}
    return pd.Series(answer, dtype=object), "A pixel with exactly half of the weight is marked."


def _result(used: pd.DataFrame, labels: pd.Series[Any], counts: AnswerCounts, name: str, note: str) -> AggregateResult:
    ordered = labels.sort_index()
    frame = pd.DataFrame(
        {
            "item": ordered.index.to_numpy(),
            "label": pd.Series(list(ordered), dtype=object),
            "confidence": np.nan,
            "n_answers": used["task"].value_counts().reindex(ordered.index).to_numpy(),
            "tied": False,
        }
    )
    given = used["worker"].value_counts().sort_index()
    workers = pd.DataFrame({"worker": given.index, "n_answers": given.to_numpy(), "skill": np.nan})
    return _wrapped(frame, workers, counts, name, note)


def _wrapped(frame: pd.DataFrame, workers: pd.DataFrame, counts: AnswerCounts, name: str, note: str) -> AggregateResult:
    from importlib.metadata import version

    from hmc_crowd import __version__  # because a result names the version that made it

    return AggregateResult(
        frame=frame,
        workers=workers,
        method=f"crowd-kit {version('crowd-kit')} {name}",
        assumptions=(
            note,
            "crowd-kit gives no probability that a result is right, and ties within it are not flagged.",
        ),
        cautions=(),
        counts=counts,
        items_without_label=(),
        n_iter=None,
        converged=None,
        objective=(),
        version=__version__,
    )
