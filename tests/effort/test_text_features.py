"""Readability against textstat, what each language declares, and the ten dialogue features from text."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmc_crowd.effort import (
    DIALOGUE_FEATURES,
    LANGUAGES,
    FeatureTable,
    count_paraphrased,
    dialogue_features,
    group_texts,
    language_features,
    readability,
    submission_features,
    text_dialogue_features,
)
from hmc_crowd.errors import FrameError, InputError, MissingExtraError, ModelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TEXTS = [
    "The cat sat on the mat.",
    "Notwithstanding great reluctance, jurisprudence necessitates deliberation! Doesn't it? I can't say so here.",
    "How dare you!\nI will tell everybody about it.\nok",
    "'quoted' words, well-known co-operation; 3.14 is e.g. a number... isn't it so?",
    "no end no stop only words that go on and on and on",
    "A. B. C. short ones. But this sentence has five.",
    "naïve Straße café fiancée",
    "",
    "   ",
    "?!... -- '",
    "今日は良い天気です。",
]
SOUNDS = {
    "cat": ["K", "AE1", "T"], "sat": ["S", "AE1", "T"], "here": ["HH", "IY1", "R"], "on": ["AA1", "N"],
    "everybody": ["EH1", "V", "R", "IY0", "B", "AA2", "D", "IY0"], "reluctance": ["R", "AH1", "T"],
}  # fmt: skip


def clear(textstat: Any) -> None:
    """Forget what textstat remembers of texts."""
    for part in ("counts", "metrics", "selections", "validations", "transformations"):
        for name in dir(module := importlib.import_module(f"textstat.backend.{part}")):
            getattr(getattr(module, name), "cache_clear", lambda: None)()


@pytest.fixture
def textstat(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """textstat with a dictionary of our own in place of the one that it would download."""
    library = importlib.import_module("textstat")
    syllables = importlib.import_module("textstat.backend.counts._count_syllables")

    def scores(texts: list[str], *, language: str = "en_US", sounds: dict[str, Any] | None = None) -> pd.DataFrame:
        spoken = {word: [each] for word, each in (sounds or {}).items()}
        monkeypatch.setattr(syllables, "get_cmudict", lambda _: spoken)
        clear(library)
        library.set_lang(language)
        names = {"flesch_reading_ease": "flesch_reading_ease", "dale_chall": "dale_chall_readability_score"}
        if language != "en_US":
            names.pop("dale_chall")
        return pd.DataFrame(
            {ours: [getattr(library, theirs)(each) for each in texts] for ours, theirs in names.items()}
        )

    yield scores
    library.set_lang("en_US")
    clear(library)


def test_scores_are_textstats_to_the_last_digit(textstat: Callable[..., Any]) -> None:
    pd.testing.assert_frame_equal(readability(TEXTS), textstat(TEXTS), check_exact=True)


@pytest.mark.parametrize("language", sorted(code for code, each in LANGUAGES.items() if each.flesch and code != "en"))
def test_flesch_is_textstats_in_every_language_that_declares_it(language: str, textstat: Callable[..., Any]) -> None:
    texts = [*TEXTS, "Guten Tag, wie geht es Ihnen heute?", "¿Cómo está usted hoy, señora?", "Как у вас дела сегодня?"]
    found = readability(texts, language=language)
    pd.testing.assert_frame_equal(found, textstat(texts, language=language), check_exact=True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(alphabet="abc deÉİ'’.!?-,\n\tst ve 1_今", max_size=60), min_size=1, max_size=8))
def test_scores_are_textstats_for_any_text(textstat: Callable[..., Any], texts: list[str]) -> None:
    pd.testing.assert_frame_equal(readability(texts), textstat(texts), check_exact=True)


def test_syllables_of_the_dictionary_win_over_hyphenation(
    textstat: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # "reluctance" has one sound of a vowel in the test's dictionary, so the dictionary is really asked.
    monkeypatch.setattr("hmc_crowd.effort._readability._spoken", lambda: {w: [s] for w, s in SOUNDS.items()})
    found = readability(TEXTS, syllables="cmudict")
    pd.testing.assert_frame_equal(found, textstat(TEXTS, sounds=SOUNDS), check_exact=True)
    assert (found["flesch_reading_ease"] != readability(TEXTS)["flesch_reading_ease"]).any()


def test_readability_by_hand() -> None:
    # 6 words, 1 sentence, 6 syllables, no hard word:
    # 206.835 - 1.015 * 6 - 84.6 * 6 / 6 = 116.145;  0.1579 * 0 + 0.0496 * 6 = 0.2976.
    found = readability(["The cat sat on the mat."]).iloc[0]
    assert found["flesch_reading_ease"] == pytest.approx(116.145)
    assert found["dale_chall"] == pytest.approx(0.2976)


def test_without_the_dictionary_one_clear_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nltk = importlib.import_module("nltk")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(nltk, "download", lambda *_, **__: pytest.fail("asked the network"))
    with pytest.raises(ModelError, match="nltk has no CMU dictionary here; let nltk download it, or use 'hyphenation'"):
        readability(TEXTS, syllables="cmudict")


def test_without_the_extra_one_clear_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmc_crowd.effort._readability.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"needs textstat: pip install textstat"):
        readability(TEXTS)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"syllables": "guess"}, "syllables is 'guess'"),
        ({"language": "english!"}, "language is 'english!'"),
        ({"language": ""}, "language is ''"),
        ({"texts": "one"}, "texts is one string"),
        ({"texts": ["a", None]}, r"texts must hold text: row 1 \(None\)"),
    ],
)
def test_bad_options_are_named(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        readability(**({"texts": TEXTS} | change))


# -- languages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "missing"),
    [
        ("en", set()),
        ("en_US", set()),
        ("de", {"dale_chall"}),
        ("zh", {"dale_chall", "flesch_reading_ease"}),
        ("xx", {"dale_chall", "flesch_reading_ease"}),
        ("th", {"dale_chall", "flesch_reading_ease", "length_tokens"}),
    ],
)
def test_what_a_language_does_not_declare_is_left_out_with_the_reason(language: str, missing: set[str]) -> None:
    items = {"item": ["a"], "text": ["Guten Tag, wie geht es Ihnen?"]}
    table = text_dialogue_features(items, language=language)
    others = {"first_submission", "malevolent_turns", "non_malevolent_turns", "contains_malevolent", "perplexity"}
    assert set(table.left_out) == missing | others
    assert set(language_features(language)[1]) == missing
    for name in missing:
        assert any(note.startswith(f"{name} is left out: ") for note in table.notes)
    assert any("lowers R2 by" in note for note in table.notes) == bool(missing)


# -- the ten features ------------------------------------------------------------------------------------------------

ITEMS = pd.DataFrame(
    {
        "item": ["b1", "a1", "a2", "b2"],
        "group": ["b", "a", "a", "b"],
        "position": [1, 2, 1, 2],
        "text": ["How are you?", "Shut up now!", "Hello there friend.", "Fine thanks, and you?"],
    }
)
LABELS = {"b1": "fine", "a1": "rude", "a2": "fine", "b2": "fine"}


def test_all_ten_by_hand() -> None:
    given_columns = pd.DataFrame({"group": ["a", "b"], "first_submission": [1, 0], "perplexity": [20.0, 30.0]})
    wrote = pd.DataFrame({"item": ["a1", "a1"], "text": ["Please be quiet.", ""]})
    table = text_dialogue_features(ITEMS, LABELS, positive_labels=["rude"], paraphrases=wrote, columns=given_columns)
    assert list(table.frame.columns) == list(DIALOGUE_FEATURES)
    assert (table.left_out, table.notes) == ((), ())
    # Group a, turns by position: "Hello there friend.\nShut up now!": one of two workers paraphrased one turn.
    scores = readability(["Hello there friend.\nShut up now!"]).iloc[0]
    assert table.frame.loc["a"].to_dict() == {
        "turns": 2, "malevolent_turns": 1, "non_malevolent_turns": 1, "first_submission": 1, "paraphrased_turns": 0.5,
        "length_tokens": 8, "flesch_reading_ease": scores["flesch_reading_ease"], "dale_chall": scores["dale_chall"],
        "contains_malevolent": 1, "perplexity": 20,
    }  # fmt: skip
    assert list(table.frame.index) == ["b", "a"]


def test_paraphrases_are_expected_before_anybody_has_worked() -> None:
    table = text_dialogue_features(ITEMS, LABELS, positive_labels=["rude"], paraphrases=0.4)
    assert table.frame["paraphrased_turns"].tolist() == [0, 0.4]
    assert any("paraphrased_turns is expected: 0.4 of the malevolent turns" in note for note in table.notes)
    unknown = text_dialogue_features(ITEMS, LABELS, positive_labels=["rude"])
    assert unknown.frame["paraphrased_turns"].tolist() == [0, 0]
    assert "paraphrased_turns was not given and counts as 0" in unknown.notes


def test_the_rest_is_what_the_plain_features_are() -> None:
    plain = dialogue_features(ITEMS, LABELS, positive_labels=["rude"]).frame
    full = text_dialogue_features(ITEMS, LABELS, positive_labels=["rude"]).frame
    pd.testing.assert_frame_equal(full[plain.columns], plain)


def test_given_scores_win() -> None:
    columns = pd.DataFrame({"group": ["a", "b"], "dale_chall": [1.5, 2.5], "own": [7, 8]})
    table = text_dialogue_features(ITEMS, language="de", columns=columns)
    assert table.frame.loc["a", ["dale_chall", "own"]].tolist() == [1.5, 7]
    assert "dale_chall" not in table.left_out


def test_a_paraphrase_differs_in_more_than_case_and_spaces() -> None:
    old = ["Go away!", "Go away!", "Go away!", "Go away!"]
    assert count_paraphrased(old, ["Please go.", " go  AWAY!", "", None]).tolist() == [1, 0, 0, 0]


def test_turns_are_joined_in_their_order() -> None:
    assert group_texts(ITEMS).to_dict() == {
        "b": "How are you?\nFine thanks, and you?",
        "a": "Hello there friend.\nShut up now!",
    }


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(4)))
def test_order_of_rows_does_not_matter(order: list[int]) -> None:
    one, two = (
        text_dialogue_features(each, LABELS, positive_labels=["rude"]).frame.sort_index()
        for each in (ITEMS, ITEMS.iloc[order])
    )
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"items": ITEMS.drop(columns="text")}, FrameError, "items lacks the column text"),
        ({"paraphrases": 1.5}, InputError, "paraphrases is 1.5"),
        ({"paraphrases": 0.5, "labels": None, "positive_labels": None}, InputError, "no labels were given"),
        ({"paraphrases": {"item": ["zz"], "text": ["a"]}}, FrameError, "not there, such as 'zz'"),
        ({"paraphrases": {"item": ["a1"]}}, FrameError, "paraphrases lacks the column text"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], error: type[Exception], words: str) -> None:
    call: dict[str, Any] = {"items": ITEMS, "labels": LABELS, "positive_labels": ["rude"]} | change
    with pytest.raises(error, match=words):
        text_dialogue_features(call.pop("items"), call.pop("labels"), **call)


# -- one row a sitting -----------------------------------------------------------------------------------------------


def at(day: int) -> datetime:
    return datetime(2026, 1, day, tzinfo=UTC)


SITTINGS = pd.DataFrame(
    {
        "group": ["a", "b", "a"],
        "worker": ["w", "w", "v"],
        "started": [at(5), at(2), at(6)],
        "submitted": [at(6), at(3), at(7)],
        "seconds": [40.0, 90.0, 60.0],
    }
)
GOLD = pd.DataFrame({"worker": ["w", "w"], "right": [True, False], "at": [at(3), at(5)]})


def test_worker_features_are_those_known_when_the_work_began() -> None:
    dialogues = text_dialogue_features(ITEMS, LABELS, positive_labels=["rude"])
    rows = submission_features(SITTINGS, dialogues, gold_checks=GOLD)
    # Row 0 began on day 5: only the check of day 3 (right) is past. Row 1 began on day 2: nothing. Nobody tested v.
    assert rows["worker_test_score"].tolist()[0] == 1.0
    assert rows["worker_test_score"].isna().tolist() == [False, True, True]
    assert rows["first_submission"].tolist() == [0, 1, 1]
    assert rows["malevolent_turns"].tolist() == [1, 0, 1]
    assert rows["seconds"].tolist() == [40.0, 90.0, 60.0]


def test_sittings_without_features_or_times_are_named() -> None:
    dialogues = FeatureTable(pd.DataFrame({"turns": [2.0]}, index=pd.Index(["a"], name="group")), (), ())
    with pytest.raises(FrameError, match=r"no features for group row 1 \(b\)"):
        submission_features(SITTINGS, dialogues)
    with pytest.raises(FrameError, match="submissions lacks the column submitted"):
        submission_features(SITTINGS.drop(columns=["started", "submitted"]), dialogues)


def test_features_of_sittings_feed_the_groups_of_the_paper() -> None:
    from hmc_crowd.effort import feature_names

    table = text_dialogue_features(
        ITEMS, LABELS, positive_labels=["rude"], columns={"group": ["a", "b"], "perplexity": [1.0, 2.0]}
    )
    rows = submission_features(SITTINGS, table, gold_checks=GOLD)
    assert set(feature_names("D+W")) <= set(rows.columns)
    assert np.isfinite(rows[list(DIALOGUE_FEATURES)].to_numpy(dtype=float)).all()
