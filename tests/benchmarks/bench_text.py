"""How quick are features from text, against the bare libraries? Prints times and ratios; asserts nothing.

Encoders need the extra ``text`` and are left out without it. Everything runs on one core if OMP_NUM_THREADS=1 is set.
"""

from __future__ import annotations

import importlib
import random
import tempfile
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_N, _TURNS = 10_000, 6
# Each with a meaning of its own would be better; the share of new words is about that of the published dialogues.
_SYLLABLES = "ba co du fe gi ha jo ki lu ma no pe qui ra so tu ve wi xy zo".split()  # noqa: SIM905 - readable so


def dialogues(rng: random.Random) -> list[str]:
    """10,000 dialogues of six turns, about 70 words each, of a vocabulary of 20,000 with few common words."""
    words = ["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4))) for _ in range(20_000)]
    weights = [1 / (k + 10) for k in range(len(words))]
    found = []
    for _ in range(_N):
        said = [" ".join(rng.choices(words, weights, k=rng.randint(6, 18))) + rng.choice(".!?") for _ in range(_TURNS)]
        found.append("\n".join(said))
    return found


def seconds_of(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def main() -> list[tuple[str, str]]:
    import pandas as pd

    from hmc_crowd.effort import readability, text_dialogue_features

    texts = dialogues(random.Random(1))
    turns = [(f"g{k}", line) for k, text in enumerate(texts) for line in text.split("\n")]
    items = pd.DataFrame(turns, columns=["group", "text"])
    items = items.assign(item=[f"i{k}" for k in range(len(items))], position=range(len(items)))
    labels = dict.fromkeys(items["item"], "fine")
    whole = seconds_of(lambda: text_dialogue_features(items, labels, positive_labels=["rude"]))
    ours = seconds_of(lambda: readability(texts))
    rows = [
        (f"all features of {_N:,} dialogues without perplexity", f"{whole:.1f} s of one core"),
        ("of that, readability", f"{ours:.1f} s"),
        ("readability by textstat", f"{by_textstat(texts):.1f} s"),
    ]
    return rows + (encoding(texts) if find_spec("torch") else [("encoders", "left out: torch is not installed")])


def by_textstat(texts: list[str]) -> float:
    """Time textstat with an empty pronouncing dictionary, as nothing may be downloaded here."""
    textstat = importlib.import_module("textstat")
    importlib.import_module("textstat.backend.counts._count_syllables").get_cmudict = lambda _: {}

    def work() -> None:
        for text in texts:
            textstat.flesch_reading_ease(text)
            textstat.dale_chall_readability_score(text)

    return seconds_of(work)


def encoding(texts: list[str]) -> list[tuple[str, str]]:
    """Time the packaged encoder: bare, in batches of like length, and from the cache."""
    from hmc_crowd.confidence.text import TextEncoder

    part = [line for text in texts[:400] for line in text.split("\n")][:1500]
    part += texts[:100]  # a few long ones among the short
    encoder = TextEncoder("minilm").fit()
    ours = seconds_of(lambda: encoder.transform(part))
    with tempfile.TemporaryDirectory() as folder:
        cached = TextEncoder("minilm", cache=folder).fit()
        cached.transform(part)
        again = seconds_of(lambda: cached.transform(part))
    return [
        (f"minilm, {len(part):,} texts, batches of like length", f"{ours:.1f} s"),
        ("the same in the order of the texts", f"{unsorted(part):.1f} s"),
        ("the same from the cache", f"{again:.2f} s"),
    ]


def unsorted(texts: list[str]) -> float:
    """Time the same model on batches as they come."""
    import torch

    from hmc_crowd.confidence.text._run import pad, pooled
    from hmc_crowd.confidence.text._turns import as_turns, encode
    from hmc_crowd.confidence.text._weights import load

    loaded = load("minilm")
    ids = encode(loaded, as_turns(texts), max_tokens=128)

    def work() -> None:
        with torch.inference_mode():
            for first in range(0, len(ids), 64):
                pooled(loaded.model, pad(ids[first : first + 64], 0, torch.device("cpu")), "mean")

    return seconds_of(work)
