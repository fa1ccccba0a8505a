"""The study of judges beside people: judges compare."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hmc_crowd.cli._app import OUTPUT, AsJson, Overwrite
from hmc_crowd.cli._arguments import names
from hmc_crowd.cli._judges import Pairs, judges_app
from hmc_crowd.cli._judges_work import ModelWords, answers_of, judge_of, judgements_of, pairs_of
from hmc_crowd.cli._metrics_file import column
from hmc_crowd.cli._show import emit_json, say, table
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from hmc_crowd.cli._judges_page import Study
    from hmc_crowd.judges import Stability
    from hmc_crowd.metrics import Metric

MORE = "More studies"
Judged = list[str] | None


@judges_app.command("compare")
def compare(
    file: Pairs,
    answers: Annotated[Path, typer.Option("--answers", metavar="FILE", help="People's: task, worker, label.")],
    judged: Annotated[
        Judged, typer.Option("--judged", metavar="NAME=FILE", help="What `judges run` wrote; repeatable.")
    ] = None,
    judges: Annotated[
        str, typer.Option("--judges", metavar="A,B", help="Judges without a model, run now.")
    ] = "random,shorter,longer,rouge",
    candidates: Annotated[
        str, typer.Option("--candidates", metavar="A,B", help="What the composite chooses from; default: all.")
    ] = "",
    model: Annotated[str | None, typer.Option("--model-column", metavar="COLUMN", help="Who wrote response a.")] = None,
    epsilon: Annotated[
        float, typer.Option("--epsilon", metavar="SHARE", help="What a person must be better by, to be worth it.")
    ] = 0.1,
    unparsed: Annotated[str, typer.Option("--unparsed", metavar="RULE", help="drop or wrong.")] = "drop",
    model_reference: Annotated[
        str | None,
        typer.Option(
            "--model-reference",
            metavar="COLUMN",
            help="References a model wrote: do judges need a person's?",
            rich_help_panel=MORE,
        ),
    ] = None,
    model_judged: Annotated[
        Judged,
        typer.Option(
            "--model-judged",
            metavar="NAME=FILE",
            help="The judges of --judged, run with --reference-column; repeatable.",
            rich_help_panel=MORE,
        ),
    ] = None,
    other: Annotated[
        Path | None,
        typer.Option(
            "--other",
            metavar="FILE",
            help="Pairs of the same models against another baseline: do they rank alike?",
            rich_help_panel=MORE,
        ),
    ] = None,
    other_judged: Annotated[
        Judged,
        typer.Option(
            "--other-judged", metavar="NAME=FILE", help="The same judges on --other; repeatable.", rich_help_panel=MORE
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page.", rich_help_panel=OUTPUT)
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Compare judges with people: agreement by kind of task, bias, cost, and may they stand in for a person?"""
    from hmc_crowd.cli._judges_page import Study, study_page
    from hmc_crowd.judges import compare_judges, compare_references

    if other is not None and model is None:
        raise InputError("--other compares models, and --model-column does not say who wrote response a; give it")
    pairs, said = pairs_of(file), answers_of(answers)
    models = None if model is None else column(pairs, model, file).astype(str).tolist()
    found = _judged(pairs, names(judges), judged)
    study = compare_judges(
        pairs, said, found, candidates=names(candidates) or None, models=models, epsilon=epsilon, unparsed=unparsed
    )
    references = None
    if model_reference is not None or model_judged:
        by_model = _by_model(file, model_reference, [each for each in names(judges) if each in found], model_judged)
        both = {name: found[name] for name in by_model if name in found}
        references = compare_references(pairs, said, both, by_model, unparsed=unparsed)
    stable = {} if other is None else _stable(pairs, found, model or "", file, other, names(judges), other_judged)
    sizes = None if models is None else _sizes(pairs, found[study.best], models)
    whole = Study(study, sizes, references, stable)
    if html is not None:
        study_page(whole, html, overwrite=overwrite)
    if as_json:
        emit_json(whole.to_dict())
        return
    _tell(whole)
    if html is not None:
        say(f"page written to {html}")


