"""Everything in the documents that a reader can type in, works and prints what the document shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NEEDS_TEXT = "<!-- needs the extra text -->"  # in a document: it is read where torch is installed


def executed() -> list[Any]:
    names = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
    heavy = {name for name in names if NEEDS_TEXT in (ROOT / name).read_text(encoding="utf-8")}
    return [pytest.param(name, marks=pytest.mark.text) if name in heavy else name for name in names]


@pytest.mark.parametrize("name", executed())
def test_document_does_what_it_shows(name: str, read_document: Any) -> None:
    read_document(name)


def document(folder: Path, *lines: str) -> Path:
    path = folder / "document.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_right_document_passes(tmp_path: Path, read_document: Any) -> None:
    path = document(
        tmp_path,
        *("```python", "print('one'); print('two')", "```", "```text", "one", "t...", "```"),
        *("```console", "$ cat > a.csv <<'EOF'", "item,label", "EOF", "$ cat a.csv", "item,label"),
        *("$ hmc-crowd status", "...", "$ echo $?", "2", "```"),
    )
    assert read_document(path) == 2


@pytest.mark.parametrize(
    "lines",
    [
        ("```python", "print('one')", "```", "```text", "two", "```"),
        ("```console", "$ hmc-crowd certify --items 10 --human 4 --audited 2 --wrong 0", "all is well", "```"),
        ("```console", "$ hmc-crowd status", "$ hmc-crowd status", "$ echo $?", "2", "```"),
        ("```console", "$ rm -rf something", "```"),
        ("```python", "print(", "```"),
    ],
    ids=["python output", "command output", "unseen failure", "unknown command", "syntax"],
)
def test_a_wrong_document_fails(lines: tuple[str, ...], tmp_path: Path, read_document: Any) -> None:
    with pytest.raises((AssertionError, SyntaxError, pytest.fail.Exception)):
        read_document(document(tmp_path, *lines))
