"""What stands among a campaign's alerts? The house's gate, and the rules of the campaign, which go before it.

A campaign with rules of its own is judged by them on quality and pay; the house's gate then speaks of what waits and
what is spent alone. Without such rules the usual ones add what the house's gate does not see: drift, work given back.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from hmc_crowd.board._gate import Alert
from hmc_crowd.campaign._alerts import look, show
from hmc_crowd.errors import HmcCrowdError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hmc_crowd.board._gate import Figures, Gate
    from hmc_crowd.board._pulse import AlertLog
    from hmc_crowd.campaign._alerts import Lasting
    from hmc_crowd.campaign._context import Context

__all__ = ["alerts_of", "to_tell"]

_LOG = logging.getLogger("hmc_crowd.board")
# What the house's gate calls a thing, and the figure of the campaign's rules that speaks of the same.
_SAME = {"worker_accuracy": "quality", "gold_accuracy": "quality", "fair_pay": "pay_share_of_floor"}


def alerts_of(context: Context, gate: Gate, figures: Figures, log: AlertLog) -> list[Alert]:
    """Return the alerts of a page, the gravest first; the campaign's rules are looked at anew from time to time."""
    if log.is_due(context.name):
        try:
            lasting: Sequence[Lasting] = look(context).lasting
        except HmcCrowdError as error:
            _LOG.info("the alerts of a campaign were not looked at: %s", error)
            lasting = show(context, limit=0)[0]
    else:
        lasting = show(context, limit=0)[0]
    said = _judged(context, gate, figures)
    known = {(_SAME.get(each.what, each.what), each.about) for each in said}
    mine = [_alert(each) for each in lasting if (each.figure, each.subject) not in known]
    return sorted([*said, *mine], key=lambda alert: alert.state != "act")


def to_tell(context: Context, gate: Gate, figures: Figures) -> list[Alert]:
    """Look at the campaign's rules, which tell webhooks themselves, and return what the house's gate adds to them."""
    lasting = {(each.figure, each.subject) for each in look(context).lasting}
    said = _judged(context, gate, figures)
    return [each for each in said if (_SAME.get(each.what, each.what), each.about) not in lasting]


def _judged(context: Context, gate: Gate, figures: Figures) -> list[Alert]:
    """Return what the house's gate says, without what the campaign has rules of its own for."""
    said = list(gate.judge(figures))
    if "alert_rules" not in context.settings():
        return said
    return [each for each in said if each.what not in _SAME]


def _alert(lasting: Lasting) -> Alert:
    text = str(lasting)
    words = f"{text[:1].upper()}{text[1:]}."
    return Alert("act" if lasting.severity == "high" else "watch", lasting.rule, words, lasting.subject)
