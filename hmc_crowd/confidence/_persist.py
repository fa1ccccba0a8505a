"""How a fitted confidence gets to disk and back without trusting the file.

One skops container (a zip of plain values and arrays), never a pickle. Only types that we write are let in, and what
they hold must fit together before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd._base.containers import from_container, read_model_file, to_container
from hmc_crowd._base.private import write_private
from hmc_crowd.confidence._calibrate import Calibrator
from hmc_crowd.confidence._mcp import MaximumClassProbability
from hmc_crowd.confidence._stack import StackedConfidence
from hmc_crowd.confidence._tcp import TrueClassProbability
from hmc_crowd.confidence._trust_score import TrustScore
from hmc_crowd.confidence._within import ProbabilityWithin
from hmc_crowd.errors import ModelError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["load_confidence", "save_confidence"]

FORMAT = "hmc_crowd.confidence"
VERSION = 1
_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Calibrator,
        MaximumClassProbability,
        ProbabilityWithin,
        StackedConfidence,
        TrueClassProbability,
        TrustScore,
    )
}


def dump(model: Any) -> bytes:
    """Return the bytes of a fitted model."""
    state = {"format": FORMAT, "version": VERSION, **_state_of(model)}
    return to_container(state)


def save_confidence(model: Any, path: Path | str) -> None:
    """Write a fitted estimator, calibrator or stack to a file.

    Parameters
    ----------
    model : Calibrator, MaximumClassProbability, ProbabilityWithin, StackedConfidence, TrueClassProbability, TrustScore
        Fitted.
    path : path
        Replaced if it exists; a file that is half written never takes its place.

    Raises
    ------
    StateError
        It is not fitted.
    ModelError
        It is a class of your own; store it your own way.

    Notes
    -----
    A `TrustScore` holds the features of its training items: the file is as private as they are.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "mcp.skops"
    >>> save_confidence(MaximumClassProbability().fit([[0.9, 0.1], [0.3, 0.7]], ["a", "b"]), file)
    >>> load_confidence(file).confidence([[0.2, 0.8]], ["a"]).tolist()
    [0.2]
    """
    from pathlib import Path

    write_private(Path(path), dump(model))


def load_confidence(source: Path | str | bytes) -> Any:
    """Return what `save_confidence` or ``to_bytes`` wrote.

    Parameters
    ----------
    source : path or bytes
        The file, or its content.

    Raises
    ------
    ModelError
        Not such a file, one of a newer version, or one that holds what we never write.
    """
    from pathlib import Path

    if not isinstance(source, bytes):
        path = Path(source)
        if not path.is_file():
            raise ModelError(f"source is {str(path)!r}, but there is no such file; give what save_confidence wrote")
        source = read_model_file(path, wanted="give what save_confidence wrote")
    state = from_container(source, what="confidence", wanted="give what save_confidence wrote, or fit it again")
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise ModelError("this is a skops file, but holds no confidence; give what save_confidence wrote")
    if state.get("version") != VERSION:
        raise ModelError(
            f"the confidence has format version {state.get('version')}, this code reads {VERSION}; upgrade hmc-crowd "
            "or fit it again"
        )
    try:
        return _from_state(state)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"the confidence's file does not fit together ({error}); fit it again") from None


def _state_of(model: Any) -> dict[str, Any]:
    kind = type(model).__name__
    if _KINDS.get(kind) is not type(model):
        raise ModelError(f"model is a {kind}; only {', '.join(_KINDS)} are saved here, store it your own way")
    state = model._state()
    parts = {name: _state_of(each) for name, each in state.pop("parts", {}).items()}
    return {"kind": kind, "state": state, "parts": parts}


def _from_state(stored: dict[str, Any]) -> Any:
    parts = {str(name): _from_state(each) for name, each in stored["parts"].items()}
    kind = _KINDS[stored["kind"]]
    return kind._from_state({**stored["state"], "parts": parts} if parts else stored["state"])
