"""Machine, experts or crowd only, or both with a gate: what does each cost, how long does it take, how right is it?

The source's setting is simulated with our own gates on it, over seeds; prices, times and the experts' errors come
afterwards, because they change no decision. Beside each result stands the source's claim and whether it holds.

Source: requirements D34 and D35 (10,000 tasks; cost -44%, time -95%, accuracy 91%, expert use 37%). Its own sums do not
fit together: at 37% expert use the experts' time falls by 63%, not by 95%, unless each of them becomes faster too.
All four claims hold only where experts see less than 5% of the items.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.errors import InputError
from hmc_crowd.quality._gate_learned import LearnedGate
from hmc_crowd.quality._gate_rules import RuleGate
from hmc_crowd.quality._mix_draw import MixSetting, draw_batch, draw_workers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["CLAIMS", "MixPrices", "claims_over_grid", "mix_table", "simulate_mix"]

EXPERTS, RULES, LEARNED = "experts only", "rules", "ML gate"
ARMS = ("machine only", EXPERTS, "crowd only", RULES, LEARNED)
CLAIMS: dict[str, float] = {"cost_saved": 0.44, "time_saved": 0.95, "accuracy": 0.91, "expert_use": 0.37}


@dataclass(frozen=True)
class MixPrices:
    """What people cost and how long they take; nothing here changes a decision.

    Parameters
    ----------
    answer_minor : int, default 5
        A worker's answer, in minor units.
    expert_minor : int, default 500
        An expert's judgement: 10,000 of them cost the 50,000 that the source names.
    answer_s : float, default 10
        Time of an answer.
    present : float, default 0.2
        Share of the workers who work at the same time.
    expert_s : float, default 864
        Time of an expert's judgement: with it 50 experts take the 48 hours that the source names.
    expert_error : float, default 0.05
    machine_minor : int, default 0
        A machine's judgement; its time is not counted.
    batches : int, default 1
        Batches like this one that the ML gate decides before it is taught anew: each bears its part of what the
        answers and judgements have cost, and taken, from which the gate has learnt.
    """

    answer_minor: int = 5
    expert_minor: int = 500
    answer_s: float = 10.0
    present: float = 0.2
    expert_s: float = 864.0
    expert_error: float = 0.05
    machine_minor: int = 0
    batches: int = 1

    def __post_init__(self) -> None:
        if min(self.answer_minor, self.expert_minor, self.answer_s, self.expert_s) < 0 or not 0 < self.present <= 1:
            raise InputError("prices and times are 0 or more, and present lies in (0, 1]")
        if not 0 <= self.expert_error < 1:
            raise InputError(f"expert_error is {self.expert_error}; give a share of at least 0 and below 1")
        if self.machine_minor < 0 or isinstance(self.batches, bool) or self.batches < 1:
            raise InputError(f"machine_minor is {self.machine_minor}, batches is {self.batches}; give >= 0 and >= 1")


def simulate_mix(
    setting: MixSetting | None = None,
    *,
    rng: np.random.Generator,
    repeats: int = 5,
    kind: str = "random_forest",
    threshold: float = 0.2,
    training_error: float = 0.05,
) -> pd.DataFrame:
    """Draw crowd and items anew several times and let every arm decide.

    Parameters
    ----------
    setting : MixSetting, optional
    rng : numpy.random.Generator
    repeats : int, default 5
    kind : {"random_forest", "xgboost", "logistic"}
        Of the ML gate, which looks at the answers too and has learnt from items of their own.
    threshold : float, default 0.2
        Probability of a wrong label from which on the ML gate asks an expert.
    training_error : float, default 0.05
        How often the experts were wrong who labelled the training items.

    Returns
    -------
    pandas.DataFrame
        One row per repeat and arm: ``repeat, arm, n, answers, sent, wrong, wrong_kept, machine`` (its judgements),
        ``taught_answers, taught_sent`` (what it took to teach the gate) and the experts and workers there are;
        `mix_table` puts prices to it.

    Examples
    --------
    >>> small = MixSetting(items=200, workers=100, train_items=100)
    >>> runs = simulate_mix(small, rng=np.random.default_rng(0), repeats=1)
    >>> runs[["arm", "sent"]].head(3).to_numpy().tolist()
    [['machine only', 0], ['experts only', 200], ['crowd only', 0]]
    """
    given = setting or MixSetting()
    if repeats < 1:
        raise InputError(f"repeats is {repeats}; give at least 1")
    rows: list[dict[str, Any]] = []
    for repeat, one in enumerate(rng.spawn(repeats)):
        accuracy, quality = draw_workers(given, one)
        train, test = (draw_batch(given, accuracy, n, one) for n in (given.train_items, given.items))
        said = np.where(
            one.random(given.train_items) < training_error,
            (train.truth + one.integers(1, given.labels, given.train_items)) % given.labels,
            train.truth,
        )
        learned = LearnedGate(kind, features="answers", threshold=threshold)  # type: ignore[arg-type]  # because it checks
        learned.fit(train.items, train.answers, quality, gold=pd.Series(said))
        rules = RuleGate.preset("source").decide(test.items, test.answers, quality).frame
        model = learned.decide(test.items, test.answers, quality).frame
        wrong = np.array(
            [label is None or label != true for label, true in zip(rules["label"], test.truth, strict=True)]
        )
        machine = test.wrong_machine(given, one)
        sent = {
            "machine only": np.zeros(given.items, dtype=bool),
            "experts only": np.ones(given.items, dtype=bool),
            "crowd only": np.zeros(given.items, dtype=bool),
            "rules": rules["needs_expert"].to_numpy(),
            "ML gate": model["needs_expert"].to_numpy(),
        }
        rows += [_counted(repeat, arm, sent[arm], machine if arm == ARMS[0] else wrong, given) for arm in ARMS]
    return pd.DataFrame(rows)


def _counted(
    repeat: int, arm: str, sent: NDArray[np.bool_], wrong: NDArray[np.bool_], setting: MixSetting
) -> dict[str, Any]:
    return {
        "repeat": repeat,
        "arm": arm,
        "n": setting.items,
        "answers": 0 if arm in (ARMS[0], EXPERTS) else setting.items * setting.answers,
        "sent": int(sent.sum()),
        "wrong": int(wrong.sum()),
        "wrong_kept": int((wrong & ~sent).sum()),
        "machine": setting.items if arm == ARMS[0] else 0,
        "taught_answers": setting.train_items * setting.answers if arm == LEARNED else 0,
        "taught_sent": setting.train_items if arm == LEARNED else 0,
        "experts": setting.experts,
        "workers": setting.workers,
    }


def mix_table(runs: pd.DataFrame, prices: MixPrices | None = None, *, level: float = 0.9) -> pd.DataFrame:
    """Put prices, times and the experts' errors to simulated runs.

    Parameters
    ----------
    runs : pandas.DataFrame
        Of `simulate_mix`.
    prices : MixPrices, optional
    level : float, default 0.9
        Share of the repeats inside the bands.

    Returns
    -------
    pandas.DataFrame
        One row per arm: ``arm`` and, for each of ``cost_minor, hours, accuracy, expert_use, cost_saved, time_saved,
        taught_minor``, mean, ``_low`` and ``_high``. Savings are against experts only. Experts begin when the crowd has
        ended: hours are an upper end. Cost and hours hold what it took to teach the ML gate (``taught_minor`` of the
        cost), spread over ``batches``; that the items taught with have good labels then is not counted in its favour.

    Examples
    --------
    >>> small = MixSetting(items=200, workers=100, train_items=100)
    >>> table = mix_table(simulate_mix(small, rng=np.random.default_rng(0), repeats=2))
    >>> table["arm"].tolist(), table["expert_use"].tolist()[:2]
    (['machine only', 'experts only', 'crowd only', 'rules', 'ML gate'], [0.0, 1.0])
    """
    p = prices or MixPrices()
    answers, sent = (runs[name] + runs[f"taught_{name}"] / p.batches for name in ("answers", "sent"))
    taught = (runs["taught_answers"] * p.answer_minor + runs["taught_sent"] * p.expert_minor) / p.batches
    cost = answers * p.answer_minor + sent * p.expert_minor + runs["machine"] * p.machine_minor
    crowd_s: pd.Series[float] = answers * p.answer_s / np.maximum(runs["workers"] * p.present, 1)
    hours = (crowd_s + sent * p.expert_s / runs["experts"]) / 3600
    experts = runs["arm"] == EXPERTS
    base = {name: values[experts].mean() for name, values in (("cost", cost), ("hours", hours))}
    figures = pd.DataFrame(
        {
            "cost_minor": cost,
            "hours": hours,
            "accuracy": 1 - (runs["wrong_kept"] + p.expert_error * runs["sent"]) / runs["n"],
            "expert_use": runs["sent"] / runs["n"],
            "cost_saved": 1 - cost / base["cost"] if base["cost"] else np.nan,
            "time_saved": 1 - hours / base["hours"] if base["hours"] else np.nan,
            "taught_minor": taught,
        }
    )
    groups = figures.groupby(runs["arm"], sort=False)
    tail = (1 - level) / 2
    mean, low, high = groups.mean(), groups.quantile(tail), groups.quantile(1 - tail)
    table = mean.join(low.add_suffix("_low")).join(high.add_suffix("_high"))
    order = [f"{name}{end}" for name in figures.columns for end in ("", "_low", "_high")]
    return table.reindex(list(ARMS))[order].reset_index()


def claims_over_grid(
    *,
    rng: np.random.Generator,
    setting: MixSetting | None = None,
    repeats: int = 3,
    worker_accuracy: Sequence[float] = (0.7, 0.8, 0.9),
    noise: Sequence[float] = (0.05, 0.15, 0.4),
    prices: Sequence[MixPrices] | None = None,
    kind: str = "random_forest",
    batches: int = 1,
) -> pd.DataFrame:
    """Say over a grid of circumstances where the source's claims hold.

    Parameters
    ----------
    rng : numpy.random.Generator
    setting : MixSetting, optional
        What stays the same.
    repeats : int, default 3
    worker_accuracy, noise : sequence of float
        How good the crowd is, and how well a gate is told about the items.
    prices : sequence of MixPrices, optional
        Default: expert's judgements for .60, 3.00 and 5.00, answers for .05 and .30, experts wrong in 2, 5 and 18%, who
        take 15 s, 136 s (the source's tiers together) or 864 s.
    kind : str
    batches : int, default 1
        Of the default prices: batches that bear the cost of teaching the ML gate.

    Returns
    -------
    pandas.DataFrame
        One row per point and gate (rules, ML gate): the circumstances, the means, and for each claim ``<name>_holds``;
        ``all_hold``.
    """
    base, priced = setting or MixSetting(), prices or default_prices(batches)
    found = []
    for accuracy in worker_accuracy:
        for each in noise:
            given = replace(base, worker_accuracy=accuracy, noise=each)
            runs = simulate_mix(given, rng=rng, repeats=repeats, kind=kind)
            for price in priced:
                found += _points(mix_table(runs, price), price, {"worker_accuracy": accuracy, "noise": each})
    return pd.DataFrame(found)


def default_prices(batches: int = 1) -> list[MixPrices]:
    """Return the grid of prices, expert's errors and expert's times."""
    return [
        MixPrices(answer_minor=answer, expert_minor=expert, expert_s=seconds, expert_error=error, batches=batches)
        for answer in (5, 30)
        for expert in (60, 300, 500)
        for seconds in (15.0, 136.0, 864.0)
        for error in (0.02, 0.05, 0.18)
    ]


def _points(table: pd.DataFrame, price: MixPrices, where: Mapping[str, float]) -> list[dict[str, Any]]:
    rows = []
    for _, row in table[table["arm"].isin((RULES, LEARNED))].iterrows():
        holds = {name: bool(row[name] >= claim) for name, claim in CLAIMS.items() if name != "expert_use"}
        holds["expert_use"] = bool(row["expert_use"] <= CLAIMS["expert_use"])
        rows.append(
            {
                "arm": row["arm"],
                **where,
                **vars(price),
                **{name: float(row[name]) for name in CLAIMS},
                **{f"{name}_holds": value for name, value in holds.items()},
                "all_hold": all(holds.values()),
            }
        )
    return rows
