"""Which method suits these answers?

No method wins everywhere. Held-out gold tells: every method is fitted on the answers alone, its posterior is corrected
by part of the gold and judged on the rest, in turn (5 folds). The default is left only for a method whose paired
advantage has an interval, simultaneous over all methods, that excludes 0.

Guarantee: gold never teaches and judges the same label; the chance of leaving a default that is best is at most
``1 - level`` for large samples. What the choice costs against knowing the best method is `regret_curve`.

Source: Agresti and Min (2005), "Simple Improved Confidence Intervals for Comparing Matched Proportions".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._bayes import BWA, EBCC, IBCC
from hmc_crowd.aggregation._calibrate import require_blind
from hmc_crowd.aggregation._calibrate_core import fit_map
from hmc_crowd.aggregation._choose_core import LEAST_GOLD, credit, pick
from hmc_crowd.aggregation._dawid_skene import DawidSkene
from hmc_crowd.aggregation._glad import GLAD
from hmc_crowd.aggregation._gold import gold_table, require_gold_kind
from hmc_crowd.aggregation._mace import MACE
from hmc_crowd.aggregation._majority import MajorityVote
from hmc_crowd.aggregation._names import coded as place_in
from hmc_crowd.aggregation._one_coin import OneCoinDawidSkene
from hmc_crowd.aggregation._weighted import Wawa, WeightedMajorityVote
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from hmc_crowd.aggregation._codes import Repeats
    from hmc_crowd.aggregation._em import Progress
    from hmc_crowd.aggregation._protocol import Aggregator

__all__ = ["ALL_METHODS", "CHOICES", "Choice", "choose", "regret_curve"]

ALL_METHODS: dict[str, Callable[..., Aggregator]] = {
    "bwa": BWA,
    "dawid_skene": DawidSkene,
    "ebcc": EBCC,
    "glad": GLAD,
    "ibcc": IBCC,
    "mace": MACE,
    "majority": MajorityVote,
    "one_coin": OneCoinDawidSkene,
    "wawa": Wawa,
    "weighted": WeightedMajorityVote,
}
CHOICES = ("dawid_skene", "glad", "ibcc", "mace", "majority", "one_coin", "wawa")
SIZES = (10, 20, 50, 100, 200)


@dataclass(frozen=True)
class Choice:
    """What held-out gold says of the methods.

    Parameters
    ----------
    method : str
        The method chosen; ``default`` unless an interval excludes 0.
    default : str
    table : pandas.DataFrame
        Index method; ``accuracy`` on held-out gold, ``advantage`` over the default with ``low`` and ``high``.
    labels, probabilities : pandas.Series, pandas.DataFrame
        Of the chosen method, corrected by all gold; gold tasks have their gold label.
    n_gold, n_gold_unused : int
        Gold items used, and those without answers.
    level : float
        Simultaneous level of the intervals.
    reason : str
    """

    method: str
    default: str
    table: pd.DataFrame
    labels: pd.Series[Any]
    probabilities: pd.DataFrame
    n_gold: int
    n_gold_unused: int
    level: float
    reason: str
    assumptions: tuple[str, ...] = (
        "The gold items are like the others and their labels are right.",
        "Gold items are left out of any later evaluation of the labels: they took part in the choice.",
    )

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of ``table``."""
        return self.table.copy()

    def __str__(self) -> str:
        return f"{self.method}: {self.reason} ({self.n_gold} gold items)"


def choose(
    answers: pd.DataFrame,
    gold: Any,
    *,
    methods: Sequence[str] | Mapping[str, Aggregator] = CHOICES,
    default: str = "dawid_skene",
    level: float = 0.95,
    labels: Iterable[Any] | None = None,
    repeats: Repeats = "latest",
    progress: Progress | None = None,
) -> Choice:
    """Pick a method by held-out gold.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``task, worker, label`` and optionally ``submitted``.
    gold : pandas.DataFrame, pandas.Series or mapping
        Known labels. With fewer than 10 answered ones the default stays, uncorrected.
    methods : sequence of str, or mapping from names to estimators, default `CHOICES`
        Names of `ALL_METHODS`, or estimators of your own.
    default : str, default "dawid_skene"
    level : float, default 0.95
    labels, repeats
        As in ``fit``.
    progress : callable, optional
        Called after each method with what is counted, how many are done, and how many there are.

    Returns
    -------
    Choice

    Raises
    ------
    InputError
        An unknown method, a default that is not among the methods, or a level outside (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(0, 2, 120)
    >>> rows = [(t, w, int(truth[t] ^ (rng.random() < 0.2))) for t in range(120) for w in range(5)]
    >>> answers = pd.DataFrame(rows, columns=["task", "worker", "label"])
    >>> choice = choose(answers, pd.Series(truth[:40]), methods=["dawid_skene", "majority"])
    >>> choice.method, choice.n_gold
    ('dawid_skene', 40)
    """
    if not 0 < level < 1:
        raise InputError(f"level is {level!r}; give a number between 0 and 1, such as 0.95")
    models = _models(methods, default, repeats)
    posteriors = _fit_all(models, answers, labels, progress)
    frame = posteriors[default]
    table = gold_table(gold)
    place, truth = _places(table, frame)
    used = place >= 0
    values = {name: posterior.to_numpy() for name, posterior in posteriors.items()}
    picked = pick(values, place[used], truth[used], default=default, level=level)
    final = values[picked.method]
    if int(used.sum()) >= LEAST_GOLD:
        shape = fit_map(final[place[used]], truth[used], np.ones(int(used.sum())))
        final = shape(final, n_gold=int(used.sum()))
    final = final.copy()
    final[place[used]] = 0.0
    final[place[used], truth[used]] = 1.0
    chosen = frame.columns.take(final.argmax(axis=1))
    return Choice(
        method=picked.method,
        default=default,
        table=picked.table,
        labels=pd.Series(chosen.to_numpy(), index=frame.index, name="label", dtype=chosen.dtype),
        probabilities=pd.DataFrame(final, index=frame.index, columns=frame.columns),
        n_gold=int(used.sum()),
        n_gold_unused=int((~used).sum()),
        level=level,
        reason=picked.reason,
    )


