"""How are texts put through a model quickly? Batches of like length, on the processor or the GPU, in 32 or 16 bits.

A batch is as long as its longest text, so texts are sorted by length first: the padding that is left is small. How a
text is batched moves its features by rounding (about 1e-6 in float32), nothing more.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.confidence.text._weights import need
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hmc_crowd.confidence.text._weights import Loaded

__all__ = [
    "autocast",
    "bar",
    "by_length",
    "check_places",
    "check_run",
    "drawn",
    "pad",
    "pooled",
    "shuffled",
    "the_device",
]

PRECISIONS = ("float32", "bfloat16")
POOLINGS = ("mean", "cls")
_POOL = 50  # batches that are sorted by length together while training


def check_run(**given: Any) -> None:
    """Refuse settings that no run can have; each is named."""
    for name, value in given.items():
        if name in {"batch_size", "max_tokens", "epochs"}:
            low = 8 if name == "max_tokens" else 1
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
                raise InputError(f"{name} is {value!r}; give a whole number from {low}")
        elif name in {"precision", "pooling", "mode"}:
            allowed = {"precision": PRECISIONS, "pooling": POOLINGS, "mode": ("finetune", "frozen")}[name]
            if value not in allowed:
                raise InputError(f"{name} is {value!r}; use {' or '.join(map(repr, allowed))}")
        elif name in {"learning_rate", "C"}:
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"{name} is {value!r}; give a number above 0")
        elif not (np.isfinite(value) and 0 <= value < 1):
            raise InputError(f"{name} is {value!r}; give a share in [0, 1)")


def check_places(loaded: Loaded, max_tokens: int) -> None:
    """Refuse more tokens than the model has places for."""
    places = getattr(loaded.model.config, "max_position_embeddings", None)
    if places is not None and max_tokens > places:
        raise InputError(f"max_tokens is {max_tokens} but {loaded.name!r} has {places} places; give fewer")


def the_device(name: str | None) -> Any:
    """Return the torch device: the named one, or the GPU where there is one."""
    torch = need("torch")
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"device is {name!r}; use 'cpu', 'cuda' or None") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ModelError(f"device is {name!r} but torch sees no such GPU here; use device='cpu'")
    return device


def autocast(device: Any, precision: str) -> Any:
    """Return the context in which matrix products run in 16 bits, where that was asked."""
    if precision == "float32":
        return nullcontext()
    torch = need("torch")
    return torch.autocast(device_type=device.type, dtype=torch.bfloat16)


@contextmanager
def drawn(seed: int, step: int, device: Any) -> Iterator[None]:
    """Draw torch's random numbers from this seed and step; the caller's generator stays as it was."""
    torch = need("torch")
    state = np.random.SeedSequence([seed, step]).generate_state(2, np.uint32)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed((int(state[0]) << 31) ^ int(state[1]))
        yield


def by_length(lengths: NDArray[Any], batch_size: int) -> list[NDArray[np.intp]]:
    """Return batches of positions, longest first: what does not fit into memory shows at once.

    Examples
    --------
    >>> [batch.tolist() for batch in by_length(np.array([1, 9, 5, 9]), 2)]
    [[1, 3], [2, 0]]
    """
    order = np.argsort(-lengths, kind="stable")
    return [order[first : first + batch_size] for first in range(0, len(order), batch_size)]


def shuffled(lengths: NDArray[Any], batch_size: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Return random batches of like length: shuffled, sorted inside pools of fifty batches, shuffled again."""
    order = rng.permutation(len(lengths))
    batches: list[NDArray[np.intp]] = []
    for first in range(0, len(order), batch_size * _POOL):
        pool = order[first : first + batch_size * _POOL]
        batches += [pool[batch] for batch in by_length(lengths[pool], batch_size)]
    return [batches[k] for k in rng.permutation(len(batches))]


def pad(ids: Sequence[NDArray[Any]], fill: int, device: Any) -> dict[str, Any]:
    """Return token ids and attention mask of one batch as tensors."""
    torch = need("torch")
    longest = max(map(len, ids))
    tokens = np.full((len(ids), longest), fill, dtype=np.int64)
    mask = np.zeros((len(ids), longest), dtype=np.int64)
    for row, each in enumerate(ids):
        tokens[row, : len(each)] = each
        mask[row, : len(each)] = 1
    return {
        "input_ids": torch.from_numpy(tokens).to(device),
        "attention_mask": torch.from_numpy(mask).to(device),
    }


def pooled(model: Any, batch: dict[str, Any], pooling: str) -> Any:
    """Return one float32 vector per text: the first token's, or the mean over all tokens."""
    hidden = model(**batch).last_hidden_state.float()
    if pooling == "cls":
        return hidden[:, 0]
    weight = batch["attention_mask"].unsqueeze(-1).to(hidden.dtype)
    return (hidden * weight).sum(dim=1) / weight.sum(dim=1)


def bar(total: int, what: str, *, shown: bool, start: int = 0) -> Any:
    """Return a progress bar on standard error, silent where nobody asked."""
    return need("tqdm.auto").tqdm(total=total, desc=what, initial=start, disable=not shown)
