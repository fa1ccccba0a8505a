"""What is this benchmark, in ten lines that another lab can check? A card for a set of pairs and its judge.

Source: Lyu et al. (2024), "HREF", table 1 (what tells benchmarks apart) and section 3.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.judges._pairs import length_of, read_pairs
from hmc_crowd.judges._sample import LengthBalance, length_balance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hmc_crowd.judges._judge import Judge

__all__ = ["BenchmarkCard", "benchmark_card"]


@dataclass(frozen=True)
class BenchmarkCard:
    """The card.

    Parameters
    ----------
    name : str
    pairs, instructions : int
    evaluation : str
        "pairwise": absolute scores are another kind.
    baseline : str
    judge, judge_version : str
    leaves_machine : bool
        Whether the judge sends items to another machine.
    task_centred : bool
        Whether items name a category of task.
    categories : mapping of category -> pairs
    references : int
        Pairs with a person's reference.
    private : int
        Pairs that not everybody may see.
    length : LengthBalance
    """

    name: str
    pairs: int
    instructions: int
    evaluation: str
    baseline: str
    judge: str
    judge_version: str
    leaves_machine: bool
    task_centred: bool
    categories: Mapping[str, int]
    references: int
    private: int
    length: LengthBalance

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)

    def to_markdown(self) -> str:
        """Return the card as a table."""
        kinds = ", ".join(f"{name} {many:,}" for name, many in self.categories.items()) or "none named"
        symmetric = "symmetric" if self.length.is_symmetric else "not symmetric"
        rows = [
            ("Size", f"{self.pairs:,} pairs of {self.instructions:,} instructions"),
            ("Evaluation", f"{self.evaluation}, against {self.baseline}"),
            ("Judge", f"{self.judge} (version {self.judge_version})"),
            ("Items leave the machine", "yes" if self.leaves_machine else "no"),
            ("Task-centred", f"{'yes' if self.task_centred else 'no'}: {kinds}"),
            ("Human reference", f"{self.references:,} of {self.pairs:,} pairs"),
            ("Private", f"{self.private:,} of {self.pairs:,} pairs"),
            ("Lengths", f"{symmetric}: the response is longer in {self.length.longer:.1%}"),
        ]
        lines = [f"# {self.name}", "", "| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]
        return "\n".join(lines) + "\n"


def benchmark_card(pairs: Any, judge: Judge, *, name: str, baseline: str = "a fixed baseline") -> BenchmarkCard:
    """Describe a set of pairs and the judge that is used with it.

    Examples
    --------
    >>> from hmc_crowd.judges import RougeJudge, example_pairs
    >>> card = benchmark_card(example_pairs()[0], RougeJudge(), name="Example")
    >>> card.pairs, card.instructions, card.references, card.private
    (117, 39, 117, 0)
    """
    given = read_pairs(pairs)
    names, many = np.unique(given.category.astype(str), return_counts=True)
    categories = {str(each): int(count) for each, count in zip(names, many, strict=True) if each}
    return BenchmarkCard(
        name=name,
        pairs=len(given),
        instructions=len(set(given.instruction.tolist())),
        evaluation="pairwise",
        baseline=baseline,
        judge=judge.name,
        judge_version=judge.version,
        leaves_machine=judge.leaves_machine,
        task_centred=bool(categories),
        categories=categories,
        references=int(given.has_reference.sum()),
        private=int(sum(each != "any" for each in given.audience)),
        length=length_balance(length_of(given.response_a), length_of(given.response_b)),
    )
