"""How well do judges agree with people, by what bias, at what price? One study of many judges on the same pairs.

Agreement is leave-one-out (a judge against the most frequent answer of all people but one), beside the same for people
among themselves: the ceiling. Each judge also gets its length bias, ties, unread answers, seconds and cost for 1,000
pairs, and the alternative annotator test.

Source: Lyu et al. (2024), "HREF", sections 2.3, 2.4, 4 and table 2, figures 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.judges._alternative import AlternativeAnnotator, alternative_annotator_test
from hmc_crowd.judges._judge import LABELS, outcomes_of
from hmc_crowd.judges._pairs import Pairs, length_of, read_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from hmc_crowd.metrics import CategoryTable, Composite, Metric  # because agreement and bias are measured there

__all__ = ["JudgeReport", "JudgeStudy", "compare_judges", "lined_up", "matrix_of"]

PEOPLE = "people"


@dataclass(frozen=True, eq=False)
class JudgeReport:
    """One judge.

    Parameters
    ----------
    agreement : CategoryTable
        With people, by category.
    length_bias, length_bias_decided : Metric
        Share of pairs in which the longer response is preferred minus share in which the shorter is: of all parsed
        pairs, and of those with a preference and unequal lengths.
    consistency : float or None
        Share of pairs with the same answer in both orders, where both were asked.
    tie_share, unparsed_share : float
    seconds_per_1000 : float
    cost_per_1000 : float
        In units of the judge's currency.
    stand_in : AlternativeAnnotator
        May it stand in for a person?
    win_rates : mapping of model -> float
        Where the pairs name models: what the judge says of them.
    """

    agreement: CategoryTable
    length_bias: Metric
    length_bias_decided: Metric
    consistency: float | None
    tie_share: float
    unparsed_share: float
    seconds_per_1000: float
    cost_per_1000: float
    stand_in: AlternativeAnnotator
    win_rates: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class JudgeStudy:
    """The study.

    Parameters
    ----------
    judges : mapping of name -> JudgeReport
    people : CategoryTable
        People among themselves: the ceiling.
    composite : Composite or None
        Best candidate per category, reported on pairs it was not chosen on; None with fewer than two candidates.
    n_pairs, n_answers : int
    """

    judges: Mapping[str, JudgeReport]
    people: CategoryTable
    composite: Composite | None
    n_pairs: int
    n_answers: int

    def agreements(self) -> dict[str, CategoryTable]:
        """Return agreement with people by name: every judge, then the composite, then people among themselves."""
        rows = {name: report.agreement for name, report in self.judges.items()}
        if self.composite is not None:
            rows["composite (held out)"] = self.composite.held_out
        return {**rows, PEOPLE: self.people}

    @property
    def best(self) -> str:
        """The judge that agrees with people most; the first among equals."""
        return max(self.judges, key=lambda name: np.nan_to_num(float(self.judges[name].agreement.micro), nan=-1.0))

    def table(self) -> pd.DataFrame:
        """Return agreement by category, in percent: one row per judge, then the composite, then people."""
        import pandas as pd

        built = []
        for name, each in self.agreements().items():
            by = {category: 100.0 * float(metric) for category, metric in each.categories.items()}
            low, high = (None if end is None else 100.0 * end for end in (each.micro.low, each.micro.high))
            built.append({"judge": name, **by, "all": 100.0 * float(each.micro), "low": low, "high": high})
        return pd.DataFrame(built)

    def manners(self) -> pd.DataFrame:
        """Return one row per judge: bias, ties, unread answers, time, cost, and whether it may stand in."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "judge": name,
                    "length_bias": each.length_bias.value,
                    "length_bias_decided": each.length_bias_decided.value,
                    "consistency": each.consistency,
                    "ties": each.tie_share,
                    "unparsed": each.unparsed_share,
                    "seconds_per_1000": each.seconds_per_1000,
                    "cost_per_1000": each.cost_per_1000,
                    "winning_rate": each.stand_in.winning_rate,
                    "may_stand_in": each.stand_in.may_stand_in,
                }
                for name, each in self.judges.items()
            ]
        )

    def rankings(self, reference: str | None = None) -> pd.DataFrame:
        """Return how alike judges rank the models: Spearman and Pearson with the first judge, or with `reference`."""
        import pandas as pd

        from hmc_crowd.metrics import rank_correlation  # because it is measured there

        first = next(iter(self.judges)) if reference is None else reference
        if first not in self.judges:
            raise InputError(f"reference is {first!r}; judges are {', '.join(self.judges)}")
        rows = []
        for name, each in self.judges.items():
            both = rank_correlation(dict(self.judges[first].win_rates), dict(each.win_rates))
            rows.append({"judge": name, **{kind: metric.value for kind, metric in both.items()}})
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "n_pairs": self.n_pairs,
            "n_answers": self.n_answers,
            "agreement_pct": _plain(self.table()),
            "judges": _plain(self.manners()),
            "composite": None if self.composite is None else dict(self.composite.chosen),
            "optimism": None if self.composite is None else self.composite.optimism,
        }


