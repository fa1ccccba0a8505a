"""The port: what a campaign asks of whoever recruits people and shows them work.

Two Protocols, because these may be two parties: `Platform` recruits, reviews and pays; `TaskPages` shows HITs and hands
back answers. A platform with pages of its own (the local workplace, an MTurk-API endpoint) is both. What only some
parties can do stands in Protocols of its own (`Recruiter`, `RoutedPages`, `PaysBonuses`, ...): a campaign asks
with `isinstance`.

An adapter is an importable package with an entry point in the group ``hmc_crowd.platforms``: a function
``connect(address: str | None, **options) -> Platform``. `find_platform` loads it by name: nothing here knows adapters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from hmc_crowd._base.money import Money, round_half_up
from hmc_crowd._base.pools import ANYBODY, KeepsPools, RemoteSkip, TellsSkips, Terms, Turn, Workforce
from hmc_crowd._base.qualifying import KeepsTests, RemoteAttempt, RemoteTest
from hmc_crowd._base.quotas import FiltersPeople, KeepsQuotas, RecruitsHolders, SeatRule, Seats, Trait
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from hmc_crowd._base.findings import Finding
    from hmc_crowd._base.reach import Surroundings

__all__ = [
    "Account",
    "ApprovesMany",
    "BonusOrder",
    "BonusRow",
    "Capabilities",
    "Examines",
    "FeeSchedule",
    "FiltersPeople",
    "Hit",
    "HitItem",
    "KeepsPools",
    "KeepsQuotas",
    "KeepsTests",
    "ListsHits",
    "OrderQuote",
    "PaysBonuses",
    "Platform",
    "QuotesOrders",
    "Recruiter",
    "Recruitment",
    "RecruitsHolders",
    "Rehearsal",
    "RemoteAnswer",
    "RemoteAttempt",
    "RemoteHit",
    "RemoteSkip",
    "RemoteSubmission",
    "RemoteTest",
    "RoutedPages",
    "RoutedWork",
    "SeatRule",
    "Seats",
    "SubmissionState",
    "SyncsQualifications",
    "TaskPages",
    "TellsSkips",
    "Terms",
    "TopsUp",
    "Trait",
    "Turn",
    "Workforce",
    "find_platform",
    "named",
    "platform_names",
]


class SubmissionState(StrEnum):
    """Where one worker's work on one HIT stands; a state nobody knows is UNKNOWN and never moves money."""

    ACCEPTED = "accepted"
    SUBMITTED = "submitted"
    APPROVED = "approved"
    REJECTED = "rejected"
    RETURNED = "returned"
    EXPIRED = "expired"
    UNKNOWN = "unknown"

    @property
    def has_work(self) -> bool:
        """Whether answers may be read: the worker has handed the work in."""
        return self in {SubmissionState.SUBMITTED, SubmissionState.APPROVED, SubmissionState.REJECTED}

    @property
    def is_final(self) -> bool:
        """Whether the worker is done with it, one way or another."""
        return self not in {SubmissionState.ACCEPTED, SubmissionState.UNKNOWN}


@dataclass(frozen=True)
class HitItem:
    """One question put to a worker inside a HIT; never says whether it is gold.

    Parameters
    ----------
    item, aspect : str
        What is asked about, and which question it is.
    group, position : str, int
        The dialogue and the turn in it.
    text : str
        What is judged; of a pair, what both responses answer.
    context : tuple of str
        The turns before it, oldest first.
    labels : tuple of str
        What may be answered, in the order shown; empty: any text. Of a pair: the first response is better, the second
        is, and where a tie is allowed, neither.
    kind : str, default "nominal"
        ``nominal``, ``ordinal``, ``numeric``, ``multi_label``, ``pair`` or ``text``. Of a multi-label question the
        answer is a JSON list of labels in their order; of a numeric one, ``labels`` are the least and the largest
        number, or empty.
    options : tuple of str
        The two responses of a pair. Pages swap their sides at random and give the answer back as if they had not.
    question : str
        What is asked, in a sentence; pages fall back on the aspect's name.
    language : str
        Of the text, as a short code; empty where nobody knows.
    category, sensitive : str, bool
        Whether the text may disturb, and in which way; pages blur it until asked, and workers may opt out by category.
    suggestion : str
        The machine's label, written as an answer is; pages show it to those who are in the arm `Hit.suggest_share`
        draws them into, and to nobody else. Empty: there is none.
    """

    item: str
    aspect: str
    group: str
    position: int
    text: str
    context: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    kind: str = "nominal"
    options: tuple[str, ...] = ()
    question: str = ""
    language: str = ""
    category: str = ""
    sensitive: bool = False
    suggestion: str = ""


