"""Quotas as they are written on the command line."""

from typing import Annotated, Any, Literal

import typer

from hmc_crowd.errors import InputError

__all__ = ["Quotas", "attribute_words", "read_quotas"]

Quotas = Annotated[
    list[str],
    typer.Option("--quota", metavar="COLUMN:VALUE=SHARE", help="At least this share; repeatable: region:south=0.3."),
]


def read_quotas(
    given: list[str],
    *,
    kind: Literal["minimum", "target"] = "minimum",
    filters: list[str] | None = None,
    choices: list[str] | None = None,
) -> list[Any]:
    """Return the quotas that these words ask for, one for each column.

    >>> [each.shares for each in read_quotas(["region:south=0.3", "region:north=0.2"])]
    [{'south': 0.3, 'north': 0.2}]
    """
    from hmc_crowd.quality import Quota

    shares: dict[str, dict[str, float]] = {}
    for each in given:
        column, value, share = _parts(each, "--quota", "COLUMN:VALUE=SHARE, such as region:south=0.3")
        try:
            shares.setdefault(column, {})[value] = float(share)
        except ValueError:
            raise InputError(f"--quota is {each!r}; {share!r} is no share, write one such as 0.3") from None
    named = attribute_words(filters, name="--filter", such_as="COLUMN=ID")
    ids: dict[str, dict[str, list[str]]] = {}
    for each in choices or ():
        column, value, names = _parts(each, "--choice", "COLUMN:VALUE=ID,.., such as region:south=71")
        ids.setdefault(column, {})[value] = [name.strip() for name in names.split(",") if name.strip()]
    unknown = sorted({*named, *ids} - {*shares})
    if unknown:
        raise InputError(f"column {unknown[0]!r} has no --quota; give one, or leave its --filter and --choice out")
    return [
        Quota(column, by_value, kind, named.get(column, ""), ids.get(column, {})) for column, by_value in shares.items()
    ]


def attribute_words(given: list[str] | None, *, name: str, such_as: str) -> dict[str, str]:
    """Return what words of the form NAME=VALUE say.

    >>> attribute_words(["region=south"], name="--attribute", such_as="region=south")
    {'region': 'south'}
    """
    found = {}
    for each in given or ():
        left, sign, right = each.partition("=")
        if not (left.strip() and sign and right.strip()):
            raise InputError(f"{name} is {each!r}; write {such_as}")
        found[left.strip()] = right.strip()
    return found


def _parts(text: str, name: str, such_as: str) -> tuple[str, str, str]:
    column, colon, rest = text.partition(":")
    value, sign, last = rest.rpartition("=")
    if not (column and colon and value and sign and last):
        raise InputError(f"{name} is {text!r}; write {such_as}")
    return column, value, last
