"""docs/cli.md holds exactly the application's commands and options; the application is the source."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import typer.main

from hmc_crowd.cli._app import app

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
BEGIN, END = "<!-- commands: begin -->", "<!-- commands: end -->"


def commands(group: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """Return every command with its full name, groups before what they hold, hidden ones left out."""
    found = []
    for name, command in group.commands.items():
        if command.hidden:
            continue
        found.append((f"{prefix}{name}", command))
        if hasattr(command, "commands"):
            found += commands(command, f"{prefix}{name} ")
    return found


def described(parameter: Any) -> str:
    """Return one table row: how it is written, what it is for, what it is if absent."""
    word = parameter.metavar or parameter.name.upper()
    is_flag = getattr(parameter, "is_flag", False)
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    if parameter.param_type_name == "argument":
        written = word if parameter.required or word.startswith("[") else f"[{word}]"
    else:
        written = names if is_flag else f"{names} {word}"
    shown = "required" if parameter.required else ""
    if not (parameter.required or is_flag or parameter.default in {None, ""}):
        shown = f"`{parameter.default}`"
    if parameter.envvar:
        shown += f" (or the variable `{parameter.envvar}`)"
    cells = (f"`{written}`", parameter.help or "", shown.strip())
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def reference() -> str:
    """Return the generated part of the page."""
    lines = []
    for name, command in commands(typer.main.get_command(app)):
        what = (command.help or "").strip().splitlines()[0] if command.help else ""
        if hasattr(command, "commands"):
            lines += [f"### `hmc-crowd {name}`", "", what, ""]
            continue
        lines += [f"### `hmc-crowd {name}`", "", what, "", "| option | what for | default |", "|---|---|---|"]
        lines += [
            described(each) for each in command.params if not getattr(each, "hidden", False) and each.name != "help"
        ]
        lines.append("")
    return "\n".join(lines)


def test_reference_lists_exactly_the_commands_and_options() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    shown, _, after = rest.partition(END)
    if os.environ.get("HMC_CROWD_REFRESH_DOCS"):
        PAGE.write_text(f"{before}{BEGIN}\n\n{reference()}\n{END}{after}", encoding="utf-8")
        return
    assert shown.strip() == reference().strip(), "HMC_CROWD_REFRESH_DOCS=1 pytest tests/docs writes the page anew"


@pytest.mark.parametrize("code", ["0", "1", "2", "3", "130"])
def test_exit_codes_are_those_of_the_program(code: str) -> None:
    from hmc_crowd.cli import _main

    table = PAGE.read_text(encoding="utf-8")
    assert f"\n| {code} | " in table
    assert f"\n{code} " in (_main.__doc__ or "")
