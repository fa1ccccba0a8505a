"""The source's rules: who is trusted, what is hard, what is dangerous.

An item goes to an expert if its risk is high, if its workers are not good enough, if it is complex, or if its text is
long. Thresholds are settings; both versions of the source are presets.

Source: requirement D20. Its first version asks for risk, quality .7 and complexity .8; its second for quality .6 and
a text of 1,000 characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.quality._gate import GateBase, Verdict, first_reason
from hmc_crowd.quality._risk_urgency import RISKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.quality._gate_evidence import GateEvidence

__all__ = ["RULE_PRESETS", "RuleGate"]

RULE_PRESETS: dict[str, dict[str, Any]] = {
    "source": {"risk": "high", "quality": 0.7, "complexity": 0.8, "text_length": None},
    "source_text": {"risk": None, "quality": 0.6, "complexity": None, "text_length": 1000},
}


class RuleGate(GateBase):
    """Fixed thresholds; a rule set to None is left out.

    Parameters
    ----------
    risk : {"medium", "high"} or None, default "high"
        Items of this risk, or a higher one, go to an expert.
    quality : float or None, default 0.7
        As do those whose workers' quality is below.
    complexity : float or None, default 0.8
        As do those whose complexity is above.
    text_length : int or None, default None
        As do those whose text has more characters.
    of : {"mean", "lowest"}, default "mean"
        Which quality is asked, where several workers answered an item; the source has one worker.

    Notes
    -----
    A value that is not known sends the item to an expert, with a reason of its own (``unknown_risk`` ...). A rule
    whose column is missing altogether is an error: leave the rule out in words, or bring the column.

    Examples
    --------
    >>> gate = RuleGate(risk=None, complexity=None)
    >>> print(gate.needs_expert("a", [{"worker": "ann", "label": "yes"}], {"ann": 0.65}))
    a: to an expert (low_quality; 1 answer, agreement 1.00, worker quality 0.65)
    >>> RuleGate.preset("source").quality, RuleGate.preset("source_text").quality
    (0.7, 0.6)
    """

    name = "rules"

    def __init__(
        self,
        *,
        risk: Literal["medium", "high"] | None = "high",
        quality: float | None = 0.7,
        complexity: float | None = 0.8,
        text_length: int | None = None,
        of: Literal["mean", "lowest"] = "mean",
    ) -> None:
        if risk not in (None, *RISKS[1:]):
            raise InputError(f"risk is {risk!r}; give 'medium', 'high' or None")
        for name, value in (("quality", quality), ("complexity", complexity)):
            if value is not None and not 0 <= value <= 1:
                raise InputError(f"{name} is {value!r}; give a threshold in [0, 1], or None to leave the rule out")
        if text_length is not None and not text_length >= 0:
            raise InputError(f"text_length is {text_length!r}; give a number of characters, or None")
        if of not in ("mean", "lowest"):
            raise InputError(f"of is {of!r}; give 'mean' or 'lowest'")
        self.risk, self.quality, self.complexity, self.text_length, self.of = risk, quality, complexity, text_length, of

    @classmethod
    def preset(cls, name: str, **changed: Any) -> Self:
        """Return a version of the source, ``source`` or ``source_text``, with some thresholds changed."""
        if name not in RULE_PRESETS:
            raise InputError(f"preset is {name!r}; choose one of {', '.join(map(repr, RULE_PRESETS))}")
        return cls(**{**RULE_PRESETS[name], **changed})

    def judge(self, evidence: GateEvidence) -> Verdict:
        """Return the first rule that holds; ``score`` is 1 for an expert's item."""
        rules: list[tuple[str, NDArray[np.bool_]]] = []
        if self.risk is not None:
            risk = self._column(evidence.risk, "risk")
            rules += [("high_risk", risk >= RISKS.index(self.risk)), ("unknown_risk", np.isnan(risk))]
        if self.quality is not None:
            quality = evidence.lowest if self.of == "lowest" else evidence.quality
            # A mean of shares such as .8, .8 and .5 is .7 but for rounding.
            rules += [("low_quality", quality < self.quality - 1e-12)]
        if self.complexity is not None:
            complexity = self._column(evidence.complexity, "complexity")
            rules += [("complex", complexity > self.complexity), ("unknown_complexity", np.isnan(complexity))]
        if self.text_length is not None:
            length = self._column(evidence.text_length, "text_length")
            rules += [("long_text", length > self.text_length), ("unknown_text", np.isnan(length))]
        reason = first_reason(rules, len(evidence))
        expert = np.any([holds for _, holds in rules], axis=0) if rules else np.zeros(len(evidence), dtype=bool)
        return Verdict(expert, reason, expert.astype(float))

    def _column(self, values: NDArray[np.float64] | None, name: str) -> NDArray[np.float64]:
        if values is None:
            raise InputError(f"items has no column {name}, which a rule reads; bring it, or leave out with {name}=None")
        return values

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("risk", "quality", "complexity", "text_length", "of")}
