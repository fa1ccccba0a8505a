"""A notebook's first cell, run again: the campaign that is there is opened, and no other one is taken for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.campaign import Aspect, Campaign
from hmc_crowd.errors import DuplicateError, InputError

if TYPE_CHECKING:
    from pathlib import Path

MADE: dict[str, Any] = {"labels": ["kind", "rude"], "seed": 7, "currency": "EUR"}


def test_creating_twice_is_refused_in_a_sentence_that_names_the_way_out(tmp_path: Path) -> None:
    Campaign.create(tmp_path / "c.db", **MADE).close()
    with pytest.raises(DuplicateError, match=r"'campaign' exists already.*open_or_create"):
        Campaign.create(tmp_path / "c.db", **MADE)


def test_the_same_call_again_opens_what_is_there(tmp_path: Path) -> None:
    with Campaign.open_or_create(tmp_path / "c.db", **MADE) as first:
        first.set_guideline("Look twice.", dry_run=False)
    with Campaign.open_or_create(tmp_path / "c.db", **MADE) as again:
        assert again.aspects[0].guideline == "Look twice."
    with Campaign.open_or_create(tmp_path / "c.db") as again:
        assert again.aspects[0].labels == ("kind", "rude")
    with Campaign.open_or_create(tmp_path / "c.db", "another", labels=["a", "b"]) as other:
        assert other.aspects[0].labels == ("a", "b")


@pytest.mark.parametrize(
    "options",
    [
        {"labels": ["kind", "mean"]},
        {"aspects": [Aspect("tone", labels=("kind", "rude"))]},
        {"currency": "USD"},
        {"seed": 8},
        {"mode": "suggest"},
        {"positive_labels": ["rude"]},
    ],
)
def test_a_campaign_made_otherwise_is_not_taken_for_the_one_asked_for(tmp_path: Path, options: dict[str, Any]) -> None:
    Campaign.create(tmp_path / "c.db", **MADE).close()
    with pytest.raises(InputError, match=r"exists already and was made with"):
        Campaign.open_or_create(tmp_path / "c.db", **{**MADE, **options} if "aspects" not in options else options)
