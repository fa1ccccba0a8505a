"""What a language model is asked, what it answers, and what a client of one must do.

Three clients come with the package: `Endpoint` (any OpenAI-compatible server), `LocalModel` (transformers, on this
machine) and any object of yours with the same three attributes and one method.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Client", "Completion", "Request"]


@dataclass(frozen=True)
class Request:
    """One question.

    Parameters
    ----------
    messages : tuple of (role, text)
    max_tokens : int, default 100
        Of the answer; the source's limit.
    temperature : float, default 0
        0 is greedy.
    sample : int, default 0
        Which of several samples of the same question this is.
    """

    messages: tuple[tuple[str, str], ...]
    max_tokens: int = 100
    temperature: float = 0.0
    sample: int = 0

    def content(self) -> dict[str, Any]:
        """Return what the answer depends on, for the key of the cache."""
        return asdict(self)


@dataclass(frozen=True)
class Completion:
    """One answer.

    Parameters
    ----------
    text : str or None
        None where none came; `error` then says why.
    alternatives : mapping of token -> log probability
        Of the first token; empty where the model gives none.
    prompt_tokens, completion_tokens : int
        As the server counted; 0 where it did not.
    seconds : float
        From the first attempt to the last byte, waiting for the rate limit left out.
    served : str
        The model's name as the server gave it.
    attempts : int
        Calls that were made for it.
    error : str
    """

    text: str | None
    alternatives: Mapping[str, float] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    served: str = ""
    attempts: int = 1
    error: str = ""


@runtime_checkable
class Client(Protocol):
    """Whatever can ask a language model.

    Attributes
    ----------
    name : str
    version : str
        Everything the answers depend on besides the request.
    leaves_machine : bool
        Whether requests are sent to another machine.
    """

    name: str
    version: str
    leaves_machine: bool

    def complete(self, requests: Sequence[Request], done: Callable[[int, Completion], None]) -> None:
        """Ask all; hand each answer to ``done(position, completion)`` as soon as it is there, from one thread."""
        ...
