"""RSMTool's tables, as frames.

The tool's column names and percentages; rows are score types or groups. Source: RSMTool's page "Evaluation Metrics"
and the names of its output files.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.metrics._prmse import prmse
from hmc_crowd.metrics._score_report_rows import Notes, agreement_of, described, numbers
from hmc_crowd.metrics._scoring_groups import ALL
from hmc_crowd.metrics._scoring_smd import (
    SMALL_GROUP,
    difference_of_standardized_means,
    rater_standing_difference,
)
from hmc_crowd.metrics._validate import group_codes

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.metrics._fairness_result import FairnessAnalysis
    from hmc_crowd.metrics._result import Metric
    from hmc_crowd.metrics._score_report_population import Population

    Forms = dict[str, NDArray[np.float64]]

__all__ = [
    "by_group",
    "confusion",
    "confusion_of_people",
    "consistency",
    "consistency_by",
    "disattenuated_by",
    "distribution",
    "eval_short",
    "eval_table",
    "secondary",
    "true_scores",
]

UNROUNDED = ("sys_mean", "sys_sd", "wtkappa", "corr", "SMD", "RMSE", "R2")
ROUNDED = ("sys_mean", "sys_sd", "kappa", "exact_agr", "adj_agr", "SMD")
COMPARED = ("corr", "kappa", "wtkappa", "exact_agr", "adj_agr", "SMD")


def _table(rows: dict[str, dict[str, Any]], index: str) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows.values()), index=pd.Index(list(rows), name=index, dtype=object))


def eval_table(people: Population, forms: Forms, notes: Notes, name: str = "eval", **ask: Any) -> pd.DataFrame:
    """Return agreement of every score type with the first human, one row per type."""
    rows = {}
    for form, values in forms.items():
        found = agreement_of(people.human, values, clusters=people.clusters, **ask)
        notes.add(name, form, found)
        shown = numbers(found)
        tail = {key: shown.pop(key) for key in ("RMSE", "MSE")}
        rows[form] = {"N": people.n, **described(people.human, "h"), **described(values, "sys"), **shown, **tail}
    return _table(rows, "score_type")


def eval_short(table: pd.DataFrame, base: str) -> pd.DataFrame:
    """Return the chosen columns of the trimmed and the trimmed and rounded type, in one row."""
    trimmed, rounded = f"{base}_trim", f"{base}_trim_round"
    first = table.loc[trimmed]
    row = {name: first[name] for name in ("N", "h_mean", "h_sd")}
    row |= {f"{name}.{trimmed}": first[name] for name in UNROUNDED}
    row |= {f"{name}.{rounded}": table.loc[rounded, name] for name in ROUNDED}
    return _table({ALL: row}, "")


def by_group(people: Population, forms: Forms, base: str, column: str, notes: Notes, **ask: Any) -> pd.DataFrame:
    """Return the short table for each group of a column, with DSM in place of SMD, and for all data."""
    table = f"eval_by_{column}"
    names, code = group_codes(people.groups[column], people.n, name=column)
    forms = {form: forms[form] for form in (f"{base}_trim", f"{base}_trim_round")}
    dsm = {
        form: difference_of_standardized_means(
            people.human, values, people.groups[column], clusters=people.clusters, **ask
        )
        for form, values in forms.items()
    }
    rows = {}
    for place, name in [*enumerate(names), (-1, ALL)]:
        inside = code == place if place >= 0 else np.ones(people.n, dtype=bool)
        size = int(np.count_nonzero(inside))
        if size < SMALL_GROUP:
            notes.why(table, name, "", f"small group: {size} response{'s' if size != 1 else ''}")
        clusters = None if people.clusters is None else {key: each[inside] for key, each in people.clusters.items()}
        human = people.human[inside]
        row = {"N": float(size), **{k: v for k, v in described(human, "h").items() if k in {"h_mean", "h_sd"}}}
        for form, wanted in zip(forms, (UNROUNDED, ROUNDED), strict=True):
            found = agreement_of(human, forms[form][inside], clusters=clusters, **ask)
            found = {
                "DSM" if key == "SMD" else key: dsm[form][name] if key == "SMD" else each for key, each in found.items()
            }
            keys = ["DSM" if key == "SMD" else key for key in wanted]
            notes.add(table, name, {f"{key}.{form}": found[key] for key in keys if key in found})
            shown = {**described(forms[form][inside], "sys"), **numbers(found)}
            row |= {f"{key}.{form}": shown[key] for key in keys}
        rows[name] = row
    return _table(rows, column)


def consistency(people: Population, notes: Notes, name: str = "consistency", row: str = "", **ask: Any) -> pd.DataFrame:
    """Return agreement of the second human with the first on the double-scored responses."""
    return _table(
        {row or ALL: _consistency_row(people, np.ones(people.n, dtype=bool), notes, name, row or ALL, ask)}, ""
    )


def consistency_by(people: Population, column: str, notes: Notes, **ask: Any) -> pd.DataFrame:
    """Return the consistency table for each group of a column, with DSM in place of SMD, and for all data."""
    names, code = group_codes(people.groups[column], people.n, name=column)
    second = np.full(people.n, np.nan) if people.second is None else people.second
    rows = {}
    for place, name in [*enumerate(names), (-1, ALL)]:
        inside = code == place if place >= 0 else np.ones(people.n, dtype=bool)
        dsm = rater_standing_difference(people.human, second, inside, clusters=people.clusters, **ask)
        rows[name] = _consistency_row(people, inside, notes, f"consistency_by_{column}", name, ask, dsm)
    return _table(rows, column)


def _consistency_row(
    people: Population,
    inside: NDArray[np.bool_],
    notes: Notes,
    table: str,
    name: str,
    ask: dict[str, Any],
    dsm: Metric | None = None,
) -> dict[str, float]:
    both = people.double & inside
    first = people.human[both]
    second = np.zeros(0) if people.second is None else people.second[both]
    clusters = None if people.clusters is None else {key: each[both] for key, each in people.clusters.items()}
    found = agreement_of(first, second, smd="pooled", errors=False, clusters=clusters, **ask)
    if dsm is not None:
        found["DSM"] = dsm
        del found["SMD"]
    notes.add(table, name, found)
    return {"N": float(len(first)), **described(first, "h1"), **described(second, "h2"), **numbers(found)}


def secondary(table: pd.DataFrame, humans: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return degradation and disattenuated correlations.

    Degradation is human-machine minus human-human; a correlation is disattenuated by the root of the human-human
    correlation, and has no value if that is negative or 0.
    """
    between = humans.iloc[0]
    columns = list(COMPARED)
    return table[columns] - between[columns], _disattenuated(table["corr"], float(between["corr"]))


