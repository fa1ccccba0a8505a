"""How often will the machine be wrong on traffic that is still to come? A bound on a rate, not on a batch.

`certify_batch` counts what is left in one finished batch. This is another promise and has another name: items to come
are like the audited ones, each wrong with the same unknown probability. For independent items the bound is exact
(Clopper, Pearson 1934). Items of one dialogue are not independent; with `groups` the dialogues are, and bets on them
(`_bets`) bound the share of wrong items among all that come.

Multiplying this rate by the items that were not audited is no bound for a batch: at 1,000 of 2,837 audited it would
hold 91 times in 100, not 95.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_same_length
from hmc_crowd.errors import InputError
from hmc_crowd.metrics import bool_vector, label_codes  # because groups are coded as the metrics code labels
from hmc_crowd.routing._bets import THETA, largest_surviving, log_wealth
from hmc_crowd.routing._checks import count, level_of
from hmc_crowd.routing._render import html_table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["FutureRate", "bound_future_errors", "bound_future_errors_in_groups"]


@dataclass(frozen=True)
class FutureRate:
    """An upper bound on the machine's error rate on items to come. Made by `bound_future_errors`.

    Parameters
    ----------
    error_rate_at_most : float
        With confidence `level`, no more than this share of the items that the machine keeps will be wrong.
    error_rate : float
        The share found wrong; NaN if nothing was answered.
    audited, wrong, unanswered : int
        Items drawn; found wrong; without an answer (they count as wrong).
    groups : int or None
        Independent groups, None where items are independent.
    level, method, assumptions
        Confidence, how, and what must hold.
    """

    error_rate_at_most: float
    error_rate: float
    audited: int
    wrong: int
    unanswered: int
    groups: int | None
    level: float
    method: str
    assumptions: tuple[str, ...]

    @property
    def value(self) -> float:
        """The bound itself."""
        return self.error_rate_at_most

    def __float__(self) -> float:
        return self.error_rate_at_most

    def __str__(self) -> str:
        waiting = f", {self.unanswered:,} unanswered" if self.unanswered else ""
        of = "" if self.groups is None else f" in {self.groups:,} groups"
        return (
            f"error rate on future traffic <= {self.error_rate_at_most:.4f} at {100 * self.level:g}% "
            f"(audited {self.audited:,}{of}, wrong {self.wrong:,}{waiting})"
        )

    def _repr_html_(self) -> str:
        return html_table("Future error rate", asdict(self).items())

    def to_frame(self) -> pd.DataFrame:
        """Return one row with a column per field but the assumptions."""
        import pandas as pd

        row = asdict(self)
        del row["assumptions"]
        return pd.DataFrame([row])


def bound_future_errors(audited: int, wrong: int, *, level: float = 0.95, unanswered: int = 0) -> FutureRate:
    """Bound the machine's error rate on items to come, from independent audited ones.

    Parameters
    ----------
    audited : int
        Items that the machine kept and the audit drew.
    wrong : int
        Those whose machine label was wrong.
    level : float, default 0.95
        Confidence of the bound.
    unanswered : int, default 0
        Drawn items without an answer; they count as wrong.

    Returns
    -------
    FutureRate

    Raises
    ------
    InputError
        Nothing was audited, or the counts contradict one another.

    Examples
    --------
    >>> print(bound_future_errors(200, 6))
    error rate on future traffic <= 0.0583 at 95% (audited 200, wrong 6)
    """
    n, found, waiting = count("audited", audited), count("wrong", wrong), count("unanswered", unanswered)
    if n == 0:
        raise InputError("audited is 0; without an audit nothing is known of the error rate: audit at least one item")
    if found + waiting > n:
        raise InputError(f"wrong is {found} and unanswered {waiting}, more than the {n} audited")
    from scipy.special import betaincinv

    bad, confidence = found + waiting, level_of(level)
    return FutureRate(
        error_rate_at_most=1.0 if bad == n else float(betaincinv(bad + 1, n - bad, confidence)),
        error_rate=found / (n - waiting) if n > waiting else float("nan"),
        audited=n,
        wrong=found,
        unanswered=waiting,
        groups=None,
        level=confidence,
        method="Clopper-Pearson, one-sided",
        assumptions=(
            "items to come are like the audited ones, and independent of one another",
            "looked at once: for repeated looks use ErrorSequence",
            "people's labels were given without seeing the machine's",
        ),
    )


def bound_future_errors_in_groups(
    wrong: ArrayLike, groups: ArrayLike, *, largest: int, level: float = 0.95
) -> FutureRate:
    """Bound the machine's error rate on items to come, where items of one group (dialogue) hang together.

    Parameters
    ----------
    wrong : array of bool, shape (n_items,)
        Whether each audited item was wrong; count unanswered ones as wrong.
    groups : array, shape (n_items,)
        Group of each item; the groups are independent and like those to come.
    largest : int
        No group, audited or to come, has more items than this.
    level : float, default 0.95
        Confidence of the bound.

    Returns
    -------
    FutureRate
        Bounds wrong items / items over all groups to come.

    Raises
    ------
    InputError
        Columns differ in length, or a group has more than `largest` items.

    Examples
    --------
    >>> print(bound_future_errors_in_groups([False] * 200, [i // 5 for i in range(200)], largest=5))
    error rate on future traffic <= 0.1086 at 95% (audited 200 in 40 groups, wrong 0)
    """
    bad = bool_vector(wrong, name="wrong")
    names, coded = label_codes(groups=groups)
    require_same_length([("wrong", bad), ("groups", coded["groups"])])
    sizes = np.bincount(coded["groups"]).astype(np.float64)
    found = np.bincount(coded["groups"], weights=bad).astype(np.float64)
    top = count("largest", largest, least=1)
    if sizes.max() > top:
        raise InputError(f"a group has {int(sizes.max())} items, more than largest ({top}); state the largest possible")
    confidence = level_of(level)
    bound = largest_surviving(
        lambda rate: ratio_log_wealth(rate, found, sizes, top), float(bad.mean()), 1.0, 1.0 - confidence, 1e-7
    )
    return FutureRate(
        error_rate_at_most=bound,
        error_rate=float(bad.mean()),
        audited=len(bad),
        wrong=int(bad.sum()),
        unanswered=0,
        groups=len(names),
        level=confidence,
        method="bets on whole groups",
        assumptions=(
            f"groups to come are like the audited ones, independent, and of at most {top} items",
            "people's labels were given without seeing the machine's",
        ),
    )


def ratio_log_wealth(rate: float, losses: NDArray[np.float64], sizes: NDArray[np.float64], largest: Any) -> float:
    """Return the log wealth of bets against "the ratio of mean loss and mean size is at least `rate`"; it rises."""
    # A group can lose a bet by no more than largest * (1 - rate): that scales the stakes.
    edge = (rate * sizes - losses) / (float(largest) * max(1.0 - rate, 1e-12))
    return log_wealth(np.log1p(THETA[:, None] * edge[None, :]))
