"""The table of attacks, and what is looked at after each of them."""

from __future__ import annotations

import shutil
import tempfile
import traceback
from atexit import register
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["ATTACKS", "DOORS", "Attack", "Outcome", "Scene", "attack", "load", "prepared", "refused", "run_attacks"]

DOORS = (
    "worker pages",  # task pages behind a signed link
    "invitations",  # links that hand out work
    "board",  # pages for the people in charge: sign-in, sessions, forms, streams
    "experts",  # the board's pages for experts and auditors
    "machine API",  # /api: allocate, claim, answers, webhooks, metrics
    "MTurk API",  # the requester's operations
    "MTurk worker pages",  # preview, accept, frames, submit, drafts, events
    "Prolific",  # arrivals, webhooks that come in, the stand-in
    "command line",  # hostile files, ids and settings
    "files and local users",  # what lies on the disk, and who may read it
    "outgoing calls",  # webhooks and judges: where our own requests go, and what they swallow
    "backups and models",  # archives and model files of others
)
REFUSALS = frozenset({400, 401, 403, 404, 405, 408, 409, 411, 413, 414, 415, 421, 422, 429, 431})


class Scene:
    """What is attacked. Subclasses say what is stored; what they hand out as clients records the replies."""

    #: Texts that no reply to an attacker may show.
    foreign: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.shown: list[str] = []

    def stored(self) -> Any:
        """Return all that no attack may change, in a form that compares."""
        raise NotImplementedError

    def goes_on(self) -> None:
        """Assert that honest people can still do their work."""

    def ends(self) -> None:
        """Assert at the end, when many attacks have been, that the honest work can be finished."""

    def heard(self, *texts: str) -> None:
        """Note what an attacker got to see."""
        self.shown += texts

    def recording(self, client: Any) -> Any:
        """Let a client of httpx (Starlette's too) note every reply, headers and all."""

        def note(response: Any) -> None:
            response.read()
            self.heard(response.text, *(f"{name}: {value}" for name, value in response.headers.items()))

        client.event_hooks["response"].append(note)
        return client


@dataclass(frozen=True)
class Attack:
    """One case: at which door, what it tries, what should stop it."""

    door: str
    name: str
    scene: Callable[[], AbstractContextManager[Any]]
    act: Callable[[Any], Any]
    defence: str
    stores: str = ""
    is_slow: bool = False
    file: str = ""


@dataclass(frozen=True)
class Outcome:
    """How an attack went: ``held``, ``got in`` or ``error``, and why."""

    attack: Attack
    verdict: str
    why: str = ""


ATTACKS: dict[tuple[str, str], Attack] = {}


def attack(
    door: str,
    name: str,
    scene: Callable[[], AbstractContextManager[Any]],
    *,
    defence: str,
    stores: str = "",
    is_slow: bool = False,
) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Put a case into the table.

    Parameters
    ----------
    door : str
        One of `DOORS`.
    name : str
        What it tries, in a few words; no other attack at this door has it.
    scene : callable
        Opens what is attacked.
    defence : str
        What should stop it.
    stores : str
        Why something may be stored after all, for example because what was sent is kept as text; empty where nothing
        may change.
    is_slow : bool
        Whether it waits on purpose, so that the tests leave it to the long run.
    """
    if door not in DOORS:
        raise ValueError(f"there is no door {door!r}; there are {', '.join(DOORS)}")

    def put(act: Callable[[Any], Any]) -> Callable[[Any], Any]:
        known = ATTACKS.get((door, name))
        if known is not None and known.file != act.__module__:
            raise ValueError(f"{act.__module__} and {known.file} both have an attack {name!r} at {door!r}")
        ATTACKS[door, name] = Attack(door, name, scene, act, defence, stores, is_slow, act.__module__)
        return act

    return put


def load() -> list[Attack]:
    """Return all attacks of the folder, by door."""
    for file in sorted(Path(__file__).parent.glob("*.py")):
        if not file.name.startswith(("_", "test_")):
            import_module(f"tests.attacks.{file.stem}")
    return sorted(ATTACKS.values(), key=lambda each: DOORS.index(each.door))


def refused(*replies: Any) -> None:
    """Assert that each reply says no: a 4xx, never a 500, never a page."""
    for each in replies:
        assert each.status_code in REFUSALS, f"{each.status_code}: {each.text[:300]}"


def run_attacks(attacks: Iterable[Attack]) -> Iterator[Outcome]:
    """Run attacks, those of one scene after another in the same one while it is unchanged."""
    for scene, some in groupby(sorted(attacks, key=_place), key=lambda each: each.scene):
        yield from _Stage(scene).run(list(some))


def _place(each: Attack) -> tuple[str, str, int]:
    return each.scene.__module__, each.scene.__qualname__, DOORS.index(each.door)


class _Stage:
    """One scene at a time, opened anew when an attack has changed it."""

    def __init__(self, scene: Callable[[], AbstractContextManager[Any]]) -> None:
        self.scene, self.stack = scene, ExitStack()
        self.open: Any = None

    def run(self, attacks: list[Attack]) -> Iterator[Outcome]:
        with self.stack:
            for number, each in enumerate(attacks):
                yield self._outcome(each, is_last=number == len(attacks) - 1)

    def _outcome(self, each: Attack, *, is_last: bool) -> Outcome:
        try:
            if self.open is None:
                self.open = self.stack.enter_context(self.scene())
        except Exception as error:  # noqa: BLE001  a scene that does not open is no attack that got in
            return Outcome(each, "error", _place_of(error))
        try:
            self._attack(self.open, each)
            if is_last and self.open is not None:
                self.open.ends()
        except AssertionError as error:
            self._leave()
            return Outcome(each, "got in", _place_of(error))
        except Exception as error:  # noqa: BLE001  whatever it is, the other attacks go on
            self._leave()
            return Outcome(each, "error", _place_of(error))
        return Outcome(each, "held")

    def _attack(self, scene: Scene, each: Attack) -> None:
        before = scene.stored()
        scene.shown.clear()
        each.act(scene)
        after = scene.stored()
        assert each.stores or after == before, "what is stored has changed"
        for text in scene.foreign:
            assert not any(text in shown for shown in scene.shown), f"{text!r} was shown"
        scene.goes_on()
        if scene.stored() != before:
            scene.ends()
            self._leave()

    def _leave(self) -> None:
        """Close the scene; the next attack gets a fresh one."""
        self.stack.close()
        self.open = None


def _place_of(error: BaseException) -> str:
    """Return what was wrong and in which line of the attack."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if "tests" in each.filename]
    at = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno}: {frames[-1].line})" if frames else ""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0][:300] if said else ''}{at}"


_PREPARED: dict[Any, Path] = {}


def prepared(build: Callable[[Path], Any]) -> Path:
    """Return a folder that ``build`` filled, once in this process; copy it rather than change it."""
    if build not in _PREPARED:
        folder = Path(tempfile.mkdtemp(prefix="attacks"))
        register(shutil.rmtree, folder, ignore_errors=True)
        build(folder)
        _PREPARED[build] = folder
    return _PREPARED[build]