@dataclass(frozen=True)
class Hit:
    """A bundle to be published.

    Parameters
    ----------
    key : str
        Natural key: the same bundle of the same round always has the same key, so publishing twice can be noticed.
    items : tuple of HitItem
        In the order in which a worker meets them; never an item and aspect twice.
    redundancy : int
        How many different workers should submit it.
    pay_minor, currency : int, str
        What one submission earns.
    time_limit_s : int
        How long a worker may take once it is accepted.
    lifetime_s : int
        How long it can be accepted.
    scope : str, default ""
        Whose questions these are: a worker meets an item and aspect once within a scope. A campaign fills in its own
        id, so that another campaign over the same items does not bar its workers.
    guideline : str, default ""
        How to judge, as plain text; a blank line begins a paragraph.
    suggest_share : float, default 0
        With which chance a worker sees the machine's suggestion about an item: drawn once for each worker and item,
        the same on every device. 0 shows none, 1 shows all.
    terms : Terms
        Which pool may take it, with which skills, and how it is paid; by default anybody, for ``pay_minor``.
    """

    key: str
    title: str
    description: str
    items: tuple[HitItem, ...]
    redundancy: int
    pay_minor: int
    currency: str
    time_limit_s: int = 3600
    lifetime_s: int = 7 * 24 * 3600
    scope: str = ""
    guideline: str = ""
    suggest_share: float = 0.0
    terms: Terms = ANYBODY


@dataclass(frozen=True)
class RemoteHit:
    """A HIT as the platform holds it."""

    hit_id: str
    key: str
    redundancy: int
    is_open: bool
    created_at: datetime


@dataclass(frozen=True)
class RemoteAnswer:
    """One answer inside a submission, with the times at which the item was shown and answered.

    ``swapped`` says of a pair whether its sides were shown the other way round; the label is that of the pair as given.
    ``mode`` is "suggest" where the worker saw the machine's ``suggestion``; that stands here in mode "blind" as well,
    as what would have been shown. ``place`` is set where all that is known is the number of the question in its HIT,
    from 1: a page that names items to its workers would tell them which are gold. Item and aspect are empty then;
    `named` fills them in.
    """

    item: str
    aspect: str
    label: str
    started_at: datetime | None = None
    submitted_at: datetime | None = None
    swapped: bool | None = None
    mode: str = "blind"
    suggestion: str = ""
    place: int | None = None


def named(answers: Iterable[RemoteAnswer], questions: Sequence[tuple[str, str]]) -> tuple[RemoteAnswer, ...]:
    """Return answers with the item and aspect of each; of two to one question the later one.

    Parameters
    ----------
    answers : iterable of RemoteAnswer
        Of one submission, as `TaskPages.answers` returns them.
    questions : sequence of (item, aspect)
        Of its HIT, in their order. An answer to a place that the HIT has not keeps its number, and no name.

    Examples
    --------
    >>> given = [RemoteAnswer("", "", "yes", place=2), RemoteAnswer("", "", "no", place=9)]
    >>> [(each.item, each.label) for each in named(given, [("a", "label"), ("b", "label")])]
    [('b', 'yes'), ('', 'no')]
    """
    found: dict[tuple[str, str, int | None], RemoteAnswer] = {}
    for each in answers:
        place = each.place
        if place is not None and 1 <= place <= len(questions):
            item, aspect = questions[place - 1]
            each = replace(each, item=item, aspect=aspect, place=None)
        found[each.item, each.aspect, each.place] = each
    return tuple(found.values())


