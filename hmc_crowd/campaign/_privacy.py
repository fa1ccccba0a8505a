"""Whose data are these, and who may see what? Forgetting a worker, handing out what is stored of one, audiences.

Forgetting takes a person out of the whole database in one transaction: the raw id goes, a fresh random pseudonym stands
where the old one stood, and what events tell of the person is erased. Counts, groups, labels, certificates and the
event chain stay as they were. What is handed out to a worker is theirs alone: answers, submissions, payments, scores.

Items say who may see them: ``any``; ``in_house``, where nobody but one's own people work; or the name of the one pool
of people that may. What is flagged as sensitive is shown only behind a content warning.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.erasing import files_holding
from hmc_crowd.campaign._pseudonyms import pseudonyms
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from hmc_crowd._base.erasing import Erased, ErasesPeople
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Person, Transaction

__all__ = ["ANYBODY", "IN_HOUSE", "Forgotten", "check_audience", "export_worker", "forget"]

ANYBODY = "any"
IN_HOUSE = "in_house"
_SHOWN = 5


@dataclass(frozen=True)
class Forgotten:
    """What was taken out, or would be: counts only, nothing that leads back to the person.

    Parameters
    ----------
    workplaces : tuple of Erased
        What was taken out of each place where people work.
    still_in : tuple of str
        Where the raw id or the pseudonym still stands in the campaigns' database, in words.
    backups : tuple of str
        Copies that still hold the id: restoring one brings the person back.
    """

    people: int
    raw_ids: int
    submissions: int
    answers: int
    events: int
    intents: int
    dry_run: bool
    traits: int = 0
    workplaces: tuple[Erased, ...] = ()
    still_in: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()

    @property
    def is_anything(self) -> bool:
        """Whether anything is, or was, stored of the person, here or where people work."""
        return bool(self.people) or any(each.total for each in self.workplaces)

    def __str__(self) -> str:
        if not self.is_anything:
            return "nothing is stored of this worker"
        verb = "would forget" if self.dry_run else "forgot"
        where = [f"{each.total:,} rows of the workplace" for each in self.workplaces if each.total]
        if not self.people:
            return f"{verb} 1 worker: {', '.join(where)}"
        return (
            f"{verb} {self.people} worker{'s' * (self.people != 1)}: {self.raw_ids:,} raw ids erased, "
            f"{self.submissions:,} submissions and {self.answers:,} answers under a new pseudonym, "
            f"{self.events:,} events emptied"
            + (f", {self.traits:,} things they said of themselves" if self.traits else "")
            + "".join(f", {each}" for each in where)
        )


class _DryRunError(Exception):
    """Rolls a dry run back; never leaves this module."""


def forget(
    context: Context,
    worker: str,
    *,
    platform: str | None = None,
    dry_run: bool = False,
    workplaces: Sequence[ErasesPeople] = (),
    backups: Sequence[Path] = (),
) -> Forgotten:
    """Take a worker, by raw id or pseudonym, out of every campaign of the database, and out of workplaces."""
    counts: dict[str, int] = {}
    with context.store.read() as tx:
        people = _find(context, tx, worker, platform)
        for person in people:
            _require_settled(tx, person)
    # A pseudonym names nobody at a workplace; the raw id behind it does. The workplaces come first: were it the other
    # way round, a stop in between would leave nobody who knows that id.
    raw = sorted({each.raw_id for each in people if each.raw_id} | {worker} - {each.worker for each in people})
    places = tuple(place.erase_person(each, dry_run=dry_run) for place in workplaces for each in raw)
    try:
        with context.store.begin() as tx:
            people = _find(context, tx, worker, platform)
            for person in people:
                _require_settled(tx, person)
                for name, count in tx.privacy.forget(person, fresh=f"w{secrets.token_hex(10)}").items():
                    counts[name] = counts.get(name, 0) + count
            if dry_run:
                raise _DryRunError
            if people:
                context.log(tx, "worker forgotten", people=len(people), submissions=counts.get("submission", 0))
    except _DryRunError:
        pass
    # Also where nobody is found: a call before this one may have been kept from emptying the files.
    left = () if dry_run else context.store.wipe([*raw, *(each.worker for each in people)])
    return Forgotten(
        people=len(people),
        raw_ids=counts.get("identities", 0),
        submissions=counts.get("submission", 0),
        answers=counts.get("answer", 0),
        events=counts.get("events", 0),
        intents=counts.get("intents", 0),
        dry_run=dry_run,
        traits=counts.get("worker_trait", 0),
        workplaces=places,
        still_in=left,
        backups=tuple(sorted(files_holding(raw, backups))),
    )


def export_worker(context: Context, worker: str, *, platform: str | None = None) -> dict[str, Any]:
    """Return what the database holds of a worker, by raw id or pseudonym; nothing of anybody else."""
    with context.store.read() as tx:
        people = _find(context, tx, worker, platform)
        found = [tx.privacy.export(person) for person in people]
    if not found:
        raise InputError("nothing is stored of this worker; check the id and --platform")
    return {"exported_at": context.clock.now().isoformat(), "workers": found}


def _find(context: Context, tx: Transaction, worker: str, platform: str | None) -> list[Person]:
    """Return who is meant, one person for each platform; several platforms only where none is named."""
    if not worker.strip():
        raise InputError("worker is empty; give a raw worker id or a pseudonym")
    known = tx.privacy.platforms()
    if platform is not None and platform not in known:
        shown = ", ".join(known) or "none"
        raise InputError(f"platform is {platform!r}; people of this database worked on: {shown}")
    derived = {each: pseudonyms(context.worker_key, each, [worker])[worker] for each in known}
    found = tx.privacy.find(worker, derived=derived, platform=platform)
    if len({each.platform for each in found}) > 1:
        # The same id on two platforms may be two people.
        raise InputError(
            f"this worker id is known on {', '.join(sorted({each.platform for each in found}))}; say which one with "
            "platform"
        )
    return found


def _require_settled(tx: Transaction, person: Person) -> None:
    unpaid, effects = tx.privacy.open_business(person)
    if unpaid or effects:
        raise StateError(
            f"this worker has {unpaid} payment(s) to come and {effects} effect(s) in progress that need the id; "
            "finish or cancel them first (hmc-crowd status shows them)"
        )


def check_audience(
    items: pd.DataFrame,
    *,
    platform_pool: str | None,
    platform_is_in_house: bool,
    has_warning: bool = False,
    name: str = "this platform",
) -> None:
    """Refuse items that their audience, or a missing content warning, keeps off a platform.

    Parameters
    ----------
    items : pandas.DataFrame
        ``item, audience, sensitive``, as the store reads them; gold is shown too and belongs in it.
    platform_pool : str, optional
        The named pool of people that the platform reaches; None: whoever comes.
    platform_is_in_house : bool
        Whether only one's own people work there.
    has_warning : bool, default False
        Whether people are warned of the content before they begin; needed for sensitive items.
    name : str, default "this platform"
        What to call it in messages.

    Raises
    ------
    InputError
        Names the first items that must not be shown there; nothing was published.

    Examples
    --------
    >>> import pandas as pd
    >>> items = pd.DataFrame({"item": ["a", "b"], "audience": ["any", "in_house"], "sensitive": [False, False]})
    >>> check_audience(items, platform_pool=None, platform_is_in_house=True)
    >>> check_audience(items, platform_pool=None, platform_is_in_house=False)
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.InputError: 1 items may not be shown on this platform: b (in_house); leave them to the machine, or
    publish where their audience works
    """
    audience = items["audience"].astype(str)
    allowed = [ANYBODY, *([IN_HOUSE] if platform_is_in_house else []), *([platform_pool] if platform_pool else [])]
    barred = items.loc[~audience.isin(allowed)]
    if len(barred):
        raise InputError(
            f"{len(barred):,} items may not be shown on {name}: {_few(barred, with_audience=True)}; leave them to the "
            "machine, or publish where their audience works"
        )
    flagged = items.loc[items["sensitive"].astype(bool)]
    if len(flagged) and not has_warning:
        raise InputError(
            f"{len(flagged):,} items are flagged as sensitive: {_few(flagged, with_audience=False)}; pass "
            "content_warning=, so that people are warned before they take the work"
        )


def _few(items: pd.DataFrame, *, with_audience: bool) -> str:
    first = items.head(_SHOWN)
    names = [
        f"{item} ({who})" if with_audience else str(item)
        for item, who in zip(first["item"], first["audience"], strict=True)
    ]
    more = f" and {len(items) - _SHOWN:,} more" if len(items) > _SHOWN else ""
    return ", ".join(names) + more
