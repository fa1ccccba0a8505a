"""Does HREF's table follow from itself? Table 2's composite and every difference, recomputed from the printed rows.

No data is needed: the rows are facts of the paper, in `_href_paper`. What can be recomputed from them is; what cannot
(agreement itself needs the annotations) is shown as printed, and `hmc-crowd judges compare` measures it on yours.

Source: Lyu, Wang, Hajishirzi, Dasigi (2024), "HREF", table 2 and sections 2 to 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from hmc_crowd._base.clock import Clock, SystemClock
from hmc_crowd.report import Axis, Column, Dots, Figure, Section, Table, dot_chart
from hmc_crowd.reproduce import _href_paper as paper
from hmc_crowd.reproduce._paper_report import PaperReport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from hmc_crowd.report import Chart

__all__ = ["HrefReport", "reproduce_href"]

_PCT = Column("", "number", 1)
_POINTS = Column("Difference", "number", 1, "points", sign=True)


@dataclass(frozen=True, eq=False)
class HrefReport(PaperReport):
    """HREF's table 2 and what follows from it. Made by `reproduce_href`; its parts are those of `HmcevalReport`."""

    stem: ClassVar[str] = "href"
    title: ClassVar[str] = "HREF, recomputed"
    subtitle: ClassVar[str] = "What follows from the printed rows of Lyu et al. (2024), table 2, and what does not."


def reproduce_href(*, out: str | Path | None = None, clock: Clock | None = None) -> HrefReport:
    """Recompute the composite row and all differences of HREF's table 2 from its own rows.

    Parameters
    ----------
    out : str or Path, optional
        Folder to write page, JSON, CSV tables and drawings to; nothing is written without it.
    clock : Clock, optional
        Tells the time of the run; the machine's by default.

    Returns
    -------
    HrefReport

    Raises
    ------
    InputError
        The folder cannot be written.

    References
    ----------
    Lyu, Wang, Hajishirzi, Dasigi (2024), "HREF: Human Response-Guided Evaluation of Instruction Following in Language
    Models".

    Examples
    --------
    >>> print(reproduce_href())
    HREF recomputed: composite cells equal 11 (of 11 categories), composite over judge alone +3.2 (70B, paper 3.2)
    >>> reproduce_href().table("composite").frame["difference"].abs().max()
    np.float64(0.0)
    """
    composite, against_prose = _composite(), _prose()
    report = HrefReport(
        sections=(
            Section(key="table_2", title="Agreement with people", charts=(_chart(),), tables=(_table_2(), composite)),
            Section(key="differences", title="Differences", tables=(_gains(), against_prose, _ceiling(), _means())),
            Section(key="choices", title="Design choices", tables=(_prompts(), _stability())),
            Section(key="facts", title="Sizes, people, card", tables=(_sizes(), _card())),
        ),
        figures=_figures(composite.frame),
        created_at=(clock or SystemClock()).now(),
    )
    if out is not None:
        report.write(out)
    return report


def _table_2() -> Table:
    rows = [
        {"method": name, **dict(zip([*paper.CATEGORIES, "All"], row, strict=True))}
        for name, row in paper.TABLE_2.items()
    ]
    heads = {name: Column(name, "number", 1) for name in [*paper.CATEGORIES, "All"]}
    return Table(
        key="table_2",
        title="Table 2 as printed: leave-one-out agreement, percent",
        frame=_frame(rows),
        columns={"method": Column("Method"), **heads},
        note="; ".join(f"{short} {name}" for short, name in paper.CATEGORIES.items()) + ". All: over pairs.",
    )


