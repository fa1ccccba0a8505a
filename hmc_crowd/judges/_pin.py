"""Is this still the judge that was certified? A pin holds what it was and what it said on a small panel.

Agreement was measured for one model with one prompt. A hosted model may change under its name, a template under its
file. So before a judge is used again, its fingerprint and its answers on the panel are compared; a changed one is
refused until its agreement with people is measured anew.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.judges._judge import Judge, fingerprint
from hmc_crowd.judges._pairs import Pairs, read_pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["JudgePin", "check_pin", "pin_judge"]


@dataclass(frozen=True)
class JudgePin:
    """What a judge was when it was certified.

    Parameters
    ----------
    name, version : str
        Of the judge.
    served : str
        The model's name as the server gave it; empty for judges without a server.
    panel : str
        Fingerprint of the panel's texts.
    labels : mapping of item -> label or None
        What it said.
    """

    name: str
    version: str
    served: str
    panel: str
    labels: Mapping[str, str | None]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def pin_judge(judge: Judge, panel: Any) -> JudgePin:
    """Ask a judge about a panel of pairs and remember what it is.

    Parameters
    ----------
    judge : Judge
        One without a cache, or with a new one: an old answer says nothing about today's model.
    panel : pairs
        Some 20 to 50, kept for this purpose.

    Examples
    --------
    >>> from hmc_crowd.judges import longer, shorter
    >>> panel = {"item": ["1"], "instruction": ["?"], "response_a": ["Yes."], "response_b": ["Certainly."]}
    >>> pin = pin_judge(longer(), panel)
    >>> check_pin(longer(), pin, panel)
    >>> check_pin(shorter(), pin, panel)
    Traceback (most recent call last):
        ...
    hmc_crowd.errors.StateError: 'shorter' is another judge than 'longer', which was certified...
    """
    given = read_pairs(panel)
    judged = judge.judge(given)
    served = sorted({each for each in judged.get("served", ()) if each})
    labels = {str(item): label for item, label in zip(judged["item"], judged["label"], strict=True)}
    return JudgePin(judge.name, judge.version, ", ".join(served), _panel(given), labels)


def check_pin(judge: Judge, pin: JudgePin, panel: Any, *, allowed: float = 0.0) -> None:
    """Refuse a judge that is not, or no longer answers as, the pinned one.

    Parameters
    ----------
    judge : Judge
        Without a cache that holds the panel's old answers.
    pin : JudgePin
    panel : pairs
        The same as then.
    allowed : float, default 0
        Share of the panel that may be answered otherwise; above 0 for judges that sample.

    Raises
    ------
    StateError
        The judge has changed; says in what.
    InputError
        The panel is another one.
    """
    if not 0.0 <= allowed < 1.0:
        raise InputError(f"allowed is {allowed!r}; give a share in [0, 1)")
    if judge.version != pin.version:
        raise StateError(
            f"{judge.name!r} is another judge than {pin.name!r}, which was certified: its model, prompt or settings "
            "changed. Measure its agreement with people again (hmc-crowd judges compare), then pin it"
        )
    given = read_pairs(panel)
    if _panel(given) != pin.panel:
        # Before the judge is asked: its answers may cost money.
        raise InputError("the panel's pairs are not those of the pin; give the same ones")
    now = pin_judge(judge, given)
    if now.served != pin.served:
        raise StateError(
            f"the server now answers as {now.served!r}, not as {pin.served!r}; measure agreement again, then pin it"
        )
    other = [item for item, label in pin.labels.items() if now.labels[item] != label]
    if len(other) > allowed * len(pin.labels):
        raise StateError(
            f"{judge.name!r} answers {len(other)} of {len(pin.labels)} panel pairs otherwise than when it was "
            f"certified (first: {other[0]!r}); measure agreement again, then pin it"
        )


def _panel(pairs: Pairs) -> str:
    columns = (pairs.item, pairs.instruction, pairs.response_a, pairs.response_b, pairs.reference)
    return fingerprint([column.tolist() for column in columns])
