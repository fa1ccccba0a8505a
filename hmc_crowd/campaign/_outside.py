"""What a campaign does with people and money outside, beyond publishing and collecting: the facade's second half."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.campaign import _asked, _extend, _hold, _listing, _pay, _publish, _reconcile, _reject, _review, _stop

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from hmc_crowd.campaign._context import Context, Progress
    from hmc_crowd.platform import Platform, TaskPages
    from hmc_crowd.quality import RejectionProposal

__all__ = ["Outside"]


class Outside:
    """The methods of `hmc_crowd.campaign.Campaign` that review, pay, extend, stop and reconcile.

    All that spend say only what they would do unless ``dry_run=False``; then they need ``budget_minor``, the most that
    the campaign may have reserved and spent in all. All may be called again after a crash, and by two processes.
    """

    _context: Context

    def reconcile(
        self, platform: Platform | str = "local", *, pages: TaskPages | None = None, progress: Progress | None = None
    ) -> _reconcile.Reconciled:
        """Find out what became of calls that have no outcome, and compare what is stored with what the platform holds.

        Run it at the start of a session and every few minutes; it spends nothing and sends nothing anew, except what
        was begun and surely did not happen.

        Parameters
        ----------
        platform : Platform or str
            A connected platform, or the name of an installed one.
        pages : TaskPages, optional
            Who shows the work, where the platform only recruits.
        """
        where = _publish.connect(platform, self._context)
        return _reconcile.reconcile(self._context, where, pages, progress)

    def approve(
        self,
        platform: Platform | str = "local",
        submissions: Iterable[str] | None = None,
        *,
        budget_minor: int | None = None,
        dry_run: bool = True,
        by: str = "",
        override: bool = False,
        pages: TaskPages | None = None,
        progress: Progress | None = None,
    ) -> _review.Approved:
        """Approve and pay submissions; by default only say what that costs.

        Parameters
        ----------
        platform : Platform or str
            A connected platform, or the name of an installed one.
        submissions : iterable of str, optional
            The platform's ids. By default all that were handed in and are complete, also those whose answers are left
            out of the aggregation. Work that came too late is approved only by name.
        budget_minor : int, optional
            Most that the campaign may have reserved and spent; needed unless ``dry_run``. Approving takes what was
            reserved on publishing; only late and overridden work costs more.
        by : str
            Who decided; stored with each submission.
        override : bool, default False
            Approve what was rejected before, where the platform can.

        Returns
        -------
        Approved
            What was approved by us and by the platform itself, put off, disputed, or left alone as incomplete.

        Raises
        ------
        BudgetError
            Late or overridden work costs more than the budget leaves; nothing was sent.
        InputError
            A submission named is unknown, or in a state that cannot be approved.
        """
        request = _review.ApproveRequest(
            None if submissions is None else tuple(submissions), budget_minor, dry_run, by, override
        )
        where = _publish.connect(platform, self._context)
        return _review.approve(self._context, where, request, pages, progress)

    def reject(
        self,
        platform: Platform | str,
        proposals: Sequence[RejectionProposal],
        *,
        signed_off_by: str = "",
        cap: float = 0.02,
        dry_run: bool = True,
        pages: TaskPages | None = None,
        progress: Progress | None = None,
    ) -> _reject.Rejected:
        """Refuse to pay submissions, if all of the proposals keep the rules; otherwise none.

        Leaving somebody's answers out (`check_gold`) hurts nobody and is nearly always enough.

        Parameters
        ----------
        proposals : sequence of RejectionProposal
            Each with two independent signals and a message of 100 characters.
        signed_off_by : str
            The person who looked at them; needed unless ``dry_run``.
        cap : float, default 0.02
            Largest share of all submissions that may be rejected, earlier rejections included.

        Raises
        ------
        NeedsHumanError
            There are more than the cap allows, or nobody signed them off; nothing was rejected.
        InputError
            A submission is unknown, approved, or does not wait for a review.
        """
        return _reject.reject(
            self._context,
            _publish.connect(platform, self._context),
            proposals,
            signed_off_by=signed_off_by,
            cap=cap,
            dry_run=dry_run,
            pages=pages,
            progress=progress,
        )

    def pay(
        self,
        platform: Platform | str,
        bonuses: Iterable[_pay.Bonus],
        *,
        budget_minor: int | None = None,
        dry_run: bool = True,
        by: str = "",
        pages: TaskPages | None = None,
        progress: Progress | None = None,
    ) -> _pay.Paid:
        """Pay bonuses, each submission once for each reason; by default only say what that costs.

        Parameters
        ----------
        bonuses : iterable of Bonus
            What to pay. Those paid before for the same reason are left as they are; with no bonuses at all, payments
            that are under way are looked after.
        budget_minor : int, optional
            Most that the campaign may have reserved and spent, fees included; needed unless ``dry_run``.
        by : str
            Who decided.

        Raises
        ------
        BudgetError
            It costs more than the budget leaves; nothing was sent.
        InputError
            A submission is unknown, has another amount for the same reason, or the platform pays no bonuses.
        """
        return _pay.pay(
            self._context,
            _publish.connect(platform, self._context),
            bonuses,
            budget_minor=budget_minor,
            dry_run=dry_run,
            by=by,
            pages=pages,
            progress=progress,
        )

    def extend(
        self,
        platform: Platform | str,
        hit_key: str,
        more: int | None = None,
        *,
        target: int | None = None,
        budget_minor: int | None = None,
        reopen: bool = False,
        dry_run: bool = True,
        pages: TaskPages | None = None,
        progress: Progress | None = None,
    ) -> _extend.Extended:
        """Ask more people about the questions of a HIT; by default only say what that costs.

        Parameters
        ----------
        hit_key : str
            The HIT.
        more : int, optional
            How many more people: asked again after it was done, as many once more.
        target : int, optional
            How many people in all, instead of ``more``: asked again, nothing changes.
        budget_minor : int, optional
            Most that the campaign may have reserved and spent, fees included; needed unless ``dry_run``.
        reopen : bool, default False
            Allow it where the people's study is full or over, which makes it recruit again (Prolific).

        Raises
        ------
        BudgetError
            It costs more than the budget leaves; nothing was sent.
        StateError
            The study is over and ``reopen`` was not given.
        """
        return _extend.extend(
            self._context,
            _publish.connect(platform, self._context),
            hit_key,
            more,
            target=target,
            budget_minor=budget_minor,
            reopen=reopen,
            dry_run=dry_run,
            pages=pages,
            progress=progress,
        )

    def stop(
        self, platform: Platform | str = "local", *, pages: TaskPages | None = None, progress: Progress | None = None
    ) -> _stop.Stopped:
        """Offer nothing more: drop what was not sent yet, close what is out. Work under way may be finished.

        It holds until `lift_stop`: `publish`, `extend` and `run` are refused, in this process and in any other.
        """
        return _stop.stop(self._context, _publish.connect(platform, self._context), pages=pages, progress=progress)

    def lift_stop(self) -> bool:
        """Let work be offered again after `stop`; return whether a stop was there.

        What was closed stays closed: the next plan asks for what is missing.
        """
        return _hold.lift(self._context)

    def hits(self) -> pd.DataFrame:
        """List the HITs, in the order in which they were made: what is out, for `extend`.

        Returns
        -------
        pandas.DataFrame
            ``hit, round, state, platform, platform_hit, items, places, pay_minor, currency, expected_s, goes_on`` (the
            HIT whose questions it asks further, or missing).
        """
        return _listing.hits(self._context)

    def submissions(self) -> pd.DataFrame:
        """List the submissions under their workers' pseudonyms: what there is to approve, reject and pay.

        Returns
        -------
        pandas.DataFrame
            ``submission, platform, hit, worker, state, review, answers, items, bonuses_minor``, the three clocks
            ``platform_elapsed_s, page_elapsed_s, active_s`` with ``time_quality``, ``submitted_at`` and ``left_out``
            (why its answers do not count, or missing).
        """
        return _listing.submissions(self._context)

    def questions(self) -> tuple[_asked.Question, ...]:
        """Return what a person must decide, oldest first: payments that do not show, disputed work, unknown HITs."""
        return _asked.questions(self._context)

    def answer_question(self, key: str, decision: str, note: str) -> None:
        """Take a person's decision.

        Parameters
        ----------
        key : str
            Of the question.
        decision : str
            One of the question's ``choices``: ``retry`` (it surely did not happen: do it with the next call), ``done``
            (it happened), ``cancel`` (it shall not happen).
        note : str
            What was seen, and who decided; kept in the audit chain.

        Raises
        ------
        StateError
            No such question is open.
        InputError
            The question does not take that answer, or the note is empty.
        """
        _asked.answer(self._context, key, decision, note)
