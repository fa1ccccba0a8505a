"""Quality control of a campaign: standing of people, alerts, gates and experts: the facade's fourth part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from hmc_crowd.campaign import (
    _alerts,
    _approval,
    _assign,
    _gating,
    _gold_check,
    _panel,
    _publish,
    _quality_learning,
    _rates,
    _standing,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._gold_marking import Encoder
    from hmc_crowd.platform import Platform
    from hmc_crowd.quality import AlertRule, Expert, ExpertGate, Quota
    from hmc_crowd.store import NoticeRecord

__all__ = ["Control"]


class Control:
    """The methods of `hmc_crowd.campaign.Campaign` about quality."""

    _context: Context

    def check_quality(
        self,
        *,
        level: float = 0.95,
        false_alarms: float = 0.001,
        encoder: Encoder | None = None,
        similar: float = 0.7,
    ) -> _standing.QualityCheck:
        """Say how good everybody is, who has become worse, which gold is suspect, which texts ask for a look.

        Leaves nobody's answers out and touches nobody's pay; alarms of drift are kept, each once.

        Parameters
        ----------
        level : float, default 0.95
            Of the intervals.
        false_alarms : float, default 0.001
            Alarms about steady workers that are put up with, for each worker and day.
        encoder, similar
            How gold in words is marked, as in `check_gold`.

        Raises
        ------
        InputError
            ``false_alarms`` is no number between 0 and 1.
        """
        meaning = _gold_check.meaning_of(encoder, similar)
        return _standing.check_quality(self._context, level=level, false_alarms=false_alarms, meaning=meaning)

    def quality_model(
        self, kind: Literal["random_forest", "xgboost"] = "random_forest"
    ) -> _quality_learning.LearnedQuality:
        """Learn from answered gold what features say of each worker, and whether that beats gold alone.

        Taught by some workers before a moment, checked on others after it. Stores nothing, leaves nobody out and
        touches nobody's pay.

        Parameters
        ----------
        kind : {"random_forest", "xgboost"}, default "random_forest"
            The second needs the extra ``boost``.

        Returns
        -------
        LearnedQuality
            The model with its report, and of each worker the quality by model and by gold alone with both intervals,
            the features as of now, and ``priority``, the source's score for ranking: quality that halves in 24 hours,
            less up to a tenth for recent faults, more for a streak, times 1.1 for the consistent, at most 1. It is no
            probability. With too little gold, one worker or one class there is no model: one sentence says why, and
            the Bayesian quality stands alone.

        Raises
        ------
        InputError
            The kind is unknown.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from hmc_crowd.campaign import Campaign
        >>> file = Path(tempfile.mkdtemp()) / "campaign.db"
        >>> with Campaign.create(file, labels=["kind", "rude"]) as campaign:
        ...     print(campaign.quality_model())
        nobody has answered gold, or no answer says when: there is no model, and the quality is the Bayesian one alone
        """
        return _quality_learning.learn_quality(self._context, kind)

    def add_approval_rates(self, rates: Any, *, platform: str, at: datetime | None = None) -> int:
        """Keep the lifetime approval rates that a platform tells of its workers; return how many readings are new.

        Parameters
        ----------
        rates : path or frame
            ``worker`` (the platform's id), ``rate`` (a share, or text such as ``95% (19/20)``; missing or ``0% (0/0)``
            is unknown), optional ``reviewed`` (how many reviews it rests on; else as the text says) and ``at`` (with a
            zone). MTurk's names of columns, ``WorkerId`` and ``LifetimeApprovalRate``, are understood.
        platform : str
            Whose rates they are.
        at : datetime, optional
            When they were read, aware; now by default.

        Raises
        ------
        FrameError
            A rate that is neither a share nor a percentage, a time without a zone, two different rates of a worker at
            one moment; nothing is kept then.
        """
        return _rates.add_rates(self._context, rates, platform=platform, at=at)

    def approval_ranking(self, workers: Sequence[str] | None = None, *, as_of: datetime | None = None) -> pd.DataFrame:
        """Return approval rates and ranks as they were known at a moment, with their source.

        Parameters
        ----------
        workers : sequence of str, optional
            Pseudonyms; everybody who worked, or whose rate was read, by default.
        as_of : datetime, optional
            Only what happened before it counts; now by default.

        Returns
        -------
        pandas.DataFrame
            As `hmc_crowd.quality.approval_ranking`: ``worker, as_of, rate, reviewed, low, high, source, rank, ranked,
            place``.
        """
        with self._context.store.read() as tx:
            cid = self._context.campaign_id
            known = (
                {*tx.work.submissions(cid)["worker"], *tx.standing.rates(cid)["worker"]} if workers is None else set()
            )
            names = sorted(known) if workers is None else list(workers)
            return _approval.ranking(self._context, tx, names, as_of or self._context.clock.now())

    def draw_panel(
        self,
        workers: Any,
        quotas: Sequence[Quota],
        people: int,
        *,
        name: str = "panel",
        platform: Platform | str | None = None,
        short: bool = False,
    ) -> _panel.Panel:
        """Draw who shall be let in so that quotas are kept, and have a platform let in no others.

        Parameters
        ----------
        workers : path or frame
            ``worker`` (the platform's id) and the attributes of the quotas, as people gave them; stored nowhere.
        quotas : sequence of Quota
        people : int
            How many to draw.
        name : str
            Of the panel; the same name draws the same people.
        platform : Platform or str, optional
            Where the draw is enforced: a qualification type on MTurk, a participant group on Prolific. On pages of your
            own, invite who is drawn to a pool.
        short : bool, default False
            Enforce a draw that falls short of its quotas, too.

        Raises
        ------
        InfeasibleError
            No draw keeps the quotas; the platform was told nothing.
        """
        where = None if platform is None else _publish.connect(platform, self._context)
        return _panel.draw_panel(self._context, workers, quotas, people, name=name, platform=where, short=short)

    def alert_rules(self) -> tuple[AlertRule, ...]:
        """Return the rules in force on the campaign's figures."""
        return _alerts.rules(self._context)

    def set_alert_rules(self, rules: Iterable[AlertRule] | None) -> tuple[AlertRule, ...]:
        """Put rules of the campaign's own in force, which then also lead its board; None brings the usual ones back.

        Raises
        ------
        InputError
            Two rules of one name, or a figure that a campaign does not have.
        """
        return _alerts.set_rules(self._context, rules)

    def check_alerts(self) -> _alerts.AlertLook:
        """Look at the figures once; what is new goes to the log, to webhooks and to the board, and what is over too."""
        return _alerts.look(self._context)

    def alerts(self) -> tuple[tuple[_alerts.Lasting, ...], list[NoticeRecord]]:
        """Return the alerts that last by the last look, and the newest notices; looks at nothing anew."""
        return _alerts.show(self._context)

    def gate(
        self, gate: str | ExpertGate = "rules", *, aspect: str | None = None, items: Any = None, **settings: Any
    ) -> _gating.Gated:
        """Decide for every item that people answered whether its label stands or an expert must look.

        Every decision is kept with its policy, version, reason and evidence; the newest one counts. What an expert has
        decided is not decided again.

        Parameters
        ----------
        gate : {"rules", "consensus", "weighted", "posterior", "ml"} or ExpertGate
            By name, made for what the campaign knows: "ml" learns from answered gold, "posterior" is calibrated on it;
            or any gate of `hmc_crowd.quality`. A gate that knows too little sends everything to an expert.
        aspect : str, optional
            Which question; the first by default.
        items : path or frame, optional
            ``item`` and any of ``risk, complexity, semantic_complexity, urgency``; else numeric columns of these names
            that the items were added with, and a complexity learnt from texts and answers.
        **settings
            Of a gate by name, such as ``quality=0.6`` for the rules.

        Returns
        -------
        Gated
            How many items go to an expert, and why.

        Raises
        ------
        StateError
            Nobody has answered yet.
        InputError
            The gate is unknown, or a setting makes no sense.
        """
        return _gating.decide_items(self._context, gate, aspect=aspect, items=items, settings=settings)

    def decisions(self, *, aspect: str | None = None, newest: bool = False) -> pd.DataFrame:
        """Return what gates and experts decided, oldest first; with ``newest`` the decision in force of each item.

        Columns ``aspect, item, decided_at, decided_by, decider, policy, policy_version, decision, reason_code,
        evidence, label, score``; ``decision`` is accept, expert, or decided (by a person).
        """
        return _gating.decisions(self._context, aspect=aspect, newest=newest)

    def assign_experts(
        self,
        experts: Sequence[Expert] | None = None,
        *,
        aspect: str | None = None,
        items: Any = None,
        hours: float = 1.0,
        patience_s: float = 3600.0,
        cost_weight: float = 0.0,
        anew: bool = False,
    ) -> _assign.Assigned:
        """Give the items that a gate sent to experts to those who have room; their pages then show these alone.

        Parameters
        ----------
        experts : sequence of Expert, optional
            Default: the holders of the board's expert keys. A skill ``pool:NAME`` of a key names the pool whose tier,
            speed, price and shifts count for its holder.
        items : path or frame, optional
            ``item`` and any of ``area, tier, risk, complexity, urgency, due_at``.
        hours : float, default 1
            Room is counted for so many hours from now.
        patience_s, cost_weight
            As in `hmc_crowd.quality.allocate_experts`.
        anew : bool, default False
            Also give out again what was given before and nobody has begun.

        Raises
        ------
        StateError
            No gate has decided yet.
        """
        return _assign.assign(
            self._context,
            experts,
            aspect=aspect,
            items=items,
            hours=hours,
            patience_s=patience_s,
            cost_weight=cost_weight,
            anew=anew,
        )

    def assignments(self, *, aspect: str | None = None) -> pd.DataFrame:
        """Return who has what to judge: ``aspect, item, expert, tier, place, score, assigned_at, due_at``."""
        return _assign.assigned(self._context, aspect=aspect)
