"""On what does the demo run, without a download and without anybody else's data?

On ``dialogues.jsonl`` beside this module: a few hundred short everyday dialogues in plain English, written for this
package and under its licence. Two speakers alternate, a turn is one sentence. The author labelled every turn ``kind``
(friendly, neutral, blunt but fair) or ``unkind`` (mildly rude, mocking, dismissive, blaming, sulking) and guessed how
hard it is. Content is mild by design; the labels are one person's, so the demo shows the loop and measures nothing
about people.

One line of the file is one dialogue::

    {"group": "d001", "scene": "flatmates, washing up",
     "turns": [{"text": "...", "label": "kind", "difficulty": 0.05}, ...]}
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DemoDialogues", "load_dialogues"]

_LABELS = ("kind", "unkind")


@dataclass(frozen=True, eq=False)
class DemoDialogues:
    """The turns of the demo, what is true of them, and the labels that there are.

    Attributes
    ----------
    items : pandas.DataFrame
        One row a turn, in reading order: ``item`` ("d001-1"), ``group`` (the dialogue, "d001"), ``position`` (of the
        turn in its dialogue, from 1; odd ones belong to one speaker, even ones to the other), ``text``.
    truth : pandas.DataFrame
        The same rows in the same order: ``item``, ``label``, ``difficulty`` (share in [0, 1] of careful people whom
        the author expects to disagree with the label).
    labels : tuple of str
        ``("kind", "unkind")``.

    See Also
    --------
    load_dialogues : Reads them from the package.
    """

    items: pd.DataFrame
    truth: pd.DataFrame
    labels: tuple[str, ...] = _LABELS

    def __str__(self) -> str:
        share = float((self.truth["label"] == "unkind").mean())
        return f"{self.items['group'].nunique()} dialogues, {len(self.items)} turns, {share:.0%} of them unkind"


def load_dialogues() -> DemoDialogues:
    """Read the demo's dialogues from the installed package.

    Returns
    -------
    DemoDialogues
        Fresh frames on every call, so that a caller may change his own.

    Examples
    --------
    >>> dialogues = load_dialogues()
    >>> dialogues.items[["item", "group", "position"]].head(2).values.tolist()
    [['d001-1', 'd001', 1], ['d001-2', 'd001', 2]]
    >>> print(dialogues)
    336 dialogues, 1208 turns, 34% of them unkind
    """
    import pandas as pd

    text = files("hmc_crowd.demo").joinpath("dialogues.jsonl").read_text(encoding="utf-8")
    # Lines are cut at "\n" alone: str.splitlines would also cut at separators that JSON allows inside a string.
    dialogues = [json.loads(line) for line in text.split("\n") if line]
    rows = [
        (f"{each['group']}-{position}", each["group"], position, turn["text"], turn["label"], turn["difficulty"])
        for each in dialogues
        for position, turn in enumerate(each["turns"], start=1)
    ]
    turns = pd.DataFrame(rows, columns=["item", "group", "position", "text", "label", "difficulty"])
    return DemoDialogues(
        items=turns[["item", "group", "position", "text"]].copy(),
        truth=turns[["item", "label", "difficulty"]].copy(),
    )
