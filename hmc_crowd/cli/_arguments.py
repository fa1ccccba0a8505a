"""What do the words on the command line mean? Counts, shares, grids and money, each read exactly or refused by name."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, TypedDict

from hmc_crowd._base.money import Money, parse_money, parse_pay
from hmc_crowd._base.private import write_private
from hmc_crowd.errors import FrameError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from hmc_crowd.io import Loaded

__all__ = [
    "TABLES",
    "count_or_share",
    "grid",
    "names",
    "numbers",
    "read_budget",
    "read_duration",
    "read_hourly",
    "read_moment",
    "read_money",
    "read_pay",
    "read_rate",
    "require_both",
    "require_budget",
    "require_free",
    "skill_words",
    "write_out",
]

# A grid is worked out point by point; more than this was no intention.
_MOST_POINTS = 100_000
_LARGEST_COUNT = 10**12
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST_S = 366 * 86_400
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq")


def count_or_share(text: str | None, *, name: str) -> int | float | None:
    """Read '200' as a count, '0.5' or '50%' as a share, and nothing or 'none' as no limit.

    Examples
    --------
    >>> [count_or_share(text, name="--audit") for text in ("200", "0.5", "50%", "1", "1.0")]
    [200, 0.5, 0.5, 1, 1.0]
    """
    given = "" if text is None else text.strip()
    if given.lower() in {"", "none"}:
        return None
    try:
        if given.isascii() and given.isdigit():
            count = int(given)
            if count <= _LARGEST_COUNT:
                return count
        else:
            share = float(given.removesuffix("%")) / (100 if given.endswith("%") else 1)
            if 0 <= share <= 1:
                return share
    except ValueError:
        pass
    raise InputError(f"{name} is {_shown(text)}; give a count such as 200, or a share such as 0.5 or 50%")


def grid(text: str, *, name: str) -> list[float]:
    """Read 'start:stop:step' (stop included) or 'a,b,c'; decimal arithmetic keeps every point as it is written.

    Examples
    --------
    >>> grid("0:0.3:0.1", name="--max-humans")
    [0.0, 0.1, 0.2, 0.3]
    >>> grid("0.1,4.6", name="--trade-offs")
    [0.1, 4.6]
    """
    try:
        if ":" not in text:
            points = [float(part) for part in text.split(",")]
            if any(math.isnan(point) for point in points):
                raise ValueError
            return points
        start, stop, step = (Decimal(part.strip()) for part in text.split(":"))
        if not all(part.is_finite() for part in (start, stop, step)) or step <= 0 or stop < start:
            raise ValueError
        steps = (stop - start) / step
    except (ValueError, InvalidOperation, ArithmeticError):
        raise InputError(
            f"{name} is {_shown(text)}; write start:stop:step with a step above 0, or numbers a,b,c"
        ) from None
    if steps >= _MOST_POINTS:
        raise InputError(f"{name} is {_shown(text)}, more than {_MOST_POINTS:,} points; take a larger step")
    return [float(start + index * step) for index in range(int(steps) + 1)]


class Pay(TypedDict):
    """The two ways to pay, as `Campaign.publish` names them; one of them is None."""

    pay_minor: int | None
    pay_per_hour_minor: int | None


def read_pay(text: str | None, currency: str | None) -> Pay:
    """Read --pay: an amount is for a submission, an amount with /h for an expected hour of work; None says nothing.

    Examples
    --------
    >>> read_pay("12/h", "USD")
    {'pay_minor': None, 'pay_per_hour_minor': 1200}
    """
    if text is None:
        return Pay(pay_minor=None, pay_per_hour_minor=None)
    money, hourly = parse_pay(text, currency=currency, name="--pay")
    if money.minor <= 0:
        raise InputError(f"--pay is {_shown(text)}; people are paid, give more than 0")
    return Pay(pay_minor=None if hourly else money.minor, pay_per_hour_minor=money.minor if hourly else None)


def read_rate(text: str | None, *, salaried: bool, currency: str) -> tuple[str, Money]:
    """Read the price of a pool: of an hour, of an answer, or none of salaried people.

    Examples
    --------
    >>> read_rate("30/h", salaried=False, currency="USD")
    ('per_hour', Money(minor=3000, currency='USD'))
    """
    if salaried == (text is not None):
        raise InputError("give --price (30/h for an hour, 0.60 for an answer), or --salaried")
    if text is None:
        return "salaried", Money(0, currency)
    money, hourly = parse_pay(text, currency=currency, name="--price")
    return "per_hour" if hourly else "per_answer", money


def skill_words(skills: list[str] | None, languages: list[str] | None) -> tuple[str, ...]:
    """Return skills and languages as invitations and HITs name them.

    Examples
    --------
    >>> skill_words(["law"], ["DE"])
    ('law', 'language:de')
    """
    return (*(skills or ()), *(f"language:{each.strip().lower()}" for each in languages or ()))


def read_moment(text: str, *, name: str) -> datetime:
    """Read a moment with its zone, and return it in UTC.

    Examples
    --------
    >>> read_moment("2026-12-01T09:00+01:00", name="FROM").isoformat()
    '2026-12-01T08:00:00+00:00'
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError(f"{name} is {_shown(text)}; write a moment with its zone, such as 2026-12-01T09:00Z") from None
    if moment.tzinfo is None:
        raise InputError(f"{name} is {_shown(text)} without a zone; add Z for UTC, or an offset such as +01:00")
    return moment.astimezone(UTC)


