"""What the metrics commands do between reading a file and printing: choose measures, rank, lay out a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.cli._metrics_file import column
from hmc_crowd.cli._show import notes, table
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pandas as pd

    from hmc_crowd.metrics import Metric

__all__ = ["agreement_metrics", "ranking_of", "read_range", "read_rule", "show"]


def agreement_metrics(ratings: Any, scale: Any, guess: Any, clusters: Any, level: float) -> list[Metric]:
    """Return every agreement measure that the scale allows."""
    import hmc_crowd.metrics as hm

    if scale not in {"nominal", "ordinal", "interval", "ratio"}:
        raise InputError(f"--scale is {scale!r}; choose nominal, ordinal, interval or ratio")
    common: dict[str, Any] = {"clusters": clusters}
    wide: dict[str, Any] = {**common, "interval_level": level}
    found = [
        hm.percent_agreement(ratings, level=level, **common),
        hm.krippendorff_alpha(ratings, scale, **wide),
        hm.fleiss_kappa(ratings, level=scale, **wide),
        hm.gwet_ac1(ratings, **wide) if scale == "nominal" else hm.gwet_ac2(ratings, level=scale, **wide),
    ]
    if scale in {"interval", "ratio"}:
        found += [hm.icc(ratings, form, level=level, **common) for form in ("ICC(1,1)", "ICC(A,1)", "ICC(C,1)")]
    found.append(hm.leave_one_out_agreement(ratings, level=level, **common))
    if guess is not None:
        found.append(hm.leave_one_out_agreement(ratings, guess, level=level, **common))
    return found


def ranking_of(
    loaded: pd.DataFrame,
    model: str,
    item: str,
    file: Path,
    outcomes: Any,
    tie: float,
    unparsed: Any,
    level: float,
) -> Any:
    """Rank the models of a long table, one row per model and item."""
    import pandas as pd

    from hmc_crowd.metrics import outcome_scores, rank_models

    long = pd.DataFrame({"model": column(loaded, model, file), "item": column(loaded, item, file)})
    twice = long.duplicated()
    if twice.any():
        row = int(twice.to_numpy().argmax())
        raise InputError(f"{file}: model {long['model'][row]!r} has item {long['item'][row]!r} twice; keep one")
    long["score"] = outcome_scores(outcomes, tie=tie, unparsed=unparsed)
    return rank_models(long.pivot(index="item", columns="model", values="score"), level=level)


def read_rule(unparsed: str) -> Any:
    """Read --unparsed."""
    rule = unparsed.replace("-", "_")
    if rule not in {"drop", "as_loss"}:
        raise InputError(f"--unparsed is {unparsed!r}; choose drop or as_loss")
    return rule


def read_range(text: str) -> list[float]:
    """Read --range."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--range is {text!r}; give the lowest and the highest score, such as 1,6") from None
    return [low, high]


def show(found: Iterable[Metric], rows: list[str] | None = None, *, title: str | None = None) -> None:
    """Print metrics as a table, the reasons and warnings below it."""
    import pandas as pd

    listed = list(found)
    heads = rows if rows is not None else [metric.name for metric in listed]
    frame = pd.DataFrame(
        {
            "metric": heads,
            "value": [float(metric) for metric in listed],
            "low": [float("nan") if metric.low is None else metric.low for metric in listed],
            "high": [float("nan") if metric.high is None else metric.high for metric in listed],
            "n": [metric.n for metric in listed],
            "dropped": [sum(metric.dropped.values()) for metric in listed],
        }
    )
    level = listed[0].level if listed else 0.95
    table(frame, title=title, note=f"low, high: {100 * level:g}% interval; -: undefined or no interval")
    notes([f"{head}: {metric.reason}" for head, metric in zip(heads, listed, strict=True) if metric.reason])
    told = dict.fromkeys(warning for metric in listed for warning in metric.warnings)
    notes(list(told), kind="warning")
