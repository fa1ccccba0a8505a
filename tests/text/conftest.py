"""A tiny BERT with random weights and a vocabulary of its own, built here: no network, no download."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "i you hate like love your face the sun is train late how are good bad day friend fool go away nice to meet"
WORDS = TEXT.split()


def build(folder: Path, *, seed: int, masked: bool = True) -> Path:
    """Write a checkpoint: 2 layers, 16 wide, 128 places."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertForMaskedLM, BertModel, PreTrainedTokenizerFast
    from transformers.utils import logging

    letters = "abcdefghijklmnopqrstuvwxyz[]!?.,'"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *letters, *(f"##{each}" for each in letters)]
    vocabulary = list(dict.fromkeys(vocabulary))
    pieces = Tokenizer(models.WordPiece({word: k for k, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    pieces.normalizer = normalizers.BertNormalizer(lowercase=True)
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        mask_token="[MASK]",
    )  # fmt: skip
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=128,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        torch.manual_seed(seed)
        model = (BertForMaskedLM if masked else BertModel)(config)
    logging.disable_progress_bar()
    try:
        model.save_pretrained(folder)
    finally:
        logging.enable_progress_bar()
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A masked language model; as an encoder too."""
    return str(build(tmp_path_factory.mktemp("tiny"), seed=1))


@pytest.fixture(scope="session")
def other(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same architecture with other weights and no masked-language head."""
    return str(build(tmp_path_factory.mktemp("other"), seed=2, masked=False))


@pytest.fixture(scope="session")
def rude() -> tuple[list[str], list[str]]:
    """60 sentences whose words say the label."""
    bad = [f"i hate your face {word}" for word in WORDS[:15]] + [f"go away bad fool {word}" for word in WORDS[:15]]
    good = [f"i like the sun {word}" for word in WORDS[:15]] + [
        f"nice to meet you friend {word}" for word in WORDS[:15]
    ]
    return bad + good, ["rude"] * 30 + ["fine"] * 30
