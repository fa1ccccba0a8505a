"""Features of texts: right pooling, equal texts, cache, batches; and what is said where the weights are not."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hmc_crowd.confidence.text import TextEncoder
from hmc_crowd.errors import HmcCrowdError, InputError, MissingExtraError, ModelError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.text

TEXTS = ["i hate you", "the sun is late", "how are you good friend", "i hate you", ""]


def reference(folder: str, text: str) -> Any:
    """The last layer of one text alone, by transformers."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        return model(**tokenizer(text, return_tensors="pt", return_token_type_ids=False)).last_hidden_state[0].numpy()


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Any:
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    yield
    logging.enable_progress_bar()
    logging.set_verbosity_warning()


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_features_are_the_models_last_layer_pooled(tiny: str, pooling: str) -> None:
    # The tiny tokenizer adds no marks by itself, so they are written into the text here.
    hidden = reference(tiny, "[CLS] the sun is late [SEP]")
    expected = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
    found = TextEncoder(tiny, pooling=pooling, normalise=False).transform(["the sun is late"])[0]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_rows_have_length_one_unless_asked_otherwise(tiny: str) -> None:
    np.testing.assert_allclose(np.linalg.norm(TextEncoder(tiny).transform(TEXTS), axis=1), 1, atol=1e-6)
    raw = TextEncoder(tiny, normalise=False).transform(TEXTS)
    assert np.abs(np.linalg.norm(raw, axis=1) - 1).max() > 0.01


def test_order_and_batching_change_nothing_but_rounding(tiny: str) -> None:
    one = TextEncoder(tiny, batch_size=1).transform(TEXTS)
    many = TextEncoder(tiny, batch_size=64).transform(TEXTS[::-1])[::-1]
    np.testing.assert_allclose(one, many, atol=1e-6)
    assert (one[0] == one[3]).all()


def test_context_changes_the_features(tiny: str) -> None:
    alone, after = TextEncoder(tiny).transform(["go away", ("you fool", "go away")])
    assert np.abs(alone - after).max() > 1e-3


def test_no_texts_make_no_rows(tiny: str) -> None:
    assert TextEncoder(tiny).transform([]).shape == (0, 16)


def test_bfloat16_is_near_float32(tiny: str) -> None:
    full, half = (TextEncoder(tiny, precision=each).transform(TEXTS) for each in ("float32", "bfloat16"))
    assert 0 < np.abs(full - half).max() < 0.05


def test_the_cache_saves_the_second_run(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = TextEncoder(tiny, cache=tmp_path).transform(TEXTS)
    again = TextEncoder(tiny, cache=tmp_path)
    monkeypatch.setattr("hmc_crowd.confidence.text._encoder.pooled", lambda *_: pytest.fail("computed again"))
    assert (again.transform([*TEXTS, TEXTS[0]])[:-1] == first).all()


def test_a_cache_never_answers_for_other_weights_or_settings(tiny: str, other: str, tmp_path: Path) -> None:
    TextEncoder(tiny, cache=tmp_path).transform(TEXTS)
    for encoder, settings in ((other, {}), (tiny, {"pooling": "cls"}), (tiny, {"precision": "bfloat16"})):
        cached = TextEncoder(encoder, cache=tmp_path, **settings).transform(TEXTS)
        assert (cached == TextEncoder(encoder, **settings).transform(TEXTS)).all()


def test_it_works_in_a_pipeline_and_can_be_cloned(tiny: str, rude: Any) -> None:
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = clone(make_pipeline(TextEncoder(tiny, max_tokens=16), LogisticRegression(C=100))).fit(*rude)
    assert model.score(*rude) > 0.9
    assert model[0].max_tokens == 16


def test_the_packaged_encoder_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("no network here")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    a, b, c = TextEncoder("minilm").transform(["I hate you!", "I really hate you.", "The train leaves at nine."])
    assert a @ b > 0.7
    assert a @ c < 0.3


@pytest.mark.parametrize("proxy", [True, False])
def test_without_network_or_weights_one_clear_sentence(proxy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub.constants as hub

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("Name or service not known")

    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    if proxy:
        # A proxy is taken at its word, and then the library itself finds out; told to be offline, at once.
        monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
        monkeypatch.setattr(hub, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(ModelError) as caught:
        TextEncoder("somebody/some-encoder").transform(["a"])
    said = str(caught.value)
    assert "'somebody/some-encoder'" in said
    assert "give a local folder, or 'minilm'" in said
    assert "\n" not in said


def test_a_missing_extra_is_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmc_crowd.confidence.text._weights.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install .*'torch>=2"):
        TextEncoder("minilm").transform(["a"])


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"encoder": ""}, InputError, "encoder is ''"),
        ({"encoder": "./nothing"}, InputError, "no folder with a config.json"),
        ({"pooling": "max"}, InputError, "pooling is 'max'; use 'mean' or 'cls'"),
        ({"precision": "float16"}, InputError, "precision is 'float16'"),
        ({"batch_size": 0}, InputError, "batch_size is 0"),
        ({"max_tokens": 4}, InputError, "max_tokens is 4"),
        ({"max_tokens": 129}, InputError, "has 128 places"),
        ({"device": "tpu"}, InputError, "device is 'tpu'"),
    ],
)
def test_settings_are_refused_by_name(
    settings: dict[str, Any], error: type[HmcCrowdError], words: str, tiny: str
) -> None:
    defaults: dict[str, Any] = {"encoder": tiny, "max_tokens": 32}
    with pytest.raises(error, match=words):
        TextEncoder(**(defaults | settings)).transform(["a"])


def test_a_gpu_that_is_not_there_is_named(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelError, match="device is 'cuda' but torch sees no such GPU"):
        TextEncoder(tiny, max_tokens=32, device="cuda").transform(["a"])


def test_weights_in_a_pickle_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(InputError, match="holds no safetensors"):
        TextEncoder(str(tmp_path)).transform(["a"])


def test_a_broken_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"junk")
    with pytest.raises(ModelError, match="cannot be read") as caught:
        TextEncoder(str(tmp_path)).transform(["a"])
    assert "\n" not in str(caught.value)
