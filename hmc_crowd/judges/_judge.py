"""What a judge is, and the table of judgements that every judge returns.

One row per pair: ``item, label`` ('a', 'b', 'tie', or None where nothing could be read), ``confidence`` in the label,
``p_a, p_b, p_tie``, ``swapped`` (was b shown first?), ``raw`` answer, ``seconds``, ``cost_micro`` (millionths of a unit
of the judge's currency) and ``reason`` (why there is no label, or none was asked for). Probabilities are the judge's
own and not calibrated: `calibrate_judge` does that with people's labels.

Source: Lyu et al. (2024), "HREF", section 2; the shape of the predictions is the loop's.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.judges._pairs import Pairs

__all__ = ["LABELS", "Judge", "fingerprint", "judgements", "outcomes_of"]

LABELS = ("a", "b", "tie")
_OUTCOME = {"a": "win", "b": "loss", "tie": "tie"}


@runtime_checkable
class Judge(Protocol):
    """Anything that says which response of a pair is better.

    Attributes
    ----------
    name : str
        Short, for tables.
    version : str
        Fingerprint of everything that its answers depend on; another version is another judge.
    leaves_machine : bool
        Whether the texts are sent to another machine.
    needs_reference : bool
        Whether pairs without a reference stay unjudged.
    """

    name: str
    version: str
    leaves_machine: bool
    needs_reference: bool

    def judge(self, pairs: Any) -> pd.DataFrame:
        """Return one judgement per pair, in the order of the pairs."""
        ...


def fingerprint(*parts: Any) -> str:
    """Return a short hash of JSON-able parts: equal parts, equal hash, on every machine.

    Examples
    --------
    >>> fingerprint("rouge", {"n": 1}) == fingerprint("rouge", {"n": 1}), len(fingerprint("x"))
    (True, 16)
    """
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def judgements(
    pairs: Pairs,
    label: Sequence[str | None],
    probabilities: NDArray[np.float64],
    *,
    raw: Sequence[str | None] | None = None,
    swapped: NDArray[np.bool_] | None = None,
    seconds: NDArray[np.float64] | None = None,
    cost_micro: NDArray[np.int64] | None = None,
    reason: Sequence[str] | None = None,
    **more: Any,
) -> pd.DataFrame:
    """Return the table of judgements; see the module's text for its columns.

    Parameters
    ----------
    probabilities : array of float, shape (n, 3)
        Of a, b, tie; NaN where the judge gives none.
    """
    import pandas as pd

    n = len(pairs)
    place = {name: column for column, name in enumerate(LABELS)}
    confidence = [np.nan if each is None else probabilities[row, place[each]] for row, each in enumerate(label)]
    columns: Mapping[str, Any] = {
        "item": pairs.item,
        "label": np.array(label, dtype=object),
        "confidence": np.array(confidence, dtype=np.float64),
        **{f"p_{name}": probabilities[:, column] for name, column in place.items()},
        "swapped": np.zeros(n, dtype=bool) if swapped is None else swapped,
        "raw": np.array([None] * n if raw is None else raw, dtype=object),
        "seconds": np.zeros(n) if seconds is None else seconds,
        "cost_micro": np.zeros(n, dtype=np.int64) if cost_micro is None else cost_micro,
        "reason": np.array([""] * n if reason is None else reason, dtype=object),
        **more,
    }
    return pd.DataFrame(columns)


def outcomes_of(judged: Any) -> list[str | None]:
    """Return 'win', 'loss', 'tie' from the view of response a, None where nothing was read.

    Raises
    ------
    InputError
        No table with the column ``label``, or a label that is none of 'a', 'b', 'tie'.

    Examples
    --------
    >>> import pandas as pd
    >>> outcomes_of(pd.DataFrame({"label": ["a", "tie", None, "b"]}))
    ['win', 'tie', None, 'loss']
    """
    if "label" not in getattr(judged, "columns", judged):
        raise InputError("judged has no column 'label'; give the table that a judge returns")
    labels = [label if isinstance(label, str) else None for label in judged["label"]]
    odd = [label for label in labels if label is not None and label not in _OUTCOME]
    if odd:
        # Taken as unread, a judge that says "A" would look as if it had said nothing.
        raise InputError(f"judged holds the label {odd[0]!r}; a judgement is 'a', 'b', 'tie', or none")
    return [None if label is None else _OUTCOME[label] for label in labels]
