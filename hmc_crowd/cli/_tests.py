"""Commands on qualification tests: tests add, collect, funnel, take, list, sync."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from hmc_crowd.cli._app import (
    DEFAULT_DATABASE,
    PEOPLE,
    AsJson,
    CampaignName,
    Database,
    Endpoint,
    Workplace,
    app,
    connect,
    open_campaign,
)
from hmc_crowd.cli._arguments import read_duration
from hmc_crowd.cli._show import emit_json, say, table, tell
from hmc_crowd.cli._wording import HelpfulGroup
from hmc_crowd.errors import InputError

tests_app = typer.Typer(
    cls=HelpfulGroup, help="Who may take part? Qualification tests: versions, attempts, and what a platform is told."
)
app.add_typer(tests_app, name="tests", rich_help_panel=PEOPLE)

Name = Annotated[str, typer.Argument(metavar="TEST", help="The test's name.")]
Version = Annotated[int | None, typer.Option("--version", metavar="N", help="Which version; the newest if none.")]
Also = Annotated[
    list[int] | None, typer.Option("--also", metavar="N", help="An earlier version that still counts; repeatable.")
]


@tests_app.command("add")
def add(
    name: Annotated[str | None, typer.Argument(metavar="[TEST]", help="The test's name; the study's if none.")] = None,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="item, label[, training]: the right answers.")
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option("--study", metavar="FILE", help="Keep the test that your own pages ask: serve's study (TOML)."),
    ] = None,
    version: Annotated[
        int | None, typer.Option("--version", min=1, metavar="N", help="A version never changes; 1 if none.")
    ] = None,
    pass_share: Annotated[
        float | None, typer.Option("--pass", metavar="SHARE", help="Right answers that pass; 0.9 if none.")
    ] = None,
    attempts: Annotated[
        int | None, typer.Option("--attempts", min=1, metavar="N", help="How often one may try; once if none.")
    ] = None,
    delay: Annotated[
        str | None, typer.Option("--delay", metavar="TIME", help="Between attempts: 30m, 8h, 2d; 0s if none.")
    ] = None,
    workplace: Workplace = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Keep a version of a test; items with a true "training" are shown before, with feedback, and never count."""
    terms = {"TEST": name, "FILE": file, "--version": version, "--pass": pass_share}
    terms |= {"--attempts": attempts, "--delay": delay}
    if study is not None:
        for which, value in terms.items():
            if value is not None:
                raise InputError(f"{which} is {str(value)!r}, but --study's file says all of it; leave {which} out")
        with open_campaign(db, campaign) as opened, connect("local", workplace) as place:
            test = opened.add_study_test(study, platform=place)
    else:
        test = _test_of(name, file, version, pass_share, attempts, delay)
        with open_campaign(db, campaign) as opened:
            opened.add_test(test)
    if as_json:
        emit_json(test)
    else:
        say(f"test {test.name!r}, version {test.version}: {test.pass_right} of {len(test.key)} right pass")


def _test_of(
    name: str | None,
    file: Path | None,
    version: int | None,
    pass_share: float | None,
    attempts: int | None,
    delay: str | None,
) -> Any:
    """Return the test that the arguments describe."""
    from hmc_crowd.quality import QualificationTest

    if name is None or file is None:
        raise InputError("TEST or FILE is missing; give both, or --study FILE for the test of your own pages")
    key, training = _key(file)
    pause = 0.0 if delay in {None, "0", "0s"} else read_duration(str(delay), name="--delay")
    return QualificationTest(
        name,
        1 if version is None else version,
        key,
        training=training or None,
        pass_share=0.9 if pass_share is None else pass_share,
        attempts=1 if attempts is None else attempts,
        delay_s=pause,
    )