@dataclass(frozen=True)
class RemoteSubmission:
    """One worker's work on one HIT, as the platform holds it.

    The three clocks stay apart: ``platform_elapsed_s`` is the platform's own (accept to submit), ``page_elapsed_s``
    runs from first render to submit, ``active_s`` counts only while the page is visible and used. A clock that the
    platform does not have is None.

    ``problem`` says why it could not be read, where it could not: such a row names what it can, its state is UNKNOWN,
    and a campaign sets it aside until it can be read.
    """

    submission_id: str
    hit_id: str
    worker: str
    state: SubmissionState
    accepted_at: datetime | None
    submitted_at: datetime | None
    platform_elapsed_s: float | None = None
    page_elapsed_s: float | None = None
    active_s: float | None = None
    time_quality: str = "ok"
    problem: str = ""


@dataclass(frozen=True)
class Account:
    """Whose money and which world: printed before anything is spent."""

    platform: str
    endpoint: str
    account: str
    mode: str
    balance: Money | None = None


@dataclass(frozen=True)
class Capabilities:
    """What a platform does by itself; the campaign asks instead of assuming.

    Parameters
    ----------
    rejection_frees_slot : bool
        A rejected submission's place is offered again without anybody asking: no replacement may be bought for it.
    idempotent_create : bool
        Publishing again under a key gives the HIT that exists.
    qualifications, bonuses : bool
        Whether it has them.
    bonus_is_repeatable : bool
        Sending a bonus again cannot pay it again (a request token protects it). Otherwise it is never sent twice.
    bonus_batch : int
        Most bonuses in one order.
    places_are_shared : bool
        People are recruited for many HITs at once; which HIT somebody gets is decided by the pages (`Recruiter`).
    repeats_are_barred : bool
        A worker never gets an item and aspect of one scope twice, also in another HIT.
    overrides_rejection : bool
        ``approve(submission_id, override=True)`` pays what was rejected before.
    in_house : bool
        Its workers are our own people: items for the house alone may go there.
    kinds : tuple of str
        Kinds of question that its pages can ask (`HitItem.kind`); a campaign with another kind is refused.
    suggests : bool
        Its pages can show the machine's suggestion, and say of each answer whether they did.
    """

    rejection_frees_slot: bool = False
    idempotent_create: bool = False
    qualifications: bool = False
    bonuses: bool = False
    bonus_is_repeatable: bool = False
    bonus_batch: int = 1
    places_are_shared: bool = False
    repeats_are_barred: bool = False
    overrides_rejection: bool = False
    in_house: bool = False
    kinds: tuple[str, ...] = ("nominal", "ordinal")
    suggests: bool = False


@dataclass(frozen=True)
class FeeSchedule:
    """What the platform takes on top of the reward.

    Parameters
    ----------
    rate : Decimal
        Share of the reward.
    rate_at_10 : Decimal
        Further share when a HIT asks for 10 workers or more.
    minimum_minor : int
        Least fee per submission.
    tax_rate : Decimal
        Share of the fee, where tax is due.

    Examples
    --------
    >>> mturk = FeeSchedule(rate=Decimal("0.20"), rate_at_10=Decimal("0.20"), minimum_minor=1)
    >>> mturk.fee_minor(5, redundancy=10), mturk.fee_minor(1, redundancy=1)
    (2, 1)
    """

    rate: Decimal = Decimal(0)
    rate_at_10: Decimal = Decimal(0)
    minimum_minor: int = 0
    tax_rate: Decimal = Decimal(0)

    def fee_minor(self, reward_minor: int, *, redundancy: int = 1) -> int:
        """Return fee and tax for one submission, in minor units, halves rounded up."""
        rate = self.rate + (self.rate_at_10 if redundancy >= 10 else Decimal(0))
        fee = max(self.minimum_minor, round_half_up(reward_minor * rate))
        return fee + round_half_up(fee * self.tax_rate)


