"""Attacks on the board's open pages: one person takes them all."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from tests.attacks import attack
from tests.attacks._board import NAME, BoardScene, board

at = partial(attack, "board", scene=board)


def opened(scene: BoardScene, *roles: str) -> list[int]:
    """Open a live page for each role named, all at once, and return what they were answered, in the order given."""

    async def go() -> list[int]:
        closed, found = asyncio.Event(), dict.fromkeys(range(len(roles)), 0)

        async def one(number: int) -> None:
            async def receive() -> Any:
                await closed.wait()
                return {"type": "http.disconnect"}

            async def send(message: Any) -> None:
                if message["type"] == "http.response.start":
                    found[number] = message["status"]

            path = f"/board/c/{NAME}/live"
            headers = [(b"cookie", scene.signed_in[roles[number]].encode())]
            scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b""}
            scope |= {"headers": headers, "root_path": "", "scheme": "http", "http_version": "1.1"}
            await scene.board.app(scope | {"server": ("testserver", 80), "client": ("eve", 1)}, receive, send)

        tasks = []
        for number in range(len(roles)):
            tasks.append(asyncio.create_task(one(number)))
            await asyncio.sleep(0)
        while not all(found.values()):
            await asyncio.sleep(0.01)
        closed.set()
        await asyncio.gather(*tasks)
        return list(found.values())

    return asyncio.run(asyncio.wait_for(go(), 60))


for _role in ("auditor", "reviewer"):

    @at(f"a hundred and twenty live pages of one {_role}", defence="a person has a share of them")
    def _(scene: BoardScene, role: str = _role) -> None:
        assert opened(scene, *[role] * 120).count(200) == 8
        # The owner still has his; what was closed is free again.
        assert opened(scene, *[role] * 30, "owner")[-1] == 200
