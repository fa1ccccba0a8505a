"""What the documents say can be followed: links lead somewhere, names exist, nothing points at one machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hmc_crowd import errors

ROOT = Path(__file__).parents[2]
DOCUMENTS = ["README.md", "CHANGELOG.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def prose(name: str) -> str:
    """Return a document without its fenced blocks."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(name: str) -> set[str]:
    """Return the anchors that a Markdown page gives its headings."""
    plain = (re.sub(r"[`*]", "", heading).lower() for heading in HEADING.findall(prose(name)))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_internal_links_lead_somewhere(name: str) -> None:
    broken = []
    for link in LINK.findall(prose(name)):
        target, _, anchor = link.partition("#")
        if "://" in target:
            continue
        path = (ROOT / name).parent / target if target else ROOT / name
        here = str(path.resolve().relative_to(ROOT))
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(here)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_document_points_at_one_machine_or_index(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.findall(r"pypi\.|pythonhosted|--index-url|--extra-index|conda\.", text) == []
    assert re.findall(r"(?<![\w.:/])/(?:work|tmp|home|root|Users)\b\S*", text) == []


def test_every_document_can_be_reached_from_the_readme() -> None:
    seen, waiting = set(), ["README.md"]
    while waiting:
        name = waiting.pop()
        if name in seen or not name.endswith(".md"):
            continue
        seen.add(name)
        for link in LINK.findall(prose(name)):
            target = link.partition("#")[0]
            if target and "://" not in target:
                waiting.append(str(((ROOT / name).parent / target).resolve().relative_to(ROOT)))
    assert sorted(set(DOCUMENTS) - seen) == []


def test_every_error_is_explained_once() -> None:
    headings = re.findall(r"^###? `(\w+)`$", (ROOT / "docs/errors.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(headings) == sorted(errors.__all__)


def table_rows() -> list[tuple[str, ...]]:
    text = (ROOT / "docs/requirements.md").read_text(encoding="utf-8")
    return [
        tuple(cell.strip() for cell in line.strip("|").split("|")) for line in re.findall(r"^\| [A-Z]\d.*$", text, re.M)
    ]


def test_requirements_name_what_this_version_covers() -> None:
    """Every number of the list of requirements has its row, in order: nothing is left out by not naming it."""
    asked = {"A": 40, "B": 36, "C": 37, "D": 37, "E": 12, "F": 20}
    wanted = [f"{part}{number}" for part, last in asked.items() for number in range(1, last + 1)]
    assert [row[0] for row in table_rows()] == wanted


@pytest.mark.parametrize("row", table_rows(), ids=lambda row: row[0])
def test_requirement_points_at_code_and_tests_that_exist(row: tuple[str, ...]) -> None:
    _, _, state, where, tests = row
    assert state in {"done", "first form", "open"}
    for path in re.findall(r"`([\w./-]+)`", where):
        assert (ROOT / path).exists(), path
    named = re.findall(r"`([\w./-]+\.py)(?:::(\w+))?`", tests)
    assert named or state == "open"
    for path, test in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in source, f"{path}::{test}"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_document_leans_on_nobody(name: str) -> None:
    """A claim about the world has a source: no anonymous studies, no shares of systems or firms that nobody counted."""
    text = (ROOT / name).read_text(encoding="utf-8").lower()
    anonymous = r"studies (?:show|find)|research (?:shows|finds)|experts (?:say|agree)|well known|industry"
    counted = r"\d+ ?% of (?:all )?(?:systems|projects|companies|firms|models|teams)"
    assert re.findall(f"{anonymous}|{counted}", text) == []
