"""Pseudo-perplexity: the definition token by token, and its approximations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hmc_crowd.effort import pseudo_perplexity, text_dialogue_features
from hmc_crowd.errors import InputError, ModelError

pytestmark = pytest.mark.text

TEXTS = ["i hate your face", "the sun is late", "nice to meet you good friend how are you the train is late bad day"]


def by_definition(folder: str, text: str) -> float:
    """Mask one token at a time, one text at a time."""
    import torch

    from hmc_crowd.confidence.text._weights import load

    loaded = load(folder, kind="AutoModelForMaskedLM")
    marks, logs = loaded.tokenizer, []
    ids = [marks.cls_token_id, *marks(text, add_special_tokens=False)["input_ids"], marks.sep_token_id]
    for place in range(1, len(ids) - 1):
        hidden = ids.copy()
        hidden[place] = marks.mask_token_id
        with torch.inference_mode():
            logits = loaded.model(torch.tensor([hidden])).logits[0, place]
        logs.append(float(torch.log_softmax(logits, dim=-1)[ids[place]]))
    return float(np.exp(-np.mean(logs)))


@pytest.mark.parametrize("batch_size", [1, 5, 64])
def test_exact_is_the_definition_whatever_the_batches(tiny: str, batch_size: int) -> None:
    expected = [by_definition(tiny, text) for text in TEXTS]
    found = pseudo_perplexity(TEXTS, tiny, batch_size=batch_size, max_tokens=64)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_strided_masks_every_eighth_token(tiny: str) -> None:
    # Up to eight tokens the eight passes mask one token each: the definition itself.
    exact, strided = (pseudo_perplexity(TEXTS, tiny, method=each, max_tokens=64) for each in ("exact", "strided"))
    np.testing.assert_allclose(strided[:2], exact[:2], rtol=1e-6)
    assert strided[2] != exact[2]
    assert strided[2] == pytest.approx(exact[2], rel=0.2)


def test_one_pass_reads_the_unmasked_text(tiny: str) -> None:
    import torch

    from hmc_crowd.confidence.text._weights import load

    loaded = load(tiny, kind="AutoModelForMaskedLM")
    marks = loaded.tokenizer
    ids = [marks.cls_token_id, *marks(TEXTS[0], add_special_tokens=False)["input_ids"], marks.sep_token_id]
    with torch.inference_mode():
        logs = torch.log_softmax(loaded.model(torch.tensor([ids])).logits[0], dim=-1)
    expected = np.exp(-np.mean([float(logs[place, ids[place]]) for place in range(1, len(ids) - 1)]))
    found = pseudo_perplexity(TEXTS[:1], tiny, method="one_pass", max_tokens=64)
    np.testing.assert_allclose(found, [expected], rtol=1e-5)


def test_passes_through_the_model_are_as_many_as_said(tiny: str) -> None:
    from hmc_crowd.confidence.text._weights import load
    from hmc_crowd.effort._perplexity import _rows

    marks = load(tiny).tokenizer
    long = " ".join(["sun"] * 20)
    assert [len(list(_rows([long], marks, how, 64))) for how in ("exact", "strided", "one_pass")] == [20, 8, 1]


def test_a_long_text_is_scored_in_windows(tiny: str) -> None:
    # 12 words in windows of 8 - 2 = 6: the mean over both windows' tokens, six each.
    text = "i hate your face the sun is late how are you friend"
    first, second = pseudo_perplexity([text[:24], text[24:]], tiny, max_tokens=8)
    whole = pseudo_perplexity([text], tiny, max_tokens=8)[0]
    assert len(text[:24].split()) == len(text[24:].split()) == 6
    assert whole == pytest.approx(np.exp((np.log(first) + np.log(second)) / 2), rel=1e-6)


def test_many_texts_and_places_are_taken_in_parts(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pseudo_perplexity(TEXTS * 3, tiny, max_tokens=64)
    monkeypatch.setattr("hmc_crowd.effort._perplexity._TEXTS", 2)
    monkeypatch.setattr("hmc_crowd.effort._perplexity._PLACES", 3)
    np.testing.assert_allclose(pseudo_perplexity(TEXTS * 3, tiny, max_tokens=64), whole, rtol=1e-6)


def test_a_model_with_a_head_of_another_name_says_the_same(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = pseudo_perplexity(TEXTS, tiny, max_tokens=64)
    monkeypatch.setattr("hmc_crowd.effort._perplexity._HEADS", ())
    np.testing.assert_allclose(pseudo_perplexity(TEXTS, tiny, max_tokens=64), expected, rtol=1e-6)


def test_a_text_without_tokens_has_none(tiny: str) -> None:
    found = pseudo_perplexity(["", "i hate you"], tiny, max_tokens=64)
    assert np.isnan(found[0])
    assert found[1] >= 1


def test_an_encoder_without_the_head_is_refused(other: str) -> None:
    with pytest.raises(ModelError, match="holds no complete masked-language head"):
        pseudo_perplexity(TEXTS, other)
    with pytest.raises(ModelError, match="'minilm' holds no complete masked-language head"):
        pseudo_perplexity(TEXTS, "minilm")


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"method": "fast"}, "method is 'fast'"), ({"batch_size": 0}, "batch_size is 0"), ({"texts": "a"}, "one string")],
)
def test_bad_options_are_named(tiny: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        pseudo_perplexity(**({"texts": TEXTS, "model": tiny} | settings))


def test_with_a_model_nine_features_come_from_text_and_the_tenth_from_who_works(tiny: str) -> None:
    items = {"item": ["a", "b"], "group": ["g", "g"], "text": TEXTS[:2]}
    table = text_dialogue_features(
        items, {"a": "rude", "b": "fine"}, positive_labels=["rude"], paraphrases=0.4, perplexity=tiny, max_tokens=64
    )
    assert table.left_out == ("first_submission",)
    expected = pseudo_perplexity(["\n".join(TEXTS[:2])], tiny, max_tokens=64)[0]
    assert table.frame.loc["g", "perplexity"] == expected
