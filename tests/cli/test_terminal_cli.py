"""No control character of anybody's text reaches the terminal, and no command prints past the one renderer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import hmc_crowd.cli
from hmc_crowd.cli import _show

if TYPE_CHECKING:
    from collections.abc import Callable

# Colours, a title that is set, a cleared screen, keys that are typed (DCS), C1 forms of them, a line turned round.
HOSTILE = "\x1b[31mred\x1b]0;title\x07\x1b[2J\x1bP\x9b31m\x9d0;t\x9c\r\x08\u202eevil\u2028 [bold]x[/bold]"
WRONG = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def clean(*printed: str) -> bool:
    found = [repr(each) for text in printed for each in WRONG.findall(text)]
    assert not found, found
    return True


@pytest.mark.parametrize(
    "show",
    [
        lambda text: _show.say(text),
        lambda text: _show.echo(text),
        lambda text: _show.facts(text, [(text, text), ("name", None)]),
        lambda text: _show.notes([text]),
        lambda text: _show.tell(text, as_json=False, said=[text]),
        lambda text: _show.table(pd.DataFrame({text: [text, "a\nb\tc"], "n": [1, 2]}), title=text, note=text),
        lambda text: _show.emit_json({text: [text, pd.Series([text])]}),
        lambda text: _show.give(
            pd.DataFrame({"a": [text]}), pd.DataFrame({"a": [text]}), None, as_json=False, overwrite=False, head=text
        ),
    ],
)
def test_nothing_that_is_shown_moves_the_cursor(
    show: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    show(HOSTILE)
    said = capsys.readouterr().out
    assert clean(said)
    assert "evil" in said
    assert "[bold]x[/bold]" in re.sub(r"\s+", "", said)  # nor is it read as markup
    assert "\\x1b[31mred" in said or "\\u001b[31mred" in said


def test_json_means_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    import json

    _show.emit_json({"text": HOSTILE})
    assert json.loads(capsys.readouterr().out) == {"text": HOSTILE}


def test_a_cell_cannot_forge_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    _show.table(pd.DataFrame({"item": ["a\n forged  row", "b"]}))
    assert "a\\x0a forged  row" in capsys.readouterr().out


@pytest.mark.parametrize("as_json", [False, True])
def test_an_error_that_repeats_what_was_typed_is_clean(hmc: Callable[..., Any], at: Any, as_json: bool) -> None:
    at("collected")
    for command in (
        ("explain", HOSTILE),
        ("status", "--campaign", HOSTILE),
        (HOSTILE,),
        ("quote", "x.csv", "--money", HOSTILE, "--pay", "12/h"),
        ("aggregate", "--method", HOSTILE),
        ("publish", "--platform", HOSTILE, "--pay", "12/h"),
    ):
        told = hmc(*command, *(["--json"] if as_json else []))
        assert told.code == 2, command
        assert clean(told.out, told.err)
        assert told.err


def test_questions_of_workers_are_listed_clean(tmp_path: Path, hmc: Callable[..., Any]) -> None:
    from hmc_crowd_local import connect

    from hmc_crowd.platform import Hit, HitItem

    with connect(str(tmp_path / "w.db")) as local:
        made = local.publish(
            Hit("k", "Judge", "", (HitItem("i1", "label", "g", 1, "Hi.", labels=("a", "b")),), 1, 5, "USD")
        )
        name = local.accept(made.hit_id, "ann").submission_id
        local.threads().ask(name, "i1", f"Is it so? {HOSTILE}", at=local.submission(name).accepted_at)
    told = hmc("invites", "messages", "--workplace", str(tmp_path / "w.db"))
    assert "evil" in told.out.replace("\n", "")
    assert clean(told.out, told.err)
    assert clean(hmc("invites", "messages", "--json", "--workplace", str(tmp_path / "w.db")).out)


@pytest.mark.parametrize(
    "command",
    [
        ("quality", "texts"),
        ("quality", "gold"),
        ("quality", "workers"),
        ("status",),
        ("explain", f"odd {HOSTILE}"),
        ("workers", "list"),
        ("hits", "list"),
    ],
    ids=lambda command: " ".join(command[:2])[:20].encode("ascii", "replace").decode(),
)
def test_items_with_hostile_names_are_listed_clean(
    hmc: Callable[..., Any], at: Callable[[str], Any], command: tuple[str, ...]
) -> None:
    folder = at("collected")
    more = pd.DataFrame({"item": [f"odd {HOSTILE}"], "group": [f"g {HOSTILE}"], "text": [f"so {HOSTILE}"]})
    more.to_json(folder / "more.jsonl", orient="records", lines=True)
    hmc("items", "more.jsonl")
    for options in ((), ("--json",)):
        told = hmc(*command, *options)
        assert clean(told.out, told.err)


def test_no_command_prints_past_the_renderer() -> None:
    folder = Path(hmc_crowd.cli.__file__).parent
    allowed = {
        "_show.py": "typer.echo",
        "_main.py": "sys.stdout.write",
        "_wording.py": "get_help",
        "_app.py": "version",
    }
    past = re.compile(r"typer\.(?:echo|secho)\(|(?<![\w.])print\(|sys\.std(?:out|err)\.write|Console\(")
    for file in sorted(folder.glob("*.py")):
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if past.search(line)]
        lines = [line for line in lines if not line.lstrip().startswith((">>>", "...", "#"))]
        assert file.name in allowed or not lines, f"{file.name}: {lines}"


def test_every_table_that_a_command_writes_is_inert_in_a_spreadsheet(hmc: Callable[..., Any], at: Any) -> None:
    folder = Path(hmc_crowd.cli.__file__).parent
    for file in sorted(folder.glob("*.py")):
        text = re.sub(r"\s+", " ", file.read_text(encoding="utf-8"))
        for call in re.findall(r"(?<!import )(?<!def )write_frame\((?:[^()]|\([^()]*\))*\)", text):
            assert 'safe_for_spreadsheets="auto"' in call, f"{file.name}: {call}"


@pytest.mark.parametrize("name", ["lab.csv", "lab.tsv", "lab.jsonl"])
def test_labels_of_hostile_items_are_written_inert(
    hmc: Callable[..., Any], at: Callable[[str], Any], name: str
) -> None:
    folder = at("collected")
    more = pd.DataFrame({"item": ["=cmd|' /C calc'!A0", "@SUM(A1)", "+1-x", "-2", "-"], "text": "so it goes"})
    more.to_json(folder / "more.jsonl", orient="records", lines=True)
    said = pd.DataFrame({"item": more["item"], "label": "good", "confidence": 0.9})
    said.to_json(folder / "said.jsonl", orient="records", lines=True)
    assert hmc("items", "more.jsonl", "--predictions", "said.jsonl").code == 0
    assert hmc("aggregate", "--out", name).code == 0
    written = (folder / name).read_text(encoding="utf-8")
    rows = [line for line in written.splitlines() if "cmd|" in line or "SUM" in line or "1-x" in line]
    assert rows
    if name.endswith(".jsonl"):
        assert all('"item":"=' in row or '"item": "=' in row or "SUM" in row or "1-x" in row for row in rows)
    else:
        assert all(row.lstrip('"').startswith("'") for row in rows), rows
