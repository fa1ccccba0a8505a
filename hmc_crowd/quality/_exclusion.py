"""Whose answers are left out, on what grounds, and how much does it matter?

Leaving answers out protects the labels; paying is another matter: every excluded worker is paid, and nothing here
knows of money. Two independent signals are needed, or a gold interval that is beyond doubt; a suspicion that a machine
wrote the answers never counts as a signal, only as a reason to look. What the exclusion changes is reported, so that a
result which hangs on it is seen to.

Source: requirements D7 and E4; PLATFORMS.md, P23 and P25.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hmc_crowd.quality._rejection import RejectionSignal

__all__ = ["ExclusionEffect", "exclude_workers", "exclusion_effect"]


def exclude_workers(
    screened: pd.DataFrame | None = None,
    signals: Mapping[Any, Iterable[RejectionSignal]] | None = None,
    *,
    most: float = 0.2,
) -> pd.DataFrame:
    """Decide whose answers are left out of the aggregation.

    Parameters
    ----------
    screened : pandas.DataFrame, optional
        `screen_workers`: whoever is ``exclude`` there is out, whoever is ``doubtful`` has one signal.
    signals : mapping, optional
        Worker -> signals, such as same labels all the time, an agreement near chance, an alarm of `find_drift` (on gold
        it is a signal ``"gold"``, which `screen_workers` has seen already; on agreement one of its own).
    most : float, default 0.2
        Largest share of the workers that may be excluded; above it nobody is, and a person must look: so many bad
        workers are a fault of the task.

    Returns
    -------
    pandas.DataFrame
        One row per worker named in either: ``worker, excluded, review, signals, evidence, reason``. ``review`` asks a
        person to look. Pay is not decided here: excluded work is paid.

    Examples
    --------
    >>> from hmc_crowd.quality import RejectionSignal
    >>> same, slow = RejectionSignal("same_label", "all 40 answers are A"), RejectionSignal("drift", "alarm on 3 May")
    >>> found = exclude_workers(signals={"ann": [same, slow], "bob": [same], "cy": [], "dee": [], "eve": []})
    >>> found[["worker", "excluded", "review"]].to_dict("records")[:2]
    [{'worker': 'ann', 'excluded': True, 'review': False}, {'worker': 'bob', 'excluded': False, 'review': True}]
    """
    if not 0 <= most <= 1:
        raise InputError(f"most is {most!r}; give a share between 0 and 1")
    given = {worker: tuple(each) for worker, each in (signals or {}).items()}
    gold = _screened(screened)
    if not given and not gold:
        raise InputError("neither screened nor signals names a worker; without evidence nobody is excluded")
    rows = []
    for worker in sorted({*given, *gold}, key=lambda name: (str(type(name)), name)):
        decision, seen = gold.get(worker, ("keep", ""))
        rules = {each.kind for each in given.get(worker, ()) if each.counts}
        if decision in ("exclude", "doubtful"):
            rules.add("gold")
        out = decision == "exclude" or len(rules) >= 2
        look = not out and bool(rules or given.get(worker))
        evidence = "; ".join([*([seen] if seen else []), *(each.evidence for each in given.get(worker, ()))])
        reason = "the gold interval is below the minimum" if decision == "exclude" else ""
        if out and not reason:
            reason = f"independent signals: {', '.join(sorted(rules))}"
        rows.append((worker, out, look, len(rules), evidence, reason or ("a person should look" if look else "")))
    found = pd.DataFrame(rows, columns=["worker", "excluded", "review", "signals", "evidence", "reason"])
    n_out = int(found["excluded"].sum())
    if n_out > max(1, most * len(found) + 1e-9):
        text = f"{n_out} of {len(found)} workers would be excluded, more than {most:.0%}: look at the task and the gold"
        found["review"] |= found["excluded"]
        found["reason"] = found["reason"].mask(found["excluded"], text)
        found["excluded"] = False
    return found


def _screened(screened: pd.DataFrame | None) -> dict[Any, tuple[str, str]]:
    if screened is None:
        return {}
    lacking = [name for name in ("worker", "decision", "evidence") if name not in screened.columns]
    if lacking:
        raise FrameError(f"screened lacks the column {', '.join(lacking)}; pass what screen_workers returns")
    both = zip(screened["decision"], screened["evidence"], strict=True)
    return dict(zip(screened["worker"], both, strict=True))


@dataclass(frozen=True)
class ExclusionEffect:
    """What leaving workers out does to the labels.

    Parameters
    ----------
    items : int
        With a label before.
    changed : int
        With another label after.
    lost : int
        Without any label after: only excluded workers had answered; they go to other people.
    """

    items: int
    changed: int
    lost: int

    @property
    def share(self) -> float:
        """Of the items that keep a label, how many have another one."""
        left = self.items - self.lost
        return self.changed / left if left else 0.0

    def __str__(self) -> str:
        return (
            f"{self.changed:,} of {self.items - self.lost:,} labels change ({self.share:.1%}); {self.lost:,} are lost"
        )


def exclusion_effect(before: Mapping[Any, Any] | pd.Series[Any], after: Mapping[Any, Any] | pd.Series[Any]) -> Any:
    """Compare labels with and without the excluded workers.

    Parameters
    ----------
    before, after : Series or mapping
        Item -> label; ``after`` may lack items.

    Examples
    --------
    >>> print(exclusion_effect({"a": 1, "b": 0, "c": 1}, {"a": 1, "b": 1}))
    1 of 2 labels change (50.0%); 1 are lost
    """
    first, second = dict(before), dict(after)
    strange = [item for item in second if item not in first]
    if strange:
        raise InputError(f"after has the item {strange[0]!r}, which before lacks; compare the same items")
    changed = sum(second[item] != label for item, label in first.items() if item in second)
    return ExclusionEffect(len(first), int(changed), len(first) - len(second))