def _tell(whole: "Study") -> None:
    study = whole.study
    say(f"{study.n_pairs:,} pairs, {study.n_answers:,} answers of people")
    table(study.table().round(1), title="\nLeave-one-out agreement with people, percent")
    manners = study.manners()
    table(manners.drop(columns=["length_bias_decided"]).round(3), title="\nBias, ties, time and cost of 1,000 pairs")
    if study.composite is not None:
        say(f"\n{study.composite}")
    for name, each in study.judges.items():
        say(f"{name}: {each.stand_in}", indent="  ")
    if whole.references is not None:
        table(whole.references.round(3), title="\nAgreement by a person's and by a model's reference")
    if whole.stable:
        say("\nDo models rank alike against the other baseline?")
    for name, stable in whole.stable.items():
        say(f"{name}: {stable}", indent="  ")
    if whole.sizes is not None:
        table(whole.sizes, title=f"\np-values of paired t-tests between models, by pairs per model ({study.best})")


def _judged(pairs: "pd.DataFrame", words: list[str], files: Judged) -> "dict[str, pd.DataFrame]":
    found = {word: judge_of(word, ModelWords()).judge(pairs) for word in words}
    return found | {name: judgements_of(path) for name, path in map(_named, files or [])}


def _by_model(file: Path, reference: str | None, words: list[str], files: Judged) -> "dict[str, pd.DataFrame]":
    """Judge again with a model's references; only judges that read a reference are worth it."""
    found = {}
    if reference is not None:
        pairs = pairs_of(file, reference=reference)
        every = {word: judge_of(word, ModelWords()) for word in words}
        reads = [word for word, judge in every.items() if judge.needs_reference and not word.startswith("direct:")]
        found = {word: every[word].judge(pairs) for word in reads}
    found |= {name: judgements_of(path) for name, path in map(_named, files or [])}
    if not found:
        raise InputError(
            f"--model-reference is {reference!r}, but none of the judges {', '.join(words) or '(none)'} reads a "
            "reference; add rouge to --judges, or give --model-judged"
        )
    return found


def _stable(
    pairs: "pd.DataFrame",
    found: "dict[str, pd.DataFrame]",
    model: str,
    file: Path,
    other: Path,
    words: list[str],
    files: Judged,
) -> "dict[str, Stability]":
    """Compare the models' win rates on two files, for each judge that saw both."""
    from hmc_crowd.judges import compare_rankings, model_rates

    second = pairs_of(other)
    judged = _judged(second, words, files)

    def rates(frame: "pd.DataFrame", said: "pd.DataFrame", source: Path) -> "dict[str, Metric]":
        lined = said.set_index("item").reindex(frame["item"]).reset_index()
        return model_rates(lined, column(frame, model, source).tolist(), instructions=frame["instruction"])

    return {
        name: compare_rankings(rates(pairs, found[name], file), rates(second, said, other))
        for name, said in judged.items()
        if name in found
    }


def _named(text: str) -> tuple[str, Path]:
    name, found, path = text.partition("=")
    if not found or not name or not path:
        raise InputError(f"--judged is {text!r}; write NAME=FILE")
    return name, Path(path)


def _sizes(pairs: "pd.DataFrame", judged: "pd.DataFrame", models: list[str]) -> "pd.DataFrame | None":
    """Return p-values by size of a judge's scores of the models, where instructions are shared."""
    import pandas as pd

    from hmc_crowd.judges import outcomes_of
    from hmc_crowd.metrics import outcome_scores, p_values_by_size

    lined = judged.set_index("item").loc[pairs["item"]]
    scores = pd.DataFrame(
        {"instruction": pairs["instruction"], "model": models, "score": outcome_scores(outcomes_of(lined))}
    )
    wide = scores.pivot_table(index="instruction", columns="model", values="score").dropna()
    return p_values_by_size(wide) if len(wide) > 2 and wide.shape[1] > 1 else None
