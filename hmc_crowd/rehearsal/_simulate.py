"""What accuracy, hours, money and days would this campaign bring, and how likely is a budget to break?

A repetition draws what is true (or takes it from labelled data), lets people answer every item once and for all, and
plays every policy on those same answers: policies differ by policy, not by luck. That the items will be like these is
assumed.

Source: requirement F11; Zhang, Ren, de Rijke (2021) for the policies compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from hmc_crowd._base.checks import float_vector, require_generator, require_same_length
from hmc_crowd.errors import InputError
from hmc_crowd.rehearsal._crowds import AnswerSource, AssumedCrowd
from hmc_crowd.rehearsal._policies import POLICIES, Setting, plans
from hmc_crowd.rehearsal._stage import Budgets, Purse, Stage, Who, World, votes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Rehearsal", "simulate"]

_FIGURES = ("accuracy", "agreement_at_least", "human_share", "hours", "expert_share", "money_minor", "days")
_CHANCES = ("late", "over_time", "over_money", "certified", "held")
_PILOT = 1000
_EXPERTS = AssumedCrowd(accuracy=0.98, spread=0.01, workers=10)


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """What happened in every repetition. Made by `simulate`.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per policy and repetition: ``policy, repetition, accuracy, agreement_at_least, human_share, hours,
        expert_share, money_minor, days, late, over_time, over_money, certified, held``. ``accuracy`` is against the
        truth; ``certified`` says whether the target came out (NaN without one), ``held`` whether the certificate was
        true of agreement with the people of that repetition.
    repetitions : int
        How many.
    band : float
        Width of the bands in `summary`.
    assumptions : tuple of str
        What must hold for the figures to come true.
    """

    frame: pd.DataFrame
    repetitions: int
    band: float
    assumptions: tuple[str, ...]

    def summary(self) -> pd.DataFrame:
        """Return one row per policy: median, low and high of each figure, and the chance of each event."""
        import pandas as pd

        low, high = (1 - self.band) / 2, (1 + self.band) / 2
        rows = []
        for policy, part in self.frame.groupby("policy", sort=False):
            row: dict[str, Any] = {"policy": policy}
            for name in _FIGURES:
                values = part[name].to_numpy(dtype=np.float64)
                low_, middle, high_ = np.quantile(values, [low, 0.5, high], method="inverted_cdf")
                row |= {name: middle, f"{name}_low": low_, f"{name}_high": high_}
            row |= {f"chance_{name}": float(part[name].astype(float).mean()) for name in _CHANCES}
            rows.append(row)
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        names = ", ".join(self.frame["policy"].unique())
        return f"{self.repetitions:,} rehearsals of {names}; see summary()"


def simulate(
    confidence: ArrayLike,
    seconds: ArrayLike,
    *,
    rng: np.random.Generator,
    crowd: AnswerSource | None = None,
    experts: AnswerSource | None = None,
    policies: Sequence[str] = POLICIES,
    repetitions: int = 200,
    truth: ArrayLike | None = None,
    predicted: ArrayLike | None = None,
    n_labels: int = 2,
    groups: ArrayLike | None = None,
    clustering: float = 0.0,
    effort: ArrayLike | None = None,
    trade_off: float = 0.5,
    max_human: int | float = 0.5,
    audit: int | float | None = None,
    target_agreement: float | None = 0.97,
    level: float = 0.95,
    redundancy: int = 3,
    pay_per_hour_minor: int = 0,
    fee_rate: float = 0.0,
    expert_pay_per_hour_minor: int | None = None,
    pay_floor_minor: int | None = None,
    rework: float = 0.0,
    people_per_day: float = 20.0,
    hours_per_day: float = 1.0,
    max_human_s: float | None = None,
    max_money_minor: int | None = None,
    deadline_days: float | None = None,
    band: float = 0.9,
    pilot: int | None = None,
) -> Rehearsal:
    """Play a campaign many times before it is paid for.

    Parameters
    ----------
    confidence : array of float, shape (n_items,)
        Calibrated probability that the machine is right; says what is true where no truth is given.
    seconds : array of float, shape (n_items,)
        Expected time of one person for one answer.
    rng : numpy.random.Generator
        Source of all chance.
    crowd, experts : AssumedCrowd, RecordedAnswers or alike, optional
        Who answers; by default assumed people of accuracy .85, and ten experts of accuracy .98. Fit them to a pilot
        with `fit_assumed_crowd`. Experts give one answer an item.
    policies : sequence of str
        Any of "paper" (gain per item under the cap), "confidence", "effort", "random", "certified", "experts",
        "machine", "crowd", "mix" (the paper's plan, experts settle what the crowd disagrees on).
    repetitions : int, default 200
        How often.
    truth, predicted : array of int, shape (n_items,), optional
        Label codes, 0 to n_labels - 1, of labelled data to be played; both or none.
    n_labels : int, default 2
        How many labels there are.
    groups, clustering : optional
        The dialogue of each item, and how much errors cluster in it: correlation, in [0, 1), of the normal scores
        behind them. Only where the truth is drawn.
    effort : array of float, optional
        Effort in the unit of `trade_off`; by default the seconds as a share of the longest.
    trade_off : float, default 0.5
        Price of a unit of effort for the paper's plan. A value chosen for another unit means something else here.
    max_human, audit, target_agreement, level, redundancy
        As in `Campaign.plan`. The certified policy chooses its own.
    pay_per_hour_minor, fee_rate : default 0
        Pay for the expected time, and the platform's share on top.
    expert_pay_per_hour_minor : int, optional
        Five times the crowd's when absent.
    pay_floor_minor : int, optional
        Hourly pay of the active time below which a worker gets the rest as a bonus.
    rework : float, default 0
        Share of submissions that must be done again (given back, run out of time, rejected): they cost time, not money.
    people_per_day, hours_per_day : float, default 20 and 1
        How many come on a day (Poisson) and how long each works: for the days.
    max_human_s, max_money_minor, deadline_days : optional
        Budgets whose chance of breaking is told. They do not change what the policies do.
    band : float, default 0.9
        Width of the bands.
    pilot : int, optional
        Random items that people judged before the certified policy is planned, like a campaign's gold. By default 1,000
        (at most a quarter) where truth is given, none where it is drawn from the confidences.

    Returns
    -------
    Rehearsal

    Raises
    ------
    InputError
        Lengths differ, or a value is missing or out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> played = simulate(
    ...     rng.beta(8, 2, 400), rng.gamma(2, 10, 400), rng=rng, policies=["paper", "random"], repetitions=50,
    ...     pay_per_hour_minor=1200,
    ... )
    >>> table = played.summary().set_index("policy")
    >>> bool(table.loc["paper", "accuracy"] > table.loc["random", "accuracy"])
    True
    """
    require_generator(rng)
    sure = float_vector(confidence, name="confidence", low=0.0, high=1.0)
    times = float_vector(seconds, name="seconds", low=0.0)
    require_same_length([("confidence", sure), ("seconds", times)])
    scaled = times / max(float(times.max()), 1e-300) if effort is None else effort
    effort_ = float_vector(scaled, name="effort", low=0.0)
    require_same_length([("confidence", sure), ("effort", effort_)])
    world = World(sure, _codes(truth, predicted, len(sure), n_labels), n_labels, _groups(groups, len(sure)), clustering)
    _check(repetitions, clustering, band, rework, redundancy, people_per_day, hours_per_day, n_labels)
    expert_pay = 5 * pay_per_hour_minor if expert_pay_per_hour_minor is None else expert_pay_per_hour_minor
    purse = Purse(pay_per_hour_minor / 3600, expert_pay / 3600, fee_rate, pay_floor_minor)
    budgets = Budgets(max_human_s, max_money_minor, deadline_days)
    who = Who(
        crowd or AssumedCrowd(), experts or _EXPERTS, people_per_day * hours_per_day * 3600, people_per_day, rework
    )
    first, *others = rng.spawn(repetitions + 1)
    setting = Setting(
        sure, times, effort_, trade_off, max_human, audit, target_agreement, level, redundancy, n_labels=n_labels
    )  # fmt: skip
    setting = _learned(setting, world, who, _pilot_size(pilot, len(sure), truth is not None), first)
    planned = plans(setting, policies)
    rows: list[dict[str, Any]] = []
    for repetition, each in enumerate(others):
        right, machine = world.draw(each)
        stage = Stage(setting, purse, right, machine, n_labels, who.ask(right, times, redundancy, n_labels, each))
        seed = int(each.integers(2**62))
        for policy in planned:
            # A generator of its own, so that a policy's audit does not depend on who is played beside it.
            own = np.random.default_rng([seed, crc32(policy.name.encode())])
            rows.append({"policy": policy.name, "repetition": repetition, **stage.play(policy, who, budgets, own)})
    return _rehearsal(rows, repetitions, band, setting, truth is not None)


def _pilot_size(pilot: Any, n: int, played: bool) -> int:
    if pilot is None:
        return min(_PILOT, n // 4) if played else 0
    if isinstance(pilot, bool) or not isinstance(pilot, int) or not 0 <= pilot <= n:
        raise InputError(f"pilot is {pilot!r}; give a whole number of items, 0 to {n}")
    return pilot


def _learned(setting: Setting, world: World, who: Who, pilot: int, rng: np.random.Generator) -> Setting:
    """Add what is known before the campaign is planned: how often people are right, and what a pilot showed."""
    true, machine = world.draw(rng)
    answers = who.crowd.answers(true, setting.seconds, setting.redundancy, setting.n_labels, rng)
    voted = votes_of(answers, setting.n_labels, true)[0]
    setting = replace(setting, people_right=float((voted == true).mean()))
    if not pilot:
        return setting
    rows = rng.choice(len(true), pilot, replace=False)
    return replace(setting, known=(setting.agreement[rows], setting.seconds[rows], voted[rows] == machine[rows]))


def _rehearsal(rows: list[dict[str, Any]], repetitions: int, band: float, setting: Setting, known: bool) -> Rehearsal:
    import pandas as pd

    what = (
        "the labelled items stand for those to come" if known else "the confidences say how often the machine is right"
    )
    assumptions: tuple[str, ...] = (
        what,
        f"people answer as the crowd given, each item by itself: {setting.redundancy} of them together are right on "
        f"{setting.people_right:.1%}, and a certificate is about agreement with them",
        "people come at random, as many a day as stated, and take work as long as there is some",
        "pay is for the expected time of an answer",
    )
    if setting.known is not None:
        assumptions += (f"a pilot of {len(setting.known[0]):,} items was judged before; it is not in the figures",)
    return Rehearsal(pd.DataFrame(rows), repetitions, band, assumptions)


def _codes(truth: Any, predicted: Any, n: int, n_labels: int) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    if (truth is None) != (predicted is None):
        raise InputError("truth and predicted go together; give both, or none to draw them from the confidences")
    if truth is None:
        return None
    found = []
    for name, values in (("truth", truth), ("predicted", predicted)):
        codes = np.asarray(values)
        if codes.shape != (n,) or not np.issubdtype(codes.dtype, np.integer):
            raise InputError(f"{name} must hold one whole number per item ({n}): codes from 0 to {n_labels - 1}")
        if codes.min() < 0 or codes.max() >= n_labels:
            raise InputError(f"{name} holds codes outside 0 to {n_labels - 1}; give n_labels, or correct the codes")
        found.append(codes.astype(np.intp))
    return found[0], found[1]


def _groups(groups: Any, n: int) -> NDArray[np.intp] | None:
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.shape != (n,):
        raise InputError(f"groups has shape {values.shape} for {n} items; give the group of each item")
    codes: NDArray[np.intp] = np.unique(values, return_inverse=True)[1]
    return codes


def _check(
    repetitions: Any, clustering: float, band: float, rework: float, redundancy: Any, people: float, hours: float,
    n_labels: Any,
) -> None:  # fmt: skip
    for name, value, least in (
        ("repetitions", repetitions, 1),
        ("redundancy", redundancy, 1),
        ("n_labels", n_labels, 2),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InputError(f"{name} is {value!r}; give a whole number, at least {least}")
    if not 0 <= clustering < 1:
        raise InputError(f"clustering is {clustering!r}; give a correlation in [0, 1)")
    if not 0 < band < 1:
        raise InputError(f"band is {band!r}; give a share strictly between 0 and 1, such as 0.9")
    if not 0 <= rework < 1:
        raise InputError(f"rework is {rework!r}; give a share in [0, 1)")
    if not (people >= 0 and 0 <= hours <= 24):
        raise InputError(f"people_per_day is {people!r}, hours_per_day {hours!r}; give 0 or more people, 0 to 24 hours")
