"""The scene of the command line: a folder with a played campaign and its workplace, and files that strangers made."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from tests.attacks import _houses  # noqa: F401  finds board_house
from tests.attacks._table import Scene, prepared

from board_house import build_played  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_TOLD = 20_000


class CommandScene(Scene):
    """A folder in which commands are run on what others made."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder, self.outside = folder, folder.parent / "outside"
        self.outside.mkdir(mode=0o700)
        (self.outside / "secret.txt").write_text("WHAT LIES OUTSIDE")
        self.foreign = ("WHAT LIES OUTSIDE",)

    def file(self, name: str, content: str | bytes) -> str:
        """Write a file of a stranger's; it is gone when the attack is over."""
        path = self.folder / "given" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
        return str(path)

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run a command; return its exit code and all that it said."""
        from hmc_crowd.cli import main

        said = io.StringIO()
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                try:
                    main(arguments)
                    code = 0
                except SystemExit as left:
                    code = left.code if isinstance(left.code, int) else 1
        finally:
            os.chdir(before)
        self.heard(said.getvalue())
        return code, said.getvalue()

    def refuses(self, *arguments: str) -> str:
        """Assert that a command says no in a few plain words; return them."""
        code, said = self.run(*arguments)
        assert code not in {0, 70}, f"{code}: {said[:300]}"
        assert "Traceback" not in said
        assert "\x1b" not in said
        assert len(said) < MOST_TOLD
        return said

    def stored(self) -> Any:
        found: dict[Any, Any] = {}
        for name in ("campaign.db", "workplace.db"):
            engine = sa.create_engine(f"sqlite:///{self.folder / name}", poolclass=sa.NullPool)
            with engine.connect() as connection:
                for table in sa.inspect(connection).get_table_names():
                    found[name, table] = connection.exec_driver_sql(f'SELECT * FROM "{table}"').all()
        shutil.rmtree(self.folder / "given", ignore_errors=True)
        held = {each for each in self.folder.parent.rglob("*") if not each.name.endswith(("-wal", "-shm"))}
        return found, held, (self.outside / "secret.txt").read_text()

    def goes_on(self) -> None:
        code, said = self.run("status", "--db", "campaign.db", "--json")
        assert code == 0, said
        assert '"items": 40' in said


@contextmanager
def commands() -> Iterator[CommandScene]:
    """A campaign of 40 items after one round; beside its folder lies another, with a file that is nobody's business."""
    with tempfile.TemporaryDirectory() as name:
        yield CommandScene(Path(shutil.copytree(prepared(build_played), Path(name) / "work")))