class Platform(Protocol):
    """Recruits people, reviews and pays their work."""

    @property
    def name(self) -> str:
        """The entry point's name, stored with everything that came from here."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What this platform does by itself."""
        ...

    @property
    def fees(self) -> FeeSchedule:
        """What it takes on top of the reward."""
        ...

    def account(self) -> Account:
        """Say endpoint, account, mode and balance, before money moves."""
        ...

    def publish(self, hit: Hit, *, first_sent_at: datetime | None = None) -> RemoteHit:
        """Offer a HIT to workers. Asking again with the same key returns the HIT that exists where the platform can.

        ``first_sent_at`` is when this key was first sent, if it was: a request token may be too old to protect, and
        then the platform is searched before anything is sent.
        """
        ...

    def find(self, key: str) -> RemoteHit | None:
        """Return the HIT published under this key, or None: how an unknown outcome is settled."""
        ...

    def submissions(self, hit_ids: Iterable[str]) -> Iterator[RemoteSubmission]:
        """Yield every submission of these HITs, whatever its state, none twice."""
        ...

    def approve(self, submission_id: str) -> RemoteSubmission:
        """Approve submitted work and pay it; approving approved work changes nothing."""
        ...

    def reject(self, submission_id: str, reason: str) -> RemoteSubmission:
        """Refuse submitted work, with the reason the worker reads."""
        ...

    def expire(self, hit_id: str) -> RemoteHit:
        """Offer the HIT to nobody more; work under way may be finished."""
        ...


@runtime_checkable
class TaskPages(Protocol):
    """Shows HITs to workers and hands back what they answered."""

    def show(self, hits: Iterable[Hit]) -> Mapping[str, str]:
        """Make the pages of these HITs ready; return the address of each by its key. Repeating it changes nothing."""
        ...

    def answers(self, submission_ids: Iterable[str]) -> Mapping[str, tuple[RemoteAnswer, ...]]:
        """Return the answers of each submission whose work is handed in; `named` names what has a number only."""
        ...


@dataclass(frozen=True)
class RoutedWork:
    """What our pages know of somebody whom another platform recruited.

    Parameters
    ----------
    hit_key : str
        The HIT that he was given.
    submission_id : str
        The pages' own id of his work: `TaskPages.answers` takes it.
    is_submitted : bool
        Whether he handed the work in, in time or late.
    page_elapsed_s, active_s, time_quality
        The clocks of the pages.
    """

    hit_key: str
    submission_id: str
    is_submitted: bool
    page_elapsed_s: float | None = None
    active_s: float | None = None
    time_quality: str = "ok"


@runtime_checkable
class RoutedPages(TaskPages, Protocol):
    """Pages that hand out work to people who were recruited elsewhere, none of them an item twice."""

    def open_order(self, key: str, hits: Iterable[Hit]) -> None:
        """Say which HITs the people of an order may get. Repeated: nothing changes, and new HITs are added."""
        ...

    def arrivals(self, platform: str, submission_ids: Iterable[str]) -> Mapping[str, RoutedWork]:
        """Return what each submission of the recruiting platform works on; those that never arrived are absent."""
        ...

    def release(self, platform: str, submission_ids: Iterable[str]) -> int:
        """Free the places of work that ended on the recruiting platform; return how many there were."""
        ...


@runtime_checkable
class Rehearsal(Protocol):
    """A platform on which workers who do not exist can do the work, to see a campaign run before it costs anything."""

    def rehearse(self, crowd: Any, *, max_submissions: int | None = None) -> int:
        """Let a simulated crowd (`hmc_crowd.simulation.Crowd`) take the open places; return the submissions made."""
        ...


