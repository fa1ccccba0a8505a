"""How sure may one be of a machine's label? Estimators, calibration, and how good they are.

Three estimators read what a classifier leaves behind: `MaximumClassProbability` its probabilities, `TrustScore` and
`TrueClassProbability` its features. `Calibrator` turns any of them into a probability, so that a trade-off means the
same for each; `StackedConfidence` weighs them all. `ProbabilityWithin` does the same for numeric predictions.
`confidence_report` says how good a confidence is. Nothing here needs torch but the training of one network, which has a
variant without it. `TextEncoder` and `TextClassifier` (`hmc_crowd.confidence.text`) lead from text to features and
probabilities; they need the extra `text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.confidence._calibrate import Calibrator
from hmc_crowd.confidence._calibration_error import CalibrationError, calibration_error
from hmc_crowd.confidence._equal_share import compare_at_equal_share
from hmc_crowd.confidence._estimator import (
    ConfidenceEstimator,
    confidence_estimator,
    confidence_names,
    register_confidence,
)
from hmc_crowd.confidence._mcp import MaximumClassProbability
from hmc_crowd.confidence._persist import load_confidence, save_confidence
from hmc_crowd.confidence._quality import (
    ConfidenceReport,
    calibration_chart,
    confidence_report,
    report_frame,
    risk_chart,
)
from hmc_crowd.confidence._stack import StackedConfidence
from hmc_crowd.confidence._tcp import TrueClassProbability
from hmc_crowd.confidence._trust_score import TrustScore
from hmc_crowd.confidence._within import ProbabilityWithin

if TYPE_CHECKING:
    from hmc_crowd.confidence.text import TextClassifier, TextEncoder

__all__ = [
    "CalibrationError",
    "Calibrator",
    "ConfidenceEstimator",
    "ConfidenceReport",
    "MaximumClassProbability",
    "ProbabilityWithin",
    "StackedConfidence",
    "TextClassifier",
    "TextEncoder",
    "TrueClassProbability",
    "TrustScore",
    "calibration_chart",
    "calibration_error",
    "compare_at_equal_share",
    "confidence_estimator",
    "confidence_names",
    "confidence_report",
    "load_confidence",
    "register_confidence",
    "report_frame",
    "risk_chart",
    "save_confidence",
]


def __getattr__(name: str) -> Any:
    # The text part brings modules that the estimators do not need; it loads when it is asked for.
    if name in ("TextClassifier", "TextEncoder"):
        from hmc_crowd.confidence import text

        return getattr(text, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
