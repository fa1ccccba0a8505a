"""What a mean under routing is given: checked columns, cut into parts that were drawn alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows
from hmc_crowd.errors import InputError
from hmc_crowd.metrics._codes import label_codes
from hmc_crowd.metrics._routed_parts import Part
from hmc_crowd.metrics._validate import as_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["cut_to", "labels_and_machine", "parts_of", "tuning_of"]


def tuning_of(power_tuning: Any) -> float | None:
    """Return the fixed lambda, None if it is to be found."""
    if isinstance(power_tuning, (bool, np.bool_)):
        return None if power_tuning else 0.0
    if not isinstance(power_tuning, (int, float, np.number)) or not math.isfinite(power_tuning):
        raise InputError(f"power_tuning is {power_tuning!r}; give True, False or a finite number for lambda")
    return float(power_tuning)


def labels_and_machine(labels: Any, machine: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both columns as floats, unseen labels as NaN."""
    y, odd_y = as_scores(labels, name="labels")
    f, odd_f = as_scores(machine, name="machine")
    if len(y) != len(f):
        raise InputError(f"machine has {len(f)} values but labels has {len(y)}; give both for every item")
    for name, odd in (("labels", odd_y), ("machine", odd_f)):
        if odd is not None:
            raise InputError(f"{name} holds text at row {int(odd.argmax())}; a mean needs numbers, such as 0, 0.5, 1")
    if len(y) == 0:
        raise InputError("labels is empty; give at least one item")
    if not np.isfinite(f).all():
        raise InputError(f"machine has no value in {first_rows(~np.isfinite(f))}; it must judge every item")
    return np.where(np.isfinite(y), y, np.nan), f


def parts_of(
    y: NDArray[np.float64], f: NDArray[np.float64], inclusion_probability: Any, strata: Any
) -> tuple[list[Part], str]:
    """Return the parts of the batch, and why there is no estimate where there is none."""
    n = len(y)
    if inclusion_probability is not None and strata is not None:
        raise InputError("give inclusion_probability (each item by itself) or strata (fixed numbers), not both")
    if inclusion_probability is not None:
        chance = _chances(inclusion_probability, y)
        codes = (chance < 1.0).astype(np.intp)
    else:
        chance = np.ones(n)
        codes = np.zeros(n, dtype=np.intp) if strata is None else label_codes(strata=strata)[1]["strata"]
        if len(codes) != n:
            raise InputError(f"strata has {len(codes)} values for {n} items; give one per item")
    parts = []
    for code in np.unique(codes).tolist():
        rows = np.flatnonzero(codes == code)
        parts.append(Part(rows, f[rows], y[rows], chance[rows]))
        if not parts[-1].seen.any():
            return parts, (
                f"nobody looked at any of {len(rows):,} items that were drawn alike (row {rows[0]} is the first): "
                "audit some of them"
            )
    return parts, ""


def _chances(values: Any, y: NDArray[np.float64]) -> NDArray[np.float64]:
    chance = np.asarray(values, dtype=np.float64)
    if chance.ndim == 0:
        chance = np.full(len(y), float(chance))
    if chance.shape != y.shape:
        raise InputError(f"inclusion_probability has shape {chance.shape}; give one per item, shape ({len(y)},)")
    bad = ~((chance > 0.0) & (chance <= 1.0))
    if bad.any():
        raise InputError(
            f"inclusion_probability must be above 0 and at most 1: {first_rows(bad, chance)}; an item that people "
            "cannot see tells nothing: audit it with a small probability"
        )
    lost = (chance == 1.0) & np.isnan(y)
    if lost.any():
        raise InputError(
            f"labels has none in {first_rows(lost)}, which people see with probability 1; wait for them, or leave "
            "these items out of the batch"
        )
    return chance


def cut_to(value: Any, rows: NDArray[np.bool_]) -> Any:
    """Return an argument for some of the items: columns are cut, single values stay."""
    if isinstance(value, tuple):
        return tuple(cut_to(each, rows) for each in value)
    if isinstance(value, dict):
        return {name: cut_to(each, rows) for name, each in value.items()}
    if isinstance(value, str) or np.ndim(value) == 0 or len(value) != len(rows):
        return value
    return np.asarray(value)[rows]