def _disattenuated(machine: pd.Series[float], people: Any) -> pd.DataFrame:
    import pandas as pd

    found = pd.DataFrame({"corr_HM": machine.astype(float), "corr_HH": people})
    positive = found["corr_HH"].where(found["corr_HH"] > 0)
    found["sqrt_HH"] = np.sqrt(positive)
    found["corr_disattenuated"] = found["corr_HM"] / found["sqrt_HH"]
    return found


def disattenuated_by(eval_by: pd.DataFrame, humans: pd.DataFrame, base: str) -> pd.DataFrame:
    """Return the disattenuated correlations of each group, with the group's own human-human correlation."""
    return _disattenuated(eval_by[f"corr.{base}_trim"], humans["corr"])


def true_scores(people: Population, forms: Forms, error: float | None, notes: Notes, **ask: Any) -> pd.DataFrame:
    """Return PRMSE and its parts for every score type."""
    ratings = np.column_stack([people.human, people.others])
    rows = {}
    for form, values in forms.items():
        found = prmse(ratings, values, error, clusters=people.clusters, **ask)
        notes.add("true_score_eval", form, {"PRMSE true": found})
        part = found.details
        rows[form] = {
            "N": float(found.n),
            "N raters": float(part["n_raters"]),
            "N single": float(part["n_single"]),
            "N multiple": float(part["n_multiple"]),
            "Variance of errors": _or_nan(part.get("error_variance")),
            "True score var": _or_nan(part.get("true_score_variance")),
            "MSE true": _or_nan(part.get("mse_true")),
            "PRMSE true": float(found),
        }
    return _table(rows, "score_type")


def _or_nan(value: Any) -> float:
    return math.nan if value is None else float(value)


def confusion(people: Population, rounded: NDArray[np.float64]) -> pd.DataFrame:
    """Return counts by rounded human score (rows) and rounded system score (columns)."""
    return _crossed(people.human, rounded, "human", "system")


def confusion_of_people(people: Population) -> pd.DataFrame:
    """Return counts by the first human's rounded score (rows) and the second's (columns), of the double-scored."""
    second = np.zeros(0) if people.second is None else people.second[people.double]
    return _crossed(people.human[people.double], second, "h1", "h2")


def _crossed(left: NDArray[np.float64], above: NDArray[np.float64], rows: str, columns: str) -> pd.DataFrame:
    import pandas as pd

    left, above = np.rint(left), np.rint(above)
    labels = np.unique(np.concatenate([left, above]))
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(counts, (np.searchsorted(labels, left), np.searchsorted(labels, above)), 1)
    index = labels.astype(np.int64)
    return pd.DataFrame(counts, index=pd.Index(index, name=rows), columns=pd.Index(index, name=columns))


def distribution(people: Population, rounded: NDArray[np.float64], base: str) -> pd.DataFrame:
    """Return the percentages of each rounded score for people and system, and their difference."""
    human = np.rint(people.human)
    rows = {}
    for score in np.unique(np.concatenate([human, rounded])):
        left, right = (100.0 * float(np.mean(each == score)) for each in (human, rounded))
        rows[str(int(score))] = {"human": left, f"sys_{base}": right, "difference": right - left}
    return _table(rows, "score")


def fairness(found: FairnessAnalysis) -> pd.DataFrame:
    """Return RSMTool's rows ``R2`` (which is adjusted) and ``sig`` and its base category, then what it leaves out."""
    table = found.to_frame().rename(index={"r2_adj": "R2", "r2": "R2_not_adjusted"})
    return table.assign(base_category=found.base)


def estimates(found: FairnessAnalysis, which: str, level: float) -> pd.DataFrame:
    """Return coefficients under RSMTool's column names, which are those of its statistics package."""
    low = (1 - level) / 2
    names = {"p": "P>[t]", "low": f"[{low:.6g}", "high": f"{1 - low:.6g}]"}
    return found.estimates_frame(which).rename(columns=names)
