"""How good are a system's scores, told as RSMTool tells it?

`score_report` reads one table of scores and returns the tool's tables as frames, each number with an interval in a
table beside them, and every empty cell with its reason. Nothing is written into the caller's table.

Source: RSMTool's page "Evaluation Metrics"; departures are named by the functions that compute the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.metrics import _score_report_tables as made
from hmc_crowd.metrics._fairness import fairness_analysis
from hmc_crowd.metrics._intervals import ask_for
from hmc_crowd.metrics._score_report_population import Population, read_population
from hmc_crowd.metrics._score_report_result import ScoreReport
from hmc_crowd.metrics._score_report_rows import Notes
from hmc_crowd.metrics._score_types import TRIM_TOLERANCE, Scaling, score_types

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["score_report"]


@dataclass(frozen=True)
class _Plan:
    """What the tables need beside the population."""

    forms: dict[str, NDArray[np.float64]]
    base: str
    ask: dict[str, Any]
    notes: Notes = field(default_factory=Notes)


def score_report(
    frame: Any,
    *,
    system: str = "system",
    human: str = "human",
    second_human: str | None = None,
    more_humans: Sequence[str] = (),
    groups: str | Sequence[str] = (),
    score_range: Sequence[float] | None = None,
    tolerance: float = TRIM_TOLERANCE,
    scaling: Scaling | None = None,
    use: str = "raw",
    exclude_zero_scores: bool = True,
    double_scored_only: bool = False,
    rater_error_variance: float | None = None,
    base_groups: Mapping[str, str] | None = None,
    clusters: str | Sequence[str] = (),
    level: float = 0.95,
    interval: str = "auto",
    rng: np.random.Generator | None = None,
    n_boot: int = 2000,
) -> ScoreReport:
    """Return RSMTool's evaluation of a system's scores.

    Parameters
    ----------
    frame : table with one row per response
        pandas, polars or a mapping of columns.
    system, human : str
        Columns of raw system scores and of the first human's.
    second_human : str, optional
        Column of a second human score, missing where there is none.
    more_humans : sequence of str
        Further human scores, used by `true_score_eval` alone.
    groups : str or sequence of str
        Columns of subgroups.
    score_range : pair of float, optional
        Lowest and highest score of the scale. If not given, the human scores' own (with a warning).
    tolerance : float, default 0.4998
        See `score_types`.
    scaling : Scaling, optional
        Of the training set; adds the three scaled score types.
    use : {"raw", "scale"}
        Which trimmed type `eval_short`, the tables by group and fairness look at.
    exclude_zero_scores : bool, default True
        A first human score of 0 drops the response; a 0 of another human only becomes missing.
    double_scored_only : bool, default False
        Whether degradation and disattenuation compare on the double-scored responses alone, on both sides.
    rater_error_variance : float, optional
        From another sample; 0.0 is a value.
    base_groups : mapping of str to str, optional
        Group column -> base group of its coefficients.
    clusters : str or sequence of one or two str
        Columns whose values hang together; the intervals respect them.
    level, interval, rng, n_boot
        As in `exact_agreement`.

    Returns
    -------
    ScoreReport
        Tables, rows and columns as in RSMTool 12's files; MSE stands beside RMSE, and the F test beside R2.

    Raises
    ------
    FrameError
        A column is missing.
    InputError
        `use` is "scale" without `scaling`, a range that does not ascend, or no response is left.

    Examples
    --------
    >>> table = {"human": [1, 2, 3, 4, 0], "system": [1.2, 2.4, 2.9, 3.8, 1.0]}
    >>> report = score_report(table, score_range=(1, 4))
    >>> print(report)
    ScoreReport: 4 responses, 0 double-scored; left out 1: human score is zero; 7 tables
    >>> round(float(report["eval"].loc["raw_trim", "R2"]), 3)
    0.95
    """
    ask_for(level, interval, rng, n_boot)
    columns, ways = ([each] if isinstance(each, str) else list(each) for each in (groups, clusters))
    others = [*([second_human] if second_human else []), *more_humans]
    people = read_population(
        frame, human=human, system=system, others=others, groups=columns, clusters=ways,
        exclude_zero_scores=exclude_zero_scores,
    )  # fmt: skip
    if people.n == 0:
        why = ", ".join(f"{reason} ({rows:,})" for reason, rows in people.dropped.items()) or "the table has no rows"
        raise InputError(
            f"no response of {people.total:,} can be compared: {why}; name the columns of numbers with human= "
            f"(now {human!r}) and system= ({system!r})"
        )
    if use not in {"raw", "scale"} or (use == "scale" and scaling is None):
        raise InputError(f"use is {use!r}; give 'raw', or 'scale' together with scaling=Scaling(...)")
    warnings: tuple[str, ...] = ()
    if score_range is None:
        score_range = (float(np.floor(people.human.min())), float(np.ceil(people.human.max())))
        warnings = (
            f"score_range was not given; the human scores' own, {score_range[0]:g} to {score_range[1]:g}, is used",
        )
    forms = score_types(people.system, score_range=score_range, tolerance=tolerance, scaling=scaling)
    plan = _Plan(forms, use, {"level": level, "interval": interval, "rng": rng, "n_boot": n_boot})
    tables = _tables(people, plan, double_scored_only, rater_error_variance)
    for column in columns:
        tables |= _group_tables(people, plan, column, (base_groups or {}).get(column), second_human is not None)
    tables |= _closing(people, plan)
    return ScoreReport(
        MappingProxyType(tables), people.n, int(people.double.sum()), MappingProxyType(people.dropped), warnings
    )


def _tables(people: Population, plan: _Plan, double_only: bool, error: float | None) -> dict[str, pd.DataFrame]:
    tables = {"population": _population(people), "eval": made.eval_table(people, plan.forms, plan.notes, **plan.ask)}
    tables["eval_short"] = made.eval_short(tables["eval"], plan.base)
    if people.second is not None:
        tables["consistency"] = made.consistency(people, plan.notes, **plan.ask)
        machine = tables["eval"]
        if double_only:
            both = {form: values[people.double] for form, values in plan.forms.items()}
            few = _only(people, people.double)
            machine = made.eval_table(few, both, plan.notes, "eval_double_scored", **plan.ask)
            tables["eval_double_scored"] = machine
        tables["degradation"], tables["disattenuated_correlations"] = made.secondary(machine, tables["consistency"])
        if not tables["consistency"]["corr"].iloc[0] > 0:
            for form in plan.forms:
                plan.notes.why(
                    "disattenuated_correlations",
                    form,
                    "corr_disattenuated",
                    "the human-human correlation is not positive",
                )
    if people.others.shape[1] or error is not None:
        tables["true_score_eval"] = made.true_scores(people, plan.forms, error, plan.notes, **plan.ask)
    rounded = plan.forms[f"{plan.base}_trim_round"]
    tables["confMatrix"] = made.confusion(people, rounded)
    if people.second is not None:
        tables["confMatrix_h1h2"] = made.confusion_of_people(people)
    tables["score_dist"] = made.distribution(people, rounded, plan.base)
    return tables


def _group_tables(
    people: Population, plan: _Plan, column: str, base: str | None, second: bool
) -> dict[str, pd.DataFrame]:
    tables = {f"eval_by_{column}": made.by_group(people, plan.forms, plan.base, column, plan.notes, **plan.ask)}
    if second:
        humans = made.consistency_by(people, column, plan.notes, **plan.ask)
        tables[f"consistency_by_{column}"] = humans
        tables[f"disattenuated_correlations_by_{column}"] = made.disattenuated_by(
            tables[f"eval_by_{column}"], humans, plan.base
        )
    name = f"fairness_metrics_by_{column}"
    scores = plan.forms[f"{plan.base}_trim"]
    found = fairness_analysis(
        people.human, scores, people.groups[column], base=base, clusters=people.clusters, **plan.ask
    )
    table = made.fairness(found)
    for key, head in zip(("osa", "osd", "csd"), table.columns[:3], strict=True):
        plan.notes.add(name, "R2", {head: found[key]})
        tables[f"estimates_{key}_by_{column}"] = made.estimates(found, key, plan.ask["level"])
    return {f"eval_by_{column}": tables.pop(f"eval_by_{column}"), name: table, **tables}


def _closing(people: Population, plan: _Plan) -> dict[str, pd.DataFrame]:
    import pandas as pd

    del people
    return {
        "intervals": pd.DataFrame(plan.notes.intervals),
        "notes": pd.DataFrame(plan.notes.reasons, columns=["table", "row", "column", "reason"]),
    }


def _population(people: Population) -> pd.DataFrame:
    import pandas as pd

    rows: list[tuple[str, int]] = [("responses in the table", people.total)]
    rows += [(f"left out: {why}", count) for why, count in people.dropped.items()]
    rows += [("responses evaluated (N)", people.n)]
    rows += [(f"made missing, response kept: {why}", count) for why, count in people.set_missing.items()]
    rows += [("double-scored (N2)", int(people.double.sum()))]
    return pd.DataFrame(rows, columns=["what", "responses"])


def _only(people: Population, keep: NDArray[np.bool_]) -> Population:
    return Population(
        people.human[keep],
        people.system[keep],
        people.others[keep],
        {name: values[keep] for name, values in people.groups.items()},
        None if people.clusters is None else {name: values[keep] for name, values in people.clusters.items()},
        people.total,
        people.dropped,
        people.set_missing,
    )
