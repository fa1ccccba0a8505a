"""What does a worker see? Texts, the dialogue so far, the labels to choose from; never which items are gold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.campaign._data import known_labels
from hmc_crowd.campaign._guideline import Versions
from hmc_crowd.platform import Hit, HitItem, Terms

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import HitRecord, Transaction

__all__ = ["Pages"]


class Pages:
    """Turns stored HITs into what the platform shows: texts, dialogue so far, labels; never which items are gold."""

    def __init__(self, context: Context, tx: Transaction, records: list[HitRecord]) -> None:
        settings = tx.campaigns.get(context.name).settings
        self._description = str(settings.get("description", ""))
        self._scope = str(settings.get("uid", ""))
        self._category = str(settings.get("category") or "")
        self._suggest_share = float(settings.get("suggest_share", 0.0))
        self._aspects = {each.name: each for each in tx.campaigns.aspects(context.campaign_id)}
        self._labels = {name: tuple(known_labels(context, tx, each)) for name, each in self._aspects.items()}
        self._versions = Versions(context, tx)
        wanted = {each.item for record in records for each in record.items}
        # The dialogue so far needs every turn of a group, asked about or not.
        all_items = tx.frames.read(context.campaign_id, "items", columns=["item", "group"])
        groups = set(all_items.loc[all_items["item"].isin(wanted), "group"])
        turns_of = all_items.loc[all_items["group"].isin(groups), "item"].tolist()
        self._suggestions = _suggestions(context, tx, wanted) if self._suggest_share > 0 else {}
        columns = ["item", "group", "position", "text", "sensitive", "response_a", "response_b"]
        texts = tx.frames.read(context.campaign_id, "items", columns=columns, items=turns_of)
        texts = texts.sort_values(["group", "position"], kind="stable")
        self._shown: dict[str, tuple[str, int, str, tuple[str, ...]]] = {}
        self._sensitive = set(texts.loc[texts["sensitive"].astype(bool), "item"])
        self._responses = {
            item: (str(a), str(b))
            for item, a, b in zip(texts["item"], texts["response_a"], texts["response_b"], strict=True)
            if isinstance(a, str) and isinstance(b, str)
        }
        so_far: list[str] = []
        last = None
        for item, group, position, text in zip(*(texts[column].tolist() for column in columns[:4]), strict=True):
            if group != last:
                so_far, last = [], group
            self._shown[item] = (group, int(position), text, tuple(so_far))
            so_far.append(text)

    def hit(self, record: HitRecord) -> Hit:
        """Return a stored HIT as the platform gets it."""
        shown = []
        for each in record.items:
            group, position, text, context = self._shown[each.item]
            labels, aspect = self._labels[each.aspect], self._aspects[each.aspect]
            is_sensitive = each.item in self._sensitive
            category = self._category if is_sensitive else ""
            shown.append(
                HitItem(
                    each.item,
                    each.aspect,
                    group,
                    position,
                    text,
                    context,
                    labels,
                    kind=aspect.kind,
                    options=self._responses.get(each.item, ()) if aspect.kind == "pair" else (),
                    question=aspect.question,
                    category=category,
                    sensitive=is_sensitive,
                    suggestion=self._suggestions.get((each.item, each.aspect), ""),
                )
            )
        return Hit(
            key=record.key,
            title=record.title,
            description=self._description or record.title,
            items=tuple(shown),
            redundancy=record.redundancy,
            pay_minor=record.pay_minor,
            currency=record.currency,
            time_limit_s=max(1800, int(6 * record.expected_s)),
            scope=self._versions.scope(self._scope, record),
            guideline=self._versions.text(record),
            suggest_share=self._suggest_share,
            terms=_terms(record),
        )


def _suggestions(context: Context, tx: Transaction, items: set[str]) -> dict[tuple[str, str], str]:
    """Return what the machine says of each question, as an answer is written."""
    said = tx.frames.read(context.campaign_id, "predictions", columns=["item", "aspect", "label"], items=sorted(items))
    return {
        (str(item), str(aspect)): str(label)
        for item, aspect, label in zip(said["item"], said["aspect"], said["label"], strict=True)
    }


def _terms(record: HitRecord) -> Terms:
    """Return who may take a stored HIT, and how it is paid."""
    if record.terms is None:
        return Terms()
    return Terms(**{**record.terms, **{each: tuple(record.terms.get(each, ())) for each in ("skills", "holds")}})
