"""By which guideline was this answered? Answers under one that meant something else are stale: kept, and asked again.

A page shows the guideline that was in force when its HIT was made, and the HIT remembers which one that was. So an
answer that comes late, from a page of before the change, counts or not as one does that came in time. A version that
only says the same in other words leaves answers good; an earlier version can be put in force again, and the answers
under it count as before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd._base.money import Money
from hmc_crowd._base.numbers import whole_number
from hmc_crowd.errors import DuplicateError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, HitItemRecord, HitRecord, Transaction

__all__ = ["GuidelineChanged", "Versions", "set_guideline", "use_guideline"]

_PUBLISHING = frozenset({"publish", "recruit", "extend"})


class Versions:
    """The guideline of each aspect: which is in force, which was the first, what each says, and which mean the same."""

    def __init__(self, context: Context, tx: Transaction) -> None:
        aspects = tx.campaigns.aspects(context.campaign_id)
        history = tx.guidelines.history(context.campaign_id)
        self.current = {each.name: each.guideline_version for each in aspects}
        # HITs of before versions were kept name none: they show the first.
        self.first = dict(self.current)
        for each in reversed(history):
            self.first[each.aspect] = each.version
        self._texts = {(each.aspect, each.version): each.text for each in history}
        self._texts |= {(each.name, each.guideline_version): each.guideline for each in aspects}
        self._meanings = {(each.aspect, each.version): each.meaning for each in history}

    @property
    def has_changed(self) -> bool:
        """Whether any aspect has had two guidelines that do not mean the same."""
        return any(self.meaning(*each) != self.meaning(each[0], self.first.get(each[0], "")) for each in self._meanings)

    def of(self, item: HitItemRecord) -> str:
        """Return the version that a question's page shows."""
        return item.guideline_version or self.first.get(item.aspect, "")

    def meaning(self, aspect: str, version: str) -> str:
        """Return the version that stands for all that mean the same as this one."""
        return self._meanings.get((aspect, version), version)

    def meaning_of(self, item: HitItemRecord) -> str:
        """Return what the guideline on a question's page means."""
        return self.meaning(item.aspect, self.of(item))

    def holds(self, aspect: str, version: str) -> bool:
        """Say whether a version means the same as the one in force."""
        return self.meaning(aspect, version) == self.meaning(aspect, self.current.get(aspect, ""))

    def is_stale(self, item: HitItemRecord) -> bool:
        """Whether a question's page shows a guideline that means something else than the one in force."""
        return not self.holds(item.aspect, self.of(item))

    def text(self, record: HitRecord) -> str:
        """Return what the page of a HIT says on how to judge: the guidelines of its aspects, each once."""
        asked = dict.fromkeys((each.aspect, self.of(each)) for each in record.items)
        return "\n\n".join(dict.fromkeys(text for key in asked if (text := self._texts.get(key, ""))))

    def scope(self, uid: str, record: HitRecord) -> str:
        """Return within which scope nobody meets a question twice: another meaning makes it another question."""
        later = sorted({(each.aspect, self.meaning_of(each)) for each in record.items})
        later = [(aspect, said) for aspect, said in later if said != self.meaning(aspect, self.first.get(aspect, ""))]
        return ":".join([uid, *(f"{aspect}={said}" for aspect, said in later)])

    def meanings(self, answers: pd.DataFrame) -> pd.Series[str]:
        """Return of each answer what the guideline on its page means."""
        aspects = answers["aspect"].astype(str)
        given = answers["guideline_version"].astype(str)
        given = given.where(given != "", aspects.map(self.first))
        said = [self.meaning(aspect, version) for aspect, version in zip(aspects, given, strict=True)]
        return pd.Series(said, index=answers.index, dtype=object)

    def stale(self, answers: pd.DataFrame) -> NDArray[np.bool_]:
        """Say of each answer whether it was given under a guideline that means something else."""
        if not self.has_changed or answers.empty:
            return np.zeros(len(answers), dtype=bool)
        now = {aspect: self.meaning(aspect, version) for aspect, version in self.current.items()}
        return (self.meanings(answers) != answers["aspect"].astype(str).map(now)).to_numpy(dtype=bool)

    def counting(self, answers: pd.DataFrame) -> pd.DataFrame:
        """Return the answers that are opinions of their own: under the guideline in force, a worker's first to an item.

        A worker's second answer to an item, in a later round, is no second opinion.
        """
        return answers[(answers["retest"] == 0).to_numpy(dtype=bool) & ~self.stale(answers)]