def _composite() -> Table:
    """Take the best of the three candidates for each category; equal ones go to the earlier."""
    rows = []
    for place, (short, name) in enumerate(paper.CATEGORIES.items()):
        values = {each: paper.TABLE_2[each][place] for each in paper.CANDIDATES}
        best = max(values, key=lambda each: values[each])
        printed = paper.TABLE_2[paper.COMPOSITE][place]
        rows.append(
            {
                "category": f"{name} ({short})",
                "chosen": best,
                "measured": values[best],
                "paper": printed,
                "difference": values[best] - printed,
            }
        )
    return Table(
        key="composite",
        title="Composite 70B, recomputed",
        frame=_frame(rows),
        columns={
            "category": Column("Category"),
            "chosen": Column("Best of three"),
            "measured": Column("Recomputed", "number", 1),
            "paper": Column("Paper", "number", 1),
            "difference": _POINTS,
        },
        note="Chosen and reported on the same pairs, which overstates agreement: `judges compare` reports a composite "
        "on pairs it was not chosen on, with the optimism beside it. Its All cannot be recomputed: the pairs in each "
        "category are not printed with the table.",
    )


def _gains() -> Table:
    rows = [
        {
            "judge": name,
            "alone": alone,
            "with_reference": with_reference,
            "composite": composite,
            "by_reference": with_reference - alone,
            "by_composite": composite - alone,
        }
        for name, (alone, with_reference, composite) in paper.ALL.items()
    ]
    return Table(
        key="gains",
        title="What a reference and a composite add, All",
        frame=_frame(rows),
        columns={
            "judge": Column("Judge"),
            "alone": Column("Alone", "number", 1),
            "with_reference": Column("With reference", "number", 1),
            "composite": Column("Composite", "number", 1),
            "by_reference": Column("By reference", "number", 1, "points", sign=True),
            "by_composite": Column("By composite", "number", 1, "points", sign=True),
        },
        note=f"The paper names {paper.LARGEST_GAIN} points as the largest gain. A reference makes the 7B judge worse.",
    )


def _prose() -> Table:
    rows = []
    for what, one, other, kind, said in paper.PROSE:
        measured = paper.ALL[one][kind] - paper.ALL[other][kind]
        rows.append({"difference_of": what, "paper": said, "measured": measured, "difference": measured - said})
    largest = max(with_reference - alone for alone, with_reference, _ in paper.ALL.values())
    rows.append(
        {
            "difference_of": "largest gain by a reference",
            "paper": paper.LARGEST_GAIN,
            "measured": largest,
            "difference": largest - paper.LARGEST_GAIN,
        }
    )
    return Table(
        key="prose",
        title="What the prose says, beside the table",
        frame=_frame(rows),
        columns={
            "difference_of": Column("Difference of"),
            "paper": Column("Prose", "number", 1),
            "measured": Column("From the table", "number", 1),
            "difference": _POINTS,
        },
        note="Where the two differ, the table is right here: every difference on this page is computed from it.",
    )


def _ceiling() -> Table:
    people, rows = paper.TABLE_2[paper.PEOPLE], []
    for place, name in enumerate([*paper.CATEGORIES.values(), "All"]):
        row = {"category": name, "people": people[place]}
        for key, method in (
            ("judge", paper.JUDGE),
            ("with_reference", paper.WITH_REFERENCE),
            ("composite", paper.COMPOSITE),
        ):
            row[key] = paper.TABLE_2[method][place] - people[place]
        rows.append(row)
    over = {key: Column(label, "number", 1, "points", sign=True) for key, label in _OVER.items()}
    return Table(
        key="ceiling",
        title="Judges against people among themselves",
        frame=_frame(rows),
        columns={"category": Column("Category"), "people": Column("People", "number", 1), **over},
        note="Above 0 the judge agrees with people more often than a person does, which needs no better judge than a "
        "person: it is not one of those whose answers scatter.",
    )


_OVER = {"judge": "Judge", "with_reference": "With reference", "composite": "Composite"}


def _means() -> Table:
    rows = []
    for name, row in paper.TABLE_2.items():
        mean = sum(row[:-1]) / len(row[:-1])
        rows.append({"method": name, "paper": row[-1], "measured": mean, "difference": mean - row[-1]})
    return Table(
        key="means",
        title="All is no mean of the categories",
        frame=_frame(rows),
        columns={
            "method": Column("Method"),
            "paper": Column("All, over pairs", "number", 1),
            "measured": Column("Mean of eleven", "number", 1),
            "difference": _POINTS,
        },
    )


