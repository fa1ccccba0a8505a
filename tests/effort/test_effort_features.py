"""Features of dialogues, texts; the prior without data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmc_crowd.effort import (
    DIALOGUE_FEATURES,
    PAPER_COLUMNS,
    TEXT_FEATURES,
    WORKER_FEATURES,
    count_tokens,
    dialogue_features,
    feature_names,
    from_paper_columns,
    prior_effort,
)
from hmc_crowd.errors import FrameError, InputError

ITEMS = pd.DataFrame(
    {
        "item": ["b1", "a1", "a2", "b2", "b3"],
        "group": ["b", "a", "a", "b", "b"],
        "text": ["one two", "shut up!", "", "three", "four five six"],
    }
)
LABELS = {"b1": "fine", "a1": "rude", "a2": "rude", "b2": "hate", "b3": "fine"}


def test_ten_dialogue_and_two_worker_features_all_with_a_published_column():
    assert len(DIALOGUE_FEATURES) == 10
    assert len(WORKER_FEATURES) == 2
    assert set(DIALOGUE_FEATURES + WORKER_FEATURES) <= set(PAPER_COLUMNS.values())
    assert feature_names("D+W") == DIALOGUE_FEATURES + WORKER_FEATURES


@pytest.mark.parametrize(
    ("groups", "words"), [("D+X", "'X' is no group"), ("", "'' is no group"), ("D+D", "more than once")]
)
def test_unknown_or_repeated_groups_are_refused(groups, words):
    with pytest.raises(InputError, match=words):
        feature_names(groups)


def test_published_columns_get_our_names_and_shares():
    frame = pd.DataFrame({"dia_fk_score": [90.0], "worker_score": [97], "mine": ["x"]})
    assert from_paper_columns(frame).to_dict("list") == {
        "flesch_reading_ease": [90.0],
        "worker_test_score": [0.97],
        "mine": ["x"],
    }
    assert list(frame.columns) == ["dia_fk_score", "worker_score", "mine"]


def test_features_by_hand():
    # Group b: items b1, b2, b3; labels fine, hate, fine -> 1 of 3; tokens 2 + 1 + 3 = 6.
    # Group a: items a1, a2; both rude; tokens shut, up, ! and none = 3.
    table = dialogue_features(ITEMS, LABELS, positive_labels=["rude", "hate"])
    assert list(table.frame.index) == ["b", "a"]
    assert table.frame.loc["b"].to_dict() == {
        "turns": 3, "malevolent_turns": 1, "non_malevolent_turns": 2,
        "paraphrased_turns": 0, "length_tokens": 6, "contains_malevolent": 1,
    }  # fmt: skip
    assert table.frame.loc["a", ["turns", "malevolent_turns", "non_malevolent_turns", "length_tokens"]].tolist() == [
        2,
        2,
        0,
        3,
    ]


def test_what_cannot_be_computed_is_left_out_and_said():
    table = dialogue_features(ITEMS[["item", "group"]])
    assert list(table.frame.columns) == ["turns", "paraphrased_turns"]
    assert "malevolent_turns" in table.left_out
    assert "length_tokens" in table.left_out
    assert "paraphrased_turns was not given and counts as 0" in str(table)


def test_given_columns_are_taken_as_they_come_and_win():
    given_columns = pd.DataFrame(
        {
            "group": ["a", "b"],
            "perplexity": [21.5, 22.5],
            "paraphrased_turns": [1, 0],
            "length_tokens": [99, 98],
            "own": [1, 2],
        }
    )
    table = dialogue_features(ITEMS, columns=given_columns)
    assert table.frame.loc["a", ["perplexity", "paraphrased_turns", "length_tokens", "own"]].tolist() == [
        21.5,
        1,
        99,
        1,
    ]
    assert table.notes == ()
    assert list(table.frame.columns) == ["turns", "paraphrased_turns", "length_tokens", "perplexity", "own"]


def test_text_features_by_hand():
    # Group b: characters 7 + 5 + 13 = 25, mean tokens 6 / 3 = 2, longest 3.
    table = dialogue_features(ITEMS, text_features=True)
    assert table.frame.loc["b", list(TEXT_FEATURES)].tolist() == [25, 2, 3]


def test_without_group_every_item_is_its_own():
    table = dialogue_features({"item": ["x", "y"], "text": ["a b", "c"]})
    assert table.frame.loc["x", ["turns", "length_tokens"]].tolist() == [1, 2]


def test_a_prediction_table_serves_as_labels():
    predictions = pd.DataFrame({"item": list(LABELS), "label": list(LABELS.values()), "confidence": 0.9})
    one = dialogue_features(ITEMS, predictions, positive_labels={"rude"}).frame
    two = dialogue_features(ITEMS, LABELS, positive_labels={"rude"}).frame
    pd.testing.assert_frame_equal(one, two)


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(5)))
def test_order_of_items_does_not_matter(order):
    one = dialogue_features(ITEMS, LABELS, positive_labels=["rude"], text_features=True).frame.sort_index()
    two = dialogue_features(ITEMS.iloc[order], LABELS, positive_labels=["rude"], text_features=True).frame.sort_index()
    pd.testing.assert_frame_equal(one, two)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"items": ITEMS.drop(columns="item")}, FrameError, "items lacks the column item"),
        ({"items": ITEMS.iloc[:0]}, FrameError, "items is empty"),
        ({"items": pd.concat([ITEMS, ITEMS.iloc[:1]])}, FrameError, r"items column item repeats: row 5 \(b1\)"),
        ({"items": ITEMS.assign(group=["b", None, "a", "b", "b"])}, FrameError, "items column group is empty in row 1"),
        ({"labels": {"b1": "fine"}}, FrameError, r"labels has no label for rows 1 \(a1\), 2 \(a2\)"),
        ({"positive_labels": None}, InputError, "without positive_labels"),
        ({"positive_labels": "rude"}, InputError, "positive_labels is the string 'rude'"),
        ({"columns": {"group": ["a"], "dale_chall": [9.0]}}, FrameError, r"columns has no row for group row 0 \(b\)"),
        (
            {"columns": {"group": ["a", "b"], "dale_chall": ["x", "y"]}},
            FrameError,
            "columns column dale_chall must hold numbers",
        ),
        ({"columns": {"group": ["a", "b", "a"], "dale_chall": [1, 2, 3]}}, FrameError, "columns group repeats"),
        ({"items": ITEMS.assign(text=["a", "b", "c", 4, "e"])}, InputError, r"texts must hold text: row 3 \(4\)"),
    ],
)
def test_bad_input_is_named(change, error, words):
    call = {"items": ITEMS, "labels": LABELS, "positive_labels": ["rude"]} | change
    with pytest.raises(error, match=words):
        dialogue_features(call.pop("items"), call.pop("labels"), **call)


def test_text_features_need_text():
    with pytest.raises(FrameError, match="items lacks the column text"):
        dialogue_features(ITEMS[["item"]], text_features=True)


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("", 0, 0),
        ("   \n\t ", 0, 0),
        ("Hello, world.", 4, 2),
        ("don't well-known", 2, 2),
        ("naïve Straße 3.14", 5, 4),
        ("今日は良い", 5, 5),
        ("GPT今日", 3, 3),
        ("😀😀", 2, 0),
        ("привет как дела?", 4, 3),
        ("- -- -", 4, 0),
    ],
)
def test_tokens_by_hand(text, tokens, words):
    assert count_tokens([text]).tolist() == [tokens]
    assert count_tokens([text], punctuation=False).tolist() == [words]


@given(st.text(max_size=60), st.text(max_size=60))
def test_tokens_of_two_texts_add_up_across_a_line_break(one, two):
    together, alone = count_tokens([f"{one}\n{two}"])[0], count_tokens([one, two]).sum()
    assert together == alone


def test_one_bare_string_is_refused():
    with pytest.raises(InputError, match="texts is one string"):
        count_tokens("hello")


def test_prior_by_hand():
    # 50 words at 150 a minute: 20 s, plus 4 s to answer.
    assert prior_effort(words=[50], words_per_minute=150, answer_s=4).seconds.tolist() == [24.0]
    # Three words, punctuation not counted, at 100 a minute: 1.8 s, plus 5.
    assert prior_effort(["Who, me? No."]).seconds == pytest.approx([6.8])


def test_prior_share_lies_in_zero_to_one():
    assert prior_effort(words=[0, 10, 5]).share.tolist() == [0, 1, 0.5]
    assert prior_effort(words=[7, 7]).share.tolist() == [0, 0]


def test_prior_says_that_it_is_a_guess():
    prior = prior_effort(["a"])
    assert "nobody was timed" in str(prior)
    assert any("guess" in line for line in prior.assumptions)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "either texts or words"),
        ({"texts": ["a"], "words": [1]}, "either texts or words"),
        ({"words": [-1]}, r"words must be finite and at least 0: row 0 \(-1.0\)"),
        ({"words": [1], "words_per_minute": 0}, "words_per_minute is 0"),
        ({"words": [1], "answer_s": -1}, "answer_s is -1"),
        ({"texts": []}, "words is empty"),
    ],
)
def test_prior_bad_input(change, words):
    with pytest.raises(InputError, match=words):
        prior_effort(**change)


def test_a_group_of_very_long_texts():
    assert dialogue_features({"item": ["x"], "text": ["word " * 100_000]}).frame["length_tokens"].item() == 100_000


def test_features_feed_the_model():
    from hmc_crowd.effort import EffortModel

    items = pd.DataFrame({"item": range(60), "text": ["word " * (k + 1) for k in range(60)]})
    table = dialogue_features(items, text_features=True)
    model = EffortModel(n_estimators=10).fit(table.frame, 5.0 + np.arange(60))
    assert model.score(table.frame, 5.0 + np.arange(60)) > 0.95
