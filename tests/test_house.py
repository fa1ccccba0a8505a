"""The import rules of the house (docs/architecture.md), read from the source: arrows point inward."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PURE = ("confidence", "effort", "routing", "aggregation", "quality", "judges", "metrics", "simulation")
ADAPTERS = tuple(sorted(path.name for path in (ROOT / "adapters").iterdir() if (path / "__init__.py").exists()))
ENDPOINT = {"hmc_crowd.judges.endpoint", "hmc_crowd.judges._endpoint_reply"}
EFFECTS = {"sqlalchemy", "alembic", "httpx", "stamina", "boto3", "typer", "rich", "fastapi", "starlette", "psycopg"}


def modules() -> list[tuple[str, Path]]:
    found = []
    for base in (ROOT / "hmc_crowd", *(ROOT / "adapters" / name for name in ADAPTERS)):
        for path in sorted(base.rglob("*.py")):
            relative = path.relative_to(base.parent).with_suffix("")
            found.append((".".join(relative.parts).removesuffix(".__init__"), path))
    return found


def imports(name: str, path: Path) -> list[tuple[str, str]]:
    """Every imported module with the source line's trailing comment, type-checking imports included."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    found = []
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(alias.name, lines[node.lineno - 1]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parts, base]).rstrip(".")
            found.append((base, lines[node.lineno - 1]))
            found += [(f"{base}.{alias.name}", lines[node.lineno - 1]) for alias in node.names]
    return found


MODULES = modules()


def part_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if parts[0] == "hmc_crowd" and len(parts) > 1 else parts[0]


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_arrows_point_inward(name: str, path: Path) -> None:
    part = part_of(name)
    wrong = []
    for target, line in imports(name, path):
        root, other = target.split(".")[0], part_of(target)
        if part in PURE:
            if root in EFFECTS and not (name in ENDPOINT and root in {"httpx", "stamina"}):
                wrong.append(f"{target}: a pure part imports no effects")
            if root == "hmc_crowd" and other not in {"hmc_crowd", "errors", "_base", part} and "# because " not in line:
                wrong.append(f"{target}: a pure part imports another only with '# because <reason>' on the line")
            if root in ADAPTERS:
                wrong.append(f"{target}: a pure part knows no adapter")
        elif part in ADAPTERS:
            allowed = {"platform", "errors", "_base", "simulation", "testing", part}
            if root == "hmc_crowd" and other not in allowed and target != "hmc_crowd":
                wrong.append(f"{target}: an adapter imports platform, errors, _base and simulation only")
        elif part in {"_base", "errors", "platform"}:
            if root == "hmc_crowd" and other not in {"_base", "errors", "hmc_crowd"}:
                wrong.append(f"{target}: the base imports nothing of the house")
        elif root in ADAPTERS and part not in {"demo", "testing"}:
            wrong.append(f"{target}: adapters are reached by entry points only")
        if other == "cli" and part != "cli" and root == "hmc_crowd":
            wrong.append(f"{target}: nothing imports cli")
        if part == "store" and root == "hmc_crowd" and other not in {"store", "errors", "_base", "hmc_crowd"}:
            wrong.append(f"{target}: the store imports errors and _base only")
    assert not wrong, "\n".join(sorted(set(wrong)))


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_exports_are_real(name: str, path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    listed = next(
        (
            ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        ),
        None,
    )
    if listed is None:
        return
    module = importlib.import_module(name)
    assert [each for each in listed if not hasattr(module, each)] == []


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, hmc_crowd; "
        "print([m for m in ('pandas', 'sklearn', 'sqlalchemy', 'torch', 'transformers', 'boto3', 'matplotlib', 'scipy')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


ONLY_DOOR = "hmc_crowd._base.sqlite"
ENGINES = {"hmc_crowd.store._engine", "hmc_crowd._base.copies", "hmc_crowd_local._database"}
# Modules that know the path of a database, and what in them opens files that are none.
NEAR_DATABASES = ("hmc_crowd.store.", "hmc_crowd._base.copies", "hmc_crowd._base.sqlite", "hmc_crowd.judges._cache")
OF_THE_WORKPLACE = {f"hmc_crowd_local.{name}" for name in ("_database", "_migrate", "_keeper", "_connect", "_examine")}
OPENS_OTHER_FILES = {"hmc_crowd.store._artefacts": {"write"}, "hmc_crowd._base.copies": {"_copy_out", "_copy_in"}}
OPENING = {"open", "fdopen", "read_bytes", "read_text", "write_bytes", "write_text", "copy2", "copyfile", "copyfileobj"}


def calls(path: Path) -> list[tuple[str, str, str]]:
    """Every call: the function that it stands in, what it is asked of, and its name."""
    found = []

    def look(node: ast.AST, function: str) -> None:
        for each in ast.iter_child_nodes(node):
            inside = each.name if isinstance(each, ast.FunctionDef) else function
            if isinstance(each, ast.Call):
                if isinstance(each.func, ast.Attribute):
                    found.append((function, ast.unparse(each.func.value), each.func.attr))
                elif isinstance(each.func, ast.Name):
                    found.append((function, "", each.func.id))
            look(each, inside)

    look(ast.parse(path.read_text(encoding="utf-8")), "")
    return found


def test_nobody_but_sqlite_opens_a_database_file() -> None:
    """The root conftest.py watches what really is opened; this reads the code that no test happens to run."""
    wrong = []
    for name, path in MODULES:
        made = calls(path)
        if name != ONLY_DOOR:
            wrong += [f"{name}: sqlite3.connect" for _, of, what in made if (of, what) == ("sqlite3", "connect")]
        has_engine = any(what == "create_engine" for _, _, what in made)
        if has_engine and (name not in ENGINES or not any(what == "open_by_house" for _, _, what in made)):
            wrong.append(f"{name}: create_engine without open_by_house")
        if name.startswith(NEAR_DATABASES) or name in OF_THE_WORKPLACE:
            fine = OPENS_OTHER_FILES.get(name, set())
            wrong += [f"{name}: {of}.{what}" for inside, of, what in made if what in OPENING and inside not in fine]
    assert wrong == []
