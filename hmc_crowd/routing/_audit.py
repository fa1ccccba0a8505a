"""Which of the kept items should people look at? A simple random sample of items, with its probabilities.

Items, not dialogues: then `certify_batch` is exact however errors cluster. For streams, where nobody sees the whole
batch, `Policy` draws by a keyed hash of the item id instead.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_generator
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["AuditDraw", "draw_audit"]

_ASSUMPTIONS = (
    "every kept item had the same chance, whatever its dialogue, label or confidence",
    "drawn items look like any other to the people who judge them",
)


@dataclass(frozen=True, eq=False)
class AuditDraw:
    """The kept items that people look at too. Frozen; its array is read-only.

    Parameters
    ----------
    items : tuple
        The drawn ids, in the order in which they were given.
    rows : array of int
        Their rows among the kept items.
    kept : int
        How many items there were to draw from.
    inclusion_probability : float
        Chance of each kept item to be drawn.
    design, method : str
        Always "items"; and how many are drawn: a fixed number, or each item by itself.
    assumptions : tuple of str
        What the draw promises and what it needs.
    """

    items: tuple[Any, ...]
    rows: NDArray[np.intp]
    kept: int
    inclusion_probability: float
    design: str
    method: str
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        self.rows.setflags(write=False)

    def __len__(self) -> int:
        return len(self.items)

    def __str__(self) -> str:
        how = f"{self.method}, p = {self.inclusion_probability:.4g}"
        return f"AuditDraw: {len(self):,} of {self.kept:,} kept items ({how})"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per drawn item: ``item, inclusion_probability``."""
        import pandas as pd

        return pd.DataFrame({"item": list(self.items), "inclusion_probability": self.inclusion_probability})


def draw_audit(
    kept_items: Sequence[Any],
    *,
    n: int | None = None,
    probability: float | None = None,
    rng: np.random.Generator,
) -> AuditDraw:
    """Draw a simple random sample of the items that the machine kept.

    Parameters
    ----------
    kept_items : sequence
        Distinct ids of the items that the machine kept.
    n : int, optional
        Draw just so many, without replacement.
    probability : float, optional
        Draw each item by itself with this probability; given its size, such a sample is a simple random sample too, so
        `certify_batch` may be told its size. Give either this or `n`.
    rng : numpy.random.Generator
        Source of chance; a seeded one makes the draw repeatable.

    Returns
    -------
    AuditDraw

    Raises
    ------
    InputError
        Both or none of `n` and `probability` are given, one is out of range, or ids repeat.

    Examples
    --------
    >>> draw = draw_audit(["a", "b", "c", "d"], n=2, rng=np.random.default_rng(1))
    >>> len(draw), draw.inclusion_probability
    (2, 0.5)
    """
    require_generator(rng)
    kept: Sequence[Any] = kept_items.tolist() if isinstance(kept_items, np.ndarray) else kept_items
    # A range is distinct as it is; a list of ten million numbers would take a gigabyte to say so.
    if not isinstance(kept, range):
        kept = list(kept)
    if not isinstance(kept, range) and len(set(kept)) != len(kept):
        repeated = next(item for item, times in Counter(kept).items() if times > 1)
        raise InputError(f"kept_items holds {repeated!r} twice; give every item once")
    if (n is None) == (probability is None):
        raise InputError("give either n (a fixed number of items) or probability (each item by itself)")
    if n is not None:
        if isinstance(n, (bool, np.bool_)) or not isinstance(n, Integral) or not 0 <= n <= len(kept):
            raise InputError(f"n is {n!r}; give a whole number between 0 and the {len(kept)} kept items")
        rows = np.sort(rng.choice(len(kept), size=int(n), replace=False)) if n else np.empty(0, dtype=np.intp)
        chance, method = (int(n) / len(kept) if kept else 0.0), "fixed number without replacement"
    else:
        if isinstance(probability, (bool, np.bool_)) or not isinstance(probability, Real) or not 0 <= probability <= 1:
            raise InputError(f"probability is {probability!r}; give a number in [0, 1]")
        rows = np.flatnonzero(rng.random(len(kept)) < float(probability))
        chance, method = float(probability), "each item by itself"
    rows = rows.astype(np.intp)
    chosen = tuple(kept[row] for row in rows.tolist())
    return AuditDraw(chosen, rows, len(kept), chance, "items", method, _ASSUMPTIONS)