def _prompts() -> Table:
    best = paper.PROMPTS["A"][1]
    rows = [
        {"prompt": name, "what": what, "paper": value, "difference": value - best, "correlation": alike}
        for name, (what, value, alike) in paper.PROMPTS.items()
    ]
    return Table(
        key="prompts",
        title="Prompts, section 4.3",
        frame=_frame(rows),
        columns={
            "prompt": Column("Prompt"),
            "what": Column("Made of"),
            "paper": Column("Agreement", "number", 1, "%"),
            "difference": Column("Against A", "number", 1, "points", sign=True),
            "correlation": Column("Correlation of model scores with A", "number", 2),
        },
        note="The paper calls its own prompt A in the table and D in the text; the column is the correlation with A. "
        "The package's templates a to d are the four variants in our own words.",
    )


def _stability() -> Table:
    rows = [{"compared": name, "spearman": rho, "pearson": r} for name, (rho, r) in paper.STABILITY.items()]
    return Table(
        key="stability",
        title="Do models rank alike? As printed",
        frame=_frame(rows),
        columns={
            "compared": Column("Compared"),
            "spearman": Column("Spearman", "number", 4),
            "pearson": Column("Pearson", "number", 4),
        },
        note="`judges compare --other` measures the same on yours: two baselines, or two sets.",
    )


def _sizes() -> Table:
    people = paper.ANNOTATIONS
    pairs = people["pairs"] * people["responses a pair"]
    annotations = pairs * people["annotations a response"]
    hours = annotations * people["seconds"] / 3600
    rows: list[tuple[str, float]] = [
        *((f"items, {name} set ({kinds} categories)", float(size)) for name, (size, kinds) in paper.SIZES.items()),
        ("pairs judged by people: 438 instructions, four responses each", pairs),
        ("annotations: four a pair", annotations),
        ("hours, at 180 s each", hours),
        ("pay at 16 USD an hour, USD", hours * people["usd_per_hour"]),
        ("pairs of models in the test of sizes: 13 models", paper.MODELS * (paper.MODELS - 1) / 2),
        ("length bias of the 70B judge with reference, %", paper.LENGTH_BIAS_PCT),
        *((f"times cheaper than {name}, 70B judge, at least", times) for name, times in paper.CHEAPER.items()),
    ]
    return Table(
        key="sizes",
        title="Sizes and people",
        frame=_frame([{"number": name, "value": value} for name, value in rows]),
        columns={"number": Column("Number"), "value": Column("Value", "either", 1)},
    )


def _card() -> Table:
    return Table(
        key="card",
        title="Benchmark card",
        frame=_frame([{"what": name, "value": value} for name, value in paper.CARD]),
        columns={"what": Column("What"), "value": Column("HREF")},
        note="`hmc-crowd judges card FILE` makes one of your pairs.",
    )


def _chart() -> Chart:
    names = list(paper.CATEGORIES.values())
    shown = (paper.JUDGE, paper.WITH_REFERENCE, paper.EMBEDDING, "ROUGE", paper.PEOPLE)
    series = [Dots(name, [value / 100 for value in paper.TABLE_2[name][:-1]]) for name in shown]
    return dot_chart(
        "table-2-chart",
        names,
        series,
        title="Agreement with people by kind of task",
        description="Leave-one-out agreement of five methods in eleven categories, as table 2 prints it; which is best "
        "differs from category to category.",
        x=Axis("Leave-one-out agreement (%)", percent=True),
    )


def _figures(composite: pd.DataFrame) -> tuple[Figure, ...]:
    equal = int((composite["difference"].abs() < 1e-9).sum())
    alone, _, joined = paper.ALL["70B"]
    return (
        Figure(
            key="equal",
            label="Composite cells equal",
            value=equal,
            column=Column("", "integer"),
            note=f"of {len(composite)} categories",
        ),
        Figure(
            key="gain",
            label="Composite over judge alone",
            value=joined - alone,
            column=Column("", "number", 1, "points", sign=True),
            note="70B, paper 3.2",
        ),
    )


def _frame(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
