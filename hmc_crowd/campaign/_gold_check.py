"""How did people do on gold, whose answers are left out for it, and in what state is the gold itself?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hmc_crowd.campaign._gold_marking import Meaning, best_guess, gold_rules
from hmc_crowd.campaign._gold_pool import gold_shown, missed_gold
from hmc_crowd.campaign._gold_rows import gold_key, gold_rows
from hmc_crowd.errors import StateError
from hmc_crowd.quality import gold_report, gold_scores, screen_workers

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.campaign._gold_marking import Encoder, GoldRule
    from hmc_crowd.store import Transaction

__all__ = ["GoldCheck", "check_gold", "gold_table", "meaning_of", "suspects", "text_note"]


# Of fewer answers to gold, a label that most of them share says nothing of the gold.
_ENOUGH = 10


@dataclass(frozen=True)
class GoldCheck:
    """How workers did on gold; exclusion concerns aggregation alone, never pay.

    Parameters
    ----------
    workers : pandas.DataFrame
        As `hmc_crowd.quality.gold_scores` gives them.
    gold_answers : int
        Answers to gold that count.
    excluded : dict of str to str
        Why somebody's answers are left out of aggregation, by worker.
    submissions_excluded : int
    notes : tuple of str
        By which tolerance answers were right, what guessing would reach, and what did not count.
    """

    workers: pd.DataFrame
    gold_answers: int
    excluded: dict[str, str]
    submissions_excluded: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"{len(self.workers):,} workers checked on {self.gold_answers:,} gold answers; {len(self.excluded):,} left "
            f"out of aggregation with {self.submissions_excluded:,} submissions"
        )


def meaning_of(encoder: Encoder | None, similar: float) -> Meaning | None:
    """Return how texts are compared, or None where no encoder is given."""
    return None if encoder is None else Meaning(encoder, similar)


def check_gold(
    context: Context, *, minimum: float, at_least: int, level: float, meaning: Meaning | None = None
) -> GoldCheck:
    """Score every worker on gold, store the scores, and leave out of aggregation who is surely below the minimum."""
    with context.store.begin() as tx:
        gold = tx.frames.read(context.campaign_id, "gold")
        if gold.empty:
            raise StateError(f"campaign {context.name!r} has no gold; first add_gold(), or go on with aggregate()")
        answers = tx.work.answers(context.campaign_id)
        counted, keys = gold_rows(context, tx, answers, first_only=True, meaning=meaning)
        if counted.empty and len(answers):
            raise StateError(
                f"no answer of campaign {context.name!r} was given blind under the guideline in force; who was shown "
                "the machine's label proves nothing on gold"
            )
        rules = gold_rules(context, tx)
        if keys.empty:
            raise StateError(f"{text_note(rules, gold, meaning)[0]}; or go on with aggregate()")
        # One table for all aspects: a worker's score is over every gold question met.
        on_gold = counted[counted["task"].isin(keys["item"])]
        scores = gold_scores(on_gold[["task", "worker", "label"]], keys, level=level)
        changed = _changed(scores, tx.workers.scores(context.campaign_id))
        tx.workers.add_scores(context.campaign_id, changed, as_of=context.clock.now())
        decisions = screen_workers(scores, minimum=minimum, at_least=at_least)
        out = decisions[decisions["excluded"].astype(bool)]
        excluded = {
            str(worker): f"{reason} ({evidence})"
            for worker, reason, evidence in zip(out["worker"], out["reason"], out["evidence"], strict=True)
        }
        count, is_changed = _exclude(context, tx, answers, excluded)
        if len(changed) or is_changed:
            context.log(tx, "gold checked", workers=len(scores), excluded=len(excluded))
    notes = (*_marking_notes(rules, on_gold, keys, minimum), *text_note(rules, gold, meaning))
    return GoldCheck(scores, len(on_gold), excluded, count, notes)


def _changed(scores: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Return the scores that are not the newest stored ones already: the same check again stores nothing."""
    columns = ["right", "n", "score", "low", "high"]
    before = known.set_index("worker")[columns].reindex(scores["worker"]).to_numpy(dtype=float, na_value=np.nan)
    now = scores.reindex(columns=columns).to_numpy(dtype=float, na_value=np.nan)
    is_known = scores["worker"].isin(known["worker"]).to_numpy()
    same = is_known & ((before == now) | (np.isnan(before) & np.isnan(now))).all(axis=1)
    changed: pd.DataFrame = scores.loc[~same]
    return changed


