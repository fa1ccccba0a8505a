"""HITs on the platform: offered once per key, found again by their annotation, closed, deleted.

The request token makes a repeated create harmless for 24 hours; after that the annotation is what tells whether a HIT
exists, and all HITs are looked through before anything is sent.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from hmc_crowd._base.clock import as_utc
from hmc_crowd._base.ids import natural_key
from hmc_crowd.errors import NeedsHumanError, PlatformError
from hmc_crowd_mturk._failures import RefusedError
from hmc_crowd_mturk._mapping import annotation_of, check_hit, handed_in, key_of, remote_hit, require_id
from hmc_crowd_mturk._money import currency_amount
from hmc_crowd_mturk._questions import external_question, html_question, page_of
from hmc_crowd_mturk._requirements import Requirement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hmc_crowd._base.clock import Clock
    from hmc_crowd.platform import Hit, RemoteHit
    from hmc_crowd_mturk._api import Api

__all__ = ["Publishing"]

_TOKEN_LIFE = timedelta(hours=23)  # the platform's 24, less what clocks and queues take
_PAST = datetime(2010, 1, 1, tzinfo=UTC)
_HIT_ID = re.compile(r"\b[A-Z0-9]{20,64}\b")


class Publishing:
    """Publishing, finding, expiring and deleting HITs over an `Api`."""

    _api: Api
    _clock: Clock
    _currency: str
    _site: str
    _external_url: str | None
    _requirements: tuple[Requirement, ...]
    _keywords: str
    _auto_approval_s: int
    _types: dict[str, str]

    def publish(self, hit: Hit, *, first_sent_at: datetime | None = None) -> RemoteHit:
        """Offer a HIT; asking again with the same key and content returns the HIT that exists.

        Parameters
        ----------
        hit : Hit
            What to offer; pay in whole cents.
        first_sent_at : datetime, optional
            When this key was first sent, if it was. More than 23 hours ago the request token protects no longer: all
            HITs are looked through first, and one with the key is adopted.

        Raises
        ------
        InputError
            Something that the API would refuse; nothing was sent.
        PlatformError
            The key is that of a HIT with other content, or the platform refused.
        PlatformUnavailableError
            No answer; sending it again is safe (with ``first_sent_at``).
        """
        check_hit(hit, currency=self._currency)
        question = self._question(hit)
        if first_sent_at is not None and self._now() - as_utc(first_sent_at, name="first_sent_at") > _TOKEN_LIFE:
            held = self._find_row(hit.key)
            if held is not None:
                return _same(hit, held)
        return self._create(hit, question, self._asked_of(hit))

    def _asked_of(self, hit: Hit) -> tuple[Requirement, ...]:
        """Return what a worker must hold for this HIT: what all HITs here ask for, and what this one does."""
        return (*self._requirements, *(Requirement(each, "Exists") for each in hit.terms.holds))

    def _create(self, hit: Hit, question: str, requirements: Sequence[Requirement]) -> RemoteHit:
        type_id = self._hit_type(hit, requirements)
        try:
            made = self._api.make(
                "CreateHITWithHITType",
                "HIT",
                HITTypeId=type_id,
                MaxAssignments=hit.redundancy,
                LifetimeInSeconds=hit.lifetime_s,
                Question=question,
                RequesterAnnotation=annotation_of(hit),
                UniqueRequestToken=natural_key("create", hit.key),
            )
        except RefusedError as refused:
            if refused.code != "hitalreadyexists":
                raise
            return _same(hit, self._named_in(refused, hit.key))
        return remote_hit(made)

    def _named_in(self, refused: RefusedError, key: str) -> dict[str, Any]:
        """Return the HIT whose id the refusal of a used token names."""
        for hit_id in _HIT_ID.findall(str(refused)):
            try:
                row: dict[str, Any] = self._api.read("GetHIT", "HIT", HITId=hit_id)
            except RefusedError:
                continue
            if key_of(row.get("RequesterAnnotation")) == key:
                return row
        held = self._find_row(key)
        if held is None:
            raise NeedsHumanError(f"the token of key {key!r} is used, but no HIT with that key is found; look for it")
        return held

    def _hit_type(self, hit: Hit, requirements: Sequence[Requirement]) -> str:
        values: dict[str, Any] = {
            "Title": hit.title,
            "Description": hit.description,
            "Reward": currency_amount(hit.pay_minor),
            "AssignmentDurationInSeconds": hit.time_limit_s,
            "AutoApprovalDelayInSeconds": self._auto_approval_s,
        }
        if self._keywords:
            values["Keywords"] = self._keywords
        if requirements:
            values["QualificationRequirements"] = [each.to_api() for each in requirements]
        name = repr(values)
        if name not in self._types:
            self._types[name] = self._api.make("CreateHITType", "HITTypeId", **values)
        return self._types[name]

    def _question(self, hit: Hit) -> str:
        if self._external_url is None:
            return html_question(page_of(hit, submit_to=f"{self._site}/mturk/externalSubmit"))
        mark = "&" if "?" in self._external_url else "?"
        return external_question(f"{self._external_url}{mark}{urlencode({'hit': hit.key})}")

    def find(self, key: str) -> RemoteHit | None:
        """Return the HIT published under this key, or None: looks through all HITs by their annotation.

        Raises
        ------
        NeedsHumanError
            There are two: something published twice.
        """
        row = self._find_row(key)
        return None if row is None else remote_hit(row)

    def find_all(self) -> dict[str, RemoteHit]:
        """Return every HIT of ours by its key, from one look through all HITs."""
        found: dict[str, RemoteHit] = {}
        for row in self._api.rows("ListHITs", "HITs"):
            key = key_of(row.get("RequesterAnnotation"))
            if key is None:
                continue
            remote = remote_hit(row)
            if key in found and found[key].hit_id != remote.hit_id:
                raise _twice(key, [found[key].hit_id, remote.hit_id])
            found[key] = remote
        return found

    def _find_row(self, key: str) -> dict[str, Any] | None:
        rows = {
            row["HITId"]: row
            for row in self._api.rows("ListHITs", "HITs")
            if key_of(row.get("RequesterAnnotation")) == key
        }
        if len(rows) > 1:
            raise _twice(key, sorted(rows))
        return next(iter(rows.values()), None)

    def show(self, hits: Iterable[Hit]) -> Mapping[str, str]:
        """Return where workers find each HIT: their list, since a page that travels inside a HIT has no other address.

        Nothing is made, nothing is paid.
        """
        return {hit.key: f"{self._site}/mturk/hits" for hit in hits}

    def expire(self, hit_id: str, *, at: datetime | None = None) -> RemoteHit:
        """Offer the HIT to nobody more, now or from an aware moment on; work under way may be finished."""
        moment = _PAST if at is None else as_utc(at, name="at")
        parameters = {"HITId": require_id(hit_id, "HIT"), "ExpireAt": moment}
        self._api.write("UpdateExpirationForHIT", is_repeatable=True, **parameters)
        return remote_hit(self._api.read("GetHIT", "HIT", HITId=hit_id))

    def delete(self, hit_id: str) -> bool:
        """Delete a HIT whose work is all reviewed; one with unreviewed or unfinished work is only expired.

        Returns
        -------
        bool
            Whether it was deleted; False: expired only, so that nothing that somebody worked for is lost.
        """
        hit = self._api.read("GetHIT", "HIT", HITId=require_id(hit_id, "HIT"))
        if hit["HITStatus"] == "Disposed":
            return True
        rows = self._api.rows("ListAssignmentsForHIT", "Assignments", HITId=hit_id, AssignmentStatuses=["Submitted"])
        unreviewed = handed_in(hit) - hit.get("NumberOfAssignmentsCompleted", 0)
        if hit.get("NumberOfAssignmentsPending", 0) or unreviewed > 0 or next(iter(rows), None) is not None:
            self.expire(hit_id)
            return False
        if hit["HITStatus"] not in {"Reviewable", "Reviewing"}:
            self.expire(hit_id)
        try:
            self._api.write("DeleteHIT", is_repeatable=True, HITId=hit_id)
        except RefusedError as refused:
            if refused.code != "invalidhitstate":
                raise
            return False  # somebody was quicker and took it, or deleted it
        return True

    def _now(self) -> datetime:
        return as_utc(self._clock.now(), name="clock")


def _same(hit: Hit, row: dict[str, Any]) -> RemoteHit:
    """Return the HIT that exists under a key, or refuse when it is about something else."""
    if row.get("RequesterAnnotation") != annotation_of(hit):
        raise PlatformError(
            f"key {hit.key!r} is that of HIT {row['HITId']} with other content; give the bundle a new key"
        )
    return remote_hit(row)


def _twice(key: str, hit_ids: Sequence[str]) -> NeedsHumanError:
    return NeedsHumanError(f"key {key!r} was published as the HITs {', '.join(hit_ids)}; expire all but one")
