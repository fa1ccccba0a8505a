"""Which labels can a campaign have? Those that nobody confuses; a wrong one is refused before there is a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hmc_crowd.campaign import Aspect, Campaign
from hmc_crowd.campaign._label_names import label_names
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

WRONG = [
    ("ab", "is the text 'ab'; give a list"),
    (b"ab", "give a list"),
    ({"a", "b"}, "is a set; give a list"),
    (7, "is a int; give a list"),
    (["a", ""], "nobody sees"),
    (["a", " \t"], "nobody sees"),
    (["a", "\u200b"], "nobody sees"),
    (["a", "a "], "spaces around it"),
    ([None, "a"], "None, which is no text"),
    ([float("nan"), "a"], "nan, which is no text"),
    ([["a"], "b"], "which is no text"),
    (["caf\u00e9", "cafe\u0301"], r"'caf\\xe9' and 'cafe\\u0301', which look the same"),
    (["not sure", "not\u00a0sure"], "look the same"),
    (["a", "a\u200b"], "look the same"),
    (["a", "b\x00"], "control characters"),
    (["a", "b", "a"], "repeat"),
    ([1, "1"], "repeat"),
]


@pytest.mark.parametrize(("labels", "told"), WRONG)
def test_labels_that_somebody_would_confuse_are_refused_and_leave_no_database(
    tmp_path: Path, labels: Any, told: str
) -> None:
    with pytest.raises(InputError, match=told):
        Campaign.create(tmp_path / "c.db", labels=labels, seed=1)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("labels", "told"), WRONG)
def test_an_aspect_and_the_positive_labels_keep_the_same_rules(tmp_path: Path, labels: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        Aspect("tone", labels=labels)
    with pytest.raises(InputError, match=told):
        Campaign.create(tmp_path / "c.db", labels=["a", "b"], positive_labels=labels)


def test_labels_come_in_any_ordered_kind_and_are_kept_as_text(tmp_path: Path) -> None:
    kinds: list[Any] = [["0", "1"], ("0", "1"), [0, 1], pd.Series([0, 1]), pd.Index(["0", "1"]), iter(["0", "1"])]
    for place, labels in enumerate(kinds):
        with Campaign.create(tmp_path / f"{place}.db", labels=labels, seed=1) as campaign:
            assert campaign.aspects[0].labels == ("0", "1")


def test_no_labels_are_learnt_from_the_first_predictions(tmp_path: Path) -> None:
    with Campaign.create(tmp_path / "c.db", labels=[], seed=1) as campaign:
        campaign.add_items(pd.DataFrame({"item": ["a", "b"]}))
        campaign.add_predictions(pd.DataFrame({"item": ["a", "b"], "label": ["x", "y"], "confidence": [0.5, 0.5]}))
        with pytest.raises(InputError, match="must be one of x, y"):
            campaign.add_gold(pd.DataFrame({"item": ["a"], "label": ["z"]}))


def test_first_predictions_whose_labels_look_alike_are_refused_and_nothing_is_learnt(tmp_path: Path) -> None:
    rows = pd.DataFrame({"item": ["a", "b"], "label": ["x", "x "], "confidence": [0.5, 0.5]})
    with Campaign.create(tmp_path / "c.db", seed=1) as campaign:
        campaign.add_items(pd.DataFrame({"item": ["a", "b"]}))
        with pytest.raises(InputError, match="read from its first table, has 'x ', with spaces around it"):
            campaign.add_predictions(rows)
        assert campaign.add_predictions(rows.assign(label=["x", "y"])) == 2


@pytest.mark.parametrize("label", ["👩\u200d⚖️", "می\u200cخواهم", "très\u00a0bien", "C++ & <b>", "日本"])
def test_labels_of_other_scripts_and_emoji_are_labels_like_others(label: str) -> None:
    assert label_names([label, "other"], name="labels") == (label, "other")


@given(st.lists(st.text(), max_size=6))
def test_what_is_accepted_is_kept_as_it_was_written(labels: list[str]) -> None:
    try:
        found = label_names(labels, name="labels")
    except InputError:
        return
    assert list(found) == labels
    assert all(each == each.strip() != "" for each in found)
