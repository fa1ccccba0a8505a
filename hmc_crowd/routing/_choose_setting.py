"""Which setting saves most work and still keeps the promise? Chosen on labels, with a guarantee that allows for it.

`choose` takes the best point of a sweep and says nothing of how good it will be. Here a random sample of items with
blind labels decides: each setting says which of them the machine would keep, "the mean loss of the final labels is
above what the target allows" is tested for each, and `learn_then_test` accepts those that can be shown to be good.
With a probability of at least `level` no accepted setting is worse than the target. The LAST accepted one is taken:
order the settings from the most cautious to the one that saves most.

The promise is about items to come, or about one batch if its size is given and the labelled items are a simple random
sample of ALL its items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector, require_same_length
from hmc_crowd.errors import InputError
from hmc_crowd.metrics import label_codes  # because groups are coded as the metrics code labels
from hmc_crowd.routing._checks import count, level_of, share
from hmc_crowd.routing._data_roles import ChooseData, require_kind
from hmc_crowd.routing._learn_then_test import Selection, learn_then_test, risk_p_value
from hmc_crowd.routing._losses import Loss, ZeroOne, losses_of
from hmc_crowd.routing._render import html_table

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["ChosenSetting", "choose_setting", "choose_threshold"]


@dataclass(frozen=True, eq=False)
class ChosenSetting:
    """The setting that was accepted last, and what was promised of it. Made by `choose_setting`.

    Parameters
    ----------
    setting : int or None
        Row of the setting; None if none was accepted.
    threshold : float or None
        The threshold, if thresholds were compared: the machine keeps items whose score is at least this.
    agreement_at_least : float or None
        The promise (the target); None without a setting.
    agreement, kept_share : array of float, shape (n_settings,)
        Mean agreement (1 - loss) on the labels, which is too good for the chosen one; share that the machine keeps.
    passed : array of bool, shape (n_settings,)
        The accepted settings.
    p_values : array of float, shape (n_settings,)
        Of each setting.
    target, level : float
        What was asked for.
    n : int
        Labelled items.
    method, scope, reason : str
        How the error was shared; what the promise is about; why there is no setting.
    assumptions : tuple of str
        What must hold.
    """

    setting: int | None
    threshold: float | None
    agreement_at_least: float | None
    agreement: NDArray[np.float64]
    kept_share: NDArray[np.float64]
    passed: NDArray[np.bool_]
    p_values: NDArray[np.float64]
    target: float
    level: float
    n: int
    method: str
    scope: str
    reason: str
    assumptions: tuple[str, ...]

    def __post_init__(self) -> None:
        for array in (self.agreement, self.kept_share, self.passed, self.p_values):
            array.setflags(write=False)

    def __str__(self) -> str:
        if self.setting is None:
            return f"no setting shown to reach agreement {self.target:g} at {100 * self.level:g}%: {self.reason}"
        at = "" if self.threshold is None else f", threshold {self.threshold:.6g}"
        return (
            f"setting {self.setting}{at}: agreement >= {self.target:g} at {100 * self.level:g}% on {self.scope}; the "
            f"machine keeps {self.kept_share[self.setting]:.1%} ({int(self.passed.sum())} of {len(self.passed)} "
            f"settings accepted, {self.n:,} labels)"
        )

    def _repr_html_(self) -> str:
        shown = ("setting", "threshold", "agreement_at_least", "target", "level", "n", "method", "scope", "reason")
        return html_table("Chosen setting", ((name, getattr(self, name)) for name in shown))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per setting: ``agreement, kept_share, p_value, passed``."""
        import pandas as pd

        return pd.DataFrame(
            {
                "agreement": self.agreement,
                "kept_share": self.kept_share,
                "p_value": self.p_values,
                "passed": self.passed,
            }
        )


