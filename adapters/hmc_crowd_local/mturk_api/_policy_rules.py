"""The arithmetic of review policies: percentages of known answers met, and of workers who agree.

Source: AWS's descriptions of ScoreMyKnownAnswers/2011-09-01 and SimplePlurality/2011-09-01.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd_local.mturk_api._problems import invalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Plurality", "Policy", "known_answer_score", "plurality"]

_COMMON = ("ApproveReason", "RejectReason", "ExtendMaximumAssignments", "ExtendMinimumTimeInSeconds")
_SCORES = {
    "Assignment": (
        "ApproveIfKnownAnswerScoreIsAtLeast",
        "RejectIfKnownAnswerScoreIsLessThan",
        "ExtendIfKnownAnswerScoreIsLessThan",
    ),
    "HIT": (
        "QuestionAgreementThreshold",
        "DisregardAssignmentIfKnownAnswerScoreIsLessThan",
        "ExtendIfHITAgreementScoreIsLessThan",
        "ApproveIfWorkerAgreementScoreIsAtLeast",
        "RejectIfWorkerAgreementScoreIsLessThan",
    ),
}
_NAMES = {"Assignment": "ScoreMyKnownAnswers/2011-09-01", "HIT": "SimplePlurality/2011-09-01"}
_OTHERS = {"Assignment": ("AnswerKey",), "HIT": ("QuestionIds", "DisregardAssignmentIfRejected")}
_MOST_QUESTIONS = 15
_WHOLE = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class Policy:
    """A review policy as a request has it, checked."""

    level: str
    values: Mapping[str, Sequence[str]]
    answer_key: Mapping[str, frozenset[str]]

    @classmethod
    def read(cls, document: Mapping[str, Any], *, level: str, name: str) -> Policy:
        """Check a policy document; refuse what this level does not know."""
        if document["PolicyName"] != _NAMES[level]:
            raise invalid(f"{name} has PolicyName {document['PolicyName']!r}; it must be {_NAMES[level]}")
        known = {*_COMMON, *_SCORES[level], *_OTHERS[level]}
        values: dict[str, Sequence[str]] = {}
        key: dict[str, frozenset[str]] = {}
        for each in document.get("Parameters", []):
            if each.get("Key") not in known:
                raise invalid(f"{name} has the parameter {each.get('Key')!r}; known are {', '.join(sorted(known))}")
            values[each["Key"]] = tuple(each.get("Values", ()))
            if each["Key"] == "AnswerKey":
                entries = each.get("MapEntries", [])
                if not all(entry.get("Key") and entry.get("Values") for entry in entries):
                    raise invalid(f"{name} has a MapEntries without Key or Values; each needs both")
                key = {entry["Key"]: frozenset(entry["Values"]) for entry in entries}
        policy = cls(level, values, key)
        policy._check(name)
        return policy

    def _check(self, name: str) -> None:
        for each in (*_SCORES[self.level], "ExtendMaximumAssignments", "ExtendMinimumTimeInSeconds"):
            if each in self.values and not (len(self.values[each]) == 1 and _WHOLE.fullmatch(self.values[each][0])):
                raise invalid(f"{name} has {each} {list(self.values[each])}; give one whole number")
        needed = "answer_key" if self.level == "Assignment" else "question_ids"
        if not getattr(self, needed):
            raise invalid(f"{name} lacks {'AnswerKey' if needed == 'answer_key' else 'QuestionIds'}")
        if self.level == "HIT" and "QuestionAgreementThreshold" not in self.values:
            raise invalid(f"{name} lacks QuestionAgreementThreshold")
        if len(self.question_ids) > _MOST_QUESTIONS:
            raise invalid(f"{name} has {len(self.question_ids)} QuestionIds, at most {_MOST_QUESTIONS} are allowed")
        extends = any(each.startswith("ExtendIf") for each in self.values)
        if extends and not {"ExtendMaximumAssignments", "ExtendMinimumTimeInSeconds"} <= set(self.values):
            raise invalid(f"{name} extends; it needs ExtendMaximumAssignments and ExtendMinimumTimeInSeconds")

    @property
    def question_ids(self) -> Sequence[str]:
        """The questions that SimplePlurality looks at."""
        return self.values.get("QuestionIds", ())

    def number(self, name: str) -> int | None:
        """Return a whole number, or None where it is not given."""
        return int(self.values[name][0]) if name in self.values else None

    def text(self, name: str) -> str | None:
        """Return a text, or None where it is not given."""
        return next(iter(self.values.get(name, ())), None)

    def flag(self, name: str) -> bool:
        """Return whether something is set to true."""
        return (self.text(name) or "").lower() in {"true", "t", "yes", "1"}


def known_answer_score(key: Mapping[str, frozenset[str]], given: Mapping[str, set[str]]) -> tuple[int, dict[str, bool]]:
    """Return the percentage of known answers that were met, whole percent, and which.

    >>> known_answer_score({"a": frozenset({"1"}), "b": frozenset({"2"}), "c": frozenset({"3"})}, {"a": {"1"}})[0]
    33
    """
    right = {question: given.get(question) == set(values) for question, values in key.items()}
    return 100 * sum(right.values()) // len(right), right


@dataclass(frozen=True)
class Plurality:
    """What the workers agree on: by question its share and the agreed answer, and the scores of HIT and workers."""

    questions: Mapping[str, tuple[int, frozenset[str] | None]]
    hit_score: int
    worker_scores: Mapping[str, int]


def plurality(
    given: Mapping[str, Mapping[str, set[str]]], questions: Sequence[str], threshold: int | None
) -> Plurality:
    """Find agreed answers: an answer is agreed when more than ``threshold`` percent of the assignments gave it."""
    found: dict[str, tuple[int, frozenset[str] | None]] = {}
    for question in questions:
        answers = [frozenset(each[question]) for each in given.values() if question in each]
        best, times = most_common(answers)
        share = 100 * times // len(given) if given else 0
        found[question] = (share, best if share > (threshold or 0) else None)
    agreed = {question: answer for question, (_, answer) in found.items() if answer is not None}
    scores = {
        name: 100 * sum(each.get(question) == set(answer) for question, answer in agreed.items()) // len(agreed)
        if agreed
        else 0
        for name, each in given.items()
    }
    return Plurality(found, 100 * len(agreed) // len(questions), scores)


def most_common(answers: list[frozenset[str]]) -> tuple[frozenset[str] | None, int]:
    """Return the answer given most often (the smallest text of equal ones) and how often."""
    if not answers:
        return None, 0
    counts = Counter(answers)
    best = min(counts, key=lambda each: (-counts[each], sorted(each)))
    return best, counts[best]
