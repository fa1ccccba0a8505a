"""From a language model's words to one judgement: parse, turn back, count the samples, join the two orders."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hmc_crowd.judges._judge import LABELS
from hmc_crowd.judges._parse import chances_from_logprobs, chances_from_samples, parse_answer, turned_back

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hmc_crowd.judges._ask import Completion

__all__ = ["Answer", "joined", "read_answer"]


@dataclass(frozen=True)
class Answer:
    """What one pair, or one order of it, came to; sides are right already."""

    label: str | None
    chances: Mapping[str, float] = field(default_factory=dict)
    raw: str | None = None
    swapped: bool = False
    seconds: float = 0.0
    cost_micro: int = 0
    reason: str = ""
    served: str = ""
    consistent: bool | None = None


def read_answer(completions: Sequence[Completion], swapped: bool, prices: tuple[float, float]) -> Answer:
    """Return what the samples of one order say.

    The label of one sample is what it says; of several, their most frequent one (first of a, b, tie among equals). A
    token costs a millionth of the price of a million.
    """
    said = [parse_answer(each.text) for each in completions]
    chances = None
    if len(completions) == 1:
        chances = chances_from_logprobs(completions[0].alternatives)
        label = said[0]
    else:
        chances = chances_from_samples(said)
        label = max(LABELS, key=lambda name: chances[name]) if chances else None
    came = [each for each in completions if each.text is not None]
    failed = next((each.error for each in completions if each.text is None), "")
    reason = "" if label is not None else failed if not came else "unparsed"
    cost = sum(each.prompt_tokens * prices[0] + each.completion_tokens * prices[1] for each in completions)
    turned = {} if chances is None else {str(turned_back(name, swapped)): value for name, value in chances.items()}
    return Answer(
        turned_back(label, swapped),
        turned,
        raw="\n".join(str(each.text) for each in came) if came else None,
        swapped=swapped,
        seconds=sum(each.seconds for each in completions),
        cost_micro=round(cost),
        reason=reason,
        served=next((each.served for each in came if each.served), ""),
    )


def joined(answers: Sequence[Answer], told: str) -> Answer:
    """Join the orders of one pair; without any, `told` says why nothing was asked.

    Two orders that agree give their label, two that do not give a tie; where one could not be read, neither counts.
    """
    if not answers:
        equal = told == "equal responses"
        return Answer("tie", {"a": 0.0, "b": 0.0, "tie": 1.0}, reason=told) if equal else Answer(None, reason=told)
    if len(answers) == 1:
        return answers[0]
    first, second = answers
    read = first.label is not None and second.label is not None
    agree = first.label == second.label
    chances = (
        {name: (first.chances[name] + second.chances[name]) / 2 for name in LABELS}
        if first.chances and second.chances
        else {}
    )
    return Answer(
        None if not read else first.label if agree else "tie",
        chances,
        raw="\n".join(each.raw for each in answers if each.raw is not None) or None,
        seconds=first.seconds + second.seconds,
        cost_micro=first.cost_micro + second.cost_micro,
        reason="" if read else first.reason or second.reason,
        served=first.served or second.served,
        consistent=agree if read else None,
    )
