"""The study of judges as a page: what Table 2 and Figures 3, 4, 6, 7 and 8 of the source show, of your own pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.clock import SystemClock
from hmc_crowd.report import Axis, Column, Document, Dots, Section, Series, Table, dot_chart, line_chart, write_document

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from hmc_crowd.judges import JudgeStudy, Stability
    from hmc_crowd.metrics import CategoryTable, Metric
    from hmc_crowd.report import Chart

__all__ = ["Study", "study_page"]

_LINES = {"mean_p": "mean", "q90": "90th percentile", "q80": "80th percentile"}
_MOST = 6  # lines that can be told apart
_AGREEMENT = Axis("Leave-one-out agreement (%)", percent=True)
_PEOPLE = "people"
_DIRECT = "direct:"
_MANNERS = {
    "judge": Column("Judge"),
    "length_bias": Column("Length bias", "percent"),
    "length_bias_decided": Column("of decided", "percent"),
    "consistency": Column("Same in both orders", "percent"),
    "ties": Column("Ties", "percent"),
    "unparsed": Column("Not judged", "percent"),
    "seconds_per_1000": Column("Time of 1,000", "number", 2, "s"),
    "cost_per_1000": Column("Cost of 1,000", "number", 2),
    "winning_rate": Column("Wins against people", "percent", 0),
    "may_stand_in": Column("May stand in", "flag"),
}
_REFERENCES = {
    "judge": Column("Judge"),
    "person": Column("By a person's", "percent"),
    "person_low": Column("low", "percent"),
    "person_high": Column("high", "percent"),
    "model": Column("By a model's", "percent"),
    "model_low": Column("low", "percent"),
    "model_high": Column("high", "percent"),
    "difference": Column("Difference", "percent", sign=True),
    "low": Column("low", "percent", sign=True),
    "high": Column("high", "percent", sign=True),
    "n": Column("Pairs", "integer"),
}
_HEADS = {"all": "All", "low": "Low", "high": "High"}


@dataclass(frozen=True, eq=False)
class Study:
    """Everything that `judges compare` found out.

    Parameters
    ----------
    study : JudgeStudy
    sizes : frame or None
        p-values by number of pairs.
    references : frame or None
        Agreement by a person's and by a model's reference.
    stable : mapping of judge -> Stability
        Win rates against two baselines.
    """

    study: JudgeStudy
    sizes: pd.DataFrame | None = None
    references: pd.DataFrame | None = None
    stable: Mapping[str, Stability] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        alike = {
            name: {"models": each.table, "spearman": each.spearman.value, "pearson": each.pearson.value}
            for name, each in self.stable.items()
        }
        more = {"p_values": self.sizes, "references": self.references, "baselines": alike or None}
        return self.study.to_dict() | more


def study_page(whole: Study, path: Path, *, overwrite: bool) -> None:
    """Write the study's tables and plots as one page."""
    sections = [_agreement(whole.study), _manners(whole.study)]
    sections += [made for made in (_direct(whole.study), _references(whole.references)) if made is not None]
    if whole.stable:
        sections.append(_baselines(whole.stable))
    if whole.sizes is not None:
        sections.append(_sizes(whole.sizes, whole.study.best))
    document = Document(
        title="May these judges stand in for people?", created_at=SystemClock().now(), sections=tuple(sections)
    )
    write_document(document, path, overwrite=overwrite)


def _agreement(study: JudgeStudy) -> Section:
    every = study.agreements()
    micro = {name: each.micro for name, each in every.items()}
    judges = {name: float(value) for name, value in micro.items() if name != _PEOPLE}
    best = max(judges, key=lambda name: (judges[name] == judges[name], judges[name]))
    said = f"{best} agrees most, {_pct(judges[best])}; people among themselves {_pct(float(micro[_PEOPLE]))}."
    charts = [_all_chart(micro, said)]
    if len(every[_PEOPLE].categories) > 1:
        charts.append(_category_chart(every))
    frame = study.table()
    named = [str(name) for name in frame if name != "judge"]
    heads = {name: Column(_HEADS.get(name, name), "number", 1) for name in named}
    table = Table(
        key="agreement",
        title="Leave-one-out agreement with people, percent",
        frame=frame,
        columns={"judge": Column("Judge"), **heads},
    )
    return Section(key="judges", title="Judges and people", paragraphs=(said,), charts=tuple(charts), tables=(table,))


def _all_chart(micro: Mapping[str, Metric], said: str) -> Chart:
    return dot_chart(
        "agreement-all",
        list(micro),
        [_dots("agreement", list(micro.values()))],
        title="Agreement with people, all pairs",
        description=f"Agreement of each judge with its interval. {said}",
        x=_AGREEMENT,
    )


def _category_chart(every: Mapping[str, CategoryTable]) -> Chart:
    """Draw people and the five judges that agree most, by category."""
    judges = [name for name in every if name != _PEOPLE]
    ranked = sorted(judges, key=lambda name: -float(every[name].micro))
    shown = [*(name for name in judges if name in ranked[: _MOST - 1]), _PEOPLE]
    categories = [str(name) for name in every[_PEOPLE].categories]
    series = [
        Dots(name, [float(by[each]) if each in by else float("nan") for each in every[_PEOPLE].categories])
        for name, by in ((name, every[name].categories) for name in shown)
    ]
    return dot_chart(
        "agreement-categories",
        categories,
        series,
        title="Agreement with people by kind of task",
        description=f"Agreement of {', '.join(shown)} in {len(categories)} kinds of task; the table has the numbers.",
        x=_AGREEMENT,
    )


