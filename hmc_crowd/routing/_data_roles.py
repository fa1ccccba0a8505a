"""Which labels may be used for what? Three kinds of data, kept apart by type: to fit, to choose, to certify.

A model fitted on labels looks better on them than it is, and so does a setting chosen on them. So each use has a type
of its own, functions take only theirs, and labels that a guarantee was spent on are refused a second time: a
`StateError`, not a warning. Items of one group (a dialogue, a worker) go to one kind together.

Only blind labels certify or choose: people who saw the machine's label, or a model in people's place, agree with it
too often, and the bound would be of that agreement. `evidence` says how each label came about and is checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hmc_crowd._base.checks import require_generator, require_same_length
from hmc_crowd._base.evidence import require_blind
from hmc_crowd.errors import InputError, StateError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["CertifyData", "ChooseData", "DataLedger", "FitData", "split_roles"]


class DataLedger:
    """Remembers which items and groups were used for what, over calls and rounds.

    Parameters
    ----------
    used : mapping of str to iterable, optional
        Role -> ids, as `to_dict` gave them.

    Examples
    --------
    >>> ledger = DataLedger()
    >>> ledger.enter("fit", ["a", "b"])
    >>> ledger.enter("certify", ["b", "c"])
    Traceback (most recent call last):
        ...
    hmc_crowd.errors.StateError: items 'b' were used to fit already; certify on items that were used for nothing
    """

    def __init__(self, used: dict[str, Iterable[Hashable]] | None = None) -> None:
        self._role: dict[Hashable, str] = {}
        for role, ids in (used or {}).items():
            self._role.update(dict.fromkeys(ids, role))

    def enter(self, role: str, items: Iterable[Hashable], *, groups: Iterable[Hashable] = ()) -> None:
        """Note a use of items and their groups; refused, and nothing noted, if one has another, or certified before."""
        named: dict[str, list[Hashable]] = {"items": list(items)}
        named["groups"] = [("group", each) for each in dict.fromkeys(groups)]
        for what, ids in named.items():
            for other in ("fit", "choose", "certify"):
                # Models may be fitted, and settings compared, on the same labels again; a guarantee is given once.
                if other == role != "certify":
                    continue
                taken = [each for each in ids if self._role.get(each) == other]
                if taken:
                    shown = ", ".join(repr(each[1] if isinstance(each, tuple) else each) for each in taken[:3])
                    raise StateError(
                        f"{what} {shown}{' ...' if len(taken) > 3 else ''} were used to {other} already; {role} on "
                        f"{what} that were used for nothing"
                    )
        self._role.update(dict.fromkeys([*named["items"], *named["groups"]], role))

    def to_dict(self) -> dict[str, list[Hashable]]:
        """Return role -> ids."""
        found: dict[str, list[Hashable]] = {}
        for each, role in self._role.items():
            found.setdefault(role, []).append(each)
        return found


class _RoleData:
    """Labelled items with one use. Arrays are read-only.

    Parameters
    ----------
    items : sequence
        Distinct ids.
    truth, machine : array, shape (n_items,)
        People's label and the machine's.
    evidence : str or array of str
        How people's labels came about.
    groups : array, optional
        What hangs together (dialogues).
    ledger : DataLedger, optional
        Refuses items and groups that have another use.
    """

    role: ClassVar[str]
    blind_only: ClassVar[bool] = True

    def __init__(
        self,
        items: Sequence[Any],
        truth: Any,
        machine: Any,
        evidence: Any,
        *,
        groups: Any = None,
        ledger: DataLedger | None = None,
    ) -> None:
        self.items = tuple(items.tolist() if isinstance(items, np.ndarray) else items)
        if len(set(self.items)) != len(self.items):
            raise InputError("items holds an id twice; give every item once")
        self.truth, self.machine = _column("truth", truth), _column("machine", machine)
        self.evidence = _evidence(evidence, len(self.items))
        self.groups = None if groups is None else _column("groups", groups)
        columns = [("items", self.items), ("truth", self.truth), ("machine", self.machine), ("evidence", self.evidence)]
        require_same_length(columns if self.groups is None else [*columns, ("groups", self.groups)])
        if self.blind_only:
            require_blind(self.evidence.tolist(), what=self.role)
        if ledger is not None:
            ledger.enter(self.role, self.items, groups=() if self.groups is None else self.groups.tolist())
        self._spent_on: str | None = None

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        spent = "" if self._spent_on is None else f", spent on {self._spent_on}"
        return f"{type(self).__name__}({len(self):,} items{spent})"

    def spend(self, purpose: str) -> None:
        """Use the labels for a guarantee; a second time is refused."""
        if self._spent_on is not None:
            raise StateError(
                f"these {len(self):,} labels were spent on {self._spent_on} already; a second guarantee from them "
                "would hold less often than it says: bring fresh labels, or test all settings in one call"
            )
        self._spent_on = purpose


class FitData(_RoleData):
    """Labels to fit models and calibrations on; any evidence.

    Examples
    --------
    >>> FitData(["a"], ["x"], ["y"], "people_suggested")
    FitData(1 items)
    """

    role = "fit"
    blind_only = False


class ChooseData(_RoleData):
    """Blind labels on which settings are compared, once with a guarantee (`choose_setting`)."""

    role = "choose"


class CertifyData(_RoleData):
    """Blind labels of a random audit, used once.

    Examples
    --------
    >>> CertifyData(["a"], ["x"], ["x"], "with_model")
    Traceback (most recent call last):
        ...
    hmc_crowd.errors.InputError: evidence says with_model in row 0 (with_model); only labels given blind
    (people_blind, expert_blind, gold) may certify
    """

    role = "certify"


def split_roles(
    items: Sequence[Any],
    truth: Any,
    machine: Any,
    evidence: Any,
    *,
    groups: Any = None,
    shares: tuple[float, float, float] = (0.5, 0.2, 0.3),
    rng: np.random.Generator,
) -> tuple[FitData, ChooseData, CertifyData]:
    """Split labelled items at random into the three kinds, groups whole.

    Parameters
    ----------
    items, truth, machine, evidence, groups
        As in `FitData`. All labels must be blind, since any item may come to certify.
    shares : three floats, default (0.5, 0.2, 0.3)
        Shares of the groups (items where there are none) to fit, choose and certify on; sum 1.
    rng : numpy.random.Generator
        Source of chance.

    Returns
    -------
    tuple of FitData, ChooseData, CertifyData

    Raises
    ------
    InputError
        Columns differ in length, shares do not sum to 1, or a label is not blind.

    Examples
    --------
    >>> fit, pick, audit = split_roles(range(10), ["a"] * 10, ["b"] * 10, "people_blind", rng=np.random.default_rng(1))
    >>> len(fit), len(pick), len(audit)
    (5, 2, 3)
    """
    require_generator(rng)
    if len(shares) != 3 or min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise InputError(f"shares is {shares!r}; give three shares of at least 0 that sum to 1")
    whole = CertifyData(items, truth, machine, evidence, groups=groups)
    unit = np.arange(len(whole)) if whole.groups is None else np.unique(whole.groups, return_inverse=True)[1]
    n_units = int(unit.max()) + 1 if len(unit) else 0
    ends = np.round(np.cumsum(shares)[:2] * n_units).astype(int)
    place = np.searchsorted(ends, rng.permutation(n_units), side="right")[unit]
    ledger = DataLedger()

    def part(kind: type[Any], number: int) -> Any:
        rows = np.flatnonzero(place == number)
        ids = [whole.items[row] for row in rows.tolist()]
        own = None if whole.groups is None else whole.groups[rows]
        return kind(ids, whole.truth[rows], whole.machine[rows], whole.evidence[rows], groups=own, ledger=ledger)

    return part(FitData, 0), part(ChooseData, 1), part(CertifyData, 2)


def require_kind(data: Any, kind: type[_RoleData]) -> None:
    """Refuse data of another kind, naming both."""
    if not isinstance(data, kind):
        raise InputError(
            f"data is {type(data).__name__}; give {kind.__name__}: labels used to fit or to choose cannot stand in, "
            "they flatter what was fitted or chosen"
        )


def _column(name: str, values: Any) -> NDArray[Any]:
    array = np.array(values)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; give one value per item, shape (n_items,)")
    array.setflags(write=False)
    return array


def _evidence(values: Any, n: int) -> NDArray[Any]:
    return _column("evidence", [values] * n if isinstance(values, str) else values)
