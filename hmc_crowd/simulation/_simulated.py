"""What would these workers answer, and when? Draws from profiles, with the truth known.

The draws of a worker on a HIT depend on the seed, the HIT's key and the worker alone, not on the order in which HITs
are visited. Drift and drop-out are the exceptions, as they must be: both depend on what a worker did before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hmc_crowd._base.checks import require_generator
from hmc_crowd.errors import InputError
from hmc_crowd.simulation._crowd import SimulatedAnswer, SimulatedWork
from hmc_crowd.simulation._streams import Streams

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from hmc_crowd.simulation._crowd import Question
    from hmc_crowd.simulation._profiles import WorkerProfile

__all__ = ["SimulatedCrowd"]


class SimulatedCrowd:
    """A crowd drawn from worker profiles.

    Parameters
    ----------
    profiles : sequence of WorkerProfile
        No name twice.
    truth : mapping
        True label by (item, aspect), or by item where all its aspects share one.
    rng : numpy.random.Generator
        Used once, for the seed of all later draws.
    item_seconds : mapping of str to float, optional
        Expected marginal seconds of an item for a worker of speed 1; others take ``seconds_per_item`` plus
        ``seconds_per_word`` for each word, from the profile.
    difficulty : mapping of str to float, optional
        In [0, 1]: 0 leaves the worker's accuracy as it is (the default), 1 turns it into a guess among the labels.

    Notes
    -----
    Where a question allows fewer labels than the profile knows, the probability of a right answer stays and the errors
    share the rest in their old proportions (equally if they had none).

    Examples
    --------
    >>> import numpy as np
    >>> from hmc_crowd.simulation import Question, draw_workers
    >>> rng = np.random.default_rng(0)
    >>> workers = draw_workers(3, ["good", "bad"], accuracy=1.0, spread=0.0, rng=rng)
    >>> crowd = SimulatedCrowd(workers, {"i1": "good"}, rng=rng)
    >>> work = crowd.work("hit-1", [Question("i1", labels=("good", "bad"))], frozenset())
    >>> work.outcome, work.answers[0].label, work == crowd.work("hit-1", [Question("i1")], frozenset())
    ('submit', 'good', True)
    """

    def __init__(
        self,
        profiles: Sequence[WorkerProfile],
        truth: Mapping[tuple[str, str], str] | Mapping[str, str],
        *,
        rng: np.random.Generator,
        item_seconds: Mapping[str, float] | None = None,
        difficulty: Mapping[str, float] | None = None,
    ) -> None:
        require_generator(rng)
        self._profiles = tuple(profiles)
        names = [profile.worker for profile in self._profiles]
        if not names or len(set(names)) != len(names):
            raise InputError(
                f"profiles hold {len(names)} workers, {len(set(names))} names; give one profile per worker"
            )
        self._truth: dict[Any, str] = {**truth}
        by_aspect: dict[str, dict[str, None]] = {}
        for key, label in self._truth.items():
            if isinstance(key, tuple):
                by_aspect.setdefault(key[1], {})[label] = None
        self._answers_of = {aspect: tuple(sorted(labels)) for aspect, labels in by_aspect.items()}
        self._seconds = _checked(item_seconds, "item_seconds", np.inf)
        self._difficulty = _checked(difficulty, "difficulty", 1.0)
        self._check_truth()
        self._activity = np.array([profile.activity for profile in self._profiles])
        self._streams = Streams(rng)
        self._answered = dict.fromkeys(names, 0)
        self._hits = dict.fromkeys(names, 0)
        self._stays_for = {
            profile.worker: float(self._streams.generator("stay", profile.worker).geometric(profile.drop_out))
            if profile.drop_out > 0
            else np.inf
            for profile in self._profiles
        }
        # Cumulative probabilities of the wrong labels, by (worker, truth, labels): the same few rows all the time.
        self._errors: dict[tuple[str, str, tuple[str, ...]], tuple[tuple[str, ...], NDArray[np.float64]]] = {}

    def work(self, hit_key: str, items: Sequence[Question], already: frozenset[str]) -> SimulatedWork | None:
        """Return what the next worker does with this HIT, or None when nobody is left who may take it.

        Raises
        ------
        InputError
            A question has no true label, or one that it does not allow.
        """
        profile = self._next_worker(hit_key, already)
        if profile is None or not items:
            return None
        truths = [self.truth_of(question) for question in items]
        rng = self._streams.generator("work", hit_key, profile.worker)
        outcome, n_done = self._outcome(profile, len(items), rng)
        starts_after_s = float(rng.exponential(profile.pause_mean_s))
        labels = self._labels(profile, items, truths, rng)
        times = self._times(profile, items, rng)
        answers = tuple(
            SimulatedAnswer(question.item, question.aspect, label, *time)
            for question, label, time in zip(items[:n_done], labels, times, strict=False)
        )
        self._hits[profile.worker] += 1
        self._answered[profile.worker] += n_done
        return SimulatedWork(profile.worker, starts_after_s, outcome, answers)

    def _next_worker(self, hit_key: str, already: frozenset[str]) -> WorkerProfile | None:
        for position in self._streams.order(self._activity, "order", hit_key):
            profile = self._profiles[int(position)]
            if profile.worker not in already and self._hits[profile.worker] < self._stays_for[profile.worker]:
                return profile
        return None

    @staticmethod
    def _outcome(
        profile: WorkerProfile, n_items: int, rng: np.random.Generator
    ) -> tuple[Literal["submit", "return", "expire"], int]:
        """Outcome and how many questions are answered before it."""
        draw, n_before = rng.random(), int(rng.integers(0, n_items))
        if draw < profile.return_probability:
            return "return", n_before
        if draw < profile.return_probability + profile.expire_probability:
            return "expire", n_before
        return "submit", n_items

    def _labels(
        self, profile: WorkerProfile, items: Sequence[Question], truths: list[str], rng: np.random.Generator
    ) -> list[str]:
        is_right, which = rng.random(len(items)).tolist(), rng.random(len(items)).tolist()
        labels = []
        for i, (question, truth) in enumerate(zip(items, truths, strict=True)):
            # Where a question lists no answers (numbers, sets), wrong ones are the right ones of its other items.
            allowed = question.labels or self._answers_of.get(question.aspect, ())
            others, cumulative = self._error_row(profile, truth, allowed)
            right = profile.probability_right(truth, answered=self._answered[profile.worker] + i)
            hard = self._difficulty.get(question.item, 0.0)
            right = (1 - hard) * right + hard / (len(others) + 1)
            if is_right[i] < right or not others:
                labels.append(truth)
            else:
                labels.append(others[int(np.searchsorted(cumulative, which[i], side="right"))])
        return labels

    def _error_row(
        self, profile: WorkerProfile, truth: str, allowed: tuple[str, ...]
    ) -> tuple[tuple[str, ...], NDArray[np.float64]]:
        key = (profile.worker, truth, allowed)
        if key not in self._errors:
            row = profile.confusion[truth]
            others = tuple(label for label in (allowed or row) if label != truth)
            mass = np.array([row.get(label, 0.0) for label in others])
            mass = mass if mass.sum() > 0 else np.ones(len(others))
            cumulative = np.cumsum(mass) / mass.sum() if others else mass
            # The last step is exactly 1, so that no draw falls beyond it.
            self._errors[key] = others, np.append(cumulative[:-1], 1.0)
        return self._errors[key]

    def _times(
        self, profile: WorkerProfile, items: Sequence[Question], rng: np.random.Generator
    ) -> list[tuple[float, float, float]]:
        """Return set-up, work and idle seconds of every question."""
        n = len(items)
        noise = np.exp(rng.normal(-(profile.noise**2) / 2, profile.noise, (n, 2))).tolist()
        idle = np.where(
            rng.random(n) < profile.idle_probability, rng.exponential(profile.idle_mean_s, n), np.zeros(n)
        ).tolist()
        seen: set[str] = set()
        times = []
        for i, question in enumerate(items):
            speed = profile.speed_after(self._answered[profile.worker] + i)
            base = self._seconds.get(
                question.item, profile.seconds_per_item + profile.seconds_per_word * question.n_words
            )
            setup = 0.0 if question.group in seen else profile.setup_s / speed * noise[i][1]
            seen.add(question.group)
            times.append((setup, base / speed * noise[i][0], idle[i]))
        return times

    def truth_of(self, question: Question) -> str:
        """Return the right answer to a question.

        Raises
        ------
        InputError
            There is none, or the question does not allow it.
        """
        truth = self._truth.get((question.item, question.aspect), self._truth.get(question.item))
        if truth is None:
            raise InputError(f"truth has no label for item {question.item!r}, aspect {question.aspect!r}; add it")
        if question.labels and truth not in question.labels:
            raise InputError(
                f"truth of item {question.item!r} is {truth!r}, which its question does not allow; "
                f"allowed are {', '.join(question.labels)}"
            )
        return truth

    def _check_truth(self) -> None:
        labels = sorted(set(self._truth.values()))
        for profile in self._profiles:
            unknown = [label for label in labels if label not in profile.confusion]
            if unknown:
                raise InputError(
                    f"truth holds the label {unknown[0]!r}, for which worker {profile.worker!r} has no row of "
                    "confusion; add the row"
                )


def _checked(values: Mapping[str, float] | None, name: str, high: float) -> dict[str, float]:
    """Return a copy of a mapping whose values lie in [0, high]."""
    kept = dict(values or {})
    for item, value in kept.items():
        if not 0 <= value <= high or not np.isfinite(value):
            allowed = "0 or more" if np.isinf(high) else f"between 0 and {high:g}"
            raise InputError(f"{name} of item {item!r} is {value}; it must be {allowed}")
    return kept