@dataclass(frozen=True)
class GuidelineChanged:
    """A version in force, or that would be, and what that does to answers.

    Parameters
    ----------
    stale, stale_minor : int
        Answers that count no more and are asked again, and what people were paid for them, fees included, in minor
        units.
    revived : int
        Answers that count again.
    open_places, open_minor : int
        Places still open whose page shows a guideline that means something else, and what they may still cost: answers
        from there do not count either.
    wording : bool
        Whether the text only says the same in other words: answers stay good, also those from places that are open.
    """

    aspect: str
    version: str
    before: str
    stale: int
    open_places: int
    stale_minor: int = 0
    open_minor: int = 0
    revived: int = 0
    currency: str = "USD"
    wording: bool = False
    dry_run: bool = False

    def __str__(self) -> str:
        would = self.dry_run
        said = [f"aspect {self.aspect!r} {'would have' if would else 'has'} guideline version {self.version}"]
        if self.wording:
            said.append(f"other words for version {self.before}: no answer is lost")
        if self.stale:
            paid = f" (about {Money(self.stale_minor, self.currency)})" if self.stale_minor else ""
            count = "would count no more and be" if would else "count no more and are"
            said.append(f"{self.stale:,} answers{paid} {count} asked again by the next plan")
        if self.revived:
            said.append(f"{self.revived:,} answers {'would count' if would else 'count'} again")
        if self.open_places:
            more = f" (about {Money(self.open_minor, self.currency)})" if self.open_minor else ""
            said.append(
                f"{self.open_places:,} open places{more} show another version, answers from there "
                f"{'would' if would else 'do'} not count either: hmc-crowd stop closes them"
            )
        return "; ".join(said)


def set_guideline(
    context: Context, text: str, *, aspect: str | None, version: str | None, wording: bool, dry_run: bool
) -> GuidelineChanged:
    """Put a new text in force; see `Campaign.set_guideline`."""
    record = context.aspect(aspect)
    if not text.strip():
        raise InputError("the guideline is empty; say how people are to judge")
    if text.strip() == record.guideline.strip():
        raise InputError(f"this is the guideline of aspect {record.name!r} already; nothing was changed")
    with context.store.read() as tx:
        known = {each.version: each.text for each in tx.guidelines.history(context.campaign_id, record.name)}
    same = [name for name, said in known.items() if said.strip() == text.strip()]
    if same:
        raise InputError(
            f"this is version {same[-1]} of the guideline of aspect {record.name!r}; put it in force again with "
            f"`hmc-crowd guideline use {same[-1]}` (use_guideline), so that the answers under it count"
        )
    known[record.guideline_version] = record.guideline
    number = version or str(1 + max(_numbers(known), default=len(known)))
    if number in known:
        raise DuplicateError(
            f"aspect {record.name!r} had a guideline of version {number!r} before; give the new one another version"
        )

    def change(tx: Transaction) -> None:
        now = context.clock.now()
        tx.guidelines.change(context.campaign_id, record, version=number, text=text, at=now, same=wording)

    return _change(context, record, number, change, wording=wording, dry_run=dry_run)


def _numbers(versions: Iterable[str]) -> list[int]:
    """Return the versions that are plain numbers; a name that only looks like one is a name."""
    found = (whole_number(each, most=10**9) for each in versions)
    return [each for each in found if each is not None]


def use_guideline(context: Context, version: str, *, aspect: str | None, dry_run: bool) -> GuidelineChanged:
    """Put an earlier version in force again; see `Campaign.use_guideline`."""
    record = context.aspect(aspect)
    with context.store.read() as tx:
        history = tx.guidelines.history(context.campaign_id, record.name)
    known = {each.version: each for each in history}
    if version == record.guideline_version:
        raise InputError(f"version {version!r} of the guideline of aspect {record.name!r} is in force; choose another")
    if version not in known:
        names = ", ".join([each for each in known if each != record.guideline_version]) or "none but the one in force"
        raise InputError(f"version is {version!r}; the guideline of aspect {record.name!r} has {names}")

    def change(tx: Transaction) -> None:
        tx.guidelines.use(context.campaign_id, record.name, version=version, text=known[version].text)

    return _change(context, record, version, change, wording=False, dry_run=dry_run)


