"""Everything the stand-in knows, in memory: records, the clock, and what falls due as it moves."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd._base.ids import digest
from hmc_crowd._base.money import round_half_up
from hmc_crowd_prolific.standin._errors import Refusal

if TYPE_CHECKING:
    from hmc_crowd._base.clock import Clock
    from hmc_crowd_prolific.standin._schemas import NewStudy

__all__ = ["Bonus", "Group", "Hook", "Options", "StudyRecord", "SubmissionRecord", "World", "stamp"]

#: States that hold a place of the study (rule S8): the others have freed it.
HOLDING = frozenset({"RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED", "PARTIALLY APPROVED", "SCREENED OUT"})


@dataclass
class Options:
    """What a test may set; the numbers are Prolific's documented defaults.

    Parameters
    ----------
    balance_minor, currency : int, str
        The workspace's wallet.
    fee_rate, vat_rate : Decimal
        Share of the reward, and share of that fee.
    publishing_s : float
        How long a study stays PUBLISHING.
    bulk_s, pay_s : float
        How long a bulk approval, and a bonus payment, take to happen.
    reservation_s, auto_approval_s : float
        How long a place is held before the start, and a submission before it approves itself.
    republish_is_error : bool
        Whether PUBLISH of a study that is ACTIVE is refused.
    page_size : int
        Rows of a page where the client asks for none.
    wallet_hold_s : float
        Real seconds for which a call about money holds the wallet; another one in that time gets 429.
    """

    balance_minor: int = 10_000_000
    currency: str = "USD"
    fee_rate: Decimal = Decimal("0.428")
    vat_rate: Decimal = Decimal(0)
    publishing_s: float = 0.0
    bulk_s: float = 0.0
    pay_s: float = 60.0
    reservation_s: float = 600.0
    auto_approval_s: float = 21 * 86_400.0
    republish_is_error: bool = True
    page_size: int = 20
    wallet_hold_s: float = 0.0


@dataclass
class StudyRecord:
    """A study and what was locked for it."""

    id: str
    body: NewStudy
    created: datetime
    project: str
    status: str = "UNPUBLISHED"
    publish_at: datetime | None = None
    active_from: datetime | None = None
    locked_minor: int = 0
    stopped: bool = False


@dataclass
class SubmissionRecord:
    """One participant's work on a study."""

    id: str
    study: str
    participant: str
    status: str
    started: datetime
    completed: datetime | None = None
    code: str | None = None
    return_requested: datetime | None = None
    bonuses: list[int] = field(default_factory=list)
    paid_minor: int = 0
    decided_by: str = ""
    message: str | None = None


@dataclass
class Bonus:
    """A bonus set-up: (submission, minor) pairs, and when each payment of it falls due."""

    id: str
    study: str
    rows: list[tuple[str, int]]
    pays: list[datetime] = field(default_factory=list)
    times_paid: int = 0


@dataclass
class Group:
    """A participant group."""

    id: str
    name: str
    workspace: str
    members: dict[str, datetime] = field(default_factory=dict)


@dataclass
class Hook:
    """A webhook subscription."""

    id: str
    event_type: str
    target_url: str
    workspace: str
    hook_secret: str
    confirmed: bool = False
    enabled: bool = True
    failing_since: datetime | None = None


