"""What does a campaign hand to its report? Plain frames and dictionaries; everything but the title may be absent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.clock import as_utc
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import pandas as pd
    from numpy.typing import ArrayLike

__all__ = ["ReportData", "Summary"]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The numbers that the report opens with; None where one is not known.

    Parameters
    ----------
    agreement : float, optional
        Share in [0, 1] of the final labels that agree with people, as estimated.
    agreement_note : str, default ""
        What the estimate rests on, or why there is none.
    agreement_at_least : float, optional
        The certificate: agreement is at least this, at ``level``.
    level : float, default 0.95
        Level of the certificate.
    certificate_note : str, default ""
        The method in three words, or why there is no certificate.
    human_items, items : int, optional
        Items that people judged, and all items; their ratio is the human share.
    human_s, planned_human_s : float, optional
        People's time in seconds, as logged and as planned.
    human_s_note : str, default ""
        How the time was counted.
    money_minor : int, optional
        Money spent, in minor units of ``currency``, fees included.
    currency : str, default ""
        ISO 4217 code.
    money_note : str, default ""
        For example the budget, or the fees inside the amount.

    Examples
    --------
    >>> Summary(human_items=150, items=300).human_share
    0.5
    """

    agreement: float | None = None
    agreement_note: str = ""
    agreement_at_least: float | None = None
    level: float = 0.95
    certificate_note: str = ""
    human_items: int | None = None
    items: int | None = None
    human_s: float | None = None
    planned_human_s: float | None = None
    human_s_note: str = ""
    money_minor: int | None = None
    currency: str = ""
    money_note: str = ""

    def __post_init__(self) -> None:
        for name in ("agreement", "agreement_at_least", "level"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise InputError(f"Summary {name} is {value}; give a share in [0, 1]")

    @property
    def human_share(self) -> float | None:
        """Share of the items that people judged."""
        if self.human_items is None or not self.items:
            return None
        return self.human_items / self.items


@dataclass(frozen=True, kw_only=True)
class ReportData:
    """Everything a report can show. A part that is None is named at the report's end with the reason.

    Parameters
    ----------
    title : str
        Title, for example the campaign's name.
    created_at : datetime
        Aware time of the numbers.
    subtitle : str, default ""
        One line: what was evaluated.
    summary : Summary
        The opening numbers.
    facts : mapping of str to object, optional
        About the campaign: key to value, keys become labels (``plan_hash`` is shown as "Plan hash").
    curve : pandas.DataFrame, optional
        The reliability-effort curve as :func:`hmc_crowd.routing.sweep` returns it: ``trade_off, max_human, human_share,
        effort_share`` and ``accuracy`` (or another reliability column).
    curve_note : str, default ""
        What the reliability of the curve rests on.
    frontier : pandas.DataFrame, optional
        The plans that no other beats, with the columns of the curve: what another trade-off and cap would reach.
    plan : mapping of str to object, optional
        The plan's numbers: ``trade_off, cap, max_human, human_count, human_share, effort_share, gain, objective,
        accuracy, touched_groups, groups, ties, audited`` and whatever else. With ``effort_share`` and the reliability
        it is marked on the curve.
    plan_time : pandas.DataFrame, optional
        Time counted both ways, one row each: ``counted`` (text), ``effort_share``, ``human_s`` and, where priced,
        ``money_minor``. See :func:`hmc_crowd.report.time_both_ways`.
    certificate : mapping of str to object, optional
        Numbers of the certificate; ``statement`` (str, paragraphs parted by empty lines) and ``assumptions`` (list of
        str) are printed as text.
    figures : pandas.DataFrame, optional
        The final figures: ``figure, value, low, high, labels, effective_n, machine_helps, final_mean, said``.
    workers : pandas.DataFrame, optional
        ``worker`` (a pseudonym), ``answers, gold_right, gold_n, score, score_low, score_high, median_s,
        excluded_reason``.
    groups : mapping, optional
        Whether groups of people judge alike: frames ``labels, agreement, cohesion, accuracy, groups`` (as of
        `hmc_crowd.quality.GroupComparison`, with a column ``attribute``), ``said`` and ``notes`` (sequences of str).
        A report without it says nothing of groups.
    gold : pandas.DataFrame, optional
        Gold items: ``item, label, answers, right, share_right, suspect``.
    item_seconds, submission_seconds : array of float, optional
        Logged seconds per item and per submission; shown as distributions.
    agreement : pandas.DataFrame, optional
        Agreement between people: ``measure, value, low, high, n``.
    worker_quality : pandas.DataFrame, optional
        Workers as the aggregation sees them: ``worker`` (a pseudonym), ``n_answers, accuracy, low, high``.
    gold_confidence : pandas.DataFrame, optional
        Gold items, aggregated as if their labels were not known: ``confidence`` of the label, and whether it was
        ``right`` (0 or 1).
    labels : pandas.DataFrame, optional
        The final labels summed up: ``label, source, items, share, mean_confidence, tied``.
    wrong_kept : pandas.DataFrame, optional
        Items the machine kept and got wrong, where the truth is known: ``item, group, position, text, machine_label,
        true_label, confidence, effort, reason``.
    effort_scores : pandas.DataFrame, optional
        Scores of the effort model: ``features, mse, rmse, mae, r2``.
    effort_split : mapping of str to object, optional
        Set-up and marginal time, for example ``setup_s`` per group and ``marginal_s`` per item.
    rounds : pandas.DataFrame, optional
        One row per round.
    notes : sequence of str, default ()
        Anything a reader must know.
    missing : mapping of str to str, optional
        Why a part is None, by field name; replaces the general reason.
    """

    title: str
    created_at: datetime
    subtitle: str = ""
    summary: Summary = field(default_factory=Summary)
    facts: Mapping[str, Any] | None = None
    curve: pd.DataFrame | None = None
    curve_note: str = ""
    frontier: pd.DataFrame | None = None
    plan: Mapping[str, Any] | None = None
    plan_time: pd.DataFrame | None = None
    certificate: Mapping[str, Any] | None = None
    figures: pd.DataFrame | None = None
    workers: pd.DataFrame | None = None
    groups: Mapping[str, Any] | None = None
    gold: pd.DataFrame | None = None
    item_seconds: ArrayLike | None = None
    submission_seconds: ArrayLike | None = None
    agreement: pd.DataFrame | None = None
    worker_quality: pd.DataFrame | None = None
    gold_confidence: pd.DataFrame | None = None
    labels: pd.DataFrame | None = None
    wrong_kept: pd.DataFrame | None = None
    effort_scores: pd.DataFrame | None = None
    effort_split: Mapping[str, Any] | None = None
    rounds: pd.DataFrame | None = None
    notes: Sequence[str] = ()
    missing: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise InputError("title is empty; name the campaign")
        object.__setattr__(self, "created_at", as_utc(self.created_at, name="created_at"))
        for name, needed in _NEEDED.items():
            frame = getattr(self, name)
            lacking = [column for column in needed if frame is not None and column not in frame.columns]
            if lacking:
                raise FrameError(
                    f"{name} lacks the column {', '.join(lacking)}; it has {', '.join(map(str, frame.columns))}"
                )


# The columns a section cannot do without; all others are optional.
_NEEDED: dict[str, tuple[str, ...]] = {
    "curve": ("effort_share",),
    "figures": ("figure", "value", "low", "high"),
    "frontier": ("effort_share",),
    "plan_time": ("counted",),
    "workers": ("worker",),
    "gold": ("item",),
    "agreement": ("measure", "value"),
    "worker_quality": ("worker", "n_answers", "accuracy", "low", "high"),
    "gold_confidence": ("confidence", "right"),
    "labels": ("label",),
    "wrong_kept": ("item",),
    "rounds": ("round",),
}
