"""Prompts are files: a guideline, examples, and the form in which a pair is shown.

A template is TOML: ``name``, ``version``, ``system``, ``user`` and ``user_with_reference`` (with ``$instruction``,
``$response_a``, ``$response_b``, ``$reference``, ``$fence``), and ``[[examples]]`` with ``answer``. Texts are put in
once and never read for placeholders, and stand between fences made from a hash of the texts, which they cannot contain.

Own wording throughout; the four variants answer the question of the source's section 4.3: (a) own guideline and
examples, (b) the same guideline with examples of another kind, (c) the guideline alone, (d) a short general
instruction alone.

Source: Lyu et al. (2024), "HREF", section 4.3 and appendix C.
"""

from __future__ import annotations

import hashlib
import string
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.texts import read_text
from hmc_crowd.errors import InputError
from hmc_crowd.judges._judge import fingerprint

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

__all__ = ["Template", "load_template"]

PACKAGED = ("a", "b", "c", "d")
_FIELDS = ("instruction", "response_a", "response_b", "reference")


@dataclass(frozen=True)
class Template:
    """A prompt.

    Parameters
    ----------
    name, version : str
    system : str
        The guideline, as people get it.
    user, user_with_reference : str
        How a pair is shown.
    examples : tuple of mapping
        Each with the texts of a pair and ``answer`` ('A', 'B' or 'tie').
    """

    name: str
    version: str
    system: str
    user: str
    user_with_reference: str
    examples: tuple[Mapping[str, str], ...] = ()

    @property
    def fingerprint(self) -> str:
        """Hash of the whole text: a changed word is another template."""
        return fingerprint(self.system, self.user, self.user_with_reference, [dict(each) for each in self.examples])

    def messages(self, texts: Mapping[str, str], *, with_reference: bool) -> tuple[tuple[str, str], ...]:
        """Return the conversation that asks about one pair.

        Parameters
        ----------
        texts : mapping
            ``instruction, response_a, response_b`` as they are to be shown, and ``reference``.
        with_reference : bool
            Whether the reference is shown.
        """
        asked = [("system", self.system.strip())]
        for each in self.examples:
            asked += [("user", self._shown(each, with_reference)), ("assistant", each["answer"])]
        return (*asked, ("user", self._shown(texts, with_reference)))

    def _shown(self, texts: Mapping[str, str], with_reference: bool) -> str:
        form = self.user_with_reference if with_reference else self.user
        given = {name: texts.get(name, "") for name in _FIELDS}
        fence = hashlib.sha256("\x1f".join(given.values()).encode()).hexdigest()[:8]
        return string.Template(form.strip()).substitute(given, fence=fence)


def load_template(name: str | os.PathLike[str]) -> Template:
    """Read a template: one of the package's four (``"a"`` to ``"d"``), or a file.

    Raises
    ------
    InputError
        The file is not there, is no TOML, or lacks a part.

    Examples
    --------
    >>> load_template("a").messages({"instruction": "Greet.", "response_a": "Hi", "response_b": "No"},
    ...                             with_reference=False)[-1][0]
    'user'
    """
    try:
        if str(name) in PACKAGED:
            text = (files("hmc_crowd.judges") / "templates" / f"{name}.toml").read_text(encoding="utf-8")
        else:
            text = read_text(name)
        return _read(tomllib.loads(text), str(name))
    except OSError as error:
        told = f"template {name} cannot be read ({error.strerror}); give a file or one of {', '.join(PACKAGED)}"
        raise InputError(told) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"template {name} is no TOML: {error}") from None


def _read(parsed: Mapping[str, Any], name: str) -> Template:
    wanted = ("name", "version", "system", "user", "user_with_reference")
    missing = [each for each in wanted if not isinstance(parsed.get(each), str)]
    if missing:
        raise InputError(f"template {name} lacks the text {', '.join(missing)}")
    examples = tuple(dict(each) for each in parsed.get("examples", ()))
    for place, each in enumerate(examples, 1):
        lacking = [field for field in (*_FIELDS, "answer") if not isinstance(each.get(field), str)]
        if lacking or each["answer"] not in {"A", "B", "tie"}:
            told = f"lacks {', '.join(lacking)}" if lacking else f"answers {each['answer']!r}"
            raise InputError(f"example {place} of template {name} {told}; give all four texts and answer A, B or tie")
    for field in ("user", "user_with_reference"):
        _check_places(parsed[field], field, name)
    return Template(**{each: parsed[each] for each in wanted}, examples=examples)


def _check_places(form: str, field: str, name: str) -> None:
    template = string.Template(form)
    if not template.is_valid():
        raise InputError(f"{field} of template {name} has a $ that names nothing; write $$ for a dollar sign")
    places = set(template.get_identifiers())
    wanted = {"instruction", "response_a", "response_b"} | ({"reference"} if field == "user_with_reference" else set())
    if wanted - places or places - {*_FIELDS, "fence"} or (field == "user" and "reference" in places):
        told = ", ".join(sorted(f"${each}" for each in places))
        raise InputError(f"{field} of template {name} has {told}; it needs {', '.join(sorted(wanted))} and no others")
