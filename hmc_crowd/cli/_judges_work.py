"""From words on the command line to judges, people's answers and a page of plots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd.cli._metrics_file import column, read_table
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from hmc_crowd.judges import Judge

__all__ = ["ModelWords", "answers_of", "judge_of", "judgements_of", "pairs_of", "predictions_of", "require_writable"]

KINDS = "random, shorter, longer, rouge, rougeL, embedding, perplexity, llm, local:FOLDER, direct:NAME"


@dataclass(frozen=True)
class ModelWords:
    """What was said about a language model; only judges that are one need it."""

    endpoint: str | None = None
    model: str | None = None
    template: str = "a"
    with_reference: bool = False
    swap: str = "random"
    samples: int = 1
    cache: Path | None = None
    allow: tuple[str, ...] = ()
    price_in: float = 0.0
    price_out: float = 0.0
    concurrency: int = 32
    per_minute: float | None = None
    use_proxy: bool = False
    seed: int = 0


def judge_of(word: str, said: ModelWords, progress: Any = None) -> Judge:
    """Return the judge that a word names.

    Raises
    ------
    InputError
        Nobody knows the word, or a language model lacks its address.
    """
    import hmc_crowd.judges as hj

    kind, _, more = word.partition(":")
    if kind == "direct":
        return hj.AgainstPerson(judge_of(more, said, progress))
    if kind == "random":
        return hj.RandomJudge(said.seed)
    if kind in {"shorter", "longer"}:
        return hj.LengthJudge(kind, more or "characters")
    if kind in {"rouge", "rouge1", "rouge2", "rougeL"}:
        return hj.RougeJudge("rouge1" if kind == "rouge" else kind, preset=more or "words")
    if kind == "embedding":
        return hj.EmbeddingJudge(more or "minilm")
    if kind == "perplexity":
        return hj.PerplexityJudge()
    if kind in {"llm", "local"}:
        return hj.LLMJudge(
            _client(kind, more, said),
            said.template,
            with_reference=said.with_reference,
            swap=said.swap,
            samples=said.samples,
            cache=said.cache,
            allow_audiences=said.allow,
            price_in=said.price_in,
            price_out=said.price_out,
            seed=said.seed,
            progress=progress,
        )
    raise InputError(f"judge {word!r} is not known; choose among {KINDS}")


def _client(kind: str, more: str, said: ModelWords) -> Any:
    if kind == "local":
        from hmc_crowd.judges import LocalModel

        if not more:
            raise InputError("judge 'local' names no model; write local:FOLDER")
        return LocalModel(more)
    from hmc_crowd.judges.endpoint import Endpoint

    if said.endpoint is None or said.model is None:
        raise InputError("judge 'llm' needs --endpoint URL and --model NAME")
    return Endpoint(
        said.endpoint,
        said.model,
        concurrency=said.concurrency,
        per_minute=said.per_minute,
        trust_env=said.use_proxy,
    )


def pairs_of(file: Path, *, reference: str | None = None) -> pd.DataFrame:
    """Read pairs; empty cells of optional columns are empty, and another column may be the reference."""
    frame = read_table(file)
    if reference is not None:
        frame = frame.assign(reference=column(frame, reference, file))
    for name in ("item", "instruction", "response_a", "response_b"):
        column(frame, name, file)
    texts = [name for name in ("instruction", "response_a", "response_b", "reference", "category") if name in frame]
    # A blank response is a response, and a file cannot tell it from a missing one.
    frame = frame.assign(**{name: frame[name].astype(object).where(frame[name].notna(), "") for name in texts})
    frame["item"] = frame["item"].astype(object).where(frame["item"].notna(), "").astype(str)
    return frame.assign(**{name: frame[name].astype(str) for name in texts})


def answers_of(file: Path) -> pd.DataFrame:
    """Read people's answers: task, worker, label; win and loss are a and b."""
    frame = read_table(file)
    for name in ("task", "worker", "label"):
        column(frame, name, file)
    words = {"win": "a", "loss": "b"}
    label = [words.get(each, each) for each in (str(cell).strip().lower() for cell in frame["label"])]
    if not len(frame):
        raise FrameError(f"{file} has no answers")
    return frame.assign(task=frame["task"].astype(str), label=label)


def judgements_of(path: Path) -> pd.DataFrame:
    """Read what `judges run` wrote; an empty label is a pair that was not judged."""
    import pandas as pd

    frame = read_table(path)
    for name in ("item", "label"):
        column(frame, name, path)
    # A file of text knows neither nothing from an empty text, nor a truth from the word for it.
    cells = {name: [_cell(each) for each in frame[name]] for name in ("label", "consistent") if name in frame}
    made = frame.assign(item=frame["item"].astype(str), label=pd.Series(cells["label"], frame.index, dtype=object))
    if "consistent" in cells:
        truths = [{"true": True, "false": False}.get(str(each).lower()) for each in cells["consistent"]]
        made["consistent"] = pd.Series(truths, frame.index, dtype=object)
    for name, missing in (("confidence", float("nan")), ("seconds", 0.0), ("cost_micro", 0)):
        made[name] = _numbers(frame, name, path) if name in frame else missing
    return made


def _cell(value: Any) -> str | None:
    text = "" if value is None or value != value else str(value).strip()
    return text or None


def _numbers(frame: pd.DataFrame, name: str, path: Path) -> pd.Series[Any]:
    import pandas as pd

    numbers = pd.to_numeric(frame[name], errors="coerce")
    lost = numbers.isna() & frame[name].map(lambda each: _cell(each) is not None)
    if lost.any():
        raise FrameError(f"{path}: {name} must be a number; the first other is {frame[name][lost].iloc[0]!r}")
    return numbers


def predictions_of(judged: pd.DataFrame, answers: Path | None) -> pd.DataFrame:
    """Return judgements as predictions, calibrated on people's answers where there are some."""
    from hmc_crowd.aggregation import aggregate
    from hmc_crowd.judges import JudgeCalibration, as_predictions

    if answers is None:
        return as_predictions(judged)
    labels = aggregate(answers_of(answers)[["task", "worker", "label"]], method="majority").frame
    people = dict(zip(labels["item"].astype(str), labels["label"], strict=True))
    return as_predictions(JudgeCalibration().fit(judged, people).transform(judged))


def require_writable(path: Path | None, *, overwrite: bool) -> None:
    """Refuse a file that could not be written later, before a judge is paid for what it would hold."""
    import os

    from hmc_crowd.io._forms import form_of_path

    if path is None:
        return
    form_of_path(path)
    if path.exists() and not overwrite:
        raise InputError(f"{path} is there; name another file, or give --overwrite")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"{path} cannot be written; name a file in a folder that is there")
