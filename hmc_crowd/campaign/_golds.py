"""Gold: how it marks people, and in what state it is: the facade's part on known items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.campaign import _gold_check, _gold_marking, _standing

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.campaign._context import Context

__all__ = ["Golds"]


class Golds:
    """The methods of `hmc_crowd.campaign.Campaign` about gold."""

    _context: Context

    def check_gold(
        self,
        *,
        minimum: float = 0.6,
        at_least: int = 3,
        level: float = 0.95,
        encoder: _gold_marking.Encoder | None = None,
        similar: float = 0.7,
    ) -> _gold_check.GoldCheck:
        """Score workers on gold and leave out of aggregation who is surely below ``minimum``.

        Nothing is decided before ``at_least`` gold answers. Leaving out never touches anybody's pay.

        Parameters
        ----------
        minimum : float, default 0.6
            Share of gold that a worker must get right.
        at_least : int, default 3
            Gold answers without which nothing is decided.
        level : float, default 0.95
            Of the intervals.
        encoder : str or callable, optional
            For gold in words: whose vectors say how near two texts are, by name as in
            `hmc_crowd.confidence.text.TextEncoder` (``"minilm"``), or any callable of texts to vectors. Without it such
            gold does not count.
        similar : float, default 0.7
            Similarity, (cosine + 1) / 2, from which on a text is right; unrelated texts are near .5.

        Notes
        -----
        Labels are right or wrong, and ratings right within a tolerance: see `set_gold_tolerance`.
        """
        meaning = _gold_check.meaning_of(encoder, similar)
        return _gold_check.check_gold(self._context, minimum=minimum, at_least=at_least, level=level, meaning=meaning)

    def set_gold_tolerance(self, tolerance: float | None, *, aspect: str | None = None) -> _gold_marking.GoldRule:
        """Set how far an answer to gold may be off and still be right; it counts wherever people are marked.

        Parameters
        ----------
        tolerance : float or None
            Steps of an ordinal scale, a number's own unit, or labels of a multi-label answer that may differ. None
            brings the default back: one step of an ordinal scale with five labels or more and none of a shorter one, a
            tenth of the range of a number (of its gold, where the aspect names no ends), no label of a set.
        aspect : str, optional
            Which question; needed where there are several.

        Raises
        ------
        InputError
            The aspect's labels are right or wrong, or the tolerance would make every answer right.
        """
        return _gold_marking.set_tolerance(self._context, tolerance, aspect)

    def gold_rules(self) -> dict[str, _gold_marking.GoldRule]:
        """Return when an answer to gold is right, by aspect."""
        with self._context.store.read() as tx:
            return _gold_marking.gold_rules(self._context, tx)

    def gold_table(self) -> pd.DataFrame:
        """Return the state of all gold, a row each: ``item, aspect, label`` and what came of it.

        ``workers`` have met it, ``times`` altogether; ``given_out`` counts those who may still meet it too, in open
        places. It ``rests`` where that has come to the ``limit`` of the last publication. Of the first ``answers`` that
        count ``missed`` were wrong, which makes its ``difficulty`` (pulled towards that of all gold); ``suspect`` says
        why the label should be looked at, empty otherwise.
        """
        return _gold_check.gold_table(self._context)

    def gold_exposures(self) -> pd.DataFrame:
        """Return which gold each worker has met: ``item, aspect, worker, times, first_at``.

        Whoever took a HIT has met what is in it. On the local pages nobody gets a question twice; elsewhere the first
        answer alone counts.
        """
        with self._context.store.read() as tx:
            return _standing.exposures(self._context, tx)
