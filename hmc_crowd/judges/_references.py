"""Does it matter who wrote the reference? The same judge with a person's and with a model's, on the same pairs.

Both get leave-one-out agreement with people; the difference is taken pair by pair, so that what is hard for both does
not widen its interval.

Source: Lyu et al. (2024), "HREF", section 3 and figure 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.judges._pairs import read_pairs
from hmc_crowd.judges._study import lined_up, matrix_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["compare_references"]


def compare_references(
    pairs: Any,
    annotations: pd.DataFrame,
    person: Mapping[str, pd.DataFrame],
    model: Mapping[str, pd.DataFrame],
    *,
    unparsed: str = "drop",
    level: float = 0.95,
) -> pd.DataFrame:
    """Compare agreement with people under a person's reference and under a model's.

    Parameters
    ----------
    pairs, annotations, unparsed, level
        As in `compare_judges`.
    person, model : mapping of name -> judgements
        The same judges, by each kind of reference.

    Returns
    -------
    pandas.DataFrame
        ``judge, person, person_low, person_high, model, model_low, model_high, difference, low, high, n``: shares, the
        difference (person minus model) over pairs that both could judge, intervals clustered by instruction.

    Raises
    ------
    InputError
        The judges are not the same, or a table lacks a pair.

    Examples
    --------
    >>> from hmc_crowd.judges import RougeJudge, example_pairs
    >>> pairs, answers = example_pairs()
    >>> both = {"rouge": RougeJudge().judge(pairs)}, {"rouge": RougeJudge().judge(pairs.assign(reference="Yes."))}
    >>> found = compare_references(pairs, answers, *both).iloc[0]
    >>> bool(found["person"] > found["model"]), int(found["n"])
    (True, 117)
    """
    import pandas as pd

    from hmc_crowd.metrics import mean_value  # because intervals are made there

    given = read_pairs(pairs)
    if not person or set(person) != set(model):
        raise InputError(
            f"person has {', '.join(person) or 'no judge'} and model has {', '.join(model) or 'no judge'}; give the "
            "same judges, by each kind of reference"
        )
    matrix, clusters = matrix_of(given, annotations), given.instruction
    rows = []
    for name in person:
        by = [_agreement(matrix, lined_up(name, side[name], given), unparsed) for side in (person, model)]
        each = [mean_value(values, share=False, clusters=clusters, level=level) for values in by]
        apart = mean_value(by[0] - by[1], share=False, clusters=clusters, level=level)
        row: dict[str, Any] = {"judge": name}
        for kind, metric in zip(("person", "model"), each, strict=True):
            row |= {kind: metric.value, f"{kind}_low": metric.low, f"{kind}_high": metric.high}
        rows.append({**row, "difference": apart.value, "low": apart.low, "high": apart.high, "n": apart.n})
    numbers = [name for name in rows[0] if name not in {"judge", "n"}]
    return pd.DataFrame(rows).astype(dict.fromkeys(numbers, np.float64))


def _agreement(matrix: NDArray[np.object_], judged: pd.DataFrame, unparsed: Any) -> NDArray[np.float64]:
    """Return agreement per pair, NaN where there is none."""
    from hmc_crowd.metrics import leave_one_out_agreement  # because agreement is measured there

    whole = leave_one_out_agreement(matrix, judged["label"].to_numpy(dtype=object), unparsed=unparsed, interval="none")
    out = np.full(len(judged), np.nan)
    if whole.value is not None:
        out[whole.items["position"]] = whole.items["agreement"]
    return out
