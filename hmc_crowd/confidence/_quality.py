"""Is this confidence any good? Its order, its size, and what one gets by trusting the surest items.

AUC, accuracy of the surest part and the risk-coverage curve look at the order alone (they come from
`hmc_crowd.metrics`); the calibration error looks at the size. A router without a price of effort needs the order; a
trade-off or a forecast of accuracy needs the size too.

Source: Zhang, Ren, de Rijke (2021), table 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.confidence._calibration_error import CalibrationError, calibration_error
from hmc_crowd.confidence._inputs import bool_vector
from hmc_crowd.metrics import (  # because the quality of an order is measured there
    RiskCoverage,
    Value,
    confidence_auc,
    risk_coverage,
    top_k_accuracy,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike

    from hmc_crowd.report import Chart  # because a drawing is only named here

__all__ = ["ConfidenceReport", "calibration_chart", "confidence_report", "report_frame", "risk_chart"]

# Points that a drawn curve needs.
_DRAWN = 200


@dataclass(frozen=True, eq=False)
class ConfidenceReport:
    """Quality of one confidence, every number with its interval. Frozen.

    Parameters
    ----------
    name : str
        Of the confidence.
    n : int
        Items.
    accuracy : float
        Share of all labels that are right.
    auc : Value
        Probability that a right label is surer than a wrong one.
    top : dict of float to Value
        Accuracy of the surest share of the items.
    curve : RiskCoverage
        Share wrong among the surest, for every coverage, and the area under it.
    calibration : CalibrationError
        Gap between confidence and share right, and the calibration plot.
    """

    name: str
    n: int
    accuracy: float
    auc: Value
    top: Mapping[float, Value]
    curve: RiskCoverage
    calibration: CalibrationError

    def __str__(self) -> str:
        auc = "AUC undefined" if self.auc.value is None else f"AUC {self.auc.value:.4f}"
        tops = ", ".join(f"top {share:.0%} {float(value):.4f}" for share, value in self.top.items())
        return (
            f"{self.name}: {auc}, {tops}, risk-coverage area {self.curve.area:.4f}, "
            f"calibration error {self.calibration.value:.4f} (n = {self.n:,}, {self.accuracy:.4f} right)"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{self.to_frame().to_html(index=False)}"

    def to_frame(self) -> pd.DataFrame:
        """Return ``confidence, measure, value, low, high``, one row a measure."""
        import pandas as pd

        curve, gap = self.curve, self.calibration
        rows: list[tuple[str, float | None, float | None, float | None]] = [
            ("AUC", self.auc.value, self.auc.low, self.auc.high),
            *(
                (f"accuracy of the top {share:.0%}", each.value, each.low, each.high)
                for share, each in self.top.items()
            ),
            ("risk-coverage area", curve.area, curve.low, curve.high),
            ("calibration error", gap.value, gap.low, gap.high),
            ("mean gap", gap.mean_gap, None, None),
            ("mean gap by chance", gap.mean_gap_by_chance, None, None),
        ]
        frame = pd.DataFrame(rows, columns=["measure", "value", "low", "high"]).astype(
            {"value": float, "low": float, "high": float}
        )
        frame.insert(0, "confidence", self.name)
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; the risk-coverage curve at up to 200 points."""
        return {
            "name": self.name,
            "n": self.n,
            "accuracy": self.accuracy,
            "auc": dict(self.auc.__dict__),
            "top": {f"{share:g}": dict(each.__dict__) for share, each in self.top.items()},
            "risk_coverage": {
                "area": self.curve.area,
                "low": self.curve.low,
                "high": self.curve.high,
                "points": self.curve.to_frame().iloc[_thinned(self.n)].to_dict("records"),
            },
            "calibration": self.calibration.to_dict(),
        }

    def charts(self) -> tuple[Chart, Chart]:
        """Draw the calibration plot and the risk-coverage curve; see `hmc_crowd.report.write_document`."""
        return calibration_chart([self]), risk_chart([self])


