"""Commands about machines that judge pairs: judges run, sample, card, pin, check."""

import json
from pathlib import Path
from typing import Annotated

import typer

from hmc_crowd._base.texts import read_text
from hmc_crowd.cli._app import OUTPUT, PLAN, AsJson, OutFile, Overwrite, app
from hmc_crowd.cli._arguments import names, require_free, write_out
from hmc_crowd.cli._judges_work import (
    KINDS,
    ModelWords,
    judge_of,
    pairs_of,
    predictions_of,
    require_writable,
)
from hmc_crowd.cli._metrics_file import read_table
from hmc_crowd.cli._show import echo, emit_json, progress_bar, say, table
from hmc_crowd.cli._wording import HelpfulGroup
from hmc_crowd.errors import InputError

judges_app = typer.Typer(
    cls=HelpfulGroup, help="Machines that judge pairs of responses: run them, compare them with people, pin them."
)
app.add_typer(judges_app, name="judges", rich_help_panel=PLAN)

MODEL = "Language model"
Pairs = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="Pairs: item, instruction, response_a, response_b[, reference, category, ...]."
    ),
]
OneJudge = Annotated[str, typer.Option("--judge", metavar="NAME", help=f"One of {KINDS}.")]
Url = Annotated[
    str | None,
    typer.Option("--endpoint", metavar="URL", help="OpenAI-compatible server, up to /v1.", rich_help_panel=MODEL),
]
Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="As the server names it.", rich_help_panel=MODEL)
]
TemplateFile = Annotated[
    str, typer.Option("--template", metavar="a|b|c|d|FILE", help="The prompt.", rich_help_panel=MODEL)
]
WithReference = Annotated[
    bool, typer.Option("--with-reference", help="Show the person's reference.", rich_help_panel=MODEL)
]
Swap = Annotated[str, typer.Option("--swap", metavar="HOW", help="random, both or none.", rich_help_panel=MODEL)]
Samples = Annotated[
    int, typer.Option("--samples", min=1, metavar="N", help="Answers asked per pair.", rich_help_panel=MODEL)
]
CacheFile = Annotated[
    Path | None,
    typer.Option(
        "--cache", metavar="FILE", help="Keep answers there; an interrupted run goes on.", rich_help_panel=MODEL
    ),
]
Allow = Annotated[
    str,
    typer.Option(
        "--allow-audience", metavar="A,B", help="Audiences that may leave this machine.", rich_help_panel=MODEL
    ),
]
PriceIn = Annotated[
    float,
    typer.Option("--price-in", min=0.0, metavar="PRICE", help="Of a million tokens asked.", rich_help_panel=MODEL),
]
PriceOut = Annotated[
    float,
    typer.Option("--price-out", min=0.0, metavar="PRICE", help="Of a million tokens answered.", rich_help_panel=MODEL),
]
PerMinute = Annotated[
    float | None, typer.Option("--per-minute", metavar="CALLS", help="Most calls a minute.", rich_help_panel=MODEL)
]
UseProxy = Annotated[
    bool,
    typer.Option(
        "--use-proxy",
        help="Send requests through the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names.",
        rich_help_panel=MODEL,
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Of swapped sides and of the random judge.")]


@judges_app.command("run")
def run(
    file: Pairs,
    judge: OneJudge,
    endpoint: Url = None,
    model: Model = None,
    template: TemplateFile = "a",
    with_reference: WithReference = False,
    swap: Swap = "random",
    samples: Samples = 1,
    cache: CacheFile = None,
    allow: Allow = "",
    price_in: PriceIn = 0.0,
    price_out: PriceOut = 0.0,
    per_minute: PerMinute = None,
    use_proxy: UseProxy = False,
    seed: Seed = 0,
    reference: Annotated[
        str | None,
        typer.Option("--reference-column", metavar="COLUMN", help="Whose reference; `reference` by default."),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            "--predictions", metavar="FILE", help="Also write what `items --predictions` takes.", rich_help_panel=OUTPUT
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            "--answers", metavar="FILE", help="People's, of some of the pairs: calibrate --predictions on them."
        ),
    ] = None,
    out: OutFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Judge the pairs of a file: a, b or tie, with probability, seconds and cost."""
    if answers is not None and predictions is None:
        raise InputError("--answers is given and --predictions is not; they calibrate the predictions, so give both")
    for path in (out, predictions):
        require_writable(path, overwrite=overwrite)
    said = ModelWords(
        endpoint, model, template, with_reference, swap, samples, cache, tuple(names(allow)), price_in, price_out,
        per_minute=per_minute, use_proxy=use_proxy, seed=seed,
    )  # fmt: skip
    pairs = pairs_of(file, reference=reference)
    with progress_bar() as advance:
        asked = judge_of(judge, said, lambda done, total: advance("judging", done, total))
        judged = asked.judge(pairs)
    from hmc_crowd.io import write_frame

    if out is not None:
        write_frame(judged, out, overwrite=overwrite, safe_for_spreadsheets="auto")
    if predictions is not None:
        write_frame(predictions_of(judged, answers), predictions, overwrite=overwrite, safe_for_spreadsheets="auto")
    if as_json:
        emit_json({"judge": asked.name, "version": asked.version, "judgements": judged})
        return
    counts = judged["label"].fillna("unparsed").value_counts()
    cost = judged["cost_micro"].sum() / 1e6
    say(
        f"{asked.name}: {len(judged):,} pairs, "
        + ", ".join(f"{word} {int(counts.get(word, 0)):,}" for word in ("a", "b", "tie", "unparsed"))
        + f"; {judged['seconds'].sum():,.1f} s of judging"
        + (f", {cost:,.2f} USD" if cost else "")
    )
    reasons = judged.loc[judged["label"].isna(), "reason"].value_counts()
    for reason, many in reasons.items():
        say(f"{many:,} not judged: {reason}", indent="  ")
    if out is None and predictions is None:
        table(judged[["item", "label", "confidence"]])
    else:
        say(f"written to {' and '.join(str(path) for path in (out, predictions) if path is not None)}")


@judges_app.command("sample")
def sample(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Responses: instruction_id, instruction, model, response[, ...].")
    ],
    baseline: Annotated[str, typer.Option("--baseline", metavar="MODEL", help="What all others are compared with.")],
    per_side: Annotated[int, typer.Option("--per-side", min=1, metavar="N", help="Longer and shorter ones drawn.")] = 2,
    unit: Annotated[str, typer.Option("--unit", metavar="UNIT", help="characters, words or tokens.")] = "characters",
    seed: Seed = 0,
    out: OutFile = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw pairs that are balanced in length, and check that they are."""
    import numpy as np

    from hmc_crowd.judges import length_balance, length_of, sample_pairs

    responses = read_table(file)
    # A model that said nothing has a response all the same, and a file cannot tell it from a missing one.
    blank = {name: responses[name].fillna("").astype(str) for name in ("instruction", "response") if name in responses}
    drawn = sample_pairs(
        responses.assign(**blank), baseline, per_side=per_side, unit=unit, rng=np.random.default_rng(seed)
    )
    if not len(drawn):
        raise InputError(f"{file}: no instruction has both longer and shorter responses than {baseline!r}")
    balance = length_balance(
        *(length_of(drawn[name].to_numpy(dtype=object), unit) for name in ("response_a", "response_b"))
    )
    if out is not None:
        from hmc_crowd.io import write_frame

        write_frame(drawn, out, overwrite=overwrite, safe_for_spreadsheets="auto")
    if as_json:
        emit_json({"pairs": drawn, "length_balance": balance, "is_symmetric": balance.is_symmetric})
        return
    many = drawn["instruction_id"].nunique()
    told = "symmetric" if balance.is_symmetric else "not symmetric"
    say(
        f"{len(drawn):,} pairs of {many:,} instructions; longer than the baseline in {balance.longer:.1%}, median "
        f"difference {balance.median_difference:+,.0f} {unit}, {told} (p = {balance.p_value or 1.0:.3f})"
    )
    if out is None:
        table(drawn[["item", "model"]])
    else:
        say(f"written to {out}")


@judges_app.command("card")
def card(
    file: Pairs,
    judge: OneJudge = "rouge",
    name: Annotated[str, typer.Option("--name", metavar="TEXT", help="Of the benchmark.")] = "Benchmark",
    baseline: Annotated[str, typer.Option("--baseline", metavar="MODEL", help="Who wrote response b.")] = "a baseline",
    as_json: AsJson = False,
) -> None:
    """Print a benchmark card: size, kind, judge, references, what is private."""
    from hmc_crowd.judges import benchmark_card

    made = benchmark_card(pairs_of(file), judge_of(judge, ModelWords()), name=name, baseline=baseline)
    if as_json:
        emit_json(made.to_dict())
    else:
        echo(made.to_markdown(), nl=False)


@judges_app.command("pin")
def pin(
    file: Pairs,
    judge: OneJudge,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The pin, as JSON.", rich_help_panel=OUTPUT)],
    endpoint: Url = None,
    model: Model = None,
    template: TemplateFile = "a",
    with_reference: WithReference = False,
    swap: Swap = "random",
    samples: Samples = 1,
    use_proxy: UseProxy = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Remember what a judge is and what it says on a panel of pairs, on the day it was compared with people."""
    from hmc_crowd.judges import pin_judge

    require_free(out, overwrite=overwrite, endings=())
    # Without a cache: an old answer says nothing about today's model.
    asked = judge_of(judge, ModelWords(endpoint, model, template, with_reference, swap, samples, use_proxy=use_proxy))
    made = pin_judge(asked, pairs_of(file))
    write_out(out, json.dumps(made.to_dict(), ensure_ascii=False, indent=2) + "\n")
    if as_json:
        emit_json(made.to_dict())
    else:
        say(f"{made.name} (version {made.version}) pinned on {len(made.labels)} pairs: {out}")


@judges_app.command("check")
def check(
    file: Pairs,
    judge: OneJudge,
    pinned: Annotated[Path, typer.Option("--pin", metavar="FILE", help="What `judges pin` wrote.")],
    allowed: Annotated[
        float, typer.Option("--allowed", metavar="SHARE", help="Of the panel that may be answered otherwise.")
    ] = 0.0,
    endpoint: Url = None,
    model: Model = None,
    template: TemplateFile = "a",
    with_reference: WithReference = False,
    swap: Swap = "random",
    samples: Samples = 1,
    use_proxy: UseProxy = False,
    as_json: AsJson = False,
) -> None:
    """Is this still the judge that was compared with people? Exit code 1 if not."""
    from hmc_crowd.errors import StateError
    from hmc_crowd.judges import JudgePin, check_pin

    try:
        known = JudgePin(**json.loads(read_text(pinned)))
    except (OSError, json.JSONDecodeError, TypeError, UnicodeDecodeError):
        raise InputError(f"{pinned} is no pin; give the file that `hmc-crowd judges pin` wrote") from None
    # Without a cache: an old answer says nothing about today's model.
    asked = judge_of(judge, ModelWords(endpoint, model, template, with_reference, swap, samples, use_proxy=use_proxy))
    told = ""
    try:
        check_pin(asked, known, pairs_of(file), allowed=allowed)
    except StateError as error:
        told = str(error)
    if as_json:
        emit_json({"same": not told, "reason": told})
    else:
        say(told or f"{asked.name} is and answers as when it was pinned")
    if told:
        raise typer.Exit(1)
