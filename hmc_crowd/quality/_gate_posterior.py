"""Is the posterior sure enough? A gate on calibrated probabilities.

Posteriors of aggregation models are too high (on one open set .964 on average where .940 of the labels are right), so
the gate takes them only with a calibration on gold. With a certified stopping rule the share of wrong labels among the
accepted ones is bounded as the rule says; without gold nothing is accepted.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation import Calibration, DawidSkene, StoppingRule  # because the gate stands on their posteriors
from hmc_crowd.aggregation._codes import encode  # because repeated and missing answers follow one rule
from hmc_crowd.aggregation._names import coded as place_in  # because names are matched there
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.quality._gate import GateBase, Verdict, first_reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.quality._gate_evidence import GateEvidence

__all__ = ["PosteriorGate"]


class PosteriorGate(GateBase):
    """Accept a label whose calibrated probability reaches a threshold.

    Parameters
    ----------
    model : DawidSkene
        Fitted on these workers, without the gold that calibrates.
    rule : StoppingRule or Calibration, optional
        Of `certify_stopping`, which brings its threshold, or of `calibrate`. None is "no gold, or too little": then
        everything goes to an expert, reason ``not_calibrated``.
    threshold : float, default 0.95
        Least probability, where ``rule`` is a calibration.

    Notes
    -----
    The label is the most probable one, which need not be the majority's. Where the model knows none of an item's
    workers it takes them for average ones.

    Examples
    --------
    >>> answers = pd.DataFrame(
    ...     [("a", "w1", 1), ("a", "w2", 1), ("b", "w1", 0), ("b", "w2", 0)], columns=["task", "worker", "label"]
    ... )
    >>> gate = PosteriorGate(DawidSkene().fit(answers))
    >>> gate.decide(None, answers).reasons()
    {'not_calibrated': 2}
    """

    name = "posterior"

    def __init__(
        self, model: DawidSkene, rule: StoppingRule | Calibration | None = None, *, threshold: float = 0.95
    ) -> None:
        if not hasattr(model, "errors_"):
            raise StateError("the model is not fitted: call its fit first")
        if rule is not None and not isinstance(rule, StoppingRule | Calibration):
            raise InputError(f"rule is a {type(rule).__name__}; give what certify_stopping or calibrate returns")
        if not 0 <= threshold <= 1:
            raise InputError(f"threshold is {threshold!r}; give a probability in [0, 1]")
        self.model, self.rule = model, rule
        self.threshold = rule.threshold if isinstance(rule, StoppingRule) else float(threshold)

    def judge(self, evidence: GateEvidence) -> Verdict:
        """Return whether the probability suffices; ``score`` is the probability that the label is wrong."""
        n = len(evidence)
        if self.rule is None or not len(evidence.answers):
            return Verdict(np.ones(n, dtype=bool), np.full(n, "not_calibrated", dtype=object), np.ones(n))
        calibration = self.rule.calibration if isinstance(self.rule, StoppingRule) else self.rule
        posterior = calibration.apply(self._posterior(evidence.answers))
        place = pd.Index(evidence.item).get_indexer(posterior.probabilities.index)
        sure, label, tied = np.full(n, np.nan), np.full(n, None, dtype=object), np.zeros(n, dtype=bool)
        sure[place] = posterior.confidence.to_numpy()
        label[place] = posterior.labels.to_numpy(dtype=object)
        # The votes may be tied where the posterior is not: it decides.
        top = np.sort(posterior.probabilities.to_numpy(), axis=1)[:, -2:]
        tied[place] = (top[:, 0] >= top[:, -1] - 1e-12) & (top.shape[1] > 1)
        few = np.zeros(n, dtype=bool)
        if isinstance(self.rule, StoppingRule):
            few = evidence.n_answers < self.rule.min_answers
        unsure = ~(sure >= self.threshold)
        reason = first_reason([("too_few_answers", few), ("unsure", unsure)], n)
        label[tied] = None
        return Verdict(few | unsure, reason, 1 - sure, label, tied)

    def _posterior(self, answers: pd.DataFrame) -> pd.DataFrame:
        """Return one E-step with the model's tables, task x label."""
        model, columns = self.model, self.model.priors_.index
        coded = encode(answers, labels=columns)
        k = len(columns)
        errors = model.errors_.to_numpy().reshape(-1, k, k)
        place = place_in(model.skills_.index, coded.workers)
        log_errors = np.log(
            np.maximum(np.where((place >= 0)[:, None, None], errors[place], errors.mean(axis=0)), 1e-300)
        )
        step: NDArray[np.float64] = log_errors[coded.worker, coded.label]
        joint = np.add.reduceat(step, np.asarray(coded.starts[:-1], dtype=np.int64), axis=0)
        joint = joint + np.log(np.maximum(model.priors_.to_numpy(), 1e-300))
        joint = np.exp(joint - joint.max(axis=1, keepdims=True))
        return pd.DataFrame(joint / joint.sum(axis=1, keepdims=True), index=coded.tasks, columns=columns)

    def _settings(self) -> dict[str, Any]:
        tables = hashlib.sha256(self.model.errors_.to_numpy().tobytes() + self.model.priors_.to_numpy().tobytes())
        return {"threshold": self.threshold, "rule": repr(self.rule), "model": tables.hexdigest()}
