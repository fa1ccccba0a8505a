"""What mix of people does a campaign ask for, can it be had, and how far is it?

Quotas are settings of the campaign. They are enforced where work is handed out: by a workplace of our own, which counts
its people (`KeepsQuotas`); by a platform that recruits people by filters, a study for each cell (`FiltersPeople`);
elsewhere by a panel (`_panel.py`). What is known of people is what they said of themselves: a workplace's invitations,
and the attributes that somebody stored here (`Campaign.add_worker_traits`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.quotas import KeepsQuotas, SeatRule, Seats, attribute_name
from hmc_crowd.campaign._pseudonyms import pseudonyms
from hmc_crowd.errors import InfeasibleError, InputError
from hmc_crowd.quality import Quota

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform
    from hmc_crowd.store import Transaction

__all__ = ["Asked", "asked_of", "clear_quotas", "hand_quotas", "known_there", "seats_of", "set_quotas", "traits_of"]

_KEY = "quotas"
_MOST = 5000

Said = dict[str, str]


@dataclass(frozen=True)
class Asked:
    """The quotas of a campaign, over so many people; ``is_short``: as far as those who are known go."""

    people: int
    quotas: tuple[Quota, ...]
    is_short: bool = False

    def lines(self) -> list[str]:
        """Return the quotas as a person writes them."""
        return [line_of(quota, value, self.people) for quota in self.quotas for value in quota.shares]


def line_of(quota: Quota, value: Any, people: int) -> str:
    """Return one quota in words."""
    return f"quota {quota.attribute}:{value}={100 * quota.shares[value]:.4g}% of {people:,} people"


def set_quotas(context: Context, quotas: Sequence[Quota], people: int) -> Asked:
    """Keep quotas, in place of those before."""
    asked = _checked(quotas, people)
    with context.begin() as tx:
        _save(context, tx, asked)
        context.log(tx, "quotas set", people=asked.people, quotas=asked.lines())
    return asked


def clear_quotas(context: Context) -> bool:
    """Ask for no mix any more; say whether one was asked for."""
    with context.begin() as tx:
        had = asked_of(context.settings_in(tx)) is not None
        if had:
            _save(context, tx, None)
            context.log(tx, "quotas cleared")
    return had


def _checked(quotas: Sequence[Quota], people: int) -> Asked:
    if isinstance(people, bool) or not isinstance(people, Integral) or not 1 <= people <= _MOST:
        raise InputError(f"people is {people!r}; give how many people there shall be, from 1 to {_MOST:,}")
    given = [] if isinstance(quotas, Quota) else list(quotas)
    if not given or not all(isinstance(each, Quota) for each in given):
        raise InputError(f"quotas is {quotas!r}; give a list of Quota, or clear the quotas")
    given = [replace(each, attribute=attribute_name(each.attribute)) for each in given]
    twice = [name for name, count in Counter(each.attribute for each in given).items() if count > 1]
    if twice:
        raise InputError(f"quotas names {twice[0]!r} twice; put all its values into one quota")
    for each in given:
        values = [str(value) for value in each.shares]
        if not each.attribute.strip() or not all(value.strip() for value in values) or len(set(values)) < len(values):
            raise InputError(f"the quota for {each.attribute!r} has the values {values}; name each of them, once")
        counts = each.counts(int(people))
        if sum(counts.values()) > people:
            needs = " + ".join(map(str, counts.values()))
            raise InfeasibleError(
                f"the quotas for {each.attribute!r} need {needs} of {people} people once rounded up; ask for more "
                "people, or for kind 'target', which rounds to what adds up",
                clashing=tuple(f"{each.attribute}:{value}" for value in values),
            )
    return Asked(int(people), tuple(given))


def _save(context: Context, tx: Transaction, asked: Asked | None) -> None:
    settings = tx.campaigns.settings_to_change(context.campaign_id)
    settings.pop(_KEY, None)
    if asked is not None:
        settings[_KEY] = {"people": asked.people, "short": asked.is_short, "quotas": [_plain(q) for q in asked.quotas]}
    tx.campaigns.save_settings(context.campaign_id, settings)


def _plain(quota: Quota) -> dict[str, Any]:
    return {
        "attribute": quota.attribute,
        # In the order given, which a mapping of the settings would not keep.
        "shares": [[str(value), float(share)] for value, share in quota.shares.items()],
        "kind": quota.kind,
        "filter_id": quota.filter_id,
        "choices": {str(value): list(names) for value, names in quota.choices.items()},
    }


def asked_of(settings: Mapping[str, Any]) -> Asked | None:
    """Return the quotas that a campaign's settings hold; None without any."""
    held = settings.get(_KEY)
    if not held:
        return None
    quotas = tuple(Quota(**{**each, "shares": dict(each["shares"])}) for each in held["quotas"])
    return Asked(int(held["people"]), quotas, bool(held["short"]))


