"""Reading a whole list: numbered pages over a changing set skip rows and repeat them, so it is read until it is stable.

Rows are kept by id. The list is complete when a scan brought nothing new and no row fewer than the list counts. What a
scan did not show but an earlier one did is kept: a row does not cease to exist because it moved between two pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from hmc_crowd.errors import PlatformError, PlatformUnavailableError
from hmc_crowd_prolific._parse import identity, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hmc_crowd_prolific._http import Http

__all__ = ["PAGE_SIZE", "all_rows", "pages"]

PAGE_SIZE = 200
_MOST_SCANS = 8
_MOST_PAGES = 100_000


def pages(
    http: Http, path: str, params: Mapping[str, str | int], *, paged: bool = True
) -> Iterator[tuple[list[dict[str, Any]], int | None]]:
    """Yield the rows of each page and the count that the list gives for itself (None where it gives none).

    The link to the next page is followed by its query alone: the token goes to no other address. Lists that know no
    page numbers (``paged=False``) are not asked for any, but their links are followed too.
    """
    query: dict[str, str | int] = {**({"page": 1, "page_size": PAGE_SIZE} if paged else {}), **params}
    for _ in range(_MOST_PAGES):
        answer = http.get(path, query)
        found = rows(answer)
        envelope = answer if isinstance(answer, dict) else {}
        count = (envelope.get("meta") or {}).get("count")
        yield found, count if isinstance(count, int) else None
        following = _following(envelope, query, len(found))
        if following is None:
            return
        query = following
    raise PlatformError(f"Prolific's list {path} does not end after {_MOST_PAGES:,} pages")


def _following(answer: Mapping[str, Any], query: dict[str, str | int], found: int) -> dict[str, str | int] | None:
    links = answer.get("_links")
    if isinstance(links, dict) and "next" in links:
        href = (links["next"] or {}).get("href") if isinstance(links["next"], dict) else links["next"]
        return {**query, **dict(parse_qsl(urlsplit(href).query))} if href else None
    # Without links: a full page may have one behind it. Lists that ignore page_size end after one page.
    return {**query, "page": int(query["page"]) + 1} if found == query.get("page_size") else None


def all_rows(
    http: Http,
    path: str,
    params: Mapping[str, str | int],
    *,
    expected: Callable[[], int] | None = None,
    paged: bool = True,
) -> list[dict[str, Any]]:
    """Return every row of a list once, the latest version of each, in the order in which they first came.

    Parameters
    ----------
    expected : callable, optional
        Asks elsewhere how many rows there must be at least.

    Raises
    ------
    PlatformUnavailableError
        The list did not come to rest within eight scans.
    """
    held: dict[str, dict[str, Any]] = {}
    for scan in range(_MOST_SCANS):
        before, count, read = len(held), 0, 0
        for found, stated in pages(http, path, params, paged=paged):
            read += 1
            held.update((identity(row, "id"), row) for row in found)
            count = max(count, stated or 0)
        least = max(count, expected() if expected is not None else 0)
        # A list on one page cannot drift; a longer one must bring nothing new when it is read again.
        is_stable = len(held) == before and scan > 0
        if len(held) >= least and (read == 1 or is_stable):
            return list(held.values())
    raise PlatformUnavailableError(
        f"Prolific's list {path} changed in each of {_MOST_SCANS} scans ({len(held):,} rows); try again later"
    )
