"""Does this item need an expert? One question, several ways to answer it, and always the reason.

Guarantee: an item without an answer, or with a tie, goes to an expert whatever the gate; so does one about which a gate
knows too little. No gate accepts silently what it could not judge.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from hmc_crowd.quality._gate_evidence import gate_evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from hmc_crowd.quality._gate_evidence import GateEvidence

__all__ = ["Decision", "Decisions", "ExpertGate", "GateBase", "Verdict"]

ACCEPTED = "accepted"
NO_ANSWERS, TIE = "no_answers", "tie"


@dataclass(frozen=True)
class Decision:
    """What becomes of one item.

    Parameters
    ----------
    item : object
    needs_expert : bool
    reason : str
        A code for programs, such as ``high_risk``; ``accepted`` where the crowd's label stands.
    evidence : str
        The figures behind it, in words.
    label : object
        The crowd's label; None where there is none.
    gate, version : str
        What decided, and a hash of its settings.
    """

    item: Any
    needs_expert: bool
    reason: str
    evidence: str
    label: Any
    gate: str
    version: str

    def __str__(self) -> str:
        return f"{self.item}: {'to an expert' if self.needs_expert else 'accepted'} ({self.reason}; {self.evidence})"


@dataclass(frozen=True)
class Verdict:
    """Decisions of a gate as arrays, one row per item; ``score`` rises with the need of an expert.

    A gate with labels of its own gives them, and where they are tied; else those of the evidence hold.
    """

    needs_expert: NDArray[np.bool_]
    reason: NDArray[np.object_]
    score: NDArray[np.float64]
    label: NDArray[np.object_] | None = None
    tied: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Decisions:
    """Decisions about many items.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns ``item, needs_expert, reason, evidence, label, agreement, n_answers, tied, score``; ``score`` orders the
        items by their need of an expert where the gate has such an order.
    gate, version : str
        What decided, and a hash of its settings.
    """

    frame: pd.DataFrame
    gate: str
    version: str

    @property
    def n_expert(self) -> int:
        """Items that go to an expert."""
        return int(self.frame["needs_expert"].sum())

    def reasons(self) -> dict[str, int]:
        """Return how often each reason was given."""
        return {str(name): int(n) for name, n in self.frame["reason"].value_counts().sort_index().items()}

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table."""
        return self.frame.copy()

    def __len__(self) -> int:
        return len(self.frame)

    def __str__(self) -> str:
        share = self.n_expert / len(self) if len(self) else 0.0
        return f"{self.gate}: {self.n_expert:,} of {len(self):,} items ({share:.1%}) go to an expert"


class ExpertGate(Protocol):
    """Anything that says which items need an expert."""

    name: str

    @property
    def version(self) -> str:
        """A hash of the settings."""

    def needs_expert(self, item: Any, answers: Any, workers: Any = None) -> Decision:
        """Decide about one item."""

    def decide(self, items: pd.DataFrame | None, answers: pd.DataFrame, workers: Any = None) -> Decisions:
        """Decide about many."""


