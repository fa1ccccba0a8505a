"""How is a value shown to a person, and how is it kept for a program? By its column.

A column carries its label, its unit and its number of decimals; the shown text is rounded, the kept value is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from hmc_crowd._base.money import Money

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Column", "column_for", "plain", "shown"]

Kind = Literal["text", "integer", "number", "either", "percent", "money", "flag"]

NOTHING = "–"


@dataclass(frozen=True)
class Column:
    """How one column of a table is shown.

    Parameters
    ----------
    label : str
        Heading, without the unit.
    kind : {"text", "integer", "number", "either", "percent", "money", "flag"}, default "text"
        ``either`` shows whole numbers without decimals, ``percent`` a share in [0, 1] times 100, ``money`` integer
        minor units of the currency in ``unit``.
    decimals : int, default 1
        Digits after the point, for ``number``, ``either`` and ``percent``.
    unit : str, default ""
        Unit printed behind the heading; for ``money`` the ISO code of the currency.
    sign : bool, default False
        Show a plus before positive numbers: for differences.

    Examples
    --------
    >>> shown(0.98484, Column("Accuracy", "percent"))
    '98.5'
    >>> Column("Accuracy", "percent").heading
    'Accuracy (%)'
    """

    label: str
    kind: Kind = "text"
    decimals: int = 1
    unit: str = ""
    sign: bool = False

    @property
    def heading(self) -> str:
        """Label and unit."""
        unit = "%" if self.kind == "percent" else self.unit
        return f"{self.label} ({unit})" if unit else self.label

    @property
    def is_number(self) -> bool:
        """Whether cells are aligned as numbers."""
        return self.kind in {"integer", "number", "either", "percent", "money"}


_SECONDS = "s"
# The columns that the campaign's frames share, by their name in the code; anything else is told by its suffix.
_KNOWN: dict[str, Column] = {
    "accuracy": Column("Accuracy", "percent"),
    "agreement_estimate": Column("Agreement, estimated", "percent", 2),
    "answers": Column("Answers", "integer"),
    "cap": Column("Cap mode"),
    "confidence": Column("Confidence", "number", 3),
    "count": Column("Count", "integer"),
    "counted": Column("How time is counted"),
    "effort": Column("Effort", "number", 3),
    "effort_s": Column("Effort", "number", 1, _SECONDS),
    "effort_share": Column("Share of all people's time", "percent"),
    "excluded_reason": Column("Excluded because"),
    "f1": Column("F1, macro", "percent"),
    "gold_n": Column("Gold answered", "integer"),
    "gold_right": Column("Gold right", "integer"),
    "group": Column("Group"),
    "high": Column("Interval, high", "number", 3),
    "hits": Column("HITs", "integer"),
    "human_count": Column("Items to people", "integer"),
    "human_share": Column("Items to people", "percent"),
    "human_share_with_audit": Column("Items seen by people, audit included", "percent"),
    "human_s": Column("People's time", "number", 0, _SECONDS),
    "item": Column("Item"),
    "items": Column("Items", "integer"),
    "low": Column("Interval, low", "number", 3),
    "machine_label": Column("Machine said"),
    "mae": Column("MAE", "number", 4),
    "mae_s": Column("MAE", "number", 1, _SECONDS),
    "max_human": Column("Cap on items", "number", 3),
    "mean_confidence": Column("Mean confidence", "number", 3),
    "median_s": Column("Median time", "number", 1, _SECONDS),
    "mse": Column("MSE", "number", 4),
    "n": Column("n", "integer"),
    "n_answers": Column("Answers", "integer"),
    "position": Column("Position", "integer"),
    "precision": Column("Precision, macro", "percent"),
    "r2": Column("R²", "number", 3),
    "reason": Column("Why the machine kept it"),
    "recall": Column("Recall, macro", "percent"),
    "right": Column("Right", "integer"),
    "rmse": Column("RMSE", "number", 4),
    "round": Column("Round", "integer"),
    "score": Column("Gold score", "number", 2),
    "score_high": Column("Interval, high", "number", 2),
    "score_low": Column("Interval, low", "number", 2),
    "seed": Column("Seed"),
    "share_right": Column("Right", "percent", 0),
    "share": Column("Share of items", "percent"),
    "suspect": Column("Suspect", "flag"),
    "tied": Column("Tied", "integer"),
    "trade_off": Column("Trade-off", "number", 2),
    "true_label": Column("Truth"),
    "value": Column("Value", "number", 3),
    "worker": Column("Worker"),
}


def column_for(name: str, *, currency: str = "", numeric: bool = True, whole: bool = False) -> Column:
    """Return how a column of this name is shown: a known one, or one told by its suffix.

    Parameters
    ----------
    name : str
        Name of the column in the code, such as ``median_s`` or ``pay_minor``.
    currency : str, default ""
        ISO code for columns that end in ``_minor``.
    numeric : bool, default True
        Whether the column holds numbers; a column of text stays text whatever its name.
    whole : bool, default False
        Whether all numbers are whole.

    Examples
    --------
    >>> column_for("first_answer_s").heading
    'First answer (s)'
    """
    label = name.replace("_", " ").strip().capitalize() or name
    if not numeric:
        return Column(_KNOWN[name].label if name in _KNOWN else label)
    if name in _KNOWN:
        known = _KNOWN[name]
        return replace(known, kind="integer") if name == "max_human" and whole else known
    for suffix, kind, decimals, unit in (
        ("_minor", "money", 0, currency),
        ("_share", "percent", 1, ""),
        ("_min", "number", 1, "min"),
        ("_s", "number", 1, _SECONDS),
    ):
        if name.endswith(suffix):
            stem = label[: -len(suffix)] if suffix != "_share" else label
            return Column(stem, kind, decimals, unit)  # type: ignore[arg-type]
    return Column(label, "integer" if whole else "number", 3)


def shown(value: Any, column: Column) -> str:
    """Return the text of a cell; a missing value is a dash.

    Examples
    --------
    >>> shown(1234567, Column("n", "integer")), shown(float("nan"), Column("x", "number"))
    ('1,234,567', '–')
    >>> shown(150050, Column("Pay", "money", unit="USD"))
    '1,500.50'
    """
    value = plain(value)
    if value is None or value == "":
        return NOTHING
    if column.kind == "flag":
        return "yes" if value else "no"
    if column.kind == "text" or isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if column.kind == "money":
        return str(Money(round(value), column.unit or "XXX")).rpartition(" ")[0]
    number = value * 100 if column.kind == "percent" else value
    whole = column.kind == "integer" or (column.kind == "either" and float(number).is_integer())
    decimals = 0 if whole else column.decimals
    text = f"{number:{'+' if column.sign else ''},.{decimals}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def plain(value: Any) -> Any:
    """Return a value that JSON can hold: numpy scalars as Python's, missing ones as None, times as ISO 8601 text.

    Infinity stays a float: :func:`hmc_crowd.report.write_document` writes it as the text ``"inf"``.
    """
    if hasattr(value, "item") and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 0) == 0:
        value = value.item()
    if value is None or value.__class__.__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)) or hasattr(value, "tolist"):
        return [plain(each) for each in (value.tolist() if hasattr(value, "tolist") else value)]
    return str(value)


def columns_of(frame: Any, given: Mapping[str, Column], *, currency: str = "") -> dict[str, Column]:
    """Return the columns of a frame in its order: the given ones, the others told by name and content."""
    from pandas.api.types import infer_dtype

    found: dict[str, Column] = {}
    for name in map(str, frame.columns):
        values = frame[name]
        if name in given:
            found[name] = given[name]
            continue
        # By content, not by dtype: numbers with a None among them come as objects.
        content = infer_dtype(values, skipna=True)
        if content == "boolean":
            found[name] = Column(column_for(name).label, "flag")
        else:
            numeric = content in {"integer", "floating", "mixed-integer-float"}
            whole = numeric and bool((values.dropna() % 1 == 0).all())
            found[name] = column_for(name, currency=currency, numeric=numeric, whole=whole)
    return found
