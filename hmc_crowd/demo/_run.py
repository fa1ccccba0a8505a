"""The demo: the whole loop on the package's own dialogues, with workers who do not exist, in two rounds.

The first round is small: it asks about a tenth of the items, so that the effort model has times to learn from. The
second uses what was learnt and gives people what is worth their time. Nothing leaves the machine.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd._base.money import Money
from hmc_crowd._base.private import make_private_folder
from hmc_crowd.campaign import Campaign
from hmc_crowd.demo._data import load_dialogues
from hmc_crowd.demo._machine import machine_predictions
from hmc_crowd.errors import InputError
from hmc_crowd.platform import find_platform
from hmc_crowd.simulation import SimulatedCrowd, draw_workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd.campaign._context import Progress
    from hmc_crowd.demo._data import DemoDialogues

__all__ = ["DemoResult", "run_demo"]

_MARK = ".hmc-crowd-demo"
_GOLD = 30
_WORKERS = 24
_TRADE_OFF = 1.0
_SPEND: dict[str, Any] = {"redundancy": 3, "pay_per_hour_minor": 1200, "budget_minor": 30_000}


@dataclass(frozen=True)
class DemoResult:
    """What the demo ends with.

    ``agreement_*`` speak of the simulated people, from the audit; ``accuracy*`` of the truth, which only a demo knows:
    people err, so the two differ.
    """

    agreement_estimate: float
    agreement_at_least: float
    level: float
    accuracy: float
    accuracy_machine_alone: float
    human_share: float
    human_minutes: float
    money: str
    rounds: int
    seconds: float
    report: Path

    def __str__(self) -> str:
        return (
            f"agreement with our people: about {self.agreement_estimate:.1%}, certified at least "
            f"{self.agreement_at_least:.1%} with {self.level:.0%} confidence\n"
            f"right by the demo's known truth: {self.accuracy:.1%} "
            f"(the machine alone: {self.accuracy_machine_alone:.1%})\n"
            f"people saw {self.human_share:.1%} of the items: {self.human_minutes:,.0f} minutes of work, {self.money}\n"
            f"report: {self.report}"
        )


def run_demo(
    out: str | Path,
    *,
    seed: int = 2021,
    progress: Progress | None = None,
    say: Callable[[str], Any] | None = None,
) -> DemoResult:
    """Play the whole loop and write the report.

    Parameters
    ----------
    out : str or Path
        Folder for databases and report; one that an earlier demo made is replaced, any other must be empty or absent.
    seed : int, default 2021
        Of machine, workers and draws: the same seed gives the same figures.
    progress, say : callable, optional
        Told how far a step is; given a line of text after each step.

    Returns
    -------
    DemoResult

    Raises
    ------
    InputError
        The folder holds something else.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     print(run_demo(f"{folder}/demo"))
    """
    started = time.monotonic()
    folder = _fresh(Path(out))
    tell = say or (lambda _: None)
    dialogues = load_dialogues()
    machine = machine_predictions(dialogues, rng=np.random.default_rng(seed))
    predictions, training = machine.predictions, machine.training
    truth = dict(zip(dialogues.truth["item"], dialogues.truth["label"], strict=True))
    tell(
        f"items: {len(predictions):,} of {dialogues.items['group'].nunique():,} dialogues, judged by a small classifier"
    )
    clock = VirtualClock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    workplace = find_platform("local", str(folder / "workplace.db"), clock=clock)
    campaign = Campaign.create(
        folder / "campaign.db",
        "demo: unkind turns",
        labels=list(dialogues.labels),
        positive_labels=["unkind"],
        seed=seed,
        clock=clock,
    )
    with campaign:
        _fill(campaign, dialogues, predictions, training)
        tell(f"effort: {campaign.estimate_effort()}")
        crowd = _crowd(dialogues, truth, seed)
        for share, audit in ((0.10, 40), (0.40, 200)):
            _play_round(campaign, workplace, crowd, clock, share, audit, progress, tell)
        known = dialogues.truth[["item", "label"]]
        report = campaign.report(folder / "report.html", truth=known[known["item"].isin(predictions["item"])])
        result = _result(campaign, predictions, truth, report, time.monotonic() - started)
    getattr(workplace, "close", lambda: None)()
    return result


def _fresh(folder: Path) -> Path:
    """Empty a folder that a demo made, make one that is not there, refuse anybody else's."""
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / _MARK).exists():
            raise InputError(
                f"--out is {folder}, which holds other things; name a folder that is empty or not there yet"
            )
        shutil.rmtree(folder)
    try:
        make_private_folder(folder)
        (folder / _MARK).touch()
    except OSError as error:
        why = error.strerror or "it is no folder"
        raise InputError(f"--out is {folder}, which cannot be made ({why}); name another folder") from None
    return folder


