"""What did workers say of themselves? Kept by pseudonym, cut to groups, so that groups can be compared and quotas kept.

Guarantee: only attributes that are named (by default sex or gender, region and age group) are kept; ages are cut to
groups and never stored; what points at one person is refused; what somebody took back is erased. These are personal
data: they stand in one table, which `forget`, `export_worker` and `retain` know, and in no log and no export.

Source: requirement D26 (gender, region, age groups 18-25, 26-35, 36-45, 46+).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd._base.quotas import attribute_name
from hmc_crowd.campaign._pseudonyms import pseudonyms, worker_column
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.io import read_frame
from hmc_crowd.quality import age_group

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["Traits", "add_traits", "wide_traits"]

_USUAL = ("sex", "gender", "region", "country_of_residence", "age", "age_group")
_REVOKED = {"consent_revoked", "prefer not to say", "rather not say"}
_NOT_SAID = {"", "data_expired", "nan"}
_POINTING = {
    "worker", "participant", "workerid", "submission", "id", "ip", "mail", "email", "phone", "telephone", "mobile",
    "name", "firstname", "lastname", "surname", "username", "address", "street", "postcode", "zip", "zipcode", "birth",
    "birthday", "birthdate", "dob", "passport", "ssn", "iban",
}  # fmt: skip
_PLACES = {"country", "region", "continent"}
_MOST_VALUES, _MOST_NUMBERS, _LONGEST, _OLDEST = 20, 10, 100, 120


@dataclass(frozen=True)
class Traits:
    """What was kept of a file of attributes.

    Parameters
    ----------
    people : int
        Workers of whom something was told.
    attributes : tuple of str
        As they are stored.
    changed : int
        Values that are new or replace an older one.
    withdrawn : int
        Stored values that were erased because the worker took them back.
    left_out : tuple of str
        Columns of the file that were not kept; name them in ``attributes`` to keep them.
    """

    people: int
    attributes: tuple[str, ...]
    changed: int
    withdrawn: int
    left_out: tuple[str, ...]

    def __str__(self) -> str:
        text = f"{self.people:,} people, {', '.join(self.attributes)}: {self.changed:,} values are new or have changed"
        text += f", {self.withdrawn:,} taken back and erased" if self.withdrawn else ""
        return f"{text}; not kept: {', '.join(self.left_out)}" if self.left_out else text


def add_traits(
    context: Context,
    source: Any,
    *,
    platform: str,
    attributes: Sequence[str] | Mapping[str, str] | None,
    at: datetime | None,
) -> Traits:
    """Keep attributes by pseudonym: all of the file, or nothing where anything in it is refused."""
    if not platform.strip():
        raise InputError("platform is empty; name the one whose workers these are")
    frame = read_frame(source, kind=None, name="traits").frame
    worker = worker_column(frame, name="traits")
    raw = frame[worker].astype(str).str.strip()
    wanted = _wanted([str(each) for each in frame.columns if each != worker], attributes)
    there = ~raw.str.lower().isin(_REVOKED | _NOT_SAID)
    names = pseudonyms(context.worker_key, platform, raw[there])
    people = raw[there].map(names)
    parts, taken = [], {}
    for column, attribute in wanted.items():
        said = _values(frame.loc[there, column], attribute)
        taken[attribute] = sorted(set(people[said == _BACK]))
        # Of two rows of a worker the one that takes back counts.
        kept = said.notna() & ~people.isin(taken[attribute])
        rows = pd.DataFrame({"worker": people[kept], "attribute": attribute, "value": said[kept], "source": platform})
        parts.append(_one_each(rows.drop_duplicates(), attribute))
    told = pd.concat(parts, ignore_index=True)
    with context.begin() as tx:
        gone = sum(tx.traits.withdraw(context.campaign_id, name, who) for name, who in taken.items() if who)
        changed = tx.traits.put(context.campaign_id, told.astype(str), at=at) if len(told) else 0
        kept_names = tuple(dict.fromkeys(wanted.values()))
        # Names of attributes and counts only: the log is not erased with the person.
        context.log(tx, "worker traits", platform=platform, people=told["worker"].nunique(), attributes=kept_names)
    left = tuple(str(each) for each in frame.columns if each != worker and each not in wanted)
    return Traits(told["worker"].nunique(), kept_names, changed, gone, left)


def wide_traits(tx: Transaction, campaign: int, attribute: str) -> pd.DataFrame:
    """Return ``worker`` and the attribute, one row for each worker who told it."""
    held = tx.traits.read(campaign, attribute)
    if held.empty:
        known = ", ".join(tx.traits.attributes(campaign)) or "none yet; first add_worker_traits()"
        raise InputError(f"attribute is {attribute!r}; nobody's is stored, there are: {known}")
    return held[["worker", "value"]].rename(columns={"value": attribute})


_BACK = "\x00taken back"


def _wanted(columns: list[str], attributes: Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    """Return the columns to keep, each with the name of its attribute."""
    known = {attribute_name(column): column for column in reversed(columns)}
    if isinstance(attributes, str):
        raise InputError(f"attributes is {attributes!r}; give a list of columns")
    if attributes is None:
        attributes = [name for name in _USUAL if name in known]
        if not attributes:
            raise InputError(f"traits have none of {', '.join(_USUAL)}; name the attributes to keep")
    pairs = attributes.items() if isinstance(attributes, Mapping) else [(each, each) for each in attributes]
    wanted: dict[str, str] = {}
    for column, name in pairs:
        found = column if column in columns else known.get(attribute_name(column))
        if found is None:
            raise FrameError(f"traits lack the column {column}; there are: {', '.join(columns) or 'no others'}")
        attribute = attribute_name(name)
        if not attribute:
            raise InputError(f"attribute {name!r} holds no letter; name it in words")
        if _points(attribute_name(found)) or _points(attribute):
            raise InputError(f"attribute {column!r} points at single people; keep only what groups of people share")
        wanted[found] = "age_group" if "age" in (attribute_name(found), attribute) else attribute
    if len(set(wanted.values())) < len(wanted):
        raise InputError(f"attributes name the same thing twice ({', '.join(map(repr, wanted))}); keep one of them")
    if not wanted:
        raise InputError("attributes is empty; name at least one column to keep")
    return wanted


def _points(name: str) -> bool:
    """Say whether a column is about single people: a birthday is, the country of birth is not."""
    words = set(name.split("_"))
    return bool(words & (_POINTING - {"birth"} if words & _PLACES else _POINTING))


def _values(cells: pd.Series[Any], attribute: str) -> pd.Series[Any]:
    """Return what was said: text, missing where nothing, a mark where it was taken back."""
    text = cells.astype(object).where(cells.notna(), "").astype(str).str.strip()
    low = text.str.lower()
    said = text.astype(object).mask(low.isin(_NOT_SAID), None).mask(low.isin(_REVOKED), _BACK)
    spoken = said.notna() & (said != _BACK)
    numbers = pd.to_numeric(said[spoken], errors="coerce")
    if attribute == "age_group" and spoken.any() and numbers.notna().any():
        if numbers.isna().any() or (numbers > _OLDEST).any():
            bad = said[spoken][numbers.isna() | (numbers > _OLDEST)].iloc[0]
            raise FrameError(f"the age {str(bad)[:20]!r} is no age in years; correct it, or leave it empty")
        said[spoken] = [age_group(float(each)) for each in numbers]
        return said
    _refuse_pointing(said[spoken], numbers, attribute)
    return said


def _refuse_pointing(said: pd.Series[Any], numbers: pd.Series[Any], attribute: str) -> None:
    """Refuse values that tell single people apart: raw numbers, addresses, free text, nearly one value for each."""
    distinct = said.nunique()
    if len(said) and numbers.notna().all() and distinct > _MOST_NUMBERS:
        raise InputError(
            f"attribute {attribute!r} holds {distinct:,} different numbers; cut them to a few groups first"
        )
    if said.str.contains("@", regex=False).any() or (said.str.len() > _LONGEST).any():
        raise InputError(f"attribute {attribute!r} holds addresses or free text; keep only what groups of people share")
    if distinct > _MOST_VALUES and distinct > len(said) / 2:
        raise InputError(
            f"attribute {attribute!r} has {distinct:,} values for {len(said):,} people, which points at single ones; "
            "put them into groups first"
        )


def _one_each(rows: pd.DataFrame, attribute: str) -> pd.DataFrame:
    several = rows["worker"].duplicated(keep=False)
    if several.any():
        people = rows.loc[several, "worker"].nunique()
        raise FrameError(
            f"traits give {people:,} workers more than one {attribute}; leave one row for each worker, the newest"
        )
    return rows
