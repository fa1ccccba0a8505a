"""A platform in memory: does a campaign survive what the outside world does to it?

The rules are those of the workplace (`hmc_crowd_local.Desk`); nothing is stored. A call can be made to fail before
its effect (nothing happened, say a refused connection) or after it (it happened, but the reply was lost): the second
is what makes campaigns publish or pay twice.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from hmc_crowd_local import Action, Desk, Door, rehearse_desk

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.errors import InputError, PlatformUnavailableError
from hmc_crowd.platform import Account, Capabilities, FeeSchedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from hmc_crowd._base.clock import Clock
    from hmc_crowd.platform import Hit, RemoteAnswer, RemoteHit, RemoteSubmission
    from hmc_crowd.simulation import Crowd

__all__ = ["Call", "FakePlatform"]

T = TypeVar("T")

_METHODS = ("account", "publish", "find", "submissions", "approve", "reject", "expire", "show", "answers")


class Call(NamedTuple):
    """One call of a method of the port, with its arguments in order."""

    method: str
    arguments: tuple[Any, ...]


class FakePlatform(Door):
    """A `hmc_crowd.platform.Platform` and `TaskPages` in memory.

    Parameters
    ----------
    clock : Clock, optional
        By default a `VirtualClock` that stands at the start of 2026; read it as ``platform.clock``.
    capabilities : Capabilities, optional
        What it does by itself: idempotent creation by default. Without that, publishing twice makes two HITs.
    fees : FeeSchedule, optional
        None by default.
    name : str, default "fake"
        As an entry point's name would be.
    functions : mapping of str to callable, optional
        A function in place of a method of the port, called with the method's arguments.

    Attributes
    ----------
    calls : list of Call
        Every call of the port, those that failed too. Workers' steps are not among them.

    Examples
    --------
    >>> from hmc_crowd.platform import Hit, HitItem
    >>> question = HitItem("i1", "label", "d1", 1, "Hello.", labels=("fine", "rude"))
    >>> hit = Hit("key", "Judge", "", (question,), redundancy=1, pay_minor=5, currency="USD")
    >>> platform = FakePlatform()
    >>> platform.fail("publish", when="after")
    >>> platform.publish(hit)
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.PlatformUnavailableError: publish failed after its effect, as the test asked (call 1)
    >>> platform.find("key").is_open, [call.method for call in platform.calls]
    (True, ['publish', 'find'])
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        capabilities: Capabilities | None = None,
        fees: FeeSchedule | None = None,
        name: str = "fake",
        functions: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.clock: Clock = clock if clock is not None else VirtualClock(datetime(2026, 1, 1, tzinfo=UTC))
        self.capabilities = capabilities if capabilities is not None else Capabilities(idempotent_create=True)
        self.fees = fees if fees is not None else FeeSchedule()
        self.name = name
        self.calls: list[Call] = []
        self._functions = dict(functions or {})
        for method in self._functions:
            _require_method(method)
        self._faults: dict[tuple[str, int], tuple[str, Exception | None]] = {}
        self._counts = dict.fromkeys(_METHODS, 0)
        self._desk = Desk(_Counter())
        self._busy_until: dict[str, datetime] = {}

    def fail(
        self,
        method: str,
        *,
        at: int = 1,
        when: Literal["before", "after"] = "before",
        error: Exception | None = None,
    ) -> None:
        """Make a later call of a method fail.

        Parameters
        ----------
        method : str
            Of the port: account, publish, find, submissions, approve, reject, expire, show or answers.
        at : int, default 1
            Which call from now on: 1 is the next one.
        when : {"before", "after"}, default "before"
            Nothing happens, or it happens and the reply is lost.
        error : Exception, optional
            What is raised; a `PlatformUnavailableError` by default.
        """
        _require_method(method)
        if at < 1 or when not in {"before", "after"}:
            raise InputError(f"at is {at}, when is {when!r}; use a count from 1 and 'before' or 'after'")
        self._faults[method, self._counts[method] + at] = (when, error)

    # The port.

    def account(self) -> Account:
        """Say that this is no real platform."""
        return self._call("account", lambda: Account(self.name, "memory", "test", "fake"))

    def publish(self, hit: Hit, *, first_sent_at: datetime | None = None) -> RemoteHit:  # noqa: ARG002 because of the port
        """Offer a HIT to nobody in particular."""

        def own() -> RemoteHit:
            if not self.capabilities.idempotent_create:
                self._desk.by_key.pop(hit.key, None)
            record = self._desk.publish(hit, at=self.clock.now())
            return self._desk.remote_hit(record.hit_id, at=self.clock.now())

        return self._call("publish", own, hit)

    def find(self, key: str) -> RemoteHit | None:
        """Return the HIT last published under this key, or None."""

        def own() -> RemoteHit | None:
            held = self._desk.by_key.get(key)
            if held is None:
                return None
            self._desk.sweep(held, at=self.clock.now())
            return self._desk.remote_hit(held, at=self.clock.now())

        return self._call("find", own, key)

    def submissions(self, hit_ids: Iterable[str]) -> Iterator[RemoteSubmission]:
        """Yield every submission of these HITs, none twice."""
        wanted = tuple(dict.fromkeys(hit_ids))

        def own() -> list[RemoteSubmission]:
            for hit_id in wanted:
                self._desk.hit(hit_id)
                self._desk.sweep(hit_id, at=self.clock.now())
            names = [name for hit_id in wanted for name in self._desk.of_hit[hit_id].values()]
            return [self._desk.submissions[name].remote() for name in names]

        return iter(self._call("submissions", own, wanted))

    def approve(self, submission_id: str) -> RemoteSubmission:
        """Approve submitted work."""

        def own() -> RemoteSubmission:
            return self._desk.review(submission_id, Action.APPROVE, at=self.clock.now()).remote()

        return self._call("approve", own, submission_id)

    def reject(self, submission_id: str, reason: str) -> RemoteSubmission:
        """Refuse submitted work; the place becomes free where the capabilities say so."""

        def own() -> RemoteSubmission:
            if not reason.strip():
                raise InputError("reason is empty; the worker reads it, so say what was wrong")
            record = self._desk.review(submission_id, Action.REJECT, at=self.clock.now(), reason=reason)
            if self.capabilities.rejection_frees_slot:
                record.place = None
            return record.remote()

        return self._call("reject", own, submission_id, reason)

    def expire(self, hit_id: str) -> RemoteHit:
        """Offer the HIT to nobody more."""

        def own() -> RemoteHit:
            self._desk.close(hit_id, at=self.clock.now())
            return self._desk.remote_hit(hit_id, at=self.clock.now())

        return self._call("expire", own, hit_id)

    def show(self, hits: Iterable[Hit]) -> Mapping[str, str]:
        """Return a made-up address for each key."""
        wanted = tuple(hits)
        return self._call("show", lambda: {hit.key: f"memory:{hit.key}" for hit in wanted}, wanted)

    def answers(self, submission_ids: Iterable[str]) -> Mapping[str, tuple[RemoteAnswer, ...]]:
        """Return the answers of each submission that is handed in."""
        wanted = tuple(dict.fromkeys(submission_ids))

        def own() -> dict[str, tuple[RemoteAnswer, ...]]:
            handed_in = [name for name in wanted if self._desk.submission(name).state.has_work]
            return {name: tuple(each.remote() for each in self._desk.answers[name].values()) for name in handed_in}

        return self._call("answers", own, wanted)

    # Workers.

    def rehearse(self, crowd: Crowd, *, max_submissions: int | None = None) -> int:
        """Let a simulated crowd take open places; return how many submissions were handed in."""
        return rehearse_desk(
            self._desk,
            crowd,
            list(self._desk.hits),
            start=self.clock.now(),
            busy_until=self._busy_until,
            max_submissions=max_submissions,
        )

    def hit_ids(self, key: str) -> list[str]:
        """Return all HITs published under a key, oldest first: more than one means that something went wrong."""
        return [record.hit_id for record in self._desk.hits.values() if record.hit.key == key]

    def _at_hit(
        self,
        hit_id: str,
        step: Callable[[Desk, datetime], T],
        *,
        worker: str | None = None,  # noqa: ARG002 because a desk in memory has everything loaded
        work: str | None = None,  # noqa: ARG002
        guard: Callable[..., None] | None = None,  # noqa: ARG002 because it would look into a database: none is here
    ) -> T:
        self._desk.hit(hit_id)
        self._desk.sweep(hit_id, at=self.clock.now())
        return step(self._desk, self.clock.now())

    def _change(self, submission_id: str, step: Callable[[Desk, datetime], T], *, work: bool = False) -> T:  # noqa: ARG002
        return self._at_hit(self._desk.submission(submission_id).hit_id, step)

    def _call(self, method: str, own: Callable[[], T], *arguments: Any) -> T:
        self.calls.append(Call(method, arguments))
        self._counts[method] += 1
        count = self._counts[method]
        when, error = self._faults.pop((method, count), ("", None))
        if when:
            error = error or PlatformUnavailableError(
                f"{method} failed {when} its effect, as the test asked (call {count})"
            )
        if when == "before" and error is not None:
            raise error
        result: T = self._functions[method](*arguments) if method in self._functions else own()
        if when == "after" and error is not None:
            raise error
        return result


class _Counter:
    """Ids that count: the same in every run."""

    def __init__(self) -> None:
        self._last = 0

    def new(self) -> str:
        self._last += 1
        return f"fake-{self._last:06d}"


def _require_method(method: str) -> None:
    if method not in _METHODS:
        raise InputError(f"method is {method!r}; the port has {', '.join(_METHODS)}")