class _DryRun(Exception):  # noqa: N818  # because it ends a transaction, and is no error
    """Ends a transaction that only looked."""


def _change(
    context: Context,
    record: AspectRecord,
    version: str,
    change: Callable[[Transaction], None],
    *,
    wording: bool,
    dry_run: bool,
) -> GuidelineChanged:
    """Put a version in force and say what that does; a dry run does the same and takes it back."""
    try:
        with context.store.begin() as tx:
            before = _Standing(context, tx, record.name)
            change(tx)
            after = _Standing(context, tx, record.name)
            lost = before.counting - after.counting
            found = GuidelineChanged(
                aspect=record.name,
                version=version,
                before=record.guideline_version,
                stale=len(lost),
                stale_minor=after.paid_minor(lost),
                revived=len(after.counting - before.counting),
                open_places=after.open_places,
                open_minor=after.open_minor,
                currency=str(context.settings_in(tx)["currency"]),
                wording=wording,
                dry_run=dry_run,
            )
            if dry_run:
                raise _DryRun
            _keep_words(context, tx, record.name)
            context.log(
                tx,
                "guideline changed",
                aspect=record.name,
                version=version,
                before=record.guideline_version,
                wording=wording,
                stale=found.stale,
                revived=found.revived,
            )
    except _DryRun:
        pass
    return found


class _Standing:
    """Which answers to an aspect count under the guideline in force, what they cost, and what is still to come."""

    def __init__(self, context: Context, tx: Transaction, aspect: str) -> None:
        from hmc_crowd.campaign._work import open_places

        versions = Versions(context, tx)
        answers = tx.work.answers(context.campaign_id, aspect=aspect)
        kept = answers[~versions.stale(answers)]
        self.counting = set(zip(kept["platform"], kept["submission_id"], kept["task"], strict=True))
        hits = {each.key: each for each in tx.work.hits(context.campaign_id)}
        submissions = tx.work.submissions(context.campaign_id)
        submissions = submissions[submissions["state"].isin(["submitted", "approved"])]
        rows = zip(submissions["platform"], submissions["submission_id"], submissions["hit_key"], strict=True)
        self._hit_of = {(platform, name): hits[key] for platform, name, key in rows if key in hits}
        self._price = _with_fees(context, tx, [*hits.values()])
        self.open_places = 0
        cost = 0.0
        for hit, places in open_places(context, tx):
            lost = sum(each.aspect == aspect and versions.is_stale(each) for each in hit.items)
            if lost:
                self.open_places += places
                cost += places * lost * self._an_answer(hit)
        self.open_minor = round(cost)

    def paid_minor(self, answers: set[tuple[str, str, str]]) -> int:
        """Return what people earn for these answers, fees included; nobody is paid for rejected or late work."""
        found = [self._hit_of.get(each[:2]) for each in answers]
        return round(sum(self._an_answer(hit) for hit in found if hit is not None))

    def _an_answer(self, hit: HitRecord) -> float:
        return hit.pay_minor * self._price.get(hit.platform or "", 1.0) / max(1, len(hit.items))


def _with_fees(context: Context, tx: Transaction, hits: list[HitRecord]) -> dict[str, float]:
    """Return, by platform, what a unit of reward costs with its fees: what was set aside, by what people earn."""
    found = {}
    for name in {hit.platform for hit in hits if hit.platform}:
        rewards = sum(hit.redundancy * hit.pay_minor for hit in hits if hit.platform == name)
        intents = [each for each in tx.work.intents(context.campaign_id) if each.lane == name]
        aside = sum(
            each.amount_minor for each in intents if each.operation in _PUBLISHING and each.state != "cancelled"
        )
        if rewards:
            found[name] = max(1.0, aside / rewards)
    return found


def _keep_words(context: Context, tx: Transaction, aspect: str) -> None:
    """Let what experts said under the guideline in force be the labels again."""
    from hmc_crowd.campaign._follow import adjudicated, save_in_force

    for item in adjudicated(context, tx, aspect)["item"]:
        save_in_force(context, tx, aspect, str(item))
