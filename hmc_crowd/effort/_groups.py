"""Which things about a dialogue and a worker say how long the judging will take.

The feature groups are data: tuples of names, used by the model (``features="D"``), the ablation and the plots. The
source's own column names are mapped to ours in one place.

Source: Zhang, Ren, de Rijke (2021), section 3.3 (ten dialogue features, two worker features).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hmc_crowd.effort._frames import as_pandas
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

__all__ = [
    "DIALOGUE_FEATURES",
    "FEATURE_GROUPS",
    "PAPER_COLUMNS",
    "TEXT_FEATURES",
    "WORKER_FEATURES",
    "feature_names",
    "from_paper_columns",
]

DIALOGUE_FEATURES: tuple[str, ...] = (
    "turns",
    "malevolent_turns",
    "non_malevolent_turns",
    "first_submission",
    "paraphrased_turns",
    "length_tokens",
    "flesch_reading_ease",
    "dale_chall",
    "contains_malevolent",
    "perplexity",
)
"""The source's ten dialogue features (group ``D``)."""

WORKER_FEATURES: tuple[str, ...] = ("worker_test_score", "approval_ranking")
"""The source's two worker features (group ``W``)."""

TEXT_FEATURES: tuple[str, ...] = ("length_characters", "mean_item_tokens", "longest_item_tokens")
"""Lengths that any text has (group ``T``): no labels, no classifier, no language model needed."""

FEATURE_GROUPS = MappingProxyType({"D": DIALOGUE_FEATURES, "W": WORKER_FEATURES, "T": TEXT_FEATURES})
"""Letter of a group -> its features; joined by plus signs as in ``"D+W"``."""

PAPER_COLUMNS = MappingProxyType(
    {
        "turns": "turns",
        "Mal_number": "malevolent_turns",
        "Nonmal_number": "non_malevolent_turns",
        "FirstSubmit": "first_submission",
        "RewriteCount": "paraphrased_turns",
        "DialogueLen": "length_tokens",
        "dia_fk_score": "flesch_reading_ease",
        "dia_dc_score": "dale_chall",
        "Mal_label": "contains_malevolent",
        "dialogue_bert_pp": "perplexity",
        "worker_score": "worker_test_score",
        "lifetime_ranking": "approval_ranking",
        "WorkTimeInSeconds": "seconds",
        "Number": "group",
        "my_split": "split",
    }
)
"""Column of the data published with the source -> our name."""

# Columns that the source keeps in percent; ours are shares.
_PERCENT = ("worker_score",)


def feature_names(groups: str | Sequence[str]) -> tuple[str, ...]:
    """Return the features of one or more groups, in the groups' order.

    Parameters
    ----------
    groups : str or sequence of str
        ``"D"``, ``"W"``, ``"T"`` or several joined by plus signs, such as ``"D+W"``; a sequence of feature names comes
        back as a tuple.

    Raises
    ------
    InputError
        A letter names no group, or a name repeats.

    Examples
    --------
    >>> feature_names("W")
    ('worker_test_score', 'approval_ranking')
    >>> len(feature_names("D+W"))
    12
    """
    if isinstance(groups, str):
        unknown = [letter for letter in groups.split("+") if letter not in FEATURE_GROUPS]
        if unknown:
            raise InputError(
                f"features is {groups!r}, and {unknown[0]!r} is no group; use {', '.join(FEATURE_GROUPS)}, "
                "join them as in 'D+W', or give a list of column names"
            )
        names = tuple(name for letter in groups.split("+") for name in FEATURE_GROUPS[letter])
    else:
        names = tuple(groups)
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"features names {', '.join(repeated)} more than once; name each once")
    return names


def from_paper_columns(frame: Any) -> pd.DataFrame:
    """Return the source's published table under our names, shares in [0, 1]; other columns come along unchanged.

    Parameters
    ----------
    frame : table
        With any of the columns of `PAPER_COLUMNS`. Not written to.

    Returns
    -------
    pandas.DataFrame
        Renamed copy; ``worker_score``, which the source keeps in percent, is divided by 100.

    Examples
    --------
    >>> from_paper_columns({"Mal_number": [2], "worker_score": [95]}).to_dict("list")
    {'malevolent_turns': [2], 'worker_test_score': [0.95]}
    """
    table = as_pandas(frame, name="frame")
    renamed = table.rename(columns=dict(PAPER_COLUMNS))
    percent = {PAPER_COLUMNS[column]: renamed[PAPER_COLUMNS[column]] / 100 for column in _PERCENT if column in table}
    return renamed.assign(**percent)
