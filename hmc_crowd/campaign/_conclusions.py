"""What may be concluded of a batch beyond agreement: the facade's part about figures, accuracy and uses of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign import _expert_audit, _figure, _stopping_bound, _stream

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.routing import OptimisticAccuracy

__all__ = ["Conclusions"]


class Conclusions:
    """The methods of `hmc_crowd.campaign.Campaign` that conclude."""

    _context: Context

    def estimate(
        self,
        of: str,
        *,
        by: Any = None,
        aspect: str | None = None,
        target: str = "population",
        level: float = 0.95,
    ) -> _figure.Figure:
        """Estimate the batch's final figure, with an interval that routing does not spoil.

        It rests on people's blind labels: of what the plan sent them, and of the audit that chance drew from the rest.
        Gold is left out, since nobody drew it.

        Parameters
        ----------
        of : str
            ``share:LABEL``; ``mean``, of labels that are numbers, or of grades (their place, from 1, where they have
            names); ``win:a`` or ``win:b`` of a pair, a tie being half a win.
        by : str, path or frame, optional
            Also for each category: a column of the items, one of their features, or a table ``item, category``.
        aspect : str, optional
            Which question; the first by default.
        target : {"population", "batch"}, default "population"
            The figure of all items that could have come, groups hanging together; or of these very items.
        level : float, default 0.95
            Coverage of the intervals.

        Returns
        -------
        Figure
            It says where the machine does not help.

        Raises
        ------
        InputError
            ``of`` or ``by`` does not fit the campaign, or labels were not given blind.
        StateError
            There is no plan, or there are no labels of people.
        """
        return _figure.estimate(self._context, of, by=by, aspect=aspect, target=target, level=level)

    def draw_expert_audit(
        self, n_machine: int, n_people: int, *, people_share: float = 0.5
    ) -> _expert_audit.ExpertDraw:
        """Draw labels at random for experts to judge blind: the only ground on which `certify_accuracy` stands.

        The items come to experts among their other cases, and nobody is told which they are.

        Parameters
        ----------
        n_machine, n_people : int
            How many labels that the machine gave, and how many that people gave.
        people_share : float, default 0.5
            Part of the allowed error that people's labels get; fixed with the draw.

        Raises
        ------
        StateError
            These very labels were drawn from already: one draw, one certificate.
        """
        return _expert_audit.draw(self._context, n_machine, n_people, people_share=people_share)

    def certify_accuracy(self, *, level: float = 0.95) -> _expert_audit.CampaignAccuracy:
        """Bound the share of labels that are right, people's own errors included, from the experts' audit.

        Drawn labels that no expert has judged count as wrong. The first blind label counts, whoever gave it; labels
        found wrong take it.

        Raises
        ------
        StateError
            Nothing was drawn, or labels have changed since.
        """
        return _expert_audit.accuracy(self._context, level=level)

    def optimistic_accuracy(self, *, level: float = 0.95) -> OptimisticAccuracy:
        """Bound accuracy with people's errors taken from gold: true only if gold is as hard as the rest, which is rare.

        People's label of a gold item is the majority of their first blind answers; a tie is wrong.
        """
        return _expert_audit.optimistic(self._context, level=level)

    def certify_stopping(self, *, aspect: str | None = None, level: float = 0.95) -> _stopping_bound.StoppingBound:
        """Bound how often asking until sure (`publish` with ``most``) kept a wrong label, from gold and from the audit.

        Parameters
        ----------
        aspect : str, optional
            Which question; the first by default.
        level : float, default 0.95
            Confidence of each of the two bounds.

        Raises
        ------
        StateError
            Every item gets the same number of answers, or nobody has answered yet.
        """
        return _stopping_bound.stopping_bound(self._context, aspect=aspect, level=level)

    def watch_stream(
        self,
        target: float,
        *,
        allowed_error: float,
        window_s: float = 3600.0,
        grace_s: float = 900.0,
        level: float = 0.95,
        joint: bool = False,
        audit_probability: float = 0.02,
        alarm_probability: float = 0.1,
        human_s_per_hour: float | None = None,
        shift: bool = True,
    ) -> _stream.Stream:
        """Watch what comes through the machine door from now on, window by window.

        The door then audits with these probabilities, whatever the plan's audit was, and needs each item's machine
        label (``label``): without it an audited item counts as wrong.

        Parameters
        ----------
        target : float
            Agreement that each window is to reach.
        allowed_error : float
            Error rate of what the machine keeps that the plan counts on; above it comes the alarm.
        window_s, grace_s : float, default 3600 and 900
            Length of a window, and how long it waits for answers after its end; those missing then count as wrong.
        level, joint : float and bool
            Confidence of the certificates, of each or of all together.
        audit_probability, alarm_probability : float, default 0.02 and 0.1
            Chance with which a kept item is audited, in peace and after an alarm.
        human_s_per_hour : float, optional
            Seconds of people that an hour may use: people become dearer where they use more, by answers that say when
            they were begun.
        shift : bool, default True
            Compare each window's confidences with those of the campaign's predictions.
        """
        return _stream.start(
            self._context,
            window_s=window_s,
            grace_s=grace_s,
            human_s_per_hour=human_s_per_hour,
            shift=shift,
            target=target,
            allowed_error=allowed_error,
            level=level,
            joint=joint,
            audit_probability=audit_probability,
            alarm_probability=alarm_probability,
        )

    def stream(self) -> _stream.Stream:
        """Say how the watched stream stands, after closing the windows that are over.

        Raises
        ------
        StateError
            None is watched.
        """
        return _stream.require_stream(_stream.look(self._context), self._context.name)

    def data_roles(self) -> pd.DataFrame:
        """Return what labels were used for: ``aspect, item, role`` ("fit", "choose", "certify"), ``purpose, at``.

        `calibrate` fits, `aggregate(method="choose")` and a plan with a promise choose (all of them on gold), `certify`
        and `certify_accuracy` certify. What certifies, or is drawn to, is refused by the others, and the other way
        round.
        """
        with self._context.store.read() as tx:
            return tx.roles.read(self._context.campaign_id)
