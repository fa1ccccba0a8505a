"""Do the paper's tables come out of its own data? One call computes all of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from hmc_crowd._base.clock import Clock, SystemClock
from hmc_crowd.report import Column, Figure, Section
from hmc_crowd.reproduce import _confidence, _effort, _facts, _routing, _sweeps
from hmc_crowd.reproduce._load import load_hmceval
from hmc_crowd.reproduce._paper import TABLE_4
from hmc_crowd.reproduce._paper_report import PaperReport

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hmc_crowd.effort import EffortScores
    from hmc_crowd.reproduce._load import HmcevalData
    from hmc_crowd.reproduce._routing import Run

__all__ = ["HmcevalReport", "reproduce_hmceval"]

_STEPS = 8


class Progress(Protocol):
    """Anything that is told how far the work is."""

    def __call__(self, what: str, done: int, total: int, /) -> None:
        """Say that ``done`` of ``total`` steps are done and that ``what`` comes next."""
        ...


@dataclass(frozen=True, eq=False)
class HmcevalReport(PaperReport):
    """The paper's tables and figures beside ours. Made by `reproduce_hmceval`.

    Parameters
    ----------
    sections : tuple of Section
        Tables and drawings in the paper's order.
    figures : tuple of Figure
        The numbers to read first.
    created_at : datetime
        Aware time of the run.
    """

    stem: ClassVar[str] = "hmceval"
    title: ClassVar[str] = "HMCEval, reproduced"
    subtitle: ClassVar[str] = (
        "The tables and figures of Zhang, Ren and de Rijke (ACL 2021), from the data published with the paper."
    )


def reproduce_hmceval(
    data_dir: str | Path,
    *,
    out: str | Path | None = None,
    progress: Progress | None = None,
    trees: int = 100,
    n_jobs: int | None = None,
    clock: Clock | None = None,
    timer: Callable[[], float] = time.perf_counter,
) -> HmcevalReport:
    """Compute the tables and figures of the HMCEval paper from its published data.

    Parameters
    ----------
    data_dir : str or Path
        Folder with ``per_dialogue.tsv``, ``sae_trust_score.tsv``, ``sae_mcp.tsv`` and, optionally, ``sae_tcp.tsv``.
    out : str or Path, optional
        Folder to write page, JSON, CSV tables and drawings to; nothing is written without it.
    progress : callable, optional
        Called with (what comes next, steps done, steps in all).
    trees : int, default 100
        Trees of the forests: the paper's number; fewer for a quick look.
    n_jobs : int, optional
        Threads of the forests; one by default. The numbers do not depend on it.
    clock : Clock, optional
        Tells the time of the run; the machine's by default.
    timer : callable, default time.perf_counter
        Seconds for the runtime table.

    Returns
    -------
    HmcevalReport

    Raises
    ------
    InputError
        A file is missing, cut, or not the published one; the message names it.

    Notes
    -----
    Routing numbers come from the authors' predicted effort and Trust Scores, so they are exact. The effort model is
    trained here: another version of scikit-learn may move its third digit.

    References
    ----------
    Zhang, Ren, de Rijke (2021), "A Human-machine Collaborative Framework for Evaluating Malevolence in Dialogues", ACL.

    Examples
    --------
    >>> reproduce_hmceval("/no/such/folder")
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.InputError: /no/such/folder is no folder; give the folder with the HMCEval data by --data DIR
    """
    tell = progress or _silent
    tell("reading the data", 0, _STEPS)
    data = load_hmceval(data_dir)
    tell("routing", 1, _STEPS)
    runs = _routing.all_runs(data)
    seconds: dict[str, float] = {}
    started = timer()
    _sweeps.grid(data)
    seconds["SAE, search over N and trade-off"] = timer() - started
    routing, sweeps, confidence = _routing_sections(data, runs)
    model = _effort.paper_model(trees=trees, n_jobs=n_jobs)
    scores: dict[bool, dict[str, EffortScores]] = {True: {}, False: {}}
    kinds = [(share_workers, features) for share_workers in scores for features in TABLE_4]
    for done, (share_workers, features) in enumerate(kinds, start=2):
        tell(f"cross-validating the effort model, features {features}", done, _STEPS)
        found = _effort.scores_of(data, features, model, share_workers=share_workers)
        scores[share_workers][features] = found
    tell("routing with our own effort model", 6, _STEPS)
    started = timer()
    efforts = _effort.predicted_efforts(data, model)
    # Two models were fitted, one per group of features; the paper's figure is for one.
    seconds["HEE, random forest"] = (timer() - started) / len(efforts)
    joined, points, chart = _effort.figure_5(data, efforts)
    effort = Section(
        key="effort",
        title="Human effort",
        charts=(chart,),
        tables=(
            _effort.table_4(scores[True], trees=trees),
            _effort.worker_disjoint(scores[True], scores[False]),
            _effort.table_5(data),
            joined,
            points,
        ),
    )
    tell("errors, turns and facts", 7, _STEPS)
    report = HmcevalReport(
        sections=(routing, sweeps, confidence, effort, *_last_sections(data, runs["MCE + HEE"], seconds)),
        figures=_figures(runs["MCE + HEE"]),
        created_at=(clock or SystemClock()).now(),
    )
    if out is not None:
        report.write(out)
    tell("done", _STEPS, _STEPS)
    return report


def _silent(what: str, done: int, total: int, /) -> None:
    """Tell nobody."""


def _routing_sections(data: HmcevalData, runs: dict[str, Run]) -> tuple[Section, Section, Section]:
    figure_2, chart_2 = _sweeps.figure_2(data)
    figure_3, chart_3, pivot = _sweeps.figure_3(data)
    figure_4, chart_4 = _confidence.figure_4(data)
    routing = Section(
        key="routing",
        title="Sample assignment",
        tables=(
            _routing.table_1(runs),
            _routing.relative_gains(runs),
            _routing.table_2(runs),
            _routing.time_both_ways(runs),
            _routing.certificates(),
        ),
    )
    sweeps = Section(
        key="sweeps",
        title="Sweeps",
        paragraphs=(f"Beyond a trade-off of {pivot:.3f} fewer than half of the items are worth their effort.",),
        charts=(chart_2, chart_3),
        tables=(figure_2, figure_3),
    )
    confidence = Section(
        key="confidence", title="Model confidence", charts=(chart_4,), tables=(_confidence.table_3(data), figure_4)
    )
    return routing, sweeps, confidence


def _last_sections(data: HmcevalData, run: Run, seconds: dict[str, float]) -> tuple[Section, ...]:
    figure_6, chart_6 = _routing.figure_6(data, run)
    wrong = _routing.wrong_kept(data, run)
    return (
        Section(key="turns", title="By turn", charts=(chart_6,), tables=(figure_6,)),
        Section(key="errors", title="What the machine kept and had wrong", paragraphs=(wrong.note,), tables=(wrong,)),
        Section(key="runtime", title="Runtime", tables=(_facts.runtimes(seconds),)),
        Section(key="data", title="Data", tables=(_facts.data_checks(data, run),)),
    )


def _figures(run: Run) -> tuple[Figure, ...]:
    share = Column("", "number", 4)
    return (
        Figure(key="accuracy", label="Accuracy", value=run.outcome.accuracy, column=share, note="paper .985"),
        Figure(key="f1", label="F1, macro", value=run.outcome.f1, column=share, note="paper .980"),
        Figure(key="human_share", label="Human ratio", value=run.outcome.human_share, column=share, note="paper .500"),
        Figure(key="time", label="Time, by item", value=run.outcome.effort_share, column=share, note="paper .500"),
        Figure(
            key="time_whole",
            label="Time, read whole",
            value=run.touched.time_share_whole,
            column=share,
            note="not in the paper: touched dialogues read whole",
        ),
    )
