"""What stands between arriving and working: information, consent, comprehension, training, test; and what follows.

Everything here is configuration. Each part has a version that follows from its text, so a changed text is asked again
and every consent names exactly what was read.
"""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.ids import digest
from hmc_crowd._base.qualifying import RemoteTest
from hmc_crowd._base.texts import read_text
from hmc_crowd.errors import InputError
from hmc_crowd.platform import HitItem
from hmc_crowd_local._kinds import check_question, checked_label

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Check", "Practice", "Study", "SurveyQuestion", "read_study"]


_NINE_OF_TEN = 0.9  # the mark of HREF, and of `hmc_crowd.quality.QualificationTest`


@dataclass(frozen=True)
class Check:
    """One question about the instructions; ``right`` is the number of the right option, from 0."""

    question: str
    options: tuple[str, ...]
    right: int

    def __post_init__(self) -> None:
        if not 0 <= self.right < len(self.options):
            raise InputError(
                f"right is {self.right} for {len(self.options)} options of {self.question!r}; count from 0"
            )


@dataclass(frozen=True)
class Practice:
    """A question whose answer is known: an example, a training question, or one of the qualification test."""

    item: HitItem
    label: str
    explanation: str = ""

    def __post_init__(self) -> None:
        check_question(self.item)
        checked_label(self.item, self.label)

    @property
    def right(self) -> str:
        """The right answer as pages write answers: several labels in the order of the question, numbers in one way."""
        return checked_label(self.item, self.label)


@dataclass(frozen=True)
class SurveyQuestion:
    """A question that nobody must answer; without options the answer is a text."""

    question: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """What the workers of a campaign read and pass before they work.

    Parameters
    ----------
    key : str, default "study"
        Under which consent and results are kept.
    title : str
        Shown above the information sheet.
    information : str
        The information sheet, as plain text; a blank line begins a paragraph. Empty: no consent is asked.
    consent : tuple of str
        Statements of which each must be ticked.
    version : str, default "1"
        Of information and consent, as people name it; the stored hash covers the texts themselves.
    contact : str
        Whom to write to.
    guideline : str
        How to judge, where a HIT brings no guideline of its own.
    examples : tuple of Practice
        Shown with the guideline.
    checks, check_tries : tuple of Check, int
        The comprehension check, and how often it may be tried; 2 by default, which Prolific asks for.
    training : tuple of Practice
        Answered with an explanation after each; never a reason to refuse.
    test : tuple of Practice
        The qualification test.
    test_needed, test_share : int, float
        How many answers must be right, or which share of them, in (0, 1]; nine of ten where neither is given.
    test_attempts, test_delay_s : int, float
        How often it may be tried, once by default, and seconds between the end of an attempt and the next.
    test_name, test_version : str, int
        Of the test, as people and campaigns name it; the study's key and 1 by default. The stored version follows from
        the questions themselves, so changed ones are asked again.
    test_also : tuple of int
        Earlier versions that still count: who passed one of them is not asked again.
    survey : tuple of SurveyQuestion
        Offered after the work.
    tells_accuracy : bool, default False
        Whether people of one's own see on their page about how many of their answers to known questions were right.

    Examples
    --------
    >>> study = Study(information="You judge replies.", consent=("I take part of my own free will.",))
    >>> len(study.consent_hash)
    64
    """

    key: str = "study"
    title: str = ""
    information: str = ""
    consent: tuple[str, ...] = ()
    version: str = "1"
    contact: str = ""
    guideline: str = ""
    examples: tuple[Practice, ...] = ()
    checks: tuple[Check, ...] = ()
    check_tries: int = 2
    training: tuple[Practice, ...] = ()
    test: tuple[Practice, ...] = ()
    test_needed: int | None = None
    test_share: float | None = None
    test_attempts: int = 1
    test_delay_s: float = 0.0
    test_name: str = ""
    test_version: int = 1
    test_also: tuple[int, ...] = ()
    survey: tuple[SurveyQuestion, ...] = ()
    tells_accuracy: bool = False
    _versions: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.consent and not self.information:
            raise InputError(f"study {self.key!r} asks for consent and has no information; nobody consents to nothing")
        if self.check_tries < 1:
            raise InputError(f"check_tries is {self.check_tries}; give 1 or more")
        _check_terms(self)

    @property
    def passing(self) -> int:
        """How many answers of the test must be right."""
        if self.test_needed is not None:
            return self.test_needed
        share = _NINE_OF_TEN if self.test_share is None else self.test_share
        return math.ceil(share * len(self.test) - 1e-9)

    @property
    def asked_test(self) -> RemoteTest:
        """The test as campaigns know it; an item's name carries the digest of what is shown of it.

        Raises
        ------
        InputError
            The study has no test, or everybody would pass it.
        """
        if not self.test or not self.passing:
            raise InputError(
                f"study {self.key!r} has no test that anybody could fail; give [[test]] questions and how many must be "
                "right (test_needed)"
            )
        return RemoteTest(
            name=self.test_name or self.key,
            version=self.test_version,
            key=_key_of(self.test),
            needed=self.passing,
            training=_key_of(self.training),
            attempts=self.test_attempts,
            delay_s=float(self.test_delay_s),
        )

    @property
    def consent_hash(self) -> str:
        """What a consent was given to: the hash of version, information and statements."""
        return digest(self.version, self.information, *self.consent)

    def version_of(self, kind: str) -> str:
        """Return the version of ``checks``, ``training``, ``test`` or ``survey``: it follows from the content."""
        if kind not in self._versions:
            content = json.dumps([asdict(each) for each in getattr(self, kind)], sort_keys=True)
            self._versions[kind] = digest(content)[:16]
        return self._versions[kind]


