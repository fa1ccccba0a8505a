"""The whole loop on the example pairs: a judge, people where it is unsure, win rates with intervals and ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hmc_crowd.aggregation import aggregate
from hmc_crowd.campaign import Aspect, Campaign
from hmc_crowd.errors import FrameError, InputError, StateError
from hmc_crowd.judges import JudgeCalibration, LLMJudge, RougeJudge, example_pairs, win_rates
from hmc_crowd.platform import find_platform
from hmc_crowd.simulation import SimulatedCrowd, draw_workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

BETTER = (Aspect("better", kind="pair", question="Which response is better?"),)


@pytest.fixture(scope="module")
def example() -> tuple[pd.DataFrame, dict[str, str]]:
    pairs, answers = example_pairs()
    labels = aggregate(answers, method="majority").frame
    return pairs, dict(zip(labels["item"], labels["label"], strict=True))


@pytest.fixture
def campaign(tmp_path: Path, clock: Any) -> Iterator[Campaign]:
    with Campaign.create(tmp_path / "c.db", aspects=BETTER, seed=3, clock=clock) as made:
        yield made


@pytest.fixture
def workplace(tmp_path: Path, clock: Any) -> Iterator[Any]:
    place = find_platform("local", str(tmp_path / "workplace.db"), clock=clock)
    yield place
    place.close()


def crowd_of(truth: dict[str, str]) -> SimulatedCrowd:
    workers = draw_workers(12, ["a", "b", "tie"], rng=np.random.default_rng(1), accuracy=0.95, spread=0.02)
    return SimulatedCrowd(workers, truth, rng=np.random.default_rng(2))


def judge_by_people(campaign: Campaign, workplace: Any, truth: dict[str, str], *, redundancy: int, **plan: Any) -> None:
    campaign.estimate_effort()
    campaign.plan(trade_off=0.0, **plan)
    campaign.publish(workplace, redundancy=redundancy, pay_per_hour_minor=1200, budget_minor=100_000, dry_run=False)
    workplace.rehearse(crowd_of(truth))
    campaign.collect(workplace)
    campaign.aggregate()


def test_the_whole_loop(campaign: Campaign, workplace: Any, example: tuple[pd.DataFrame, dict[str, str]]) -> None:
    pairs, truth = example
    judged = RougeJudge().judge(pairs)
    learnt = pairs["instruction"].isin(pairs["instruction"].unique()[:13])
    calibration = JudgeCalibration().fit(judged[learnt], truth)
    rest = pairs[~learnt].reset_index(drop=True)
    assert campaign.add_pairs(rest, judged=judged[~learnt], calibration=calibration) == 78
    judge_by_people(campaign, workplace, truth, max_human=0.4, audit=25, redundancy=3)
    assert campaign.certify().agreement_at_least < 1.0
    rates = campaign.win_rates(rest)
    assert rates.table["people"].sum() == 31 + 25
    assert rates.table["audited"].sum() == 25
    # All people's labels, had they judged every pair: within the intervals, and the best model first.
    worth = rest["item"].map(truth).map({"a": 1.0, "tie": 0.5, "b": 0.0})
    everybody = worth.groupby(rest["model"]).mean()
    for row in rates.table.itertuples():
        assert row.low <= everybody[row.model] <= row.high
    assert rates.table["model"].iloc[0] == everybody.idxmax()
    assert rates.table["rank"].tolist() == sorted(rates.table["rank"])
    # The page showed both responses and nothing that a person wrote.
    shown = [each for remote in workplace.find_all().values() for each in workplace.hit(remote.hit_id).items]
    by_item = rest.set_index("item")
    for each in shown:
        row = by_item.loc[each.item]
        assert (each.kind, each.text, each.options) == (
            "pair",
            row["instruction"],
            (row["response_a"], row["response_b"]),
        )
        assert each.labels == ("a", "b", "tie")


def test_references_are_nowhere_in_the_campaign(campaign: Campaign, tmp_path: Path) -> None:
    pairs, _ = example_pairs()
    campaign.add_pairs(pairs.assign(reference="a secret of the referee"), judged=RougeJudge().judge(pairs))
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"36" in held
    assert b"secret of the referee" not in held


def test_an_audience_goes_with_its_pair_to_people_and_to_judges(campaign: Campaign, workplace: Any) -> None:
    pairs = example_pairs()[0].iloc[:4].assign(audience=["any", "any", "pool-x", "any"])

    class Remote:
        name, version, leaves_machine = "remote", "1", True

        def complete(self, requests: Any, done: Any) -> None:
            raise AssertionError("something was sent")

    with pytest.raises(InputError, match="1 pairs are for pool-x only and remote is on another machine; nothing was"):
        LLMJudge(Remote()).judge(pairs)
    campaign.add_pairs(pairs, judged=RougeJudge().judge(pairs))
    campaign.estimate_effort()
    campaign.plan(trade_off=0.0, max_human=None, audit=0)
    with pytest.raises(InputError, match="pool-x"):
        campaign.publish(workplace, pay_minor=100, budget_minor=10_000, dry_run=False)


def test_what_the_judge_could_not_read_is_seen_first_and_equal_texts_never(campaign: Campaign) -> None:
    pairs = example_pairs()[0].iloc[:6].copy()
    pairs.loc[pairs.index[1], "reference"] = ""
    pairs.loc[pairs.index[2], "response_a"] = pairs["response_b"].iloc[2]
    pairs.loc[pairs.index[3], "response_b"] = "  "
    campaign.add_pairs(pairs, judged=RougeJudge().judge(pairs))
    with campaign._context.store.read() as tx:
        said = tx.frames.read(1, "predictions").set_index("item")
        items = tx.frames.read(1, "items").set_index("item")
    names = pairs["item"].tolist()
    assert (said.loc[names[1], "label"], said.loc[names[1], "confidence"]) == ("tie", 0.0)
    assert (said.loc[names[2], "label"], said.loc[names[2], "confidence"]) == ("tie", 1.0)
    assert items.loc[names[3], "response_b"] == "(empty response)"
    campaign.estimate_effort()
    campaign.plan(trade_off=0.0, max_human=1, audit=0)
    assert campaign.explain(names[1]).destination == "people"


def test_a_calibrated_confidence_below_chance_is_taken(campaign: Campaign) -> None:
    pairs = example_pairs()[0].iloc[:3]
    judged = RougeJudge().judge(pairs).assign(confidence=[0.2, 0.05, 0.34])
    assert campaign.add_pairs(pairs, judged=judged) == 3
    with campaign._context.store.read() as tx:
        assert tx.frames.read(1, "predictions")["confidence"].tolist() == [0.2, 0.05, 0.34]


def test_bad_tables_leave_nothing_behind(campaign: Campaign) -> None:
    pairs = example_pairs()[0].iloc[:5]
    judged = RougeJudge().judge(pairs)
    with pytest.raises(FrameError, match=r"judged lacks 1 of 5 pairs \(first 'q01-brief'\)"):
        campaign.add_pairs(pairs, judged=judged.iloc[1:])
    with pytest.raises(InputError, match="calibration is given and judged is not"):
        campaign.add_pairs(pairs, calibration=JudgeCalibration())
    with pytest.raises(FrameError, match="label"):
        campaign.add_pairs(pairs, judged=judged.assign(label="left"))
    assert campaign.status().items == 0


def test_a_campaign_without_pairs_says_how_to_ask_for_them(tmp_path: Path) -> None:
    with (
        Campaign.create(tmp_path / "c.db", labels=["x", "y"]) as campaign,
        pytest.raises(InputError, match="compares no pairs; make it with aspects"),
    ):
        campaign.add_pairs(example_pairs()[0])


def test_win_rates_need_an_audit_a_plan_and_known_pairs(
    campaign: Campaign, workplace: Any, example: tuple[pd.DataFrame, dict[str, str]]
) -> None:
    pairs, truth = example
    some = pairs.iloc[:30]
    campaign.add_pairs(some, judged=RougeJudge().judge(some))
    with pytest.raises(StateError, match="has no plan yet"):
        campaign.win_rates(some)
    judge_by_people(campaign, workplace, truth, max_human=10, audit=0, redundancy=1)
    with pytest.raises(StateError, match="people looked at none of the 20 pairs that the machine kept"):
        campaign.win_rates(some)
    with pytest.raises(StateError, match=r"87 pairs .* are not in the newest plan"):
        campaign.win_rates(pairs)
    with pytest.raises(FrameError, match="pairs have no column 'author'"):
        campaign.win_rates(some, "author")


def test_win_rates_by_hand() -> None:
    # Routed: a, b (mean .5 of 2). Kept: machine a, a, b, b; audited the first (people a) and the third (people a).
    # One label differs: cov(y, f) of (1, 1) is 0, so the machine is not used: kept mean 1, of 4.
    # (2 * .5 + 4 * 1) / 6 = 5/6; the machine alone says 3 of 6, the final labels a b a a a b: 4 of 6.
    found = win_rates(
        ["a", "b", "a", None, "a", None],
        ["a", "b", "a", "a", "b", "b"],
        ["m"] * 6,
        part=["people"] * 2 + ["kept"] * 4,
        instructions=list("uvwxyz"),
    )
    row = found.table.iloc[0]
    assert row["win_rate"] == pytest.approx(5 / 6)
    assert (row["machine"], row["final"]) == (0.5, pytest.approx(4 / 6))
    assert (row["pairs"], row["people"], row["audited"]) == (6, 4, 2)


def test_scores_of_ranks_have_the_mean_that_is_reported() -> None:
    from hmc_crowd.judges._win_rates import _corrected

    y = np.array([1.0, 0.0, 1.0, np.nan, 0.5, np.nan])
    f = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 0.0])
    part = np.array(["people"] * 2 + ["kept"] * 4, dtype=object)
    # Kept: .6 * (0 + 1 + 1 + 0) / 4 + ((1 - 0) + (.5 - .6)) / 2 = .3 + .45; routed .5.
    assert _corrected(y, f, part, 0.6).mean() == pytest.approx((2 * 0.5 + 4 * 0.75) / 6)


def test_a_model_whose_pairs_nobody_audited_has_no_rate() -> None:
    found = win_rates(
        ["a", "b", None, "a", None, None],
        ["a", "b", "a", "a", "b", "b"],
        ["m"] * 3 + ["n"] * 3,
        part=["kept"] * 3 + ["people"] + ["kept"] * 2,
        instructions=list("uvwuvw"),
    )
    assert found.table.set_index("model")["win_rate"].isna().to_dict() == {"m": False, "n": True}
    assert any(note.startswith("n: ") for note in found.notes)


def truth_and_machine(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A judge that favours a, and is unsure where it is wrong."""
    truth = rng.choice(["a", "b", "tie"], n, p=[0.35, 0.55, 0.1])
    wrong = rng.random(n) < 0.3
    machine = np.where(wrong, "a", truth)
    return truth, machine, np.where(wrong, rng.random(n), 0.3 + 0.7 * rng.random(n))


@pytest.mark.parametrize("n_runs", [150, pytest.param(1500, marks=pytest.mark.slow)])
def test_intervals_cover_where_the_final_labels_are_biased(n_runs: int) -> None:
    rng = np.random.default_rng(8)
    covered, final = 0, []
    for _ in range(n_runs):
        truth, machine, sure = truth_and_machine(rng, 300)
        order = np.argsort(sure)
        part = np.full(300, "kept", dtype=object)
        part[order[:100]] = "people"
        seen = part == "people"
        seen[rng.choice(order[100:], 60, replace=False)] = True
        row = win_rates(
            np.where(seen, truth, None).tolist(),
            machine.tolist(),
            ["m"] * 300,
            part=part.tolist(),
            instructions=[str(each) for each in range(300)],
        ).table.iloc[0]
        covered += row["low"] <= 0.40 <= row["high"]
        final.append(row["final"])
    assert np.mean(final) > 0.45  # the truth is .35 + .1 / 2 = .40
    error = 3 * (0.95 * 0.05 / n_runs) ** 0.5
    assert 0.95 - error <= covered / n_runs <= 0.95 + error + 0.01
