"""What does a score report hold, and into which forms can it be put?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.private import make_private_folder, private_draft
from hmc_crowd._base.spreadsheets import inert_frame
from hmc_crowd.errors import InputError
from hmc_crowd.metrics._score_report_html import section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

__all__ = ["ScoreReport"]

# Tables whose index says nothing.
UNLABELLED = {"population", "intervals", "notes"}


@dataclass(frozen=True, eq=False)
class ScoreReport:
    """RSMTool's tables. Frozen; ``report["eval"]`` is a frame, and ``"eval" in report`` says whether there is one.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        ``population, eval, eval_short, eval_by_<group>, consistency, consistency_by_<group>, degradation,
        disattenuated_correlations, disattenuated_correlations_by_<group>, true_score_eval,
        fairness_metrics_by_<group>, estimates_<osa|osd|csd>_by_<group>, confMatrix, confMatrix_h1h2,
        score_dist, intervals, notes``;
        those of the second human only where there is one.
    n, n_double : int
        Responses, and those with a second human score.
    dropped : mapping of str to int
    warnings : tuple of str
    """

    tables: Mapping[str, pd.DataFrame]
    n: int
    n_double: int
    dropped: Mapping[str, int]
    warnings: tuple[str, ...] = ()

    def __getitem__(self, table: str) -> pd.DataFrame:
        if table not in self.tables:
            raise InputError(f"there is no table {table!r}; there are {', '.join(self.tables)}")
        return self.tables[table]

    def __contains__(self, table: object) -> bool:
        return table in self.tables

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __str__(self) -> str:
        left = f"; left out {sum(self.dropped.values()):,}: {', '.join(self.dropped)}" if self.dropped else ""
        return f"ScoreReport: {self.n:,} responses, {self.n_double:,} double-scored{left}; {len(self.tables)} tables"

    def to_csv(self, folder: str | Path, *, sep: str = ",") -> list[Path]:
        """Write each table into ``<folder>/<table>.csv`` (``.tsv`` if `sep` is a tab) and return the paths.

        Each file appears whole or not at all, for its owner alone to read; files of the same name are replaced.
        """
        base = make_private_folder(Path(folder))
        suffix, paths = ("tsv" if sep == "\t" else "csv"), []
        for name, frame in self.tables.items():
            path = base / f"{_file_name(name)}.{suffix}"
            with private_draft(path) as draft:
                inert_frame(frame).to_csv(draft, sep=sep, index=name not in UNLABELLED)
            paths.append(path)
        return paths

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: a list of rows per table, None where a number is undefined."""
        tables = {}
        for name, frame in self.tables.items():
            whole = frame if name in UNLABELLED else frame.reset_index(names=frame.index.name or "row")
            tables[name] = [{str(k): _json(v) for k, v in row.items()} for row in whole.to_dict("records")]
        return {
            "n": self.n,
            "n_double": self.n_double,
            "dropped": dict(self.dropped),
            "warnings": list(self.warnings),
            "tables": tables,
        }

    def to_html(self, *, title: str = "Scores") -> str:
        """Return a ``<section>`` of a web page; a |SMD| or |DSM| above .15 is marked in words and colour."""
        return section(title, self.tables, self.warnings)

    def _repr_html_(self) -> str:
        return self.to_html()


def _file_name(table: str) -> str:
    """Keep letters, digits and a few marks, so that a column's name cannot lead out of the folder."""
    return "".join(each if each.isalnum() or each in "-_. " else "_" for each in table).strip(". ") or "table"


def _json(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value
