"""What is said, granted and paid to people beyond the reward: bonuses, qualifications, messages, more places."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC
from typing import TYPE_CHECKING

from hmc_crowd._base.ids import natural_key
from hmc_crowd._base.money import parse_money
from hmc_crowd.errors import InputError, PlatformError, PlatformUnavailableError
from hmc_crowd_mturk._failures import RefusedError
from hmc_crowd_mturk._mapping import remote_hit, require_id
from hmc_crowd_mturk._money import currency_amount
from hmc_crowd_mturk._publishing import Publishing
from hmc_crowd_mturk._requirements import Requirement
from hmc_crowd_mturk._reviewing import Reviewing
from hmc_crowd_mturk._top_up import plan_top_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from hmc_crowd.platform import Hit, RemoteHit

__all__ = ["BonusPayment", "People"]

_WORKER = re.compile(r"A[A-Z0-9]{1,63}")
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,40}")
_AT_ONCE = 100
_WHY_NOT = "You are not asked for this work at present. What you handed in keeps its pay."


@dataclass(frozen=True)
class BonusPayment:
    """A bonus as the platform holds it."""

    submission_id: str
    worker: str
    amount_minor: int
    reason: str
    granted_at: datetime


class People(Publishing, Reviewing):
    """Bonuses, qualifications, messages and top-ups, over what publishing and reviewing can do."""

    # Bonuses.

    def bonuses(self, submission_id: str) -> list[BonusPayment]:
        """Return the bonuses paid for a submission, all pages."""
        rows = self._api.rows(
            "ListBonusPayments", "BonusPayments", AssignmentId=require_id(submission_id, "submission")
        )
        return [
            BonusPayment(
                row["AssignmentId"],
                row["WorkerId"],
                parse_money(row["BonusAmount"], currency=self._currency, name="BonusAmount").minor,
                row["Reason"],
                row["GrantTime"].astimezone(UTC),
            )
            for row in rows
        ]

    def pay_bonus(self, submission_id: str, *, worker: str, amount_minor: int, reason: str, code: str) -> BonusPayment:
        """Pay a bonus once: the platform is asked for it first, and again after an unknown outcome.

        Parameters
        ----------
        submission_id : str
            The assignment that it is for.
        worker : str
            Who is meant; another worker under this id is refused.
        amount_minor : int
            Cents, 1 or more.
        reason : str
            What the worker reads; the code is put behind it.
        code : str
            One payment per submission and code, for ever: ``"quality"``, ``"late"``.

        Raises
        ------
        PlatformUnavailableError
            No answer, and the payment is not seen; calling again is safe (it looks first, and the token is the same).
        NeedsHumanError
            The submission belongs to another worker.
        PlatformError
            A bonus with this code but another amount was paid, or the platform refused.
        """
        amount = currency_amount(amount_minor, name="amount_minor")
        if amount_minor < 1 or not _CODE.fullmatch(code) or not reason.strip():
            raise InputError(
                f"amount_minor is {amount_minor}, code is {code!r}; give 1 cent or more, a short code and a reason"
            )
        paid = self._paid(submission_id, code, amount_minor)
        if paid is not None:
            return paid
        self._require_worker(self._get(submission_id), worker)
        try:
            self._api.write(
                "SendBonus",
                is_repeatable=True,
                WorkerId=worker,
                AssignmentId=submission_id,
                BonusAmount=amount,
                Reason=f"{reason} [{code}]",
                UniqueRequestToken=natural_key("bonus", submission_id, code),
            )
        except (PlatformUnavailableError, RefusedError) as error:
            # The reply may be lost or the token used: what counts is what the platform holds.
            paid = self._paid(submission_id, code, amount_minor)
            if paid is None:
                raise error from None
            return paid
        paid = self._paid(submission_id, code, amount_minor)
        if paid is None:
            raise PlatformUnavailableError(
                f"the bonus of submission {submission_id} was taken but is not listed yet; calling again is safe"
            )
        return paid

    def _paid(self, submission_id: str, code: str, amount_minor: int) -> BonusPayment | None:
        found = [each for each in self.bonuses(submission_id) if each.reason.endswith(f"[{code}]")]
        for each in found:
            if each.amount_minor != amount_minor:
                raise PlatformError(
                    f"a bonus {code!r} of {each.amount_minor} cents was paid for submission {submission_id}; "
                    f"{amount_minor} were asked now: give another code if both are meant"
                )
        return found[0] if found else None

    # Qualifications.

    def ensure_qualification(self, name: str, description: str) -> str:
        """Return the id of a qualification type of this name, made now if there is none."""
        held = self._qualification(name)
        if held is not None:
            return held
        try:
            made = self._api.make(
                "CreateQualificationType",
                "QualificationType",  # names are unique, so a second call cannot make a second one
                Name=name,
                Description=description,
                QualificationTypeStatus="Active",
            )
        except RefusedError as refused:
            held = self._qualification(name) if refused.code == "qualificationtypealreadyexists" else None
            if held is None:
                raise
            return held
        type_id: str = made["QualificationTypeId"]
        return type_id

    def _qualification(self, name: str) -> str | None:
        rows = self._api.rows(
            "ListQualificationTypes",
            "QualificationTypes",
            Query=name,
            MustBeRequestable=False,
            MustBeOwnedByCaller=True,
        )
        return next((str(row["QualificationTypeId"]) for row in rows if row["Name"] == name), None)

    def sync_scores(self, qualification_type_id: str, scores: Mapping[str, int], *, withdraw: bool = False) -> int:
        """Make the platform's values of a qualification those given; of a score nobody gets a message.

        MTurk tells whoever loses a qualification, whether one wants it or not; so a kind reason goes along.

        Parameters
        ----------
        qualification_type_id : str
            As `ensure_qualification` returns it.
        scores : mapping of str to int
            Value by worker id.
        withdraw : bool, default False
            Take the qualification from workers who are not among them.

        Returns
        -------
        int
            How many workers were changed; what was right already makes no call.
        """
        for worker, value in scores.items():
            _check_worker(worker)
            if isinstance(value, bool) or not isinstance(value, int):
                raise InputError(f"a score is {value!r}; give whole numbers")
        type_id = require_id(qualification_type_id, "qualification type")
        rows = self._api.rows(
            "ListWorkersWithQualificationType", "Qualifications", QualificationTypeId=type_id, Status="Granted"
        )
        held = {row["WorkerId"]: row.get("IntegerValue") for row in rows}
        changed = 0
        for worker, value in scores.items():
            if held.get(worker) != value:
                self._api.write(
                    "AssociateQualificationWithWorker",
                    is_repeatable=True,
                    QualificationTypeId=type_id,
                    WorkerId=worker,
                    IntegerValue=value,
                    SendNotification=False,
                )
                changed += 1
        for worker in sorted(set(held) - set(scores)) if withdraw else ():
            self._api.write(
                "DisassociateQualificationFromWorker",
                is_repeatable=True,
                QualificationTypeId=type_id,
                WorkerId=worker,
                Reason=_WHY_NOT,
            )
            changed += 1
        return changed

    def sync_qualification(self, name: str, description: str, scores: Mapping[str, int]) -> tuple[str, int]:
        """Make exactly these workers hold the qualification type of this name; return its id and how many changed."""
        type_id = self.ensure_qualification(name, description)
        return type_id, self.sync_scores(type_id, scores, withdraw=True)

    # Messages.

    def notify(self, workers: Iterable[str], *, subject: str, text: str) -> dict[str, str]:
        """Write to workers who worked for this account; return why by worker where it failed.

        Raises
        ------
        NeedsHumanError
            No answer: some may have the message. It is not sent again by itself.
        """
        wanted = list(dict.fromkeys(workers))
        for each in wanted:
            _check_worker(each)
        if not 1 <= len(subject) <= 200 or not 1 <= len(text) <= 4_096:  # the API's limits
            raise InputError(f"subject has {len(subject)} characters, text {len(text)}; at most 200 and 4,096")
        failed: dict[str, str] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            answer = self._api.write(
                "NotifyWorkers",
                is_repeatable=False,
                Subject=subject,
                MessageText=text,
                WorkerIds=wanted[start : start + _AT_ONCE],
            )
            for row in answer.get("NotifyWorkersFailureStatuses", []):
                failed[row["WorkerId"]] = row.get("NotifyWorkersFailureCode", "unknown")
        return failed

    # More places.

    def top_up(self, hit: Hit, hit_id: str, *, target: int) -> RemoteHit:
        """Bring a HIT to ``target`` places in all; where the rule of ten forbids it, offer the rest as a new HIT.

        Asking again changes nothing: the target is absolute, and the request tokens follow from it.

        Parameters
        ----------
        hit : Hit
            As it was published.
        hit_id : str
            The HIT that it became.
        target : int
            Places in all, with those that the HIT has.

        Returns
        -------
        RemoteHit
            The HIT that has the added places: the same, or a new one that excludes the workers of the first.
        """
        row = self._api.read("GetHIT", "HIT", HITId=require_id(hit_id, "HIT"))
        missing = target - row["MaxAssignments"]
        if missing <= 0:
            return remote_hit(row)
        plan = plan_top_up(row["MaxAssignments"], missing)
        if plan.needs_exclusion:
            return self._offer_rest(hit, hit_id, plan.new_hit_places)
        try:
            self._api.write(
                "CreateAdditionalAssignmentsForHIT",
                is_repeatable=True,
                HITId=hit_id,
                NumberOfAdditionalAssignments=plan.extend_by,
                UniqueRequestToken=natural_key("extend", hit_id, target),
            )
        except RefusedError:
            again = self._api.read("GetHIT", "HIT", HITId=hit_id)
            if again["MaxAssignments"] < target:
                raise
        return remote_hit(self._api.read("GetHIT", "HIT", HITId=hit_id))

    def _offer_rest(self, hit: Hit, hit_id: str, places: int) -> RemoteHit:
        """Close the first HIT, mark its workers, and offer the rest to everybody else."""
        type_id = self.ensure_qualification(f"hmc had {hit_id}", "Had a HIT whose rest is offered separately.")
        rows = self._api.rows("ListAssignmentsForHIT", "Assignments", HITId=hit_id)
        self.sync_scores(type_id, {row["WorkerId"]: 1 for row in rows})
        rest = replace(hit, key=f"{hit.key}+{places}", redundancy=places)
        # A token protects for a day only, and asking again may come later than that.
        held = self._find_row(rest.key)
        if held is not None:
            return remote_hit(held)
        return self._create(rest, self._question(rest), [*self._asked_of(hit), Requirement(type_id, "DoesNotExist")])


def _check_worker(worker: str) -> None:
    if not _WORKER.fullmatch(worker):
        raise InputError("a worker id is not of the platform's form: an A, then capital letters and digits")
