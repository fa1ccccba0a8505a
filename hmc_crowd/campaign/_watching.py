"""What is known of work as it comes in, and who has become worse since: the facade's part that watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.campaign import _drift_watch, _incoming
from hmc_crowd.campaign._gold_marking import Meaning

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    import pandas as pd
    from numpy.typing import ArrayLike

    from hmc_crowd.campaign._context import Context

__all__ = ["Watching"]


class Watching:
    """The methods of `hmc_crowd.campaign.Campaign` that look at new work."""

    _context: Context

    def incoming(
        self,
        *,
        as_of: datetime | None = None,
        encoder: str | Callable[[Sequence[str]], ArrayLike] | None = None,
    ) -> pd.DataFrame:
        """Return what the gold in each submission says, and how sure that makes us, as of the moment it came in.

        Parameters
        ----------
        as_of : datetime, optional
            Only submissions until then, aware; all by default. What comes later changes no row.
        encoder : str or callable, optional
            How texts are compared with gold texts: ``"minilm"`` or texts -> vectors. Without it answers in words are
            not marked.

        Returns
        -------
        pandas.DataFrame
            One row per submission in order of time: ``platform, submission_id, worker, at, answers, gold, right, mark,
            n, rolling, confidence``. ``mark`` is the mean mark of its gold (a mark of .7 and more is ``right``),
            ``rolling`` the share right of the worker's last 50 before it, ``n`` how many these were. Confidence is
            .7 mark + .3 rolling; the mark alone without a record, the record alone without gold, .5 without both.

        Notes
        -----
        Nobody is rejected by it. The consensus gate takes it for the confidence of the submission's answers.
        """
        meaning = None if encoder is None else Meaning(encoder)
        return _incoming.incoming(self._context, as_of=as_of, meaning=meaning)

    def watch_drift(self, *, false_alarms: float = 0.001) -> int:
        """Look who has become worse, keep each alarm once, and return how many are new.

        The part of `check_quality` that is worth repeating whenever new answers came in: gold and agreement with the
        others, watched side by side.

        Parameters
        ----------
        false_alarms : float, default 0.001
            Alarms about steady workers that are put up with, for each worker and day.

        Raises
        ------
        InputError
            ``false_alarms`` is no number between 0 and 1.
        """
        return _drift_watch.watch_drift(self._context, false_alarms=false_alarms)
