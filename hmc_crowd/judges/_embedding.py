"""Which response means more nearly what the reference means? Cosine of sentence embeddings.

The source calls equality a win in one place and a tie in another, and its code's "bertscore" is another measure. Here
equality is a tie, cosines are computed in float64 (half precision makes ties), and a zero vector has no direction: the
pair stays unjudged, with the reason.

Source: Lyu et al. (2024), "HREF", section 2.2 and appendix B.3.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.judges._judge import fingerprint
from hmc_crowd.judges._pairs import read_pairs
from hmc_crowd.judges._private import refuse_private
from hmc_crowd.judges._scored import NO_REFERENCE, by_score

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.judges._pairs import Pairs

__all__ = ["EmbeddingJudge", "cosine"]


def cosine(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return row-wise cosines of two arrays of shape (n, d); NaN where a vector is zero.

    Examples
    --------
    >>> cosine(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[2.0, 0.0], [1.0, 1.0]])).tolist()
    [1.0, nan]
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    length = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(length > 0.0, (a * b).sum(axis=1) / length, np.nan)


class EmbeddingJudge:
    """Prefer the response whose embedding is nearer to the reference's.

    Parameters
    ----------
    encode : "minilm", a name or folder for `TextEncoder`, or a callable list of str -> array (n, d)
        Each different text is encoded once.
    version : str, optional
        What a callable is called, so that a changed one is seen as another judge; needed with a callable.
    leaves_machine : bool, default False
        Whether your callable sends the texts to another machine; private pairs are then refused.
    allow_audiences : collection of str
        Audiences besides "any" that may leave this machine.

    Examples
    --------
    >>> def letters(texts):
    ...     return np.array([[text.count("a"), text.count("b")] for text in texts], dtype=float)
    >>> pairs = {"item": ["1"], "instruction": ["?"], "reference": ["aaab"], "response_a": ["bb"],
    ...          "response_b": ["aab"]}
    >>> EmbeddingJudge(letters, version="letters").judge(pairs)["label"][0]
    'b'
    """

    needs_reference = True

    def __init__(
        self,
        encode: str | Callable[[Sequence[str]], NDArray[np.float64]] = "minilm",
        *,
        version: str = "",
        leaves_machine: bool = False,
        allow_audiences: Collection[str] = (),
    ) -> None:
        if callable(encode) and not version:
            raise InputError("an encoder of your own needs version='...': judges are told apart by it")
        self.name, self.leaves_machine, self._allowed = "embedding", leaves_machine, frozenset(allow_audiences)
        self._encode: Any = encode
        self.version = fingerprint("embedding", version or encode)

    def refuse_private(self, given: Pairs) -> None:
        """Refuse pairs of an audience that may not leave this machine; nothing is sent then."""
        if self.leaves_machine:
            refuse_private(given, self.name, self._allowed)

    def judge(self, pairs: Any) -> pd.DataFrame:
        """Return one judgement per pair; pairs without a reference or with a zero vector stay unjudged."""
        started = time.perf_counter()
        given = read_pairs(pairs)
        self.refuse_private(given)
        has = given.has_reference
        a, b = np.full(len(given), np.nan), np.full(len(given), np.nan)
        if has.any():
            some = given.take(has)
            vector = self._vectors([*some.response_a, *some.response_b, *some.reference])
            first, second, wanted = np.split(vector, 3)
            a[has], b[has] = cosine(first, wanted), cosine(second, wanted)
        lost = np.isnan(a) | np.isnan(b)
        told = zip(has, lost, strict=True)
        reason = [NO_REFERENCE if not each else "zero vector" if zero else "" for each, zero in told]
        return by_score(given, a, b, scale=0.05, started=started, reason=reason)

    def _vectors(self, texts: list[str]) -> NDArray[np.float64]:
        different = list(dict.fromkeys(texts))
        if not callable(self._encode):
            from hmc_crowd.confidence.text import TextEncoder  # because there is one way to load an encoder

            self._encode = TextEncoder(self._encode).transform
        vectors = np.asarray(self._encode(different), dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(different):
            raise InputError(f"the encoder returned shape {vectors.shape} for {len(different)} texts; give (n, d)")
        place = {text: row for row, text in enumerate(different)}
        return vectors[[place[text] for text in texts]]