def seats_of(asked: Asked, known: Sequence[Said] | None = None) -> Seats:
    """Return what a workplace hands work out by; where it may fall short, no more is asked than people are known."""
    rules = []
    for quota in asked.quotas:
        wanted = {str(value): count for value, count in quota.counts(asked.people).items()}
        if asked.is_short and known is not None:
            there = Counter(each.get(quota.attribute) for each in known)
            wanted = {value: min(count, there[value]) for value, count in wanted.items()}
        rules.append(SeatRule(quota.attribute, wanted, quota.kind == "target"))
    return Seats(asked.people, tuple(rules))


def traits_of(context: Context, tx: Transaction) -> dict[str, Said]:
    """Return the attributes of the campaign's people, by pseudonym: what they said, or the cell they came by."""
    found: dict[str, Said] = defaultdict(dict)
    told = tx.traits.read(context.campaign_id)
    for worker, attribute, value in zip(told["worker"], told["attribute"], told["value"], strict=True):
        found[worker][attribute] = value
    cells = {
        each.key: (each.payload or {})["cell"]
        for each in tx.work.intents(context.campaign_id)
        if (each.payload or {}).get("cell")
    }
    if cells:
        orders = {hit.key: hit.order_key for hit in tx.work.hits(context.campaign_id, with_items=False)}
        came = tx.work.submissions(context.campaign_id)
        for worker, hit in zip(came["worker"], came["hit_key"], strict=True):
            found[worker] |= cells.get(orders.get(hit) or "", {})
    return dict(found)


def known_there(context: Context, platform: Platform, pool: str = "") -> dict[str, Said]:
    """Return who may work on a platform, as far as is known, by pseudonym, with what is known of them.

    A workplace of our own tells who may work for a pool, and hands out by what it knows itself; of other platforms only
    those are known who came, or whose attributes were stored. What somebody took back has an empty value.
    """
    with context.store.read() as tx:
        stored = tx.traits.read(context.campaign_id)
        said = traits_of(context, tx)
        came = tx.work.submissions(context.campaign_id)
    here = {*came.loc[came["platform"] == platform.name, "worker"]}
    if not isinstance(platform, KeepsQuotas):
        here |= {*stored.loc[stored["source"] == platform.name, "worker"]}
        return {worker: said.get(worker, {}) for worker in sorted(here)}
    people = platform.known_people(pool)
    names = pseudonyms(context.worker_key, platform.name, people)
    return {
        **{worker: said.get(worker, {}) for worker in sorted(here)},
        **{names[raw]: dict(traits) for raw, traits in people.items()},
    }


def hand_quotas(context: Context, platform: Platform, *, short: bool = False) -> None:
    """Have a workplace hand work out by the quotas as they are now, and keep what its people who came said."""
    if not isinstance(platform, KeepsQuotas):
        return
    asked = asked_of(context.settings())
    scope = context.uid()
    if asked is None:
        platform.put_seats(scope, None)
        return
    if short and not asked.is_short:
        asked = replace(asked, is_short=True)
        with context.begin() as tx:
            _save(context, tx, asked)
    known = known_there(context, platform)
    platform.put_seats(scope, seats_of(asked, list(known.values())))
    _keep_traits(context, platform, asked, known)


def _keep_traits(context: Context, platform: Platform, asked: Asked, known: Mapping[str, Said]) -> None:
    """Store the attributes that quotas are about, of people who came: the campaign's counts need no workplace then."""
    import pandas as pd

    wanted = {quota.attribute for quota in asked.quotas}
    with context.begin() as tx:
        came = tx.work.submissions(context.campaign_id)
        here = came.loc[came["platform"] == platform.name, "worker"].unique()
        rows = [
            (worker, attribute, value, platform.name)
            for worker in here
            for attribute, value in known.get(worker, {}).items()
            if attribute in wanted
        ]
        frame = pd.DataFrame(rows, columns=["worker", "attribute", "value", "source"])
        if len(frame):
            tx.traits.put(context.campaign_id, frame[frame["value"] != ""], at=context.clock.now())
        for attribute, some in frame[frame["value"] == ""].groupby("attribute"):
            tx.traits.withdraw(context.campaign_id, str(attribute), some["worker"].tolist())