@dataclass(frozen=True)
class Recruitment:
    """People asked for together, for many HITs that our own pages show.

    Platforms that recruit for a study with many places (Prolific) limit the launching of many small ones. Which HIT a
    worker gets is decided by our pages when he arrives, so the platform knows places, not HITs.

    Parameters
    ----------
    key : str
        Natural key, as of a HIT.
    places : int
        Submissions wanted in all.
    pay_minor, currency : int, str
        What each of them earns.
    expected_s : float
        How long one takes, for the estimate that workers see and the least pay per hour.
    per_worker : int, default 1
        Most submissions of one worker: not more than there are different HITs.
    is_sensitive : bool, default False
        Whether an item is flagged as sensitive: then workers must be warned before.
    content_warning : str
        What they are warned of, where the description says it.
    filters : tuple of mapping
        Whom to let in, as the platform itself wrote it (`FiltersPeople.filters_for`); none: anybody.
    """

    key: str
    title: str
    description: str
    places: int
    pay_minor: int
    currency: str
    expected_s: float
    time_limit_s: int = 3600
    per_worker: int = 1
    is_sensitive: bool = False
    content_warning: str = ""
    filters: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def for_hits(
        cls,
        key: str,
        hits: Sequence[Hit],
        *,
        expected_s: float,
        is_sensitive: bool = False,
        content_warning: str = "",
        filters: Iterable[Mapping[str, Any]] = (),
        per_worker: int | None = None,
    ) -> Recruitment:
        """Ask for people for these HITs: a place for every submission wanted, each worker at most once per HIT.

        ``per_worker`` asks for fewer submissions of one worker than there are HITs.

        Raises
        ------
        InputError
            There is none, or their pay differs: recruit for each pay by itself.

        Examples
        --------
        >>> question = HitItem("i1", "label", "d1", 1, "Hello.", labels=("fine", "rude"))
        >>> hits = [Hit(key, "Judge", "", (question,), 3, pay_minor=200, currency="USD") for key in ("a", "b")]
        >>> order = Recruitment.for_hits("round-1", hits, expected_s=600)
        >>> order.places, order.per_worker
        (6, 2)
        """
        if not hits:
            raise InputError("hits is empty; give the HITs that people are needed for")
        pays = sorted({(hit.pay_minor, hit.currency) for hit in hits})
        if len(pays) > 1:
            raise InputError(f"the HITs pay {pays}; people recruited together are paid the same, so split by pay")
        return cls(
            key=key,
            title=hits[0].title,
            description=hits[0].description,
            places=sum(hit.redundancy for hit in hits),
            pay_minor=hits[0].pay_minor,
            currency=hits[0].currency,
            expected_s=expected_s,
            time_limit_s=max(hit.time_limit_s for hit in hits),
            per_worker=min(len(hits), per_worker or len(hits)),
            is_sensitive=is_sensitive,
            content_warning=content_warning,
            filters=tuple(filters),
        )


@runtime_checkable
class Recruiter(Protocol):
    """A platform that finds people for many HITs at once; `find`, `submissions`, `expire` then speak of the study."""

    def recruit(self, order: Recruitment) -> RemoteHit:
        """Ask for people once: repeating it with the same key returns what exists."""
        ...

    def set_places(self, hit_id: str, places: int, *, reopen: bool = False) -> RemoteHit:
        """Raise the places to an absolute number, computed from the campaign's own database."""
        ...


@runtime_checkable
class Examines(Protocol):
    """A platform that can say what stands in the way of working with it, changing nothing."""

    def examine(self, around: Surroundings, *, public_url: str | None = None) -> Iterable[Finding]:
        """Look at every condition; ``public_url`` is where people's browsers reach our server."""
        ...


class OrderQuote(Protocol):
    """What an order costs, as the platform itself says; fees hold taxes."""

    @property
    def per_worker(self) -> int:
        """Most submissions of one worker."""
        ...

    @property
    def rewards_minor(self) -> int:
        """All rewards."""
        ...

    @property
    def total_minor(self) -> int:
        """Rewards, fees and taxes."""
        ...


