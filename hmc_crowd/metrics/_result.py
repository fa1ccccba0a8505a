"""One number, its interval and everything that a reader must know to use it, as one frozen object.

Guarantee: a metric that is undefined has ``value`` None and says why in ``reason``; ``float()`` of it is NaN, its
JSON is null and a table shows a dash. It never holds a plausible wrong number. An interval that cannot be computed
is None at both ends while the value stays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd

__all__ = ["Metric", "metrics_frame"]

NO_INTERVAL = "no interval"


@dataclass(frozen=True, eq=False)
class Metric:
    """A metric with its interval, what it was computed from and what was left out.

    Parameters
    ----------
    value : float or None
        The number; None if undefined. NaN and infinite numbers become None with a reason.
    low, high : float or None
        Ends of the interval; None where there is none (`method` says why).
    n : int
        Rows (pairs, items, units: whatever the function counts) that were used.
    dropped : mapping of str to int
        Reason -> rows left out for it; reasons that left out nothing are omitted.
    level : float, default 0.95
        Nominal coverage of the interval.
    method : str
        How the interval was made, such as "analytic (Fisher's z)" or "BCa bootstrap, 2,000 draws".
    reason : str or None
        Why there is no value.
    warnings : tuple of str
        What a reader should doubt, as sentences.
    name : str
        What was measured.
    assumptions : tuple of str
        What must hold for the interval.
    details : mapping
        Parts of the computation that are worth keeping, such as variances, degrees of freedom or p-values.

    Examples
    --------
    >>> kappa = Metric(0.412, 0.31, 0.514, n=200, dropped={"missing score": 3}, name="Cohen's kappa")
    >>> print(kappa)
    Cohen's kappa 0.4120 [0.3100, 0.5140] (95%, n = 200; dropped 3: missing score)
    >>> none = Metric(None, n=1, reason="one row has no variance", name="Pearson r")
    >>> print(none, float(none))
    Pearson r undefined: one row has no variance (n = 1) nan
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    level: float = 0.95
    method: str = NO_INTERVAL
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    name: str = "metric"
    assumptions: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        value = _number(self.value)
        put = object.__setattr__
        put(self, "value", value)
        put(self, "low", None if value is None else _number(self.low))
        put(self, "high", None if value is None else _number(self.high))
        put(self, "n", int(self.n))
        put(self, "dropped", MappingProxyType({why: int(rows) for why, rows in self.dropped.items() if rows}))
        put(self, "warnings", tuple(self.warnings))
        put(self, "assumptions", tuple(self.assumptions))
        put(self, "details", MappingProxyType(dict(self.details)))
        if value is None and not self.reason:
            put(self, "reason", "the formula gives no finite number on this data")
        if value is not None and self.reason:
            put(self, "reason", None)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # A read-only mapping cannot be pickled; the constructor makes it anew.
        plain = {**self.__dict__, "dropped": dict(self.dropped), "details": dict(self.details)}
        return _rebuild, (type(self), plain)

    def __float__(self) -> float:
        return math.nan if self.value is None else self.value

    def __bool__(self) -> bool:
        # Without this a metric of 0 and an undefined one would both be "true" by accident.
        raise TypeError("a Metric has no truth value; compare its .value, or test `.value is None`")

    def __str__(self) -> str:
        said = f"undefined: {self.reason}" if self.value is None else _short(self.value)
        inside = [f"n = {self.n:,}"]
        if self.low is not None or self.high is not None:
            said += f" [{_end(self.low, '-inf')}, {_end(self.high, 'inf')}]"
            inside[0] = f"{100 * self.level:.4g}%, n = {self.n:,}"
        if self.dropped:
            total = sum(self.dropped.values())
            inside.append(f"dropped {total:,}: " + ", ".join(self.dropped))
        if self.warnings:
            inside.append(f"{len(self.warnings)} warning{'s' if len(self.warnings) > 1 else ''}")
        return f"{self.name} {said} ({'; '.join(inside)})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: an undefined number is None, arrays are lists."""
        return {
            "name": self.name,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "n": self.n,
            "dropped": dict(self.dropped),
            "method": self.method,
            "reason": self.reason,
            "warnings": list(self.warnings),
            "assumptions": list(self.assumptions),
            "details": {key: _plain(each) for key, each in self.details.items()},
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row: ``name, value, low, high, level, n, dropped, method, reason, warnings``; NaN if undefined."""
        return metrics_frame([self])

    def _repr_html_(self) -> str:
        said = "&#8211;" if self.value is None else escape(_short(self.value))
        interval = (
            "" if self.low is None and self.high is None else f"{_end(self.low, '-inf')} to {_end(self.high, 'inf')}"
        )
        rows = [
            ("Value", said),
            (f"{100 * self.level:.4g}% interval", escape(interval) or f"&#8211; ({escape(self.method)})"),
            ("Rows used", f"{self.n:,}"),
        ]
        if self.reason:
            rows.append(("Why undefined", escape(self.reason)))
        rows += [(f"Left out: {escape(str(why))}", f"{count:,}") for why, count in self.dropped.items()]
        if interval:
            rows.append(("Method", escape(self.method)))
        rows += [("Warning", escape(each)) for each in self.warnings]
        rows += [("Assumes", escape(each)) for each in self.assumptions]
        body = "".join(f'<tr><th scope="row">{head}</th><td>{cell}</td></tr>' for head, cell in rows)
        return f"<table><caption>{escape(self.name)}</caption><tbody>{body}</tbody></table>"

    def replace(self, **changes: Any) -> Metric:
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    @classmethod
    def undefined(cls, reason: str, *, name: str = "metric", n: int = 0, **more: Any) -> Self:
        """Return a metric without a value.

        Examples
        --------
        >>> Metric.undefined("all scores are missing", name="RMSE").value is None
        True
        """
        return cls(None, n=n, reason=reason, name=name, **more)


def metrics_frame(metrics: Mapping[str, Metric] | list[Metric] | tuple[Metric, ...]) -> pd.DataFrame:
    """Return several metrics as a table, one row each; a mapping's keys replace the names.

    Examples
    --------
    >>> metrics_frame([Metric(0.5, n=4, name="a"), Metric(None, n=4, reason="one label", name="b")])["value"].tolist()
    [0.5, nan]
    """
    import pandas as pd

    pairs = list(metrics.items()) if isinstance(metrics, Mapping) else [(each.name, each) for each in metrics]
    rows = [
        {
            "name": name,
            "value": float(each),
            "low": math.nan if each.low is None else each.low,
            "high": math.nan if each.high is None else each.high,
            "level": each.level,
            "n": each.n,
            "dropped": sum(each.dropped.values()),
            "method": each.method,
            "reason": each.reason or "",
            "warnings": " | ".join(each.warnings),
        }
        for name, each in pairs
    ]
    columns = ["name", "value", "low", "high", "level", "n", "dropped", "method", "reason", "warnings"]
    return pd.DataFrame(rows, columns=columns)


def _rebuild(kind: type[Metric], fields: dict[str, Any]) -> Metric:
    return kind(**fields)


def _number(value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _short(value: float) -> str:
    return f"{value:.4f}" if 1e-4 <= abs(value) < 1e5 or value == 0 else f"{value:.4g}"


def _end(value: float | None, open_end: str) -> str:
    return open_end if value is None else _short(value)


def _plain(value: Any) -> Any:
    """Turn numpy values, metrics and mappings into what JSON can hold."""
    if isinstance(value, Metric):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
