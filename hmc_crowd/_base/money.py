"""Money: integer minor units with a currency beside them, exact from the user's text to the database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from hmc_crowd.errors import InputError

__all__ = ["Money", "parse_money", "parse_pay", "round_half_up"]

# Currencies without two decimals that people may meet on the platforms; every other one has two.
_DECIMALS = {"JPY": 0, "KRW": 0, "VND": 0, "CLP": 0, "ISK": 0, "BHD": 3, "KWD": 3, "JOD": 3}
_SYMBOLS = {"$": "USD", "£": "GBP", "€": "EUR"}
_TEXT = re.compile(r"(?P<symbol>[$£€])?\s*(?P<amount>[0-9]{1,15}(?:\.[0-9]{1,3})?)\s*(?P<code>[A-Za-z]{3})?")


@dataclass(frozen=True, order=True)
class Money:
    """An amount of money.

    Parameters
    ----------
    minor : int
        Amount in the currency's smallest unit (cents, pence).
    currency : str
        ISO 4217 code, three capital letters.

    Examples
    --------
    >>> str(Money(150_050, "USD"))
    '1,500.50 USD'
    """

    minor: int
    currency: str

    def __post_init__(self) -> None:
        if isinstance(self.minor, bool) or not isinstance(self.minor, int):
            raise InputError(f"minor is {self.minor!r}; money is an integer count of minor units (cents)")
        if not re.fullmatch(r"[A-Z]{3}", self.currency):
            raise InputError(f"currency is {self.currency!r}; give a three-letter ISO code such as USD")

    @property
    def major(self) -> Decimal:
        """The amount in major units (dollars, pounds)."""
        return Decimal(self.minor).scaleb(-_DECIMALS.get(self.currency, 2))

    def __str__(self) -> str:
        places = _DECIMALS.get(self.currency, 2)
        return f"{self.major:,.{places}f} {self.currency}"


def parse_money(text: str, *, currency: str | None = None, name: str = "amount") -> Money:
    """Read an amount such as ``1500USD``, ``$12.50`` or, where the currency is known, ``12.5``.

    Raises
    ------
    InputError
        The text is no amount, names no or another currency, or has more decimals than the currency.

    Examples
    --------
    >>> parse_money("1500USD")
    Money(minor=150000, currency='USD')
    >>> parse_money("12.5", currency="GBP").minor
    1250
    """
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{name} is {text!r}; write an amount and a currency, for example 1500USD or 12.50GBP")
    codes = {code for code in (_SYMBOLS.get(match["symbol"] or ""), (match["code"] or "").upper() or None) if code}
    if currency is not None:
        codes.add(currency)
    if not codes:
        raise InputError(f"{name} is {text!r} without a currency; write for example {text.strip()}USD")
    if len(codes) > 1:
        raise InputError(f"{name} is {text!r}, which mixes the currencies {', '.join(sorted(codes))}; use one")
    code = codes.pop()
    minor = Decimal(match["amount"]).scaleb(_DECIMALS.get(code, 2))
    if minor != minor.to_integral_value():
        raise InputError(f"{name} is {text!r}, finer than the smallest unit of {code}; round it")
    return Money(int(minor), code)


def parse_pay(text: str, *, currency: str | None = None, name: str = "pay") -> tuple[Money, bool]:
    """Read a pay rate: ``12/h`` or ``12USD/h`` per hour, ``0.05USD`` per answer; return (money, is_hourly).

    Examples
    --------
    >>> parse_pay("12/h", currency="USD")
    (Money(minor=1200, currency='USD'), True)
    """
    amount, slash, unit = text.partition("/")
    if slash and unit.strip().lower() not in {"h", "hr", "hour"}:
        raise InputError(f"{name} is {text!r}; write a rate per hour such as 12USD/h, or an amount per answer")
    return parse_money(amount, currency=currency, name=name), bool(slash)


def round_half_up(value: Decimal) -> int:
    """Round to the nearest integer, halves up: how platforms round fees to the cent."""
    return int(value.to_integral_value(rounding=ROUND_HALF_UP))
