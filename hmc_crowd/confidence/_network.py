"""A small dense network: weights as plain arrays, so that it is used and stored without the library that trained it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hmc_crowd._base.extras import require
from hmc_crowd.confidence._inputs import expit, log_odds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__: list[str] = []

_ROWS = 4096
# Targets are kept this far from 0 and 1 where log-odds are learnt, or a few sure items would rule the error.
_INSIDE = 0.01


@dataclass(frozen=True)
class Training:
    """How a network is trained."""

    width: int
    epochs: int
    patience: int
    batch_size: int
    learning_rate: float
    validation: float
    seed: int
    progress: Callable[[str, int, int], None] | None = None


@dataclass(frozen=True, eq=False)
class Network:
    """Dense layers with ReLU between them and a sigmoid at the end."""

    weights: list[NDArray[np.float32]]
    shifts: list[NDArray[np.float32]]
    mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    epochs: int

    @property
    def n_parameters(self) -> int:
        """Numbers that were learnt."""
        return sum(each.size for each in (*self.weights, *self.shifts))

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the output for every row, in [0, 1]."""
        out = np.empty(len(X))
        for start in range(0, len(X), _ROWS):
            value = ((X[start : start + _ROWS] - self.mean) / self.spread).astype(np.float32)
            for weight, shift in zip(self.weights[:-1], self.shifts[:-1], strict=True):
                value = np.maximum(value @ weight + shift, 0)
            last = (value @ self.weights[-1] + self.shifts[-1])[:, 0].astype(np.float64)
            out[start : start + _ROWS] = expit(last)
        return out

    def state(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(self.__dict__)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Build from plain values; layers that do not follow on one another are refused."""
        weights = [np.asarray(each, dtype=np.float32) for each in state["weights"]]
        shifts = [np.asarray(each, dtype=np.float32) for each in state["shifts"]]
        mean, spread = (np.asarray(state[name], dtype=np.float64) for name in ("mean", "spread"))
        widths = [len(mean), *(each.shape[1] for each in weights)]
        fits = all(each.shape[0] == before for each, before in zip(weights, widths, strict=False))
        fits &= all(each.shape == (after,) for each, after in zip(shifts, widths[1:], strict=True)) and widths[-1] == 1
        parts: tuple[NDArray[Any], ...] = (*weights, *shifts, mean, spread)
        finite = all(np.isfinite(each).all() for each in parts)
        if not (fits and finite and spread.shape == mean.shape and (spread > 0).all()):
            raise ValueError("the network's layers do not fit together")
        return cls(weights, shifts, mean, spread, int(state["epochs"]))


def train_network(X: NDArray[np.float64], target: NDArray[np.float64], how: Training, *, backend: str) -> Network:
    """Train five dense layers on a target in [0, 1], by mean squared error."""
    mean, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    scaled = ((X - mean) / spread).astype(np.float32)
    fit = _fit_torch if backend == "torch" else _fit_sklearn
    weights, shifts, epochs = fit(scaled, target.astype(np.float32), how)
    return Network(weights, shifts, mean, spread, epochs)


def _fit_torch(
    X: NDArray[np.float32], target: NDArray[np.float32], how: Training
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]], int]:
    torch = require("torch", extra="text", purpose="TrueClassProbability(backend='torch')")
    rng = np.random.default_rng(how.seed)
    order = rng.permutation(len(X))
    n_held = max(1, round(how.validation * len(X)))
    held, own = order[:n_held], order[n_held:]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    net = _layers(torch, X.shape[1], how).to(device)
    data, wanted = torch.from_numpy(X).to(device), torch.from_numpy(target).to(device)
    optimiser = torch.optim.Adam(net.parameters(), lr=how.learning_rate)
    best, kept, since, epoch = float("inf"), None, 0, 0
    for epoch in range(1, how.epochs + 1):
        net.train()
        shuffled = torch.from_numpy(rng.permutation(own)).to(device)
        for rows in shuffled.split(how.batch_size):
            optimiser.zero_grad()
            ((net(data[rows])[:, 0] - wanted[rows]) ** 2).mean().backward()
            optimiser.step()
        net.eval()
        with torch.no_grad():
            loss = float(((net(data[held])[:, 0] - wanted[held]) ** 2).mean())
        if how.progress is not None:
            how.progress("confidence network", epoch, how.epochs)
        if loss < best:
            best, since, kept = loss, 0, {name: each.clone() for name, each in net.state_dict().items()}
        else:
            since += 1
            if since >= how.patience:
                break
    net.load_state_dict(kept if kept is not None else net.state_dict())
    dense = [each for each in net if isinstance(each, torch.nn.Linear)]
    weights = [each.weight.detach().cpu().numpy().T.copy() for each in dense]
    return weights, [each.bias.detach().cpu().numpy().copy() for each in dense], epoch


def _layers(torch: Any, n_features: int, how: Training) -> Any:
    """Return the untrained network; the generator of the process is left as it was."""
    with torch.random.fork_rng():
        torch.manual_seed(how.seed)
        layers = [torch.nn.Linear(n_features, how.width), torch.nn.ReLU()]
        for _ in range(3):
            layers += [torch.nn.Linear(how.width, how.width), torch.nn.ReLU()]
        return torch.nn.Sequential(*layers, torch.nn.Linear(how.width, 1), torch.nn.Sigmoid())


def _fit_sklearn(
    X: NDArray[np.float32], target: NDArray[np.float32], how: Training
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]], int]:
    """Train on the log-odds of the target: scikit-learn's regressor has no sigmoid at its end."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPRegressor

    net = MLPRegressor(
        hidden_layer_sizes=(how.width,) * 4,
        learning_rate_init=how.learning_rate,
        batch_size=min(how.batch_size, len(X)),
        max_iter=how.epochs,
        early_stopping=True,
        n_iter_no_change=how.patience,
        validation_fraction=how.validation,
        tol=0.0,
        random_state=how.seed,
    )
    with warnings.catch_warnings():
        # The epochs are limited on purpose.
        warnings.simplefilter("ignore", ConvergenceWarning)
        net.fit(X, log_odds(np.clip(target, _INSIDE, 1 - _INSIDE)))
    weights = [each.astype(np.float32) for each in net.coefs_]
    return weights, [each.astype(np.float32) for each in net.intercepts_], int(net.n_iter_)
