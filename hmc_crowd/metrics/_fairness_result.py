"""What does a fairness analysis hold, and how is it shown?"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hmc_crowd.metrics._result import Metric

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from hmc_crowd.metrics._scoring_groups import GroupMetrics

__all__ = ["FairnessAnalysis", "GroupEffect"]

HEADS = {
    "osa": "Overall score accuracy",
    "osd": "Overall score difference",
    "csd": "Conditional score difference",
}


@dataclass(frozen=True, eq=False)
class GroupEffect(Metric):
    """A share of variance that groups explain: a `Metric` whose value is the adjusted R2, with names for its parts.

    Examples
    --------
    >>> effect = GroupEffect(0.648, details={"p_value": 0.0098, "r2": 0.698, "partial_eta2": 0.698})
    >>> effect.r2_adj, effect.p_value
    (0.648, 0.0098)
    """

    @property
    def r2_adj(self) -> float | None:
        """The value under its name: adjusted R2 as a fraction, or a difference of two."""
        return self.value

    @property
    def p_value(self) -> float | None:
        """Significance by the F test of nested models; None where undefined."""
        return self._part("p_value")

    @property
    def r2(self) -> float | None:
        """Plain R2 that the groups add."""
        return self._part("r2")

    @property
    def partial_eta2(self) -> float | None:
        """Share of what the human score leaves (all, for OSA and OSD) that the groups explain, in [0, 1]."""
        return self._part("partial_eta2")

    def _part(self, name: str) -> float | None:
        value = self.details.get(name)
        return None if value is None else float(value)


@dataclass(frozen=True, eq=False)
class FairnessAnalysis:
    """Shares of error variance that subgroups explain. Frozen.

    Parameters
    ----------
    osa, osd, csd : GroupEffect
        Value: adjusted R2 as a fraction; see `fairness_analysis`.
    dsm : GroupMetrics
        Difference of standardised means by group.
    base : str
        Group that the coefficients compare with.
    counts : mapping of str to int
        Responses by group.
    estimates : mapping of str to list of dict
        ``group, estimate, p, low, high`` for "osa", "osd" and "csd"; see `estimates_frame`.
    dropped : mapping of str to int
    warnings : tuple of str
        Groups with fewer than 10 responses.
    """

    osa: GroupEffect
    osd: GroupEffect
    csd: GroupEffect
    dsm: GroupMetrics
    base: str
    counts: Mapping[str, int]
    estimates: Mapping[str, list[dict[str, Any]]]
    dropped: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("counts", "estimates", "dropped"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __getitem__(self, name: str) -> Any:
        """Return "osa", "osd", "csd" or "dsm"."""
        if name not in {*HEADS, "dsm"}:
            raise KeyError(name)
        return getattr(self, name)

    def __str__(self) -> str:
        effects = (self.osa, self.osd, self.csd)
        doubts = dict.fromkeys(warning for each in effects for warning in each.warnings)
        return "\n".join([*(f"{each} p = {_p(each)}" for each in effects), *doubts, *self.warnings])

    def to_frame(self) -> pd.DataFrame:
        """Return one column per question; rows ``r2_adj, sig, r2, partial_eta2, f, df_groups, df_resid``.

        The first two are RSMTool's ``R2`` and ``sig`` under their true names; NaN where undefined.
        """
        import pandas as pd

        rows = ["r2_adj", "sig", "r2", "partial_eta2", "f", "df_groups", "df_resid"]
        table = {head: _column(self[key]) for key, head in HEADS.items()}
        return pd.DataFrame(table, index=pd.Index(rows, name="metric"))

    def estimates_frame(self, which: str) -> pd.DataFrame:
        """Return the coefficients of "osa", "osd" or "csd", one row per group, the base group's intercept first."""
        import pandas as pd

        columns = ["estimate", "p", "low", "high"]
        rows = self.estimates[which]
        index = pd.Index([row["group"] for row in rows], name="group", dtype=object)
        return pd.DataFrame([{c: row[c] for c in columns} for row in rows], index=index, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; undefined ones are None."""
        return {
            "base": self.base,
            "counts": dict(self.counts),
            **{key: self[key].to_dict() for key in HEADS},
            "dsm": {group: each.to_dict() for group, each in self.dsm.items()},
            "dropped": dict(self.dropped),
            "warnings": list(self.warnings),
        }

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(each)}</li>" for each in self.warnings)
        table = self.to_frame().to_html(na_rep="–", escape=True)
        return table + (f"<ul>{notes}</ul>" if notes else "")


def _p(metric: Metric) -> str:
    value = metric.details.get("p_value")
    return "–" if value is None else f"{value:.3g}"


def _column(metric: Metric) -> list[float]:
    found = metric.details
    parts = [found.get(key) for key in ("p_value", "r2", "partial_eta2", "f", "df_groups", "df_resid")]
    return [float(metric), *(float("nan") if each is None else float(each) for each in parts)]
