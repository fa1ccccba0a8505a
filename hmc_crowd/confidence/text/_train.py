"""How is an encoder fine-tuned so that the same seed gives the same model, whatever happens on the way?

The order of the batches follows from the seed and the epoch, dropout from the seed and the step: no generator's state
has to be carried. A run that was killed and resumed does the same arithmetic as one that was not, so on one machine and
number of threads the weights are equal bit for bit (on a GPU as far as its kernels are deterministic).

AdamW, learning rate linear down to 0 after a short linear start, gradients clipped to length 1. The source names rate,
epochs, batch size and dropout; the schedule is the usual one for such encoders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.confidence.text._checkpoint import Checkpoints, State
from hmc_crowd.confidence.text._run import autocast, bar, drawn, pad, pooled, shuffled
from hmc_crowd.confidence.text._weights import Loaded, need
from hmc_crowd.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Recipe", "Tuned", "rate_at", "tune"]

_MAX_NORM = 1.0


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the outcome beside data and starting weights."""

    learning_rate: float
    epochs: int
    batch_size: int
    dropout: float
    warmup: float
    weight_decay: float
    pooling: str
    precision: str
    seed: int


@dataclass(frozen=True, eq=False)
class Tuned:
    """A head on top of the encoder (which was changed in place), and how training went."""

    weight: NDArray[np.float64]
    bias: NDArray[np.float64]
    history: list[dict[str, Any]]


def rate_at(step: int, total: int, recipe: Recipe) -> float:
    """Return the learning rate of a step, counted from 0: up linearly, then down linearly towards 0.

    Examples
    --------
    >>> recipe = Recipe(1.0, 1, 1, 0.1, 0.2, 0.0, "cls", "float32", 0)
    >>> [round(rate_at(step, 10, recipe), 3) for step in (0, 1, 2, 9)]
    [0.5, 1.0, 1.0, 0.125]
    """
    start = int(recipe.warmup * total)
    if step < start:
        return recipe.learning_rate * (step + 1) / start
    return recipe.learning_rate * (total - step) / (total - start)


def tune(
    loaded: Loaded,
    ids: list[NDArray[np.int32]],
    targets: NDArray[np.int64],
    recipe: Recipe,
    *,
    n_classes: int,
    device: Any,
    checkpoints: Checkpoints | None,
    progress: bool,
    after_epoch: Callable[[Any, Any], dict[str, Any]],
) -> Tuned:
    """Train encoder and head together.

    Parameters
    ----------
    after_epoch : callable
        Gets weight and bias as arrays at the end of every epoch, returns what the history is to hold beside the loss.
    """
    torch = need("torch")
    net = _network(loaded, n_classes, recipe, device)
    named = dict(net.named_parameters())
    optimiser = torch.optim.AdamW(_decayed(named, recipe.weight_decay), lr=recipe.learning_rate)
    state = None if checkpoints is None else checkpoints.latest()
    step, losses, history = (0, [], []) if state is None else (state.step, list(state.losses), list(state.history))
    if state is not None:
        _restore(net, named, optimiser, state.tensors, device)
    lengths = np.array([len(each) for each in ids])
    per_epoch = -(-len(ids) // recipe.batch_size)
    total = per_epoch * recipe.epochs
    batches: list[NDArray[np.intp]] = []
    with bar(total, "training", shown=progress, start=step) as shown:
        while step < total:
            epoch, k = divmod(step, per_epoch)
            if not batches or k == 0:
                batches = shuffled(lengths, recipe.batch_size, np.random.default_rng([recipe.seed, epoch]))
            tokens = pad([ids[row] for row in batches[k]], loaded.tokenizer.pad_token_id or 0, device)
            wanted = torch.from_numpy(targets[batches[k]]).to(device)
            losses.append(_step(net, optimiser, tokens, wanted, rate_at(step, total, recipe), recipe, step, device))
            step += 1
            shown.update(1)
            if k == per_epoch - 1:
                net.eval()
                more = after_epoch(*_head(net))
                history.append({"epoch": epoch + 1, "loss": float(np.mean(losses)), **more})
                losses = []
            if checkpoints is not None and (step % checkpoints.every == 0 or step == total):
                checkpoints.save(State(step, _tensors(net, named, optimiser), losses, history))
    net.eval()
    return Tuned(*_head(net), history)


def _network(loaded: Loaded, n_classes: int, recipe: Recipe, device: Any) -> Any:
    """Return encoder, dropout and a fresh head as one module."""
    torch = need("torch")
    for part in loaded.model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = recipe.dropout
    with drawn(recipe.seed, 0, torch.device("cpu")):
        head = torch.nn.Linear(loaded.model.config.hidden_size, n_classes)
        torch.nn.init.normal_(head.weight, std=0.02)
        torch.nn.init.zeros_(head.bias)
    parts = {"encoder": loaded.model, "dropout": torch.nn.Dropout(recipe.dropout), "head": head}
    return torch.nn.ModuleDict(parts).to(device)


def _decayed(named: dict[str, Any], weight_decay: float) -> list[dict[str, Any]]:
    """Return parameter groups: matrices decay, biases and norms do not."""
    matrices = [each for each in named.values() if each.ndim > 1]
    vectors = [each for each in named.values() if each.ndim <= 1]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]


def _step(
    net: Any, optimiser: Any, tokens: Any, wanted: Any, rate: float, recipe: Recipe, step: int, device: Any
) -> float:
    """Do one step; return its loss."""
    torch = need("torch")
    net.train()
    for group in optimiser.param_groups:
        group["lr"] = rate
    with drawn(recipe.seed, step + 1, device):
        with autocast(device, recipe.precision):
            vectors = pooled(net["encoder"], tokens, recipe.pooling)
        logits = net["head"](net["dropout"](vectors))
        loss = torch.nn.functional.cross_entropy(logits, wanted)
        value = float(loss.detach())
        if not np.isfinite(value):
            raise ModelError(f"the loss of step {step} is {value}; take a smaller learning_rate")
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), _MAX_NORM)
    optimiser.step()
    return value


def _head(net: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    head = net["head"]
    return head.weight.detach().cpu().double().numpy(), head.bias.detach().cpu().double().numpy()


def _tensors(net: Any, named: dict[str, Any], optimiser: Any) -> dict[str, Any]:
    """Return weights and the optimiser's moments under flat names."""
    found = {f"net.{name}": each for name, each in net.state_dict().items()}
    for name, parameter in named.items():
        for kind, value in optimiser.state.get(parameter, {}).items():
            found[f"optimiser.{kind}.{name}"] = value
    return found


def _restore(net: Any, named: dict[str, Any], optimiser: Any, tensors: dict[str, Any], device: Any) -> None:
    """Put the tensors of a state back where they were."""
    net.load_state_dict({name.removeprefix("net."): each for name, each in tensors.items() if name.startswith("net.")})
    for key, value in tensors.items():
        if key.startswith("optimiser."):
            _, kind, name = key.split(".", 2)
            # The count of steps stays on the CPU, as torch keeps it.
            optimiser.state[named[name]][kind] = value if kind == "step" else value.to(device)
