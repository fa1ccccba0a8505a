"""Language models on this machine, through transformers: a judge's client, and the perplexity of a reference.

Nothing leaves the machine. The weights come from a folder or from the local cache of a hub's name.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.extras import require
from hmc_crowd.errors import InputError, ModelError
from hmc_crowd.judges._ask import Completion, Request
from hmc_crowd.judges._judge import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["CausalPerplexity", "LocalModel"]

_TOP = 20


class LocalModel:
    """A client of a causal language model on this machine.

    Parameters
    ----------
    model : str
        A local folder or a hub's name.
    device : str, optional
        ``"cpu"``, ``"cuda"``; by default the GPU where there is one.

    Raises
    ------
    MissingExtraError
        The extra ``text`` is not installed.
    ModelError
        The weights cannot be had.
    """

    leaves_machine = False

    def __init__(self, model: str, *, device: str | None = None) -> None:
        self.name = model.rstrip("/").rpartition("/")[2]
        self._tokenizer, self._model, self._device = _load(model, device)
        self.version = fingerprint("local", self.name, _weights_print(self._model))

    def complete(self, requests: Sequence[Request], done: Callable[[int, Completion], None]) -> None:
        """Ask one question after the other."""
        for place, request in enumerate(requests):
            done(place, self._one(request))

    def _one(self, request: Request) -> Completion:
        torch = require("torch", extra="text", purpose="A local model")
        started = time.perf_counter()
        ids = self._tokenizer(self._prompt(request), return_tensors="pt", add_special_tokens=False)["input_ids"]
        room = int(getattr(self._model.config, "max_position_embeddings", 0) or 0)
        if room and ids.shape[1] + request.max_tokens > room:
            return Completion(None, error=f"{ids.shape[1]:,} tokens do not fit into {room:,}")
        greedy = request.temperature == 0.0
        if not greedy:
            torch.manual_seed(request.sample)
        with torch.inference_mode():
            made = self._model.generate(
                ids.to(self._device),
                attention_mask=torch.ones_like(ids).to(self._device),
                max_new_tokens=request.max_tokens,
                do_sample=not greedy,
                **({} if greedy else {"temperature": request.temperature}),
                output_logits=True,
                return_dict_in_generate=True,
                pad_token_id=self._tokenizer.eos_token_id,
            )
        new = made.sequences[0, ids.shape[1] :]
        return Completion(
            self._tokenizer.decode(new, skip_special_tokens=True),
            alternatives=self._alternatives(made.logits[0][0]),
            prompt_tokens=int(ids.shape[1]),
            completion_tokens=len(new),
            seconds=time.perf_counter() - started,
            served=self.name,
        )

    def _alternatives(self, scores: Any) -> dict[str, float]:
        logs = scores.float().log_softmax(-1)
        top = logs.topk(min(_TOP, len(logs)))
        found: dict[str, float] = {}
        for token, log in zip(top.indices.tolist(), top.values.tolist(), strict=True):
            found.setdefault(self._tokenizer.decode([token]), log)
        return found

    def _prompt(self, request: Request) -> str:
        turns = [{"role": role, "content": text} for role, text in request.messages]
        if getattr(self._tokenizer, "chat_template", None):
            return str(self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))
        # A model that was never taught to chat continues a transcript.
        return "\n\n".join(f"{role}: {text}" for role, text in request.messages) + "\n\nassistant:"


class CausalPerplexity:
    """Perplexity of a reference, given its instruction, under a causal language model.

    ``exp(-mean over the reference's tokens of log p(token | instruction, tokens before))``. NaN for a reference
    without tokens, and where both texts do not fit into the model.

    Parameters
    ----------
    model : str
        A local folder or a hub's name.
    device : str, optional

    See Also
    --------
    PerplexityJudge : takes two of these.
    """

    def __init__(self, model: str, *, device: str | None = None) -> None:
        self._tokenizer, self._model, self._device = _load(model, device)

    def __call__(self, instructions: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
        """Return one perplexity per pair of texts, shape (n,)."""
        if len(instructions) != len(references):
            raise InputError(f"{len(instructions)} instructions and {len(references)} references; give one each")
        return np.array([self._one(*texts) for texts in zip(instructions, references, strict=True)])

    def _one(self, instruction: str, reference: str) -> float:
        torch = require("torch", extra="text", purpose="A local model")
        cut = self._tokenizer
        before = cut(f"{instruction.strip()}\n\n", add_special_tokens=False)["input_ids"]
        # Something must stand before the first token, or nothing predicts it.
        before = before or [cut.bos_token_id if cut.bos_token_id is not None else cut.eos_token_id]
        answer = cut(reference.strip(), add_special_tokens=False)["input_ids"]
        room = int(getattr(self._model.config, "max_position_embeddings", 0) or 0)
        if not answer or (room and len(before) + len(answer) > room):
            return math.nan
        ids = torch.tensor([before + answer], device=self._device)
        with torch.inference_mode():
            logs = self._model(ids).logits[0, len(before) - 1 : -1].float().log_softmax(-1)
        wanted = ids[0, len(before) :]
        return float(math.exp(-float(logs.gather(1, wanted[:, None]).double().mean())))


def _load(model: str, device: str | None) -> tuple[Any, Any, str]:
    transformers = require("transformers", extra="text", purpose="A local model")
    torch = require("torch", extra="text", purpose="A local model")
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        loaded = transformers.AutoModelForCausalLM.from_pretrained(model).to(where).eval()
    except (OSError, ValueError, RuntimeError) as error:
        first = str(error).strip().splitlines()[0][:200]
        raise ModelError(f"model {model!r} cannot be loaded ({first}); give a folder with a causal model") from None
    return tokenizer, loaded, where


def _weights_print(model: Any) -> str:
    """Hash a sample of every weight: two checkpoints of one name are two judges."""
    parts = []
    for name, weight in sorted(model.state_dict().items()):
        flat = weight.detach().flatten()
        step = max(len(flat) // 64, 1)
        parts.append([name, list(weight.shape), flat[::step][:64].float().cpu().tolist()])
    return fingerprint(parts)
