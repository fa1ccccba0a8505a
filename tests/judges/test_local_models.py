"""Models on this machine: a tiny GPT-2 with random weights, built here, beside transformers and the formula."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hmc_crowd.errors import ModelError
from hmc_crowd.judges import (
    AgainstPerson,
    CausalPerplexity,
    Completion,
    EmbeddingJudge,
    LLMJudge,
    LocalModel,
    PerplexityJudge,
    Request,
    example_pairs,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.text


def build(folder: Path, *, seed: int, chat: bool = False) -> str:
    """Write a causal model: 2 layers, 32 wide, 1,024 places, one token a byte."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    from transformers.utils import logging

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {word: place for place, word in enumerate(["<end>", *letters])}
    pieces = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pieces, eos_token="<end>", bos_token="<end>")
    if chat:
        tokenizer.chat_template = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}[assistant]"
    config = GPT2Config(
        vocab_size=len(vocabulary), n_embd=32, n_layer=2, n_head=2, n_positions=1024, bos_token_id=0, eos_token_id=0,
        attn_pdrop=0.0, resid_pdrop=0.0, embd_pdrop=0.0, initializer_range=0.3,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = GPT2LMHeadModel(config)
    logging.disable_progress_bar()
    try:
        model.save_pretrained(folder)
    finally:
        logging.enable_progress_bar()
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("tiny-gpt"), seed=1)


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("other-gpt"), seed=2, chat=True)


def ask(client: LocalModel, *requests: Request) -> list[Completion]:
    found: dict[int, Completion] = {}
    client.complete(requests, found.__setitem__)
    return [found[place] for place in range(len(requests))]


def loaded(folder: str) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    return AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()


@pytest.mark.parametrize(
    ("which", "prompt"), [("tiny", "user: Sky?\n\nassistant:"), ("other", "[user]Sky?[assistant]")]
)
def test_greedy_is_what_transformers_generates(request: pytest.FixtureRequest, which: str, prompt: str) -> None:
    import torch

    folder: str = request.getfixturevalue(which)
    (found,) = ask(LocalModel(folder, device="cpu"), Request((("user", "Sky?"),), max_tokens=12))
    tokenizer, model = loaded(folder)
    ids = tokenizer(prompt, return_tensors="pt", add_special_tokens=False)["input_ids"]
    with torch.inference_mode():
        made = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False, pad_token_id=0
        )
        first = model(ids).logits[0, -1].log_softmax(-1)
    assert found.text == tokenizer.decode(made[0, ids.shape[1] :], skip_special_tokens=True)
    assert (found.prompt_tokens, found.completion_tokens) == (ids.shape[1], made.shape[1] - ids.shape[1])
    best = int(first.argmax())
    assert max(found.alternatives, key=lambda token: found.alternatives[token]) == tokenizer.decode([best])
    assert max(found.alternatives.values()) == pytest.approx(float(first[best]), abs=1e-5)
    assert 1 < len(found.alternatives) <= 20


def test_samples_repeat_and_differ(tiny: str) -> None:
    client = LocalModel(tiny, device="cpu")
    asked = [Request((("user", "Sky?"),), 12, 1.0, sample) for sample in (0, 1, 0)]
    first, second, again = (each.text for each in ask(client, *asked))
    assert first == again != second


def test_a_sampled_answer_s_alternatives_are_the_model_s_own(tiny: str) -> None:
    client = LocalModel(tiny, device="cpu")
    greedy, sampled = ask(client, Request((("user", "Sky?"),), 2), Request((("user", "Sky?"),), 2, 0.2, 3))
    assert sampled.alternatives == pytest.approx(greedy.alternatives, abs=1e-5)


def test_a_prompt_that_does_not_fit_is_reported_and_not_cut(tiny: str) -> None:
    (found,) = ask(LocalModel(tiny, device="cpu"), Request((("user", "x" * 1000),), max_tokens=100))
    assert found.text is None
    assert found.error == "1,018 tokens do not fit into 1,024"


def test_other_weights_are_another_judge(tiny: str, other: str) -> None:
    first, again, second = (LocalModel(folder, device="cpu").version for folder in (tiny, tiny, other))
    assert first == again != second


def test_a_local_judge_ends_with_every_pair_told_about(tiny: str) -> None:
    pairs = example_pairs()[0].iloc[:4].assign(audience="in_house")
    judge = LLMJudge(LocalModel(tiny, device="cpu"), "d", max_tokens=2)
    judged = judge.judge(pairs)
    # Random weights say nothing that can be read, or happen to; private pairs may be judged here.
    assert not judge.leaves_machine
    assert (judged["label"].isna() == judged["reason"].astype(bool)).all()
    assert len(AgainstPerson(judge).judge(pairs)) == 4


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be loaded"):
        LocalModel(str(tmp_path))


def by_hand(folder: str, instruction: str, reference: str) -> float:
    """Read the texts token by token, one more each time, and average the logs of what came."""
    import torch

    tokenizer, model = loaded(folder)
    before = tokenizer(f"{instruction}\n\n", add_special_tokens=False)["input_ids"]
    wanted, logs = tokenizer(reference, add_special_tokens=False)["input_ids"], []
    for place, token in enumerate(wanted):
        with torch.inference_mode():
            logits = model(torch.tensor([before + wanted[:place]])).logits[0, -1].double()
        chances = torch.exp(logits - logits.max())
        logs.append(math.log(float(chances[token] / chances.sum())))
    return math.exp(-sum(logs) / len(logs))


def test_perplexity_by_hand(tiny: str) -> None:
    texts = [("Name a tree.", "An oak."), ("Count.", "One, two, three."), ("É?", "ü")]
    found = CausalPerplexity(tiny, device="cpu")([each[0] for each in texts], [each[1] for each in texts])
    np.testing.assert_allclose(found, [by_hand(tiny, *each) for each in texts], rtol=1e-4)


def test_perplexity_of_nothing_or_of_too_much_is_none(tiny: str) -> None:
    found = CausalPerplexity(tiny, device="cpu")(["x", "x", ""], [" ", "y" * 2000, "y"])
    assert np.isnan(found).tolist() == [True, True, False]


def test_the_perplexity_judge_takes_two_local_models(tiny: str, other: str) -> None:
    pairs = example_pairs()[0].iloc[:5]
    models = CausalPerplexity(tiny, device="cpu"), CausalPerplexity(other, device="cpu")
    judged = PerplexityJudge(*models, version="tiny, other").judge(pairs)
    scores = [model(pairs["instruction"].tolist(), pairs["reference"].tolist()) for model in models]
    assert judged["label"].tolist() == ["a" if a < b else "b" for a, b in zip(*scores, strict=True)]


def test_the_packaged_encoder_prefers_the_same_meaning() -> None:
    from hmc_crowd.errors import HmcCrowdError

    pairs = {
        "item": ["1", "2"],
        "instruction": ["When does the train leave?"] * 2,
        "reference": ["The train leaves at noon."] * 2,
        "response_a": ["It departs at twelve o'clock.", "Bananas are yellow."],
        "response_b": ["Bananas are yellow.", "It departs at twelve o'clock."],
    }
    try:
        judged = EmbeddingJudge().judge(pairs)
    except HmcCrowdError as error:
        pytest.skip(f"no packaged encoder here: {error}")
    assert judged["label"].tolist() == ["a", "b"]
    # Both sides are read alike: turned round, the scores change places.
    assert judged["score_a"].iloc[0] == pytest.approx(judged["score_b"].iloc[1], abs=1e-6)
