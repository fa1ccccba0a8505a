"""Standing, tests, alerts, gates and experts of a campaign that people work on."""

from __future__ import annotations

import logging
import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.campaign import Campaign
from hmc_crowd.errors import DuplicateError, InfeasibleError, InputError, StateError
from hmc_crowd.platform import RemoteAnswer, find_platform
from hmc_crowd.quality import AlertRule, ConsensusGate, Expert, QualificationTest, Quota

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ITEMS = [f"i{n:02d}" for n in range(40)]
TRUTH = {name: "kind" if n % 3 else "rude" for n, name in enumerate(ITEMS)}
GOLD = ITEMS[:16]
SPEND = {"redundancy": 3, "pay_minor": 100, "budget_minor": 1_000_000, "gold_share": 0.4, "dry_run": False}
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def other(label: str) -> str:
    return "rude" if label == "kind" else "kind"


def build(folder: Path, clock: Any, *, gold: bool = True) -> Campaign:
    made = Campaign.create(folder / "c.db", labels=["kind", "rude"], seed=1, clock=clock)
    texts = [f"So it goes, {'again and ' * (n % 7)}again." for n in range(40)]
    made.add_items(pd.DataFrame({"item": ITEMS, "text": texts, "complexity": [n / 40 for n in range(40)]}))
    made.add_predictions(pd.DataFrame({"item": ITEMS, "label": "kind", "confidence": 0.8}))
    if gold:
        made.add_gold(pd.DataFrame({"item": GOLD, "label": [TRUTH[name] for name in GOLD]}))
    made.estimate_effort()
    made.plan(trade_off=0.0, max_human=24, audit=0)
    return made


@pytest.fixture
def campaign(tmp_path: Path, clock: Any) -> Iterator[Campaign]:
    """A planned campaign that nobody has worked on."""
    with build(tmp_path, clock) as made:
        yield made


