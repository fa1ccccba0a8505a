"""What was looked at, and is it in order? One line of `hmc-crowd doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Finding", "State"]

State: TypeAlias = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Parameters
    ----------
    check : str
        What.
    state : {"ok", "warn", "fail"}
        ``"warn"`` works, but should be looked at; ``"fail"`` does not work.
    found : str
        What was found, and for what is not in order the next step.

    Examples
    --------
    >>> Finding("clock", "ok", "0.2 s from the server's").is_fault
    False
    """

    check: str
    state: State
    found: str

    @property
    def is_fault(self) -> bool:
        """Whether it does not work."""
        return self.state == "fail"
