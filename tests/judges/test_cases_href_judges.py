"""HREF's judges on the recorded cases (the packages rouge 1.0.1 and rouge-score 0.1.2, numpy), to the digit."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hmc_crowd.judges import (
    EmbeddingJudge,
    PerplexityJudge,
    RougeJudge,
    binary,
    cosine,
    parse_answer,
    rouge,
    turned_back,
)

FILE = (
    Path(os.environ.get("HMC_CROWD_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
    / "metrics"
    / "href_cases.json"
)
CASES = {case["id"]: case for case in json.loads(FILE.read_text())["cases"]} if FILE.exists() else {}
pytestmark = pytest.mark.skipif(not CASES, reason=f"no {FILE}; set HMC_CROWD_DATA")

LABELS = {1: "a", 2: "b", 0: "tie", None: None}


def of(group: str) -> list[str]:
    return [case for case in CASES if CASES[case]["group"] == group]


def near(value: Any) -> Any:
    return pytest.approx(float(value), rel=1e-9, abs=1e-12, nan_ok=True)


def one_pair(**more: Any) -> dict[str, Any]:
    base = {"item": ["1"], "instruction": ["?"], "response_a": ["x"], "response_b": ["y"], "reference": ["z"]}
    return base | {name: [value] if isinstance(value, str) else value for name, value in more.items()}


@pytest.mark.parametrize("case", of("rouge"))
def test_rouge_equals_both_packages(case: str) -> None:
    given, wanted = CASES[case]["input"], CASES[case]["expected"]
    texts = (given["candidate"], given["reference"])
    for preset, recorded, names in (
        ("rouge-score", wanted["rouge_score"], {name: name for name in ("rouge1", "rouge2", "rougeL")}),
        ("rouge", wanted["rouge_pltrdy"], {"rouge1": "rouge-1", "rouge2": "rouge-2", "rougeL": "rouge-l"}),
    ):
        for ours, theirs in names.items():
            found = rouge(*texts, ours, preset=preset)
            assert found.precision == near(recorded[theirs]["p"]), (preset, ours)
            assert found.recall == near(recorded[theirs]["r"]), (preset, ours)
            assert found.f == near(recorded[theirs]["f"]), (preset, ours)


@pytest.mark.parametrize("case", of("rouge_judge"))
def test_rouge_judge(case: str) -> None:
    given, wanted = CASES[case]["input"], CASES[case]["expected"]
    pair = one_pair(response_a=given["response_1"], response_b=given["response_2"], reference=given["human"])
    for preset, recorded in (("rouge-score", wanted["rouge_score"]), ("rouge", wanted["rouge_pltrdy"])):
        judged = RougeJudge(preset=preset).judge(pair).iloc[0]
        assert judged["label"] == LABELS[recorded["preference"]]
        assert judged["score_a"] == near(recorded["score_1"])
        assert judged["score_b"] == near(recorded["score_2"])


@pytest.mark.parametrize("case", of("perplexity"))
def test_perplexity_judge(case: str) -> None:
    given, wanted = CASES[case]["input"], CASES[case]["expected"]
    perplexities = {
        f"perplexity_{side}": np.array([given[f"perplexity_{place}"]], dtype=float)
        for side, place in (("a", 1), ("b", 2))
    }
    assert PerplexityJudge().judge(one_pair(**perplexities))["label"][0] == LABELS[wanted["preference"]]


@pytest.mark.parametrize("case", of("embedding"))
def test_embedding_judge(case: str) -> None:
    given, wanted = CASES[case]["input"], CASES[case]["expected"]
    vectors = {
        text: np.array(given[name], dtype=float)
        for text, name in (("x", "embedding_1"), ("y", "embedding_2"), ("z", "embedding_human"))
    }
    for text, name in (("x", "cosine_1"), ("y", "cosine_2")):
        assert cosine(vectors[text][None], vectors["z"][None])[0] == near(wanted[name])
    judge = EmbeddingJudge(lambda texts: np.array([vectors[text] for text in texts]), version="case")
    judged = judge.judge(one_pair()).iloc[0]
    # Equal similarity is a tie here; the source's appendix would call it a win of the target.
    assert judged["label"] == LABELS[wanted["preference_1_2_0"]]
    assert (judged["reason"] == "zero vector") == (wanted["preference_1_2_0"] is None)


def test_parsing_of_appendix_c() -> None:
    wanted = CASES["parse_appendix_C"]["expected"]["binary"]
    completions = CASES["parse_appendix_C"]["input"]["completions"]
    assert {repr(each): binary(parse_answer(each)) for each in completions} == wanted


def test_sides_are_put_right_before_a_tie_is_made_binary() -> None:
    wanted = CASES["swap_binary_pitfall"]["expected"]
    for answer in ("a", "b", "tie"):
        assert binary(turned_back(parse_answer(answer), False)) == wanted["unswapped"][answer]
    assert binary(turned_back("tie", True)) == wanted["right_for_a_tie"]
