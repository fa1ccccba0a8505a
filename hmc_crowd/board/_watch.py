"""How does an open page learn that something changed? Server-sent events that carry a mark of the figures."""

from __future__ import annotations

import asyncio
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING, Any

from hmc_crowd.board._figures import read_live
from hmc_crowd.board._refused import RefusedError
from hmc_crowd.board._render import HEADERS, name_of
from hmc_crowd.board._roles import may
from hmc_crowd.errors import HmcCrowdError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from hmc_crowd.board._desk import Desk
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import KeyRecord

__all__ = ["Watch"]

# After this time the browser connects anew.
_LONGEST_S = 300.0
# So often it is asked again whether the browser is still signed in.
_LOOK_S = 15.0


class Watch:
    """The stream of each campaign; the pages that watch one campaign share one look at its figures."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._house, self._settings = desk, desk.house, desk.settings
        self._watching: Counter[str] = Counter()  # by whom
        self._seen: dict[str, tuple[float, str]] = {}

    async def endpoint(self, request: Request) -> Response:
        """Tell a signed-in browser whenever the figures of a campaign have another mark."""
        from starlette.responses import Response, StreamingResponse

        who = await self._visitor(request)
        if who is None:
            return Response(status_code=403, headers=HEADERS)
        name = name_of(str(request.path_params["campaign"]))
        try:
            context = await self._desk.in_thread(self._house.context, name)
        except HmcCrowdError:
            return Response(status_code=404, headers=HEADERS)
        settings, by, me = self._settings, self._watching, who.id
        if by.total() >= settings.most_watching or by[me] >= settings.most_watching_each:
            return Response(status_code=503, headers=HEADERS)
        # Counted from here on, and until it is answered to the end: several that come at once count each other.
        by[me] += 1

        class Counted(StreamingResponse):
            async def __call__(self, *asgi: Any) -> None:
                try:
                    await super().__call__(*asgi)
                finally:
                    by[me] -= 1
                    if not by[me]:
                        del by[me]

        return Counted(
            self._stream(request, context),
            media_type="text/event-stream",
            headers={**HEADERS, "X-Accel-Buffering": "no"},
        )

    async def _visitor(self, request: Request) -> KeyRecord | None:
        """Return who watches, if he is signed in and may see figures: experts see nothing of the others' work."""
        try:
            found = await self._desk.in_thread(self._desk.visitor, request)
        except RefusedError:
            return None
        return found[0] if found is not None and may(found[0].role, "see") else None

    async def _stream(self, request: Request, context: Context) -> AsyncIterator[str]:
        yield "retry: 5000\n\n"
        told, until, looked = "", monotonic() + _LONGEST_S, monotonic()
        while monotonic() < until and not await request.is_disconnected():
            if monotonic() - looked > _LOOK_S:
                if await self._visitor(request) is None:
                    return
                looked = monotonic()
            mark = await self._mark(context)
            # A comment keeps the line open through proxies, and notices who has gone.
            yield ": still here\n\n" if mark == told else f"event: figures\ndata: {mark}\n\n"
            told = mark
            await asyncio.sleep(self._settings.watch_every_s)

    async def _mark(self, context: Context) -> str:
        at, mark = self._seen.get(context.name, (float("-inf"), ""))
        if monotonic() - at >= self._settings.watch_every_s:
            try:
                mark = (await self._desk.in_thread(_read, context)).mark
            except HmcCrowdError:
                return mark
            self._seen[context.name] = (monotonic(), mark)
        return mark


def _read(context: Context) -> Any:
    return read_live(context)
