"""The demo's own data, short dialogues written for this package with their labels, and the demo itself."""

from __future__ import annotations

from hmc_crowd.demo._data import DemoDialogues, load_dialogues
from hmc_crowd.demo._run import DemoResult, run_demo

__all__ = ["DemoDialogues", "DemoResult", "load_dialogues", "run_demo"]
