"""What does a crowd look like that nobody has seen yet? Draw workers around an assumed accuracy and speed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.checks import require_generator
from hmc_crowd.errors import InputError
from hmc_crowd.simulation._profiles import WorkerProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["draw_workers", "symmetric_confusion"]

_SPAMMER_SPEED = 4.0


def symmetric_confusion(labels: Sequence[str], accuracy: float) -> dict[str, dict[str, float]]:
    """Right with this probability whatever the truth, every error equally likely."""
    wrong = (1.0 - accuracy) / (len(labels) - 1)
    return {truth: {label: accuracy if label == truth else wrong for label in labels} for truth in labels}


def draw_workers(
    n: int,
    labels: Sequence[str],
    *,
    rng: np.random.Generator,
    accuracy: float = 0.85,
    spread: float = 0.07,
    spammers: float = 0.0,
    speed_spread: float = 0.3,
    prefix: str = "worker",
    **habits: float,
) -> tuple[WorkerProfile, ...]:
    """Draw workers whose accuracies and speeds vary as people's do.

    Parameters
    ----------
    n : int
        How many.
    labels : sequence of str
        At least two, without repetition.
    rng : numpy.random.Generator
        All draws come from it.
    accuracy, spread : float, default 0.85 and 0.07
        Mean and standard deviation (over workers) of the probability of a right answer; drawn from the beta
        distribution with these moments. Errors fall on the other labels equally.
    spammers : float, default 0
        Share of workers, rounded to a whole number, who answer at random and four times as fast.
    speed_spread : float, default 0.3
        Standard deviation of the logarithm of the speed over workers, around a median of 1.
    prefix : str, default "worker"
        Workers are named prefix-1, prefix-2, ... with leading zeros.
    **habits
        Passed to every `WorkerProfile`, for example ``setup_s=20`` or ``return_probability=0.05``.

    Raises
    ------
    InputError
        Too few workers or labels, a share outside [0, 1], or a spread no beta distribution of that mean has.

    Examples
    --------
    >>> import numpy as np
    >>> crowd = draw_workers(20, ["yes", "no"], spammers=0.1, rng=np.random.default_rng(1))
    >>> crowd[0].worker, sum(worker.confusion["yes"]["yes"] == 0.5 for worker in crowd)
    ('worker-01', 2)
    """
    require_generator(rng)
    if n < 1:
        raise InputError(f"n is {n}; draw at least one worker")
    if len(set(labels)) < 2 or len(set(labels)) != len(labels):
        raise InputError(f"labels is {list(labels)}; give at least two different ones")
    if not 0 <= spammers <= 1:
        raise InputError(f"spammers is {spammers}; give a share between 0 and 1")
    if not speed_spread >= 0:
        raise InputError(f"speed_spread is {speed_spread}; give 0 or more")
    accuracies = _accuracies(n, accuracy, spread, rng)
    speeds = rng.lognormal(0.0, speed_spread, n)
    is_spammer = set(rng.permutation(n)[: round(spammers * n)].tolist())
    chance = 1.0 / len(labels)
    width = len(str(n))
    return tuple(
        WorkerProfile(
            f"{prefix}-{i + 1:0{width}d}",
            symmetric_confusion(labels, chance if i in is_spammer else float(accuracies[i])),
            speed=float(speeds[i]) * (_SPAMMER_SPEED if i in is_spammer else 1.0),
            **habits,
        )
        for i in range(n)
    )


def _accuracies(n: int, mean: float, spread: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Beta draws by their two moments; a point where there is no spread."""
    import numpy as np

    if not 0 <= mean <= 1:
        raise InputError(f"accuracy is {mean}; give a probability between 0 and 1")
    if not spread >= 0 or (spread > 0 and spread**2 >= mean * (1 - mean)):
        raise InputError(
            f"spread is {spread}; for accuracy {mean} give 0 or more and less than {(mean * (1 - mean)) ** 0.5:.3f}"
        )
    if spread == 0:
        return np.full(n, mean)
    size = mean * (1 - mean) / spread**2 - 1
    return rng.beta(mean * size, (1 - mean) * size, n)