def _check_terms(study: Study) -> None:
    """Refuse terms of the test that nobody can have meant."""
    asked, needed, share = len(study.test), study.test_needed, study.test_share
    if needed is not None and not 0 <= needed <= asked:
        raise InputError(f"test_needed is {needed} of {asked} questions; it must lie between")
    if share is not None and (needed is not None or not 0 < share <= 1):
        raise InputError(
            f"test_share is {share}, test_needed is {needed}; give one of them, a share above 0, at most 1"
        )
    if study.test_attempts < 1 or not 0 <= study.test_delay_s < math.inf:
        raise InputError(
            f"test_attempts is {study.test_attempts}, test_delay_s is {study.test_delay_s}; give at least 1, and 0 or "
            "more seconds"
        )
    if study.test_version < 1 or not all(1 <= each < study.test_version for each in study.test_also):
        raise InputError(
            f"test_version is {study.test_version}, test_also is {list(study.test_also)}; versions count from 1, and "
            "only earlier ones can still count"
        )


def _key_of(practices: tuple[Practice, ...]) -> dict[str, str]:
    """Return item to right label; another text, other labels or another question make another item."""
    shown = [(each, digest(json.dumps(asdict(each.item), sort_keys=True))[:8]) for each in practices]
    return {f"{each.item.item}@{content}": each.right for each, content in shown}


def read_study(path: str | Path) -> Study:
    r"""Read a study from a TOML file whose names are those of `Study`.

    A practice question is a table with the names of `HitItem` beside ``label`` (its right answer; the labels to choose
    from are ``labels``) and ``explanation``.

    Raises
    ------
    InputError
        The file is missing, no TOML, or holds names or values that a study has not.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "study.toml")
    ...     _ = file.write_text('information = "You judge replies."\nconsent = ["I take part."]')
    ...     read_study(file).consent
    ('I take part.',)
    """
    try:
        content = tomllib.loads(read_text(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); give the study's TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no TOML: {error}") from error
    try:
        return _study(content)
    except (TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path} is no study: {error}; its names are those of Study") from error


def _study(content: Mapping[str, Any]) -> Study:
    values = dict(content)
    for name in ("examples", "training", "test"):
        values[name] = tuple(_practice(f"{name}-{i}", each) for i, each in enumerate(values.get(name, ()), start=1))
    for name, kind in (("checks", Check), ("survey", SurveyQuestion)):
        values[name] = tuple(kind(**_tupled(each)) for each in values.get(name, ()))
    return Study(**_tupled(values))


def _practice(name: str, content: Mapping[str, Any]) -> Practice:
    values = {"item": name, "aspect": "label", "group": name, "position": 1, **_tupled(content)}
    label, explanation = values.pop("label"), values.pop("explanation", "")
    return Practice(HitItem(**values), label, explanation)


def _tupled(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in content.items()}
