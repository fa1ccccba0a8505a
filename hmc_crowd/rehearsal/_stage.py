"""One repetition of a rehearsal: a world, the people in it, and every policy played on the same answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd.rehearsal._crowds import NO_ANSWER
from hmc_crowd.routing import certify_batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hmc_crowd.rehearsal._crowds import Answers, AnswerSource
    from hmc_crowd.rehearsal._policies import Planned, Setting

__all__ = ["Budgets", "Purse", "Stage", "Who", "World", "votes_of"]

_LONGEST_DAYS = 3650


@dataclass(frozen=True)
class Budgets:
    """Limits whose breaking is counted."""

    seconds: float | None
    minor: int | None
    days: float | None


@dataclass(frozen=True)
class Purse:
    """What people's time costs."""

    crowd_per_s: float
    expert_per_s: float
    fee_rate: float
    floor_minor: int | None

    def crowd_minor(self, expected: NDArray[np.float64], taken: NDArray[np.float64], worker: NDArray[np.intp]) -> float:
        """Return what these answers cost: pay for the expected time, a bonus up to the floor, fees on both."""
        paid = expected * self.crowd_per_s
        bonus = 0.0
        if self.floor_minor is not None and len(worker):
            owed = np.bincount(worker, weights=taken * self.floor_minor / 3600 - paid)
            bonus = float(np.maximum(owed, 0.0).sum())
        return (float(paid.sum()) + bonus) * (1.0 + self.fee_rate)