def compare_judges(
    pairs: Any,
    annotations: pd.DataFrame,
    judged: Mapping[str, pd.DataFrame],
    *,
    candidates: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    epsilon: float = 0.1,
    unparsed: str = "drop",
    level: float = 0.95,
    rng: np.random.Generator | None = None,
) -> JudgeStudy:
    """Compare judges with people on the same pairs.

    Parameters
    ----------
    pairs : frame or Pairs
    annotations : frame ``task, worker, label``
        People's answers 'a', 'b', 'tie', blind; `task` holds the item. Pairs with fewer than two leave, counted.
    judged : mapping of name -> judgements
        Of the same pairs.
    candidates : sequence of str, optional
        Judges a composite may choose from; default: all.
    models : sequence of str, shape (n_pairs,), optional
        Who wrote response a, for win rates per model.
    epsilon : float, default 0.1
        Of the alternative annotator test.
    unparsed : {"drop", "wrong"}, default "drop"
        What becomes of pairs a judge did not answer; "wrong" is what the source's code does.
    level : float, default 0.95
        Of the intervals, clustered by instruction.
    rng : numpy.random.Generator, optional
        Deals the parts of the composite.

    Returns
    -------
    JudgeStudy

    Raises
    ------
    InputError
        Answers of pairs that are not there, labels other than a, b, tie, or a judge without some of the pairs.

    Examples
    --------
    See ``examples/judge_and_people.py`` and ``hmc-crowd judges compare``.
    """
    given = read_pairs(pairs)
    matrix = matrix_of(given, annotations)
    # Ids that look like numbers may have been read as such.
    annotations = annotations.assign(task=[str(task) for task in annotations["task"]])
    from hmc_crowd.metrics import agreement_table, composite_agreement, leave_one_out_agreement  # because as above

    if not judged:
        raise InputError("no judge was given; give a mapping of name -> judgements")
    lined = {name: lined_up(name, frame, given) for name, frame in judged.items()}
    clusters = given.instruction
    reports, scores = {}, {}
    for name, frame in lined.items():
        labels = frame["label"].to_numpy(dtype=object)
        kind: Any = unparsed
        table = agreement_table(matrix, given.category, labels, unparsed=kind, clusters=clusters, level=level)
        reports[name] = _report(given, annotations, frame, table, models, epsilon, level)
        whole = leave_one_out_agreement(matrix, labels, unparsed=kind, interval="none")
        scores[name] = np.full(len(given), np.nan)
        scores[name][whole.items["position"]] = whole.items["agreement"] if whole.value is not None else np.nan
    people = agreement_table(matrix, given.category, clusters=clusters, level=level)
    some = list(lined) if candidates is None else list(candidates)
    unknown = [name for name in some if name not in lined]
    if unknown:
        raise InputError(f"candidates names {unknown}; judges are {', '.join(lined)}")
    enough = len(some) > 1 and len(set(clusters)) > 1
    composite = (
        composite_agreement(scores, given.category, candidates=some, clusters=clusters, level=level, rng=rng)
        if enough
        else None
    )
    return JudgeStudy(reports, people, composite, len(given), len(annotations))


