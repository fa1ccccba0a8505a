"""Commands on gates, which say what an expert must see: gate train, gate compare, gate simulate."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmc_crowd.cli._app import OUTPUT, RESULT, AsJson, Overwrite, app
from hmc_crowd.cli._arguments import require_free
from hmc_crowd.cli._gate_file import GateFiles, gates_for, posterior_gate, read_gate_files, sides_of
from hmc_crowd.cli._show import busy, emit_json, facts, notes, say, table
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    import pandas as pd

gate_app = typer.Typer(
    no_args_is_help=True,
    help="Which items need an expert? Train a gate, compare gates on items none has seen, simulate crowd and experts.",
)
app.add_typer(gate_app, name="gate", rich_help_panel=RESULT)

Answers = Annotated[Path, typer.Argument(metavar="FILE", help="Answers: task, worker, label (confidence, submitted).")]
Gold = Annotated[Path, typer.Option("--gold", metavar="FILE", help="The expert's labels: item, label.")]
Items = Annotated[
    Path | None,
    typer.Option(
        "--items",
        metavar="FILE",
        help="What is known of items: item, and any of risk, complexity, semantic_complexity, urgency, text.",
    ),
]
Workers = Annotated[
    Path | None,
    typer.Option("--workers", metavar="FILE", help="Quality of workers: worker, quality; default: from the answers."),
]
Features = Annotated[
    str, typer.Option("--features", metavar="SET", help="source, or answers (adds what the answers say).")
]
Weighted = Annotated[bool, typer.Option("--weighted", help="Judge the label with most weight, not the majority's.")]
ExpertCost = Annotated[float, typer.Option("--expert-cost", metavar="COST", help="Of an expert's judgement.")]
ErrorCost = Annotated[float, typer.Option("--error-cost", metavar="COST", help="Of a wrong label that goes out.")]
ExpertError = Annotated[float, typer.Option("--expert-error", metavar="SHARE", help="How often experts are wrong.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Of what is drawn.")]
_SHOWN = ["gate", "sent", "recall", "precision", "f1", "accuracy", "cost", "sent_at_equal"]


@gate_app.command("train")
def train(
    file: Answers,
    gold: Gold,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the gate goes.", rich_help_panel=OUTPUT)],
    items: Items = None,
    workers: Workers = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="logistic, xgboost or random_forest.")
    ] = "logistic",
    features: Features = "answers",
    weighted: Weighted = False,
    expert_cost: ExpertCost = 1.0,
    error_cost: ErrorCost = 10.0,
    expert_error: ExpertError = 0.0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Learn from items with an expert's label where the crowd is wrong, and write the gate to a file."""
    from hmc_crowd.quality import GateCosts, LearnedGate, save_gate

    require_free(out, overwrite=overwrite, endings=(".skops",))
    costs = GateCosts(expert_cost, error_cost, expert_error)
    asked: Any = kind
    with busy("training"):
        files = read_gate_files(file, gold, items, workers)
        gate = LearnedGate(asked, features=features, costs=costs, weighted=weighted)
        gate.fit(files.items, files.answers, files.workers, gold=files.gold)
    if gate.note_:
        raise ModelError(f"{gate.note_}; nothing was written: bring more labels of experts, or use the rules")
    save_gate(gate, out)
    if as_json:
        emit_json({**_trained(gate), "written": out, "notes": files.notes})
        return
    brier = None if gate.calibrator_ is None else gate.calibrator_.brier_[gate.calibrator_.method_]
    facts(
        str(gate),
        [
            ("features", ", ".join(gate.features_)),
            ("calibration", None if brier is None else f"Brier score {brier:.4f} on items that it had not seen"),
            ("version", gate.version),
            ("written", str(out)),
        ],
    )
    notes(files.notes)


def _trained(gate: Any) -> dict[str, Any]:
    return {
        "gate": gate.name,
        "version": gate.version,
        "features": gate.features_,
        "items": gate.n_items_,
        "wrong": gate.n_wrong_,
        "threshold": gate.threshold,
        "brier": gate.calibrator_.brier_,
    }


