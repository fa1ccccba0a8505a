"""May this person take part? A test with a version, a passing mark, attempts and a delay; and the funnel.

A version of a test never changes: who passed it passed it, and a new text or key is a new version. Training items are
answered with feedback and never count. The default mark is the one of HREF, nine of ten.

Source: Lyu et al. (2024), "HREF" (at least 9 of 10 easy pairs; 50 tried, 16 recruited); requirement C34.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.quality._gold_scores import beta_interval
from hmc_crowd.quality._matching import same_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Attempt", "Permission", "QualificationTest", "qualification_funnel"]


@dataclass(frozen=True)
class QualificationTest:
    """One version of a test.

    Parameters
    ----------
    name : str
    version : int
        At least 1.
    key : mapping
        Item -> right label; these count.
    training : mapping, optional
        Item -> right label of items that are shown before, with feedback; they never count.
    pass_share : float, default 0.9
        Share of right answers that passes, in (0, 1]: nine of ten.
    attempts : int, default 1
        How often a person may try this version.
    delay_s : float, default 0
        Seconds between the end of an attempt and the next.

    Examples
    --------
    >>> test = QualificationTest("malevolence", 1, {f"q{i}": "no" for i in range(10)})
    >>> test.pass_right  # of 10
    9
    """

    name: str
    version: int
    key: Mapping[Any, Any]
    training: Mapping[Any, Any] | None = None
    pass_share: float = 0.9
    attempts: int = 1
    delay_s: float = 0.0

    def __post_init__(self) -> None:
        if not self.name.strip() or self.version < 1:
            raise InputError(f"name is {self.name!r}, version is {self.version}; give a name, and versions from 1 on")
        if not self.key:
            raise InputError(f"key of test {self.name!r} is empty; give at least one item with its right label")
        blank = [item for item, label in {**self.key, **(self.training or {})}.items() if _is_blank(label)]
        if blank:
            raise InputError(f"test {self.name!r} has no right label for {blank[0]!r}; give each item its label")
        both = sorted(map(str, set(self.key) & set(self.training or {})))
        if both:
            raise InputError(f"items of test {self.name!r} are for training and counted: {', '.join(both[:5])}")
        if not 0 < self.pass_share <= 1:
            raise InputError(f"pass_share is {self.pass_share!r}; give a share above 0, at most 1, such as 0.9")
        if self.attempts < 1 or not 0 <= self.delay_s < math.inf:
            raise InputError(f"attempts is {self.attempts}, delay_s is {self.delay_s}; give at least 1, and 0 or more")

    @property
    def pass_right(self) -> int:
        """Right answers that pass: the share of the items, rounded up."""
        return math.ceil(self.pass_share * len(self.key) - 1e-9)

    def mark(self, worker: str, answers: Mapping[Any, Any], *, at: datetime, earlier: Sequence[Attempt]) -> Attempt:
        """Mark one attempt.

        Parameters
        ----------
        worker : str
        answers : mapping
            Item -> label; missing items are wrong, training items are ignored, others refused.
        at : aware datetime
        earlier : sequence of Attempt
            What this and other workers did before; others' are ignored.

        Raises
        ------
        StateError
            The worker may not try (again, or yet), see `may_try`.
        """
        permission = self.may_try(worker, at=at, earlier=earlier)
        if not permission:
            raise StateError(f"{worker!r} may not take test {self.name!r}: {permission.reason}")
        strange = [item for item in answers if item not in self.key and item not in (self.training or {})]
        if strange:
            raise InputError(f"answers name {strange[0]!r}, which test {self.name!r} version {self.version} lacks")
        right = sum(item in answers and same_label(answers[item], label) for item, label in self.key.items())
        number = len(self._of(worker, earlier)) + 1
        passed = right >= self.pass_right
        return Attempt(worker, self.name, self.version, number, right, len(self.key), passed, as_utc(at, name="at"))

    def may_try(self, worker: str, *, at: datetime, earlier: Sequence[Attempt]) -> Permission:
        """Say whether a worker may take this version now, and if not, why and from when on.

        Examples
        --------
        >>> from datetime import UTC
        >>> test = QualificationTest("easy", 1, {"q": "yes"}, attempts=2, delay_s=3600)
        >>> noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
        >>> first = test.mark("ann", {"q": "no"}, at=noon, earlier=[])
        >>> test.may_try("ann", at=noon, earlier=[first]).not_before.isoformat()
        '2026-01-05T13:00:00+00:00'
        """
        mine = self._of(worker, earlier)
        if any(each.passed for each in mine):
            return Permission(False, f"version {self.version} is passed already")
        if len(mine) >= self.attempts:
            return Permission(False, f"all {self.attempts} attempts at version {self.version} are used")
        if mine:
            ready = max(each.at for each in mine) + timedelta(seconds=self.delay_s)
            if as_utc(at, name="at") < ready:
                return Permission(False, f"the next attempt is from {ready:%Y-%m-%d %H:%M} UTC on", ready)
        return Permission(True, f"attempt {len(mine) + 1} of {self.attempts}")

    def is_qualified(self, worker: str, attempts: Sequence[Attempt], *, also: Sequence[int] = ()) -> bool:
        """Say whether a worker passed this version, or one of the earlier versions that still count."""
        versions = {self.version, *also}
        return any(
            each.passed and each.worker == worker and each.test == self.name and each.version in versions
            for each in attempts
        )

    def _of(self, worker: str, attempts: Sequence[Attempt]) -> list[Attempt]:
        mine = (worker, self.name, self.version)
        return [each for each in attempts if (each.worker, each.test, each.version) == mine]


@dataclass(frozen=True)
class Attempt:
    """One marked attempt: the row of the history."""

    worker: str
    test: str
    version: int
    number: int
    right: int
    n: int
    passed: bool
    at: datetime

    @property
    def score(self) -> float:
        """Share right."""
        return self.right / self.n


@dataclass(frozen=True)
class Permission:
    """Whether a worker may try; true or false itself. ``not_before`` says from when on, where waiting helps."""

    allowed: bool
    reason: str
    not_before: datetime | None = None

    def __bool__(self) -> bool:
        return self.allowed


def _is_blank(label: Any) -> bool:
    return label is None or label != label or (isinstance(label, str) and not label.strip())


def qualification_funnel(stages: Mapping[str, int], *, level: float = 0.95) -> pd.DataFrame:
    """Return how many people reached each stage, and what share of those before.

    Parameters
    ----------
    stages : mapping
        Stage -> people, in order, never rising: for example ``{"tried": 50, "passed": 20, "recruited": 16}``.
    level : float, default 0.95
        Of the beta interval on each share.

    Returns
    -------
    pandas.DataFrame
        ``stage, people, share, low, high, of_first``; the first stage has no share.

    Examples
    --------
    HREF's, 16 of 50:

    >>> qualification_funnel({"tried": 50, "recruited": 16})[["stage", "people", "of_first"]].to_dict("records")[1]
    {'stage': 'recruited', 'people': 16, 'of_first': 0.32}
    """
    if len(stages) < 1:
        raise InputError("stages is empty; give at least one stage with its people")
    names, people = list(stages), np.array(list(stages.values()))
    if people.min() < 0 or (np.diff(people) > 0).any():
        raise InputError(f"stages is {dict(stages)}; people of later stages are some of the earlier ones, never more")
    before = np.concatenate([people[:1], people[:-1]])
    low, high = beta_interval(people, before, level=level, prior=(1.0, 1.0))
    share = np.divide(people, before, out=np.full(len(people), np.nan), where=before > 0)
    found = pd.DataFrame({"stage": names, "people": people, "share": share, "low": low, "high": high})
    found.loc[0, ["share", "low", "high"]] = np.nan
    found["of_first"] = people / people[0] if people[0] else np.nan
    return found
