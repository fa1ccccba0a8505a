"""Can these pages ask what the campaign asks? Refused before anything is written down or paid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.errors import InputError
from hmc_crowd.platform import Capabilities

if TYPE_CHECKING:
    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform, TaskPages

__all__ = ["require_shown"]


def require_shown(context: Context, pages: Platform | TaskPages) -> None:
    """Refuse pages that cannot show a kind of question, or no suggestion where the campaign shows some.

    Raises
    ------
    InputError
        They cannot; the sentence names the kind and where it can be shown.
    """
    able: Capabilities = getattr(pages, "capabilities", Capabilities())
    name = getattr(pages, "name", type(pages).__name__)
    for aspect in context.aspects():
        if aspect.kind not in able.kinds:
            raise InputError(
                f"platform {name!r} cannot ask the {aspect.kind} aspect {aspect.name!r} (it asks "
                f"{', '.join(able.kinds)}); show the work on the local workplace's pages"
            )
    if float(context.settings().get("suggest_share", 0.0)) > 0 and not able.suggests:
        raise InputError(
            f"platform {name!r} cannot show the machine's suggestions, and this campaign does; show the work on the "
            "local workplace's pages"
        )
