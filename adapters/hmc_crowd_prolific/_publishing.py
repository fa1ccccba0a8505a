"""Publishing a study once: look for the key, make a draft, check the money, read, publish.

A repetition after any crash finds what the attempt before it left: nothing, a draft, or a study that recruits. Drafts
cost nothing, so one too many (two processes, or a lost answer that arrived late) is deleted; of several drafts every
process takes the oldest. Two studies that recruit under one key are for a person.
"""

from __future__ import annotations

import html
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hmc_crowd._base.money import Money
from hmc_crowd.errors import BudgetError, InputError, NeedsHumanError, PlatformError, PlatformUnavailableError
from hmc_crowd_prolific._drafts import CompletionCode, StudyDraft
from hmc_crowd_prolific._keys import completion_code, internal_name, key_of, metadata_of, read_metadata
from hmc_crowd_prolific._settings import router_url
from hmc_crowd_prolific._statuses import StudyStatus
from hmc_crowd_prolific._units import check_hourly_pay, minutes_of

if TYPE_CHECKING:
    from hmc_crowd.platform import Recruitment
    from hmc_crowd_prolific._client import ProlificClient
    from hmc_crowd_prolific._models import Balance, Study
    from hmc_crowd_prolific._settings import StudySettings

__all__ = ["draft_for", "publish_once", "studies_under"]

_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)


def draft_for(order: Recruitment, settings: StudySettings, content: str) -> StudyDraft:
    """Return the study that an order asks for.

    Raises
    ------
    InputError
        Something is missing or forbidden: the settings' project or address, the least pay per hour, a content warning
        for sensitive items.
    """
    if settings.project is None or settings.study_url is None:
        missing = "project" if settings.project is None else "study_url"
        raise InputError(f"publishing on Prolific needs {missing}; set HMC_CROWD_PROLIFIC_{missing.upper()} or pass it")
    warnings = settings.content_warnings or (("sensitive",) if order.content_warning else ())
    if order.is_sensitive and not warnings:
        raise InputError(
            f"{order.key!r} holds items flagged as sensitive; set content_warnings to ('sensitive',) or ('explicit',), "
            "or publish with content_warning=, so that participants are warned before"
        )
    minutes = minutes_of(order.expected_s)
    check_hourly_pay(order.pay_minor, minutes, order.currency, least_minor=settings.minimum_hourly_minor)
    return StudyDraft(
        name=order.title,
        # Our descriptions are plain text; Prolific reads HTML.
        description=html.escape(order.description.strip() or order.title, quote=False),
        external_study_url=router_url(settings.study_url),
        places=order.places,
        minutes=minutes,
        reward_minor=order.pay_minor,
        project=settings.project,
        internal_name=internal_name(order.title, order.key),
        metadata=metadata_of(order.key, content),
        codes=(CompletionCode(completion_code(order.key)),),
        longest_minutes=minutes_of(order.time_limit_s),
        per_worker=order.per_worker,
        devices=settings.devices,
        labels=settings.labels,
        filters=(*settings.filters, *order.filters),
        content_warnings=warnings,
        content_warning_details=settings.content_warning_details or order.content_warning,
    )


def studies_under(client: ProlificClient, project: str, key: str) -> list[Study]:
    """Return the studies of a project under a key: those that were published first, then drafts, oldest first."""
    found = [each for each in client.studies.of_project(project) if key_of(each.internal_name) == key]
    found.sort(key=lambda each: (_is_draft(each), each.created_at or _LONG_AGO, each.id))
    return found


def publish_once(client: ProlificClient, draft: StudyDraft, key: str, content: str, balance: Balance) -> Study:
    """Make sure that one study recruits under the key, and return it."""
    found = studies_under(client, draft.project, key)
    if not found:
        _require_funds(client.studies.estimate_minor(draft.reward_minor, draft.places), balance)
        found = _create(client, draft, key)
    live = [each for each in found if not _is_draft(each)]
    if len(live) > 1:
        raise NeedsHumanError(
            f"{len(live)} studies recruit under the key {key!r} ({', '.join(each.id for each in live)}); stop all but "
            "one on Prolific's page"
        )
    study = client.studies.get(found[0].id)
    held = read_metadata(study.metadata)[1]
    if held and held != content:
        raise PlatformError(f"study {study.id} was made under the key {key!r} with other content; use another key")
    for each in found[1:]:
        _drop(client, draft.project, key, each.id)
    if not _is_draft(study):
        return study
    _require_funds(client.studies.cost(study.id).total_minor, balance)
    return client.studies.move(study.id, "PUBLISH")


def _create(client: ProlificClient, draft: StudyDraft, key: str) -> list[Study]:
    """Make the draft; where the answer is lost, look whether it was made."""
    try:
        client.studies.create(draft)
    except NeedsHumanError as error:
        found = studies_under(client, draft.project, key)
        if not found:
            raise PlatformUnavailableError(f"{error}. No draft is there: try again") from None
        return found
    # Read the list, not the answer: another process may have made one at the same time.
    found = studies_under(client, draft.project, key)
    if not found:
        raise PlatformUnavailableError(f"the draft for {key!r} was made but is not listed yet; try again later")
    return found


def _drop(client: ProlificClient, project: str, key: str, study_id: str) -> None:
    """Delete a draft too many; another process may have done so a moment ago."""
    try:
        client.studies.delete_draft(study_id)
    except PlatformUnavailableError:
        raise
    except PlatformError:
        if any(each.id == study_id for each in studies_under(client, project, key)):
            raise


def _require_funds(cost_minor: int, balance: Balance) -> None:
    available = balance.available
    if cost_minor > available.minor:
        cost = Money(cost_minor, available.currency)
        missing = Money(cost_minor - available.minor, available.currency)
        raise BudgetError(
            f"the study would cost {cost} with fees and tax, but the workspace has {available} available, {missing} "
            "too little; nothing was published: add funds or ask for fewer places"
        )


def _is_draft(study: Study) -> bool:
    return study.status is StudyStatus.UNPUBLISHED