def confidence_report(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    name: str = "confidence",
    shares: Sequence[float] = (0.5,),
    bins: int = 15,
    clusters: Any = None,
    level: float = 0.95,
) -> ConfidenceReport:
    """Measure a confidence against whether the labels were right.

    Parameters
    ----------
    confidence : array of float, shape (n_items,)
        In [0, 1], of items that neither the classifier nor a calibration has learnt from.
    correct : array of bool, shape (n_items,)
        Whether the machine's label was right.
    name : str
        Shown with the numbers.
    shares : sequence of float, default (0.5,)
        Parts of the items, the surest, whose accuracy is asked for.
    bins : int, default 15
        Bins of the calibration error.
    clusters : array (n_items,), optional
        Items that belong together (dialogues); the intervals of the order's measures respect them, that of the
        calibration error does not.
    level : float, default 0.95
        Coverage of the intervals.

    Raises
    ------
    InputError
        Out of range, of different lengths, or a parameter cannot be used.

    Examples
    --------
    >>> report = confidence_report([0.9, 0.8, 0.7, 0.6], [True, True, False, True], name="mcp")
    >>> print(report)
    mcp: AUC 0.6667, top 50% 1.0000, risk-coverage area 0.1458, calibration error 0.0000 (n = 4, 0.7500 right)
    """
    right = bool_vector(correct, name="correct")
    asked = {"clusters": clusters, "level": level}
    return ConfidenceReport(
        name=name,
        n=len(right),
        accuracy=float(right.mean()),
        calibration=calibration_error(confidence, right, bins=bins, level=level),
        auc=confidence_auc(confidence, right, **asked),
        top={float(share): top_k_accuracy(confidence, right, share=share, **asked) for share in shares},
        curve=risk_coverage(confidence, right, **asked),
    )


def report_frame(reports: Sequence[ConfidenceReport]) -> pd.DataFrame:
    """Return one row for each confidence: its measures beside one another, without intervals.

    Examples
    --------
    >>> right = [True, True, False, True]
    >>> both = [confidence_report(c, right, name=n) for n, c in {"a": [0.9, 0.8, 0.7, 0.6], "b": [0.9] * 4}.items()]
    >>> report_frame(both)["AUC"].round(2).tolist()
    [0.67, 0.5]
    """
    import pandas as pd

    rows = [{"confidence": each.name} | each.to_frame().set_index("measure")["value"].to_dict() for each in reports]
    return pd.DataFrame(rows)


def calibration_chart(reports: Sequence[ConfidenceReport]) -> Chart:
    """Draw the share right over the mean confidence of each bin, one line a confidence, with the diagonal."""
    from hmc_crowd.report import Axis, Series, line_chart  # because drawings are made there

    lines = [Series(each.name, each.calibration.confidence, each.calibration.correct) for each in reports]
    low = float(min(min(line.x.min(), line.y.min()) for line in lines))  # type: ignore[union-attr]
    return line_chart(
        "calibration",
        [*lines, Series("perfect", [low, 1], [low, 1])],
        title="Calibration",
        description="; ".join(f"{each.name}: {each.calibration}" for each in reports) + ".",
        x=Axis("Mean confidence (%)", percent=True),
        y=Axis("Labels that are right (%)", percent=True),
    )


def risk_chart(reports: Sequence[ConfidenceReport]) -> Chart:
    """Draw the share wrong over the coverage, one line a confidence."""
    from hmc_crowd.report import Axis, Series, line_chart  # because drawings are made there

    thin = [_thinned(each.n) for each in reports]
    return line_chart(
        "risk-coverage",
        [
            Series(each.name, each.curve.coverage[rows], each.curve.risk[rows])
            for each, rows in zip(reports, thin, strict=True)
        ],
        title="Risk and coverage",
        description="; ".join(f"{each.name}: area {each.curve.area:.4f}" for each in reports) + ".",
        x=Axis("Most confident items (% of all)", percent=True),
        y=Axis("Labels that are wrong (%)", percent=True),
    )


def _thinned(n: int) -> Any:
    return np.unique(np.linspace(0, n - 1, min(n, _DRAWN)).astype(int))