@runtime_checkable
class QuotesOrders(Protocol):
    """A platform that says itself what people would cost."""

    def quote(self, order: Recruitment) -> OrderQuote:
        """Say what an order would cost; changes nothing."""
        ...


@runtime_checkable
class ApprovesMany(Protocol):
    """A platform that approves in bulk."""

    def approve_many(self, submission_ids: Sequence[str], *, hit_ids: Iterable[str]) -> list[RemoteSubmission]:
        """Approve those that wait for a review, and return all of them as they stand, in the order asked for."""
        ...


@runtime_checkable
class ListsHits(Protocol):
    """A platform that can say what of ours it holds, all at once."""

    def find_all(self) -> Mapping[str, RemoteHit]:
        """Return every HIT of this account that was published under one of our keys, by key."""
        ...


@runtime_checkable
class SyncsQualifications(Protocol):
    """A platform that can be told who has passed a test, so that studies may ask for it."""

    def sync_qualification(self, name: str, description: str, scores: Mapping[str, int]) -> tuple[str, int]:
        """Make exactly these workers (raw ids) hold a qualification, with their scores from 0 to 100.

        Returns its id there, for the settings of a study, and how many workers were changed; again changes nobody.
        """
        ...


@runtime_checkable
class TopsUp(Protocol):
    """A platform on which a HIT may get more places."""

    def top_up(self, hit: Hit, hit_id: str, *, target: int) -> RemoteHit:
        """Bring a HIT to ``target`` places in all, and return the HIT that has the added ones: the same, or another.

        The target is absolute, so asking again changes nothing. Another HIT (under a key of its own) keeps out the
        workers of the first.
        """
        ...


@dataclass(frozen=True)
class BonusRow:
    """What one submission is to get on top, in minor units; ``worker`` is the platform's own id of the person."""

    submission_id: str
    worker: str
    amount_minor: int


@dataclass(frozen=True)
class BonusOrder:
    """Bonuses that are paid together: of one HIT, for one reason.

    Parameters
    ----------
    key : str
        Natural key of the payment.
    hit_id : str
        The platform's id of the HIT or study that the submissions belong to.
    reason_code, reason : str
        A submission is paid once for each code; the reason is what the worker may read.
    """

    key: str
    hit_id: str
    reason_code: str
    reason: str
    currency: str
    rows: tuple[BonusRow, ...]


@runtime_checkable
class PaysBonuses(Protocol):
    """A platform that pays bonuses, in two steps so that what a crash leaves can be told."""

    def prepare_bonus(self, order: BonusOrder) -> dict[str, Any]:
        """Return what `send_bonus` and `bonus_paid` need, as JSON; it is stored before money moves. Moves none."""
        ...

    def send_bonus(self, order: BonusOrder, prepared: Mapping[str, Any]) -> None:
        """Pay.

        Raises
        ------
        PlatformUnavailableError
            Only where surely nothing was paid.
        NeedsHumanError
            Nobody knows whether it was paid: `bonus_paid` decides.
        """
        ...

    def bonus_paid(self, order: BonusOrder, prepared: Mapping[str, Any]) -> frozenset[str]:
        """Return the submissions that show this payment."""
        ...


_GROUP = "hmc_crowd.platforms"


def platform_names() -> list[str]:
    """Return the names of the installed platforms, sorted."""
    return sorted({point.name for point in entry_points(group=_GROUP)})


def find_platform(name: str, address: str | None = None, **options: Any) -> Platform:
    """Connect to an installed platform by the name of its entry point.

    Parameters
    ----------
    name : str
        For example ``"local"``.
    address : str, optional
        Endpoint or database address; the adapter's default when absent.
    **options
        Passed to the adapter, for example ``clock=``.

    Raises
    ------
    InputError
        No installed package offers that platform.
    """
    for point in entry_points(group=_GROUP):
        if point.name == name:
            platform: Platform = point.load()(address, **options)
            return platform
    raise InputError(f"platform is {name!r}; installed are {', '.join(platform_names()) or 'none'}")