def _exclude(context: Context, tx: Transaction, answers: pd.DataFrame, excluded: dict[str, str]) -> tuple[int, bool]:
    """Mark the submissions of excluded workers, take back the mark from those who are fine by now.

    Returns how many submissions are marked, and whether any of it is new.
    """
    count, is_changed = 0, False
    for worker, rows in answers.groupby("worker"):
        submissions = sorted(rows["submission_id"].unique())
        reason = excluded.get(str(worker))
        if reason is not None:
            count += len(submissions)
            if (rows["excluded"] != reason).any():
                tx.work.exclude(context.campaign_id, submissions, reason)
                is_changed = True
        elif rows["excluded"].notna().any():
            tx.work.include(context.campaign_id, submissions)
            is_changed = True
    return count, is_changed


def _marking_notes(rules: dict[str, GoldRule], on_gold: pd.DataFrame, keys: pd.DataFrame, minimum: float) -> list[str]:
    """Say by which tolerance answers were right, and where one answer to everything would do."""
    known = on_gold["task"].map(keys.set_index("item")["label"])
    notes = []
    for aspect, rows in known.groupby(on_gold["aspect"].astype(str), sort=False):
        rule = rules[str(aspect)]
        if rule.tolerance > 0:
            notes.append(f"gold of {rule}")
        label, share = best_guess(rule, rows.astype(str).tolist())
        if share >= minimum and (len(rows) >= _ENOUGH or share == 1.0):
            notes.append(
                f"whoever always says {label!r} is right on {share:.0%} of the gold of aspect {aspect!r} that was met: "
                f"a minimum of {minimum:g} does not find him"
            )
    return notes


def text_note(rules: dict[str, GoldRule], gold: pd.DataFrame, meaning: Meaning | None) -> list[str]:
    """Say which gold does not count for want of an encoder."""
    asked = [name for name in gold["aspect"].astype(str).unique() if rules[name].kind == "text"]
    if meaning is not None or not asked:
        return []
    return [f"gold of aspect {', '.join(asked)} is in words and does not count; give an encoder, such as 'minilm'"]


def suspects(rows: pd.DataFrame, keys: pd.DataFrame) -> pd.DataFrame:
    """Return the gold that good workers miss, as `gold_report` has it, by item and aspect."""
    columns = ["item", "aspect", "label", "n", "right", "good_n", "good_right", "top_label", "reason"]
    if rows.empty or not len(keys) or not rows["task"].isin(keys["item"]).any():
        return pd.DataFrame(columns=columns)
    found = gold_report(rows[["task", "worker", "label"]], keys)
    found = found[found["suspect"]]
    named = [task.partition("\x1f") for task in found["item"]]
    split = {"item": [each[0] for each in named], "aspect": [each[2] for each in named]}
    return found.assign(**split)[columns].reset_index(drop=True)


def gold_table(context: Context) -> pd.DataFrame:
    """Return the state of all gold; see `Campaign.gold_table`."""
    with context.store.read() as tx:
        gold = tx.frames.read(context.campaign_id, "gold")[["item", "aspect", "label"]]
        gold = gold.assign(aspect=gold["aspect"].astype(str)).sort_values(["item", "aspect"], ignore_index=True)
        met = tx.standing.exposures(context.campaign_id).groupby(["item", "aspect"])
        missed = missed_gold(context, tx).reindex(gold_key(gold["item"], gold["aspect"]))
        shown = gold_shown(context, tx)
        limit = context.settings_in(tx).get("gold_limit")
        rows, keys = gold_rows(context, tx, tx.work.answers(context.campaign_id), first_only=True)
        why = suspects(rows, keys).set_index(["item", "aspect"])["reason"].to_dict()
    pairs = list(zip(gold["item"], gold["aspect"], strict=True))
    index = pd.MultiIndex.from_tuples(pairs, names=["item", "aspect"])
    out = [shown[pair] for pair in pairs]
    return gold.assign(
        workers=met["worker"].nunique().reindex(index, fill_value=0).to_numpy(),
        times=met["times"].sum().reindex(index, fill_value=0).to_numpy(),
        given_out=out,
        limit=pd.array([limit] * len(gold), dtype="Int64"),
        rests=[limit is not None and count >= limit for count in out],
        answers=missed["n"].fillna(0).astype(int).to_numpy(),
        missed=missed["missed"].fillna(0).astype(int).to_numpy(),
        difficulty=missed["difficulty"].to_numpy(dtype=float),
        suspect=[why.get(pair, "") for pair in pairs],
    )
