"""Which pairs should people see, so that length cannot decide? Length-balanced sampling, and a check of it.

Per instruction, candidate responses are divided into those longer and those shorter than the baseline's, and as many
are drawn from each side. Whoever then prefers the longer response is right half of the time by design, so that a
judge's length bias shows.

Source: Lyu et al. (2024), "HREF", section 2.1 and figure 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import first_rows, require_generator
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.judges._pairs import length_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LengthBalance", "length_balance", "sample_pairs"]

_COLUMNS = ("instruction_id", "instruction", "model", "response")


@dataclass(frozen=True)
class LengthBalance:
    """How response a's lengths compare with response b's.

    Parameters
    ----------
    n : int
        Pairs.
    longer, shorter, equal : float
        Shares of pairs in which a is longer, shorter, as long.
    median_difference : float
        Of the lengths, a minus b.
    p_value : float or None
        Of Wilcoxon's signed-rank test that the differences lie symmetrically around 0; None without a difference.
    """

    n: int
    longer: float
    shorter: float
    equal: float
    median_difference: float
    p_value: float | None

    @property
    def is_symmetric(self) -> bool:
        """Whether nothing speaks against symmetry at the 5% level."""
        return self.p_value is None or self.p_value >= 0.05


def length_balance(length_a: Any, length_b: Any) -> LengthBalance:
    """Compare lengths of the two responses, each shape (n,).

    Examples
    --------
    >>> balance = length_balance([9, 4, 7, 2], [4, 9, 2, 7])
    >>> balance.longer, balance.median_difference, balance.is_symmetric
    (0.5, 0.0, True)
    """
    difference = np.asarray(length_a, dtype=np.float64) - np.asarray(length_b, dtype=np.float64)
    if difference.ndim != 1 or not len(difference):
        raise InputError(f"lengths have shape {difference.shape}; give one of each per pair, shape (n,)")
    p_value = None
    if difference.any():
        from scipy.stats import wilcoxon

        p_value = float(wilcoxon(difference, zero_method="zsplit").pvalue)
    longer, shorter, equal = (float(each.mean()) for each in (difference > 0, difference < 0, difference == 0))
    return LengthBalance(len(difference), longer, shorter, equal, float(np.median(difference)), p_value)


def sample_pairs(
    responses: pd.DataFrame,
    baseline: str,
    *,
    per_side: int = 2,
    unit: str = "characters",
    rng: np.random.Generator | None = None,
) -> pd.DataFrame:
    """Draw pairs of a candidate (a) and the baseline (b), as many longer as shorter ones per instruction.

    Parameters
    ----------
    responses : frame ``instruction_id, instruction, model, response``
        Optionally ``reference, category, audience``, equal within an instruction. One row per model and instruction.
    baseline : str
        The model that all others are compared with.
    per_side : int, default 2
        Longer and shorter responses drawn per instruction. An instruction with fewer on a side gives as many of each
        as the poorer side has, so that the balance holds; one with none gives no pair.
    unit : {"characters", "words", "tokens"}
    rng : numpy.random.Generator, optional
        Default ``numpy.random.default_rng(0)``.

    Returns
    -------
    frame
        ``item`` (``<instruction_id>:<model>``), ``instruction_id, instruction, response_a, response_b, model,
        baseline`` and what came along; equal lengths are never drawn.

    Raises
    ------
    FrameError
        A column is missing, a model answers an instruction twice, or no instruction has the baseline's answer.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"instruction_id": ["q"] * 5, "instruction": ["?"] * 5, "model": list("vwxyz"),
    ...                       "response": ["ok ok", "o", "oo", "okay okay", "okay, okay"]})
    >>> sorted(sample_pairs(table, "v")["model"])
    ['w', 'x', 'y', 'z']
    """
    _check(responses, baseline, per_side)
    if rng is not None:
        require_generator(rng)
    draw = np.random.default_rng(0) if rng is None else rng
    frame = responses.assign(length=length_of(responses["response"].to_numpy(dtype=object), unit))
    base = frame.loc[frame["model"] == baseline].set_index("instruction_id")
    lengths = base["length"].to_dict()
    drawn = []
    for name, some in frame.loc[frame["model"] != baseline].groupby("instruction_id", sort=False):
        if name not in lengths:
            continue
        limit = lengths[name]
        sides = [some.index[some["length"] > limit], some.index[some["length"] < limit]]
        many = min(per_side, *(len(side) for side in sides))
        for side in sides:
            drawn += draw.choice(side, many, replace=False).tolist()
    import pandas as pd

    chosen = frame.loc[drawn].drop(columns="length").rename(columns={"response": "response_a"})
    chosen["response_b"] = base["response"].reindex(chosen["instruction_id"]).to_numpy()
    chosen["baseline"] = baseline
    item = [f"{name}:{model}" for name, model in zip(chosen["instruction_id"], chosen["model"], strict=True)]
    chosen.insert(0, "item", pd.Series(item, index=chosen.index, dtype=object))
    return chosen.reset_index(drop=True)


def _check(responses: pd.DataFrame, baseline: str, per_side: int) -> None:
    missing = [name for name in _COLUMNS if name not in responses]
    if missing:
        raise FrameError(f"responses lack {', '.join(missing)}; columns are {', '.join(map(str, responses.columns))}")
    if isinstance(per_side, bool) or not isinstance(per_side, int) or per_side < 1:
        raise InputError(f"per_side is {per_side!r}; give a whole number from 1")
    for name in ("instruction", "response"):
        bad = ~responses[name].map(lambda each: isinstance(each, str)).to_numpy(dtype=bool)
        if bad.any():
            raise FrameError(
                f"responses column {name} must hold text: {first_rows(bad)}; an empty response is written as ''"
            )
    twice = responses.duplicated(["instruction_id", "model"])
    if twice.any():
        first = responses.loc[twice].iloc[0]
        raise FrameError(
            f"model {first['model']!r} answers instruction {first['instruction_id']!r} twice; keep one response"
        )
    if not (responses["model"] == baseline).any():
        models = ", ".join(sorted(map(str, set(responses["model"])))[:8])
        raise FrameError(f"baseline {baseline!r} has no response; models are {models}")