def _fill(campaign: Campaign, dialogues: DemoDialogues, predictions: Any, training: Any) -> None:
    """Add what the machine judged, and as gold clear turns of the dialogues it was trained on."""
    clear = dialogues.truth.merge(training[["item"]], on="item").sort_values("difficulty", kind="stable")
    halves = [part.head(_GOLD // 2) for _, part in clear.groupby("label")]
    gold = sorted(item for part in halves for item in part["item"])
    wanted = {*predictions["item"], *gold}
    items = dialogues.items[dialogues.items["item"].isin(wanted)]
    campaign.add_items(items)
    campaign.add_predictions(predictions)
    campaign.add_gold(dialogues.truth.loc[dialogues.truth["item"].isin(gold), ["item", "label"]])


def _crowd(dialogues: DemoDialogues, truth: dict[str, str], seed: int) -> SimulatedCrowd:
    rng = np.random.default_rng([seed, 1])
    workers = draw_workers(
        _WORKERS,
        list(dialogues.labels),
        rng=rng,
        accuracy=0.92,
        spammers=0.08,
        speed_spread=0.15,
        setup_s=6.0,
        seconds_per_word=0.5,
        noise=0.2,
        idle_probability=0.005,
    )
    difficulty = dict(zip(dialogues.truth["item"], dialogues.truth["difficulty"], strict=True))
    return SimulatedCrowd(workers, truth, rng=rng, difficulty=difficulty)


def _play_round(
    campaign: Campaign,
    workplace: Any,
    crowd: SimulatedCrowd,
    clock: VirtualClock,
    share: float,
    audit: int,
    progress: Progress | None,
    tell: Callable[[str], Any],
) -> None:
    if campaign.status().round:
        tell(f"effort: {campaign.estimate_effort()}")
    tell(f"plan: {campaign.plan(trade_off=_TRADE_OFF, max_human=share, audit=audit)}")
    tell(f"publish: {campaign.publish(workplace, dry_run=False, target_minutes=6.0, progress=progress, **_SPEND)}")
    workplace.rehearse(crowd)
    clock.advance_to(workplace.last_moment() or clock.now())
    tell(f"collect: {campaign.collect(workplace, progress=progress)}")
    tell(f"gold: {campaign.check_gold()}")
    tell(f"aggregate: {campaign.aggregate()}")
    tell(f"certify: {campaign.certify()}")
    tell(f"learn: {campaign.learn()}")


def _result(campaign: Campaign, predictions: Any, truth: dict[str, str], report: Path, seconds: float) -> DemoResult:
    status, certificate = campaign.status(), campaign.certify()
    labels = campaign.labels().set_index("item").loc[predictions["item"], "label"]
    true = predictions["item"].map(truth).to_numpy()
    return DemoResult(
        agreement_estimate=certificate.agreement_estimate,
        agreement_at_least=certificate.agreement_at_least,
        level=certificate.level,
        accuracy=float((labels.to_numpy() == true).mean()),
        accuracy_machine_alone=float((predictions["label"].to_numpy() == true).mean()),
        human_share=(status.people + status.audited) / certificate.items,
        human_minutes=status.human_s / 60,
        money=str(Money(status.reserved_minor + status.settled_minor, status.currency)),
        rounds=status.round,
        seconds=round(seconds, 1),
        report=report,
    )
