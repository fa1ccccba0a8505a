"""What does a gate know of an item before anybody has answered it? Features that the endpoint itself computes.

Sources: requirement D20, first version of the rules (risk, quality .7, complexity .8), asked here at the door; LIX,
Björnsson (1968), for the complexity of a text, from its words alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any, Protocol

from hmc_crowd.errors import InputError

__all__ = ["WHOEVER_HAS_IT", "EntryGate", "Features", "RuleEntry", "complexity_of"]

# Reasons that take an item from the machine too: what a mistake would cost does not hang on who would make it.
WHOEVER_HAS_IT = frozenset({"high_risk", "risk", "unknown_risk"})

_SENTENCE_END = re.compile(r"[.!?:…。！？]+")
_LONG_WORD = 6
_EASY, _HARD = 20.0, 60.0
# Texts without blanks between their words (Chinese, Thai) have no LIX.
_LONGEST_MEAN_WORD = 15


@dataclass(frozen=True)
class Features:
    """What is known of one item.

    Parameters
    ----------
    text_length : int
        Characters.
    complexity : float, optional
        In [0, 1]; the sender's own, or that of the text.
    risk : {"low", "medium", "high"} or None
        The sender's; None where it says nothing.
    urgency : int
        From 1 to 5.
    worker_quality : float, optional
        Mean score on gold of the campaign's people; not known before gold was checked.
    """

    text_length: int
    complexity: float | None
    risk: str | None
    urgency: int
    worker_quality: float | None

    def shown(self) -> dict[str, Any]:
        """Return the features as JSON."""
        # Not asdict(), which copies deeply and would be a tenth of a single decision's time.
        return {name: getattr(self, name) for name in _FIELDS}


_FIELDS = tuple(each.name for each in fields(Features))


class EntryGate(Protocol):
    """Anything that says whether an item must go to an expert at once, and why.

    The reasons ``high_risk``, ``risk`` and ``unknown_risk`` hold whoever would have the item, the machine too; others
    only for what people judge.
    """

    def __call__(self, features: Features) -> str | None:
        """Return a reason, or None where the crowd may judge the item."""
        ...


@dataclass(frozen=True)
class RuleEntry:
    """Fixed thresholds; a rule set to None is left out.

    Parameters
    ----------
    risk : {"medium", "high"} or None, default "high"
        Items of this risk, a higher one or an unknown one go to an expert, also those that the machine would keep.
    complexity : float or None, default 0.8
        As do those whose complexity is above.
    quality : float or None, default 0.7
        As do all, while the people's mean quality is below. An unknown complexity or quality breaks no rule.

    Examples
    --------
    >>> RuleEntry()(Features(10, 0.1, "high", 3, None))
    'high_risk'
    >>> RuleEntry()(Features(10, 0.1, "low", 3, 0.9)) is None
    True
    """

    risk: str | None = "high"
    complexity: float | None = 0.8
    quality: float | None = 0.7

    def __post_init__(self) -> None:
        if self.risk not in {None, "medium", "high"}:
            raise InputError(f"risk is {self.risk!r}; give 'medium', 'high' or None")

    def __call__(self, features: Features) -> str | None:
        """Return a reason, or None where the crowd may judge the item."""
        if self.risk is not None and features.risk is None:
            return "unknown_risk"
        if self.risk is not None and features.risk in {self.risk, "high"}:
            return "high_risk" if features.risk == "high" else "risk"
        if self.complexity is not None and features.complexity is not None and features.complexity > self.complexity:
            return "complex"
        if self.quality is not None and features.worker_quality is not None and features.worker_quality < self.quality:
            return "low_quality"
        return None


def complexity_of(text: str) -> float | None:
    """Return how hard a text is to read, in [0, 1], from the length of its sentences and words; None without words.

    Examples
    --------
    >>> complexity_of("It is so. We go on.")
    0.0
    >>> complexity_of("Notwithstanding contradictory interpretations, constitutional guarantees persist.")
    1.0
    """
    words = text.split()
    if not words or len(text) > _LONGEST_MEAN_WORD * len(words) + _LONGEST_MEAN_WORD:
        return None
    sentences = max(1, len(_SENTENCE_END.findall(text)))
    long = sum(len(word) > _LONG_WORD for word in words)
    lix = len(words) / sentences + 100.0 * long / len(words)
    return min(1.0, max(0.0, (lix - _EASY) / (_HARD - _EASY)))
