"""What a campaign and a workplace say to each other about qualification tests: the test, and the attempts at it.

A workplace asks the test of its people and keeps what they did; a campaign keeps versions, marks and attempts with its
other figures. Neither reads the other's database. Everything here is part of the port (`hmc_crowd.platform`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from hmc_crowd._base.ids import digest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime
    from pathlib import Path

__all__ = ["KeepsTests", "RemoteAttempt", "RemoteTest", "content_of_test"]


def content_of_test(key: Mapping[str, str], needed: int) -> str:
    """Return the digest of what passing a test means: its items, their right labels, and how many must be right.

    >>> content_of_test({"q1": "kind", "q2": "rude"}, 2) == content_of_test({"q2": "rude", "q1": "kind"}, 2)
    True
    >>> content_of_test({"q1": "kind", "q2": "rude"}, 1) == content_of_test({"q1": "kind", "q2": "rude"}, 2)
    False
    """
    return digest(json.dumps(sorted((str(item), str(label)) for item, label in key.items())), needed)[:16]


@dataclass(frozen=True)
class RemoteTest:
    """A qualification test as pages ask it.

    Parameters
    ----------
    name, version : str, int
        As people name it.
    key : mapping of str to str
        Item to right label. An item's name tells its content: another text is another item.
    needed : int
        Right answers that pass.
    training : mapping of str to str
        Items that are shown before, with an explanation, and never count.
    attempts, delay_s : int, float
        How often it may be tried, and seconds between the end of an attempt and the next.
    """

    name: str
    version: int
    key: Mapping[str, str]
    needed: int
    training: Mapping[str, str] = field(default_factory=dict)
    attempts: int = 1
    delay_s: float = 0.0

    @property
    def content(self) -> str:
        """Return what tells whether two versions of a number are the same."""
        return content_of_test(self.key, self.needed)


@dataclass(frozen=True)
class RemoteAttempt:
    """One finished attempt: ``worker`` is the raw id on ``platform``, which sent him; ``content`` what he was asked."""

    worker: str
    platform: str
    test: str
    version: int
    content: str
    right: int
    n: int
    passed: bool
    at: datetime


@runtime_checkable
class KeepsTests(Protocol):
    """Pages that ask a qualification test before the work, and keep the attempts."""

    def read_test(self, study: str | Path) -> RemoteTest:
        """Return the test of a study's file."""
        ...

    def test_attempts(self, scope: str, name: str) -> list[RemoteAttempt]:
        """Return all attempts at a test of people who came to a campaign's HITs, oldest first."""
        ...

    def test_funnel(self, scope: str, name: str, contents: Collection[str]) -> Mapping[str, int]:
        """Count who came to a campaign's HITs, and of them who consented, tried, passed, and handed work in."""
        ...
