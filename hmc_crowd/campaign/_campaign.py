"""The loop: items -> predictions and effort -> plan -> HITs -> answers -> gold check -> labels -> certificate -> learn.

`Campaign` is the only place where the store, a platform and the pure parts meet. Each method is one step, commits as a
whole or not at all, and may be called again without doing anything twice; what a step did stands in the database, so
the next one may run in another process, or a week later.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.clock import Clock, SystemClock
from hmc_crowd._base.ids import natural_key
from hmc_crowd.campaign import (
    _adjudicate,
    _aggregate,
    _collect,
    _data,
    _explain,
    _labels,
    _learn,
    _plan,
    _publish,
    _run,
    _status,
)
from hmc_crowd.campaign._conclusions import Conclusions
from hmc_crowd.campaign._context import Aspect, Context, Progress
from hmc_crowd.campaign._control import Control
from hmc_crowd.campaign._decide import PlanRequest
from hmc_crowd.campaign._diversity import Diversity
from hmc_crowd.campaign._examining import Examining
from hmc_crowd.campaign._golds import Golds
from hmc_crowd.campaign._inputs import Inputs
from hmc_crowd.campaign._label_names import label_names
from hmc_crowd.campaign._outside import Outside
from hmc_crowd.campaign._pairwise import Pairwise
from hmc_crowd.campaign._people import People
from hmc_crowd.campaign._pseudonyms import load_worker_key
from hmc_crowd.campaign._quota_methods import Quotas
from hmc_crowd.campaign._reviews import Reviews
from hmc_crowd.campaign._watching import Watching
from hmc_crowd.errors import DuplicateError, InputError
from hmc_crowd.io import write_frame
from hmc_crowd.store import AspectRecord, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

    import numpy as np

    from hmc_crowd.campaign._publication import Publication
    from hmc_crowd.platform import Platform, TaskPages
    from hmc_crowd.simulation import Crowd

__all__ = ["Campaign"]


class Campaign(
    Inputs, Outside, People, Control, Golds, Examining, Watching, Diversity, Quotas, Reviews, Pairwise, Conclusions
):
    """One evaluation: its items, what the machine thinks, what people answered, and what may be concluded.

    Make one with `Campaign.create`, `Campaign.open` or `Campaign.open_or_create`: context managers that close the
    database.

    Examples
    --------
    >>> import tempfile, pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> campaign = Campaign.create(f"{folder.name}/eval.db", labels=["good", "bad"])
    >>> campaign.add_items(pd.DataFrame({"item": ["a", "b"], "text": ["Fine, thanks.", "Go away."]}))
    2
    >>> campaign.add_predictions(
    ...     pd.DataFrame({"item": ["a", "b"], "label": ["good", "bad"], "confidence": [0.95, 0.6]})
    ... )
    2
    >>> campaign.estimate_effort().items
    2
    >>> plan = campaign.plan(trade_off=0.1, max_human=1, audit=1)
    >>> plan.people, plan.audit
    (1, 1)
    >>> campaign.close(); folder.cleanup()
    """

    def __init__(self, context: Context) -> None:
        self._context = context

    @classmethod
    def create(
        cls,
        database: str | Path,
        name: str = "campaign",
        *,
        labels: Sequence[str] = (),
        aspects: Sequence[Aspect] = (),
        positive_labels: Sequence[str] = (),
        currency: str = "USD",
        mode: str = "blind",
        suggest_share: float | None = None,
        seed: int | None = None,
        clock: Clock | None = None,
    ) -> Campaign:
        """Make a campaign, and its database if there is none.

        Parameters
        ----------
        database : str or Path
            A file (SQLite) or a database URL.
        name : str
            Unique in the database.
        labels : sequence of str
            The answers people may give, for a campaign with one question; empty: taken from the first predictions.
            Each has a name that can be seen and told from the others.
        aspects : sequence of Aspect
            The questions, when there are several or they are not nominal; instead of ``labels``. The first one
            routes and certifies; who sees an item is asked all of them.
        positive_labels : sequence of str
            Labels that take time (malevolent, toxic, wrong): the effort features count them.
        currency : str
            Of pay and budgets.
        mode : {"blind", "suggest"}
            Whether people see the machine's label before they answer. Labels that rest on suggested answers carry the
            evidence ``people_suggested``, and never certify, calibrate or correct an estimate.
        suggest_share : float, optional
            In mode "suggest" the chance with which a worker sees the label of an item, 1 by default; below 1 both arms
            exist, drawn at random for each worker and item, and `status` tells how much the suggestion moves people.
        seed : int, optional
            Of everything that is drawn; a random one is chosen and stored when absent.
        clock : Clock, optional
            Tells the time; the machine's by default.

        Raises
        ------
        InputError
            Labels that are no list of texts, or look alike; aspects beside labels, or aspects that repeat a name.
        DuplicateError
            The database has a campaign of that name; `open_or_create` opens it.
        """
        named = label_names(labels, name="labels")
        if named and aspects:
            raise InputError("give labels (one question) or aspects (several), not both")
        positive = label_names(positive_labels, name="positive_labels")
        asked = tuple(aspects) or (Aspect(labels=named),)
        if len({each.name for each in asked}) != len(asked):
            raise InputError(f"aspects repeat a name: {', '.join(each.name for each in asked)}; name each once")
        if asked[0].kind == "text":
            raise InputError(
                f"aspect {asked[0].name!r} is answered by texts and comes first; the first aspect routes by the "
                "machine's labels, so put one before it that has some"
            )
        share = _suggest_share(mode, suggest_share)
        clock = clock or SystemClock()
        store = open_store(str(database), create=True, clock=clock)
        drawn = secrets.randbits(32) if seed is None else int(seed)
        settings = {
            # Tells campaigns of one name in several databases apart on a platform that they share.
            "uid": natural_key(name, drawn, clock.now().isoformat()),
            "seed": drawn,
            "currency": currency,
            "labels": {},
            "positive_labels": list(positive),
            "suggest_share": share,
        }
        try:
            key = load_worker_key(store.url)
            with store.begin() as tx:
                record = tx.campaigns.create(name, settings, created_at=clock.now())
                for each in asked:
                    tx.campaigns.add_aspect(record.id, AspectRecord(**each.__dict__))
                    tx.guidelines.add(record.id, AspectRecord(**each.__dict__), at=clock.now())
                context = Context(store, record.id, name, key, clock)
                context.log(tx, "created", aspects=[each.name for each in asked])
        except BaseException:
            store.close()
            raise
        return cls(context)

    @classmethod
    def open_or_create(
        cls, database: str | Path, name: str = "campaign", *, clock: Clock | None = None, **options: Any
    ) -> Campaign:
        """Open a campaign if the database has one of that name, and make it otherwise: a notebook's cell, run again.

        Parameters
        ----------
        database : str or Path
            A file (SQLite) or a database URL.
        name : str
            Unique in the database.
        clock : Clock, optional
            Tells the time; the machine's by default.
        **options
            As in `create`. Of a campaign that exists they must say what it was made with; what is left out is not
            looked at.

        Raises
        ------
        InputError
            The campaign that exists was made with other options; nothing was changed.

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> for _ in range(2):
        ...     with Campaign.open_or_create(f"{folder.name}/eval.db", labels=["good", "bad"]) as campaign:
        ...         print(campaign.name, [each.labels for each in campaign.aspects])
        campaign [('good', 'bad')]
        campaign [('good', 'bad')]
        >>> folder.cleanup()
        """
        try:
            return cls.create(database, name, clock=clock, **options)
        except DuplicateError:
            opened = cls.open(database, name, clock=clock)
        try:
            opened._require_same(options)
        except BaseException:
            opened.close()
            raise
        return opened

    def _require_same(self, options: dict[str, Any]) -> None:
        """Refuse options of `create` that this campaign was not made with."""
        has = self._context.settings()
        asked: Sequence[Aspect] = options.get("aspects") or ()
        if options.get("labels"):
            asked = (Aspect(labels=tuple(options["labels"])),)
        share = float(has.get("suggest_share", 0.0))
        wanted_share = None
        if "mode" in options or "suggest_share" in options:
            wanted_share = _suggest_share(options.get("mode", "blind"), options.get("suggest_share"))
        pairs = [
            (
                "labels" if options.get("labels") else "aspects",
                [(each.name, each.kind, tuple(each.labels)) for each in self.aspects],
                [(each.name, each.kind, tuple(each.labels)) for each in asked] or None,
            ),
            ("positive_labels", list(has.get("positive_labels", [])), [*options.get("positive_labels", ())] or None),
            ("currency", has.get("currency"), options.get("currency")),
            ("seed", has.get("seed"), options.get("seed")),
            ("suggest_share", share, wanted_share),
        ]
        for what, there, wanted in pairs:
            if wanted is not None and wanted != there:
                raise InputError(
                    f"{what}: campaign {self.name!r} exists already and was made with {there}, not {wanted}; leave "
                    f"{what} out to open it as it is, or choose another name"
                )

    @classmethod
    def open(cls, database: str | Path, name: str | None = None, *, clock: Clock | None = None) -> Campaign:
        """Open a campaign that exists; the database's only one when no name is given."""
        clock = clock or SystemClock()
        store = open_store(str(database), clock=clock)
        try:
            with store.read() as tx:
                record = tx.campaigns.get(name)
            return cls(Context(store, record.id, record.name, load_worker_key(store.url), clock))
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self._context.store.close()

    def __enter__(self) -> Campaign:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r} in {self._context.store.url}>"

    @property
    def name(self) -> str:
        """The campaign's name."""
        return self._context.name

    @property
    def aspects(self) -> list[Aspect]:
        """The questions it asks."""
        return [Aspect(**each.__dict__) for each in self._context.aspects()]

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make the ``add_*`` calls of a ``with`` block one transaction: all tables are taken, or none."""
        with self._context.together():
            yield

    def plan(
        self,
        trade_off: float = 4.6,
        max_human: int | float | None = 0.5,
        *,
        max_human_s: float | None = None,
        max_money_minor: int | None = None,
        audit: int | float | None = None,
        effort: str = "share",
        redundancy: int = 3,
        pay_per_hour_minor: int | None = None,
        confidence: str = "calibrated",
        due_at: datetime | None = None,
        target_agreement: float | None = None,
        level: float = 0.95,
        assurance: float = 0.9,
        platform: str | None = None,
        tax_rate: float = 0.0,
    ) -> _plan.CampaignPlan:
        """Decide for every item whether people judge it, and draw the audit of the others.

        Parameters
        ----------
        trade_off : float, default 4.6
            Price of one unit of effort in units of confidence (lambda); the default is the HMCEval paper's choice.
        max_human : int or float, optional
            Most items people may get: a count, or a share of the batch (default .5, the paper's). The audit comes on
            top.
        max_human_s : float, optional
            Most seconds of people's time, over all answers (``redundancy`` an item), audit included.
        max_money_minor : int, optional
            Most money, audit and platform fees included; needs ``pay_per_hour_minor``. Gold comes on top.
        audit : int or float, optional
            Machine-kept items that people look at anyway, drawn at random: a count or a share of them; default 5 %, at
            least 50.
        effort : {"share", "seconds"}
            Unit of the effort in the gain: the paper's share in [0, 1], or seconds.
        redundancy, pay_per_hour_minor
            What an item costs, for the two budgets.
        confidence : {"calibrated", "raw"}
            Read the machine's confidences through the newest calibration (see `calibrate`; as they came where there is
            none), or always as they came.
        due_at : datetime, optional
            Deadline, aware: the plan says in a sentence where the work for people is more than the shifts of the pools
            (`add_shift`) can do until then.
        target_agreement : float, optional
            Plan so that this share of labels is certified to agree with people, for the least human time:
            ``trade_off``, ``max_human``, ``audit`` and ``effort`` are then chosen, whatever was given. Planned again
            after a failed audit, the same promise tops the audit up once.
        level, assurance : float, default 0.95 and 0.9
            Confidence of that certificate, and how often it is to come out.
        platform : str, optional
            Whose fees ``max_money_minor`` holds, a key of `FEES`; by default the platform that has the campaign's HITs,
            else the local one, which takes none.
        tax_rate : float, default 0
            Value added tax on that fee, a share, where it is due.

        Returns
        -------
        CampaignPlan
            Counts and the time it takes, counted both ways.

        Raises
        ------
        InfeasibleError
            The promise cannot be kept within the budgets; ``nearest`` is a plan that promises less.
        """
        request = PlanRequest(
            trade_off=trade_off,
            max_human=max_human,
            max_human_s=max_human_s,
            max_money_minor=max_money_minor,
            audit=audit,
            effort=effort,
            redundancy=redundancy,
            pay_per_hour_minor=pay_per_hour_minor,
            confidence=confidence,
            target_agreement=target_agreement,
            level=level,
            assurance=assurance,
            platform=platform,
            tax_rate=tax_rate,
        )
        return _plan.make_plan(self._context, request, due_at=due_at)

    def plan_differs(self, asked: dict[str, Any]) -> bool:
        """Say whether arguments of `plan` ask for something else than the newest plan was made with."""
        made_from = self._context.latest_plan().header["made_from"]
        return any(name in made_from and made_from[name] != value for name, value in asked.items())

    def publish(
        self,
        platform: Platform | str = "local",
        *,
        redundancy: int = 3,
        pay_minor: int | None = None,
        pay_per_hour_minor: int | None = None,
        currency: str | None = None,
        budget_minor: int | None = None,
        target_minutes: float = 12.0,
        gold_share: float = 0.1,
        gold_limit: int | None = None,
        people: int | None = None,
        most: int | None = None,
        error: float = 0.05,
        title: str | None = None,
        description: str = "",
        content_warning: str = "",
        pool: str | None = None,
        skills: Sequence[str] = (),
        pages: TaskPages | None = None,
        short: bool = False,
        test: str | None = None,
        panel: bool = True,
        dry_run: bool = True,
        progress: Progress | None = None,
    ) -> _publish.CostSheet:
        """Bundle the plan's items into HITs and offer them to people; by default only say what that would cost.

        Called again, after a crash or from a second process, it goes on where it stopped: nothing is published twice.

        Parameters
        ----------
        platform : Platform or str
            A connected platform, or the name of an installed one.
        redundancy : int, default 3
            How many people answer each item.
        pay_minor, pay_per_hour_minor : int, optional
            What one submission earns, or one expected hour of work; give one of them, or a pool.
        budget_minor : int, optional
            Most to spend, fees included, over the whole campaign; needed unless ``dry_run``.
        target_minutes : float, default 12
            Expected length of a HIT.
        gold_share : float, default 0.1
            Share of gold questions in a HIT. Labels and steps of difficulty take turns, the least shown comes first.
        gold_limit : int, optional
            Most people who may meet a gold item, over all rounds; then it rests, and HITs for which none is left carry
            none. At least the redundancy, since all who do a HIT meet the same gold; more places for a HIT (`extend`)
            are not refused for it. None sets no limit.
        people : int, optional
            How many people are expected to share the work: what a worker's gold will tell rests on it. By default those
            who have worked so far, or else the fewest who could do it with this gold.
        most : int, optional
            Ask until sure: items are asked ``redundancy`` times first, then once more a round (`plan` and publish
            again, or `run`) while their label is not sure, up to ``most``. Sure is calibrated on the campaign's gold;
            with too little of it everything is asked ``most`` times, and it is said. Audited items get ``most`` answers
            at once, so that nothing sways the certificate. None gives every item ``redundancy`` answers.
        error : float, default 0.05
            Most chance of a wrong label of an item that is asked no more; below .5.
        title, description : str
            What workers read before they take a HIT; by default the campaign's name, and nothing.
        content_warning : str
            Put before the description; needed where items are flagged as sensitive. On our own pages it is also the
            category of disturbing text that people may opt out of.
        pool : str, optional
            Only people of this pool get the HITs, and its price is what they earn (give no pay then).
        skills : sequence of str
            What people must be able to do; a language is written ``language:de``.
        pages : TaskPages, optional
            Who shows the work to people whom the platform only recruits (Prolific), for example the local workplace.
        short : bool, default False
            Publish although the quotas (`set_quotas`) cannot be kept by who is known, as far as those go.
        test : str, optional
            On MTurk and Prolific: let in only who passed this test, as `sync_test` told the platform last; who passes
            later comes in with the next `sync_test`. On pages of one's own the study's test decides.
        panel : bool, default True
            Let in only who was drawn for the platform's panel (`draw_panel`), where one was; not where Prolific
            recruits by quotas, whose cells name whom they let in.
        dry_run : bool, default True
            Say what it would cost, and send nothing.

        Raises
        ------
        BudgetError
            It costs more than the budget leaves; nothing was sent.
        InfeasibleError
            The quotas cannot be kept; nothing was sent.
        InputError
            An item may not be shown there, or is sensitive and nobody would be warned.
        PlatformUnavailableError
            The platform did not answer every call; publishing again goes on where it stopped.
        NeedsHumanError
            What became of a call must be found out by a person: see `questions`.
        """
        request = _publish.PublishRequest(
            redundancy=redundancy,
            pay_minor=pay_minor,
            pay_per_hour_minor=pay_per_hour_minor,
            currency=currency or str(self._context.settings()["currency"]),
            budget_minor=budget_minor,
            target_minutes=target_minutes,
            gold_share=gold_share,
            gold_limit=gold_limit,
            people=people,
            most=most,
            error=error,
            title=title or self.name,
            description=description,
            dry_run=dry_run,
            content_warning=content_warning,
            pool=pool,
            skills=tuple(skills),
            short=short,
            test=test,
            panel=panel,
        )
        return _publish.publish(self._context, _publish.connect(platform, self._context), request, pages, progress)

    def collect(
        self, platform: Platform | str = "local", *, pages: TaskPages | None = None, progress: Progress | None = None
    ) -> _collect.Collected:
        """Read submissions, answers and times from the platform into the database.

        Parameters
        ----------
        platform : Platform or str
            A connected platform, or the name of an installed one.
        pages : TaskPages, optional
            Who shows the work, where the platform only recruits (Prolific).
        """
        return _collect.collect(self._context, _publish.connect(platform, self._context), pages, progress)

    def aggregate(
        self,
        *,
        method: str = "dawid_skene",
        strata: str | None = None,
        history: str | None = None,
        engine: Any = None,
        client: Any = None,
        include_stale: bool = False,
        blind_only: bool = False,
        update: bool = False,
        progress: Progress | None = None,
    ) -> _aggregate.Aggregated:
        """Turn several answers into one label for each item that people answered; gold takes part as what is known.

        Ordinal and numeric aspects are aggregated by the numeric method whatever ``method`` says, and the result says
        so; multi-label ones label by label, texts not at all.

        Parameters
        ----------
        method : str, default "dawid_skene"
            Any method for labels of `hmc_crowd.aggregation.aggregate`, or "choose", which picks one by the gold.
        strata : {"route"}, optional
            Let label shares and workers differ between routed, audited and gold items: routed ones are the hard ones.
        history : str, optional
            Another campaign in this database: what is known of its workers counts from the start.
        engine, client
            What computes Dawid-Skene, as in `hmc_crowd.aggregation.aggregate`.
        include_stale : bool, default False
            Let answers under another guideline count as well.
        blind_only : bool, default False
            Let only answers count that were given without the machine's label in view: such labels may certify.
        update : bool, default False
            Label only the items with new answers, under the worker tables of the last Dawid-Skene aggregation, at
            once; a full aggregation, here or in another process, learns the tables anew.

        Raises
        ------
        StateError
            There are no answers; with ``update``, no worker tables yet, or the labels have changed since.
        """
        if update:
            odd = {"include_stale": include_stale or None, "blind_only": blind_only or None}
            _aggregate.require_plain_update(method=method, strata=strata, history=history, engine=engine, **odd)
            return _aggregate.update_labels(self._context)
        return _aggregate.aggregate(
            self._context,
            _aggregate.AggregateRequest(
                method=method,
                strata=strata,
                history=history,
                engine=engine,
                client=client,
                include_stale=include_stale,
                blind_only=blind_only,
            ),
            progress,
        )

    def certify(self, *, level: float | None = None) -> _labels.CampaignCertificate:
        """Bound from the audit how many of the batch's labels agree with our people: exact for this batch.

        Parameters
        ----------
        level : float, optional
            Confidence; by default .95, or what the plan's promise sets aside for this look at the audit.
        """
        return _labels.certify(self._context, level=level)

    def learn(self, *, kind: str = "random_forest", per: str = "group") -> _learn.Learned:
        """Retrain the effort model from the logged times of this campaign's submissions.

        Parameters
        ----------
        kind : {"random_forest", "xgboost", "log_time"}, default "random_forest"
            As in `hmc_crowd.effort.EffortModel`; "log_time" also learns from work that was given back or ran out of
            time, as lower bounds.
        per : {"group", "item"}, default "group"
            Whether the time of a group is learnt and divided among its items, as in the paper, or that of each item.
        """
        return _learn.learn(self._context, kind=kind, per=per)

    def labels(self, target: Any = None, *, aspect: str | None = None, overwrite: bool = False) -> Any:
        """Return (or write to a file) one label for every item: ``item, label, source, confidence, ...``.

        Without a target the frame is of the kind the items were (pandas, polars, Dataset); items from a file give
        pandas.
        """
        name = self._context.aspect(aspect).name
        with self._context.store.read() as tx:
            frame = _labels.final_labels(self._context, tx, name)
        if target is not None:
            return write_frame(frame, target, overwrite=overwrite, safe_for_spreadsheets="auto")
        return _data.like_the_items(self._context, frame)

    def cases(self, expert: str, *, aspect: str | None = None) -> Any:
        """Return what waits for an expert: ``item, tied, confidence, n_answers, is_begun``, the most doubtful first."""
        return _adjudicate.cases(self._context, expert, aspect=aspect)

    def case(self, item: str, expert: str, *, aspect: str | None = None) -> _adjudicate.Case:
        """Return an item as this expert may see it now: what others said only after his own blind label."""
        return _adjudicate.open_case(self._context, item, expert, aspect=aspect)

    def judge(self, item: str, label: str, *, expert: str, aspect: str | None = None) -> _adjudicate.Case:
        """Keep an expert's blind label, and reveal what the crowd and the machine said; his first label counts."""
        return _adjudicate.judge(self._context, item, label, expert, aspect=aspect)

    def decide(self, item: str, label: str, *, expert: str, aspect: str | None = None) -> _adjudicate.Adjudicated:
        """Keep what an expert says after the reveal: it becomes the item's label, unless experts differ (`reviews`).

        Where it is the blind label, the evidence is ``expert_blind``, else ``expert_informed``; both are kept, and a
        certificate counts the blind one.
        """
        return _adjudicate.decide(self._context, item, label, expert, aspect=aspect)

    def confusion(self, *, aspect: str | None = None) -> Any:
        """Count experts' blind labels (rows) against the crowd's (columns)."""
        return _adjudicate.confusion(self._context, aspect=aspect)

    def status(self) -> _status.Status:
        """Say where the campaign stands and what comes next."""
        return _status.status(self._context)

    def explain(self, item: str, *, aspect: str | None = None) -> _explain.Explanation:
        """Say why an item went where it went, who answered, and why its label is final."""
        return _explain.explain(self._context, item, aspect=aspect)

    def report(self, path: str | Path, *, truth: Any = None) -> Path:
        """Write the report: one HTML file, with the same numbers as JSON and CSV beside it.

        Parameters
        ----------
        path : str or Path
            The HTML file; JSON and CSV get the same name.
        truth : path or frame, optional
            ``item, label`` where the true label is known: shows which machine-kept items are wrong.
        """
        from hmc_crowd.campaign._report import write_campaign_report

        return write_campaign_report(self._context, path, truth)

    def export_publication(
        self,
        folder: str | Path,
        *,
        with_gold: bool = False,
        with_text: bool = False,
        license_url: str = "",
        overwrite: bool = False,
        rng: np.random.Generator | None = None,
    ) -> Publication:
        """Write what a paper and its readers need, and nobody's name: answers, labels, codebook, data card, methods.

        Parameters
        ----------
        folder : str or Path
            New or empty.
        with_gold, with_text : bool, default False
            Also answers to gold, which spoils it; also free text, which may name somebody.
        license_url : str
            For the data card.
        overwrite : bool, default False
        rng : numpy.random.Generator, optional
            Numbers the workers; by default nobody can repeat it.
        """
        from hmc_crowd.campaign._publication import write_publication

        return write_publication(
            self._context,
            folder,
            with_gold=with_gold,
            with_text=with_text,
            license_url=license_url,
            overwrite=overwrite,
            rng=rng,
        )

    def run(
        self,
        platform: Platform | str = "local",
        *,
        crowd: Crowd | None = None,
        max_rounds: int = 5,
        method: str = "dawid_skene",
        plan: dict[str, Any] | None = None,
        publish: dict[str, Any] | None = None,
        pages: TaskPages | None = None,
        progress: Progress | None = None,
    ) -> _run.RunResult:
        """Play rounds until every planned item is answered, or until it is people's turn.

        Parameters
        ----------
        platform : Platform or str
            Where people work.
        crowd : Crowd, optional
            Simulated workers; without them the run stops after publishing and collecting what is there, to be called
            again when people have worked.
        max_rounds : int, default 5
            Most rounds.
        plan, publish : dict
            Keyword arguments of those two steps; ``publish`` needs ``budget_minor`` and pay.
        pages : TaskPages, optional
            Who shows the work, where the platform only recruits.
        """
        return _run.run(
            self,
            _publish.connect(platform, self._context),
            crowd=crowd,
            max_rounds=max_rounds,
            method=method,
            plan=plan or {},
            publish=publish or {},
            pages=pages,
            progress=progress,
        )


def _suggest_share(mode: str, share: float | None) -> float:
    """Return with which chance people see the machine's label."""
    if mode not in {"blind", "suggest"}:
        raise InputError(f"mode is {mode!r}; give 'blind', or 'suggest' to show people the machine's label")
    if mode == "blind":
        if share:
            raise InputError(f"suggest_share is {share} in mode 'blind', which shows nothing; give mode='suggest'")
        return 0.0
    drawn = 1.0 if share is None else share
    if isinstance(drawn, bool) or not 0 < drawn <= 1:
        raise InputError(f"suggest_share is {drawn!r}; give a share above 0 and up to 1")
    return float(drawn)
