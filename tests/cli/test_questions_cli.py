"""Several questions, modes and guidelines from the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ASPECTS = '[[aspect]]\nname = "tone"\nlabels = ["kind", "rude"]\n[[aspect]]\nname = "why"\nkind = "text"\n'


@pytest.fixture
def made(hmc: Any, tmp_path: Path) -> Callable[..., Any]:
    def make(*options: str) -> Any:
        (tmp_path / "aspects.toml").write_text(ASPECTS, encoding="utf-8")
        return hmc("init", "--aspects", "aspects.toml", *options)

    return make


def test_questions_are_read_from_a_file(hmc: Any, made: Any) -> None:
    assert made().code == 0
    assert made().code == 2  # the same questions again would be another campaign of that name
    from hmc_crowd.campaign import Campaign

    with Campaign.open("hmc-crowd.db") as campaign:
        assert [(each.name, each.kind) for each in campaign.aspects] == [("tone", "nominal"), ("why", "text")]


def test_labels_and_questions_do_not_go_together(made: Any) -> None:
    assert "not both" in made("--labels", "a,b").err


@pytest.mark.parametrize(
    ("options", "says"),
    [(("--mode", "loud"), "'blind', or 'suggest'"), (("--suggest-share", "0.5"), "mode 'blind'")],
)
def test_wrong_modes_are_refused(made: Any, options: tuple[str, ...], says: str) -> None:
    done = made(*options)
    assert (done.code, says in done.err) == (2, True)


def test_a_guideline_is_set_and_shown(hmc: Any, made: Any, tmp_path: Path) -> None:
    made("--mode", "suggest")
    (tmp_path / "how.txt").write_text("Look twice.\n", encoding="utf-8")
    assert "--aspect" in hmc("guideline", "set", "how.txt").err or hmc("guideline", "set", "how.txt").code == 2
    first = hmc("guideline", "set", "how.txt", "--aspect", "tone").out
    assert "would have guideline version 2" in first
    assert "add --yes" in first
    assert len(hmc("guideline", "show", "--aspect", "tone", "--json").json) == 1
    assert "has guideline version 2" in hmc("guideline", "set", "how.txt", "--aspect", "tone", "--yes").out
    assert "already" in hmc("guideline", "set", "how.txt", "--aspect", "tone").err
    assert hmc("guideline", "set", "nowhere.txt", "--aspect", "tone").code == 2
    shown = hmc("guideline", "show", "--aspect", "tone", "--json").json
    assert [(each["version"], each["text"]) for each in shown] == [("1", ""), ("2", "Look twice.")]
    (tmp_path / "how.txt").write_text("Look  twice, please.\n", encoding="utf-8")
    reworded = hmc("guideline", "set", "how.txt", "--aspect", "tone", "--wording", "--yes")
    assert "other words for version 2" in reworded.out
    assert hmc("guideline", "use", "1", "--aspect", "tone", "--yes").code == 0
    told = hmc("guideline", "show", "--aspect", "tone").out
    assert "version 1, in force" in told
    assert "means the same as version 2" in told
    assert "in force" in hmc("guideline", "use", "1", "--aspect", "tone").err


def test_options_of_a_campaign_are_refused_for_a_file(hmc: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("task,worker,label\nt,w,x\n", encoding="utf-8")
    assert "--blind-only" in hmc("aggregate", "a.csv", "--blind-only").err


def test_both_arms_show_in_the_status(hmc: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hmc_crowd.campaign import Campaign
    from hmc_crowd.campaign._arms import Arms
    from hmc_crowd.metrics import anchoring

    hmc("init", "--labels", "a,b", "--mode", "suggest", "--suggest-share", "0.5")
    arms = Arms("label", 2, 2, anchoring([1, 1, 0, 1], [1, 1, 0, 0], ["x", "y", "x", "y"]))
    told = Campaign.status

    def status(campaign: Campaign) -> Any:
        from dataclasses import replace

        return replace(told(campaign), arms=(arms,), stale=3)

    monkeypatch.setattr(Campaign, "status", status)
    said = " ".join(hmc("status").out.split())
    assert "2 answers blind, 2 in view of the machine's label" in said
    assert "3 answers under another guideline" in said
    assert hmc("status", "--json").json["arms"][0]["anchoring"]["value"] == 0.5
