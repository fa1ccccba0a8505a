"""Which HIT does a submission belong to? Said by the platform, or, for people recruited together, by our own pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hmc_crowd.platform import RoutedPages, SubmissionState, named
from hmc_crowd.store import SubmissionRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hmc_crowd.platform import RemoteAnswer, RemoteSubmission, RoutedWork, TaskPages
    from hmc_crowd.store import HitRecord

__all__ = ["Matched", "matched"]


@dataclass(frozen=True)
class Matched:
    """A submission, the HIT it is about, and what the pages know of it."""

    remote: RemoteSubmission
    hit: HitRecord
    work: RoutedWork | None

    @property
    def is_late(self) -> bool:
        """Whether the work was handed in, but not in time: nobody pays it unless a person says so."""
        if self.remote.state is not SubmissionState.EXPIRED:
            return False
        return self.work.is_submitted if self.work is not None else self.remote.submitted_at is not None

    def is_over(self, *, rejection_frees: bool) -> bool:
        """Say whether a recruited person's place is free again."""
        over = {SubmissionState.RETURNED, SubmissionState.EXPIRED}
        if rejection_frees:
            over.add(SubmissionState.REJECTED)
        return self.work is not None and self.remote.state in over

    def record(self, platform: str, worker: str) -> SubmissionRecord:
        """Return what is stored: the platform's clock from the platform, the pages' clocks from the pages."""
        clocks = self.work if self.work is not None else self.remote
        return SubmissionRecord(
            submission_id=self.remote.submission_id,
            platform=platform,
            hit_key=self.hit.key,
            worker=worker,
            state=self.remote.state.value,
            accepted_at=self.remote.accepted_at,
            submitted_at=self.remote.submitted_at,
            platform_elapsed_s=self.remote.platform_elapsed_s,
            page_elapsed_s=clocks.page_elapsed_s,
            active_s=clocks.active_s,
            time_quality=clocks.time_quality,
        )

    def answers(self, found: Mapping[str, tuple[RemoteAnswer, ...]]) -> tuple[RemoteAnswer, ...]:
        """Return this submission's answers out of what the pages gave."""
        return named(found.get(self.answers_id, ()), [(each.item, each.aspect) for each in self.hit.items])

    @property
    def answers_id(self) -> str:
        """The id under which the pages keep the answers."""
        return self.work.submission_id if self.work is not None else self.remote.submission_id


def matched(
    page: Sequence[RemoteSubmission],
    by_remote_id: Mapping[str, Sequence[HitRecord]],
    *,
    platform: str,
    pages: TaskPages,
) -> tuple[list[Matched], list[RemoteSubmission]]:
    """Return the submissions with their HITs, and those that belong to none.

    Parameters
    ----------
    by_remote_id : mapping of str to sequence of HitRecord
        The HITs under each of the platform's ids; several where people were recruited for all of them.
    """
    shared = [each.submission_id for each in page if _is_shared(by_remote_id.get(each.hit_id, ()))]
    arrived = pages.arrivals(platform, shared) if shared and isinstance(pages, RoutedPages) else {}
    found: list[Matched] = []
    others: list[RemoteSubmission] = []
    for each in page:
        hits = by_remote_id.get(each.hit_id, ())
        work = arrived.get(each.submission_id)
        hit = _of_key(hits, work.hit_key if work else "") if _is_shared(hits) else next(iter(hits), None)
        if hit is None:
            others.append(each)
        else:
            found.append(Matched(each, hit, work))
    return found, others


def _is_shared(hits: Sequence[HitRecord]) -> bool:
    return bool(hits) and hits[0].order_key is not None


def _of_key(hits: Iterable[HitRecord], key: str) -> HitRecord | None:
    return next((hit for hit in hits if hit.key == key), None)
