"""The learned gate of a campaign: what teaches it, what it says of itself, what it does where it knows too little."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from recorded import DAY_0, campaign_of, record

from hmc_crowd.campaign._gate_data import gate_data
from hmc_crowd.campaign._gate_learning import teach
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hmc_crowd.campaign import Campaign

LABELS = ("fine", "rude", "odd")


def crowd(items: list[str], truth: dict[str, str], rng: np.random.Generator, *, each: int) -> pd.DataFrame:
    """Answers of 20 people, the first eight of whom are little better than guessing."""
    skill = np.where(np.arange(20) < 8, 0.4, 0.85)
    rows = []
    for n, item in enumerate(items):
        for place, who in enumerate(rng.permutation(20)[:each]):
            wrong = str(rng.choice([label for label in LABELS if label != truth[item]]))
            label = truth[item] if rng.random() < skill[who] else wrong
            rows.append((item, f"w{who:02d}", label, DAY_0 + pd.Timedelta(minutes=10 * n + place)))
    return pd.DataFrame(rows, columns=["task", "worker", "label", "submitted"])


@pytest.fixture
def judged(tmp_path: Any, clock: Any) -> Iterator[Callable[..., Campaign]]:
    made: list[Campaign] = []

    def make(golds: int, *, gold_answers: int = 6, items: int = 150) -> Campaign:
        rng = np.random.default_rng(11)
        names = [f"i{n:03d}" for n in range(items + golds)]
        truth = {name: LABELS[n % 3] for n, name in enumerate(names)}
        gold = {name: truth[name] for name in names[items:]}
        folder = tmp_path / f"{golds}-{gold_answers}"
        folder.mkdir()
        campaign = campaign_of(folder, truth, gold, clock=clock)
        made.append(campaign)
        record(campaign, crowd(names[:items], truth, rng, each=3))
        if gold:
            record(campaign, crowd(names[items:], truth, rng, each=gold_answers))
        campaign.truth = truth  # type: ignore[attr-defined]
        return campaign

    yield make
    for each in made:
        each.close()


def test_it_learns_from_answered_gold_and_says_how_it_does_held_out(judged: Callable[..., Campaign]) -> None:
    campaign = judged(80)
    found = campaign.gate("ml")
    assert 0 < found.experts < found.items
    assert any("80 gold items and 0 decisions of experts" in note for note in found.notes)
    table = found.compared.set_index("gate")
    assert table.index.tolist() == ["ml, held out", "rules", "consensus", "weighted"]
    # 80 items of six answers are 160 sets of three; the wrong ones are ten times as dear as a look.
    assert set(table["n"]) == {160}
    assert (table["cost"] == table["sent"] + 10 * table["missed"]).all()
    assert table.loc["ml, held out", "accuracy"] > table.loc["ml, held out", "accuracy_before"]
    kept = campaign.decisions(newest=True).set_index("item")
    accepted = kept[kept["decision"] == "accept"]
    right = np.mean([accepted.loc[item, "label"] == campaign.truth[item] for item in accepted.index])  # type: ignore[attr-defined]
    assert right >= 0.9


def test_five_gold_items_teach_nothing_and_everything_goes_to_an_expert(judged: Callable[..., Campaign]) -> None:
    for golds, words in ((5, "of 5 items to learn from"), (0, "nobody has answered gold and no expert")):
        found = judged(golds).gate("ml")
        assert found.experts == found.items
        assert found.compared is None
        assert any(words in note and "everything goes to an expert" in note for note in found.notes)


_DECIDED = ("aspect", "item", "expert", "label", "guideline_version")


def decide(campaign: Any, items: list[str]) -> None:
    """Store what an expert says, blind and in the end, of these items: always the truth."""
    said: dict[str, Any] = {"aspect": "label", "expert": "eva"}
    asked = campaign._context.aspect("label")
    with campaign._context.store.begin() as tx:
        for item in items:
            now = campaign._context.clock.now()
            shown = {"crowd_label": None, "machine_label": None, "guideline_version": asked.guideline_version}
            told = {**said, **shown, "item": item, "label": campaign.truth[item]}
            tx.adjudications.judge(campaign._context.campaign_id, at=now, **told)
            tx.adjudications.decide(campaign._context.campaign_id, at=now, **{name: told[name] for name in _DECIDED})


def test_experts_decisions_teach_it_and_its_version_tells(judged: Callable[..., Campaign]) -> None:
    campaign = judged(12)
    first = campaign.gate("ml")
    assert first.experts == first.items
    decide(campaign, [f"i{n:03d}" for n in range(60)])
    second = campaign.gate("ml")
    assert any("12 gold items and 60 decisions of experts" in note for note in second.notes)
    assert second.items == first.items - 60
    assert second.experts < second.items
    assert second.version != first.version
    assert campaign.gate("ml").version == second.version


def test_what_an_audit_has_drawn_teaches_nothing(judged: Callable[..., Campaign]) -> None:
    campaign = judged(12)
    campaign.aggregate()
    drawn = campaign.draw_expert_audit(0, 10)
    assert drawn.people_drawn == 10
    decide(campaign, [f"i{n:03d}" for n in range(150)])
    with campaign._context.store.read() as tx:
        data = gate_data(campaign._context, tx, "label", None, learnt=False)
        said = " ".join(teach(campaign._context, tx, data, {}).notes)
    assert "140 decisions of experts" in said


def test_its_costs_are_settings(judged: Callable[..., Campaign]) -> None:
    campaign = judged(80)
    careful, careless = campaign.gate("ml", error_cost=50.0), campaign.gate("ml", error_cost=2.0)
    assert careful.experts > careless.experts
    with pytest.raises(InputError, match="has no setting 'moon'"):
        campaign.gate("ml", moon=1)