def stamp(moment: datetime | None) -> str | None:
    """Return a time as the API writes it."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


class World:
    """The stand-in's state; every public step of the rules runs under ``lock``.

    Parameters
    ----------
    clock : Clock, optional
        A `VirtualClock` at the start of 2026 by default: time passes only when it is told to.
    options : Options, optional
        Fees, delays and limits.
    """

    token = "stand-in-token"  # noqa: S105 because it opens a stand-in on this machine only

    def __init__(self, clock: Clock | None = None, options: Options | None = None) -> None:
        self.reset(clock, options)

    def reset(self, clock: Clock | None = None, options: Options | None = None) -> None:
        """Forget everything and begin anew, with another clock and other options."""
        self._count = 0
        self._of_study: dict[str, list[SubmissionRecord]] = {}
        self._tally: dict[str, Counter[str]] = {}
        self.clock: Clock = clock if clock is not None else VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.options = options if options is not None else Options()
        self.lock = threading.RLock()
        self.wallet_lock = threading.Lock()
        self.balance_minor = self.options.balance_minor
        self.spent_minor = 0
        self.workspace = self.new_id("workspace")
        self.projects: dict[str, str] = {self.new_id("project"): "Project"}
        self.studies: dict[str, StudyRecord] = {}
        self.submissions: dict[str, SubmissionRecord] = {}
        self.bonuses: dict[str, Bonus] = {}
        self.groups: dict[str, Group] = {}
        self.traits: dict[str, dict[str, Any]] = {}
        self.messages: list[dict[str, Any]] = []
        self.hooks: dict[str, Hook] = {}
        self.secret: str | None = None
        self.deliveries: list[Any] = []
        self.bulk: list[tuple[datetime, list[str]]] = []
        self.calls: list[dict[str, Any]] = []
        self.page_faults: list[str] = []
        self.status_fault: str | None = None

    def new_id(self, kind: str) -> str:
        """Return 24 hex digits, the same in every run."""
        self._count += 1
        return digest(kind, self._count)[:24]

    def now(self) -> datetime:
        """Return the present."""
        return self.clock.now()

    # Looking up.

    def study(self, study_id: str) -> StudyRecord:
        """Return a study, or refuse with 404."""
        found = self.studies.get(study_id)
        if found is None:
            raise Refusal(404, f"Study {study_id} was not found.", code=140_404, title="Not found")
        return found

    def submission(self, submission_id: str) -> SubmissionRecord:
        """Return a submission, or refuse with 404."""
        found = self.submissions.get(submission_id)
        if found is None:
            raise Refusal(404, f"Submission {submission_id} was not found.", code=140_404, title="Not found")
        return found

    def add(self, record: SubmissionRecord) -> None:
        """Take a new submission in."""
        self.submissions[record.id] = record
        self._of_study.setdefault(record.study, []).append(record)
        self._tally.setdefault(record.study, Counter())[record.status] += 1

    def set_status(self, record: SubmissionRecord, status: str) -> None:
        """Change a submission's status and keep the counts right."""
        tally = self._tally[record.study]
        tally[record.status] -= 1
        tally[status] += 1
        record.status = status

    def of_study(self, study_id: str) -> list[SubmissionRecord]:
        """Return a study's submissions, by start."""
        return self._of_study.get(study_id, [])

    def counts(self, study_id: str) -> Counter[str]:
        """Count a study's submissions by status."""
        return Counter({name: count for name, count in self._tally.get(study_id, Counter()).items() if count})

    def places_taken(self, study_id: str) -> int:
        """Return how many places are held (rule S8)."""
        return sum(count for status, count in self.counts(study_id).items() if status in HOLDING)

    # Money.

    def cost_minor(self, reward: int, places: int) -> tuple[int, int, int]:
        """Return reward, fee and VAT of so many places."""
        rewards = reward * places
        fee = round_half_up(rewards * self.options.fee_rate)
        return rewards, fee, round_half_up(fee * self.options.vat_rate)

    def charge(self, minor: int) -> None:
        """Take a reward or a bonus with its fees out of the wallet."""
        self.spent_minor += sum(self.cost_minor(minor, 1))

    @property
    def available_minor(self) -> int:
        """What is neither spent nor locked for a study that runs."""
        return self.balance_minor - self.spent_minor - sum(each.locked_minor for each in self.studies.values())

    def until(self, moment: datetime | None, seconds: float) -> bool:
        """Whether so many seconds have passed since a moment."""
        return moment is not None and self.now() >= moment + timedelta(seconds=seconds)
