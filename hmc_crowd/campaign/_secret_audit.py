"""How often are the final labels wrong, by a sample that nobody but the auditors knows until they open it?

The sample follows from a key that only the auditors have (`hmc_crowd.quality.audit_sample`). The database holds the
hash of the key, published in the event log when the sample is drawn, and all labels as they stood then, pinned by a
hash in the same event. The auditors' labels lie under tags that the key makes. So who changes labels after the draw
changes nothing of the result and is counted; who knows the database does not know which labels to change.

The key passes through the process that derives the sample. Auditors who do not trust the server that they sign in to
run the commands on a machine of their own.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import zlib
from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd._base.ids import digest
from hmc_crowd.campaign._adjudicate import plain_case
from hmc_crowd.campaign._aspects import choice_of
from hmc_crowd.campaign._data import require_label
from hmc_crowd.campaign._labels import final_labels
from hmc_crowd.campaign._secret_result import SecretAudit, SecretDraw, audit_result, result_of
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.quality import audit_sample, verify_audit
from hmc_crowd.store import SecretAuditRecord

if TYPE_CHECKING:
    from hmc_crowd.campaign._adjudicate import Case
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = [
    "audit_case",
    "audit_cases",
    "auditors_labels",
    "audits",
    "draw",
    "judge_audited",
    "open_audit",
]

_COUNTS = ["aspect", "number", "auditor", "drawn", "items", "judged"]
_SHOWN = [*_COUNTS, "error", "low", "high", "commitment", "drawn_at", "opened_at"]


def draw(context: Context, key: bytes, size: int | float, *, auditor: str, aspect: str | None) -> SecretDraw:
    """Commit to a sample, and keep how all labels stand."""
    record = choice_of(context, aspect)
    with context.store.begin() as tx:
        labels = _labels(context, tx, record)
        if labels.empty:
            raise StateError(f"aspect {record.name!r} has no labels yet; there is nothing to audit")
        sample = audit_sample(labels.index, key, size=size)
        if not sample.items:
            raise InputError(f"size is {size!r}, which draws none of {len(labels):,} labels; give a larger one")
        known = tx.secret_audits.all(context.campaign_id, aspect=record.name)
        if any(each.commitment == sample.commitment for each in known):
            raise StateError("this key has drawn a sample before; make a new one for each")
        packed = zlib.compress(json.dumps(labels.to_dict(), ensure_ascii=False).encode())
        made = SecretAuditRecord(
            aspect=record.name,
            number=1 + len(known),
            auditor=auditor,
            commitment=sample.commitment,
            drawn=len(sample.items),
            items=len(labels),
            labels_hash=_hash(labels),
            drawn_at=context.clock.now(),
        )
        tx.secret_audits.add(context.campaign_id, made, packed)
        named = ("number", "drawn", "items", "commitment", "labels_hash")
        context.log(tx, "secret audit drawn", aspect=record.name, **{name: getattr(made, name) for name in named})
    return SecretDraw(record.name, made.number, made.drawn, made.items, made.commitment, _unopened(known, made.number))


def audit_cases(context: Context, key: bytes, *, aspect: str | None) -> pd.DataFrame:
    """Return the key's sample in the order in which it is looked at: ``item, is_judged``, and no label."""
    record = choice_of(context, aspect)
    with context.store.read() as tx:
        held = _held(context, tx, record.name, key)
        items, _ = _sample(context, tx, held, key)
        judged = tx.secret_audits.judged(context.campaign_id, record.name, held.number)
    return pd.DataFrame({"item": items, "is_judged": [_tag(key, item) in judged for item in items]})


def audit_case(context: Context, key: bytes, item: str, *, aspect: str | None) -> Case:
    """Return an item of the key's sample, with nothing that anybody has said of it."""
    record = choice_of(context, aspect)
    with context.store.read() as tx:
        held = _held(context, tx, record.name, key)
        if item not in _sample(context, tx, held, key)[0]:
            raise StateError(f"item {item!r} is not in this sample")
        return plain_case(context, tx, record, item)


def judge_audited(context: Context, key: bytes, item: str, label: str, *, aspect: str | None) -> None:
    """Keep an auditor's label of an item of the sample; the first one counts."""
    record = choice_of(context, aspect)
    with context.store.begin() as tx:
        held = _held(context, tx, record.name, key)
        if held.opened_at is not None:
            raise StateError(f"sample {held.number} is opened; its labels are known, so no judgement is blind any more")
        if item not in _sample(context, tx, held, key)[0]:
            raise StateError(f"item {item!r} is not in this sample")
        require_label(context, tx, record, label)
        now = context.clock.now()
        # No event: its time would tell, beside who was on which page, what is in the sample.
        tx.secret_audits.judge(context.campaign_id, record.name, held.number, tag=_tag(key, item), label=label, at=now)


