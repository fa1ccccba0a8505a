"""Amounts and fees: Decimal and integers only, as text in the API's own form."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from hmc_crowd.errors import InputError
from hmc_crowd.platform import FeeSchedule

__all__ = ["AMAZON_FEES", "assignment_fee", "currency_amount"]

#: What Amazon took: 20 percent, 20 more from ten assignments on, one cent at least.
AMAZON_FEES = FeeSchedule(rate=Decimal("0.20"), rate_at_10=Decimal("0.20"), minimum_minor=1)
_AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?")
_CENT = Decimal("0.01")
_MASTERS = Decimal("0.05")


def currency_amount(value: str | Decimal | int, *, name: str = "reward") -> str:
    """Return an amount as the API wants it, or say what is wrong with it before anything is sent.

    Parameters
    ----------
    value : str, Decimal or int
        Text or Decimal in dollars, or an int in cents. A float is refused: it is never exactly what was meant.
    name : str
        What the message calls it.

    Raises
    ------
    InputError
        A float, a currency sign, more than two decimals, or a negative amount.

    Examples
    --------
    >>> currency_amount(5), currency_amount("0.5"), currency_amount(Decimal("1.20"))
    ('0.05', '0.50', '1.20')
    >>> currency_amount("0.105")
    Traceback (most recent call last):
    ...
    hmc_crowd.errors.InputError: reward is '0.105'; write dollars with at most two decimals, for example 0.05
    """
    if isinstance(value, (bool, float)) or not isinstance(value, (str, Decimal, int)):
        raise InputError(f"{name} is {value!r}, a {type(value).__name__}; give cents as an int, or dollars as text")
    text = f"{value // 100}.{value % 100:02d}" if isinstance(value, int) and value >= 0 else str(value)
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not _AMOUNT.fullmatch(text) or amount != amount.quantize(_CENT):
        raise InputError(f"{name} is {value!r}; write dollars with at most two decimals, for example 0.05")
    return f"{amount:.2f}"


def assignment_fee(reward: Decimal, assignments: int, *, masters: bool = False) -> Decimal:
    """Return Amazon's fee for one assignment, in dollars: rounded half up to the cent, one cent at least.

    Examples
    --------
    >>> assignment_fee(Decimal("0.05"), 10), assignment_fee(Decimal("0.01"), 1)
    (Decimal('0.02'), Decimal('0.01'))
    """
    cents = int(Decimal(currency_amount(reward)).scaleb(2))
    fees = AMAZON_FEES
    if masters:
        fees = FeeSchedule(fees.rate + _MASTERS, fees.rate_at_10, fees.minimum_minor)
    return Decimal(fees.fee_minor(cents, redundancy=assignments)).scaleb(-2)
