"""Use 2: aggregate crowd labels. A file of answers in, one label for each item with its doubt out.

    python examples/aggregate_crowd_labels.py

No campaign and no database are needed. The command line does the same:

    hmc-crowd aggregate answers.csv --method dawid-skene --out labels.csv
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from hmc_crowd.aggregation import aggregate
from hmc_crowd.io import read_frame, write_frame
from hmc_crowd.quality import gold_scores

LABELS = np.array(["neutral", "negative", "positive"])


def make_answers(rng: np.random.Generator) -> tuple[pd.DataFrame, pd.Series]:
    """Stand in for your own file: 300 tasks, 5 of 20 workers each; some workers are careful, some guess."""
    truth = pd.Series(rng.choice(LABELS, 300), index=[f"t{number}" for number in range(300)])
    skill = np.where(np.arange(20) < 8, 0.92, 0.45)
    rows = []
    for task, label in truth.items():
        for worker in rng.choice(20, 5, replace=False):
            others = LABELS[label != LABELS]
            rows.append((task, f"w{worker}", label if rng.random() < skill[worker] else rng.choice(others)))
    return pd.DataFrame(rows, columns=["task", "worker", "label"]), truth


def main() -> None:
    answers, truth = make_answers(np.random.default_rng(3))
    write_frame(answers, "answers.csv", overwrite=True)
    answers = read_frame("answers.csv", kind="answers").frame
    for method in ("majority", "dawid_skene"):
        result = aggregate(answers, method=method)
        labels = result.frame.set_index("item")["label"]
        print(f"{method}: {(labels == truth.loc[labels.index]).mean():.1%} right, {result.frame['tied'].sum()} tied")
    write_frame(result.frame, "labels.csv", overwrite=True)
    print(result.frame.head(3).round(3).to_string(index=False))
    print("what it rests on:", *result.assumptions, sep="\n  ")
    gold = truth.head(40)
    print(gold_scores(answers, gold).sort_values("score").head(3).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
