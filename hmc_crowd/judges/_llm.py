"""A language model as a judge, with or without the person's reference.

Greedy by default. The probability of the answer comes from the first token's alternatives where the model gives them,
else from `samples` answers at a temperature, else it is unknown (NaN): then `calibrate_judge` gives one per label.

Rules for what need not or cannot be asked: equal responses are a tie, without asking; a pair without a reference stays
unjudged where one is needed; so does a pair with a text above `max_characters` (a cut text would be another text).
Nothing whose audience is not "any" is sent to another machine unless that audience is allowed by name.

Source: Lyu et al. (2024), "HREF", section 2.2 and appendix C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import InputError
from hmc_crowd.judges._ask import Client, Completion, Request
from hmc_crowd.judges._cache import JudgeCache, request_key
from hmc_crowd.judges._chance import coin
from hmc_crowd.judges._judge import LABELS, fingerprint, judgements
from hmc_crowd.judges._llm_read import Answer, joined, read_answer
from hmc_crowd.judges._pairs import Pairs, read_pairs
from hmc_crowd.judges._private import refuse_private
from hmc_crowd.judges._scored import NO_REFERENCE
from hmc_crowd.judges._template import Template, load_template

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection

    import pandas as pd

__all__ = ["LLMJudge"]

SWAPS = ("random", "both", "none")


@dataclass(frozen=True)
class _Plan:
    """What is asked: one entry per order shown."""

    row: int
    swapped: bool
    requests: tuple[Request, ...]


class LLMJudge:
    """Ask a language model which response is better.

    Parameters
    ----------
    client : Client
        `Endpoint`, `LocalModel`, or your own.
    template : str, path or Template, default "a"
    with_reference : bool, default False
    swap : {"random", "both", "none"}, default "random"
        "random" shows b first in half of the pairs, by a hash of `seed` and the item; "both" asks both orders, takes
        the label if they agree and a tie if they do not (column ``consistent``); "none" never swaps.
    samples : int, default 1
        Answers asked per order, at `temperature`; more than one gives a probability where the model has none.
    temperature : float, optional
        Default 0 for one sample and 1 for several.
    max_tokens : int, default 100
    max_characters : int, default 32,000
        Longest text that is asked about.
    cache : path or JudgeCache, optional
        Where answers are kept; without it an interrupted run starts anew.
    allow_audiences : collection of str
        Audiences besides "any" that may leave this machine.
    price_in, price_out : float, default 0
        Of a million tokens, in units of `currency`.
    currency : str, default "USD"
    seed : int, default 0
        Of the swap.
    progress : callable (done, all), optional

    Examples
    --------
    >>> class Polite:
    ...     name, version, leaves_machine = "polite", "1", False
    ...     def complete(self, requests, done):
    ...         for place, request in enumerate(requests):
    ...             shown_first = request.messages[-1][1].partition("Answer A:")[2].partition("Answer B:")[0]
    ...             done(place, Completion("A" if "please" in shown_first else "B"))
    >>> pairs = {"item": ["1", "2"], "instruction": ["Ask."] * 2,
    ...          "response_a": ["Go, please.", "Go!"], "response_b": ["Go!", "Go, please."]}
    >>> LLMJudge(Polite()).judge(pairs)["label"].tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        client: Client,
        template: str | os.PathLike[str] | Template = "a",
        *,
        with_reference: bool = False,
        swap: str = "random",
        samples: int = 1,
        temperature: float | None = None,
        max_tokens: int = 100,
        max_characters: int = 32_000,
        cache: str | os.PathLike[str] | JudgeCache | None = None,
        allow_audiences: Collection[str] = (),
        price_in: float = 0.0,
        price_out: float = 0.0,
        currency: str = "USD",
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        _check(swap, samples, max_tokens, max_characters, (price_in, price_out))
        self.client, self.with_reference, self.swap, self.samples = client, with_reference, swap, samples
        self.template = template if isinstance(template, Template) else load_template(template)
        self.temperature = (0.0 if samples == 1 else 1.0) if temperature is None else float(temperature)
        self.max_tokens, self.max_characters, self.seed = max_tokens, max_characters, seed
        self.cache = cache if isinstance(cache, JudgeCache) or cache is None else JudgeCache(cache)
        self.allow_audiences, self.prices, self.currency = frozenset(allow_audiences), (price_in, price_out), currency
        self.progress = progress
        self.name = f"{client.name}{' + reference' if with_reference else ''}"
        self.leaves_machine, self.needs_reference = client.leaves_machine, with_reference
        settings = [with_reference, swap, samples, self.temperature, max_tokens, max_characters, seed]
        self.version = fingerprint(client.version, self.template.fingerprint, settings)

    def judge(self, pairs: Any) -> pd.DataFrame:
        """Return one judgement per pair.

        Raises
        ------
        InputError
            Pairs of an audience that may not leave this machine; nothing was sent.
        ModelError
            The answers name more than one model: it was changed while it judged.
        """
        given = read_pairs(pairs)
        self.refuse_private(given)
        reason = self._not_asked(given)
        plans = self._plans(given, reason)
        replies = self._replies([request for plan in plans for request in plan.requests])
        answers: dict[int, list[Answer]] = {}
        place = 0
        for plan in plans:
            some = replies[place : place + len(plan.requests)]
            place += len(plan.requests)
            answers.setdefault(plan.row, []).append(read_answer(some, plan.swapped, self.prices))
        return self._table(given, reason, answers)

    def refuse_private(self, given: Pairs) -> None:
        """Refuse pairs of an audience that may not leave this machine; nothing is sent then."""
        if self.leaves_machine:
            refuse_private(given, self.client.name, self.allow_audiences)

    def _not_asked(self, given: Pairs) -> list[str]:
        has, equal, out = given.has_reference, given.is_equal, []
        for row in range(len(given)):
            texts = (given.instruction[row], given.response_a[row], given.response_b[row], given.reference[row])
            longest = max(len(text) for text in texts)
            if equal[row]:
                out.append("equal responses")
            elif self.with_reference and not has[row]:
                out.append(NO_REFERENCE)
            elif longest > self.max_characters:
                out.append(f"a text of {longest:,} characters (limit {self.max_characters:,})")
            else:
                out.append("")
        return out

    def _plans(self, given: Pairs, reason: list[str]) -> list[_Plan]:
        heads = coin(self.seed, "swap", given.item)
        plans = []
        for row in (row for row, told in enumerate(reason) if not told):
            orders = {"both": (False, True), "none": (False,), "random": (bool(heads[row]),)}[self.swap]
            plans += [_Plan(row, swapped, self._requests(given, row, swapped)) for swapped in orders]
        return plans

    def _requests(self, given: Pairs, row: int, swapped: bool) -> tuple[Request, ...]:
        first, second = given.response_a[row], given.response_b[row]
        texts = {
            "instruction": given.instruction[row],
            "response_a": second if swapped else first,
            "response_b": first if swapped else second,
            "reference": given.reference[row],
        }
        messages = self.template.messages(texts, with_reference=self.with_reference)
        return tuple(
            Request(messages, self.max_tokens, self.temperature, sample) for sample in range(max(self.samples, 1))
        )

    def _replies(self, requests: list[Request]) -> list[Completion]:
        keys = [request_key(self.client.version, request) for request in requests]
        known = {} if self.cache is None else self.cache.get(keys)
        # The same question twice is asked once.
        asked = {key: request for key, request in zip(keys, requests, strict=True) if key not in known}
        waiting = list(asked)
        total, finished = len(known) + len(asked), len(known)

        def done(place: int, completion: Completion) -> None:
            nonlocal finished
            finished += 1
            known[waiting[place]] = completion
            if self.cache is not None and completion.text is not None:
                self.cache.put(waiting[place], completion)
            if self.progress is not None:
                self.progress(finished, total)

        try:
            if asked:
                self.client.complete(list(asked.values()), done)
        finally:
            if self.cache is not None:
                self.cache.close()
        nothing = Completion(None, error="the client gave no answer")
        return [known.get(key, nothing) for key in keys]

    def _table(self, given: Pairs, reason: list[str], answers: dict[int, list[Answer]]) -> pd.DataFrame:
        served = {each.served for some in answers.values() for each in some if each.served}
        if len(served) > 1:
            from hmc_crowd.errors import ModelError

            raise ModelError(
                f"answers of {self.client.name} come from different models ({', '.join(sorted(served))}); name a "
                "fixed version of the model, and use a new cache"
            )
        rows = [joined(answers.get(row, []), told) for row, told in enumerate(reason)]
        column = {name: [getattr(each, name) for each in rows] for name in ("label", "raw", "reason", "served")}
        return judgements(
            given,
            column["label"],
            np.array([[each.chances.get(name, np.nan) for name in LABELS] for each in rows], dtype=np.float64),
            raw=column["raw"],
            swapped=np.array([each.swapped for each in rows], dtype=bool),
            seconds=np.array([each.seconds for each in rows], dtype=np.float64),
            cost_micro=np.array([each.cost_micro for each in rows], dtype=np.int64),
            reason=column["reason"],
            consistent=np.array([each.consistent for each in rows], dtype=object),
            served=np.array(column["served"], dtype=object),
        )


def _check(swap: str, samples: int, max_tokens: int, max_characters: int, prices: tuple[float, float]) -> None:
    if swap not in SWAPS:
        raise InputError(f"swap is {swap!r}; choose one of {', '.join(SWAPS)}")
    for name, value in (("samples", samples), ("max_tokens", max_tokens), ("max_characters", max_characters)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"{name} is {value!r}; give a whole number from 1")
    if any(not price >= 0.0 for price in prices):
        raise InputError(f"prices are {prices}; give what a million tokens cost, from 0")
