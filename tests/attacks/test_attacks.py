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


#: A guard that is taken out, and an attack that must then get in: door, and the beginning of its name.
GUARDS: dict[str, tuple[Any, str, str]] = {
    "hmc_crowd.board._desk.may": (
        lambda *_: True, "board", "by roles without the right: POST c/{campaign}/webhooks/end",
    ),
    "hmc_crowd.board._desk.is_form_mark": (lambda *_, **__: True, "board", "a form with a mark that is none: sign-out"),
    "hmc_crowd.board._desk.is_cross_site": (lambda *_, **__: False, "board", "a sign-in from another site"),
    "hmc_crowd.board._door.may": (lambda *_: True, "machine API", "by roles without the right: GET /webhooks"),
    "hmc_crowd.board._line._require_claimed": (lambda *_: None, "machine API", "an item of another worker, answered"),
    "hmc_crowd_local.mturk_api._workers_door.WorkersDoor.check": (
        lambda *_: None, "MTurk worker pages", "another's link without its key",
    ),
    "hmc_crowd_local.mturk_api._sigv4.hmac.compare_digest": (
        lambda *_: True, "MTurk API", "a call signed with another's secret",
    ),
    "hmc_crowd_local.pages._visit.Visit.check_stamp": (
        lambda visit, *_: visit.house.now(), "worker pages", "a form whose mark is another's at preferences",
    ),
    "hmc_crowd_prolific._webhooks.is_signed": (lambda *_: True, "Prolific", "a delivery signed with another secret"),
}  # fmt: skip


@pytest.mark.parametrize("guard", GUARDS)
def test_without_its_guard_an_attack_gets_in(guard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    instead, door, name = GUARDS[guard]
    cases = [each for each in ALL if each.door == door and each.name.startswith(name)][:1]
    assert len(cases) == 1
    assert faults(cases) == []
    monkeypatch.setattr(guard, instead)
    assert faults(cases)


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
