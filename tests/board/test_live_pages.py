"""Open pages that are kept up to date: one person takes a share of them, and what is closed is free again."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from board_house import NAME, open_board

if TYPE_CHECKING:
    from collections.abc import Iterator

    from board_house import Board


@pytest.fixture
def few(played: Path, tmp_path: Path) -> Iterator[Board]:
    """A board on which a person may watch three pages, and everybody five."""
    with open_board(Path(shutil.copytree(played, tmp_path / "board")), most_watching=5, most_watching_each=3) as board:
        yield board


class Pages:
    """Pages that are opened at once and stay open."""

    def __init__(self, board: Board, role: str) -> None:
        cookie = board.browser(role).cookies["hmc_crowd_board"]
        self.board, self.headers = board, [(b"cookie", f"hmc_crowd_board={cookie}".encode())]

    async def open(self, closed: asyncio.Event, number: int) -> tuple[list[int], list[asyncio.Task[None]]]:
        """Open so many; return what each was answered."""
        answered: list[int] = []
        tasks = [asyncio.create_task(self._one(closed, answered)) for _ in range(number)]
        while len(answered) < number:
            await asyncio.sleep(0.01)
        return answered, tasks

    async def _one(self, closed: asyncio.Event, answered: list[int]) -> None:
        async def receive() -> dict[str, Any]:
            await closed.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answered.append(message["status"])

        path = f"/board/c/{NAME}/live"
        scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b""}
        scope |= {"headers": self.headers, "root_path": "", "scheme": "http", "http_version": "1.1"}
        scope |= {"server": ("testserver", 80), "client": ("testclient", 1)}
        await self.board.app(scope, receive, send)


def test_one_auditor_cannot_take_all_live_pages_and_closed_ones_are_free_again(few: Board) -> None:
    auditor, owner = Pages(few, "auditor"), Pages(few, "owner")

    async def go() -> None:
        closed = asyncio.Event()
        greedy, open_ = await auditor.open(closed, 20)
        assert sorted(greedy) == [200] * 3 + [503] * 17
        other, more = await owner.open(closed, 3)
        assert sorted(other) == [200, 200, 503]  # of all people five
        closed.set()
        await asyncio.gather(*open_, *more)
        later = asyncio.Event()
        again, tasks = await auditor.open(later, 3)
        assert again == [200] * 3
        later.set()
        await asyncio.gather(*tasks)

    asyncio.run(asyncio.wait_for(go(), 60))
