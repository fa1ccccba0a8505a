"""Which of two responses do judges prefer, and does length or position sway them?

Outcomes are the words ``'win'``, ``'tie'``, ``'loss'`` from the view of the target (the first response); None or
``'unparsed'`` where a judgement could not be read. Codes such as 0, 1, 2 are refused: the published code tested them
as if they were scores, so that a tie ranked below a loss.

The source defines the win rate twice (a tie is a win; a tie is half a win) and its code counts unparsed judgements as
losses against its own text. Here the tie's worth is an argument, 1/2 by default, and unparsed judgements leave,
counted.

Sources: Lyu et al. (2024), "HREF", sections 2.4, 4.2 and appendices B.1, C; conformance: alpaca_eval 0.6.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._intervals_clusters import cluster_ways, spread_of
from hmc_crowd.metrics._outcomes import LOSS, TIE, UNPARSED, WIN, WORDS, Unparsed, read_outcomes, win_scores
from hmc_crowd.metrics._result import Metric
from hmc_crowd.metrics._unit_intervals import mean_error, mean_interval
from hmc_crowd.metrics._validate import as_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.metrics._intervals import Ask
    from hmc_crowd.metrics._intervals_clusters import Way

__all__ = [
    "expected_win_rate",
    "length_bias_rate",
    "position_swap_consistency",
]


def expected_win_rate(
    outcomes: Any,
    tie: float = 0.5,
    *,
    unparsed: Unparsed = "drop",
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return (wins + tie * ties) / pairs.

    Parameters
    ----------
    outcomes : array of 'win', 'tie', 'loss', None, shape (n,), or a frame with a column ``outcome``
        From the target's view.
    tie : float, default 0.5
        Worth of a tie: 1/2 (expected win rate), 1 (the source's second rule), 0 (strict rate).
    unparsed : {"drop", "as_loss"}, default "drop"
        What becomes of None: left out and counted, or a loss as in the source's code.
    clusters : array (n,), a pair of them, or mapping name -> array, optional
        Pairs that belong together (one instruction); two crossed ways (instruction and worker) are possible.
    level : float, default 0.95
        Coverage of the interval.
    interval : {"auto", "analytic", "bootstrap", "none"}, default "auto"
        "auto" is analytic at every size: Wilson's interval with the effective number of rows.
    rng : numpy.random.Generator, optional
        For the bootstrap; default ``numpy.random.default_rng(0)``.
    n_boot : int, default 2000
        Draws of the bootstrap.

    Returns
    -------
    Metric
        A share; ``details``: ``wins, ties, losses, unparsed, strict, tie_half, tie_as_win, se``. Undefined if nothing
        was parsed.

    Examples
    --------
    >>> rate = expected_win_rate(["win", "loss", "tie", "tie"])
    >>> rate.value, rate.details["tie_as_win"], rate.details["strict"]
    (0.5, 0.75, 0.25)
    """
    ask = ask_for(level, interval, rng, n_boot)
    codes = read_outcomes(outcomes)
    return win_rate(win_scores(codes, tie, unparsed), codes, tie, ask, cluster_ways(clusters, len(codes)))


def win_rate(
    scores: NDArray[np.float64], codes: NDArray[np.int8], tie: float, ask: Ask, ways: tuple[Way, ...]
) -> Metric:
    """Return the win rate of scores with NaN where a pair leaves."""
    counts = {word: int(np.count_nonzero(codes == code)) for word, code in WORDS}
    keep = ~np.isnan(scores)
    n = int(keep.sum())
    common: dict[str, Any] = {
        "name": f"win rate (tie = {tie:g})",
        "n": n,
        "dropped": {"unparsed": len(scores) - n},
        "level": ask.level,
    }
    told = (f"{counts['unparsed']:,} unparsed judgements count as losses",) if counts["unparsed"] and n > 0 else ()
    told = () if common["dropped"]["unparsed"] else told
    if n == 0:
        return Metric.undefined("no judgement was parsed", **common)
    values = scores if n == len(scores) else scores[keep]
    ways = tuple(way.take(keep) for way in ways) if n < len(scores) else ways
    wins, ties = counts["win"], counts["tie"]
    value = float(values.mean())
    error = spread_of((values - value) / n, ways).variance ** 0.5 if ways else mean_error(values, value)
    details = {
        "wins": wins,
        "ties": ties,
        "losses": counts["loss"],
        "unparsed": counts["unparsed"],
        "strict": wins / n,
        "tie_half": (wins + ties / 2) / n,
        "tie_as_win": (wins + ties) / n,
        "se": error,
    }
    made = mean_interval(values, ask, ways).fields()
    return Metric(value, **{**made, "warnings": (*told, *made["warnings"])}, details=details, **common)


