"""Which of two models finds the person's answer less surprising? Perplexity of the reference, given the instruction.

Lower wins; equal is a tie. The published code of the source overwrites every win of the first model by a tie; here the
three cases are three branches. A pair without a perplexity of both models stays unjudged, counted.

Source: Lyu et al. (2024), "HREF", section 2.2.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.judges._judge import fingerprint
from hmc_crowd.judges._pairs import read_pairs
from hmc_crowd.judges._scored import NO_REFERENCE, by_score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.judges._pairs import Pairs

    Scorer = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]

__all__ = ["PerplexityJudge"]


class PerplexityJudge:
    """Prefer the model to which the reference is more probable.

    Parameters
    ----------
    model_a, model_b : callable (instructions, references) -> array of perplexities, shape (n,), optional
        Of the models that wrote responses a and b, for example `CausalPerplexity`. Without them the pairs' columns
        ``perplexity_a`` and ``perplexity_b`` are used.
    version : str, optional
        What callables are called together; needed with them.

    Examples
    --------
    >>> pairs = {"item": ["1", "2"], "instruction": ["?"] * 2, "response_a": ["x"] * 2, "response_b": ["y"] * 2,
    ...          "reference": ["z"] * 2, "perplexity_a": np.array([12.0, 9.0]), "perplexity_b": np.array([15.0, 9.0])}
    >>> PerplexityJudge().judge(pairs)["label"].tolist()
    ['a', 'tie']
    """

    leaves_machine = False
    needs_reference = True

    def __init__(self, model_a: Scorer | None = None, model_b: Scorer | None = None, *, version: str = "") -> None:
        if (model_a is None) != (model_b is None):
            raise InputError("give a model for both responses, or for neither (columns perplexity_a, perplexity_b)")
        if model_a is not None and not version:
            raise InputError("models of your own need version='...': judges are told apart by it")
        self.name, self._models = "perplexity", (model_a, model_b)
        self.version = fingerprint("perplexity", version or "columns")

    def judge(self, pairs: Any) -> pd.DataFrame:
        """Return one judgement per pair; the two models' perplexities are `score_a` and `score_b`, negated logs."""
        started = time.perf_counter()
        given = read_pairs(pairs)
        # Without models the references were read when the columns were made.
        has = given.has_reference if self._models[0] is not None else np.ones(len(given), dtype=bool)
        a, b = (self._log_of(given, has, side) for side in (0, 1))
        reason = ["no perplexity" if each else NO_REFERENCE for each in has]
        return by_score(given, -a, -b, scale=0.1, started=started, reason=reason)

    def _log_of(self, given: Pairs, has: NDArray[np.bool_], side: int) -> NDArray[np.float64]:
        name, scorer = f"perplexity_{'ab'[side]}", self._models[side]
        out = np.full(len(given), np.nan)
        if scorer is not None:
            out[has] = np.asarray(scorer(list(given.instruction[has]), list(given.reference[has])), dtype=np.float64)
        elif name in given.numbers:
            out = given.numbers[name].astype(np.float64)
        else:
            raise InputError(f"pairs have no column {name}, and no models were given; give one or the other")
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(out > 0.0, np.log(out), np.nan)
