"""forget, export-worker and retain: dry runs by default, counts for people, JSON for programs."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from hmc_crowd.campaign import Campaign
from hmc_crowd.cli._privacy import read_age
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def worker(folder: Path) -> tuple[str, str]:
    """A raw id and its pseudonym."""
    with Campaign.open(folder / "hmc-crowd.db") as campaign, campaign._context.store.read() as tx:
        names: dict[str, str] = tx.workers.known("local")
        answered = set(tx.work.answers(campaign._context.campaign_id)["worker"])
    return next((raw, name) for raw, name in names.items() if name in answered)


def test_forgetting_is_a_dry_run_until_yes(hmc: Any, at: Callable[[str], Path]) -> None:
    raw, _ = worker(at("collected"))
    dry = hmc("forget", raw)
    assert dry.code == 0
    assert "would forget 1 worker" in dry.out
    assert "add --yes" in dry.out
    asked = hmc("forget", raw, "--json").json
    done = hmc("forget", raw, "--yes", "--json").json
    assert (asked["dry_run"], done["dry_run"], asked["answers"]) == (True, False, done["answers"])
    again = hmc("forget", raw, "--yes")
    assert (again.code, again.out) == (0, "nothing is stored of this worker\n")
    assert raw not in dry.out + again.out


def test_an_export_goes_to_the_terminal_or_a_private_file(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("collected")
    raw, name = worker(folder)
    shown = hmc("export-worker", raw).json
    assert shown["workers"][0]["pseudonym"] == name
    assert hmc("export-worker", raw, "--out", "me.json").code == 0
    file = folder / "me.json"
    assert json.loads(file.read_text())["workers"] == shown["workers"]
    assert file.stat().st_mode & 0o777 == 0o600
    again = hmc("export-worker", raw, "--out", "me.json")
    assert again.code == 2
    assert "which exists; add --overwrite" in " ".join(again.err.split())
    assert hmc("export-worker", raw, "--out", "me.json", "--overwrite").code == 0
    assert hmc("export-worker", raw, "--out", "no/such/me.json").code == 2


def test_a_stranger_has_nothing_to_export(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    gone = hmc("export-worker", "nobody")
    assert gone.code == 2
    assert "nothing is stored of this worker" in gone.err


def test_retaining_says_what_it_would_erase(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    dry = hmc("retain", "--raw-ids", "1y", "--item-texts", "1y", "--json").json
    nothing = {"raw_ids": 0, "raw_ids_kept": 0, "item_texts": 0, "item_texts_kept": 0}
    assert dry == nothing | {"dry_run": True, "traits": 0}
    done = hmc("retain", "--raw-ids", "1y", "--yes")
    assert (done.code, done.out) == (0, "erased 0 raw worker ids and 0 item texts\n")


def test_retaining_nothing_is_refused(hmc: Any, at: Callable[[str], Path]) -> None:
    at("planned")
    asked = hmc("retain")
    assert asked.code == 2
    assert "--raw-ids TIME, --item-texts TIME" in " ".join(asked.err.split())


def test_ages_are_days_weeks_and_years() -> None:
    assert read_age(None, name="--raw-ids") is None
    assert [read_age(text, name="x") for text in ("90d", " 2W ", "1y")] == [
        timedelta(days=90),
        timedelta(weeks=2),
        timedelta(days=365),
    ]


@pytest.mark.parametrize("text", ["90", "d", "-1d", "1.5y", "1m", "999999y", ""])
def test_other_ages_are_named(text: str) -> None:
    with pytest.raises(InputError, match=r"--raw-ids is .*give days, weeks or years: 90d, 12w, 1y"):
        read_age(text, name="--raw-ids")


def test_forgetting_reaches_the_workplace_and_names_backups(hmc: Any, at: Callable[[str], Path]) -> None:
    from hmc_crowd._base.erasing import files_holding

    folder = at("collected")
    raw, _ = worker(folder)
    databases = [folder / "hmc-crowd.db", folder / "workplace.db"]
    assert len(files_holding([raw], databases)) == 2
    assert hmc("backup", "--to", "copy.zip").code == 0
    shown = hmc("forget", raw, "--yes")
    assert "rows of the workplace" in shown.out
    assert "a copy still holds the id" in shown.out
    assert "copy.zip" in shown.out
    assert raw not in shown.out
    files = [file for path in databases for file in folder.glob(f"{path.name}*")]
    assert files_holding([raw], files) == {}
    gone = hmc("forget", raw, "--backup", "no/such/folder")
    assert (gone.code, "which does not exist" in " ".join(gone.err.split())) == (2, True)


def test_requests_to_be_erased_are_listed(hmc: Any, at: Callable[[str], Path]) -> None:
    from datetime import UTC, datetime

    from hmc_crowd_local import connect
    from hmc_crowd_local.pages import People, Study

    folder = at("collected")
    assert hmc("erasure-requests").out == "nobody waits to be erased\n"
    with connect(str(folder / "workplace.db")) as place:
        people = People(place._database)
        people.withdraw("ann", Study(), wants_erasure=True, language="en", at=datetime(2026, 1, 1, tzinfo=UTC))
    assert hmc("erasure-requests", "--json").json["requests"][0]["worker"] == "ann"
    assert "hmc-crowd forget WORKER" in hmc("erasure-requests").out
    hmc("forget", "ann", "--yes")
    assert hmc("erasure-requests", "--json").json["requests"] == []
