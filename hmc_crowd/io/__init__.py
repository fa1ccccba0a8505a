"""How tables come in, and labels go out.

`read_frame` takes a path (CSV, TSV, JSON lines, Parquet) or a frame (pandas, polars, pyarrow, a Hugging Face
``Dataset``, a list of dicts) and returns one pandas frame whose columns keep the rules of `TableKind`, or says in one
sentence what is wrong, where, and what to do. `read_mturk_batch` and `read_prolific_export` read what those platforms
give out. `SourceKind.restore` gives the output the kind that the input had.
"""

from __future__ import annotations

from hmc_crowd.io._forms import Form
from hmc_crowd.io._mturk_export import MTurkBatch, read_mturk_batch
from hmc_crowd.io._prolific_export import ProlificExport, read_prolific_export
from hmc_crowd.io._read import Loaded, iter_frames, read_frame
from hmc_crowd.io._rules import TableKind
from hmc_crowd.io._source import SourceKind
from hmc_crowd.io._write import write_frame

__all__ = [
    "Form",
    "Loaded",
    "MTurkBatch",
    "ProlificExport",
    "SourceKind",
    "TableKind",
    "iter_frames",
    "read_frame",
    "read_mturk_batch",
    "read_prolific_export",
    "write_frame",
]
