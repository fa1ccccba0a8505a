"""By which guideline was this answered? Answers under an earlier one are stale: kept, shown, and asked again.

A page shows the guideline that was in force when its HIT was made, and the HIT remembers which one that was. So an
answer that comes late, from a page of before the change, is as stale as one that came in time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.numbers import whole_number
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import HitItemRecord, HitRecord, Transaction

__all__ = ["GuidelineChanged", "Versions", "set_guideline"]


class Versions:
    """The guideline of each aspect: which is in force, which was the first, and what each says."""

    def __init__(self, context: Context, tx: Transaction) -> None:
        aspects = tx.campaigns.aspects(context.campaign_id)
        history = tx.guidelines.history(context.campaign_id)
        self.current = {each.name: each.guideline_version for each in aspects}
        # HITs of before versions were kept name none: they show the first.
        self.first = dict(self.current)
        for each in reversed(history):
            self.first[each.aspect] = each.version
        self._texts = {(each.aspect, each.version): each.text for each in history}
        self._texts |= {(each.name, each.guideline_version): each.guideline for each in aspects}

    @property
    def has_changed(self) -> bool:
        """Whether any aspect has had two guidelines."""
        return self.current != self.first

    def of(self, item: HitItemRecord) -> str:
        """Return the version that a question's page shows."""
        return item.guideline_version or self.first.get(item.aspect, "")

    def is_stale(self, item: HitItemRecord) -> bool:
        """Whether a question's page shows an earlier guideline."""
        return self.of(item) != self.current.get(item.aspect, "")

    def text(self, record: HitRecord) -> str:
        """Return what the page of a HIT says on how to judge: the guidelines of its aspects, each once."""
        asked = dict.fromkeys((each.aspect, self.of(each)) for each in record.items)
        return "\n\n".join(dict.fromkeys(text for key in asked if (text := self._texts.get(key, ""))))

    def scope(self, uid: str, record: HitRecord) -> str:
        """Return within which scope nobody meets a question twice: a changed guideline makes it another question."""
        later = sorted({(each.aspect, self.of(each)) for each in record.items})
        later = [(aspect, version) for aspect, version in later if version != self.first.get(aspect)]
        return ":".join([uid, *(f"{aspect}={version}" for aspect, version in later)])

    def stale(self, answers: pd.DataFrame) -> NDArray[np.bool_]:
        """Say of each answer whether it was given under an earlier guideline."""
        if not self.has_changed or answers.empty:
            return np.zeros(len(answers), dtype=bool)
        aspects = answers["aspect"].astype(str)
        given = answers["guideline_version"].astype(str)
        given = given.where(given != "", aspects.map(self.first))
        return (given != aspects.map(self.current)).to_numpy(dtype=bool)

    def counting(self, answers: pd.DataFrame) -> pd.DataFrame:
        """Return the answers that are opinions of their own: under the guideline in force, a worker's first to an item.

        A worker's second answer to an item, in a later round, is no second opinion.
        """
        return answers[(answers["retest"] == 0).to_numpy(dtype=bool) & ~self.stale(answers)]


@dataclass(frozen=True)
class GuidelineChanged:
    """A new version in force, and how many answers it made stale."""

    aspect: str
    version: str
    before: str
    stale: int
    open_places: int

    def __str__(self) -> str:
        asked = f"; {self.stale:,} answers under version {self.before} are asked again by the next plan"
        still = f"; {self.open_places:,} places that show it are still open, hmc-crowd stop closes them"
        return (
            f"aspect {self.aspect!r} has guideline version {self.version}"
            f"{asked if self.stale else ''}{still if self.open_places else ''}"
        )


def set_guideline(context: Context, text: str, *, aspect: str | None, version: str | None) -> GuidelineChanged:
    """Put a new text in force; see `Campaign.set_guideline`."""
    from hmc_crowd.campaign._work import open_places

    record = context.aspect(aspect)
    if not text.strip():
        raise InputError("the guideline is empty; say how people are to judge")
    if text.strip() == record.guideline.strip():
        raise InputError(f"this is the guideline of aspect {record.name!r} already; nothing was changed")
    with context.store.begin() as tx:
        known = {record.guideline_version, *(each.version for each in tx.guidelines.history(context.campaign_id))}
        number = version or str(1 + max(_numbers(known), default=len(known)))
        tx.guidelines.change(context.campaign_id, record, version=number, text=text, at=context.clock.now())
        versions = Versions(context, tx)
        answers = tx.work.answers(context.campaign_id, aspect=record.name)
        stale = int(versions.stale(answers).sum())
        places = sum(
            count
            for hit, count in open_places(context, tx)
            if any(each.aspect == record.name and versions.is_stale(each) for each in hit.items)
        )
        context.log(tx, "guideline changed", aspect=record.name, version=number, before=record.guideline_version)
    return GuidelineChanged(record.name, number, record.guideline_version, stale, places)


def _numbers(versions: Iterable[str]) -> list[int]:
    """Return the versions that are plain numbers; a name that only looks like one is a name."""
    found = (whole_number(each, most=10**9) for each in versions)
    return [each for each in found if each is not None]
