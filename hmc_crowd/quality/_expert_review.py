"""When do experts have to look again? Escalation where tiers disagree, and appeals that somebody else judges blind.

Also what judging twice teaches: how often each tier is wrong, in which direction, and how often it is overturned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.aggregation._gold import gold_table  # because gold is read in one way
from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality._expert_choose import ExpertChoice, choose_expert
from hmc_crowd.quality._gold_scores import beta_interval
from hmc_crowd.quality._matching import require_one_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.quality._experts import Expert

__all__ = ["Appeal", "escalate", "open_appeal", "overturn_rates", "settle_appeal", "tier_errors"]

_LEVEL = 0.95


def escalate(judgements: pd.DataFrame, *, top: int = 3) -> pd.DataFrame:
    """Say for each item whether its judges agree, and who must look next.

    Parameters
    ----------
    judgements : pandas.DataFrame
        Columns ``item, tier, expert, label``: judgements of one or several tiers, one per expert and item.
    top : int, default 3
        The highest tier.

    Returns
    -------
    pandas.DataFrame
        One row per item, sorted: ``item, state, label, to_tier, evidence``. ``state`` is ``agreed`` (all say the same),
        ``settled`` (a majority of the highest tier there is, which stands over lower ones), ``escalate`` (the
        judgements differ and a higher tier, ``to_tier``, must look) or ``second_opinion`` (the top tier differs in
        itself without a majority: another person of it must look).

    Examples
    --------
    >>> rows = [("a", 1, "u", "x"), ("a", 1, "v", "y"), ("b", 1, "u", "x"), ("b", 2, "w", "y"), ("b", 3, "z", "y")]
    >>> found = escalate(pd.DataFrame(rows, columns=["item", "tier", "expert", "label"]))
    >>> found[["item", "state", "label", "to_tier"]].to_numpy().tolist()
    [['a', 'escalate', None, 2], ['b', 'settled', 'y', 0]]
    """
    rows = _checked(judgements)
    highest = rows.groupby("item")["tier"].transform("max")
    said = rows[rows["tier"] == highest].groupby(["item", "label"], sort=True).size().reset_index(name="n")
    heads = said.sort_values("n", ascending=False, kind="stable")
    first = heads.drop_duplicates("item").set_index("item").sort_index()
    level = highest.groupby(rows["item"]).first()
    alike = (rows.groupby("item")["label"].nunique() == 1).to_numpy()
    majority = (first["n"] * 2 > heads.groupby("item")["n"].sum()).to_numpy()
    final = level.to_numpy() >= top
    state = np.select([alike, final & majority, final], ["agreed", "settled", "second_opinion"], "escalate")
    stands = np.isin(state, ["agreed", "settled"])
    # No label stays None, whatever the others are.
    label = np.where(stands, np.asarray(first["label"], dtype=object), np.full(len(first), None, dtype=object))
    return pd.DataFrame(
        {
            "item": first.index.to_numpy(),
            "state": state.astype(object),
            "label": pd.Series(label.tolist(), dtype=object),
            "to_tier": np.select([stands, final], [0, top], level.to_numpy() + 1).astype(np.int64),
            "evidence": _said(rows).to_numpy(),
        }
    )


def tier_errors(judgements: pd.DataFrame, gold: Any) -> pd.DataFrame:
    """Return each tier's error matrix against known labels.

    Returns
    -------
    pandas.DataFrame
        Columns ``tier, true, answered, count, n, share, low, high``: of the ``n`` judgements of items whose label is
        ``true``, how many said ``answered``, with a 95% beta interval.

    Examples
    --------
    >>> rows = [("a", 1, "u", "x"), ("b", 1, "u", "x"), ("b", 2, "w", "y")]
    >>> found = tier_errors(pd.DataFrame(rows, columns=["item", "tier", "expert", "label"]), {"a": "x", "b": "y"})
    >>> found.loc[(found["tier"] == 1) & (found["true"] == "y"), ["answered", "count"]].to_numpy().tolist()
    [['x', 1], ['y', 0]]
    """
    if gold is None or not len(gold):
        raise InputError("gold is empty; give at least one item with a known label")
    rows, known = _checked(judgements), gold_table(gold)
    require_one_kind(known, rows["label"], name="the labels of gold and judgements.label")
    rows = rows.assign(true=known.reindex(rows["item"]).to_numpy()).dropna(subset=["true"])
    if not len(rows):
        raise InputError("gold has no label for any judged item; give labels of items that experts judged")
    labels = sorted({*rows["label"], *rows["true"]}, key=str)
    count = rows.groupby(["tier", "true", "label"]).size()
    every = pd.MultiIndex.from_tuples(
        [(*pair, label) for pair in sorted(set(zip(rows["tier"], rows["true"], strict=True))) for label in labels],
        names=["tier", "true", "answered"],
    )
    found = count.reindex(every, fill_value=0).rename("count").reset_index()
    found["n"] = found.groupby(["tier", "true"])["count"].transform("sum")
    return _with_interval(found, "count")


def overturn_rates(judgements: pd.DataFrame) -> pd.DataFrame:
    """Return how often each tier's label was not upheld by the highest tier that judged the same item.

    Returns
    -------
    pandas.DataFrame
        Columns ``tier, overturned, n, share, low, high``; items whose highest tier disagrees in itself do not count.
        Only items that reached a higher tier are in it: they are the disputed ones, so that the rate says nothing
        about the others. For that there is the auditors' sample.

    Examples
    --------
    >>> rows = [("a", 1, "u", "x"), ("a", 2, "v", "y"), ("b", 1, "u", "x"), ("b", 2, "v", "x")]
    >>> found = overturn_rates(pd.DataFrame(rows, columns=["item", "tier", "expert", "label"]))
    >>> found[["tier", "overturned", "n", "share"]].to_numpy().tolist()
    [[1.0, 1.0, 2.0, 0.5]]
    """
    rows = _checked(judgements)
    highest = rows.groupby("item")["tier"].transform("max")
    at_top = rows[rows["tier"] == highest]
    alike = at_top.groupby("item")["label"].transform("nunique") == 1
    final = at_top[alike].drop_duplicates("item").set_index("item")["label"]
    lower = rows[rows["tier"] < highest]
    lower = lower.assign(final=final.reindex(lower["item"]).to_numpy(dtype=object)).dropna(subset=["final"])
    lower = lower.assign(overturned=lower["label"].to_numpy() != lower["final"].to_numpy())
    found = lower.groupby("tier")["overturned"].agg(["sum", "size"]).reset_index()
    found.columns = pd.Index(["tier", "overturned", "n"])
    return _with_interval(found.astype({"overturned": int, "n": int}), "overturned")


@dataclass(frozen=True)
class Appeal:
    """A second judgement by somebody who does not know the first.

    Parameters
    ----------
    item : object
    choice : ExpertChoice
        Who judges; nobody where there is nobody else.
    hidden : tuple of str
        What this person must not be shown.
    """

    item: Any
    choice: ExpertChoice
    hidden: tuple[str, ...] = ("label", "expert", "reason", "appealed_by")


def open_appeal(
    item: Any, judged_by: Sequence[str], experts: Sequence[Expert], *, tier: int, area: str | None = None
) -> Appeal:
    """Choose another person, of the same tier or a higher one, for a blind second judgement.

    Parameters
    ----------
    item : object
    judged_by : sequence of str
        Everybody who has judged it so far.
    experts : sequence of Expert
    tier : int
        Of the judgement that is appealed against.
    area : str, optional

    Examples
    --------
    >>> from hmc_crowd.quality import Expert
    >>> print(open_appeal("a", ["ann"], [Expert("ann"), Expert("bob", load=3)], tier=1).choice.expert)
    bob
    """
    return Appeal(item, choose_expert(item, experts, area=area, tier=tier, exclude=frozenset(judged_by)))


def settle_appeal(first: Any, second: Any | None, third: Any | None = None) -> tuple[str, Any]:
    """Say what an appeal comes to: the state and the label that holds, None where it is open.

    A second person of the same mind upholds the label. Of two people who differ neither is right by being later: a
    third one decides; three different labels stay with a person's review.

    Examples
    --------
    >>> settle_appeal("x", "x"), settle_appeal("x", "y"), settle_appeal("x", "y", "y"), settle_appeal("x", "y", "z")
    (('upheld', 'x'), ('third_needed', None), ('overturned', 'y'), ('review', None))
    """
    if second is None:
        return "open", None
    if second == first:
        return "upheld", first
    if third is None:
        return "third_needed", None
    if third == first:
        return "upheld", first
    return ("overturned", second) if third == second else ("review", None)


def _checked(judgements: pd.DataFrame) -> pd.DataFrame:
    missing = [column for column in ("item", "tier", "expert", "label") if column not in judgements.columns]
    if missing:
        raise FrameError(f"judgements lacks the column {missing[0]}; give item, tier, expert and label")
    if judgements[["item", "tier", "expert", "label"]].isna().any(axis=None):
        raise FrameError("judgements has an empty item, tier, expert or label; fill or drop these rows")
    twice = judgements.duplicated(["item", "expert"])
    if twice.any():
        row = judgements[twice].iloc[0]
        raise FrameError(f"judgements has item {row['item']!r} twice by {row['expert']!r}; a second look is another's")
    return judgements


def _said(rows: pd.DataFrame) -> pd.Series[Any]:
    """Return who said what of each item, in words, by item."""
    said = rows.groupby(["item", "tier", "label"], sort=True).size().reset_index(name="n")
    rows_said = said[["tier", "label", "n"]].itertuples(index=False)
    words = [f"{n} of tier {tier} said {label}" for tier, label, n in rows_said]
    return pd.Series(words, index=said["item"], dtype=object).groupby(level=0, sort=True).agg(", ".join)


def _with_interval(found: pd.DataFrame, hits: str) -> pd.DataFrame:
    right, n = found[hits].to_numpy(dtype=np.intp), found["n"].to_numpy(dtype=np.intp)
    low, high = beta_interval(right, n, level=_LEVEL, prior=(0.5, 0.5))
    return found.assign(share=right / np.maximum(n, 1), low=low, high=high)
