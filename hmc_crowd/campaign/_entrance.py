"""Whom does a platform let in, by what it keeps of people: a test that they passed, a panel that they were drawn for?

What `sync_test` and `draw_panel` told a platform would keep nobody out by itself: the HITs must ask for it. So a test
is asked for by name when work is published, and the panel that was drawn for a platform always is, unless it is left
out; except where people are recruited by quotas, whose cells let in whom they name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign._quotas import asked_of
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.platform import FiltersPeople, RecruitsHolders, SyncsQualifications

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._orders import Unit
    from hmc_crowd.platform import Platform
    from hmc_crowd.store import Transaction

__all__ = ["EVERYBODY", "Entrance", "entrance", "keep_told", "require_qualifications"]

_TOLD = "told_tests"


@dataclass(frozen=True)
class Entrance:
    """What people must hold: the ids of qualifications there, what they are in words, and the filters that ask so."""

    holds: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    filters: tuple[dict[str, Any], ...] = ()

    def notes(self, units: Sequence[Unit]) -> tuple[str, ...]:
        """Say who alone is let in; or that what is written down already asks for something else."""
        asked = {tuple(unit.payload.get("holds", ())) for unit in units}
        if asked - {self.holds}:
            return ("this round's HITs were written for other people (test, panel) and stay so",)
        return (f"let in is only {' and '.join(self.words)}",) if self.words and units else ()


#: Nothing is asked of anybody.
EVERYBODY = Entrance()


def entrance(context: Context, platform: Platform, *, test: str | None, panel: bool) -> Entrance:
    """Return what the HITs of a publication ask people to hold.

    Raises
    ------
    InputError
        The platform keeps no qualifications.
    StateError
        It was not told of the test yet.
    """
    settings = context.settings()
    found: list[tuple[str, str]] = []
    if test is not None:
        require_qualifications(platform)
        told = settings.get(_TOLD, {}).get(platform.name, {}).get(test)
        if told is None:
            raise StateError(f"{platform.name} was not told who passed test {test!r}; first sync_test()")
        found.append((str(told["id"]), f"who passed test {test!r}, version {told['version']}"))
    drawn = settings.get("panels", {}).get(platform.name)
    by_quotas = isinstance(platform, FiltersPeople) and asked_of(settings) is not None
    if drawn and panel and not by_quotas:
        found.append((str(drawn), "who was drawn for the panel"))
    holds = tuple(each for each, _ in found)
    filters = tuple(map(platform.filter_for_holders, holds)) if isinstance(platform, RecruitsHolders) else ()
    return Entrance(holds, tuple(f"{words} ({each})" for each, words in found), filters)


def require_qualifications(platform: Platform) -> SyncsQualifications:
    """Return the platform as one that keeps qualifications, or say what decides instead."""
    if isinstance(platform, SyncsQualifications):
        return platform
    raise InputError(
        f"platform {platform.name!r} keeps no qualifications; on your own pages the study's test decides who works"
    )


def keep_told(context: Context, tx: Transaction, platform: str, test: str, version: int, there: str) -> None:
    """Keep under which id a platform knows a test, for the HITs that will ask for it."""
    settings = tx.campaigns.settings_to_change(context.campaign_id)
    told = {**settings.get(_TOLD, {})}
    told[platform] = {**told.get(platform, {}), test: {"id": there, "version": version}}
    tx.campaigns.save_settings(context.campaign_id, {**settings, _TOLD: told})