def _report(
    given: Pairs,
    annotations: pd.DataFrame,
    frame: pd.DataFrame,
    table: CategoryTable,
    models: Sequence[str] | None,
    epsilon: float,
    level: float,
) -> JudgeReport:
    from hmc_crowd.metrics import expected_win_rate, length_bias_rate  # because as above

    outcomes = outcomes_of(frame)
    lengths = length_of(given.response_a), length_of(given.response_b)
    bias, decided = (
        length_bias_rate(*lengths, outcomes, denominator=kind, clusters=given.instruction, level=level)
        for kind in ("parsed", "decided")
    )
    both: list[Any] = frame["consistent"].dropna().tolist() if "consistent" in frame else []
    rates = {}
    if models is not None:
        who = np.asarray(models, dtype=object)
        for model in dict.fromkeys(who.tolist()):
            here = [outcome for outcome, each in zip(outcomes, who, strict=True) if each == model]
            rates[str(model)] = float(expected_win_rate(here, interval="none"))
    said = dict(zip(given.item.tolist(), frame["label"], strict=True))
    return JudgeReport(
        table,
        bias,
        decided,
        float(np.mean([bool(each) for each in both])) if len(both) else None,
        float(np.mean([each == "tie" for each in outcomes])),
        float(np.mean([each is None for each in outcomes])),
        1000.0 * float(frame["seconds"].mean()),
        float(frame["cost_micro"].mean()) / 1000.0,
        alternative_annotator_test(annotations, said, epsilon=epsilon),
        rates,
    )


def matrix_of(given: Pairs, annotations: pd.DataFrame) -> NDArray[np.object_]:
    """Return people's answers as (pairs, most answers of a pair), None where there are fewer."""
    missing = [name for name in ("task", "worker", "label") if name not in annotations]
    if missing:
        raise FrameError(f"annotations lack {', '.join(missing)}; give task, worker, label")
    if len(annotations) == 0:
        raise FrameError("annotations have no rows; give at least one person's answer")
    place = {item: row for row, item in enumerate(given.item.tolist())}
    tasks = [str(task) for task in annotations["task"]]
    unknown = sorted({task for task in tasks if task not in place})
    if unknown:
        raise InputError(
            f"annotations answer pair {unknown[0]!r} and {len(unknown) - 1} more that are not in the pairs; "
            "correct their task, or drop these answers"
        )
    odd = sorted({str(label) for label in annotations["label"] if label not in LABELS})
    if odd:
        raise InputError(f"annotations hold label {odd[0]!r}; people say 'a', 'b' or 'tie'")
    rows: list[list[str]] = [[] for _ in place]
    for task, label in zip(tasks, annotations["label"], strict=True):
        rows[place[task]].append(label)
    wide = max(len(row) for row in rows)
    matrix = np.full((len(rows), max(wide, 1)), None, dtype=object)
    for number, row in enumerate(rows):
        matrix[number, : len(row)] = row
    return matrix


def lined_up(name: str, frame: pd.DataFrame, given: Pairs) -> pd.DataFrame:
    indexed = frame.set_index("item")
    lacking = [item for item in given.item.tolist() if item not in indexed.index]
    if lacking or indexed.index.has_duplicates:
        told = f"lacks pair {lacking[0]!r} and {len(lacking) - 1} more" if lacking else "names a pair twice"
        raise InputError(f"judge {name!r} {told}; give one judgement per pair")
    lined: pd.DataFrame = indexed.loc[given.item.tolist()].reset_index()
    odd = sorted({str(each) for each in lined["label"] if each == each and each is not None} - set(LABELS))
    if odd:
        # Taken as unread, a judge that says "A" or "win" would look as if it had said nothing.
        raise InputError(f"judge {name!r} says {odd[0]!r}; a judgement is 'a', 'b', 'tie', or none")
    return lined


def _plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]
