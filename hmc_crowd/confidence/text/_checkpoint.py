"""How does training survive a kill at any instant? By states that are complete or absent.

A state is a folder ``step-00000120`` with the tensors (safetensors) and a JSON file that holds their SHA-256. It is
written under another name, flushed, and then renamed; the state before goes only after that. What was cut off while it
was written has no final name and is swept away by the next write. Nothing is ever pickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.private import make_private_folder, write_private
from hmc_crowd.confidence.text._weights import need
from hmc_crowd.errors import InputError, ModelError, StateError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Checkpoints", "State", "read_json", "sync", "write_json"]

FORMAT = "hmc_crowd.confidence.text training"
VERSION = 1
_TENSORS, _FACTS = "state.safetensors", "state.json"


@dataclass(frozen=True, eq=False)
class State:
    """Where training stands: steps done, named tensors, and what was measured on the way."""

    step: int
    tensors: dict[str, Any]
    losses: list[float]
    history: list[dict[str, Any]]


@dataclass(frozen=True)
class Checkpoints:
    """The states of one training run, in one folder.

    Attributes
    ----------
    folder : Path
    run : str
        Hash of data, settings and starting weights: a state of another run is refused, not continued.
    every : int
        Steps between two states.
    """

    folder: Path
    run: str
    every: int

    def latest(self) -> State | None:
        """Return the newest complete state, or None where there is none.

        Raises
        ------
        StateError
            The folder belongs to a run on other data or settings.
        ModelError
            The newest state is damaged.
        """
        found = self._states()
        if not found:
            return None
        place = found[-1]
        facts = read_json(place / _FACTS)
        if facts.get("format") != FORMAT or facts.get("version") != VERSION:
            raise ModelError(f"{place} is no training state that this code can read; give another checkpoint folder")
        if facts["run"] != self.run:
            raise StateError(
                f"{self.folder} holds a run on other texts, labels, settings or weights; give another folder, or "
                "delete it to start anew"
            )
        data = (place / _TENSORS).read_bytes()
        if hashlib.sha256(data).hexdigest() != facts["sha256"]:
            raise ModelError(f"{place} is damaged: delete it, and training goes on from the state before it")
        return State(int(facts["step"]), need("safetensors.torch").load(data), facts["losses"], facts["history"])

    def save(self, state: State) -> None:
        """Write a state; then drop all but the newest two."""
        make_private_folder(self.folder)
        for left in self.folder.glob(".draft-*"):
            shutil.rmtree(left, ignore_errors=True)
        place = self.folder / f"step-{state.step:08d}"
        draft = self.folder / f".draft-{state.step:08d}"
        make_private_folder(draft)
        # Copies: safetensors refuses tensors that share memory, as tied weights do.
        tensors = {name: each.detach().cpu().clone().contiguous() for name, each in state.tensors.items()}
        data = need("safetensors.torch").save(tensors)
        write_private(draft / _TENSORS, data)
        facts = {
            "format": FORMAT,
            "version": VERSION,
            "run": self.run,
            "step": state.step,
            "sha256": hashlib.sha256(data).hexdigest(),
            "losses": state.losses,
            "history": state.history,
        }
        write_json(draft / _FACTS, facts)
        if place.exists():
            shutil.rmtree(place)
        draft.rename(place)
        sync(self.folder)
        for old in self._states()[:-2]:
            shutil.rmtree(old)

    def _states(self) -> list[Path]:
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"checkpoints {self.folder} is a file; give a folder")
        return sorted(place for place in self.folder.glob("step-*") if (place / _FACTS).is_file())


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object, or say that the file holds none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise ModelError(f"{path} holds no JSON object")
    return found


def write_json(path: Path, facts: dict[str, Any]) -> None:
    """Write a JSON object and wait until it is on disk."""
    write_private(path, json.dumps(facts, indent=1) + "\n")


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
