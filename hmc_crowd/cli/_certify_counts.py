"""Certificates of counts that were taken elsewhere: of a batch by items or whole groups, and of traffic to come."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hmc_crowd.cli._show import emit_json, notes, say
from hmc_crowd.errors import InputError

__all__ = ["Counts", "certify_counts"]


@dataclass(frozen=True)
class Counts:
    """What `hmc-crowd certify` was given without a campaign."""

    items: int | None
    human: int | None
    audited: int | None
    wrong: int | None
    design: str
    sizes: Path | None
    groups: int | None
    largest: int | None
    future: bool

    @property
    def given(self) -> bool:
        """Whether this is not about a campaign."""
        counts = (self.items, self.human, self.audited, self.wrong, self.sizes, self.groups, self.largest)
        return self.future or self.design != "items" or any(each is not None for each in counts)


def certify_counts(given: Counts, *, level: float, as_json: bool) -> tuple[float, float]:
    """Print the certificate; return the bound and the most that the audit leaves possible."""
    result, most = _future(given, level) if given.future else _batch(given, level)
    if as_json:
        emit_json(result)
    else:
        say(str(result))
        notes(result.assumptions, kind="assuming")
    bound = 1.0 - result.error_rate_at_most if given.future else result.agreement_at_least
    return float(bound), most


def _batch(given: Counts, level: float) -> tuple[Any, float]:
    if given.design == "groups":
        return _groups(given, level)
    if given.design != "items":
        raise InputError(f"--design is {given.design!r}; give items (drawn one by one) or groups (whole dialogues)")
    if given.sizes is not None or given.groups is not None or given.largest is not None:
        raise InputError("--sizes, --groups and --largest are of an audit of whole groups; add --design groups")
    if given.items is None or given.human is None or given.audited is None or given.wrong is None:
        raise InputError(
            "--items, --human, --audited and --wrong go together; give all four, or none for the campaign's"
        )
    from hmc_crowd.routing import agreement_at_most, certify_batch

    counts = (given.items, given.human, given.audited, given.wrong)
    return certify_batch(*counts, level=level), agreement_at_most(*counts, level=level)


def _groups(given: Counts, level: float) -> tuple[Any, float]:
    if given.items is None or given.human is None or given.sizes is None or given.groups is None:
        raise InputError(
            "--design groups needs --items, --human, --sizes FILE and --groups N (how many groups hold a kept item)"
        )
    if given.audited is not None or given.wrong is not None:
        raise InputError("--audited and --wrong are counted from --sizes; leave them out")
    from hmc_crowd.io import read_frame
    from hmc_crowd.routing import certify_groups

    frame = read_frame(given.sizes, kind=None).frame
    if not {"size", "wrong"} <= set(frame):
        raise InputError(
            f"{given.sizes} has the columns {', '.join(map(str, frame))}; give size, wrong: a row a group, in the "
            "order in which the groups were drawn"
        )
    largest = given.largest
    if largest is None:
        # Of the groups that were not drawn nothing is known here but that they share out the rest.
        raise InputError("--largest is missing: how many kept items the largest group has, drawn or not")
    result = certify_groups(
        given.items,
        given.human,
        frame["size"].to_numpy(),
        frame["wrong"].to_numpy(),
        n_groups=given.groups,
        largest=largest,
        level=level,
    )
    # Bets give no bound from above; what the audit found and nobody repairs is none either.
    return result, 1.0


def _future(given: Counts, level: float) -> tuple[Any, float]:
    if given.audited is None or given.wrong is None or given.items is not None or given.human is not None:
        raise InputError("--future is about items to come: give --audited and --wrong, and no batch")
    from hmc_crowd.routing import bound_future_errors

    return bound_future_errors(given.audited, given.wrong, level=level), 1.0