@dataclass(frozen=True, eq=False)
class World:
    """What is true, and what the machine says."""

    confidence: NDArray[np.float64]
    codes: tuple[NDArray[np.intp], NDArray[np.intp]] | None
    n_labels: int
    groups: NDArray[np.intp] | None
    clustering: float

    def draw(self, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return truth and machine labels; drawn truth is code 0 throughout, which loses nothing."""
        if self.codes is not None:
            return self.codes
        n = len(self.confidence)
        truth = np.zeros(n, dtype=np.intp)
        wrong = self._uniform(rng, n) >= self.confidence
        machine = truth.copy()
        machine[wrong] = rng.integers(1, self.n_labels, int(wrong.sum()))
        return truth, machine

    def _uniform(self, rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        if self.groups is None or not self.clustering:
            return rng.random(n)
        from scipy.special import ndtr

        shared = rng.normal(size=int(self.groups.max()) + 1)[self.groups]
        own: NDArray[np.float64] = ndtr(
            math.sqrt(self.clustering) * shared + math.sqrt(1 - self.clustering) * rng.normal(size=n)
        )
        return own


@dataclass(frozen=True, eq=False)
class Who:
    """Who answers, and how much of it gets done on a day."""

    crowd: AnswerSource
    experts: AnswerSource
    seconds_per_day: float
    people_per_day: float
    rework: float

    def ask(
        self, truth: NDArray[np.intp], seconds: NDArray[np.float64], redundancy: int, n_labels: int,
        rng: np.random.Generator,
    ) -> tuple[Answers, Answers]:  # fmt: skip
        """Return everybody's answers to all items: the crowd's, and one each of the experts'."""
        return (
            self.crowd.answers(truth, seconds, redundancy, n_labels, rng),
            self.experts.answers(truth, seconds, 1, n_labels, rng),
        )

    def days(self, seconds: float, rng: np.random.Generator) -> float:
        """Return on which day, and how far into it, this much work is done."""
        if seconds <= 0:
            return 0.0
        if self.seconds_per_day <= 0:
            return math.inf
        each, done, day = self.seconds_per_day / self.people_per_day, 0.0, 0
        while day < _LONGEST_DAYS:
            block = rng.poisson(self.people_per_day, 64) * each
            total = done + np.cumsum(block)
            full = int(np.searchsorted(total, seconds))
            if full < len(block):
                before = total[full - 1] if full else done
                return day + full + float((seconds - before) / block[full])
            done, day = float(total[-1]), day + len(block)
        return math.inf


class Stage:
    """One repetition: truth, machine and everybody's answers, on which every policy is played."""

    def __init__(
        self, setting: Setting, purse: Purse, truth: NDArray[np.intp], machine: NDArray[np.intp], n_labels: int,
        answers: tuple[Answers, Answers],
    ) -> None:  # fmt: skip
        self._setting, self._purse, self._truth, self._machine = setting, purse, truth, machine
        self._crowd, self._experts = answers
        self._voted, self._unanimous = votes_of(self._crowd, n_labels, machine)

    def play(self, policy: Planned, who: Who, budgets: Budgets, rng: np.random.Generator) -> dict[str, float | bool]:
        """Return the figures of one policy."""
        setting, n = self._setting, len(self._truth)
        people = policy.people(setting, rng)
        kept = np.flatnonzero(~people)
        audited = np.zeros(n, dtype=bool)
        audited[rng.choice(kept, min(policy.audited, len(kept)), replace=False)] = True
        asked = people | audited
        by_experts = asked if policy.by == "experts" else asked & ~self._unanimous & policy.experts_settle
        by_crowd = asked & (policy.by == "crowd")
        label = np.where(by_experts, self._experts.label[:, 0], self._voted)
        final = np.where(asked, label, self._machine)
        crowd_s, money = self._crowd_cost(by_crowd)
        expert_s = float(self._experts.seconds[by_experts].sum())
        money += float(setting.seconds[by_experts].sum()) * self._purse.expert_per_s
        seconds = crowd_s * (1.0 + who.rework) + expert_s
        days = who.days(seconds, rng)
        bound = 1.0
        if len(kept):
            wrong = int((self._machine[audited] != label[audited]).sum())
            bound = certify_batch(
                n, int(people.sum()), int(audited.sum()), wrong, level=setting.level
            ).agreement_at_least
        agreement = 1.0 - float((self._machine != self._reference(policy))[~asked].sum()) / n
        target = setting.target_agreement
        return {
            "accuracy": float((final == self._truth).mean()),
            "agreement_at_least": bound,
            "human_share": float(asked.mean()),
            "hours": seconds / 3600,
            "expert_share": float(by_experts.mean()),
            "money_minor": money,
            "days": days,
            "late": budgets.days is not None and days > budgets.days,
            "over_time": budgets.seconds is not None and seconds > budgets.seconds,
            "over_money": budgets.minor is not None and money > budgets.minor,
            "certified": math.nan if target is None else float(bound >= target),
            "held": agreement >= bound - 1e-12,
        }

    def _reference(self, policy: Planned) -> NDArray[np.intp]:
        """Return what this policy's people would have said of every item: what the certificate speaks of."""
        if policy.by == "experts":
            return self._experts.label[:, 0]
        if policy.experts_settle:
            return np.where(self._unanimous, self._voted, self._experts.label[:, 0])
        return self._voted

    def _crowd_cost(self, asked: NDArray[np.bool_]) -> tuple[float, float]:
        there = (self._crowd.label != NO_ANSWER) & asked[:, None]
        expected = np.broadcast_to(self._setting.seconds[:, None], there.shape)[there]
        taken = self._crowd.seconds[there]
        return float(taken.sum()), self._purse.crowd_minor(expected, taken, self._crowd.worker[there])


def votes_of(crowd: Answers, n_labels: int, without: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the majority's label, `without` where nobody answered, and whether all agreed."""
    votes = np.stack([(crowd.label == code).sum(axis=1) for code in range(n_labels)], axis=1).astype(np.float64)
    # The first of equal votes would favour a label: ties go to the label of the first answer.
    first = crowd.label[:, 0]
    has = first >= 0
    votes[np.flatnonzero(has), first[has]] += 0.5
    unanimous: NDArray[np.bool_] = votes.max(axis=1) >= (crowd.label >= 0).sum(axis=1)
    return np.where(has, votes.argmax(axis=1), without), unanimous