def choose_setting(
    data: ChooseData,
    kept: ArrayLike,
    *,
    target: float = 0.97,
    level: float = 0.95,
    method: Selection = "fixed_sequence",
    batch_items: int | None = None,
    loss: Loss | None = None,
    largest_group: int | None = None,
) -> ChosenSetting:
    """Choose among settings with a guarantee that allows for the choice.

    Parameters
    ----------
    data : ChooseData
        Blind labels of a random sample of items. They are spent: a second call with them is refused.
    kept : array of bool, shape (n_settings, n_items)
        Which items the machine would keep; people judge the others, and are taken to be right. In an order that the
        labels had no part in: from the most cautious setting to the one that saves most work.
    target : float, default 0.97
        Agreement (1 - mean loss of the final labels) to be promised.
    level : float, default 0.95
        Probability with which no accepted setting is worse.
    method : {"fixed_sequence", "bonferroni", "holm"}
        See `learn_then_test`.
    batch_items : int, optional
        Size of the batch of which the items are a simple random sample: the promise is then about this batch.
    loss : Loss, default ``ZeroOne()``
        What a wrong label costs.
    largest_group : int, optional
        Most items that a group can have; needed if `data` has groups and the promise is about items to come.

    Returns
    -------
    ChosenSetting

    Raises
    ------
    InputError
        `data` is not `ChooseData`, shapes differ, or a share is out of range.
    StateError
        The labels were spent before.

    Examples
    --------
    >>> labels = ChooseData(range(400), ["a"] * 400, ["a"] * 396 + ["b"] * 4, "people_blind")
    >>> kept = [[False] * 400, [True] * 396 + [False] * 4, [True] * 400]
    >>> print(choose_setting(labels, kept, target=0.97))
    setting 2: agreement >= 0.97 at 95% on items to come; the machine keeps 100.0% (3 of 3 settings accepted,
    400 labels)
    """
    require_kind(data, ChooseData)
    masks = _masks(kept, len(data))
    allowed, confidence = 1.0 - share("target", target), level_of(level)
    measure = ZeroOne() if loss is None else loss
    values = losses_of(measure, data.truth, data.machine)
    groups, batch = _clusters(data, batch_items, largest_group)
    final = np.where(masks, values[None, :], 0.0)
    p_values = np.array(
        [
            risk_p_value(
                row, allowed=allowed, binary=measure.binary, batch_items=batch, groups=groups, largest=largest_group
            )
            for row in final
        ]
    )
    passed = learn_then_test(p_values, level=confidence, method=method)
    data.spend("choosing a setting")
    setting = int(np.flatnonzero(passed)[-1]) if passed.any() else None
    return ChosenSetting(
        setting=setting,
        threshold=None,
        agreement_at_least=None if setting is None else float(target),
        agreement=1.0 - final.mean(axis=1),
        kept_share=masks.mean(axis=1),
        passed=passed,
        p_values=p_values,
        target=float(target),
        level=confidence,
        n=len(data),
        method=f"Learn then Test, {method}",
        scope="items to come" if batch is None else f"this batch of {batch:,} items",
        reason="" if setting is not None else _why_none(p_values, len(data), allowed, confidence),
        assumptions=_assumptions(batch, groups is not None),
    )


def choose_threshold(data: ChooseData, score: ArrayLike, thresholds: ArrayLike, **keywords: Any) -> ChosenSetting:
    """Choose the lowest threshold on a score above which the machine may keep items.

    Parameters
    ----------
    data : ChooseData
        As in `choose_setting`.
    score : array of float, shape (n_items,)
        Higher means surer, such as the confidence or the negative gain.
    thresholds : array of float
        Tried from the highest to the lowest; fixed before the labels were seen (not quantiles of right items).
    **keywords
        As in `choose_setting`.

    Returns
    -------
    ChosenSetting
        With its `threshold`; settings are numbered from the highest threshold down.

    Raises
    ------
    InputError, StateError
        As `choose_setting`.

    Examples
    --------
    >>> labels = ChooseData(range(300), ["a"] * 300, ["a"] * 280 + ["b"] * 20, "people_blind")
    >>> score = [0.9] * 280 + [0.2] * 20
    >>> choose_threshold(labels, score, [0.1, 0.5, 1.0], target=0.95).threshold
    0.5
    """
    require_kind(data, ChooseData)
    sure = float_vector(score, name="score")
    require_same_length([("items", data.items), ("score", sure)])
    cuts = np.sort(float_vector(thresholds, name="thresholds"))[::-1]
    chosen = choose_setting(data, sure[None, :] >= cuts[:, None], **keywords)
    if chosen.setting is None:
        return chosen
    return ChosenSetting(**{**chosen.__dict__, "threshold": float(cuts[chosen.setting])})


def _masks(kept: ArrayLike, n: int) -> NDArray[np.bool_]:
    masks = np.asarray(kept)
    if masks.ndim != 2 or masks.shape[0] == 0 or masks.shape[1] != n:
        raise InputError(f"kept has shape {masks.shape}; give one row per setting and one column per item (..., {n})")
    if masks.dtype != bool:
        raise InputError(f"kept holds {masks.dtype}; give True where the machine keeps an item")
    return masks


def _clusters(data: ChooseData, batch: int | None, largest: int | None) -> tuple[NDArray[np.intp] | None, int | None]:
    """Return the codes of groups (only where the promise is about items to come) and the checked batch size."""
    if batch is not None:
        size = count("batch_items", batch, least=1)
        if len(data) > size:
            raise InputError(f"batch_items is {size}, but {len(data)} of its items are labelled")
        return None, size
    if data.groups is None:
        return None, None
    if largest is None:
        raise InputError("largest_group is missing; the labels have groups: say how many items a group can have")
    codes = label_codes(groups=data.groups)[1]["groups"]
    top = int(np.bincount(codes).max())
    if top > count("largest_group", largest, least=1):
        raise InputError(f"largest_group is {largest}, but a group has {top} items")
    return codes, None


def _why_none(p_values: NDArray[np.float64], n: int, allowed: float, level: float) -> str:
    if allowed > 0.0 and (1.0 - allowed) ** n > 1.0 - level:
        return f"{n} labels cannot show it even without an error; label more items"
    return f"the smallest p-value is {p_values.min():.3g}; add a more cautious setting, lower the target or label more"


def _assumptions(batch: int | None, grouped: bool) -> tuple[str, ...]:
    sample = (
        "items to come are like the labelled ones, and "
        + ("groups are independent" if grouped else "items are independent")
        if batch is None
        else "the labelled items are a simple random sample of all items of the batch"
    )
    return (
        sample,
        "settings, scores and their order were fixed without these labels",
        "agreement is with our people: an item that they judge counts as right",
    )