def read_hourly(text: str, currency: str | None, *, why: str) -> Money:
    """Read --pay where only a rate per hour makes sense."""
    money, hourly = parse_pay(text, currency=currency, name="--pay")
    if not hourly:
        raise InputError(f"--pay is {_shown(text)}; {why} needs a rate per hour, such as {text.strip()}/h")
    return money


def read_money(text: str, *, currency: str | None = None, name: str) -> Money:
    """Read an amount given on the command line."""
    return parse_money(text, currency=currency, name=name)


def require_budget(budget: str | None, *, yes: bool) -> None:
    """Refuse to spend without a limit, before anything is opened."""
    if yes and budget is None:
        raise InputError("--yes needs --budget AMOUNT: the most that may be spent over the whole campaign")


def read_budget(text: str | None, currency: str) -> int | None:
    """Read --budget in minor units of the campaign's currency.

    Examples
    --------
    >>> read_budget("60", "USD"), read_budget(None, "USD")
    (6000, None)
    """
    return None if text is None else read_money(text, currency=currency, name="--budget").minor


def read_duration(text: str, *, name: str) -> float:
    """Read '30s', '2m', '1.5h' or '3d' as seconds.

    Examples
    --------
    >>> [read_duration(text, name="--every") for text in ("0s", "2m", "1.5h")]
    [0.0, 120.0, 5400.0]
    """
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([smhd])", text.strip().lower())
    seconds = float(found[1]) * _SECONDS[found[2]] if found else math.inf
    if seconds > _LONGEST_S:
        raise InputError(f"{name} is {_shown(text)}; give a time such as 30s, 2m, 1.5h or 3d")
    return seconds


def names(text: str) -> list[str]:
    """Read 'a, b,c' as a list of names; empty ones do not count.

    Examples
    --------
    >>> names("good, bad,")
    ['good', 'bad']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


# What others call the machine's label, and the true one.
_ALSO = {
    "predicted": ("label", "prediction", "predicted_label", "machine", "machine_label"),
    "target": ("gold", "truth", "true", "true_label", "expert"),
}


def require_both(columns: Iterable[str], file: Path) -> None:
    """Refuse a file with only one of target and predicted, and say which of its columns may be the other.

    Raises
    ------
    FrameError
        One is there without the other.
    """
    there = [str(each) for each in columns]
    missing = [name for name in _ALSO if name not in there]
    if len(missing) != 1:
        return
    (name,) = missing
    (other,) = set(_ALSO) - {name}
    near = next((each for also in _ALSO[name] for each in there if each.strip().lower() == also), None)
    what = "what is true" if name == "target" else "the machine's labels"
    hint = f"rename {near!r} to {name!r} if it holds {what}" if near else f"add {name}, {what}"
    raise FrameError(f"{file} has {other} but not {name}; {hint}, or leave {other} out")


def numbers(loaded: Loaded, column: str, file: Path, *, high: float = math.inf) -> NDArray[np.float64]:
    """Return a column of a file as numbers in [0, high], or name the lines of the file that hold none."""
    import numpy as np
    import pandas as pd

    given = loaded.frame[column]
    found: NDArray[np.float64] = pd.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64)
    bad = ~(np.isfinite(found) & (found >= 0) & (found <= high))
    if bad.any():
        wanted = "numbers in [0, 1]" if high == 1 else "finite numbers of at least 0"
        rows = loaded.rows(bad, given.to_numpy())
        raise FrameError(f"{file}: {column} must be {wanted}: {rows}; correct or drop these rows")
    return found


def require_free(out: Path | None, *, overwrite: bool, name: str = "--out", endings: tuple[str, ...] = TABLES) -> None:
    """Refuse a place for a result that cannot be written, before any work is done or saved; no endings: any will do."""
    if out is None:
        return
    if endings and out.suffix.lower() not in endings:
        these = f"one of {', '.join(endings)}" if len(endings) > 1 else endings[0]
        raise InputError(f"{name} is {str(out)!r}; give a file that ends in {these}")
    if out.is_dir():
        raise InputError(f"{name} is {str(out)!r}, a folder; name a file in it")
    if not out.parent.is_dir():
        raise InputError(f"{name} is {str(out)!r}, but the folder {out.parent} does not exist; make it first")
    if out.exists() and not overwrite:
        raise InputError(f"{name} is {str(out)!r}, which exists; add --overwrite to replace it, or choose another name")


def write_out(out: Path, text: str) -> None:
    """Write the file of ``--out`` that only its owner may read, also where one with wider rights was there."""
    try:
        write_private(out, text)
    except OSError as error:
        raise InputError(f"--out is {str(out)!r}, which cannot be written: {error.strerror}; choose another") from None


def _shown(text: str | None) -> str:
    """Quote what was given, cut where it is long."""
    given = text or ""
    return repr(given) if len(given) <= 60 else f"{given[:60]!r}..."