@tests_app.command("collect")
def collect(
    workplace: Workplace = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Bring the attempts made on your own pages into the history; "hmc-crowd collect" does so, too."""
    with open_campaign(db, campaign) as opened, connect("local", workplace) as place:
        found = opened.collect_tests(place)
    tell(found, as_json=as_json)


@tests_app.command("funnel")
def funnel(
    name: Name,
    platform: Annotated[
        str, typer.Option("--platform", metavar="NAME", help="local: who came to your own pages; else who tried.")
    ] = "local",
    version: Version = None,
    also: Also = None,
    workplace: Workplace = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Show how many people arrived, consented, tried, passed and worked, each share with its interval."""
    with ExitStack() as stack:
        opened = stack.enter_context(open_campaign(db, campaign))
        place = stack.enter_context(connect(platform, workplace)) if platform == "local" else None
        found = opened.test_funnel(name, platform=place, version=version, also=also or ())
    if as_json:
        emit_json(found)
    else:
        table(found)


@tests_app.command("take")
def take(
    name: Name,
    worker: Annotated[str, typer.Argument(metavar="WORKER", help="The platform's id, or a pseudonym.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="item, label: what the worker answered.")],
    platform: Annotated[
        str | None, typer.Option("--platform", metavar="NAME", help="Whose id WORKER is; a pseudonym if none.")
    ] = None,
    version: Version = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Mark an attempt at a test and keep it; too early or once too often is refused."""
    answers, _ = _key(file, is_taken=True)
    with open_campaign(db, campaign) as opened:
        made = opened.take_test(name, worker, answers, platform=platform, version=version)
    if as_json:
        emit_json(made)
    else:
        say(f"{made.worker}: {made.right} of {made.n} right at attempt {made.number}, {_word(made.passed)}")


@tests_app.command("list")
def list_(
    name: Annotated[str | None, typer.Argument(metavar="[TEST]", help="Only this test's attempts.")] = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """List the tests with their versions, how many tried and passed, and every attempt with --json."""
    import pandas as pd

    with open_campaign(db, campaign) as opened:
        known = [each for each in opened.tests() if name in {None, each.name}]
        made = opened.test_attempts(name)
    if as_json:
        emit_json({"tests": known, "attempts": made})
        return
    rows = [(each.name, each.version, len(each.key), each.pass_right, *_counts(each, made)) for each in known]
    table(pd.DataFrame(rows, columns=["test", "version", "items", "right_to_pass", "tried", "passed"]))


@tests_app.command("sync")
def sync(
    name: Name,
    platform: Annotated[str, typer.Option("--platform", metavar="NAME", help="mturk or prolific.")],
    version: Version = None,
    also: Also = None,
    drop_excluded: Annotated[
        bool, typer.Option("--drop-excluded", help="Take it from those whose answers are left out.")
    ] = False,
    workplace: Workplace = None,
    endpoint: Endpoint = None,
    db: Database = DEFAULT_DATABASE,
    campaign: CampaignName = None,
    as_json: AsJson = False,
) -> None:
    """Tell a platform who is qualified: a qualification type of MTurk, a participant group of Prolific."""
    with open_campaign(db, campaign) as opened, connect(platform, workplace, endpoint) as place:
        found = opened.sync_test(place, name, version=version, also=also or (), drop_excluded=drop_excluded)
    tell(found, as_json=as_json)


def _key(file: Path, *, is_taken: bool = False) -> tuple[dict[str, str], dict[str, str]]:
    """Return the counted and the training answers of a file; who takes a test may leave an answer empty."""
    from hmc_crowd.io import read_frame
    from hmc_crowd.io._columns import flag_column, text_column

    loaded = read_frame(file, kind=None)
    frame = loaded.frame
    for column in ("item", "label"):
        if column not in frame:
            raise InputError(f"{file} lacks the column {column}; give item and label")
    items = text_column(frame["item"], "item", loaded.where)
    labels = text_column(frame["label"], "label", loaded.where, fill="" if is_taken else None)
    if items.duplicated().any():
        raise InputError(f"{file} names {items[items.duplicated()].iloc[0]!r} twice; give it once")
    trains = flag_column(frame["training"], "training", loaded.where) if "training" in frame else [False] * len(frame)
    rows = list(zip(items, labels, trains, strict=True))
    return ({item: label for item, label, is_training in rows if not is_training},
            {item: label for item, label, is_training in rows if is_training})  # fmt: skip


def _counts(test: Any, attempts: list[Any]) -> tuple[int, int]:
    mine = [each for each in attempts if (each.test, each.version) == (test.name, test.version)]
    return len({each.worker for each in mine}), len({each.worker for each in mine if each.passed})


def _word(passed: bool) -> str:
    return "passed" if passed else "not passed"
