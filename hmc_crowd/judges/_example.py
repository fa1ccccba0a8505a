"""A small set of pairs with people's preferences, written for the examples: everything runs without a network.

39 instructions in six categories; for each a person's reference, a baseline's response, and responses of three made-up
models: "brief" says as little as it can, "wordy" says more than was asked, "off" is mostly wrong. Four preferences a
pair were written along with them, as careful readers might give them. The set shows how the parts fit together; it
measures nothing in the world.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["example_pairs"]


def example_pairs() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the pairs, and people's answers.

    Returns
    -------
    pairs : frame ``item, instruction, response_a, response_b, reference, category, model``
        117 pairs; a is the model's response, b the baseline's.
    annotations : frame ``task, worker, label``
        Four answers a pair.

    Examples
    --------
    >>> pairs, annotations = example_pairs()
    >>> len(pairs), len(annotations), sorted(set(annotations["label"]))
    (117, 468, ['a', 'b', 'tie'])
    """
    import pandas as pd

    text = (files("hmc_crowd.judges") / "data" / "example_pairs.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    answers = [
        (row["item"], f"person {number}", label)
        for row in rows
        for number, label in enumerate(row["people"].split(), 1)
    ]
    pairs = pd.DataFrame(rows).drop(columns="people")
    return pairs, pd.DataFrame(answers, columns=["task", "worker", "label"])
