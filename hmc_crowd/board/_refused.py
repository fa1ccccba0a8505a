"""What does a visitor or a program get who is not answered? A status, and a sentence."""

from __future__ import annotations

__all__ = ["RefusedError"]


class RefusedError(Exception):
    """A request that is not answered, with the status and what the visitor reads."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text
