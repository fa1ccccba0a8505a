"""Labels as they are stored: on what they rest, what an expert said over the crowd, what nothing supports now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from hmc_crowd.campaign._adjudicate import adjudicated

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["label_rows", "with_posterior", "withdraw_unsupported"]


def withdraw_unsupported(context: Context, tx: Transaction, answers: pd.DataFrame) -> None:
    """Take back people's labels of items whose every answer was left out since: nobody who counts said so."""
    stored = tx.labels.read(context.campaign_id)
    # An expert's word was put over the crowd's; under another guideline it is as stale as that.
    stored = stored[stored["source"].isin(["crowd", "expert"])]
    supported = pd.MultiIndex.from_frame(answers[["task", "aspect"]].astype(str))
    stored = stored[~pd.MultiIndex.from_frame(stored[["item", "aspect"]].astype(str)).isin(supported)]
    for aspect, rows in stored.groupby("aspect", observed=True):
        decided = adjudicated(context, tx, str(aspect))["item"]
        tx.labels.withdraw(context.campaign_id, rows.loc[~rows["item"].isin(decided), "item"], aspect=str(aspect))


def label_rows(
    context: Context, tx: Transaction, frame: pd.DataFrame, aspect: str, gold: pd.DataFrame, answers: pd.DataFrame
) -> pd.DataFrame:
    """Return labels as they are stored: with the evidence of the weakest answer, an expert's word over the crowd's."""
    known = set(gold.loc[gold["aspect"] == aspect, "item"])
    rows = frame[~frame["item"].isin(known)].reset_index(drop=True)
    seen = set(answers.loc[answers["mode"] == "suggest", "task"])
    evidence = rows["item"].map(lambda item: "people_suggested" if item in seen else "people_blind").astype(object)
    rows = rows.assign(aspect=aspect, source="crowd", evidence=evidence)
    decided = adjudicated(context, tx, aspect).set_index("item")
    is_decided = rows["item"].isin(decided.index)
    if is_decided.any():
        said = decided.loc[rows.loc[is_decided, "item"]]
        for name in ("label", "evidence"):
            rows.loc[is_decided, name] = said[name].to_numpy()
        rows.loc[is_decided, "source"] = "expert"
        rows.loc[is_decided, "confidence"] = 1.0
        rows.loc[is_decided, "tied"] = False
    return rows


def with_posterior(frame: pd.DataFrame) -> pd.DataFrame:
    """Put the probabilities of the labels into one column."""
    posterior_columns = [column for column in frame.columns if column.startswith("p_")]
    names = [column[2:] for column in posterior_columns]
    values = frame[posterior_columns].to_numpy()
    rows = frame[["item", "label", "confidence", "n_answers", "tied"]].copy()
    posterior = pd.Series(
        [dict(zip(names, each, strict=True)) for each in values.tolist()], index=rows.index, dtype=object
    )
    return rows.assign(posterior=posterior)
