"""Do the workers agree enough? Consensus by count, and by the weight of who said it.

Source: requirements D13 (at least three answers; agreement .7 and confidence above .7: accepted; agreement .5 and
confidence above .8: a label, but to an expert) and D14 (answers weighed by the quality of their workers). An equal
split, which would pass the .5 rule with an arbitrary winner, goes to an expert.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.quality._gate import GateBase, Verdict, first_reason

if TYPE_CHECKING:
    from hmc_crowd.quality._gate_evidence import GateEvidence

__all__ = ["ConsensusGate", "WeightedGate"]

_ROUNDING = 1e-9


class ConsensusGate(GateBase):
    """Accept a label that enough workers gave, sure enough.

    Parameters
    ----------
    at_least : int, default 3
        Answers without which nothing is accepted.
    agreement, confidence : float, default 0.7
        Least share of the answers, and the mean confidence that must be exceeded.
    borderline_agreement, borderline_confidence : float, default 0.5, 0.8
        The second rule: the label is worth showing, but an expert looks at it (reason ``borderline``).
    by : {"stated", "quality"}, default "stated"
        What confidence is: the column ``confidence`` of the answers (what workers stated; in a campaign what the gold
        in the submission says), or the mean quality of those who gave the label. Without a stated confidence everything
        goes to an expert, reason ``no_confidence``.

    Examples
    --------
    Three of four agree, and are sure of it:

    >>> answers = [{"worker": f"w{n}", "label": label, "confidence": 0.9} for n, label in enumerate("xxxy")]
    >>> print(ConsensusGate().needs_expert("a", answers))
    a: accepted (accepted; 4 answers, agreement 0.75, confidence 0.90)
    """

    name = "consensus"

    def __init__(
        self,
        *,
        at_least: int = 3,
        agreement: float = 0.7,
        confidence: float = 0.7,
        borderline_agreement: float = 0.5,
        borderline_confidence: float = 0.8,
        by: Literal["stated", "quality"] = "stated",
    ) -> None:
        if isinstance(at_least, bool) or not isinstance(at_least, int | np.integer) or at_least < 1:
            raise InputError(f"at_least is {at_least!r}; give a whole number of at least 1")
        if by not in ("stated", "quality"):
            raise InputError(f"by is {by!r}; give 'stated' or 'quality'")
        self.at_least, self.by = int(at_least), by
        self.agreement, self.confidence = _threshold(agreement, "agreement"), _threshold(confidence, "confidence")
        self.borderline_agreement = _threshold(borderline_agreement, "borderline_agreement")
        self.borderline_confidence = _threshold(borderline_confidence, "borderline_confidence")

    def judge(self, evidence: GateEvidence) -> Verdict:
        """Return the rules of D13; ``score`` is what agreement lacks to 1."""
        sure = evidence.confidence if self.by == "stated" else evidence.behind
        agreement = evidence.agreement + _ROUNDING
        few = evidence.n_answers < self.at_least
        unknown = np.isnan(sure)
        # A mean of three times .8 is .8 but for rounding, and not above it.
        accepted = (agreement >= self.agreement) & (sure > self.confidence + _ROUNDING) & ~few
        borderline = (agreement >= self.borderline_agreement) & (sure > self.borderline_confidence + _ROUNDING)
        low = agreement < self.agreement
        reason = first_reason(
            [
                ("too_few_answers", few),
                ("accepted", accepted),
                ("no_confidence", unknown),
                ("borderline", borderline),
                ("low_agreement", low),
                ("low_confidence", ~accepted),
            ],
            len(evidence),
        )
        return Verdict(~accepted, reason, 1 - evidence.agreement)

    def _settings(self) -> dict[str, Any]:
        names = ("at_least", "agreement", "confidence", "borderline_agreement", "borderline_confidence", "by")
        return {name: getattr(self, name) for name in names}

    def _words(self, evidence: GateEvidence) -> list[str]:
        sure = evidence.confidence if self.by == "stated" else evidence.behind
        return [
            f"{n} answer{'' if n == 1 else 's'}, agreement {agreement:.2f}, confidence {known:.2f}"
            for n, agreement, known in zip(
                evidence.n_answers.tolist(), evidence.agreement.tolist(), sure.tolist(), strict=True
            )
        ]


class WeightedGate(GateBase):
    """Accept a label that has enough of the weight, where answers weigh as much as their workers' quality.

    Parameters
    ----------
    at_least : int, default 3
        Answers without which nothing is accepted.
    agreement : float, default 0.7
        Least share of the weight.

    Examples
    --------
    One good worker against two whom nobody knows: .9 of the weight of 1.9 is not enough.

    >>> answers = [{"worker": "ann", "label": "x"}, {"worker": "u", "label": "y"}, {"worker": "v", "label": "y"}]
    >>> print(WeightedGate().needs_expert("a", answers, {"ann": 0.9}))
    a: to an expert (low_agreement; 3 answers, agreement 0.53, worker quality 0.63)
    """

    name = "weighted"
    weighted = True

    def __init__(self, *, at_least: int = 3, agreement: float = 0.7) -> None:
        if isinstance(at_least, bool) or not isinstance(at_least, int | np.integer) or at_least < 1:
            raise InputError(f"at_least is {at_least!r}; give a whole number of at least 1")
        self.at_least, self.agreement = int(at_least), _threshold(agreement, "agreement")

    def judge(self, evidence: GateEvidence) -> Verdict:
        """Return whether the weight suffices; ``score`` is what agreement lacks to 1."""
        few = evidence.n_answers < self.at_least
        low = evidence.agreement + _ROUNDING < self.agreement
        reason = first_reason([("too_few_answers", few), ("low_agreement", low)], len(evidence))
        return Verdict(few | low, reason, 1 - evidence.agreement)

    def _settings(self) -> dict[str, Any]:
        return {"at_least": self.at_least, "agreement": self.agreement}


def _threshold(value: float, name: str) -> float:
    if not 0 <= value <= 1:
        raise InputError(f"{name} is {value!r}; give a threshold in [0, 1]")
    return float(value)
