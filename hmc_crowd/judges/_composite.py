"""The best judge for each kind of task, as one judge.

Choose with `hmc_crowd.metrics.composite_agreement`, which reports on pairs the choice was not made on; this judge then
asks each category's method. A category that nobody chose for goes to `default`, or is refused.

Source: Lyu et al. (2024), "HREF", section 2.2 (composite).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.judges._judge import Judge, fingerprint
from hmc_crowd.judges._pairs import Pairs, read_pairs
from hmc_crowd.judges._private import refuse_private_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["CompositeJudge"]


class CompositeJudge:
    """Ask the judge that was chosen for a pair's category.

    Parameters
    ----------
    judges : mapping of method -> Judge
    chosen : mapping of category -> method
        As `composite_choice` or ``composite_agreement(...).chosen`` give it.
    default : str, optional
        Method of categories that are not in `chosen`; without it such pairs are refused before anything is asked.

    Examples
    --------
    >>> from hmc_crowd.judges import longer, shorter
    >>> judge = CompositeJudge({"longer": longer(), "shorter": shorter()}, {"story": "longer", "fact": "shorter"})
    >>> pairs = {"item": ["1", "2"], "instruction": ["?"] * 2, "category": ["story", "fact"],
    ...          "response_a": ["No, never."] * 2, "response_b": ["No."] * 2}
    >>> judge.judge(pairs)[["label", "judge"]].values.tolist()
    [['a', 'longer'], ['b', 'shorter']]
    """

    name = "composite"
    needs_reference = False

    def __init__(self, judges: Mapping[str, Judge], chosen: Mapping[str, str], *, default: str | None = None) -> None:
        unknown = sorted({*chosen.values(), *([default] if default else [])} - set(judges))
        if unknown or not chosen:
            raise InputError(f"chosen names {', '.join(unknown) or 'nothing'}; judges are {', '.join(judges)}")
        self.judges, self.chosen, self.default = dict(judges), dict(chosen), default
        used = sorted({*chosen.values(), *([default] if default else [])})
        self.leaves_machine = any(judges[name].leaves_machine for name in used)
        self.version = fingerprint("composite", dict(chosen), default, {name: judges[name].version for name in used})

    def refuse_private(self, given: Pairs) -> None:
        """Refuse pairs that the judge of their category may not see."""
        method = self._methods(given)
        for name in dict.fromkeys(method.tolist()):
            if name in self.judges:
                refuse_private_of(self.judges[name], given.take(method == name))

    def _methods(self, given: Pairs) -> NDArray[np.object_]:
        return np.array([self.chosen.get(each, self.default) for each in given.category], dtype=object)

    def judge(self, pairs: Any) -> pd.DataFrame:
        """Return one judgement per pair, with the method in column `judge`."""
        import pandas as pd

        given = read_pairs(pairs)
        unknown = sorted({str(each) for each in given.category if each not in self.chosen})
        if unknown and self.default is None:
            raise InputError(
                f"nobody was chosen for category {', '.join(map(repr, unknown))}; known are "
                f"{', '.join(map(repr, self.chosen))}. Give default='...', or correct the pairs"
            )
        method = self._methods(given)
        self.refuse_private(given)
        parts = []
        for name in dict.fromkeys(method.tolist()):
            rows = np.flatnonzero(method == name)
            parts.append(self.judges[name].judge(given.take(rows)).assign(judge=name, row=rows))
        return pd.concat(parts, ignore_index=True).sort_values("row", ignore_index=True).drop(columns="row")
