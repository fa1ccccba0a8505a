"""What a stream of answers needs beside its arithmetic: its state as plain lists, and work in a thread of its own."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pandas as pd

from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = ["FORMAT", "InBackground", "StreamState", "read_state"]

FORMAT = 1

T = TypeVar("T")


class InBackground(Generic[T]):
    """One call in a thread that ends with the process; its result or its error is handed out once asked for."""

    def __init__(self, call: Callable[..., T], *arguments: Any) -> None:
        self._found: list[T] = []
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, args=(call, arguments), name="hmc-crowd-refit", daemon=True)
        self._thread.start()

    def _run(self, call: Callable[..., T], arguments: tuple[Any, ...]) -> None:
        try:
            self._found.append(call(*arguments))
        except BaseException as error:  # noqa: BLE001  # because it is raised again where the result is asked for
            self._error = error

    @property
    def done(self) -> bool:
        """Whether the result is there."""
        return not self._thread.is_alive()

    def result(self) -> T:
        """Wait for the end; return the result or raise the error."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found[0]


@dataclass(frozen=True)
class StreamState:
    """A stream's state, read and checked; ``matrices`` has shape (n_workers, K answered, K true)."""

    labels: list[Any]
    workers: list[Any]
    matrices: NDArray[np.float64]
    class_share: NDArray[np.float64]
    stranger: NDArray[np.float64]
    answers: dict[str, list[Any]]
    n_since_refit: int


def read_state(state: Mapping[str, Any]) -> StreamState:
    """Read what ``AnswerStream.to_state`` wrote.

    Raises
    ------
    InputError
        The state is of another format or incomplete.
    FrameError
        Its worker table was cut.
    """
    if not hasattr(state, "get"):
        raise InputError(f"state is a {type(state).__name__}; pass the mapping that to_state returned")
    if state.get("format") != FORMAT:
        raise InputError(f"state has the format {state.get('format')!r}; this version reads {FORMAT}")
    try:
        labels = list(state["labels"])
        table = pd.DataFrame(state["workers"])
        answers = {name: list(state["answers"][name]) for name in ("task", "worker", "label")}
        share, stranger = np.array(state["class_share"]), np.array(state["stranger"])
        since = int(state["n_since_refit"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"state is incomplete: {error!r}; pass what to_state returned") from None
    k = len(labels)
    if len(table) % (k * k) or share.shape != (k,):
        raise FrameError(f"state's worker table has {len(table)} rows, not a multiple of {k} x {k}; it was changed")
    workers = table["worker"].tolist()[:: k * k] if len(table) else []
    matrices = table["probability"].to_numpy(dtype=float).reshape(-1, k, k) if len(table) else np.empty((0, k, k))
    return StreamState(labels, workers, matrices, share, stranger, answers, since)