def _manners(study: JudgeStudy) -> Section:
    names = list(study.judges)
    reports = list(study.judges.values())
    chart = dot_chart(
        "length-bias",
        names,
        [
            _dots("of all pairs", [each.length_bias for each in reports]),
            _dots("of decided pairs of unequal length", [each.length_bias_decided for each in reports]),
        ],
        title="Length bias",
        description="How much more often each judge prefers the longer response than the shorter one; 0 is neither. "
        + "; ".join(f"{name} {_pct(float(each.length_bias))}" for name, each in study.judges.items()),
        x=Axis("Longer minus shorter preferred (%)", percent=True),
        line=0.0,
    )
    manners = Table(key="manners", title="Bias, ties, time and cost", frame=study.manners().round(4), columns=_MANNERS)
    tables = [manners]
    if all(len(each.win_rates) > 1 for each in reports):
        rankings = study.rankings(study.best).round(4)
        tables.append(Table(key="rankings", title=f"Do judges rank the models as {study.best} does?", frame=rankings))
    able = [name for name, each in study.judges.items() if each.stand_in.may_stand_in]
    told = f"May stand in for a person, by the alternative annotator test: {', '.join(able) or 'none of them'}."
    return Section(
        key="manners", title="Bias, cost, and standing in", paragraphs=(told,), charts=(chart,), tables=tuple(tables)
    )


def _direct(study: JudgeStudy) -> Section | None:
    """Figure 4: one response against the other, and each against the person's."""
    every = study.agreements()
    names = [name for name in every if f"{_DIRECT}{name}" in every]
    if not names:
        return None
    series = [
        _dots("one against the other", [every[name].micro for name in names]),
        _dots("each against the person's", [every[f"{_DIRECT}{name}"].micro for name in names]),
        _dots("people among themselves", [every[_PEOPLE].micro for _ in names]),
    ]
    chart = dot_chart(
        "direct",
        names,
        series,
        title="Responses against each other, or against the person's",
        description="Agreement with people of a judge that compares the two responses, and of one that compares each "
        "with what a person wrote.",
        x=_AGREEMENT,
    )
    return Section(key="direct", title="Against each other, or against the person's response", charts=(chart,))


def _references(found: pd.DataFrame | None) -> Section | None:
    """Figure 3: a person's reference against a model's."""
    if found is None:
        return None
    names = found["judge"].tolist()
    series = [
        Dots(label, found[kind].to_numpy(), found[f"{kind}_low"].to_numpy(), found[f"{kind}_high"].to_numpy())
        for kind, label in (("person", "written by a person"), ("model", "written by a model"))
    ]
    chart = dot_chart(
        "references",
        names,
        series,
        title="By the writer of the reference",
        description="Agreement with people by a person's and by a model's reference: "
        + "; ".join(
            f"{name} {_pct(person)} and {_pct(model)}"
            for name, person, model in zip(names, found["person"].tolist(), found["model"].tolist(), strict=True)
        ),
        x=_AGREEMENT,
    )
    table = Table(
        key="references", title="Agreement by kind of reference, and their difference", frame=found, columns=_REFERENCES
    )
    return Section(key="references", title="Who wrote the reference?", charts=(chart,), tables=(table,))


def _baselines(stable: Mapping[str, Stability]) -> Section:
    """Figures 7 and 8: the same models against another baseline."""
    import pandas as pd

    charts = []
    for number, (name, each) in enumerate(stable.items()):
        if number == _MOST:
            break
        frame = each.table
        series = [
            Dots(label, *(frame[f"{kind}{end}"].to_numpy() for end in ("", "_low", "_high")))
            for kind, label in (("first", "these pairs"), ("second", "the other baseline"))
        ]
        charts.append(
            dot_chart(
                f"baselines-{number}",
                frame["model"].tolist(),
                series,
                title=f"Win rates against both baselines, by {name}",
                description=f"Win rate of each model against both baselines; {each.spearman}.",
                x=Axis("Win rate (%)", percent=True),
            )
        )
    rows = [
        {"judge": name, "models": len(each.table), "spearman": each.spearman.value, "pearson": each.pearson.value}
        for name, each in stable.items()
    ]
    tables = [Table(key="baselines", title="Do models rank alike?", frame=pd.DataFrame(rows).round(4))]
    every = pd.concat([each.table.assign(judge=name) for name, each in stable.items()], ignore_index=True)
    tables.append(Table(key="baseline_rates", title="Win rates against both baselines", frame=every.round(4)))
    return Section(key="baselines", title="Another baseline", charts=tuple(charts), tables=tuple(tables))


def _sizes(sizes: pd.DataFrame, judge: str) -> Section:
    x = sizes["size"].tolist()
    chart = line_chart(
        "p-values",
        [Series(title, x, sizes[name].tolist()) for name, title in _LINES.items()],
        title="p-values by number of pairs",
        description=f"p-values of the paired t-tests between models by {judge}, by the number of pairs per model.",
        x=Axis("Pairs per model"),
        y=Axis("p of the paired t-tests"),
    )
    return Section(
        key="sizes",
        title="How many pairs tell models apart?",
        charts=[chart],
        tables=[Table(key="p_values", title=f"p-values by number of pairs, by {judge}", frame=sizes)],
    )


def _dots(name: str, metrics: list[Metric]) -> Dots:
    return Dots(
        name,
        [float(each) for each in metrics],
        [float("nan") if each.low is None else each.low for each in metrics],
        [float("nan") if each.high is None else each.high for each in metrics],
    )


def _pct(share: float) -> str:
    return f"{share * 100:.1f} %" if share == share else "unknown"
