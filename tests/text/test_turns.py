"""Which words the encoder sees."""

from __future__ import annotations

import pandas as pd
import pytest

from hmc_crowd.confidence.text import with_context
from hmc_crowd.errors import FrameError, InputError

ITEMS = pd.DataFrame(
    {
        "group": ["g", "h", "g", "g", "g", "g"],
        "position": [1, 1, 3, 2, 5, 4],
        "text": ["one", "alone", "three", "two", "five", "four"],
    }
)


def test_the_last_three_utterances_of_the_group_come_before_the_response() -> None:
    # Group g in order: one two three four five; five is preceded by two, three, four.
    assert with_context(ITEMS) == [
        ("one",), ("alone",), ("one", "two", "three"), ("one", "two"), ("two", "three", "four", "five"),
        ("one", "two", "three", "four"),
    ]  # fmt: skip


@pytest.mark.parametrize(("previous", "expected"), [(0, ("five",)), (1, ("four", "five")), (9, 5)])
def test_how_much_context_can_be_chosen(previous: int, expected: object) -> None:
    found = with_context(ITEMS, previous=previous)[4]
    assert len(found) == expected if isinstance(expected, int) else found == expected


def test_without_position_rows_stand_in_their_order_and_without_group_alone() -> None:
    assert with_context(ITEMS.drop(columns="position"))[4] == ("one", "three", "two", "five")
    assert with_context(ITEMS[["text"]])[4] == ("five",)


@pytest.mark.parametrize(
    ("items", "words"),
    [
        (ITEMS[["group"]], "items lacks the column text"),
        (ITEMS.assign(group=[None, *"hgggg"]), "items column group is empty in row 0"),
        (ITEMS.assign(position=[None, 1, 2, 3, 4, 5]), "items column position is empty in row 0"),
        (ITEMS.assign(text=["a", None, "c", "d", "e", "f"]), r"items column text must hold texts.*row 1"),
        (7, "items is a int"),
    ],
)
def test_bad_items_are_named(items: object, words: str) -> None:
    with pytest.raises((FrameError, InputError), match=words):
        with_context(items)


@pytest.mark.parametrize("previous", [-1, 1.5, True])
def test_bad_previous_is_named(previous: object) -> None:
    with pytest.raises(InputError, match="previous is"):
        with_context(ITEMS, previous=previous)  # type: ignore[arg-type]


@pytest.mark.text
class TestTokens:
    def words(self, tiny: str, turns: tuple[str, ...], max_tokens: int = 64) -> str:
        from hmc_crowd.confidence.text._turns import encode
        from hmc_crowd.confidence.text._weights import load

        loaded = load(tiny)
        (ids,) = encode(loaded, [turns], max_tokens=max_tokens)
        return " ".join(loaded.tokenizer.convert_ids_to_tokens(ids.tolist()))

    def test_utterances_are_closed_by_the_separator(self, tiny: str) -> None:
        assert self.words(tiny, ("how are you", "go away")) == "[CLS] how are you [SEP] go away [SEP]"

    def test_the_oldest_words_go_first(self, tiny: str) -> None:
        # 8 places: start, go away + separator (3) leave 4: one for a separator, three words of the second utterance,
        # none for the first.
        found = self.words(tiny, ("i like you", "how are you friend", "go away"), 8)
        assert found == "[CLS] are you friend [SEP] go away [SEP]"

    def test_the_response_is_cut_at_its_end_only_if_it_alone_is_too_long(self, tiny: str) -> None:
        found = self.words(tiny, ("good day", "i hate your face the sun is late bad day"), 8)
        assert found == "[CLS] i hate your face the sun [SEP]"

    def test_typed_separators_are_text(self, tiny: str) -> None:
        found = self.words(tiny, ("[SEP] you",))
        assert found.startswith("[CLS] [ ")
        assert found.count("[SEP]") == 1

    def test_an_empty_text_has_start_and_separator(self, tiny: str) -> None:
        assert self.words(tiny, ("",)) == "[CLS] [SEP]"