@pytest.fixture(scope="session")
def plays(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Play a campaign once for each crowd; a copy is quicker than playing it."""
    made: dict[str, Path] = {}

    def play(says: Callable[[str, str, int], str], workers: tuple[str, ...]) -> Path:
        if says.__name__ not in made:
            folder = made[says.__name__] = tmp_path_factory.mktemp("played")
            clock = VirtualClock(START)
            place: Any = find_platform("local", str(folder / "workplace.db"), clock=clock)
            with build(folder, clock) as campaign:
                work(campaign, place, clock, says, workers)
                campaign.aggregate()
            place.close()
        return made[says.__name__]

    return play


@pytest.fixture
def played(plays: Any, tmp_path: Path, clock: Any) -> Iterator[Callable[..., tuple[Campaign, Any]]]:
    """Return a played campaign and its workplace, two days later."""
    open_: list[Any] = []
    clock.advance((START - clock.now()).total_seconds() + 2 * 24 * 3600)

    def give(says: Callable[[str, str, int], str], *workers: str) -> tuple[Campaign, Any]:
        folder = shutil.copytree(plays(says, workers), tmp_path / "copy")
        open_.append(find_platform("local", str(folder / "workplace.db"), clock=clock))
        open_.append(Campaign.open(folder / "c.db", clock=clock))
        return open_[1], open_[0]

    yield give
    for each in reversed(open_):
        each.close()


def work(
    campaign: Campaign, place: Any, clock: Any, says: Callable[[str, str, int], str], workers: tuple[str, ...]
) -> None:
    """Let each worker take one place of every HIT, a day apart; ``says(worker, item, day)``."""
    campaign.publish(place, **{**SPEND, "redundancy": len(workers)}, target_minutes=0.7)
    for day, remote in enumerate(place.find_all().values()):
        hit = place.hit(remote.hit_id)
        clock.advance(4 * 3600)
        for worker in workers:
            taken = place.accept(remote.hit_id, worker)
            now = clock.now()
            said = [RemoteAnswer(each.item, each.aspect, says(worker, each.item, day), now, now) for each in hit.items]
            place.hand_in(taken.submission_id, worker, said)
    campaign.collect(place)


def honest(_worker: str, item: str, _day: int) -> str:
    return TRUTH[item]


def one_is_bad(worker: str, item: str, _day: int) -> str:
    return other(TRUTH[item]) if worker == "bad" else TRUTH[item]


def undecided(worker: str, item: str, _day: int) -> str:
    """Everybody is right on gold; on every second other item one of three is not."""
    wrong = item not in GOLD and worker == "cy" and int(item[1:]) % 2
    return other(TRUTH[item]) if wrong else TRUTH[item]


def misled(_worker: str, item: str, _day: int) -> str:
    return other(TRUTH[item]) if item == GOLD[3] else TRUTH[item]


def names(campaign: Campaign, place: Any) -> dict[str, str]:
    with campaign._context.store.read() as tx:
        return tx.workers.known(place.name)


def test_quality_comes_with_its_interval_and_its_source(played: Any) -> None:
    campaign, workplace = played(one_is_bad, "ann", "bob", "bad")
    found = campaign.check_quality()
    table, who = found.workers.set_index("worker"), names(campaign, workplace)
    assert set(table["source"]) == {"gold"}
    assert table.loc[who["bad"], "high"] < table.loc[who["ann"], "low"]
    assert (table["low"] < table["quality"]).all()
    assert (table["quality"] < table["high"]).all()
    assert table["left_out"].isna().all()
    assert str(found).startswith("3 workers, 3 of them met gold")
    assert found.repeated_gold == 0


def test_without_gold_quality_is_unknown_not_bad(tmp_path: Path, workplace: Any, clock: Any) -> None:
    with build(tmp_path, clock, gold=False) as campaign:
        work(campaign, workplace, clock, honest, ("ann",))
        found = campaign.check_quality()
        assert set(found.workers["source"]) == {"unknown"}
        assert found.workers["quality"].isna().all()
        assert "no gold" in found.notes[0]
        assert campaign.check_alerts().lasting == ()


def test_gold_that_good_workers_miss_is_a_suspect(played: Any) -> None:
    campaign, _ = played(misled, "ann", "bob", "cy")
    found = campaign.check_quality()
    # Each of ann, bob and cy is right on all other gold, and misses this one.
    assert GOLD[3] in set(campaign.gold_exposures()["item"])
    assert found.suspects[["item", "aspect", "good_n", "good_right"]].values.tolist() == [[GOLD[3], "label", 3, 0]]


def test_gold_exposures_are_of_whoever_took_the_hit(played: Any) -> None:
    campaign, workplace = played(undecided, "ann", "bob", "cy")
    met, who = campaign.gold_exposures(), names(campaign, workplace)
    with campaign._context.store.read() as tx:
        shown = {each.item for hit in tx.work.hits(1) for each in hit.items if each.is_gold}
    assert shown
    assert set(zip(met["item"], met["worker"], strict=True)) == {(item, who[w]) for item in shown for w in who}
    assert met["first_at"].notna().all()


def test_drift_is_found_once_and_dated(played: Any, clock: Any) -> None:
    campaign, workplace = played(undecided, "ann", "bob", "cy")
    who = names(campaign, workplace)
    # A long history of gold, as many rounds would bring it: ann falls after 60 answers.
    _history(campaign, clock, who["ann"], [True] * 60 + [False] * 20)
    _history(campaign, clock, who["bob"], [True] * 80)
    found = campaign.check_quality()
    assert found.new_alarms >= 1
    assert set(found.drift["worker"]) == {who["ann"]}
    assert found.drift["answers"].min() > 60
    again = campaign.check_quality()
    assert again.new_alarms == 0
    assert len(again.drift) == len(found.drift)
    assert [each.rule for each in campaign.check_alerts().lasting] == ["drift"]
    clock.advance(8 * 24 * 3600)
    (over,) = campaign.check_alerts().notices
    assert (over.kind, over.subject) == ("recovery", who["ann"])


def _history(campaign: Campaign, clock: Any, worker: str, right: list[bool]) -> None:
    """Write gold answers of a worker, an hour apart, under an aspect's own items."""
    import sqlalchemy as sa

    from hmc_crowd.store._tables import Answer, Gold, Submission

    with campaign._context.store.begin() as tx:
        session = tx.work._session
        row = session.one(sa.select(Submission.id).where(Submission.worker == worker).limit(1))
        start = clock.now() - timedelta(hours=len(right))
        for n, good in enumerate(right):
            item = f"{worker}{n}"
            session.run(
                sa.insert(Gold.table()),
                {"campaign_id": 1, "aspect": "label", "item": item, "label": "kind"} | _seq(Gold),
            )
            at = start + timedelta(hours=n)
            answer = {"submission": row.id, "item": item, "aspect": "label", "campaign_id": 1, "round": 1}
            answer |= {"worker": worker, "label": "kind" if good else "rude", "started": at, "submitted": at}
            session.run(sa.insert(Answer.table()), answer | {"mode": "blind", "retest": 0})


def _seq(model: Any) -> dict[str, Any]:
    return {"seq": 0} if "seq" in model.table().c else {}


def test_approval_ranks_are_as_of_a_moment(played: Any, clock: Any) -> None:
    campaign, workplace = played(undecided, "ann", "bob", "cy")
    before = clock.now()
    clock.advance(60)
    campaign.approve(workplace, budget_minor=1_000_000, dry_run=False, by="eva")
    clock.advance(60)
    assert set(campaign.approval_ranking(as_of=before)["source"]) == {"unknown"}
    now = campaign.approval_ranking()
    assert set(now["source"]) == {"ours"}
    assert (now["rate"] == 1.0).all()
    rates = pd.DataFrame({"worker": ["ann", "bob"], "rate": ["95% (19/20)", "0% (0/0)"]})
    assert campaign.add_approval_rates(rates, platform="local") == 2
    assert campaign.add_approval_rates(rates, platform="local") == 0
    clock.advance(60)
    read = campaign.approval_ranking().set_index("worker")
    who = names(campaign, workplace)
    assert read.loc[who["ann"], ["rate", "source"]].tolist() == [0.95, "platform"]
    assert read.loc[who["bob"], "source"] == "ours"
    with pytest.raises(InputError, match=r"no share of approved work: row 0 \(1\.5\)"):
        campaign.add_approval_rates(pd.DataFrame({"worker": ["ann"], "rate": [1.5]}), platform="local", at=before)


def test_tests_have_versions_attempts_and_a_delay(campaign: Campaign, clock: Any) -> None:
    key = {f"q{n}": "kind" for n in range(10)}
    test = QualificationTest("tone", 1, key, attempts=2, delay_s=3600)
    campaign.add_test(test)
    campaign.add_test(test)
    with pytest.raises(DuplicateError, match="a version never changes"):
        campaign.add_test(QualificationTest("tone", 1, key, attempts=3))
    failed = campaign.take_test("tone", "ann", {**key, "q0": "rude", "q1": "rude"}, platform="local")
    assert (failed.right, failed.passed) == (8, False)
    with pytest.raises(StateError, match="the next attempt is from"):
        campaign.take_test("tone", "ann", key, platform="local")
    clock.advance(3600)
    passed = campaign.take_test("tone", "ann", key, platform="local")
    assert (passed.number, passed.passed) == (2, True)
    assert campaign.qualified("tone") == [passed.worker]
    assert [each.number for each in campaign.test_attempts("tone")] == [1, 2]
    campaign.add_test(QualificationTest("tone", 2, {**key, "q0": "rude"}))
    assert campaign.qualified("tone") == []
    assert campaign.qualified("tone", also=(1,)) == [passed.worker]
    with pytest.raises(StateError, match="no test 'other'"):
        campaign.qualified("other")


def test_a_platform_is_told_who_is_qualified(campaign: Campaign, workplace: Any) -> None:
    told: dict[str, dict[str, int]] = {}

    class Platform:
        name = "local"

        def sync_qualification(self, name: str, description: str, scores: dict[str, int]) -> tuple[str, int]:
            told[name] = dict(scores)
            return "Q1", len(scores)

    campaign.add_test(QualificationTest("tone", 3, {"q": "kind", "r": "rude"}, pass_share=0.5))
    campaign.take_test("tone", "ann", {"q": "kind"}, platform="local")
    campaign.take_test("tone", "bob", {}, platform="local")
    done: Any = Platform()
    found = campaign.sync_test(done, "tone")
    assert (found.id, found.qualified, found.changed) == ("Q1", 1, 1)
    # Its name there has our campaign in it, too.
    assert [(name[:11], scores) for name, scores in told.items()] == [("hmc tone v3", {"ann": 50})]
    with pytest.raises(InputError, match="keeps no qualifications"):
        campaign.sync_test(workplace, "tone")


def test_an_alert_is_said_once_and_its_end_too(played: Any, caplog: pytest.LogCaptureFixture) -> None:
    campaign, _ = played(undecided, "ann", "bob", "cy")
    campaign.set_fair_pay(10**6)
    with campaign._context.store.begin() as tx:
        tx.hooks.subscribe(1, "https://example.org/hook", ["alert"], by="eva")
    with campaign._context.store.begin() as tx:
        import sqlalchemy as sa

        # A minute's work needs a minute on the clock: begun that much earlier.
        begun = "strftime('%Y-%m-%d %H:%M:%f000', accepted_at, '-60 seconds')"
        tx.work._session.run(sa.text(f"UPDATE submission SET active_s = 60.0, accepted_at = {begun}"))
    with caplog.at_level(logging.INFO, "hmc_crowd.alerts"):
        first, second = campaign.check_alerts(), campaign.check_alerts()
    assert [(each.kind, each.rule) for each in first.notices] == [("alert", "underpayment")]
    assert second.notices == ()
    assert [each.rule for each in second.lasting] == ["underpayment"]
    assert len([each for each in caplog.records if "underpayment" in each.getMessage()]) == 1
    campaign.set_fair_pay(1)
    assert [each.kind for each in campaign.check_alerts().notices] == ["recovery"]
    lasting, said = campaign.alerts()
    assert lasting == ()
    assert [each.kind for each in said] == ["recovery", "alert"]
    with campaign._context.store.read() as tx:
        assert [each.event for each in tx.hooks.deliveries(1)] == ["alert", "alert"]


def test_rules_of_its_own_take_the_place_of_the_usual_ones(played: Any) -> None:
    campaign, workplace = played(one_is_bad, "ann", "bob", "bad")
    own = AlertRule("half", "quality", 0.5, "below")
    assert campaign.set_alert_rules([own]) == (own,)
    assert campaign.alert_rules() == (own,)
    assert [each.subject for each in campaign.check_alerts().lasting] == [names(campaign, workplace)["bad"]]
    with pytest.raises(InputError, match="figure is 'moon'"):
        campaign.set_alert_rules([AlertRule("x", "moon", 1, "above")])
    with pytest.raises(InputError, match="twice"):
        campaign.set_alert_rules([own, own])
    assert len(campaign.set_alert_rules(None)) > 1


@pytest.fixture
def judged(played: Any) -> Campaign:
    """A campaign with labels: of twelve of 24 items one of three people says something else."""
    campaign: Campaign = played(undecided, "ann", "bob", "cy")[0]
    return campaign


def test_a_gate_keeps_every_decision_with_its_policy(judged: Campaign) -> None:
    found = judged.gate("consensus", agreement=0.9)
    split = [name for name in ITEMS[16:] if int(name[1:]) % 2]
    assert (found.items, found.experts) == (24, len(split))
    kept = judged.decisions()
    assert set(kept.loc[kept["decision"] == "expert", "item"]) == set(split)
    assert set(kept["policy_version"]) == {ConsensusGate(agreement=0.9).version}
    assert set(kept["decider"]) == {"gate"}
    judged.gate("weighted")
    assert len(judged.decisions()) == 48
    assert len(judged.decisions(newest=True)) == 24


@pytest.mark.parametrize("gate", ["rules", "weighted", "posterior", "ml"])
def test_every_gate_decides_every_item_or_sends_it_on(judged: Campaign, gate: str) -> None:
    found = judged.gate(gate)
    assert found.items == 24
    assert sum(found.reasons.values()) == 24
    if gate in {"posterior", "ml"}:
        # 16 known items, all answered rightly, teach nobody what a wrong label looks like.
        assert found.experts == 24
        assert found.notes


def test_rules_read_what_is_known_of_the_items(judged: Campaign) -> None:
    found = judged.gate("rules", items=pd.DataFrame({"item": [ITEMS[20]], "risk": ["high"]}))
    # One is risky; of all others the risk is not known, which is as good as risky.
    assert found.reasons == {"high_risk": 1, "unknown_risk": 23}
    empty = judged.gate("rules", items=pd.DataFrame({"item": ITEMS[20:22], "risk": ["high", ""]}))
    assert empty.reasons == found.reasons
    # Complexity is n / 40: above .8 from 33 on.
    assert judged.gate("rules").reasons["complex"] == 7


def test_a_gate_without_answers_or_of_no_name_is_refused(campaign: Campaign) -> None:
    with pytest.raises(StateError, match="nobody has answered"):
        campaign.gate()


def test_wrong_gates_and_settings_are_named(judged: Campaign) -> None:
    with pytest.raises(InputError, match="gate is 'magic'"):
        judged.gate("magic")
    with pytest.raises(InputError, match="has no setting 'moon'"):
        judged.gate("consensus", moon=1)
    with pytest.raises(InputError, match=r"quality is 1\.5"):
        judged.gate("rules", quality=1.5)
    with pytest.raises(InputError, match="settings of a gate by name"):
        judged.gate(ConsensusGate(), at_least=2)


def test_experts_get_what_the_gate_sent_and_their_pages_show_that_alone(judged: Campaign) -> None:
    with pytest.raises(StateError, match="no gate has decided"):
        judged.assign_experts([Expert("eva")])
    assert len(judged.cases("eva")) == 24
    judged.gate("consensus", agreement=0.9)
    assert len(judged.cases("eva")) == 12
    # The hardest of the items are for the third tier.
    low = judged.assign_experts([Expert("eva"), Expert("max")])
    assert (low.given, low.queued) == (0, 12)
    done = judged.assign_experts([Expert("eva", per_hour=8, tier=3), Expert("max", per_hour=3, tier=3)])
    assert (done.given, done.queued, done.kept) == (11, 1, 0)
    mine = judged.assignments().query("expert == 'eva'")
    # What nobody has is everybody's; what max has is not eva's.
    assert judged.cases("eva")["item"].tolist()[:8] == mine["item"].tolist()
    assert len(judged.cases("eva")) == 9
    again = judged.assign_experts([Expert("eva", per_hour=9, tier=3), Expert("max", per_hour=3, tier=3)])
    assert (again.given, again.queued, again.kept) == (1, 0, 11)


def test_an_expert_s_word_settles_the_item_and_is_a_decision(judged: Campaign) -> None:
    judged.gate("consensus", agreement=0.9)
    judged.assign_experts([Expert("eva", tier=3)])
    item = judged.cases("eva")["item"].iloc[0]
    judged.judge(item, "rude", expert="eva")
    judged.decide(item, "rude", expert="eva")
    last = judged.decisions(newest=True).set_index("item").loc[item]
    assert (last["decision"], last["decider"], last["decided_by"]) == ("decided", "person", "eva")
    assert last["reason_code"] == "expert_blind"
    assert item not in set(judged.assignments()["item"]) | set(judged.cases("max")["item"])
    again = judged.gate("consensus", agreement=0.9)
    assert again.items == 23


def test_keys_name_the_experts_and_their_pools(judged: Campaign, clock: Any) -> None:
    judged.add_pool("seniors", kind="tier3", pay_form="per_hour", price_minor=15_000, capacity_per_hour=5)
    judged.add_pool("juniors", kind="tier1", pay_form="per_hour", price_minor=3_000, capacity_per_hour=50)
    with judged._context.store.begin() as tx:
        old, _ = tx.keys.issue("expert", label="old", skills=["pool:Seniors", "law"])
        young, _ = tx.keys.issue("expert", label="young", skills=["pool:juniors"])
        tx.keys.issue("owner", label="owner")
    judged.gate("consensus", agreement=0.9)
    known = pd.DataFrame({"item": ITEMS, "risk": ["high" if n >= 30 else "low" for n in range(40)], "complexity": 0.1})
    done = judged.assign_experts(items=known)
    given = judged.assignments().set_index("item")
    assert set(given.loc[given["tier"] == 3, "expert"]) == {old.id}
    assert set(given["expert"]) == {old.id, young.id}
    assert done.queued == 0
    # With shifts only who is at work has room.
    judged.add_shift("seniors", clock.now() + timedelta(hours=5), clock.now() + timedelta(hours=6))
    anew = judged.assign_experts(items=known, anew=True)
    assert anew.queued == 5
    assert "wait for a person's review" in anew.notes[0]


def test_an_empty_pool_of_experts_leaves_everything_waiting(judged: Campaign) -> None:
    judged.gate("consensus", agreement=0.9)
    done = judged.assign_experts()
    assert (done.given, done.queued) == (0, 12)
    assert "there is no expert" in done.notes[-1]


class LetsIn:
    """A platform that lets in whom it is told of."""

    name = "elsewhere"

    def __init__(self) -> None:
        self.told: dict[str, set[str]] = {}

    def sync_qualification(self, name: str, _description: str, scores: dict[str, int]) -> tuple[str, int]:
        self.told[name] = set(scores)
        return "G1", len(scores)


def test_a_mixed_panel_is_drawn_and_alone_let_in(campaign: Campaign) -> None:
    people = pd.DataFrame({"worker": [f"p{n:02d}" for n in range(40)], "region": ["north"] * 32 + ["south"] * 8})
    place: Any = LetsIn()
    quota = [Quota("region", {"south": 0.3})]
    panel = campaign.draw_panel(people, quota, 20, platform=place)
    assert (panel.feasible, panel.id, len(panel.workers)) == (True, "G1", 20)
    ((name, told),) = place.told.items()
    assert (name[:15], told) == ("hmc panel panel", set(panel.workers))
    # 30% of 20 are six, at least.
    assert sum(each >= "p32" for each in panel.workers) >= 6
    assert campaign.draw_panel(people, quota, 20).workers == panel.workers


def test_an_impossible_quota_is_named_and_nobody_is_let_in(campaign: Campaign, workplace: Any) -> None:
    people = pd.DataFrame({"worker": [f"p{n:02d}" for n in range(40)], "region": ["north"] * 38 + ["south"] * 2})
    place: Any = LetsIn()
    quota = [Quota("region", {"south": 0.5})]
    with pytest.raises(InfeasibleError, match="region south has 2 of the 10 asked for"):
        campaign.draw_panel(people, quota, 20, platform=place)
    assert place.told == {}
    assert not campaign.draw_panel(people, quota, 20, platform=place, short=True).feasible
    assert len(place.told) == 1
    with pytest.raises(InputError, match="invite who is drawn to a pool"):
        campaign.draw_panel(people, quota, 20, platform=workplace)


def test_the_effort_model_sees_no_rank_from_after_the_work(played: Any, clock: Any) -> None:
    from hmc_crowd.campaign._timed import timed_rows

    def ranks() -> pd.Series[float]:
        with campaign._context.store.read() as tx:
            frame = timed_rows(campaign._context, tx, per="item", cut_off=False).frame
        return frame["approval_ranking"]

    campaign, workplace = played(undecided, "ann", "bob", "cy")
    campaign.approve(workplace, budget_minor=1_000_000, dry_run=False, by="eva")
    # All work was handed in before anybody reviewed any of it.
    assert ranks().isna().all()
    rates = pd.DataFrame({"worker": ["ann", "bob"], "rate": [0.99, 0.8]})
    campaign.add_approval_rates(rates, platform="local", at=clock.now())
    assert ranks().isna().all()
    campaign.add_approval_rates(rates, platform="local", at=START)
    # The better of two has rank 1 of 2, counted from below; nothing is known of cy.
    assert set(ranks().dropna()) == {1.0, 0.5}
    assert ranks().isna().mean() == pytest.approx(1 / 3)
