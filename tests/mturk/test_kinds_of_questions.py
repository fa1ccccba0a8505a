"""The page that goes to MTurk shows what one plain form can show, and refuses the rest in a sentence."""

from __future__ import annotations

import pytest
from hmc_crowd_mturk._questions import answer_name, page_of

from hmc_crowd.errors import InputError
from hmc_crowd.platform import Hit, HitItem


def hit(**options: object) -> Hit:
    values = {"labels": ("a", "b"), **options}
    return Hit("k", "Judge", "", (HitItem("i1", "label", "g", 1, "Hello.", **values),), 1, 5, "USD")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["nominal", "ordinal", "text"])
def test_kinds_of_a_plain_form_are_shown(kind: str) -> None:
    page = page_of(hit(kind=kind, question="Is it kind & fair?"), submit_to="https://example.org")
    assert answer_name(1) in page
    assert "Is it kind &amp; fair?" in page
    assert ("<textarea" in page) == (kind == "text")


@pytest.mark.parametrize("kind", ["pair", "multi_label", "numeric"])
def test_other_kinds_are_refused_with_the_way_out(kind: str) -> None:
    with pytest.raises(InputError, match=rf"item 'i1' asks a question of kind '{kind}'.*give external_url"):
        page_of(hit(kind=kind), submit_to="https://example.org")
