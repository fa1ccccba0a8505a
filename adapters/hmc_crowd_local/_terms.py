"""May this worker take this HIT, by pool and skills, and what does it earn him? Rules over the terms of a HIT."""

from __future__ import annotations

import json
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING

from hmc_crowd._base.money import round_half_up
from hmc_crowd._base.pools import LANGUAGE, Terms, languages
from hmc_crowd.errors import InputError
from hmc_crowd_local._records import check_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hmc_crowd.platform import Hit

__all__ = ["checked_skills", "earned_of", "fits", "is_for", "read_terms", "write_terms"]


def write_terms(terms: Terms) -> str:
    """Return terms as text of the database; nothing where they are the common ones."""
    return "" if terms == Terms() else json.dumps(asdict(terms), ensure_ascii=True)


def read_terms(text: str) -> Terms:
    """Read them back.

    >>> read_terms(write_terms(Terms("tier1", ("law",), "per_hour", 6000)))
    Terms(pool='tier1', skills=('law',), pay_form='per_hour', rate_minor=6000, holds=())
    """
    if not text:
        return Terms()
    values = json.loads(text)
    return Terms(**{**values, **{each: tuple(values.get(each, ())) for each in ("skills", "holds")}})


def checked_skills(skills: Iterable[str]) -> tuple[str, ...]:
    """Return skills, each once, languages with their code in lower case.

    >>> checked_skills(["law", "language:DE", "law"])
    ('law', 'language:de')
    """
    found = []
    for each in skills:
        check_text(each, name="skills")
        if not each.strip() or each.strip() == LANGUAGE:
            raise InputError(f"skills holds {each!r}; write a word, or a language as {LANGUAGE}de")
        found.append(each.strip().lower() if each.startswith(LANGUAGE) else each.strip())
    return tuple(dict.fromkeys(found))


def is_for(terms: Terms, *, pool: str, skills: Iterable[str]) -> bool:
    """Whether people of this pool with these skills may take a HIT of these terms.

    >>> german = Terms(skills=("language:de",))
    >>> is_for(german, pool="", skills=["language:de", "law"]), is_for(german, pool="", skills=["law"])
    (True, False)
    >>> is_for(Terms(pool="tier1"), pool="tier2", skills=[])
    False
    """
    return terms.pool in {"", pool} and set(checked_skills(terms.skills)) <= set(skills)


def fits(hit: Hit, *, pool: str, skills: Iterable[str]) -> bool:
    """Whether a HIT is for such a worker, the languages of its texts included.

    Who names no language gets texts in all of them; who names some gets texts in these, and in those that nobody named.
    """
    known = tuple(skills)
    if not is_for(hit.terms, pool=pool, skills=known):
        return False
    spoken = languages(known)
    asked = {each.language.partition("-")[0].lower() for each in hit.items if each.language}
    return not spoken or asked <= {each.partition("-")[0] for each in spoken}


def earned_of(
    terms: Terms, pay_minor: int, time_limit_s: int, *, active_s: float | None, elapsed_s: float | None
) -> int | None:
    """Return what one submission earns in minor units; None where nobody is paid for it by itself.

    Hours are active time; where that is not known, the time from taking to handing in, at most the HIT's limit: what
    our pages failed to measure is no loss of the worker's.

    >>> earned_of(Terms(pay_form="per_hour", rate_minor=3000), 0, 3600, active_s=120.0, elapsed_s=900.0)
    100
    """
    if terms.pay_form == "salaried":
        return None
    if terms.pay_form == "per_hour":
        seconds = active_s if active_s is not None else min(elapsed_s or 0.0, time_limit_s)
        return round_half_up(Decimal(terms.rate_minor) * Decimal(seconds) / 3600)
    return pay_minor
