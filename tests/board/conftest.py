"""A campaign that people have worked on, behind the board."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

# Tests are imported without their folder; what they share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

from board_house import Board, build_played, open_board, serving

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a campaign after one round; a copy is quicker than playing it."""
    folder = tmp_path_factory.mktemp("played")
    build_played(folder)
    return folder


@pytest.fixture
def board(played: Path, tmp_path: Path) -> Iterator[Board]:
    folder = Path(shutil.copytree(played, tmp_path / "board"))
    with open_board(folder) as opened:
        yield opened


@pytest.fixture
def served(board: Board) -> Iterator[str]:
    """The board on a socket of loopback, for a browser; its address."""
    with serving(board.app) as url:
        yield url
