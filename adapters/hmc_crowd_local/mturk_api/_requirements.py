"""Who may see, preview and accept a HIT? Qualification requirements: their cross rules, and who meets them.

System qualifications are worked out by the workplace itself; one that it cannot work out is refused when it is asked
for, never taken and ignored. Rules: PLATFORMS.md 3.9, from the service model's prose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd_local._tables_mturk import ASSIGNMENT, QUALIFICATION, QUALIFICATION_TYPE, WORKER
from hmc_crowd_local.mturk_api._problems import does_not_exist, invalid
from hmc_crowd_local.mturk_api._qualification_words import ADULT, APPROVED, LOCALE, PERCENT, why_not

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd_local.mturk_api._call import Call

__all__ = ["ADULT", "APPROVED", "LOCALE", "PERCENT", "check_requirements", "guards", "is_system", "unmet"]

_MASTERS = {"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"}
_SYSTEM = {PERCENT, APPROVED, LOCALE, ADULT}
_MOST = 10
_SETS = {"In", "NotIn"}
_PRESENCE = {"Exists", "DoesNotExist"}
_OF_LOCALES = {"EqualTo", "NotEqualTo", *_SETS}


def is_system(qualification_type_id: str) -> bool:
    """Whether the workplace works this qualification out by itself."""
    return qualification_type_id in _SYSTEM


def check_requirements(call: Call, requirements: Sequence[Mapping[str, Any]]) -> None:
    """Refuse requirements that contradict the rules, or that this workplace cannot judge (rule R5)."""
    if len(requirements) > _MOST:
        raise invalid(f"QualificationRequirements has {len(requirements)} entries, at most {_MOST} are allowed")
    for number, each in enumerate(requirements):
        _check_one(call, each, f"QualificationRequirements[{number}]")


def _check_one(call: Call, each: Mapping[str, Any], where: str) -> None:
    type_id, comparator = each["QualificationTypeId"], each["Comparator"]
    integers, locales = each.get("IntegerValues", []), each.get("LocaleValues", [])
    if type_id in _MASTERS:
        raise invalid(f"{where} asks for Masters, whom Amazon chose; grant a qualification type of your own instead")
    if type_id not in _SYSTEM:
        _require_type(call, type_id)
    if comparator in _PRESENCE:
        if integers or locales:
            raise invalid(f"{where} has {comparator} with values; leave IntegerValues and LocaleValues out")
        if type_id == LOCALE:
            raise invalid(f"{where} has {comparator} with Locale; use EqualTo, NotEqualTo, In or NotIn")
    elif type_id == LOCALE:
        if comparator not in _OF_LOCALES or integers or not locales:
            raise invalid(f"{where} is about Locale; give LocaleValues with EqualTo, NotEqualTo, In or NotIn")
    elif locales or not integers:
        raise invalid(f"{where} has {comparator} without IntegerValues, or with LocaleValues for no locale")
    _check_counts(where, comparator, len(integers), len(locales))
    if each.get("ActionsGuarded") is not None and each.get("RequiredToPreview") is not None:
        raise invalid(f"{where} has both ActionsGuarded and the old RequiredToPreview; keep ActionsGuarded")


def _check_counts(where: str, comparator: str, integers: int, locales: int) -> None:
    most_integers, most_locales = (15, 30) if comparator in _SETS else (1, 1)
    if integers > most_integers or locales > most_locales:
        raise invalid(
            f"{where} has {integers} integers and {locales} locales; {comparator} takes at most {most_integers} "
            f"and {most_locales}"
        )


def _require_type(call: Call, type_id: str) -> None:
    known = call.connection.execute(
        sa.select(QUALIFICATION_TYPE.c.qualification_type_id).where(
            QUALIFICATION_TYPE.c.qualification_type_id == type_id, QUALIFICATION_TYPE.c.deleted_at.is_(None)
        )
    ).first()
    if known is None:
        raise does_not_exist("QualificationType", type_id)


def guards(requirement: Mapping[str, Any], action: str) -> bool:
    """Whether a requirement stands before ``action``: Accept, Preview or Discover."""
    default = "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
    return action in (requirement.get("ActionsGuarded") or default)


def unmet(call: Call, requirements: Sequence[Mapping[str, Any]], worker: str, action: str) -> str | None:
    """Say what keeps a worker from an action: the first requirement that he does not meet; None where all are met."""
    for each in requirements:
        if guards(each, action):
            value = None if each["QualificationTypeId"] == LOCALE else _value(call, each, worker)
            if not _meets(call, each, worker, value):
                return why_not(each, _name(call, str(each["QualificationTypeId"])), value)
    return None


def _value(call: Call, requirement: Mapping[str, Any], worker: str) -> tuple[int | None] | None:
    type_id = str(requirement["QualificationTypeId"])
    return _system_value(call, type_id, worker) if type_id in _SYSTEM else _own_value(call, type_id, worker)


def _name(call: Call, type_id: str) -> str:
    """Return what a worker can call a qualification by: its name and, for whoever he asks about it, its id."""
    query = sa.select(QUALIFICATION_TYPE.c.name).where(QUALIFICATION_TYPE.c.qualification_type_id == type_id)
    found = call.connection.execute(query).scalar()
    return type_id if found is None else f"{found!r} ({type_id})"


def _meets(call: Call, requirement: Mapping[str, Any], worker: str, value: tuple[int | None] | None) -> bool:
    type_id, comparator = str(requirement["QualificationTypeId"]), str(requirement["Comparator"])
    if type_id == LOCALE:
        return _meets_locale(call, requirement, worker)
    if comparator in _PRESENCE:
        return (value is not None) == (comparator == "Exists")
    if value is None:
        return False
    wanted = requirement["IntegerValues"]
    number = value[0]
    if number is None:
        return False
    outcomes: dict[str, bool] = {
        "LessThan": number < wanted[0],
        "LessThanOrEqualTo": number <= wanted[0],
        "GreaterThan": number > wanted[0],
        "GreaterThanOrEqualTo": number >= wanted[0],
        "EqualTo": number == wanted[0],
        "NotEqualTo": number != wanted[0],
        "In": number in wanted,
        "NotIn": number not in wanted,
    }
    return outcomes[comparator]


def _own_value(call: Call, type_id: str, worker: str) -> tuple[int | None] | None:
    """Return the granted value (which may be None) in a tuple, or None where nothing is granted."""
    row = call.connection.execute(
        sa.select(QUALIFICATION.c.value).where(
            QUALIFICATION.c.qualification_type_id == type_id,
            QUALIFICATION.c.worker == worker,
            QUALIFICATION.c.status == "Granted",
        )
    ).one_or_none()
    return None if row is None else (row.value,)


def _system_value(call: Call, type_id: str, worker: str) -> tuple[int | None] | None:
    if type_id == ADULT:
        is_adult = call.connection.execute(sa.select(WORKER.c.is_adult).where(WORKER.c.worker == worker)).scalar()
        return (1,) if is_adult else None
    query = (
        sa.select(ASSIGNMENT.c.state, sa.func.count())
        .where(ASSIGNMENT.c.worker == worker, ASSIGNMENT.c.state.in_(["approved", "rejected"]))
        .group_by(ASSIGNMENT.c.state)
    )
    counts = {row[0]: row[1] for row in call.connection.execute(query)}
    approved, rejected = counts.get("approved", 0), counts.get("rejected", 0)
    if type_id == APPROVED:
        return (approved,)
    reviewed = approved + rejected
    return (100 if reviewed < call.settings.percent_known_from or not reviewed else 100 * approved // reviewed,)


def _meets_locale(call: Call, requirement: Mapping[str, Any], worker: str) -> bool:
    row = call.connection.execute(sa.select(WORKER).where(WORKER.c.worker == worker)).one_or_none()
    if row is None or row.country is None:
        return False  # where somebody lives that nobody knows is neither inside nor outside
    here = [each.get("Subdivision") for each in requirement["LocaleValues"] if each["Country"] == row.country]
    if here and row.subdivision is None and None not in here:
        return False  # so is a subdivision that nobody knows, of a country that is asked for by subdivisions
    matches = None in here or row.subdivision in here
    return matches is (requirement["Comparator"] in {"EqualTo", "In"})
