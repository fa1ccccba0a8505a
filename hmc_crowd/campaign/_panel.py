"""Who shall be let in, so that the people are mixed? A draw that keeps quotas, and a platform that lets in no others.

Attributes are what people said of themselves: they are read for the draw and stored nowhere; only how the quotas came
out is kept. Enforced are quotas by who may take the work: a qualification type on MTurk, a participant group on
Prolific (its allow-list is the study's filter), an invitation to a pool on pages of our own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign._pseudonyms import worker_column
from hmc_crowd.errors import InfeasibleError, InputError
from hmc_crowd.io import read_frame
from hmc_crowd.io._columns import number_column, text_column
from hmc_crowd.platform import SyncsQualifications
from hmc_crowd.quality import draw_diverse

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform
    from hmc_crowd.quality import Quota

__all__ = ["Panel", "draw_panel"]


@dataclass(frozen=True)
class Panel:
    """The people drawn.

    Parameters
    ----------
    name : str
    workers : tuple of str
        The ids of who is drawn, as they were given.
    quotas : pandas.DataFrame
        How each quota came out: ``attribute, value, kind, wanted, available, drawn, short``.
    feasible : bool
        Whether all quotas are kept.
    note : str
        What falls short.
    platform, id : str
        Where it is enforced, by which qualification type or group; empty where nobody was told.
    """

    name: str
    workers: tuple[str, ...]
    quotas: pd.DataFrame
    feasible: bool
    note: str
    platform: str = ""
    id: str = ""

    def __str__(self) -> str:
        kept = "all quotas kept" if self.feasible else self.note
        where = f"; {self.platform} lets in these alone ({self.id})" if self.id else ""
        return f"{len(self.workers):,} people drawn, {kept}{where}"


def draw_panel(
    context: Context,
    source: Any,
    quotas: Sequence[Quota],
    people: int,
    *,
    name: str,
    platform: Platform | None,
    short: bool,
) -> Panel:
    """Draw people, and let a platform know; nobody is told of a draw that falls short, unless that is allowed."""
    frame, quotas = _pool(source, quotas)
    if platform is not None and not isinstance(platform, SyncsQualifications):
        raise InputError(
            f"platform {platform.name!r} has no groups; on your own pages invite who is drawn to a pool, and publish "
            "for that pool"
        )
    drawn = draw_diverse(frame, quotas, people, rng=context.rng(f"panel {name}", 0))
    if not drawn.feasible and platform is not None and not short:
        raise InfeasibleError(
            f"{drawn.note}; recruit such people first, lower the quotas, or allow a draw that falls short"
        )
    there = ""
    if platform is not None and isinstance(platform, SyncsQualifications):
        scores = dict.fromkeys(map(str, drawn.workers), 100)
        # Another campaign's panel of the same name must not lose its people by ours.
        called = f"hmc panel {name} {context.uid()[-8:]}"
        there, _ = platform.sync_qualification(called, "Drawn for a mixed panel.", scores)
    with context.store.begin() as tx:
        counts = [f"{row.attribute} {row.value}: {row.drawn} of {row.wanted}" for row in drawn.quotas.itertuples()]
        context.log(tx, "panel drawn", panel=name, people=len(drawn.workers), quotas=counts)
        if platform is not None:
            # Whoever publishes there with quotas has a way to have them kept.
            settings = tx.campaigns.settings_to_change(context.campaign_id)
            panels = {**settings.get("panels", {}), platform.name: there}
            tx.campaigns.save_settings(context.campaign_id, {**settings, "panels": panels})
    told = "" if platform is None else platform.name
    workers = tuple(map(str, drawn.workers))
    return Panel(name, workers, drawn.quotas, drawn.feasible, drawn.note, told, there)


def _pool(source: Any, quotas: Sequence[Quota]) -> tuple[pd.DataFrame, list[Quota]]:
    """Return the people with what they said of themselves, and the quotas, all values as a file holds them: as text."""
    loaded = read_frame(source, kind=None, name="workers")
    column = worker_column(loaded.frame, name="workers")
    frame = loaded.frame.rename(columns={column: "worker"}).astype({"worker": str})
    if "availability" in frame:
        share = number_column(frame["availability"], "availability", loaded.where, low=0, high=1, may_miss=True)
        frame = frame.assign(availability=share)
    texts = [replace(each, shares={str(value): share for value, share in each.shares.items()}) for each in quotas]
    for each in texts:
        if each.attribute in frame:
            said = text_column(frame[each.attribute], each.attribute, loaded.where, fill="").astype(object)
            # Who said nothing stays without a value.
            frame[each.attribute] = said.where(said != "", None)
    return frame, texts
