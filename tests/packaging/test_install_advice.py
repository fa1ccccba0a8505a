"""What the package and its documents advise to install can be installed: nothing is published under our name."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from hmc_crowd._base.extras import install_line, require
from hmc_crowd.errors import MissingExtraError

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = [name for name in PROJECT["optional-dependencies"] if name not in {"all", "dev"}]
WRITTEN = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "hmc_crowd").rglob("*.py"),
    *(ROOT / "adapters").rglob("*.py"),
    *(ROOT / "examples").rglob("*"),
]
# From an index: by its name, perhaps after options; a file or a folder is none.
FROM_AN_INDEX = re.compile(r"""(?:pip|uv pip|pipx|uv tool) install (?:--?[\w-]+ )*["']?hmc-crowd\b""")


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_advice_for_an_extra_names_its_packages(extra: str) -> None:
    words = shlex.split(install_line(extra))
    assert words[:2] == ["pip", "install"]
    names = {re.split(r"[\[<>=,; ]", each)[0] for each in words[2:]}
    wanted = {re.split(r"[\[<>=,; ]", each)[0] for each in PROJECT["optional-dependencies"][extra]}
    assert names == wanted


def test_what_is_missing_is_said_with_a_line_that_works() -> None:
    with pytest.raises(MissingExtraError, match=r"the board needs no_such_module_: pip install .*'fastapi>="):
        require("no_such_module_", extra="web", purpose="the board")
    assert install_line("none") == "pip install '.[none]' in its checkout"


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: str(file.relative_to(ROOT)))
def test_nobody_is_sent_to_an_index_for_this_package(file: Path) -> None:
    if file.is_file():
        text = file.read_text(encoding="utf-8", errors="replace")
        assert not FROM_AN_INDEX.search(text)
        assert "install 'hmc-crowd[" not in text
