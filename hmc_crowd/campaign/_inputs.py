"""What a campaign is told: items, what the machine thinks of them, gold, times, guidelines: the facade's first part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign import _confidence, _data, _effort, _guideline, _learn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.effort import DriftReport, EffortModel
    from hmc_crowd.store import GuidelineRecord

__all__ = ["Inputs"]


class Inputs:
    """The methods of `hmc_crowd.campaign.Campaign` that take data."""

    _context: Context

    def add_items(self, items: Any) -> int:
        """Add the things to be judged.

        Parameters
        ----------
        items : path, frame, Dataset, Table or list of dicts
            Columns ``item[, group, position, text, audience, sensitive]`` and any numeric features; read by
            `hmc_crowd.io.read_frame`. ``audience`` says who may see an item (``any``, ``in_house``, a pool's name).

        Returns
        -------
        int
            How many were added.

        Raises
        ------
        InputError
            A column is missing, an item repeats or is there already; nothing is written then.
        """
        return _data.add_items(self._context, items)

    def add_predictions(self, predictions: Any, *, aspect: str | None = None, model_version: str = "1") -> int:
        """Add or replace what the machine thinks: ``item, label, confidence[, p_<label> ...]``."""
        return _data.add_predictions(self._context, predictions, aspect=aspect, model_version=model_version)

    def calibrate(
        self, labelled: Any = None, *, aspect: str | None = None, method: str = "auto"
    ) -> _confidence.Calibrated:
        """Learn from held-out labels what the machine's confidences are worth; later plans and labels use it.

        Parameters
        ----------
        labelled : path or frame, optional
            Columns ``confidence`` (raw, as in the predictions) and ``correct`` of items that the machine has not learnt
            from; a column ``item`` lets labels that certify be refused, with their groups (dialogues). Default: the
            campaign's gold items that have a prediction, but those whose group holds items that are no gold.
        aspect : str, optional
            Which question, when the campaign asks several.
        method : {"auto", "isotonic", "platt", "temperature"}
            See `hmc_crowd.confidence.Calibrator`.

        Raises
        ------
        StateError
            No gold item has a prediction, or labels certify already.
        ModelError
            Fewer than 20 labels, or all of them right or all wrong.
        """
        return _confidence.calibrate(self._context, labelled, aspect=aspect, method=method)

    def add_gold(self, gold: Any, *, aspect: str | None = None) -> int:
        """Add items whose label is known: ``item, label``. They check workers unseen and are never planned."""
        return _data.add_gold(self._context, gold, aspect=aspect)

    def add_effort(self, efforts: Any) -> int:
        """Store predicted times of your own for every item: ``item, seconds[, share, setup_s, p90_s]``."""
        return _effort.add_effort(self._context, efforts)

    def estimate_effort(self, model: EffortModel | None = None) -> _effort.EffortEstimate:
        """Predict the human time of every item.

        Parameters
        ----------
        model : EffortModel, optional
            Default: the campaign's newest model (`learn`, `train_effort`); without one, a reading-speed prior.
        """
        return _effort.estimate(self._context, model)

    def train_effort(
        self,
        features: Any,
        seconds: ArrayLike,
        *,
        kind: str = "random_forest",
        groups: ArrayLike | None = None,
        finished: ArrayLike | None = None,
    ) -> _learn.Learned:
        """Fit the effort model on times logged elsewhere: one row of features and the seconds of each dialogue.

        ``groups`` says who worked; rows where ``finished`` is false were cut off, and their seconds are a lower bound
        (kind "log_time" only).
        """
        return _learn.train(self._context, features, seconds, kind=kind, groups=groups, finished=finished)

    def effort_drift(
        self, features: Any, seconds: ArrayLike, *, periods: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> DriftReport:
        """Hold later times against the effort model in use; the arguments are as in `hmc_crowd.effort.drift_report`."""
        return _learn.drift(self._context, features, seconds, periods=periods, groups=groups)

    def set_guideline(
        self,
        text: str,
        *,
        aspect: str | None = None,
        version: str | None = None,
        wording: bool = False,
        dry_run: bool = True,
    ) -> _guideline.GuidelineChanged:
        """Put another guideline in force; by default only say what that would do to the answers that are there.

        Answers under a guideline that meant something else become stale: they stay stored, `status` counts them,
        `aggregate` leaves them out, and the next plan asks the questions again. So are answers that come later from
        places that were opened before, since their pages show the old text; `stop` closes them. Nothing is lost for
        good: `use_guideline` puts an earlier version in force again, and the answers under it count.

        Parameters
        ----------
        text : str
            How to judge; a blank line begins a paragraph.
        aspect : str, optional
            Which question, when the campaign asks several.
        version : str, optional
            Its name; by default the next number.
        wording : bool, default False
            The text says the same in other words (a typo, a clearer sentence): all answers stay good, also those from
            places that are open, and nobody is asked again what he has answered.
        dry_run : bool, default True
            Count the answers that would become stale, with their money, and change nothing.

        Raises
        ------
        DuplicateError
            There was a version of that name.
        InputError
            The text is empty, in force already, or that of an earlier version.
        """
        return _guideline.set_guideline(
            self._context, text, aspect=aspect, version=version, wording=wording, dry_run=dry_run
        )

    def use_guideline(
        self, version: str, *, aspect: str | None = None, dry_run: bool = True
    ) -> _guideline.GuidelineChanged:
        """Put an earlier version of the guideline in force again: answers under it count again, later ones do not.

        Parameters
        ----------
        version : str
            Its name, as `guidelines` tells.
        aspect : str, optional
            Which question, when the campaign asks several.
        dry_run : bool, default True
            Count the answers that would count again and those that would not, and change nothing.

        Raises
        ------
        InputError
            There is no such version, or it is in force.
        """
        return _guideline.use_guideline(self._context, version, aspect=aspect, dry_run=dry_run)

    def guidelines(self, aspect: str | None = None) -> list[GuidelineRecord]:
        """Return every version of the guidelines, oldest first; of one aspect, or of all."""
        with self._context.store.read() as tx:
            return tx.guidelines.history(self._context.campaign_id, aspect)
