"""Can the quotas be kept, given who is known and how many places there are; and how far are they?

What cannot be kept is said in a sentence with its numbers before any money is reserved.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd._base.quotas import FiltersPeople, KeepsQuotas
from hmc_crowd.campaign._quota_cells import Cell, cells_of
from hmc_crowd.campaign._quotas import asked_of, known_there, line_of, traits_of
from hmc_crowd.campaign._work import TAKEN
from hmc_crowd.errors import InfeasibleError, StateError
from hmc_crowd.platform import Recruiter
from hmc_crowd.quality import draw_diverse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._cost_sheet import CostSheet
    from hmc_crowd.campaign._orders import Unit
    from hmc_crowd.campaign._quotas import Asked, Said
    from hmc_crowd.platform import Platform
    from hmc_crowd.quality import Quota
    from hmc_crowd.store import Transaction

__all__ = ["QuotaProgress", "look_at_quotas", "plan_notes", "progress", "progress_lines", "recruited_cells"]

_OTHERS = "(any other)"
_MANY_STUDIES = 20


def recruited_cells(context: Context, platform: Platform, places: int) -> list[Cell]:
    """Return the cells that people are recruited by, with their filters; none where no quotas are asked for.

    A round of fewer places than people recruits as many people as it has places, mixed as the quotas say.

    Raises
    ------
    InfeasibleError
        The platform recruits people and knows no filters, or not these attributes or values.
    """
    asked = asked_of(context.settings())
    if asked is None or not isinstance(platform, Recruiter):
        return []
    if not isinstance(platform, FiltersPeople):
        raise InfeasibleError(
            f"platform {platform.name!r} cannot be asked for people by their attributes; draw a panel, or clear the "
            "quotas"
        )
    quotas: Sequence[Quota] = asked.quotas
    if places < asked.people:
        # Least numbers of few people, rounded up, would leave nothing for the others in any round.
        quotas = [replace(each, kind="target") for each in quotas]
    cells = cells_of(quotas, min(asked.people, places))
    return [replace(each, filters=tuple(platform.filters_for(each.traits))) for each in cells]


def look_at_quotas(
    context: Context, platform: Platform, units: Sequence[Unit], sheet: CostSheet, *, short: bool
) -> CostSheet:
    """Return the cost sheet with what stands in the quotas' way, which refuses to publish unless ``short``.

    Raises
    ------
    InfeasibleError
        The quotas cannot be kept, it is no dry run, and nobody allowed it to fall short.
    """
    asked = asked_of(context.settings())
    if asked is None or not units:
        return sheet
    problems, notes = _places(context, asked, units), list[str]()
    if isinstance(platform, FiltersPeople):
        problems += _too_few_there(platform, units, notes)
    else:
        # What is published together is for one pool.
        pool = str((units[0].records[0].terms or {}).get("pool", ""))
        known = known_there(context, platform, pool)
        problems += _too_few_known(asked, list(known.values()), is_everybody=isinstance(platform, KeepsQuotas))
        if not isinstance(platform, KeepsQuotas) and platform.name not in context.settings().get("panels", {}):
            problems.append(f"{platform.name} does not hand out work by quotas, and no panel was drawn for it")
    if problems and not (sheet.dry_run or short):
        raise InfeasibleError(
            f"{'; '.join(problems)}. Nothing was sent: invite or recruit such people, lower the quotas, or allow them "
            "to fall short",
            clashing=tuple(f"{quota.attribute}:{value}" for quota in asked.quotas for value in quota.shares),
        )
    return replace(sheet, notes=(*sheet.notes, *problems, *notes))


def _places(context: Context, asked: Asked, units: Sequence[Unit]) -> list[str]:
    """Say where all rounds together have fewer places than people are asked for."""
    new = {record.key: record.redundancy for unit in units for record in unit.records}
    with context.store.read() as tx:
        hits = tx.work.hits(context.campaign_id, with_items=False)
    places = sum({**{hit.key: hit.redundancy for hit in hits if hit.state != "cancelled"}, **new}.values())
    if places >= asked.people:
        return []
    return [f"the quotas are over {asked.people:,} people, but there are {places:,} places"]


def _too_few_there(platform: FiltersPeople, units: Sequence[Unit], notes: list[str]) -> list[str]:
    problems = []
    if len(units) > _MANY_STUDIES:
        notes.append(
            f"the cells and the lengths of HITs make {len(units)} studies, and platforms limit many small ones; cross "
            "fewer attributes, or draw a panel"
        )
    for unit in units:
        people = int(unit.payload.get("people", 0))
        if not people:
            continue
        least, most = platform.eligible(unit.payload.get("filters", ()))
        name = unit.payload.get("cell_name", "")
        if most < people:
            problems.append(f"{name} needs {people:,} people; at most {most:,} are there")
        elif least < people:
            notes.append(f"{name} needs {people:,} people; between {least:,} and {most:,} are there")
    return problems


def _too_few_known(asked: Asked, known: Sequence[Said], *, is_everybody: bool) -> list[str]:
    """Say which quotas need more people than are known; nobody else may come where these are everybody."""
    problems = []
    for quota in asked.quotas:
        there = Counter(each[quota.attribute] for each in known if each.get(quota.attribute))
        if not there and not is_everybody:
            continue
        for value, wanted in quota.counts(asked.people).items():
            if wanted > there[str(value)]:
                others = ", ".join(sorted(there)) if str(value) not in there else ""
                seen = f" (known of {quota.attribute}: {others})" if others else ""
                said = line_of(quota, value, asked.people)
                are = "is" if there[str(value)] == 1 else "are"
                problems.append(f"{said} needs {wanted:,}; {there[str(value)]:,} {are} known{seen}")
    if is_everybody and not problems:
        problems = _too_few_together(asked, known)
    return problems


def _too_few_together(asked: Asked, known: Sequence[Said]) -> list[str]:
    """Say where quotas that can be kept one by one cannot be kept by the same people."""
    names = [quota.attribute for quota in asked.quotas]
    frame = pd.DataFrame([{name: each.get(name) for name in names} for each in known], columns=names, dtype=object)
    frame.insert(0, "worker", range(len(frame)))
    quotas = [
        replace(each, shares={str(value): share for value, share in each.shares.items()}) for each in asked.quotas
    ]
    drawn = draw_diverse(frame, quotas, asked.people, rng=np.random.default_rng(0))
    return [] if drawn.feasible else [drawn.note]


def plan_notes(context: Context) -> list[str]:
    """Say where quotas need more people than are known; nothing of attributes of which nothing is known yet."""
    asked = asked_of(context.settings())
    if asked is None:
        return []
    with context.store.read() as tx:
        known = traits_of(context, tx)
    return _too_few_known(asked, list(known.values()), is_everybody=False)


@dataclass(frozen=True)
class QuotaProgress:
    """How far the quotas are.

    Parameters
    ----------
    people : int
        How many there shall be.
    started, done : int
        People who have taken a place, those among them who have handed work in.
    quotas : pandas.DataFrame
        ``attribute, value, kind, wanted, started, done, missing, known``: people; ``missing`` have yet to come,
        ``known`` have said that they are such people. The last row of an attribute is everybody else.
    by_seats : bool
        Whether work is handed out by so many seats (pages of our own), so that nobody more comes once all are taken.
    """

    people: int
    started: int
    done: int
    quotas: pd.DataFrame
    by_seats: bool = False

    def lines(self) -> list[str]:
        """Return in words who is missing; empty once nobody is."""
        return [
            f"{row['attribute']} {row['value']}: {row['done']} of {row['wanted']} done"
            + (f", {row['started'] - row['done']} at work" if row["started"] > row["done"] else "")
            + f", {row['missing']} still to come"
            for row in self.quotas.to_dict("records")
            if row["missing"]
        ] + self._out_of_reach()

    def _out_of_reach(self) -> list[str]:
        """Say of which attributes more people are missing than seats are left: of raised quotas, or set on the way."""
        if not self.by_seats:
            return []
        left = max(0, self.people - self.started)
        missing = self.quotas.groupby("attribute", sort=False)["missing"].sum()
        return [
            f"{attribute} is out of reach: {number} must come, seats left: {left} of {self.people}; ask for more people"
            for attribute, number in missing.items()
            if number > left
        ]

    def __str__(self) -> str:
        missing = "; ".join(self.lines()) or "no quota lacks people"
        return f"{self.done:,} of {self.people:,} people done; {missing}"


def progress(context: Context) -> QuotaProgress:
    """Count people by quota, as the last collection found them."""
    asked = asked_of(context.settings())
    if asked is None:
        raise StateError(f"campaign {context.name!r} asks for no mix of people; first set_quotas()")
    with context.store.read() as tx:
        return _progress(context, tx, asked)


def progress_lines(context: Context, tx: Transaction) -> tuple[str, ...]:
    """Return in words which quotas lack people; nothing where there are no quotas."""
    asked = asked_of(context.settings_in(tx))
    return () if asked is None else tuple(_progress(context, tx, asked).lines())


def _progress(context: Context, tx: Transaction, asked: Asked) -> QuotaProgress:
    traits = traits_of(context, tx)
    came = tx.work.submissions(context.campaign_id)
    frees = came["platform"].isin(context.settings_in(tx).get("frees_slot", [])) & (came["state"] == "rejected")
    done = set(came.loc[came["state"].isin(TAKEN) & ~frees, "worker"])
    started = done | set(came.loc[came["state"] == "accepted", "worker"])
    rows: list[tuple[Any, ...]] = []
    for quota in asked.quotas:

        def count(people: Any, name: str = quota.attribute) -> Counter[str | None]:
            return Counter(traits.get(worker, {}).get(name) for worker in people)

        wanted = {str(value): number for value, number in quota.counts(asked.people).items()}
        at, over, known = count(started), count(done), count(traits)
        for value, number in wanted.items():
            missing = max(0, number - at[value])
            rows.append((quota.attribute, value, quota.kind, number, at[value], over[value], missing, known[value]))
        rest = asked.people - sum(wanted.values())
        # Beyond a least number, more of a value takes seats of everybody else's.
        others = [sum(each.values()) - sum(each[value] for value in wanted) for each in (at, over)]
        told = sum(number for value, number in known.items() if value is not None and value not in wanted)
        rows.append((quota.attribute, _OTHERS, "rest", rest, *others, 0, told))
    columns = ["attribute", "value", "kind", "wanted", "started", "done", "missing", "known"]
    return QuotaProgress(
        asked.people, len(started), len(done), pd.DataFrame(rows, columns=columns), by_seats=_by_seats(context, tx)
    )


def _by_seats(context: Context, tx: Transaction) -> bool:
    """Whether nobody recruits by cells and no panel was drawn for where the work is."""
    settings = context.settings_in(tx)
    is_elsewhere = settings.get("platform") in settings.get("panels", {})
    return not is_elsewhere and all("cell" not in (each.payload or {}) for each in tx.work.intents(context.campaign_id))
