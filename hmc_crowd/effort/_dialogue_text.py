"""All ten dialogue features of the source, from the text itself.

`text_dialogue_features` adds to `dialogue_features` what needs to read: readability as far as the language declares it,
and the surprise of a masked language model where one is given. What cannot be had is left out, with the reason and what
it costs. Nothing is predicted by what only the finished work shows: paraphrased turns are counted where people's
paraphrases are given (times of the past), and expected from a share of the malevolent turns before anybody has worked.

Source: Zhang, Ren, de Rijke (2021), section 3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.effort._dialogue import FeatureTable, dialogue_features
from hmc_crowd.effort._frames import as_pandas, require_columns
from hmc_crowd.effort._groups import DIALOGUE_FEATURES
from hmc_crowd.effort._languages import READABILITY_LOSS, language_features
from hmc_crowd.effort._perplexity import pseudo_perplexity
from hmc_crowd.effort._readability import readability
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["count_paraphrased", "group_texts", "text_dialogue_features"]

READABILITY = ("flesch_reading_ease", "dale_chall")


def text_dialogue_features(
    items: Any,
    labels: Any = None,
    *,
    positive_labels: Iterable[str] | None = None,
    language: str = "en",
    syllables: str = "hyphenation",
    paraphrases: Any = None,
    perplexity: str | None = None,
    perplexity_method: str = "exact",
    columns: Any = None,
    **options: Any,
) -> FeatureTable:
    """Compute the dialogue features from text.

    Parameters
    ----------
    items : table
        Columns ``item, text`` and optionally ``group`` and ``position`` (the order of the turns in a dialogue).
    labels, positive_labels, columns
        As in `dialogue_features`; ``columns`` may hold ``first_submission``, which is a fact about who works.
    language : str, default "en"
        Decides which features are declared; see `LANGUAGES`.
    syllables : {"hyphenation", "cmudict"}, default "hyphenation"
        As in `readability`.
    paraphrases : table or float, optional
        What people wrote, as columns ``item, text`` (an item may occur once per worker, then the mean over workers
        counts); or, before anybody has worked, the expected share of malevolent turns that get one, in [0, 1].
    perplexity : str, optional
        A masked language model for `pseudo_perplexity`; without it the feature is left out.
    perplexity_method : {"exact", "strided", "one_pass"}, default "exact"
    **options
        Passed to `pseudo_perplexity`: ``device``, ``precision``, ``batch_size``, ``max_tokens``, ``progress``.

    Returns
    -------
    FeatureTable
        Known features in the order of `DIALOGUE_FEATURES`; reasons and losses of those left out are in ``notes``.

    Raises
    ------
    FrameError, InputError
        As `dialogue_features`, and for paraphrases of unknown items or a share outside [0, 1].

    Examples
    --------
    >>> items = {"item": ["a", "b"], "group": ["g", "g"], "text": ["How are you today?", "Go away, you fool!"]}
    >>> table = text_dialogue_features(items, {"a": "ok", "b": "rude"}, positive_labels=["rude"], paraphrases=0.5)
    >>> table.frame.loc["g", ["malevolent_turns", "paraphrased_turns", "flesch_reading_ease"]].round(2).tolist()
    [1.0, 0.5, 107.6]
    >>> table.left_out
    ('first_submission', 'perplexity')
    """
    import pandas as pd

    table = as_pandas(items, name="items")
    require_columns(table, ["item", "text"], name="items")
    declared, reasons = language_features(language)
    plain = dialogue_features(table, labels, positive_labels=positive_labels, columns=columns)
    given = set() if columns is None else set(map(str, as_pandas(columns, name="columns").columns))
    made = plain.frame
    texts = group_texts(table).loc[made.index].tolist()
    scores: dict[str, Any] = (
        {} if declared.flesch is None else dict(readability(texts, language=language, syllables=syllables))
    )
    if perplexity is not None:
        scores["perplexity"] = pseudo_perplexity(texts, perplexity, method=perplexity_method, **options)
    notes = [] if paraphrases is not None else list(plain.notes)
    if paraphrases is not None:
        scores["paraphrased_turns"], note = _paraphrased(table, paraphrases, made)
        notes += note
    made = made.assign(**{name: np.asarray(value) for name, value in scores.items() if name not in given})
    dropped = [name for name in reasons if name in made and name not in given]
    made = made.drop(columns=dropped)
    order = [
        *(name for name in DIALOGUE_FEATURES if name in made),
        *(name for name in made if name not in DIALOGUE_FEATURES),
    ]
    left_out = tuple(name for name in DIALOGUE_FEATURES if name not in made)
    return FeatureTable(pd.DataFrame(made[order]), left_out, (*notes, *_why(left_out, reasons)))


def group_texts(items: Any) -> pd.Series[str]:
    r"""Return the text of each group, its turns in order of position and one a line; index ``group``.

    Examples
    --------
    >>> group_texts({"group": ["g", "h", "g"], "position": [2, 1, 1], "text": ["b", "c", "a"]}).to_dict()
    {'g': 'a\nb', 'h': 'c'}
    """
    table = as_pandas(items, name="items")
    key = table["group"] if "group" in table else table["item"]
    ordered = table.assign(group=key)
    if "position" in table:
        ordered = ordered.sort_values("position", kind="stable")
    joined = ordered["text"].fillna("").groupby(ordered["group"], sort=False).agg("\n".join)
    return joined.loc[key.drop_duplicates()]


def count_paraphrased(texts: Iterable[str], rewritten: Iterable[str | None]) -> NDArray[np.int64]:
    """Mark with 1 each text that somebody wrote anew: something is there, and differs in more than case and spaces.

    Examples
    --------
    >>> count_paraphrased(["Go away!", "Shut up", "Hi"], ["Please leave me.", " shut  UP ", None]).tolist()
    [1, 0, 0]
    """
    pairs = zip(texts, rewritten, strict=True)
    return np.array([bool(_plain(new)) and _plain(new) != _plain(old) for old, new in pairs], dtype=np.int64)


def _plain(text: Any) -> str:
    return " ".join(text.casefold().split()) if isinstance(text, str) else ""


def _paraphrased(table: pd.DataFrame, paraphrases: Any, made: pd.DataFrame) -> tuple[NDArray[np.float64], list[str]]:
    """Return paraphrased turns per group, counted or expected."""
    if isinstance(paraphrases, (int, float)) and not isinstance(paraphrases, bool):
        if not 0 <= paraphrases <= 1:
            raise InputError(
                f"paraphrases is {paraphrases}; give a share of the malevolent turns in [0, 1], or a table"
            )
        if "malevolent_turns" not in made:
            raise InputError("paraphrases is a share of the malevolent turns, but no labels were given; add them")
        note = f"paraphrased_turns is expected: {paraphrases:g} of the malevolent turns"
        return paraphrases * made["malevolent_turns"].to_numpy(dtype=np.float64), [note]
    wrote = as_pandas(paraphrases, name="paraphrases")
    require_columns(wrote, ["item", "text"], name="paraphrases")
    known = table.assign(group=table["group"] if "group" in table else table["item"]).set_index("item")
    unknown = ~wrote["item"].isin(known.index)
    if unknown.any():
        raise FrameError(f"paraphrases names items that are not there, such as {wrote.loc[unknown, 'item'].iloc[0]!r}")
    marks = wrote.assign(
        written=count_paraphrased(known.loc[wrote["item"], "text"].tolist(), wrote["text"].tolist()),
    )
    share = marks.groupby("item")["written"].mean()
    per_group = share.groupby(known.loc[share.index, "group"].to_numpy()).sum()
    return per_group.reindex(made.index, fill_value=0.0).to_numpy(dtype=np.float64), []


def _why(left_out: tuple[str, ...], reasons: dict[str, str]) -> list[str]:
    """Say why each feature is missing, and what that costs."""
    said = [f"{name} is left out: {reasons[name]}" for name in left_out if name in reasons]
    if set(READABILITY) & set(left_out) & set(reasons):
        said.append(READABILITY_LOSS)
    if "perplexity" in left_out:
        said.append("perplexity is left out: no masked language model was given")
    return said
