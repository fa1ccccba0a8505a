"""Who may take a HIT: qualification requirements, checked here because boto3 checks types only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hmc_crowd.errors import InputError

__all__ = ["HITS_APPROVED", "LOCALE", "PERCENT_APPROVED", "Requirement"]

PERCENT_APPROVED = "000000000000000000L0"
HITS_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
_PRESENCE = {"Exists", "DoesNotExist"}
_SETS = {"In", "NotIn"}
_COMPARATORS = {
    "LessThan",
    "LessThanOrEqualTo",
    "GreaterThan",
    "GreaterThanOrEqualTo",
    "EqualTo",
    "NotEqualTo",
    *_PRESENCE,
    *_SETS,
}
_GUARDS = ("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept")


@dataclass(frozen=True)
class Requirement:
    """A qualification that a worker must hold, or must not.

    Parameters
    ----------
    qualification_type_id : str
        Of a type of yours, or of a system type (`PERCENT_APPROVED`, `HITS_APPROVED`, `LOCALE`).
    comparator : str
        LessThan, LessThanOrEqualTo, GreaterThan, GreaterThanOrEqualTo, EqualTo, NotEqualTo, Exists, DoesNotExist, In
        or NotIn.
    integers : tuple of int
        What the value is compared with: one; at most 15 with In and NotIn; none with Exists and DoesNotExist.
    locales : tuple of str
        ``US`` or ``US-CA``, for `LOCALE` alone; at most 30 with In and NotIn.
    guards : str, default "DiscoverPreviewAndAccept"
        From which step on workers without it are kept out.

    Raises
    ------
    InputError
        The parts do not go together.

    Examples
    --------
    >>> Requirement(PERCENT_APPROVED, "GreaterThanOrEqualTo", (95,)).to_api()["IntegerValues"]
    [95]
    """

    qualification_type_id: str
    comparator: str
    integers: tuple[int, ...] = ()
    locales: tuple[str, ...] = ()
    guards: str = "DiscoverPreviewAndAccept"

    def __post_init__(self) -> None:
        if self.comparator not in _COMPARATORS:
            raise InputError(f"comparator is {self.comparator!r}; use one of {', '.join(sorted(_COMPARATORS))}")
        if self.guards not in _GUARDS:
            raise InputError(f"guards is {self.guards!r}; use one of {', '.join(_GUARDS)}")
        if self.comparator in _PRESENCE and (self.integers or self.locales):
            raise InputError(f"{self.comparator} takes no values; {self.integers + self.locales} were given")
        if self.qualification_type_id == LOCALE:
            self._check_locales()
        elif self.locales:
            raise InputError(f"locales are {self.locales}; they go with the Locale type {LOCALE} alone")
        most = 15 if self.comparator in _SETS else 1
        if self.comparator not in _PRESENCE and not self.locales and not 1 <= len(self.integers) <= most:
            raise InputError(f"{self.comparator} has {len(self.integers)} integers; give 1 to {most}")

    def _check_locales(self) -> None:
        if self.comparator not in {"EqualTo", "NotEqualTo", *_SETS} or self.integers or not self.locales:
            raise InputError("Locale takes locales, with EqualTo, NotEqualTo, In or NotIn")
        if len(self.locales) > (30 if self.comparator in _SETS else 1):
            raise InputError(f"{self.comparator} has {len(self.locales)} locales, which is too many")
        for each in self.locales:
            country, _, subdivision = each.partition("-")
            if not (len(country) == 2 and country.isupper()) or (subdivision and len(subdivision) != 2):
                raise InputError(f"locale is {each!r}; write US, or US-CA")

    def to_api(self) -> dict[str, Any]:
        """Return it as CreateHITType has it."""
        made: dict[str, Any] = {
            "QualificationTypeId": self.qualification_type_id,
            "Comparator": self.comparator,
            "ActionsGuarded": self.guards,
        }
        if self.integers:
            made["IntegerValues"] = list(self.integers)
        if self.locales:
            pairs = [each.partition("-") for each in self.locales]
            made["LocaleValues"] = [{"Country": c, **({"Subdivision": s} if s else {})} for c, _, s in pairs]
        return made
