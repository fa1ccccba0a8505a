"""What the library calls by its Python name is named as a command to whoever types commands."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import hmc_crowd.campaign
from hmc_crowd.campaign import Campaign
from hmc_crowd.cli._wording import on_the_command_line

# Streams are watched from Python alone: no command can meet these words.
_WITHOUT_COMMAND = {"watch_stream"}
_CALL = re.compile(r"(?<![\w.])([a-z_]+)\(\)")


def _named_in_errors() -> set[str]:
    """Return the methods of a campaign that its errors name."""
    found: set[str] = set()
    for file in Path(hmc_crowd.campaign.__path__[0]).glob("*.py"):
        raised = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Raise)]
        texts = [each.value for node in raised for each in ast.walk(node) if isinstance(each, ast.Constant)]
        found |= {name for text in texts if isinstance(text, str) for name in _CALL.findall(text)}
    return {name for name in found if hasattr(Campaign, name)} - _WITHOUT_COMMAND


@pytest.mark.parametrize("method", sorted(_named_in_errors()))
def test_a_method_that_an_error_names_has_its_command(method: str) -> None:
    assert on_the_command_line(f"first {method}()").startswith("first `hmc-crowd ")


def test_errors_name_methods() -> None:
    assert {"plan", "collect", "gate", "add_test"} <= _named_in_errors()
