"""Pairs of responses: into the campaign as its items, a judge's word as their predictions, win rates out again.

People see the instruction and the two responses, never the reference; a judge's label and its confidence are what the
plan routes by. Who wrote a response and the kind of task stay with the caller: they are asked for again where win
rates are.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd.campaign._data import add_items, add_predictions
from hmc_crowd.campaign._labels import blind_labels
from hmc_crowd.errors import FrameError, InputError, StateError
from hmc_crowd.judges import Pairs, as_predictions, read_pairs, win_rates
from hmc_crowd.judges._win_rates import KEPT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.judges import JudgeCalibration, WinRates
    from hmc_crowd.store import AspectRecord, Transaction

__all__ = ["add_pairs", "pair_win_rates"]

# What people see of a model that said nothing: an empty box would look like a fault of the page.
NOTHING = "(empty response)"


def add_pairs(
    context: Context,
    pairs: Any,
    *,
    judged: pd.DataFrame | None,
    calibration: JudgeCalibration | None,
    aspect: str | None,
    model_version: str,
) -> int:
    """Add pairs as items and, where given, a judge's word on them as predictions; see `Campaign.add_pairs`."""
    given = read_pairs(pairs)
    record = _pair_aspect(context, aspect)
    predictions = None if judged is None else _predictions(given, judged, calibration, record)
    if calibration is not None and judged is None:
        raise InputError("calibration is given and judged is not; give the judge's table too, or add it later")
    with nullcontext() if context.joined is not None else context.together():
        added = add_items(context, _items(given))
        if predictions is not None:
            add_predictions(context, predictions, aspect=record.name, model_version=model_version)
    return added


def pair_win_rates(
    context: Context,
    pairs: Any,
    models: str | Sequence[str],
    *,
    aspect: str | None,
    level: float,
    alpha: float,
) -> WinRates:
    """Estimate win rates from what people and the machine said; see `Campaign.win_rates`."""
    given = read_pairs(pairs)
    who = _models(pairs, models, len(given))
    record = _pair_aspect(context, aspect)
    plan = context.latest_plan()
    with context.store.read() as tx:
        units = tx.plans.read(plan.id, columns=["item", "destination"])
        where = dict(zip(units["item"].astype(str), units["destination"].astype(str), strict=True))
        gold = _labels_of(tx.frames.read(context.campaign_id, "gold", aspect=record.name))
        known = _of_the_plan(given, where, gold)
        people = _labels_of(blind_labels(context, tx, record, sorted(where), what="correct a judge's win rates")) | gold
        machine = _labels_of(_said(context, tx, record.name))
    part = ["gold" if item in gold else "people" if where.get(item) == "people" else KEPT for item in known]
    # A machine-kept item that people saw by another way than the audit's draw would not be a random one.
    drawn = {item for item in known if item in gold or where.get(item) in {"people", "audit"}}
    return win_rates(
        [people.get(item) if item in drawn else None for item in known],
        [machine.get(item) for item in known],
        who,
        part=part,
        instructions=given.instruction.tolist(),
        level=level,
        alpha=alpha,
    )


def _pair_aspect(context: Context, name: str | None) -> AspectRecord:
    """Return the question that compares two responses: the one named, or the campaign's only one."""
    compares = [each for each in context.aspects() if each.kind == "pair"]
    if not compares:
        raise InputError(
            f"campaign {context.name!r} compares no pairs; make it with aspects=[Aspect('better', kind='pair')] "
            "(hmc-crowd init --pairs)"
        )
    if name is None and len(compares) == 1:
        return compares[0]
    found = next((each for each in compares if each.name == name), None)
    if found is None:
        raise InputError(
            f"aspect is {name!r}; name one that compares pairs: {', '.join(each.name for each in compares)}"
        )
    return found


def _items(given: Pairs) -> pd.DataFrame:
    """Return items as people see them: no reference, and an empty response that can be told from a fault."""
    responses = {
        name: [text if text.strip() else NOTHING for text in getattr(given, name)]
        for name in ("response_a", "response_b")
    }
    return pd.DataFrame(
        {"item": given.item, "text": given.instruction, "audience": given.audience, **responses}, dtype=object
    )


def _predictions(
    given: Pairs, judged: pd.DataFrame, calibration: JudgeCalibration | None, record: AspectRecord
) -> pd.DataFrame:
    for name in ("item", "label", "confidence"):
        if name not in judged:
            raise FrameError(f"judged has no column {name!r}; give the table a judge returned")
    judged = judged.assign(item=judged["item"].astype(str))
    lacking = sorted(set(given.item.tolist()) - set(judged["item"]))
    if lacking:
        raise FrameError(
            f"judged lacks {len(lacking):,} of {len(given):,} pairs (first {lacking[0]!r}); a pair that the judge "
            "could not read has a row without a label"
        )
    judged = judged[judged["item"].isin(set(given.item.tolist()))].reset_index(drop=True)
    made = as_predictions(judged if calibration is None else calibration.transform(judged))
    # That equal texts are equally good needs no opinion, nor a calibration.
    equal = made["item"].isin(given.item[given.is_equal].tolist()).to_numpy()
    made.loc[equal, "label"] = "tie"
    made.loc[equal, ["confidence", "p_a", "p_b", "p_tie"]] = [1.0, 0.0, 0.0, 1.0]
    if "tie" not in record.labels:
        # The question forces a choice: what the judge calls a tie is a toss, which people decide first.
        tied = (made["label"] == "tie").to_numpy()
        made.loc[tied, "label"], made.loc[tied, "confidence"] = "a", 0.0
        return made[["item", "label", "confidence"]]
    return made


def _said(context: Context, tx: Transaction, aspect: str) -> pd.DataFrame:
    """Return the machine's labels; confidence 0 means that nothing was read."""
    said = tx.frames.read(context.campaign_id, "predictions", aspect=aspect, columns=["item", "label", "confidence"])
    return said[said["confidence"] > 0.0]


def _labels_of(frame: pd.DataFrame) -> dict[str, str]:
    return dict(zip(frame["item"].astype(str), frame["label"].astype(str), strict=True))


def _of_the_plan(given: Pairs, where: dict[str, str], gold: dict[str, str]) -> list[str]:
    """Return the pairs' items, all of which were planned or are gold."""
    items = [str(item) for item in given.item]
    unplanned = [item for item in items if item not in where and item not in gold]
    if unplanned:
        raise StateError(
            f"{len(unplanned):,} pairs (first {unplanned[0]!r}) are not in the newest plan; add them and plan again, "
            "or leave them out"
        )
    return items


def _models(pairs: Any, models: str | Sequence[str], n: int) -> list[str]:
    if isinstance(models, str):
        if isinstance(pairs, Pairs) or models not in pairs:
            raise FrameError(f"pairs have no column {models!r}; name the one that says who wrote response a")
        models = list(pairs[models])
    if len(models) != n:
        raise InputError(f"models has {len(models)} entries for {n} pairs; give one each")
    missing = np.flatnonzero([each is None or each != each for each in models])
    if len(missing):
        raise FrameError(f"models is missing at row {missing[0]} (counted from 0); say who wrote response a")
    return [str(each) for each in models]
