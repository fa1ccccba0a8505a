"""Options on gold: how much of it, how often, and how answers in words are marked."""

from typing import Annotated

import typer

__all__ = ["Encoder", "ExpectedPeople", "GoldLimit", "GoldShare", "Similar"]

GoldShare = Annotated[float, typer.Option("--gold-share", metavar="SHARE", help="Share of gold questions in a HIT.")]
GoldLimit = Annotated[
    int | None,
    typer.Option("--gold-limit", min=1, metavar="N", help="Most people who may meet a gold item; no limit if none."),
]
ExpectedPeople = Annotated[
    int | None,
    typer.Option("--people", min=1, metavar="N", help="How many will share the work: what gold tells of each."),
]
Encoder = Annotated[
    str | None,
    typer.Option("--encoder", metavar="NAME", help="Mark gold in words by meaning: minilm, a folder, a hub's name."),
]
Similar = Annotated[
    float, typer.Option("--similar", metavar="SHARE", help="Similarity of right words; unrelated is near 0.5.")
]
