"""What is asked about an item? Six kinds of question, what answers each of them, and how a file of them is read."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.texts import read_text
from hmc_crowd.campaign._label_names import label_names
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import AspectRecord

__all__ = ["CERTIFIED", "CHOICES", "KINDS", "LABELLED", "PAIR", "Aspect", "canonical", "choice_of", "read_aspects"]

KINDS = ("nominal", "ordinal", "numeric", "multi_label", "pair", "text")
#: Kinds whose answer is one of the labels.
CHOICES = ("nominal", "ordinal", "pair")
# Those whose answers become labels by a vote or a model of workers' errors, not by a mean.
LABELLED = ("nominal", "pair")
# Those whose labels are right or wrong, so that an audit can certify them; numbers are nearer or farther.
CERTIFIED = (*CHOICES, "multi_label")
PAIR = ("a", "b", "tie")
_WHOLE = 2.0**53


@dataclass(frozen=True)
class Aspect:
    """One question about an item.

    The first aspect of a campaign routes: its predictions decide which items people see, and its audit certifies. Who
    sees an item is asked all aspects.

    Parameters
    ----------
    name : str
        Short name, used in every table.
    labels : tuple of str
        The answers people may give. Of an ordinal question from the lowest to the highest; of a numeric one the least
        and the largest number, or none; of a pair ``a, b, tie``, or without the tie; of a text none. Of a nominal one
        they may be left out: the first predictions or gold name them.
    kind : {"nominal", "ordinal", "numeric", "multi_label", "pair", "text"}
        What sort of answer it is, and so how answers are aggregated. Multi-label answers are written as JSON lists; the
        two responses of a pair are the item's ``response_a`` and ``response_b``.
    guideline_version : str
        Which text of the guideline people follow.
    language : str
        Language of the guideline, as a short code.
    guideline : str
        How to judge; plain text, a blank line begins a paragraph.
    question : str
        What is asked, in a sentence; pages fall back on the name.

    Examples
    --------
    >>> Aspect("better", kind="pair").labels
    ('a', 'b', 'tie')
    """

    name: str = "label"
    labels: tuple[str, ...] = ()
    kind: str = "nominal"
    guideline_version: str = "1"
    language: str = "en"
    guideline: str = ""
    question: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind is {self.kind!r}; choose {', '.join(KINDS)}")
        if not self.name.strip():
            raise InputError("an aspect has an empty name; name each")
        # What one asks for is usable whatever list it came in; a frozen aspect holds a tuple.
        object.__setattr__(self, "labels", label_names(self.labels, name=f"labels of aspect {self.name!r}"))
        if self.kind == "pair" and not self.labels:
            object.__setattr__(self, "labels", PAIR)
        wrong = _wrong_labels(self.kind, self.labels)
        if wrong:
            raise InputError(f"labels of the {self.kind} aspect {self.name!r} are {self.labels!r}; {wrong}")


def _wrong_labels(kind: str, labels: tuple[str, ...]) -> str:
    """Say what is wrong with the labels of a kind; nothing where they are right."""
    if kind == "ordinal" and len(labels) < 2:
        return "name at least two, from the lowest to the highest"
    if kind == "multi_label" and not labels:
        return "name those that may be chosen"
    if kind == "pair" and labels not in {PAIR, PAIR[:2]}:
        return "a pair is answered by a, b and, where nobody need decide, tie"
    if kind == "text" and labels:
        return "a text has none; leave them out"
    if kind == "numeric" and labels:
        ends = [_number(label) for label in labels]
        if len(ends) != 2 or not ends[0] < ends[1]:
            return "give the least and the largest number, or none"
    return ""


def choice_of(context: Context, name: str | None) -> AspectRecord:
    """Return the aspect that gates and experts decide, the first by default: one whose answer is one of its labels."""
    record = context.aspect_or_first(name)
    if record.kind not in CHOICES:
        raise InputError(
            f"aspect {record.name!r} is {record.kind}; gates and experts decide among labels, so name a nominal, "
            "ordinal or pair aspect"
        )
    return record


def canonical(aspect: AspectRecord, known: Sequence[str], label: str) -> str | None:
    """Return an answer as it is stored, or None where the aspect does not allow it.

    Parameters
    ----------
    aspect : AspectRecord
        The question.
    known : sequence of str
        Its labels; empty: any.
    label : str
        What somebody, or a machine, said.

    Examples
    --------
    >>> from hmc_crowd.store import AspectRecord
    >>> several = AspectRecord("flaws", "multi_label", ("rude", "wrong"))
    >>> canonical(several, several.labels, '["wrong", "rude"]'), canonical(several, several.labels, "late")
    ('["rude", "wrong"]', None)
    """
    if aspect.kind == "numeric":
        number = _number(label.strip())
        low, high = (_number(known[0]), _number(known[1])) if known else (-math.inf, math.inf)
        if not low <= number <= high:
            return None
        return str(int(number)) if number.is_integer() and abs(number) < _WHOLE else repr(number)
    if aspect.kind == "multi_label":
        chosen = _several(label, known)
        return None if chosen is None else json.dumps([each for each in known if each in chosen], ensure_ascii=False)
    if aspect.kind == "text":
        return label if label.strip() else None
    return label if not known or label in known else None


def _several(label: str, known: Sequence[str]) -> set[str] | None:
    """Read a set of labels: a JSON list, or one label by itself."""
    if label in known:
        return {label}
    try:
        found = json.loads(label)
    except (ValueError, RecursionError):
        return None
    is_list = isinstance(found, list) and all(isinstance(each, str) for each in found)
    return set(found) if is_list and set(found) <= set(known) else None


def _number(text: str) -> float:
    try:
        return float(text) if math.isfinite(float(text)) and "_" not in text else math.nan
    except ValueError:
        return math.nan


_FIELDS = frozenset({"name", "labels", "kind", "guideline_version", "language", "guideline", "question"})


def read_aspects(path: str | Path) -> tuple[Aspect, ...]:
    r"""Read the questions of a campaign from a TOML file: a table ``[[aspect]]`` for each, the routing one first.

    ``guideline_file`` names a text file beside it, instead of ``guideline``.

    Raises
    ------
    InputError
        The file is not there, is no TOML, or says what no aspect has.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "aspects.toml")
    ...     _ = path.write_text('[[aspect]]\nname = "tone"\nlabels = ["kind", "rude"]\n')
    ...     read_aspects(path)[0].labels
    ('kind', 'rude')
    """
    import tomllib

    place = Path(path)
    try:
        content = tomllib.loads(read_text(place))
    except OSError as error:
        raise InputError(f"{place} cannot be read ({error.strerror}); give a TOML file of tables [[aspect]]") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{place} is no TOML: {error}; write a table [[aspect]] for each question") from None
    rows = content.pop("aspect", None)
    if content or not isinstance(rows, list) or not rows or not all(isinstance(each, dict) for each in rows):
        stray = f" (it has {', '.join(map(repr, content))})" if content else ""
        raise InputError(f"{place} must hold tables [[aspect]] and nothing else{stray}; write one for each question")
    return tuple(_aspect(place, row) for row in rows)


def _aspect(place: Path, row: dict[str, Any]) -> Aspect:
    row = dict(row)
    name = row.pop("guideline_file", None)
    if name is not None:
        try:
            row["guideline"] = read_text(place.parent / str(name)).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{place}: guideline_file {name!r} cannot be read ({error}); correct the path") from None
    strange = sorted(set(row) - _FIELDS)
    if strange:
        raise InputError(f"{place}: an aspect has {strange[0]!r}; it may have {', '.join(sorted(_FIELDS))}")
    labels = row.pop("labels", [])
    if not isinstance(labels, list):
        raise InputError(f"{place}: labels is {labels!r}; write a list")
    texts = {key: str(value) for key, value in row.items()}
    return Aspect(labels=tuple(labels), **texts)
