"""Does an adapter keep the contract of the port? Named checks, each on a platform of its own.

The suite holds what a campaign relies on: a key names one HIT, no place and no worker is counted twice, answers
appear only when work is handed in, reviewing twice changes nothing, and what is unknown is refused. Where the
contract leaves a choice, the platform's capabilities say which way it goes, and the check holds it to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from hmc_crowd.errors import PlatformError
from hmc_crowd.platform import TaskPages
from hmc_crowd.testing._checks import CHECKS, Bench, Broken

if TYPE_CHECKING:
    from collections.abc import Callable

    from hmc_crowd.platform import Hit, Platform, RemoteHit

__all__ = ["ConformanceReport", "Drive", "drive_by_door", "platform_conformance"]

#: ``drive(platform, remote, hit, worker, until)``: a worker accepts, submits or returns; gives the submission's id.
Drive: TypeAlias = "Callable[[Any, RemoteHit, Hit, str, Literal['accept', 'submit', 'return']], str]"


@dataclass(frozen=True)
class ConformanceReport:
    """What a platform keeps of the contract.

    Parameters
    ----------
    platform : str
        Its name.
    passed, skipped : tuple of str
        Names of the checks that held, and of those that do not apply.
    failed : tuple of (str, str)
        Name and reason of the others.
    """

    platform: str
    passed: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    skipped: tuple[str, ...] = ()

    @property
    def is_conformant(self) -> bool:
        """Whether nothing failed."""
        return not self.failed

    def check(self) -> None:
        """Raise if anything failed.

        Raises
        ------
        PlatformError
            Names every check that failed, with its reason.
        """
        if self.failed:
            reasons = "; ".join(f"{name.replace('_', ' ')}: {reason}" for name, reason in self.failed)
            raise PlatformError(
                f"platform {self.platform!r} breaks the contract in {len(self.failed)} checks: {reasons}"
            )

    def __str__(self) -> str:
        line = f"platform {self.platform}: {len(self.passed)} checks passed, {len(self.failed)} failed"
        line += f", {len(self.skipped)} do not apply" if self.skipped else ""
        return "\n".join([line, *(f"  {name}: {reason}" for name, reason in self.failed)])


def platform_conformance(make: Callable[[], Platform], drive: Drive) -> ConformanceReport:
    """Run every check of the contract against an adapter.

    Parameters
    ----------
    make : callable
        Returns an empty platform; called once per check. A ``close`` method is called afterwards where there is one.
    drive : callable
        ``drive(platform, remote, hit, worker, until)`` makes a worker take the HIT and go on until he has accepted,
        submitted or returned it; it answers every question with one of its labels, returns the id of the submission,
        and lets the platform's refusal through as `PlatformError`. The same worker's "submit" after "accept" goes on
        with the same submission. `drive_by_door` does it for a platform with a worker's door like the workplace's.

    Returns
    -------
    ConformanceReport
        Call its ``check`` to raise when anything failed.

    Examples
    --------
    >>> from hmc_crowd.testing import FakePlatform
    >>> report = platform_conformance(FakePlatform, drive_by_door)
    >>> report.check()
    >>> report.is_conformant, report.failed
    (True, ())
    """
    passed, failed, skipped = [], [], []
    name = "?"
    for check in CHECKS:
        platform = make()
        name = platform.name
        try:
            if check.needs_pages and not isinstance(platform, TaskPages):
                skipped.append(check.name)
                continue
            check.run(Bench(platform, drive))
            passed.append(check.name)
        except Broken as broken:
            failed.append((check.name, str(broken)))
        except Exception as error:  # noqa: BLE001 because an adapter under test may raise anything, and all of it is a finding
            failed.append((check.name, f"{type(error).__name__}: {error}"))
        finally:
            getattr(platform, "close", lambda: None)()
    return ConformanceReport(name, tuple(passed), tuple(failed), tuple(skipped))


def drive_by_door(
    platform: Any, remote: RemoteHit, hit: Hit, worker: str, until: Literal["accept", "submit", "return"]
) -> str:
    """Do a HIT through ``accept``, ``save_answer``, ``submit`` and ``return_``; every answer is the first label."""
    submission_id: str = platform.accept(remote.hit_id, worker).submission_id
    if until == "return":
        platform.return_(submission_id, worker)
    elif until == "submit":
        for each in hit.items:
            platform.save_answer(
                submission_id, worker, item=each.item, aspect=each.aspect, label=(*each.labels, "text")[0]
            )
        platform.submit(submission_id, worker)
    return submission_id
