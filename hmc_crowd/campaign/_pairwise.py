"""What a campaign knows of pairs of responses: the facade's fourth part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign import _pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.judges import JudgeCalibration, WinRates

__all__ = ["Pairwise"]


class Pairwise:
    """The methods of `hmc_crowd.campaign.Campaign` about pairs of responses."""

    _context: Context

    def add_pairs(
        self,
        pairs: Any,
        *,
        judged: pd.DataFrame | None = None,
        calibration: JudgeCalibration | None = None,
        aspect: str | None = None,
        model_version: str = "1",
    ) -> int:
        """Add pairs of responses as items and, where a judge has seen them, its word as their predictions.

        People see the instruction and both responses, never the reference; the audience goes with each pair. An empty
        response is shown as such. A pair that the judge could not read is what people see first; two equal responses
        are a tie for sure.

        Parameters
        ----------
        pairs : frame, mapping or Pairs
            As `hmc_crowd.judges.read_pairs` takes them.
        judged : frame, optional
            What a judge returned, one row per pair; or add predictions later.
        calibration : JudgeCalibration, optional
            What its confidence means, learnt from other pairs. Without it the judge's own probabilities are taken as
            they are; `calibrate` can learn from gold what they are worth.
        aspect : str, optional
            Which question, when several compare pairs.
        model_version : str
            Of the judge, for the record.

        Returns
        -------
        int
            How many pairs were added.

        Raises
        ------
        InputError
            No question of the campaign compares pairs, an item is there already, or the judge's table lacks a pair;
            nothing is written then.

        Examples
        --------
        >>> import tempfile
        >>> from hmc_crowd.campaign import Aspect, Campaign
        >>> from hmc_crowd.judges import RougeJudge, example_pairs
        >>> pairs, _ = example_pairs()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with Campaign.create(f"{folder}/c.db", aspects=[Aspect("better", kind="pair")]) as campaign:
        ...         campaign.add_pairs(pairs, judged=RougeJudge().judge(pairs))
        117
        """
        return _pairs.add_pairs(
            self._context,
            pairs,
            judged=judged,
            calibration=calibration,
            aspect=aspect,
            model_version=model_version,
        )

    def win_rates(
        self,
        pairs: Any,
        models: str | Sequence[str] = "model",
        *,
        aspect: str | None = None,
        level: float = 0.95,
        alpha: float = 0.05,
    ) -> WinRates:
        """Return each model's win rate and rank: the judge's mean over all pairs, corrected by what people said.

        Parameters
        ----------
        pairs : frame, mapping or Pairs
            Pairs of the newest plan, or some of them.
        models : str or sequence of str, default "model"
            Column of `pairs` that says who wrote response a, or one name per pair.
        aspect : str, optional
            Which question, when several compare pairs.
        level, alpha : float
            Of the intervals, and of the tests that make the groups of ranks.

        Returns
        -------
        WinRates
            See `hmc_crowd.judges.win_rates`: right however bad the judge is, as long as there is an audit.

        Raises
        ------
        StateError
            No plan, no labels of people, no audit, or pairs that no plan knows.
        InputError
            People saw the machine's labels before they answered.
        """
        return _pairs.pair_win_rates(self._context, pairs, models, aspect=aspect, level=level, alpha=alpha)