class GateBase(ABC):
    """What all gates share: the two forms of the question, and the cases in which none may accept."""

    name: str = "gate"
    weighted: bool = False
    n_labels: int = 0

    @property
    def version(self) -> str:
        """A hash of the settings: the same settings decide the same."""
        text = json.dumps([self.name, self._settings()], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def needs_expert(self, item: Any, answers: Any, workers: Any = None) -> Decision:
        """Decide about one item; for many, `decide` is some hundred times faster.

        Parameters
        ----------
        item : str or mapping
            Its name, or its columns with ``item`` among them; see `decide`.
        answers : pandas.DataFrame or sequence of mapping
            The answers to it: ``worker, label``, optionally ``task, confidence, submitted``.
        workers : pandas.DataFrame, pandas.Series or mapping, optional
            Quality by worker; .5 where it is not known.
        """
        row = dict(item) if isinstance(item, Mapping) else {"item": item}
        rows = answers if isinstance(answers, pd.DataFrame) else pd.DataFrame(list(answers))
        if not len(rows):
            rows = pd.DataFrame(columns=["task", "worker", "label"])
        elif "task" not in rows.columns:
            rows = rows.assign(task=row.get("item"))
        found = self.decide(pd.DataFrame([row]), rows, workers)
        one = found.frame.iloc[0]
        return Decision(
            item=one["item"],
            needs_expert=bool(one["needs_expert"]),
            reason=str(one["reason"]),
            evidence=str(one["evidence"]),
            label=one["label"],
            gate=found.gate,
            version=found.version,
        )

    def decide(self, items: pd.DataFrame | None, answers: pd.DataFrame, workers: Any = None) -> Decisions:
        """Decide about many items at once.

        Parameters
        ----------
        items : pandas.DataFrame, optional
            Column ``item`` and, where known, ``risk`` (low, medium, high), ``complexity``, ``semantic_complexity`` (in
            [0, 1]), ``urgency`` (1 to 5), ``text`` or ``text_length``; default the items that were answered.
        answers : pandas.DataFrame
            Columns ``task, worker, label``, optionally ``confidence, submitted``.
        workers : pandas.DataFrame, pandas.Series or mapping, optional
            Quality by worker; .5 where it is not known.

        Returns
        -------
        Decisions
            One row per item in the order of ``items``.
        """
        evidence = gate_evidence(items, answers, workers, weighted=self.weighted, n_labels=self.n_labels)
        verdict = self.judge(evidence)
        none = evidence.n_answers == 0
        tied = evidence.tied if verdict.tied is None else verdict.tied
        label = evidence.label if verdict.label is None else verdict.label
        reason = np.where(none, NO_ANSWERS, np.where(tied, TIE, verdict.reason))
        frame = pd.DataFrame(
            {
                "item": evidence.item,
                "needs_expert": verdict.needs_expert | none | tied,
                "reason": reason.astype(object),
                "evidence": self._words(evidence),
                "label": pd.Series(label, dtype=object),
                "agreement": evidence.agreement,
                "n_answers": evidence.n_answers,
                "tied": tied,
                "score": np.where(none | tied, np.inf, verdict.score),
            }
        )
        return Decisions(frame, self.name, self.version)

    def stream(
        self, batches: Iterable[tuple[pd.DataFrame | None, pd.DataFrame]], workers: Any = None
    ) -> Iterator[Decisions]:
        """Decide about batches as they come; one batch is held in memory at a time.

        Parameters
        ----------
        batches : iterable of (items, answers)
            As for `decide`; all answers to an item come in its batch.
        workers : pandas.DataFrame, pandas.Series or mapping, optional

        Yields
        ------
        Decisions
            Of each batch, the same as for all batches at once.
        """
        for items, answers in batches:
            yield self.decide(items, answers, workers)

    @abstractmethod
    def judge(self, evidence: GateEvidence) -> Verdict:
        """Decide by the evidence; ties and items without answers are taken care of afterwards."""

    @abstractmethod
    def _settings(self) -> dict[str, Any]:
        """Return what the decisions depend on."""

    def _words(self, evidence: GateEvidence) -> list[str]:
        """Say the figures behind each decision."""
        return [
            f"{n} answer{'' if n == 1 else 's'}, agreement {agreement:.2f}, worker quality {quality:.2f}"
            if n
            else "no answers"
            for n, agreement, quality in zip(
                evidence.n_answers.tolist(), evidence.agreement.tolist(), evidence.quality.tolist(), strict=True
            )
        ]


def first_reason(rules: Sequence[tuple[str, NDArray[np.bool_]]], n: int) -> NDArray[np.object_]:
    """Return the name of the first rule that holds for each item, or ``accepted``."""
    reason = np.full(n, ACCEPTED, dtype=object)
    for name, holds in reversed(rules):
        reason[holds] = name
    return reason
