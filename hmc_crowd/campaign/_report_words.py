"""What does the certificate mean, for somebody who has never met one? Paragraphs, and the final figures as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.campaign._expert_audit import accuracy_in
from hmc_crowd.campaign._figure import estimate
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["accuracy_words", "certificate_words", "figures_of"]


def certificate_words(found: dict[str, Any]) -> str:
    """Say in a paragraph how it was checked, what was found, and what may be said of the batch.

    Examples
    --------
    >>> found = {"items": 260, "human": 100, "audited": 60, "wrong": 2, "audit_pending": 0, "pending": 0,
    ...          "wrong_at_most": 13, "agreement_at_least": 0.95, "level": 0.95}
    >>> print(certificate_words(found))
    People judged 100 of the 260 items. Of the 160 that the machine labelled alone, chance picked 60, and people judged
    these too without seeing what the machine had said: 2 of its labels were wrong and have been corrected. So at least
    95.00 % of all 260 labels agree with our people: at most 13 do not. A statement made in this way is false for at
    most 5 batches in 100. It is about agreement with our people, who may err themselves, and about this batch alone.
    """
    kept = found["items"] - found["human"]
    said = [f"People judged {found['human']:,} of the {found['items']:,} items."]
    if kept and found["audited"]:
        many = f"{found['wrong']:,} of its labels {'was' if found['wrong'] == 1 else 'were'} wrong"
        fixed = "" if not found["wrong"] else f" and {'has' if found['wrong'] == 1 else 'have'} been corrected"
        said.append(
            f"Of the {kept:,} that the machine labelled alone, chance picked {found['audited']:,}, and people judged "
            f"these too without seeing what the machine had said: {many}{fixed}."
        )
    waiting = found.get("audit_pending", 0) + found.get("pending", 0)
    if waiting:
        said.append(f"{waiting:,} answers are still missing; until they come, each of them is counted as wrong.")
    said.append(
        f"So at least {_percent(found['agreement_at_least'])} of all {found['items']:,} labels agree with our people: "
        f"at most {found['wrong_at_most']:,} do not."
    )
    said.append(_promise(found))
    risk = 100 * (1 - found["level"])
    said.append(f"A statement made in this way is false for at most {risk:.3g} batches in 100.")
    said.append("It is about agreement with our people, who may err themselves, and about this batch alone.")
    return " ".join(part for part in said if part)


def _promise(found: dict[str, Any]) -> str:
    target = found.get("target")
    if target is None:
        return ""
    wanted = f"The {_percent(target)} that the plan had promised"
    if found["agreement_at_least"] >= target:
        return f"{wanted} are reached."
    if found.get("agreement_at_most", 1.0) < target:
        return f"{wanted} are missed: the audit shows at most {_percent(found['agreement_at_most'])}."
    return f"{wanted} are neither shown nor ruled out; the batch is delivered as not certified, or audited further."


def accuracy_words(context: Context, tx: Transaction) -> tuple[str, float | None]:
    """Say how many labels are right, where experts were asked, and the bound; nothing where they were not."""
    first = tx.campaigns.aspects(context.campaign_id)[0].name
    drawn = tx.expert_audits.newest(context.campaign_id, first)
    if drawn is None:
        return "", None
    try:
        found, _ = accuracy_in(context, tx, first, drawn, 0.95)
    except StateError:
        return "Experts were asked about labels that have changed since, so nothing is said of accuracy.", None
    pending = found.people_pending + found.machine_pending
    wait = f" {pending:,} of them wait for their judgement and are counted as wrong." if pending else ""
    words = (
        f"Experts judged {found.people_audited:,} labels of people and {found.machine_audited:,} of the machine, "
        f"picked by chance and without seeing them: {found.people_wrong:,} and {found.machine_wrong:,} were wrong."
        f"{wait} So at least {_percent(found.accuracy_at_least)} of all {found.items:,} labels are right, people's own "
        "errors counted; that too is false for at most 5 batches in 100."
    )
    return words, found.accuracy_at_least


def figures_of(context: Context) -> tuple[pd.DataFrame | None, str]:
    """Return the final figures of the first aspect with their intervals, and why there are none."""
    first = context.aspects()[0]
    asked = [f"share:{label}" for label in _labels(context)]
    if first.kind == "pair":
        asked = ["win:a", "win:b", *asked[2:]]
    elif first.kind in {"ordinal", "numeric"}:
        asked = ["mean", *([] if first.kind == "numeric" else asked)]
    rows = []
    try:
        for of in asked:
            found = estimate(context, of, by=None, aspect=None, target="population", level=0.95)
            rows.append({"figure": of.replace(":", " of ", 1), **found.table.iloc[-1].drop("category")})
    except (InputError, StateError) as error:
        return None, f"{error}."
    if not rows:
        return None, "the first question is answered by texts."
    frame = pd.DataFrame(rows).rename(columns={"n": "labels", "n_items": "items"})
    if frame["value"].isna().all():
        return None, f"{frame['said'].iloc[0]}."
    return frame[["figure", "value", "low", "high", "labels", "effective_n", "machine_helps", "final_mean", "said"]], ""


def _labels(context: Context) -> list[str]:
    first = context.aspects()[0]
    if first.kind in {"numeric", "text"}:
        return []
    if first.labels:
        return list(first.labels)
    with context.store.read() as tx:
        said = tx.frames.read(context.campaign_id, "predictions", aspect=first.name, columns=["label"])
    return sorted(said["label"].astype(str).unique())[:_MOST_LABELS]


_MOST_LABELS = 20


def _percent(share: float) -> str:
    # Whatever may be wrong is not rounded away.
    return f"{100 * (min(share, 0.9999) if share < 1 else 1):.2f} %"
