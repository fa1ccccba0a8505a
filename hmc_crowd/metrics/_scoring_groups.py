"""A metric for each subgroup, held together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.metrics._result import Metric, metrics_frame

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ALL", "GroupMetrics"]

ALL = "All data"


@dataclass(frozen=True, eq=False)
class GroupMetrics(Mapping[str, Metric]):
    """Metrics by name of the group, sorted; a mapping.

    Parameters
    ----------
    groups : mapping of str to Metric
    overall : Metric
        The same over all rows; also found under the key "All data", which is not counted among the groups.
    name : str
        What was measured.

    Examples
    --------
    >>> found = GroupMetrics({"a": Metric(0.1, n=3), "b": Metric(-0.1, n=2)}, Metric(0.0, n=5), "DSM")
    >>> list(found), found["All data"].n
    (['a', 'b'], 5)
    """

    groups: Mapping[str, Metric]
    overall: Metric
    name: str

    def __getitem__(self, group: str) -> Metric:
        return self.overall if group == ALL and ALL not in self.groups else self.groups[group]

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __str__(self) -> str:
        return "\n".join(f"{group}: {found}" for group, found in [*self.groups.items(), (ALL, self.overall)])

    def to_frame(self) -> pd.DataFrame:
        """Return one row per group and a last one for all data, columns as in `metrics_frame`, `name` first."""
        return metrics_frame({**self.groups, ALL: self.overall}).rename(columns={"name": "group"})

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False, na_rep="–", escape=True))
