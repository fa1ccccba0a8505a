"""Leaving with results: everything a paper and its readers need of a campaign, in a folder, and nobody's name in it.

Unaggregated answers, final labels, a codebook, a data card (Croissant), LaTeX tables, a methods paragraph. Workers are
numbered anew for each export, in random order, so that two exports cannot be joined by their numbers, nor an export and
the platform's records: no ids, no times of day, seconds rounded. Free text is left out, for it may name
somebody; so are items whose audience is not everybody, and gold, which would be spoilt, unless asked for.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from hmc_crowd import __version__
from hmc_crowd.campaign._labels import final_labels
from hmc_crowd.errors import InputError
from hmc_crowd.metrics import krippendorff_alpha
from hmc_crowd.report import as_code, as_text, croissant, inert, latex_table, methods_paragraph

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord, PlanRecord, Transaction

__all__ = ["Publication", "write_publication"]

_ANSWERS = [
    ("item", "text", "The item that was judged."),
    ("aspect", "text", "The question about it."),
    ("annotator", "text", "A number for the person, made for this export only."),
    ("label", "text", "The answer."),
    ("mode", "text", "blind, or suggest where the machine's label was shown."),
    ("seconds", "number", "Time on the question, to a tenth."),
    ("counted", "boolean", "Whether the answer entered aggregation."),
    ("guideline_version", "text", "Version of the guideline on the page; empty for the first."),
]
_LABELS = [
    ("item", "text", "The item."),
    ("aspect", "text", "The question."),
    ("label", "text", "The final label."),
    ("source", "text", "machine, crowd, expert, or gold: known beforehand, and judged by nobody."),
    ("confidence", "number", "Probability of the label as far as it is known."),
    ("n_answers", "integer", "Answers it rests on."),
    ("tied", "boolean", "Whether answers were tied."),
    ("evidence", "text", "How the label came about."),
]


# As a paper would name them.
_PLATFORMS = {"local": "a workplace of our own", "mturk": "an MTurk-API endpoint", "prolific": "Prolific"}
_METHODS = {"majority": "majority vote", "dawid_skene": "Dawid and Skene's model", "glad": "GLAD", "mace": "MACE"}


@dataclass(frozen=True)
class Publication:
    """What was written.

    Parameters
    ----------
    folder : Path
    files : tuple of str
    answers, labels, annotators : int
    left_out : mapping of reason -> answers
    """

    folder: Path
    files: tuple[str, ...]
    answers: int
    labels: int
    annotators: int
    left_out: dict[str, int]

    def __str__(self) -> str:
        kept = ", ".join(f"{many:,} {why}" for why, many in self.left_out.items() if many)
        return (
            f"{self.answers:,} answers of {self.annotators:,} people and {self.labels:,} labels are in {self.folder}"
            + (f"; left out: {kept}" if kept else "")
        )


def write_publication(
    context: Context,
    folder: str | Path,
    *,
    with_gold: bool = False,
    with_text: bool = False,
    license_url: str = "",
    overwrite: bool = False,
    rng: np.random.Generator | None = None,
) -> Publication:
    """Write the folder, whole or not at all."""
    target = Path(folder)
    if target.exists() and not (overwrite or (target.is_dir() and not any(target.iterdir()))):
        raise InputError(f"{target} is there and not empty; name another folder, or give --overwrite")
    # Numbers that nobody can repeat: a seed in a paper must not lead from a number to a person.
    draw = np.random.default_rng() if rng is None else rng
    with context.store.read() as tx:
        aspects = context.aspects()
        public = _public(context, tx)
        answers, left_out = _answers(context, tx, aspects, public, with_gold=with_gold, with_text=with_text, rng=draw)
        labels = _labels(context, tx, aspects, public, with_gold=with_gold, with_text=with_text)
        facts = _facts(context, tx, answers)
    contents = _files(context, aspects, answers, labels, facts, license_url)
    _write(target, contents)
    people = answers["annotator"].nunique()
    return Publication(target, tuple(contents), len(answers), len(labels), people, left_out)


def _answers(
    context: Context,
    tx: Transaction,
    aspects: list[AspectRecord],
    public: set[str],
    *,
    with_gold: bool,
    with_text: bool,
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, dict[str, int]]:
    found = tx.work.answers(context.campaign_id)
    open_text = {each.name for each in aspects if each.kind == "text"}
    gold = found["is_gold"].to_numpy(dtype=bool) & (not with_gold)
    text = found["aspect"].isin(open_text).to_numpy() & (not with_text)
    private = ~found["task"].isin(public).to_numpy()
    kept = found[~(gold | text | private)]
    left = {
        "on gold": int(gold.sum()),
        "in free text": int((text & ~gold).sum()),
        "on items not for everybody": int((private & ~gold & ~text).sum()),
    }
    workers = kept["worker"].unique()
    number = dict(zip(rng.permutation(workers), range(1, len(workers) + 1), strict=True))
    frame = pd.DataFrame(
        {
            "item": kept["task"],
            "aspect": kept["aspect"],
            "annotator": [f"annotator {number[each]}" for each in kept["worker"]],
            "label": kept["label"],
            "mode": kept["mode"],
            "seconds": kept["seconds"].round(1),
            "counted": kept["excluded"].isna(),
            "guideline_version": kept["guideline_version"],
        }
    )
    # The order of rows tells nothing either.
    return frame.sort_values(["aspect", "item", "annotator"], ignore_index=True), left


def _public(context: Context, tx: Transaction) -> set[str]:
    items = tx.frames.read(context.campaign_id, "items")
    if "audience" not in items:
        return set(items["item"])
    return set(items.loc[items["audience"].fillna("any") == "any", "item"])


def _labels(
    context: Context,
    tx: Transaction,
    aspects: list[AspectRecord],
    public: set[str],
    *,
    with_gold: bool,
    with_text: bool,
) -> pd.DataFrame:
    parts = [
        final_labels(context, tx, each.name).assign(aspect=each.name)
        for each in aspects
        if each.kind != "text" or with_text
    ]
    whole = pd.concat(parts, ignore_index=True)
    if not with_gold:
        gold = tx.frames.read(context.campaign_id, "gold")
        known = pd.MultiIndex.from_frame(gold[["item", "aspect"]])
        whole = whole[~pd.MultiIndex.from_frame(whole[["item", "aspect"]]).isin(known)]
    return whole.loc[whole["item"].isin(public), [name for name, _, _ in _LABELS]].reset_index(drop=True)


def _facts(context: Context, tx: Transaction, answers: pd.DataFrame) -> dict[str, Any]:
    plan: PlanRecord | None = tx.plans.latest(context.campaign_id)
    first = tx.campaigns.aspects(context.campaign_id)[0]
    submissions = tx.work.submissions(context.campaign_id)
    certificates = tx.labels.certificates(context.campaign_id)
    method = tx.aggregations.latest(context.campaign_id, first.name)
    blind = answers[(answers["aspect"] == first.name) & answers["counted"]]
    counts = (
        plan.header["counts"] if plan else {"items": len(tx.frames.read(context.campaign_id, "items")), "people": 0}
    )
    per_annotator = answers.groupby("annotator")["counted"].any()
    return {
        "items": counts["items"],
        "people": counts["people"],
        "audited": counts.get("audit", 0),
        "trade_off": plan.header["request_shown"]["trade_off"] if plan else None,
        "plan_hash": plan.content_hash if plan else "",
        "seed": context.settings()["seed"],
        "version": __version__,
        "platforms": _joined([_PLATFORMS.get(each, each) for each in sorted(submissions["platform"].unique())]),
        "workers": int(answers["annotator"].nunique()),
        "answers": len(answers),
        "redundancy": float(blind.groupby("item").size().mean()) if len(blind) else None,
        "median_s": float(answers["seconds"].median()) if len(answers) else None,
        "excluded": int((~per_annotator).sum()),
        "aggregation": _METHODS.get(method.method, method.method.replace("_", " ")) if method else "",
        "agreement": _alpha(blind, first.kind),
        "guidelines": _guidelines(context),
        "certificate": _sentence(certificates[-1]) if certificates else "",
    }


def _joined(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1] if words else ""


def _alpha(answers: pd.DataFrame, kind: str) -> float | None:
    if kind not in {"nominal", "pair"} or not len(answers):
        return None
    long = answers.rename(columns={"item": "task", "annotator": "worker"})[["task", "worker", "label"]]
    found = krippendorff_alpha(long.drop_duplicates(["task", "worker"]), interval="none")
    return None if found.value is None else float(found.value)


def _guidelines(context: Context) -> str:
    told = [f"version {each.guideline_version} ({each.language})" for each in context.aspects() if each.guideline]
    return f"the guideline in {' and '.join(dict.fromkeys(told))}" if told else ""


def _sentence(certificate: dict[str, Any]) -> str:
    return (
        f"With {certificate['level']:.0%} confidence at least {certificate['agreement_at_least']:.2%} of the "
        f"{certificate['items']:,} final labels agree with our people: {certificate['audited']:,} of the machine's "
        f"labels were audited at random and {certificate['wrong']:,} of those differed."
    )


def _files(
    context: Context,
    aspects: list[AspectRecord],
    answers: pd.DataFrame,
    labels: pd.DataFrame,
    facts: dict[str, Any],
    license_url: str,
) -> dict[str, bytes]:
    tables = {name: inert(frame).to_csv(index=False).encode() for name, frame in _tables(answers, labels).items()}
    card = croissant(
        name=context.name,
        description="Answers of people and final labels, with who judged what decided by a plan; see methods.md.",
        files=tables,
        fields={"answers.csv": _ANSWERS, "labels.csv": _LABELS},
        created=context.clock.now().date().isoformat(),
        license_url=license_url,
    )
    by = labels.groupby(["aspect", "label", "source"]).size().rename("items").reset_index()
    texts = {
        "codebook.md": _codebook(aspects),
        "croissant.json": json.dumps(card, ensure_ascii=False, indent=2) + "\n",
        "tables.tex": latex_table(by, caption="Final labels by source", label="tab:labels"),
        "methods.md": methods_paragraph(facts) + "\n",
        "facts.json": json.dumps(facts, ensure_ascii=False, indent=2) + "\n",
    }
    return tables | {name: text.encode() for name, text in texts.items()}


def _tables(answers: pd.DataFrame, labels: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {"answers.csv": answers, "labels.csv": labels}


def _codebook(aspects: list[AspectRecord]) -> str:
    lines = ["# Codebook", ""]
    for each in aspects:
        lines += [f"## {as_text(each.name)}", "", f"Kind: {each.kind}. Language: {as_text(each.language)}."]
        lines += ["", "Labels:", "", *(f"- {as_code(label)}" for label in each.labels)] if each.labels else []
        if each.guideline:
            told = [as_text(line) for line in each.guideline.splitlines()]
            lines += ["", f"Guideline, version {as_text(each.guideline_version)}:", "", *told]
        lines.append("")
    for name, columns in (("answers.csv", _ANSWERS), ("labels.csv", _LABELS)):
        lines += [f"## {name}", "", "| column | kind | meaning |", "|---|---|---|"]
        lines += [f"| {column} | {kind} | {meaning} |" for column, kind, meaning in columns]
        lines.append("")
    return "\n".join(lines)


def _write(target: Path, contents: dict[str, bytes]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        for name, content in contents.items():
            (staging / name).write_bytes(content)
        target.mkdir(exist_ok=True)
        for name in contents:
            (staging / name).replace(target / name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
