"""How a classifier is kept: a folder of safetensors and JSON, written whole or not at all."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.private import make_private_folder
from hmc_crowd.confidence.text._checkpoint import read_json, sync, write_json
from hmc_crowd.confidence.text._weights import load, need, quiet
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    from pathlib import Path

    from hmc_crowd.confidence.text._classifier import TextClassifier

__all__ = ["load_classifier", "save_classifier"]

FORMAT = "hmc_crowd.confidence.TextClassifier"
VERSION = 1
_FACTS, _HEAD, _ENCODER = "classifier.json", "head.safetensors", "encoder"
# Where and how fast it runs is the reader's business, not the file's.
_NOT_KEPT = ("device", "cache", "progress")


def save_classifier(model: TextClassifier, folder: Path, *, overwrite: bool) -> None:
    """Write everything beside the folder, then put it in place."""
    if folder.exists() and not (overwrite and (folder / _FACTS).is_file()):
        hint = "pass overwrite=True to replace it" if (folder / _FACTS).is_file() else "give another folder"
        raise InputError(f"{folder} is there already; {hint}")
    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    make_private_folder(draft)
    try:
        _write(model, draft)
        old = folder.with_name(f".{folder.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            folder.rename(old)
        draft.rename(folder)
        sync(folder.parent)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write(model: TextClassifier, draft: Path) -> None:
    encoder = model.encoder_
    head = {"weight": np.ascontiguousarray(model.coef_), "bias": np.ascontiguousarray(model.intercept_)}
    need("safetensors.numpy").save_file(head, draft / _HEAD)
    if model.mode == "finetune":
        loaded = encoder._load()
        with quiet():
            loaded.model.save_pretrained(draft / _ENCODER)
            loaded.tokenizer.save_pretrained(draft / _ENCODER)
    params = {name: value for name, value in model.get_params().items() if name not in _NOT_KEPT}
    facts = {
        "format": FORMAT,
        "version": VERSION,
        "libraries": {name: need(name).__version__ for name in ("torch", "transformers", "numpy")},
        "params": params,
        "classes": model.classes_.tolist(),
        "history": list(model.history_),
        "fingerprint": encoder.fingerprint,
    }
    write_json(draft / _FACTS, facts)


def load_classifier(cls: type[TextClassifier], folder: Path, device: str | None) -> TextClassifier:
    """Read a classifier back and check that its encoder is the one it was fitted on."""
    if not (folder / _FACTS).is_file():
        raise ModelError(f"{folder} holds no classifier; give a folder that TextClassifier.save wrote")
    facts: dict[str, Any] = read_json(folder / _FACTS)
    if facts.get("format") != FORMAT or facts.get("version") != VERSION:
        raise ModelError(f"{folder} holds no classifier that this code can read; fit and save it again")
    try:
        model = cls(**facts["params"], device=device)
        model._check()
        head = need("safetensors.numpy").load_file(folder / _HEAD)
        weight, bias, classes = head["weight"], head["bias"], np.array(facts["classes"])
        history, expected = tuple(facts["history"]), facts["fingerprint"]
    except (KeyError, TypeError, OSError, InputError, need("safetensors").SafetensorError) as error:
        raise ModelError(f"the classifier in {folder} does not fit together ({error}); fit and save it again") from None
    encoder = model._make_encoder(str(folder / _ENCODER) if model.mode == "finetune" else None)
    encoder._loaded = load(encoder.encoder)
    if encoder.fingerprint != expected:
        raise ModelError(f"encoder {encoder.encoder!r} has other weights than the classifier in {folder} was fitted on")
    width = encoder._loaded.model.config.hidden_size
    if weight.shape != (len(classes), width) or bias.shape != (len(classes),):
        raise ModelError(f"the head in {folder} has shape {weight.shape}, not {(len(classes), width)}; save it again")
    return model._set_fitted(encoder, weight, bias, classes, history)
