"""Results as the requester site's batch file had them: a CSV row per submission, ``Input.*`` and ``Answer.*`` columns.

What read such a file before reads ours: the columns have their old names and order, times are aware UTC. Answers of a
``crowd-form`` are laid flat as they were there (``Answer.question.label``). Text that a spreadsheet would take for a
formula gets an apostrophe in front; characters that XML cannot hold (NUL and the like) are left out, as the API does.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from hmc_crowd._base.private import private_draft
from hmc_crowd._base.spreadsheets import inert
from hmc_crowd.errors import InputError
from hmc_crowd_local._tables_mturk import ASSIGNMENT, HIT_TYPE, M_HIT
from hmc_crowd_local.mturk_api._call import amount
from hmc_crowd_local.mturk_api._review_rates import Rates
from hmc_crowd_local.mturk_api._xml import plain

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from datetime import datetime

    from hmc_crowd_local.mturk_api._front import FrontDoor

__all__ = ["batch_rows", "write_batch_file"]

_STATUS = {"submitted": "Submitted", "approved": "Approved", "rejected": "Rejected"}


def write_batch_file(
    door: FrontDoor,
    path: str | os.PathLike[str],
    *,
    account: str = "main",
    hit_type_id: str | None = None,
    safe: bool = True,
    overwrite: bool = False,
) -> int:
    """Write the submissions of an account's HITs as a batch file.

    Parameters
    ----------
    door : FrontDoor
        Whose results.
    path : path
        A CSV file; written whole or not at all, for its owner alone to read.
    account : str, default "main"
        Whose HITs.
    hit_type_id : str, optional
        Only HITs of this type.
    safe : bool, default True
        Put an apostrophe before what a spreadsheet would run as a formula.
    overwrite : bool, default False
        Replace a file that is there.

    Returns
    -------
    int
        How many submissions were written.

    Raises
    ------
    InputError
        The file exists, or cannot be written.

    See Also
    --------
    hmc_crowd.io.read_mturk_batch : Reads it back.
    """
    target = Path(path)
    if target.exists() and not overwrite:
        raise InputError(f"{target} exists; give another name, or overwrite it on purpose")
    rows = list(batch_rows(door, account=account, hit_type_id=hit_type_id))
    columns = list(dict.fromkeys(name for row in rows for name in row if not name.startswith(("Input.", "Answer."))))
    columns += sorted({name for row in rows for name in row if name.startswith("Input.")})
    columns += sorted({name for row in rows for name in row if name.startswith("Answer.")})
    columns += ["Approve", "Reject"]
    try:
        # Worker ids and what they answered: for the owner's eyes.
        with private_draft(target) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            writer.writerow([plain(name) for name in columns])
            writer.writerows([_cell(row.get(name), safe=safe) for name in columns] for row in rows)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}; give another place") from None
    return len(rows)


def batch_rows(door: FrontDoor, *, account: str, hit_type_id: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield a row per submission that was handed in, oldest first."""
    query = (
        sa.select(
            ASSIGNMENT, M_HIT, HIT_TYPE, ASSIGNMENT.c.hit_id.label("hit"), M_HIT.c.created_at.label("hit_created")
        )
        .join(M_HIT, M_HIT.c.hit_id == ASSIGNMENT.c.hit_id)
        .join(HIT_TYPE, HIT_TYPE.c.hit_type_id == M_HIT.c.hit_type_id)
        .where(ASSIGNMENT.c.account_id == account, ASSIGNMENT.c.state.in_(_STATUS))
        .order_by(ASSIGNMENT.c.submitted_at, ASSIGNMENT.c.assignment_id)
    )
    if hit_type_id is not None:
        query = query.where(M_HIT.c.hit_type_id == hit_type_id)
    now = door.now()
    with door.database.read() as connection:
        found = connection.execute(query).mappings().all()
        rates = Rates(connection, now)
    for row in found:
        yield {**_fixed(row), **rates.of(row[ASSIGNMENT.c.worker]), **_inputs(row), **_answers(row)}


def _fixed(row: Any) -> dict[str, Any]:
    work, hit, kind = ASSIGNMENT.c, M_HIT.c, HIT_TYPE.c
    return {
        "HITId": row["hit"],
        "HITTypeId": row[kind.hit_type_id],
        "Title": row[kind.title],
        "Description": row[kind.description],
        "Keywords": row[kind.keywords],
        "Reward": f"${amount(row[kind.reward_minor])}",
        "CreationTime": row["hit_created"],
        "MaxAssignments": row[hit.max_assignments],
        "RequesterAnnotation": row[hit.annotation],
        "AssignmentDurationInSeconds": row[kind.duration_s],
        "AutoApprovalDelayInSeconds": row[kind.auto_approval_s],
        "Expiration": row[hit.expires_at],
        "LifetimeInSeconds": int((row[hit.expires_at] - row["hit_created"]).total_seconds()),
        "AssignmentId": row[work.assignment_id],
        "WorkerId": row[work.worker],
        "AssignmentStatus": _STATUS[row[work.state]],
        "AcceptTime": row[work.accepted_at],
        "SubmitTime": row[work.submitted_at],
        "AutoApprovalTime": row[work.auto_approve_at],
        "ApprovalTime": row[work.approved_at],
        "RejectionTime": row[work.rejected_at],
        "RequesterFeedback": row[work.feedback],
        "WorkTimeInSeconds": int((row[work.submitted_at] - row[work.accepted_at]).total_seconds()),
    }


def _inputs(row: Any) -> dict[str, str]:
    return {f"Input.{name}": value for name, value in json.loads(row[M_HIT.c.inputs] or "{}").items()}


def _answers(row: Any) -> dict[str, str]:
    """Return the answer columns; selections of one question are joined by ``|``, as they were."""
    found: dict[str, str] = {}
    for name, kind, value in json.loads(row[ASSIGNMENT.c.fields] or "[]"):
        flat = _crowd_form(value) if kind == "FreeText" else None
        for part, text in ({name: value} if flat is None else flat).items():
            key, text = f"Answer.{plain(part)}", plain(text)
            found[key] = f"{found[key]}|{text}" if key in found else text
    return found


def _crowd_form(value: str) -> dict[str, str] | None:
    """Return the answers inside the one field that a ``crowd-form`` sends, or None where it is no such field."""
    if not value.startswith("[{"):
        return None
    try:
        parts = json.loads(value)
    except (ValueError, RecursionError):
        return None
    flat: dict[str, str] = {}
    for each in parts:
        if not isinstance(each, dict):
            return None
        _lay_flat(each, "", flat)
    return flat


def _lay_flat(value: Any, name: str, into: dict[str, str]) -> None:
    if isinstance(value, dict):
        for part, inner in value.items():
            _lay_flat(inner, f"{name}.{part}" if name else str(part), into)
    elif isinstance(value, (bool, list)):
        into[name] = json.dumps(value, ensure_ascii=False)
    else:
        into[name] = "" if value is None else str(value)


def _cell(value: Any, *, safe: bool) -> str:
    if value is None:
        return ""
    if hasattr(value, "isoformat"):
        moment: datetime = value
        return moment.isoformat()
    text = plain(str(value))
    return str(inert(text)) if safe else text
