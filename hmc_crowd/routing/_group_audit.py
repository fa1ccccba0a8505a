"""Which whole groups (dialogues) should people look at? Reading a dialogue once for all its items is cheaper per item.

Two ways to draw: every group with the same chance, or one after the other with a chance in proportion to the items
that the machine kept in it, which is the better choice where sizes differ. The order of the draw is kept: the bound of
`certify_groups` rests on it.

Source: Shekhar, Xu, Lipton, Liang, Ramdas (2023), "Risk-limiting financial audits via weighted sampling without
replacement".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from hmc_crowd._base.checks import require_generator
from hmc_crowd.errors import InputError
from hmc_crowd.metrics import label_codes  # because groups are coded as the metrics code labels
from hmc_crowd.routing._checks import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["GroupDesign", "GroupDraw", "draw_group_audit", "require_design"]

GroupDesign: TypeAlias = Literal["groups", "groups_by_size"]


def require_design(design: Any) -> None:
    """Refuse any other name than those of the two designs."""
    if design not in ("groups", "groups_by_size"):
        raise InputError(
            f"design is {design!r}; use 'groups_by_size' (chance in proportion to the kept items), 'groups' (the same "
            "chance for each group), or certify_batch for a sample of items"
        )


@dataclass(frozen=True, eq=False)
class GroupDraw:
    """The groups that people look at, in the order in which they were drawn. Made by `draw_group_audit`.

    Parameters
    ----------
    groups : tuple
        The drawn groups.
    sizes : array of int
        Items that the machine kept in each of them.
    rows : array of int
        Rows of their items among all kept items, group after group.
    kept, n_groups, largest : int
        Kept items; groups with at least one; the size of the largest.
    design : {"groups", "groups_by_size"}
        How they were drawn.
    """

    groups: tuple[Any, ...]
    sizes: NDArray[np.intp]
    rows: NDArray[np.intp]
    kept: int
    n_groups: int
    largest: int
    design: GroupDesign

    def __post_init__(self) -> None:
        self.sizes.setflags(write=False)
        self.rows.setflags(write=False)

    def __len__(self) -> int:
        return len(self.groups)

    def __str__(self) -> str:
        return (
            f"GroupDraw: {len(self):,} of {self.n_groups:,} groups with {int(self.sizes.sum()):,} of {self.kept:,} "
            f"kept items ({self.design})"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per drawn group in order: ``group, items``."""
        import pandas as pd

        return pd.DataFrame({"group": list(self.groups), "items": self.sizes})


def draw_group_audit(
    groups: Sequence[Any],
    *,
    n: int,
    design: GroupDesign = "groups_by_size",
    rng: np.random.Generator,
) -> GroupDraw:
    """Draw whole groups of the items that the machine kept.

    Parameters
    ----------
    groups : sequence, shape (n_kept,)
        Group of each kept item.
    n : int
        Groups to draw, without replacement.
    design : {"groups_by_size", "groups"}
        Chance of the next group: in proportion to its kept items, or the same for each.
    rng : numpy.random.Generator
        Source of chance.

    Returns
    -------
    GroupDraw

    Raises
    ------
    InputError
        More groups are asked for than there are, or the design is unknown.

    Examples
    --------
    >>> draw = draw_group_audit(["d1", "d1", "d2", "d3"], n=2, rng=np.random.default_rng(0))
    >>> len(draw), draw.kept, draw.largest
    (2, 4, 2)
    """
    require_generator(rng)
    require_design(design)
    names, coded = label_codes(groups=groups)
    codes = coded["groups"]
    sizes = np.bincount(codes, minlength=len(names))
    wanted = count("n", n)
    if wanted > len(names):
        raise InputError(f"n is {wanted}, but the kept items have only {len(names)} groups")
    # An exponential race: the next to finish is drawn in proportion to its rate, whatever has finished before.
    rate = sizes if design == "groups_by_size" else np.ones(len(names))
    order = np.argsort(rng.exponential(size=len(names)) / rate, kind="stable")[:wanted]
    by_group = np.argsort(codes, kind="stable")
    starts = np.concatenate(([0], np.cumsum(sizes)))
    rows = [by_group[starts[each] : starts[each + 1]] for each in order.tolist()]
    return GroupDraw(
        groups=tuple(np.asarray(names)[order].tolist()),
        sizes=sizes[order].astype(np.intp),
        rows=np.concatenate(rows).astype(np.intp) if rows else np.empty(0, dtype=np.intp),
        kept=len(codes),
        n_groups=len(names),
        largest=int(sizes.max()),
        design=design,
    )
