"""Is it the same data, and how long did each part take? The data facts and the runtime table of appendix B."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmc_crowd.report import Column, Table
from hmc_crowd.reproduce import _paper as paper
from hmc_crowd.reproduce._rows import compared, compared_table

if TYPE_CHECKING:
    from hmc_crowd.reproduce._load import HmcevalData
    from hmc_crowd.reproduce._routing import Run

__all__: list[str] = []


def data_checks(data: HmcevalData, run: Run) -> Table:
    """Return what the paper says about its data, beside what the files hold."""
    dialogues, items = data.dialogues, data.responses
    rows = [
        ("dialogues", paper.DIALOGUES, len(dialogues)),
        ("malevolent utterances, per_dialogue.tsv", paper.MALEVOLENT, int(dialogues["malevolent_turns"].sum())),
        (
            "non-malevolent utterances, per_dialogue.tsv",
            paper.NON_MALEVOLENT,
            int(dialogues["non_malevolent_turns"].sum()),
        ),
        ("share of dialogues for the test", paper.TEST_SHARE, len(data.test) / len(dialogues)),
        ("test dialogues in the routing files", None, items["group"].nunique()),
        ("responses in the routing files", None, len(items)),
        ("workers (distinct approval rankings)", None, dialogues["approval_ranking"].nunique()),
        ("final labels equal to the authors' final_predict", None, float((run.final == items["authors"]).mean())),
        ("objective of the plan, eq. 3", paper.OBJECTIVE, run.plan.objective),
    ]
    return compared_table(
        "data_checks",
        "The data",
        compared(rows, "metric"),
        "Train and validation are one split (train) in the published file. Its columns count fewer malevolent "
        "utterances than the paper's text does. The reference objective is not the paper's: a MILP solver's, on "
        "the same instance.",
        paper=Column("Paper or reference", "either", 3),
        measured=Column("Measured", "either", 4),
        difference=Column("Difference", "either", 4, sign=True),
    )


def runtimes(measured_s: dict[str, float]) -> Table:
    """Return the paper's hours beside our seconds, for the parts that were run here."""
    rows = [(part, seconds, measured_s.get(part)) for part, seconds in paper.RUNTIME_S.items()]
    frame = compared(rows, "metric")
    frame["ratio"] = frame["paper"] / frame["measured"]
    frame = frame.rename(columns={"paper": "paper_s", "measured": "measured_s", "difference": "difference_s"})
    return Table(
        key="runtime",
        title="Runtime, appendix B",
        frame=frame,
        columns={
            "metric": Column("Part"),
            "paper_s": Column("Paper", "number", 0, "s"),
            "measured_s": Column("Measured here", "number", 2, "s"),
            "difference_s": Column("Difference", "number", 0, "s", sign=True),
            "ratio": Column("Times faster", "number", 0),
        },
        note="The paper's HEE figure is an upper limit (under 10 minutes). Confidences are read from the "
        "published files, so their training is not timed; their models have 109.5 million (classifier) and "
        "2.4 million (confidence network) parameters. Ours on one machine, in this run: another machine, "
        "other seconds.",
    )