@gate_app.command("compare")
def compare(
    file: Answers,
    gold: Gold,
    items: Items = None,
    workers: Workers = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="FILE", help="A trained gate, which has learnt from none of these items."),
    ] = None,
    by: Annotated[
        str, typer.Option("--by", metavar="WHAT", help="What training and judging do not share: task, worker or time.")
    ] = "task",
    share: Annotated[float, typer.Option("--share", metavar="SHARE", help="Items to judge on.")] = 0.2,
    features: Features = "answers",
    weighted: Weighted = False,
    expert_cost: ExpertCost = 1.0,
    error_cost: ErrorCost = 10.0,
    expert_error: ExpertError = 0.0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare rules, consensus, weighted majority and learned gates on items that none of them has seen."""
    from hmc_crowd.quality import GateCosts, claims_beside, compare_gates, load_gate

    costs = GateCosts(expert_cost, error_cost, expert_error)
    files = read_gate_files(file, gold, items, workers)
    split, held = None, files
    with busy("comparing"):
        if model is not None:
            learned: dict[str, Any] = {"ML gate": load_gate(model)}
        else:
            split, held, learned = _learned_on_split(
                files, by, share, seed, features=features, weighted=weighted, costs=costs
            )
        gates = gates_for(held, learned)
        found = compare_gates(gates, held.items, held.answers, held.workers, gold=held.gold, costs=costs)
    said = [*files.notes, *(f"{name}: {gate.note_}" for name, gate in learned.items() if getattr(gate, "note_", ""))]
    said += [found.note] if found.note else []
    if as_json:
        claims = claims_beside(found.table)
        emit_json(
            {"split": None if split is None else str(split), "gates": found.table, "claims": claims, "notes": said}
        )
        return
    say(str(found))
    if split is not None:
        say(str(split))
    table(_rounded(found.table[_SHOWN]), title="\nsent at equal: items to send for the accuracy of the rules")
    for row in claims_beside(found.table).to_dict("records"):
        span = " to ".join(dict.fromkeys(f"{row[name]:.0%}" for name in ("measured_low", "measured_high")))
        say(f"{row['kind']}: {span} of the items decided right here; the source claims {row['accuracy']}, without data")
    notes(said)


def _learned_on_split(
    files: GateFiles, by: str, share: float, seed: int, **settings: Any
) -> tuple[Any, GateFiles, dict[str, Any]]:
    import numpy as np

    from hmc_crowd.quality import LearnedGate, split_answers

    judged = files.answers[files.answers["task"].isin(files.gold["item"])]
    if not len(judged):
        raise InputError("--gold has no label for any item with answers; give the labels of items that were answered")
    asked: Any = by
    split = split_answers(judged, by=asked, share=share, rng=np.random.default_rng(seed))
    known, held = sides_of(files, split)
    seen = judged if by == "task" else split.train
    learned: dict[str, Any] = {"posterior": posterior_gate(known, seen, settings["costs"])}
    kinds: tuple[Any, ...] = ("logistic", "random_forest", "xgboost")
    for kind in kinds:
        gate = LearnedGate(kind, **settings)
        learned[f"ML gate ({kind})"] = gate.fit(known.items, known.answers, known.workers, gold=files.gold)
    return split, held, learned


def _rounded(frame: "pd.DataFrame") -> "pd.DataFrame":
    return frame.assign(**{name: frame[name].round(3) for name in ("recall", "precision", "f1", "accuracy", "cost")})


@gate_app.command("simulate")
def simulate(
    repeats: Annotated[int, typer.Option("--repeats", min=1, metavar="N", help="Crowds drawn anew.")] = 3,
    items: Annotated[int, typer.Option("--items", min=1, metavar="N", help="Items.")] = 10_000,
    workers: Annotated[int, typer.Option("--workers", min=1, metavar="N", help="Workers.")] = 5_000,
    experts: Annotated[int, typer.Option("--experts", min=1, metavar="N", help="Experts.")] = 50,
    accuracy: Annotated[float, typer.Option("--accuracy", metavar="SHARE", help="Mean accuracy of workers.")] = 0.8,
    machine: Annotated[float, typer.Option("--machine", metavar="SHARE", help="Accuracy of the machine alone.")] = 0.75,
    train_items: Annotated[
        int | None,
        typer.Option(
            "--train-items", min=1, metavar="N", help="Items that have taught the ML gate, paid for; default a fifth."
        ),
    ] = None,
    batches: Annotated[
        int, typer.Option("--batches", min=1, metavar="N", help="Batches that bear the cost of teaching it.")
    ] = 1,
    expert_error: ExpertError = 0.05,
    grid: Annotated[bool, typer.Option("--grid", help="Also over a grid of crowds, gates, prices and errors.")] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Simulate machine, experts, crowd, rules and ML gate; say where the source's claims hold and where not."""
    import numpy as np

    from hmc_crowd.quality import CLAIMS, MixPrices, MixSetting, claims_over_grid, mix_table, simulate_mix

    rng = np.random.default_rng(seed)
    setting = MixSetting(
        items=items,
        workers=workers,
        experts=experts,
        train_items=train_items or max(items // 5, 100),
        worker_accuracy=accuracy,
        machine_accuracy=machine,
    )
    prices = MixPrices(expert_error=expert_error, batches=batches)
    with busy("simulating"):
        arms = mix_table(simulate_mix(setting, rng=rng, repeats=repeats), prices)
        points = claims_over_grid(rng=rng, setting=setting, repeats=repeats, batches=batches) if grid else None
    if as_json:
        emit_json({"arms": arms, "claims": CLAIMS, "grid": points})
        return
    table(
        _with_bands(arms), title=f"{items:,} items, {workers:,} workers, {experts:,} experts; crowds drawn: {repeats}"
    )
    taught = float(arms["taught_minor"].sum()) / 100
    spread = f", spread over {batches:,} batches" if batches > 1 else ""
    say(f"{taught:,.0f} of the ML gate's cost taught it, on {setting.train_items:,} items{spread}")
    for arm in ("rules", "ML gate"):
        say(f"{arm}: {_claims_of(arms.set_index('arm').loc[arm], CLAIMS)}")
    if points is not None:
        table(_held(points), title="\nshare of the grid where a claim holds")


def _with_bands(arms: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    def band(name: str, scale: float, places: int) -> list[str]:
        ends = (arms[f"{name}_low"], arms[f"{name}_high"])
        rows = zip(arms[name], *ends, strict=True)
        return [
            f"{mean / scale:,.{places}f} ({low / scale:,.{places}f} to {high / scale:,.{places}f})"
            for mean, low, high in rows
        ]

    return pd.DataFrame(
        {
            "arm": arms["arm"],
            "cost": band("cost_minor", 100, 0),
            "hours": band("hours", 1, 1),
            "accuracy": band("accuracy", 1, 3),
            "expert_use": band("expert_use", 1, 3),
        }
    )


def _claims_of(row: Any, claims: dict[str, float]) -> str:
    words = {"cost_saved": "cost", "time_saved": "time", "accuracy": "accuracy", "expert_use": "expert use"}
    parts = []
    for name, claim in claims.items():
        holds = row[name] <= claim if name == "expert_use" else row[name] >= claim
        sign = "-" if name.endswith("saved") else ""
        verdict = "holds" if holds else "does not hold"
        parts.append(f"{words[name]} {sign}{row[name]:.0%} (claimed {sign}{claim:.0%}: {verdict})")
    return ", ".join(parts)


def _held(points: "pd.DataFrame") -> "pd.DataFrame":
    names = [name for name in points.columns if name.endswith("_holds")]
    return points.groupby("arm", sort=False)[[*names, "all_hold"]].mean().round(3).reset_index()
