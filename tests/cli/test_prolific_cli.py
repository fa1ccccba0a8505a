"""The commands on Prolific's stand-in with the workplace's pages: dry runs write nothing, one study is published."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.campaign import Campaign
from hmc_crowd.platform import find_platform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("fastapi")
sys.path.insert(0, str(Path(__file__).parents[1] / "campaign"))

MESSAGE = (
    "Your answers were the same for every question and four of five known items were wrong, so we cannot use them."
)
SPEND = ("--yes", "--budget", "300USD")
PUBLISH = ("publish", "--pay", "12/h", "--target-minutes", "2", "--redundancy", "2")


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    from hmc_crowd_prolific.standin import running_standin

    with running_standin() as standin:
        yield standin


@pytest.fixture
def there(server: Any, monkeypatch: pytest.MonkeyPatch, at: Callable[[str], Path]) -> Iterator[Any]:
    """A planned campaign, an empty stand-in, and the settings that a shell would have."""
    from hmc_crowd_prolific.standin import Options
    from outside_house import Recruiting

    folder = at("planned")
    clock = VirtualClock(datetime.now(UTC))
    server.world.reset(clock, Options())
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_TOKEN", server.world.token)
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_WORKSPACE", server.world.workspace)
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_PROJECT", next(iter(server.world.projects)))
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_STUDY_URL", "https://work.example.org/prolific/arrive")
    with ExitStack() as stack:
        pages: Any = find_platform("local", str(folder / "workplace.db"), clock=clock)
        stack.callback(pages.close)
        yield Recruiting(server, server, pages, clock, stack)


def on(there: Any, *words: str) -> tuple[str, ...]:
    return (*words, "--platform", "prolific", "--endpoint", there.standin.api)


def writes(there: Any) -> list[str]:
    """Calls that change something; asking what a study would cost does not."""
    with there.world.lock:
        calls = [f"{call['method']} {call['path']}" for call in there.world.calls]
    return [each for each in calls if not each.startswith("GET ") and "calculator" not in each and "cost" not in each]


def work(there: Any, hmc: Any) -> None:
    """Publish, and let people do all of it."""
    truth = pd.read_csv("truth.csv", dtype=str).set_index("item")["label"].to_dict()
    done = hmc(*on(there, *PUBLISH, *SPEND))
    assert done.code == 0, done.err
    with Campaign.open("hmc-crowd.db") as campaign:
        there.fill(campaign, truth)


def test_c03_p18_dry_runs_write_nothing_and_print_the_whole_cost(hmc: Any, there: Any) -> None:
    dry = hmc(*on(there, *PUBLISH))
    assert dry.code == 0, dry.err
    assert f"  endpoint  {there.standin.api}" in dry.out
    assert f"workspace {there.world.workspace}, mode stub, 100,000.00 USD available" in " ".join(dry.out.split())
    assert "nothing was sent; add --yes --budget AMOUNT" in dry.out
    total = hmc(*on(there, *PUBLISH, "--json")).json
    assert total["fee_minor"] == pytest.approx(0.428 * total["reward_minor"], rel=0.02)
    assert writes(there) == []
    work(there, hmc)
    assert hmc(*on(there, "collect")).code == 0
    before = writes(there)
    name = hmc("submissions", "--state", "submitted", "--json").json[0]["submission"]
    hit = hmc("hits", "--json").json[0]["hit"]
    signals = ("--signal", "no_work=0 words", "--signal", "same_label=all are good", "--message", MESSAGE)
    for command in (
        ("approve",),
        ("pay", name, "1.50"),
        ("reject", name, *signals, "--cap", "1"),
        ("extend", hit, "--target", "5"),
    ):
        told = hmc(*on(there, *command))
        assert told.code == 0, (command, told.err)
        assert there.standin.api in told.out, command
        assert "mode stub" in told.out, command
        assert "nothing was sent" in told.out, command
    # A bonus of 1.50 costs its 42.8 % fee, too.
    assert hmc(*on(there, "pay", name, "1.50", "--json")).json["total_minor"] == 150 + 64
    assert writes(there) == before


def test_a_round_through_prolific_by_commands_alone(hmc: Any, there: Any) -> None:
    work(there, hmc)
    assert len(there.studies()) == there.standin.calls("POST", "studies/*/transition/") > 0
    again = hmc(*on(there, *PUBLISH, *SPEND, "--json")).json
    assert again["new_hits"] == 0
    told = hmc(*on(there, "watch", "--approve", *SPEND, "--for", "0s"))
    assert told.code == 0, told.err
    assert "approved for" in told.out
    spent = there.world.spent_minor
    assert spent > 0
    assert hmc(*on(there, "approve", *SPEND, "--json")).json["submissions"] == 0
    assert there.world.spent_minor == spent


def test_a_wrong_token_is_refused_and_printed_nowhere(hmc: Any, there: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HMC_CROWD_PROLIFIC_TOKEN", "wrong-token-of-mine")
    told = hmc(*on(there, *PUBLISH, *SPEND))
    assert told.code == 3
    assert "wrong-token-of-mine" not in told.out + told.err
    assert hmc("status", "--json").json["hits"] == 0


def test_without_a_token_nothing_is_asked(hmc: Any, there: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HMC_CROWD_PROLIFIC_TOKEN")
    told = hmc(*on(there, *PUBLISH))
    assert told.code == 2
    assert "set HMC_CROWD_PROLIFIC_TOKEN" in told.err


def test_sensitive_items_need_a_warning_which_the_study_carries(hmc: Any, there: Any) -> None:
    items = pd.read_csv("items.csv", dtype={"item": str, "group": str})
    Path("other.db").unlink(missing_ok=True)
    items.assign(sensitive=True).to_csv("sensitive.csv", index=False)
    other = ("--db", "other.db")
    hmc("init", "--labels", "good,bad", "--seed", "7", *other)
    hmc("items", "sensitive.csv", "--predictions", "predictions.csv", "--gold", "gold.csv", *other)
    hmc("effort", "estimate", *other)
    hmc("plan", "--trade-off", "0.5", "--max-human", "10", "--audit", "5", *other)
    refused = hmc(*on(there, *PUBLISH, *SPEND, *other))
    assert refused.code == 2
    assert "--content-warning" in refused.err
    assert there.studies() == []
    done = hmc(*on(there, *PUBLISH, *SPEND, "--content-warning", "Rude replies.", *other))
    assert done.code == 0, done.err
    for study in there.studies():
        assert study.body.content_warnings == ["sensitive"]
        assert study.body.content_warning_details == "Rude replies."
        assert study.body.description.startswith("Rude replies.")


def test_the_pages_may_have_an_address_of_their_own(hmc: Any, there: Any) -> None:
    told = hmc(*on(there, *PUBLISH, *SPEND, "--pages", "local:pages.db"))
    assert told.code == 0, told.err
    assert Path("pages.db").exists()
    pages: Any = find_platform("local", "pages.db")
    assert len(pages.find_all()) > 0
    pages.close()
    assert there.pages.find_all() == {}