def open_audit(context: Context, key: bytes, *, aspect: str | None) -> SecretAudit:
    """Publish the key and the result; refused where the auditors left items out that came before others."""
    record = choice_of(context, aspect)
    with context.store.begin() as tx:
        held = _held(context, tx, record.name, key)
        if held.opened_at is not None and held.result is not None:
            return result_of(held.result)
        items, stood = _sample(context, tx, held, key)
        said = tx.secret_audits.judged(context.campaign_id, record.name, held.number)
        looked_at = [item for item in items if _tag(key, item) in said]
        if not looked_at:
            raise StateError(f"nobody has judged sample {held.number} yet; its auditors judge it first")
        if not verify_audit(looked_at, stood.index, key, held.commitment):
            first = next(item for item in items if _tag(key, item) not in said)
            raise StateError(
                f"item {first!r} was left out though it comes before others that were judged: who may choose what to "
                "judge steers the result; judge it, too"
            )
        labels = {item: said[_tag(key, item)] for item in looked_at}
        known = tx.secret_audits.all(context.campaign_id, aspect=record.name)
        result = audit_result(held, stood, labels, items, _labels(context, tx, record), _unopened(known, held.number))
        now = context.clock.now()
        tx.secret_audits.open(
            context.campaign_id, record.name, held.number, audit_key=key.hex(), result=asdict(result), at=now
        )
        figures = ("number", "judged", "wrong", "error", "low", "high", "changed", "steered")
        context.log(
            tx, "secret audit opened", aspect=record.name, audit_key=key.hex(),
            **{name: getattr(result, name) for name in figures},
        )  # fmt: skip
    return result


def audits(context: Context, *, aspect: str | None) -> pd.DataFrame:
    """Return all samples, oldest first; of those that are not opened only how many, never which."""
    with context.store.read() as tx:
        rows = [
            {
                **asdict(each),
                "judged": len(tx.secret_audits.judged(context.campaign_id, each.aspect, each.number)),
                **{name: (each.result or {}).get(name) for name in ("error", "low", "high")},
            }
            for each in tx.secret_audits.all(context.campaign_id, aspect=aspect)
        ]
    return pd.DataFrame(rows, columns=_SHOWN)


def auditors_labels(context: Context, tx: Transaction, aspect: str) -> dict[str, str]:
    """Return what auditors said of items, by item; of samples that are opened alone."""
    found: dict[str, str] = {}
    for each in tx.secret_audits.all(context.campaign_id, aspect=aspect):
        if each.audit_key is not None:
            key = bytes.fromhex(each.audit_key)
            said = tx.secret_audits.judged(context.campaign_id, aspect, each.number)
            found |= {
                item: said[tag] for item in _sample(context, tx, each, key)[0] if (tag := _tag(key, item)) in said
            }
    return found


def _labels(context: Context, tx: Transaction, record: AspectRecord) -> pd.Series:
    """Return the final labels by item, without gold."""
    labels = final_labels(context, tx, record.name)
    gold = tx.frames.read(context.campaign_id, "gold", aspect=record.name, columns=["item"])["item"]
    labels = labels[~labels["item"].isin(gold)]
    return labels.set_index("item")["label"].astype(str).sort_index()


def _held(context: Context, tx: Transaction, aspect: str, key: bytes) -> SecretAuditRecord:
    """Return the draw that a key committed to."""
    commitment = audit_sample((), key, size=0).commitment
    for each in tx.secret_audits.all(context.campaign_id, aspect=aspect):
        if hmac.compare_digest(each.commitment, commitment):
            return each
    raise StateError("this key has drawn no sample of this campaign's aspect; check the key")


def _sample(context: Context, tx: Transaction, held: SecretAuditRecord, key: bytes) -> tuple[list[str], pd.Series]:
    """Return the sample in its order, and all labels as they stood at the draw."""
    packed = tx.secret_audits.labels(context.campaign_id, held.aspect, held.number)
    stood = pd.Series(json.loads(zlib.decompress(packed)), dtype=object).sort_index()
    if _hash(stood) != held.labels_hash or not _is_published(context, tx, held):
        raise StateError(f"what was kept of sample {held.number} was changed; restore the database from a copy")
    return list(audit_sample(stood.index, key, size=held.drawn).items), stood


def _is_published(context: Context, tx: Transaction, held: SecretAuditRecord) -> bool:
    """Say whether the event of the draw, which the chain protects, tells the same."""
    mark = (held.aspect, held.number, held.commitment, held.labels_hash, held.drawn)
    names = ("aspect", "number", "commitment", "labels_hash", "drawn")
    told = tx.events.read(context.campaign_id, kind="secret audit drawn")
    return any(tuple((each.payload or {}).get(name) for name in names) == mark for each in told)


def _unopened(known: list[SecretAuditRecord], number: int) -> int:
    return sum(each.number < number and each.opened_at is None for each in known)


def _tag(key: bytes, item: str) -> str:
    return hmac.new(key, b"audit label\0" + item.encode(), hashlib.sha256).hexdigest()


def _hash(labels: pd.Series) -> str:
    return digest("\x1f".join(map(str, labels.index)), "\x1f".join(labels.astype(str)))
