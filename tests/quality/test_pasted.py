"""Flags of pasted and machine-written answers: for review, never more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.quality import RejectionProposal, flag_pasted, flag_signals

TEXT = "The second response answers what was asked, while the first one changes the subject and stays vague about it."


def table(*texts: str, **columns: list) -> pd.DataFrame:
    workers = [f"w{number}" for number in range(len(texts))]
    return pd.DataFrame({"worker": workers, "task": "i1", "text": list(texts), **columns})


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("As an AI language model, I cannot say.", True),
        ("as a large language model I prefer B", True),
        ("I'm an AI and have no opinion", True),
        ("The AI in the first response sounds rude.", False),
        ("He says that he can't assist her with moving.", False),
    ],
)
def test_a_text_that_names_itself(text: str, flagged: bool) -> None:
    assert (flag_pasted(table(text))["flag"].tolist() == ["language_model"]) == flagged


@pytest.mark.parametrize(
    ("pasted", "flagged"), [(len(TEXT), True), (len(TEXT) // 2 + 1, True), (10, False), (None, False)]
)
def test_pasted_characters(pasted: int | None, flagged: bool) -> None:
    found = flag_pasted(table(TEXT, pasted_characters=[pasted], left_page=[2]))
    assert found["flag"].tolist() == ["pasted"] * flagged
    if flagged:
        assert found["evidence"].iloc[0].endswith("the page was left 2 times")


def test_faster_than_anybody_types() -> None:
    assert flag_pasted(table(TEXT, active_s=[5.0]))["flag"].tolist() == ["typed_too_fast"]
    assert flag_pasted(table(TEXT, active_s=[60.0])).empty
    assert flag_pasted(table("Yes, B.", active_s=[0.1])).empty


def test_a_copy_of_another_workers_text() -> None:
    found = flag_pasted(table(TEXT, TEXT.upper(), "B is better."))
    assert found[["worker", "flag"]].to_dict("records") == [{"worker": "w1", "flag": "copied"}]


def test_ones_own_text_may_be_used_again() -> None:
    assert flag_pasted(table(TEXT, TEXT).assign(worker="ann")).empty


def test_one_changed_word_in_a_long_text_is_still_a_copy() -> None:
    words = [f"word{number}" for number in range(80)]
    changed = [*words[:40], "other", *words[41:]]
    # 78 runs of three; three of them differ: 75 of 81 are shared = .926
    found = flag_pasted(table(" ".join(words), " ".join(changed)))
    assert found["flag"].tolist() == ["copied"]
    assert found["evidence"].iloc[0].startswith("93%")


def test_every_near_copy_is_met() -> None:
    # against all pairs: the index of runs must not lose any
    rng, texts = np.random.default_rng(0), []
    for number in range(30):
        words = [f"w{word}" for word in rng.integers(0, 2000, 40)] if number % 2 == 0 else texts[-1].split()
        if number % 2:
            words[int(rng.integers(40))] = "changed"
        texts.append(" ".join(words))
    found = flag_pasted(table(*texts), alike=0.8)

    def runs(text: str) -> set:
        words = text.split()
        return set(zip(words, words[1:], words[2:], strict=False))

    pairs = [(one, two) for two in range(30) for one in range(two)]
    copies = {
        two
        for one, two in pairs
        if len(runs(texts[one]) & runs(texts[two])) >= 0.8 * len(runs(texts[one]) | runs(texts[two]))
    }
    assert {int(worker[1:]) for worker in found["worker"]} == copies


def test_every_flag_asks_for_review_and_none_rejects() -> None:
    flags = flag_pasted(table(TEXT, TEXT, pasted_characters=[200, 200], active_s=[1.0, 1.0]))
    assert flags["review"].all()
    signals = flag_signals(flags)["w1"]
    assert not any(each.counts for each in signals)
    with pytest.raises(InputError, match="needs two"):
        RejectionProposal("s1", signals, "x" * 100)


def test_missing_texts_and_columns() -> None:
    assert flag_pasted(table(TEXT).assign(text=None)).empty
    with pytest.raises(FrameError, match="lacks the column text"):
        flag_pasted(table(TEXT).drop(columns="text"))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pasted_share": 0}, "pasted_share is 0"),
        ({"alike": 1.5}, "alike is 1.5"),
        ({"least_words": 0}, "least_words is 0"),
    ],
)
def test_wrong_settings(settings: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        flag_pasted(table(TEXT), **settings)  # type: ignore[arg-type]
