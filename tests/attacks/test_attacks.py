"""Nobody gets in: the table of attacks, door by door, and that the table can tell."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.attacks import DOORS, Attack, Scene, load, run_attacks
from tests.attacks.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Iterator

ALL = load()


def faults(attacks: list[Attack]) -> list[str]:
    return [
        f"{each.attack.name}: {each.verdict}: {each.why}" for each in run_attacks(attacks) if each.verdict != "held"
    ]


@pytest.mark.parametrize("door", [door for door in DOORS if any(each.door == door for each in ALL)])
def test_nobody_gets_in(door: str) -> None:
    assert faults([each for each in ALL if each.door == door and not each.is_slow]) == []


@pytest.mark.slow
def test_nobody_gets_in_who_takes_his_time() -> None:
    assert faults([each for each in ALL if each.is_slow]) == []


class House(Scene):
    foreign = ("what is another's",)

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[str] = []
        self.is_open = True

    def stored(self) -> Any:
        return list(self.rows)

    def goes_on(self) -> None:
        assert self.is_open, "nobody can work"


@contextmanager
def house() -> Iterator[House]:
    yield House()


@pytest.mark.parametrize(
    ("act", "verdict"),
    [
        (lambda scene: None, "held"),
        (lambda scene: scene.rows.append("x"), "got in"),
        (lambda scene: scene.heard("here is what is another's"), "got in"),
        (lambda scene: setattr(scene, "is_open", False), "got in"),
        (lambda scene: scene.missing, "error"),
    ],
)
def test_an_attack_that_changes_or_learns_something_got_in(act: Any, verdict: str) -> None:
    case = Attack("board", "a case", house, act, "nothing")
    assert [each.verdict for each in run_attacks([case])] == [verdict]


def test_an_attack_leaves_nothing_to_the_next_one() -> None:
    def first(scene: House) -> None:
        scene.rows.append("x")

    def second(scene: House) -> None:
        assert scene.rows == []

    cases = [Attack("board", name, house, act, "nothing", stores="text") for name, act in (("1", first), ("2", second))]
    assert [each.verdict for each in run_attacks(cases)] == ["held", "held"]


def test_the_command_says_no_with_its_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    def gets_in(scene: House) -> None:
        scene.rows.append("x")

    monkeypatch.setattr("tests.attacks.__main__.load", lambda: [Attack("board", "a case", house, gets_in, "nothing")])
    assert main([]) == 1
    assert "got in: board: a case" in capsys.readouterr().err
