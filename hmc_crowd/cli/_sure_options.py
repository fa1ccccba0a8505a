"""Options on asking until labels are sure."""

from typing import Annotated

import typer

__all__ = ["MostAnswers", "StopError"]

MostAnswers = Annotated[
    int | None,
    typer.Option(
        "--most", min=1, metavar="N", help="Ask on, once a round, while an item's label is not sure: N answers at most."
    ),
]
StopError = Annotated[
    float, typer.Option("--error", metavar="SHARE", help="With --most: chance of a wrong label at which asking stops.")
]
