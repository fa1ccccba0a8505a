"""The demo's own data: short dialogues written for this package, with their labels."""

from __future__ import annotations

from hmc_crowd.demo._data import DemoDialogues, load_dialogues

__all__ = ["DemoDialogues", "load_dialogues"]