def regret_curve(
    answers: pd.DataFrame,
    truth: Any,
    *,
    rng: np.random.Generator,
    sizes: Sequence[int] = SIZES,
    draws: int = 200,
    methods: Sequence[str] | Mapping[str, Aggregator] = CHOICES,
    default: str = "dawid_skene",
    level: float = 0.95,
    labels: Iterable[Any] | None = None,
    repeats: Repeats = "latest",
) -> pd.DataFrame:
    """Draw gold again and again, choose, and compare with the method that is best on the rest.

    Gold never counts in the evaluation. Methods are fitted once, as `choose` fits them without gold.

    Returns
    -------
    pandas.DataFrame
        Index ``n_gold``: ``shortfall``, the mean over draws of (accuracy of the best single method on the remaining
        tasks minus that of the chosen labels); ``default_shortfall``, the same for the default as it comes; ``left``,
        the share of draws that left the default; ``draws``. Sizes above two thirds of the truths are left out.
    """
    posteriors = _fit_all(_models(methods, default, repeats), answers, labels)
    place, known = _places(gold_table(truth), posteriors[default], strict=False)
    used = (place >= 0) & (known >= 0)
    place, known = place[used], known[used]
    values = {name: posterior.to_numpy()[place] for name, posterior in posteriors.items()}
    right = {name: credit(value, known) for name, value in values.items()}
    rows = []
    for size in sizes:
        if size > 2 * len(known) // 3:
            continue
        found = [
            _one_draw(values, right, known, rng.permutation(len(known)), size, default, level) for _ in range(draws)
        ]
        shortfall, default_shortfall, left = np.mean(found, axis=0)
        rows.append((size, shortfall, default_shortfall, left, draws))
    columns = ["n_gold", "shortfall", "default_shortfall", "left", "draws"]
    return pd.DataFrame(rows, columns=columns).set_index("n_gold")


def _one_draw(
    values: dict[str, NDArray[np.float64]],
    right: dict[str, NDArray[np.float64]],
    known: NDArray[np.intp],
    order: NDArray[np.intp],
    size: int,
    default: str,
    level: float,
) -> tuple[float, float, float]:
    gold, rest = order[:size], order[size:]
    picked = pick(values, gold, known[gold], default=default, level=level)
    final = values[picked.method]
    if size >= LEAST_GOLD:
        final = fit_map(final[gold], known[gold], np.ones(size))(final, n_gold=size)
    best = max(float(one[rest].mean()) for one in right.values())
    reached = float(credit(final[rest], known[rest]).mean())
    return best - reached, best - float(right[default][rest].mean()), float(picked.method != default)


def _models(methods: Any, default: str, repeats: Repeats) -> dict[str, Aggregator]:
    if isinstance(methods, str):
        raise InputError(f"methods is the text {methods!r}; give a list of names")
    if hasattr(methods, "items"):
        models = dict(methods.items())
    else:
        unknown = [name for name in methods if name not in ALL_METHODS]
        if unknown:
            raise InputError(f"methods names {unknown[0]!r}; choose from {', '.join(map(repr, sorted(ALL_METHODS)))}")
        models = {name: ALL_METHODS[name](repeats=repeats) for name in methods}
    if default not in models:
        raise InputError(f"default is {default!r}, which is not among the methods {list(models)}; add it")
    return models


def _fit_all(
    models: dict[str, Aggregator],
    answers: pd.DataFrame,
    labels: Iterable[Any] | None,
    progress: Progress | None = None,
) -> dict[str, pd.DataFrame]:
    labels = None if labels is None else list(labels)
    found = {}
    for name, model in models.items():
        require_blind(model, purpose="compared on gold")
        found[name] = model.fit(answers, labels=labels).probabilities_
        if progress is not None:
            progress("methods", len(found), len(models))
    return found


def _places(
    table: pd.Series[Any], frame: pd.DataFrame, *, strict: bool = True
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    require_gold_kind(table, frame.index)
    place = place_in(pd.Index(frame.index), pd.Index(table.index))
    truth = place_in(pd.Index(frame.columns), pd.Index(table))
    outside = (place >= 0) & (truth < 0)
    if strict and outside.any():
        raise FrameError(
            f"gold has the label {table[outside].iloc[0]!r} (item {table.index[outside][0]!r}) outside "
            f"{frame.columns.tolist()[:20]}; correct it, or name the whole label set, labels=[...]"
        )
    return place, truth
