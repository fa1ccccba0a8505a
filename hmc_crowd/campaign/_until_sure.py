"""Whose label is sure, so that nobody is asked again about it?

With ``most`` each question is first asked ``redundancy`` times, and then once more a round while its label is not sure,
up to ``most``. Sure is decided anew at each publishing from all that is known by then (`sure_labels`: Dawid-Skene
without the gold, calibrated on the gold): what a guideline or an exclusion took away is asked again.

The certificate stays as valid as before. Audited items get ``most`` answers from the first round on, whatever these
say: how often somebody was asked about them depends neither on the answers nor on the machine's label, so the audit is
still a random draw of what the machine kept, judged in one way. Routed items count as people's however many were asked.
Who else is asked depends on answers that are kept alone, so that what is missing may be ignored in learning how good
workers are (Rubin 1976). What stopping early changes is another question, answered by `certify_stopping`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation import sure_labels
from hmc_crowd.aggregation._sure import gold_needed  # because a plan must know it before there are answers
from hmc_crowd.campaign._aspects import LABELLED
from hmc_crowd.campaign._data import known_labels
from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from hmc_crowd.aggregation import SureLabels
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = ["ERROR", "UntilSure", "check_most", "setting_of", "until_sure"]

ERROR = 0.05


@dataclass(frozen=True)
class UntilSure:
    """Which questions are sure, as of now.

    Parameters
    ----------
    most : int
        Most answers to a question.
    error : float
        Most chance of a wrong label of a sure one.
    aspects : tuple of str
        Questions with labels: of the others everybody gets ``redundancy`` answers.
    sure : pandas.MultiIndex
        ``item, aspect`` of those that are sure.
    found : mapping
        What `sure_labels` said, by aspect.
    why_none : tuple of str
        Why nothing about an aspect can be sure.
    """

    most: int
    error: float
    aspects: tuple[str, ...]
    sure: pd.MultiIndex
    found: Mapping[str, SureLabels]
    why_none: tuple[str, ...]

    def needed(
        self, units: pd.DataFrame, given: NDArray[np.int64], coming: NDArray[np.int64], redundancy: int
    ) -> NDArray[np.int64]:
        """Return how many more answers each unit (``item, aspect, destination``) is asked for now."""
        have = given + coming
        first = np.maximum(0, redundancy - have)
        # While answers are under way nobody knows yet whether more are needed.
        again = (first == 0) & (coming == 0) & (given < self.most) & self.may_stop(units) & ~self.is_sure(units)
        needed = np.where(again, 1, first)
        return np.where(_audited(units), np.maximum(0, self.most - have), needed)

    def may_stop(self, units: pd.DataFrame) -> NDArray[np.bool_]:
        """Say which units are asked until they are sure: choices about what was routed to people."""
        return units["aspect"].isin(self.aspects).to_numpy(dtype=bool) & ~_audited(units)

    def is_limited(self, units: pd.DataFrame) -> NDArray[np.bool_]:
        """Say which units have their number of answers from here: what may stop, and what is audited."""
        return self.may_stop(units) | _audited(units)

    def is_sure(self, units: pd.DataFrame) -> NDArray[np.bool_]:
        """Say which units are sure."""
        return np.asarray(pd.MultiIndex.from_frame(units[["item", "aspect"]]).isin(self.sure), dtype=bool)


def check_most(most: int | None, redundancy: int, error: float) -> None:
    """Refuse a limit below the redundancy, and an error that is none."""
    if most is not None and most < redundancy:
        raise InputError(
            f"most is {most} and redundancy {redundancy}; an item gets redundancy answers before it may stop"
        )
    if isinstance(error, bool) or not 0 < error < 0.5:
        raise InputError(
            f"error is {error!r}; give the chance of a wrong label at which asking stops, above 0, below .5"
        )


def setting_of(settings: Mapping[str, Any]) -> tuple[int, float] | None:
    """Return ``most, error`` of the round that was published last; None where all get the same number of answers."""
    most = settings.get("most")
    return None if most is None else (int(most), float(settings.get("stop_error", ERROR)))


def until_sure(
    context: Context, tx: Transaction, setting: tuple[int, float] | None, redundancy: int
) -> UntilSure | None:
    """Decide which questions are sure from the blind answers that count; None where nobody asks."""
    if setting is None:
        return None
    most, error = setting
    answers = tx.work.answers(context.campaign_id, include_excluded=False)
    answers = Versions(context, tx).counting(answers[answers["mode"] == "blind"])
    gold = tx.frames.read(context.campaign_id, "gold")
    labels = tx.labels.read(context.campaign_id)
    kinds = [each for each in tx.campaigns.aspects(context.campaign_id) if each.kind in LABELLED]
    found: dict[str, SureLabels] = {}
    sure: list[pd.DataFrame] = []
    too_few: list[str] = []
    for each in kinds:
        rows = answers[answers["aspect"].astype(str) == each.name]
        known = gold.loc[gold["aspect"].astype(str) == each.name, ["item", "label"]]
        if rows.empty:
            too_few += _too_little(each.name, len(known), error)
            continue
        look = sure_labels(
            rows[["task", "worker", "label", "submitted"]],
            known if len(known) else None,
            error=error,
            rng=context.rng("looks", 0),
            min_answers=redundancy,
            max_answers=most,
            labels=known_labels(context, tx, each) or None,
        )
        found[each.name] = look
        sure.append(_sure_of(look, labels[labels["aspect"].astype(str) == each.name], each))
    every = pd.concat(sure) if sure else pd.DataFrame({"item": [], "aspect": []}, dtype=object)
    why = (*too_few, *(f"{name}: {each.why_none}" for name, each in found.items() if each.why_none))
    index = pd.MultiIndex.from_frame(every[["item", "aspect"]])
    return UntilSure(most, error, tuple(each.name for each in kinds), index, found, why)


def _too_little(aspect: str, gold: int, error: float) -> list[str]:
    """Say before anybody has answered that nothing will be sure, if so."""
    needed = gold_needed(error)
    if gold >= needed:
        return []
    return [
        f"{aspect}: {gold:,} gold items are known, and {needed:,} must have answers before a label can be called sure "
        f"at an error of {error:g}; until then everything is asked as often as it may be"
    ]


def _sure_of(look: SureLabels, labels: pd.DataFrame, aspect: AspectRecord) -> pd.DataFrame:
    """Return the sure items of one aspect: what an expert settled, and what is delivered with the sure label.

    A method other than Dawid-Skene may have made another label of the same answers: that one is not sure.
    """
    stored = labels.set_index("item")
    said = look.frame.loc[look.frame["is_sure"], "label"]
    kept = stored["label"].reindex(said.index)
    same = said.index[(kept.isna() | (kept.astype(object) == said.astype(object))).to_numpy(dtype=bool)]
    settled = stored.index[(stored["source"] == "expert").to_numpy(dtype=bool)]
    return pd.DataFrame({"item": same.union(settled).astype(object)}).assign(aspect=aspect.name)


def _audited(units: pd.DataFrame) -> NDArray[np.bool_]:
    return (units["destination"].astype(str) == "audit").to_numpy(dtype=bool)
