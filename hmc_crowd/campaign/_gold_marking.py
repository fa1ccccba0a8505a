"""When is an answer to a known question right? By the kind of question: the label, near enough, or the meaning.

Labels and pairs must be the known one. Ratings may be off by a tolerance, since people who know the scale differ by a
step: by default one step on an ordinal scale of five labels or more and none on a shorter one, a tenth of the range of
a number, no label of a set. A tolerance makes guessing easier too (always the middle of five is right on three fifths
of balanced gold), so `best_guess` says what the best guess reaches. Texts are compared by meaning where an encoder is
given, and count for nobody where none is.

Source: requirements D10 and D11.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.errors import InputError
from hmc_crowd.quality import exact_marks, semantic_marks, tolerance_marks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

    Encoder = str | Callable[[Sequence[str]], ArrayLike]

__all__ = ["GoldRule", "Meaning", "best_guess", "gold_rules", "set_tolerance"]

_SETTING = "gold_tolerance"
_TOLERANT = {"ordinal": "steps of the scale", "numeric": "its unit", "multi_label": "labels that may differ"}
# A scale of so many labels is long enough for people who know it to differ by a step.
_LONG = 5


@dataclass(frozen=True)
class Meaning:
    """How texts are compared: by whose vectors, and from which similarity in [0, 1] on an answer is right."""

    encoder: Encoder
    similar: float = 0.7

    def __post_init__(self) -> None:
        if not 0 < self.similar <= 1:
            raise InputError(f"similar is {self.similar!r}; give a share above 0 and at most 1: unrelated is near .5")

    def marks(self, answers: Sequence[str], gold: Sequence[str]) -> NDArray[np.float64]:
        """Return the similarity of each answer to its gold text; each different pair is worked out once."""
        pairs = pd.DataFrame({"said": answers, "known": gold})
        different = pairs.drop_duplicates(ignore_index=True)
        marks = semantic_marks(different["said"].tolist(), different["known"].tolist(), encode=self._encode())
        merged = pairs.merge(different.assign(mark=marks), on=["said", "known"], how="left")
        found: NDArray[np.float64] = merged["mark"].to_numpy(dtype=np.float64)
        return found

    def _encode(self) -> Callable[[Sequence[str]], ArrayLike]:
        if not isinstance(self.encoder, str):
            return self.encoder
        from hmc_crowd.confidence.text import TextEncoder

        encode: Callable[[Sequence[str]], ArrayLike] = TextEncoder(self.encoder).transform
        return encode


@dataclass(frozen=True)
class GoldRule:
    """When an answer to gold of an aspect is right.

    Parameters
    ----------
    aspect, kind : str
    labels : tuple of str
        Of an ordinal aspect, in order.
    tolerance : float
        Difference that is still right: steps of an ordinal scale, a number's own unit, labels of a set that differ.
    is_default : bool
        Whether nobody has set it.
    """

    aspect: str
    kind: str
    labels: tuple[str, ...]
    tolerance: float
    is_default: bool = True

    def __str__(self) -> str:
        if self.kind == "text":
            return f"{self.aspect}: by meaning, where an encoder is given"
        if self.kind not in _TOLERANT or self.tolerance == 0:
            return f"{self.aspect}: the known label alone is right"
        unit = {"ordinal": f" of {len(self.labels)} steps", "multi_label": " labels may differ"}.get(self.kind, "")
        return f"{self.aspect}: right within {self.tolerance:g}{unit}{' (by default)' if self.is_default else ''}"

    def is_right(
        self, answers: Sequence[Any], gold: Sequence[Any], meaning: Meaning | None = None
    ) -> NDArray[np.bool_]:
        """Return whether each answer is right; without an encoder only the same text is.

        Examples
        --------
        >>> rule = GoldRule("rating", "ordinal", ("1", "2", "3", "4", "5"), 1.0)
        >>> rule.is_right(["4", "1", None], ["5", "5", "5"]).tolist()
        [True, False, False]
        """
        same = exact_marks(answers, gold) > 0
        if self.kind == "text" and meaning is not None:
            same[~same] = self._by_meaning(answers, gold, ~same, meaning)
        elif self.kind in {"ordinal", "numeric"} and self.tolerance > 0:
            number = self._rank if self.kind == "ordinal" else _number
            known = np.array([number(each) for each in gold], dtype=np.float64)
            near = tolerance_marks(
                [number(each) for each in answers], np.nan_to_num(known), tolerance=self.tolerance * (1 + 1e-9)
            )
            same |= (near > 0) & ~np.isnan(known)
        elif self.kind == "multi_label" and self.tolerance > 0:
            off = [len(_chosen(said) ^ _chosen(known)) for said, known in zip(answers, gold, strict=True)]
            same |= (np.array(off, dtype=float) <= self.tolerance) & ~pd.isna(np.array(answers, dtype=object))
        return same

    def _by_meaning(
        self, answers: Sequence[Any], gold: Sequence[Any], rows: NDArray[np.bool_], meaning: Meaning
    ) -> NDArray[np.bool_]:
        asked = np.flatnonzero(rows).tolist()
        said = ["" if pd.isna(answers[row]) else str(answers[row]) for row in asked]
        return meaning.marks(said, [str(gold[row]) for row in asked]) >= meaning.similar - 1e-12

    def _rank(self, label: Any) -> float:
        return float(self.labels.index(label)) if label in self.labels else math.nan


def gold_rules(context: Context, tx: Transaction) -> dict[str, GoldRule]:
    """Return the rule of each aspect, by its name."""
    set_ = context.settings_in(tx).get(_SETTING, {})
    rules = {}
    for each in tx.campaigns.aspects(context.campaign_id):
        own = set_.get(each.name)
        tolerance = _default(context, tx, each) if own is None else float(own)
        rules[each.name] = GoldRule(each.name, each.kind, tuple(each.labels), tolerance, own is None)
    return rules


def set_tolerance(context: Context, tolerance: float | None, aspect: str | None) -> GoldRule:
    """Set how far an answer to gold may be off and still count as right; None brings the default back."""
    record = context.aspect(aspect)
    if record.kind not in _TOLERANT:
        raise InputError(
            f"aspect {record.name!r} is {record.kind}, whose labels are right or wrong; a tolerance is for ordinal, "
            "numeric and multi-label aspects"
        )
    if tolerance is not None and (isinstance(tolerance, bool) or not 0 <= tolerance < math.inf):
        raise InputError(f"tolerance is {tolerance!r}; give {_TOLERANT[record.kind]}, at least 0, or None")
    if tolerance is not None and record.kind == "ordinal" and tolerance >= len(record.labels) - 1:
        raise InputError(
            f"tolerance is {tolerance!r} on a scale of {len(record.labels)} labels, where every answer would be right; "
            f"give less than {len(record.labels) - 1}"
        )
    with context.store.begin() as tx:
        settings = tx.campaigns.settings_to_change(context.campaign_id)
        kept = {name: value for name, value in settings.get(_SETTING, {}).items() if name != record.name}
        if tolerance is not None:
            kept[record.name] = float(tolerance)
        tx.campaigns.save_settings(context.campaign_id, {**settings, _SETTING: kept})
        context.log(tx, "gold tolerance", aspect=record.name, tolerance=tolerance)
        return gold_rules(context, tx)[record.name]


def best_guess(rule: GoldRule, gold: Sequence[str]) -> tuple[str, float]:
    """Return the answer that is right most often if it is always given, and how often that is.

    Examples
    --------
    >>> best_guess(GoldRule("rating", "ordinal", ("1", "2", "3", "4", "5"), 1.0), ["1", "2", "3", "4", "5"])
    ('2', 0.6)
    """
    known = pd.Series(list(gold), dtype=object).value_counts().sort_index()
    if rule.kind == "text" or known.empty:
        return "", 0.0
    labels = rule.labels if rule.kind == "ordinal" else [str(each) for each in known.index]
    found = [
        float(known.to_numpy()[rule.is_right([label] * len(known), known.index.tolist())].sum()) for label in labels
    ]
    best = int(np.argmax(found))
    return labels[best], found[best] / float(known.sum())


def _default(context: Context, tx: Transaction, record: AspectRecord) -> float:
    if record.kind == "ordinal":
        return 1.0 if len(record.labels) >= _LONG else 0.0
    if record.kind != "numeric":
        return 0.0
    ends = [_number(each) for each in record.labels]
    if not ends:
        gold = tx.frames.read(context.campaign_id, "gold", aspect=record.name, columns=["label"])["label"]
        ends = [_number(each) for each in gold]
    ends = [each for each in ends if not math.isnan(each)]
    return (max(ends) - min(ends)) / 10 if ends else 0.0


def _number(label: Any) -> float:
    try:
        return float(label)
    except (TypeError, ValueError):
        return math.nan


def _chosen(label: Any) -> frozenset[str]:
    """Return the labels of a set as it is stored, a JSON list."""
    try:
        found = json.loads(label)
    except (TypeError, ValueError):
        found = None
    return frozenset(found) if isinstance(found, list) else frozenset((str(label),))