def length_bias_rate(
    length_a: Any,
    length_b: Any,
    outcomes: Any,
    *,
    denominator: Literal["parsed", "decided"] = "parsed",
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return how often the longer response is preferred minus how often the shorter is.

    Parameters
    ----------
    length_a, length_b : array of float, shape (n,)
        Lengths of the two responses, in any one unit.
    outcomes : array of 'win', 'tie', 'loss', None, shape (n,)
        'win': response a is preferred.
    denominator : {"parsed", "decided"}, default "parsed"
        All parsed pairs, or those with a preference and unequal lengths. The source does not say which; `details`
        hold both.
    clusters, level, interval, rng, n_boot
        As in `expected_win_rate`.

    Returns
    -------
    Metric
        In [-1, 1], near 0 on length-balanced data; ``details``: ``longer, shorter, ties, equal_length_decided,
        unparsed, over_parsed, over_decided``. Undefined if the denominator is 0.

    Notes
    -----
    alpaca_eval's ``probability_prefer_longer`` is another quantity: pairs more than 30 characters apart only.

    Examples
    --------
    >>> length_bias_rate([10, 10, 3], [5, 5, 9], ["win", "loss", "loss"]).value  # longer 2, shorter 1, of 3
    0.3333333333333333
    """
    if denominator not in {"parsed", "decided"}:
        raise InputError(f"denominator is {denominator!r}; choose 'parsed' or 'decided'")
    ask = ask_for(level, interval, rng, n_boot)
    codes = read_outcomes(outcomes)
    a, _ = as_scores(length_a, name="length_a")
    b, _ = as_scores(length_b, name="length_b")
    for name, column in (("length_a", a), ("length_b", b)):
        if len(column) != len(codes):
            raise InputError(f"{name} has {len(column)} rows but outcomes has {len(codes)}; give the same pairs")
    ways = cluster_ways(clusters, len(codes))
    unknown = ~(np.isfinite(a) & np.isfinite(b))
    parsed = (codes != UNPARSED) & ~unknown
    lean = np.sign(a - b) * np.where(codes == UNPARSED, 0, codes)
    decided = parsed & (lean != 0)
    keep = parsed if denominator == "parsed" else decided
    longer, shorter = int((lean[parsed] > 0).sum()), int((lean[parsed] < 0).sum())
    equal = int((parsed & (a == b) & (codes != TIE)).sum())
    n_parsed, n_decided = int(parsed.sum()), int(decided.sum())
    common: dict[str, Any] = {
        "name": f"length bias rate (of {denominator} pairs)",
        "n": int(keep.sum()),
        "dropped": {
            "unparsed": int((codes == UNPARSED).sum()),
            "length is missing": int((unknown & (codes != UNPARSED)).sum()),
            "tie or equal length": n_parsed - n_decided if denominator == "decided" else 0,
        },
        "level": ask.level,
        "details": {
            "longer": longer,
            "shorter": shorter,
            "ties": int((parsed & (codes == TIE)).sum()),
            "equal_length_decided": equal,
            "unparsed": int((codes == UNPARSED).sum()),
            "over_parsed": (longer - shorter) / n_parsed if n_parsed else None,
            "over_decided": (longer - shorter) / n_decided if n_decided else None,
        },
    }
    if not keep.any():
        return Metric.undefined(f"there are no {denominator} pairs", **common)
    ways = tuple(way.take(keep) for way in ways)
    made = mean_interval(lean[keep], ask, ways, low=-1.0, high=1.0)
    return Metric((longer - shorter) / common["n"], **made.fields(), **common)


def position_swap_consistency(
    first_order: Any,
    second_order: Any,
    *,
    mapped_back: bool = True,
    clusters: Any = None,
    level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> Metric:
    """Return how often a judge says the same when the two responses change places.

    Parameters
    ----------
    first_order, second_order : array of 'win', 'tie', 'loss', None, shape (n,)
        Outcomes of the same pairs, shown in one order and in the other.
    mapped_back : bool, default True
        Whether `second_order` is from the target's view already; False: it is from the view of the response shown
        first, and is turned round here (before anything is made binary, so that a tie stays a tie).
    clusters, level, interval, rng, n_boot
        As in `expected_win_rate`.

    Returns
    -------
    Metric
        A share of the pairs parsed in both orders; ``details``: ``prefers_first`` and ``prefers_second``, the shares
        whose preference followed the position in both orders, and ``position_bias``, their difference.

    Examples
    --------
    Pair 2 goes to whatever is shown first.

    >>> swap = position_swap_consistency(["win", "win", "tie"], ["win", "loss", "tie"])
    >>> round(swap.value, 4), round(swap.details["prefers_first"], 4)
    (0.6667, 0.3333)
    """
    ask = ask_for(level, interval, rng, n_boot)
    first = read_outcomes(first_order, name="first_order")
    second = read_outcomes(second_order, name="second_order")
    if len(first) != len(second):
        raise InputError(f"second_order has {len(second)} rows but first_order has {len(first)}; give the same pairs")
    ways = cluster_ways(clusters, len(first))
    if not mapped_back:
        second = np.where(second == UNPARSED, second, -second).astype(np.int8)
    keep = (first != UNPARSED) & (second != UNPARSED)
    n = int(keep.sum())
    common: dict[str, Any] = {"n": n, "dropped": {"unparsed in one order": len(first) - n}, "level": ask.level}
    common["name"] = "position-swap consistency"
    if n == 0:
        return Metric.undefined("no pair was parsed in both orders", **common)
    one, two = first[keep], second[keep]
    same = (one == two).astype(np.float64)
    toward_first = float(((one == WIN) & (two == LOSS)).mean())
    toward_second = float(((one == LOSS) & (two == WIN)).mean())
    details = {
        "prefers_first": toward_first,
        "prefers_second": toward_second,
        "position_bias": toward_first - toward_second,
    }
    made = mean_interval(same, ask, tuple(way.take(keep) for way in ways))
    return Metric(float(same.mean()), **made.fields(), details=details, **common)
