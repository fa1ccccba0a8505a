"""Items, predictions and gold: into the campaign, checked as a whole before anything is written; labels out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd._base.checks import first_rows
from hmc_crowd._base.evidence import refuse_seeing
from hmc_crowd.campaign._aspects import CHOICES, canonical
from hmc_crowd.campaign._label_names import label_names
from hmc_crowd.errors import FrameError, InputError, StateError
from hmc_crowd.io import Form, SourceKind, read_frame

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = ["add_gold", "add_items", "add_predictions", "known_labels", "like_the_items", "require_label"]

_ITEM_COLUMNS = ("item", "group", "position", "text", "audience", "sensitive", "response_a", "response_b")


def add_items(context: Context, source: Any) -> int:
    """Add items; the kind of the source (file ending, pandas, polars, ...) is remembered for the labels' way out."""
    loaded = read_frame(source, kind="items")
    kept = [column for column in _ITEM_COLUMNS if column in loaded.frame]
    frame = loaded.frame[[*kept, *loaded.features]].rename(columns={name: f"f_{name}" for name in loaded.features})
    form = str(loaded.kind_of_source.form)
    with context.begin() as tx:
        _require_pairs(context, tx, frame)
        added = tx.frames.add_items(context.campaign_id, frame)
        settings = tx.campaigns.settings_to_change(context.campaign_id)
        tx.campaigns.save_settings(context.campaign_id, {**settings, "items_came_as": form})
        context.log(tx, "items added", items=added, source=form)
    return added


def _require_pairs(context: Context, tx: Transaction, frame: pd.DataFrame) -> None:
    """Refuse items without their two responses where pairs are compared."""
    pairs = [each.name for each in tx.campaigns.aspects(context.campaign_id) if each.kind == "pair"]
    if not pairs:
        return
    for name in ("response_a", "response_b"):
        if name not in frame:
            raise FrameError(
                f"items lack the column {name}; aspect {pairs[0]!r} compares two responses to each text: give "
                "response_a and response_b"
            )
        wrong = ~frame[name].map(lambda each: isinstance(each, str) and bool(each.strip())).to_numpy(dtype=bool)
        if wrong.any():
            raise FrameError(f"items: {name} is empty in {first_rows(wrong)}; fill it in or drop these rows")


def like_the_items(context: Context, frame: pd.DataFrame) -> Any:
    """Return a frame as the kind of table the items came in; items from a file give pandas."""
    form = Form(context.settings().get("items_came_as", Form.PANDAS))
    return frame if form.is_file else SourceKind(form).restore(frame)


def add_predictions(context: Context, source: Any, *, aspect: str | None = None, model_version: str = "1") -> int:
    """Add or replace the machine's labels and confidences of known items."""
    return _put_labels(context, "predictions", source, context.aspect(aspect), model_version=model_version)


def add_gold(context: Context, source: Any, *, aspect: str | None = None) -> int:
    """Add or replace the known labels of items; workers meet them unseen, and they are never planned."""
    return _put_labels(context, "gold", source, context.aspect(aspect))


def _put_labels(context: Context, kind: str, source: Any, aspect: AspectRecord, **columns: str) -> int:
    with context.begin() as tx:
        if tx.frames.count(context.campaign_id, "items") == 0:
            raise StateError(f"campaign {context.name!r} has no items yet; first add_items(), then the {kind}")
        if aspect.kind == "text" and kind != "gold":
            raise InputError(f"aspect {aspect.name!r} is answered by texts, which have no {kind}; name another aspect")
        known = known_labels(context, tx, aspect)
        loaded = read_frame(source, kind=kind, labels=(known or None) if aspect.kind in CHOICES else None)
        if kind == "gold" and "evidence" in loaded.frame:
            refuse_seeing(loaded.frame["evidence"], what="be gold, which checks people and calibrates the machine")
        frame = loaded.frame.assign(label=_canonical(aspect, known, loaded.frame["label"], kind))
        if kind == "predictions" and "confidence" not in loaded.frame:
            raise FrameError(
                f"{kind} has neither a column confidence nor columns p_<label>; the planner needs to know how sure the "
                "machine is"
            )
        if kind == "predictions":
            _note_changes(context, tx, aspect, frame)
        if not known and aspect.kind in CHOICES:
            _learn_labels(context, tx, aspect, set(loaded.frame["label"].unique()) | set(loaded.classes))
        count = tx.frames.put(context.campaign_id, kind, frame.assign(**columns), aspect=aspect.name)
        context.log(tx, f"{kind} added", aspect=aspect.name, items=count)
    return count


def _canonical(aspect: AspectRecord, known: list[str], labels: pd.Series[Any], kind: str) -> pd.Series[Any]:
    """Return labels as they are stored, or name those that the aspect does not allow."""
    if aspect.kind in CHOICES:
        return labels
    read = labels.map(lambda each: canonical(aspect, known, str(each)))
    wrong = read.isna().to_numpy()
    if wrong.any():
        allowed = {
            "numeric": f"a number from {known[0]} to {known[1]}" if known else "a number",
            "multi_label": f"a JSON list of {', '.join(known)}",
            "text": "a text that is not empty",
        }[aspect.kind]
        raise FrameError(
            f"{kind}: label of the {aspect.kind} aspect {aspect.name!r} must be {allowed}: "
            f"{first_rows(wrong, labels.to_numpy())}; correct these rows"
        )
    return read


def _note_changes(context: Context, tx: Transaction, aspect: AspectRecord, frame: pd.DataFrame) -> None:
    """Count when the machine changes its mind: an audit of its earlier labels says nothing of the new ones."""
    # Only the first aspect's labels were audited.
    is_first = aspect.name == tx.campaigns.aspects(context.campaign_id)[0].name
    if not is_first or tx.frames.count(context.campaign_id, "predictions", aspect=aspect.name) == 0:
        return
    stored = tx.frames.read(context.campaign_id, "predictions", aspect=aspect.name, columns=["item", "label"])
    both = stored.merge(frame[["item", "label"]], on="item", suffixes=("", "_new"))
    if (both["label"] != both["label_new"]).any():
        settings = tx.campaigns.settings_to_change(context.campaign_id)
        version = int(settings.get("machine_version", 0)) + 1
        tx.campaigns.save_settings(context.campaign_id, {**settings, "machine_version": version})


def _learn_labels(context: Context, tx: Transaction, aspect: AspectRecord, labels: set[str]) -> None:
    """Give an aspect that was created without labels those of its first table."""
    settings = tx.campaigns.settings_to_change(context.campaign_id)
    named = label_names(sorted(labels), name=f"labels of aspect {aspect.name!r}, read from its first table,")
    learnt = {**settings.get("labels", {}), aspect.name: list(named)}
    tx.campaigns.save_settings(context.campaign_id, {**settings, "labels": learnt})


def known_labels(context: Context, tx: Transaction, aspect: AspectRecord) -> list[str]:
    """Return the labels of an aspect: as created, else as first met."""
    learnt = tx.campaigns.get(context.name).settings.get("labels", {})
    return list(aspect.labels) or list(learnt.get(aspect.name, []))


def require_label(context: Context, tx: Transaction, aspect: AspectRecord, label: str) -> None:
    """Refuse a label that an aspect of choices does not have."""
    known = known_labels(context, tx, aspect)
    if known and label not in known:
        raise InputError(f"label is {label!r}; allowed are {', '.join(known)}")
