"""Will our own annotators reach the workplace? Its database and its address, looked at without changing anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd._base.findings import Finding
from hmc_crowd._base.reach import look_at_address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hmc_crowd._base.reach import Surroundings
    from hmc_crowd_local._database import Database

__all__ = ["examine"]


def examine(database: Database, around: Surroundings, *, public_url: str | None = None) -> Iterator[Finding]:
    """Look at the workplace's database and, where it is said, at the address of the task pages.

    Yields
    ------
    Finding
        One a condition.
    """
    if database.is_sqlite:
        yield Finding("workplace", "ok", f"{database.shown}: one process may serve it; several need PostgreSQL")
    else:
        yield Finding("workplace", "ok", database.shown)
    if public_url is not None:
        address = f"{public_url}/work/static/page.css"
        yield from look_at_address(address, around, check="task pages", expect={200: "the pages are served"})
