"""What did a plan bring, measured against the truth? One report for any plan, and time counted both ways.

The paper's time cost charges an item of a dialogue with its share of the dialogue's time. Whoever judges one turn
must read what comes before it, so a plan that touches most dialogues saves less than that. `touched_groups` counts
it both ways.

Source: Zhang, Ren, de Rijke (2021), section 4.4; the second count is ours.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.metrics import bool_vector, label_codes, macro_scores  # because plans are scored by the metrics part
from hmc_crowd.routing._render import html_table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

__all__ = ["PlanOutcome", "TouchedGroups", "evaluate_plan", "touched_groups"]


@dataclass(frozen=True)
class PlanOutcome:
    """Reliability and effort of a plan, measured. Made by `evaluate_plan`.

    Parameters
    ----------
    precision, recall, f1 : float
        Macro means over the classes, of the final labels.
    accuracy : float
        Share of final labels that agree with the target.
    human_share : float
        Share of the items that people judged.
    effort_share : float
        People's effort on their items / on all items (the paper's time cost); NaN if unknown.
    effort_spent : float
        The same in the unit given (the paper's text says "total time"); NaN if unknown.
    n, human_count, kept_wrong : int
        Items; those that people judged; those that the machine kept and got wrong.
    method : str
        How the figures are computed.
    assumptions : tuple of str
        What must hold for the figures to mean what they say.
    """

    precision: float
    recall: float
    f1: float
    accuracy: float
    human_share: float
    effort_share: float
    effort_spent: float
    n: int
    human_count: int
    kept_wrong: int
    method: str = "final label: people's where they judged, the machine's elsewhere; macro means"
    assumptions: tuple[str, ...] = ("people's label is the target: reliability is agreement with them",)

    def __str__(self) -> str:
        return (
            f"precision {self.precision:.4f}, recall {self.recall:.4f}, F1 {self.f1:.4f}, "
            f"accuracy {self.accuracy:.4f}, human share {self.human_share:.4f}, effort share {self.effort_share:.4f} "
            f"(n = {self.n:,})"
        )

    def _repr_html_(self) -> str:
        return html_table("Plan, measured", asdict(self).items())

    def to_frame(self) -> pd.DataFrame:
        """Return one row with the figures."""
        import pandas as pd

        row = asdict(self)
        del row["method"], row["assumptions"]
        return pd.DataFrame([row])


def evaluate_plan(
    to_human: ArrayLike,
    target: ArrayLike,
    predicted: ArrayLike,
    true_effort: ArrayLike | None = None,
) -> PlanOutcome:
    """Measure a plan, of whatever origin, against the truth.

    Parameters
    ----------
    to_human : array of bool, shape (n_items,)
        Items that people judge (`Plan.to_human`, or any other selection).
    target, predicted : array of labels, shape (n_items,)
        True labels, which people are taken to give, and the machine's.
    true_effort : array of float, shape (n_items,), optional
        Effort that people spend on each item if they judge it, in any unit.

    Returns
    -------
    PlanOutcome

    Raises
    ------
    InputError
        Lengths differ, or a value is missing or out of range.

    Examples
    --------
    >>> print(evaluate_plan([True, False, False], ["a", "b", "b"], ["b", "b", "a"], [2.0, 1.0, 1.0]))
    precision 0.7500, recall 0.7500, F1 0.6667, accuracy 0.6667, human share 0.3333, effort share 0.5000 (n = 3)
    """
    human = bool_vector(to_human, name="to_human")
    _, codes = label_codes(target=target, predicted=predicted)
    truth, guess = codes["target"], codes["predicted"]
    require_same_length([("to_human", human), ("target", truth)])
    final = np.where(human, truth, guess)
    scores = macro_scores(truth, final)
    spent = total = math.nan
    if true_effort is not None:
        effort = float_vector(true_effort, name="true_effort", low=0.0)
        require_same_length([("to_human", human), ("true_effort", effort)])
        spent, total = float(effort[human].sum()), float(effort.sum())
    return PlanOutcome(
        precision=scores.precision,
        recall=scores.recall,
        f1=scores.f1,
        accuracy=scores.accuracy,
        human_share=float(human.mean()),
        effort_share=spent / total if total > 0.0 else math.nan,
        effort_spent=spent,
        n=len(human),
        human_count=int(human.sum()),
        kept_wrong=int((final != truth).sum()),
    )


@dataclass(frozen=True)
class TouchedGroups:
    """How many groups (dialogues) a plan touches, and its time counted both ways. Made by `touched_groups`.

    Parameters
    ----------
    groups, touched : int
        All groups, and those of which people judge at least one item.
    touched_share : float
        touched / groups.
    time_share_items : float
        Share of the true time if every item costs its own time and no more (the paper's count).
    time_share_whole : float
        Share of the true time if a touched group is read as a whole.
    """

    groups: int
    touched: int
    touched_share: float
    time_share_items: float
    time_share_whole: float

    def __str__(self) -> str:
        return (
            f"{self.touched:,} of {self.groups:,} groups touched ({self.touched_share:.1%}); time share "
            f"{self.time_share_items:.4f} by items, {self.time_share_whole:.4f} if a touched group is read whole"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row with the figures."""
        import pandas as pd

        return pd.DataFrame([asdict(self)])


def touched_groups(to_human: ArrayLike, groups: ArrayLike, true_time: ArrayLike) -> TouchedGroups:
    """Count the groups that a plan touches, and its time both ways.

    Parameters
    ----------
    to_human : array of bool, shape (n_items,)
        Items that people judge.
    groups : array, shape (n_items,)
        Group (dialogue) of each item: text or numbers.
    true_time : array of float, shape (n_items,)
        Each item's part of its group's time, in any unit.

    Returns
    -------
    TouchedGroups
        Time shares are NaN if no item takes any time.

    Raises
    ------
    InputError
        Lengths differ, or a value is missing or out of range.

    Examples
    --------
    >>> print(touched_groups([True, False, False], ["d1", "d1", "d2"], [1.0, 1.0, 2.0]))
    1 of 2 groups touched (50.0%); time share 0.2500 by items, 0.5000 if a touched group is read whole
    """
    human = bool_vector(to_human, name="to_human")
    names, codes = label_codes(groups=groups)
    time = float_vector(true_time, name="true_time", low=0.0)
    columns: list[tuple[str, Any]] = [("to_human", human), ("groups", codes["groups"]), ("true_time", time)]
    require_same_length(columns)
    touched = np.bincount(codes["groups"], weights=human, minlength=len(names)) > 0
    total = float(time.sum())
    whole = float(time[touched[codes["groups"]]].sum())
    return TouchedGroups(
        groups=len(names),
        touched=int(touched.sum()),
        touched_share=float(touched.mean()),
        time_share_items=float(time[human].sum()) / total if total > 0.0 else math.nan,
        time_share_whole=whole / total if total > 0.0 else math.nan,
    )
