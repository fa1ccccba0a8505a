"""Blind and suggested answers, guidelines that change, experts who judge blind and then see the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd.campaign import Campaign
from hmc_crowd.errors import DuplicateError, InputError, StateError
from hmc_crowd.platform import Capabilities, RemoteAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NAMES = [f"i{n:02d}" for n in range(12)]
SPEND = {"redundancy": 2, "pay_minor": 100, "budget_minor": 100_000, "dry_run": False}


@pytest.fixture
def start(tmp_path: Path, clock: Any) -> Iterator[Callable[..., Campaign]]:
    made: list[Campaign] = []

    def make(**options: Any) -> Campaign:
        campaign = Campaign.create(
            tmp_path / f"c{len(made)}.db", labels=["kind", "rude"], seed=1, clock=clock, **options
        )
        made.append(campaign)
        campaign.add_items(pd.DataFrame({"item": NAMES, "text": "so it goes"}))
        campaign.add_predictions(pd.DataFrame({"item": NAMES, "label": "kind", "confidence": 0.8}))
        campaign.add_gold(pd.DataFrame({"item": NAMES[:4], "label": ["kind", "kind", "rude", "kind"]}))
        campaign.estimate_effort()
        campaign.plan(trade_off=0.0, max_human=4, audit=4)
        return campaign

    yield make
    for campaign in made:
        campaign.close()


def work(place: Any, clock: Any, label: Callable[[str, str, str], str], workers: tuple[str, ...]) -> None:
    """Let people answer every open HIT by the pages' own rules of who sees what."""
    from hmc_crowd_local._arms import mode_of

    key = place.secret("arms")
    for remote in place.find_all().values():
        hit = place.hit(remote.hit_id)
        for worker in workers:
            if not place.find(hit.key).is_open:
                break
            taken = place.accept(remote.hit_id, worker)
            answers = []
            for each in hit.items:
                mode = mode_of(key, hit, worker, each.item)
                said = label(worker, each.item, mode)
                now = clock.now()
                answers.append(RemoteAnswer(each.item, each.aspect, said, now, now, mode=mode))
            place.hand_in(taken.submission_id, worker, answers)


def test_blind_is_the_default_and_pages_get_no_suggestion(start: Any, workplace: Any) -> None:
    campaign = start()
    campaign.publish(workplace, **SPEND)
    for remote in workplace.find_all().values():
        hit = workplace.hit(remote.hit_id)
        assert hit.suggest_share == 0
        assert {each.suggestion for each in hit.items} == {""}


def test_labels_of_suggested_answers_say_so_and_never_certify(start: Any, workplace: Any, clock: Any) -> None:
    campaign = start(mode="suggest", suggest_share=0.5)
    campaign.publish(workplace, **SPEND)
    work(
        workplace, clock, lambda _w, item, mode: "kind" if mode == "suggest" or item > "i06" else "rude", ("ann", "bob")
    )
    campaign.collect(workplace)
    with campaign._context.store.read() as tx:
        answers = tx.work.answers(1)
    assert set(answers["mode"]) == {"blind", "suggest"}
    assert set(answers["suggestion"]) == {"kind"}
    campaign.aggregate()
    labels = campaign.labels().set_index("item")
    seen = set(answers.loc[answers["mode"] == "suggest", "task"])
    people = labels[labels["source"] == "crowd"]
    assert all((row.evidence == "people_suggested") == (item in seen) for item, row in people.iterrows())
    with pytest.raises(InputError, match=r"people_suggested.*blind_only"):
        campaign.certify()
    campaign.aggregate(blind_only=True)
    assert set(campaign.labels().query("source == 'crowd'")["evidence"]) == {"people_blind"}
    assert campaign.certify().audited >= 1
    (arms,) = campaign.status().arms
    assert arms.blind + arms.suggest == len(answers)
    assert arms.anchoring.details["agree_shown"] == 1.0
    assert "anchoring +" in str(arms)


def test_combined_confidence_is_learnt_on_gold_seen_with_a_suggestion(start: Any, workplace: Any, clock: Any) -> None:
    campaign = start(mode="suggest")
    plan = campaign.plan(trade_off=0.0, max_human=4, audit=4)
    assert any("certifies nothing" in note for note in plan.notes)
    campaign.publish(workplace, **SPEND)
    work(workplace, clock, lambda *_: "kind", ("ann", "bob"))
    campaign.collect(workplace)
    result = campaign.aggregate()
    (note,) = [each for each in result.notes if "machine and people together" in each]
    assert "known ones" in note
    people = campaign.labels().query("source == 'crowd'")
    assert people["confidence"].between(0.5, 1, inclusive="neither").all()
    with pytest.raises(StateError, match="given blind"):
        campaign.aggregate(blind_only=True)


def test_gold_checks_count_blind_answers_alone(start: Any, workplace: Any, clock: Any) -> None:
    campaign = start(mode="suggest")
    campaign.publish(workplace, **SPEND)
    work(workplace, clock, lambda *_: "kind", ("ann", "bob"))
    campaign.collect(workplace)
    with pytest.raises(StateError, match="given blind"):
        campaign.check_gold()


def test_calibration_and_gold_refuse_labels_that_saw_the_machine(start: Any) -> None:
    campaign = start()
    seen = pd.DataFrame({"item": ["i05"], "label": ["kind"], "evidence": ["people_suggested"]})
    with pytest.raises(InputError, match="people_suggested"):
        campaign.add_gold(seen)
    table = pd.DataFrame({"confidence": [0.5] * 30, "correct": [1, 0] * 15, "evidence": "expert_informed"})
    with pytest.raises(InputError, match=r"expert_informed.*calibrate"):
        campaign.calibrate(table)


def test_pages_without_suggestions_are_refused(start: Any, workplace: Any, monkeypatch: Any) -> None:
    campaign = start(mode="suggest")
    monkeypatch.setattr(type(workplace), "capabilities", Capabilities())
    with pytest.raises(InputError, match="cannot show the machine's suggestions"):
        campaign.publish(workplace, redundancy=2, pay_minor=100)


@pytest.mark.parametrize(
    "options", [{"mode": "shown"}, {"suggest_share": 0.5}, {"mode": "suggest", "suggest_share": 2}]
)
def test_wrong_modes_are_named(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"mode|suggest_share"):
        Campaign.create(tmp_path / "m.db", labels=["a", "b"], **options)


def test_a_changed_guideline_makes_answers_stale_and_asks_again(start: Any, workplace: Any, clock: Any) -> None:
    campaign = start()
    campaign.publish(workplace, **SPEND)
    work(workplace, clock, lambda *_: "kind", ("ann", "bob"))
    campaign.collect(workplace)
    campaign.aggregate()
    before = campaign.status()
    assert (before.stale, before.work_left) == (0, 0)
    changed = campaign.set_guideline("Rude is what hurts.", dry_run=False)
    assert (changed.version, changed.stale) == ("2", before.answers)
    after = campaign.status()
    assert (after.stale, after.next_step) == (before.answers, "plan")
    assert after.work_left == 8
    with pytest.raises(StateError, match="another guideline"):
        campaign.aggregate()
    assert campaign.aggregate(include_stale=True).answers == before.answers
    certified = campaign.certify()
    assert certified.pending + certified.audit_pending == 8

    # The same people are asked again, in the next round, under the new text.
    clock.advance(60)
    campaign.plan(trade_off=0.0, max_human=4, audit=4)
    known = set(workplace.find_all())
    campaign.publish(workplace, **SPEND)
    new = [remote for key, remote in workplace.find_all().items() if key not in known]
    assert {workplace.hit(each.hit_id).guideline for each in new} == {"Rude is what hurts."}
    work(workplace, clock, lambda *_: "rude", ("ann", "bob"))
    collected = campaign.collect(workplace)
    assert collected.repeated == 0
    done = campaign.aggregate()
    assert set(done.labels["label"]) == {"rude"}
    assert campaign.status().work_left == 0
    assert [each.version for each in campaign.guidelines()] == ["1", "2"]


def answered(campaign: Campaign, workplace: Any, clock: Any) -> Campaign:
    """Two people answered everything, and were paid a dollar each for a HIT."""
    campaign.publish(workplace, **SPEND)
    work(workplace, clock, lambda *_: "kind", ("ann", "bob"))
    campaign.collect(workplace)
    campaign.aggregate()
    return campaign


def test_a_dry_run_counts_stale_answers_and_their_money_and_changes_nothing(
    start: Any, workplace: Any, clock: Any
) -> None:
    campaign = answered(start(), workplace, clock)
    before = campaign.status()
    told = campaign.set_guideline("Rude is what hurts.")
    # Every answer goes, so all that was spent goes with them.
    assert (told.stale, told.stale_minor) == (before.answers, before.settled_minor + before.reserved_minor)
    assert told.dry_run
    assert "would count no more" in str(told)
    assert campaign.status().stale == 0
    assert len(campaign.guidelines()) == 1
    assert campaign.aggregate().answers == before.answers


def test_other_words_leave_every_answer_good_and_ask_nobody_again(start: Any, workplace: Any, clock: Any) -> None:
    campaign = answered(start(), workplace, clock)
    before = campaign.status()
    changed = campaign.set_guideline("Rude is what hurts.", wording=True, dry_run=False)
    assert (changed.stale, changed.wording) == (0, True)
    after = campaign.status()
    assert (after.stale, after.work_left, campaign.aspects[0].guideline) == (0, before.work_left, "Rude is what hurts.")
    assert campaign.aggregate().answers == before.answers
    # A wording of the wording is still the first meaning.
    campaign.set_guideline("What hurts is rude.", wording=True, dry_run=False)
    assert [each.meaning for each in campaign.guidelines()] == ["1", "1", "1"]
    assert campaign.status().stale == 0


def test_answers_from_places_of_the_old_wording_count_and_of_the_old_meaning_do_not(
    start: Any, workplace: Any, clock: Any
) -> None:
    campaign = start()
    campaign.publish(workplace, **SPEND)
    places = campaign.status().open_places
    told = campaign.set_guideline("Rude is what hurts.")
    assert (told.open_places, told.open_minor) == (places, campaign.status().reserved_minor)
    assert "stop" in str(told)
    campaign.set_guideline("Rude is what hurts.", wording=True, dry_run=False)
    assert campaign.set_guideline("Another.", wording=True).open_places == 0
    work(workplace, clock, lambda *_: "kind", ("ann",))
    campaign.collect(workplace)
    assert (campaign.status().answers > 0, campaign.status().stale) == (True, 0)
    campaign.set_guideline("Another.", dry_run=False)
    work(workplace, clock, lambda *_: "kind", ("bob",))
    campaign.collect(workplace)
    assert campaign.status().stale == campaign.status().answers


def test_an_earlier_guideline_comes_back_with_its_answers(start: Any, workplace: Any, clock: Any) -> None:
    campaign = answered(start(), workplace, clock)
    first = campaign.status().answers
    campaign.set_guideline("Rude is what hurts.", dry_run=False)
    clock.advance(60)
    campaign.plan(trade_off=0.0, max_human=4, audit=4)
    campaign.publish(workplace, **SPEND)
    work(workplace, clock, lambda *_: "rude", ("ann", "bob"))
    campaign.collect(workplace)
    second = campaign.status().answers - first
    told = campaign.use_guideline("1")
    assert (told.revived, told.stale, told.dry_run) == (first, second, True)
    campaign.use_guideline("1", dry_run=False)
    assert campaign.aspects[0].guideline == campaign.guidelines()[0].text
    assert campaign.status().stale == second
    done = campaign.aggregate()
    assert (done.answers, set(done.labels["label"])) == (first, {"kind"})
    # The text of an earlier version is no new version.
    with pytest.raises(InputError, match="guideline use 2"):
        campaign.set_guideline("Rude is what hurts.")
    with pytest.raises(InputError, match="'7'"):
        campaign.use_guideline("7")
    campaign.use_guideline("2", dry_run=False)
    assert set(campaign.aggregate().labels["label"]) == {"rude"}


def test_late_answers_count_again_with_their_guideline_whatever_was_said_meanwhile(
    start: Any, workplace: Any, clock: Any
) -> None:
    campaign = start()
    campaign.publish(workplace, **SPEND)
    campaign.set_guideline("Rude is what hurts.", dry_run=False)
    campaign.plan(trade_off=0.0, max_human=4, audit=4)
    campaign.publish(workplace, **SPEND)
    # Everybody meets the places of both versions, the old ones too.
    work(workplace, clock, lambda *_: "kind", ("ann", "bob"))
    assert campaign.collect(workplace).repeated == 0
    now = campaign.status()
    assert now.stale == now.answers / 2
    campaign.use_guideline("1", dry_run=False)
    assert campaign.status().stale == now.answers / 2
    assert campaign.status().work_left == 0


def test_guidelines_are_not_set_twice(start: Any) -> None:
    campaign = start()
    campaign.set_guideline("One.", version="a", dry_run=False)
    with pytest.raises(InputError, match="already"):
        campaign.set_guideline("One.", dry_run=False)
    with pytest.raises(DuplicateError, match="'a'"):
        campaign.set_guideline("Two.", version="a", dry_run=False)
    with pytest.raises(InputError, match="empty"):
        campaign.set_guideline("  ", dry_run=False)
    assert campaign.aspects[0].guideline == "One."


@pytest.fixture
def doubtful(start: Any, workplace: Any, clock: Any) -> Campaign:
    """Two people answered everything; they differ on half of it."""
    campaign: Campaign = start()
    campaign.publish(workplace, **SPEND)
    work(
        workplace, clock, lambda who, item, _m: "rude" if who == "ann" and int(item[1:]) % 2 else "kind", ("ann", "bob")
    )
    campaign.collect(workplace)
    campaign.aggregate(method="majority")
    return campaign


def test_an_expert_judges_blind_before_anything_is_revealed(doubtful: Campaign, clock: Any) -> None:
    waiting = doubtful.cases("eva")
    item = waiting["item"].iloc[0]
    assert waiting["tied"].iloc[0]
    blind = doubtful.case(item, "eva")
    assert (blind.crowd_label, blind.machine_label, blind.votes, blind.labels) == (None, None, (), ("kind", "rude"))
    with pytest.raises(StateError, match="blind"):
        doubtful.decide(item, "rude", expert="eva")
    shown = doubtful.judge(item, "rude", expert="eva")
    assert (shown.blind_label, shown.machine_label, dict(shown.votes)) == ("rude", "kind", {"kind": 1, "rude": 1})
    # Whoever asks again has seen what the others said: his first word stands.
    assert doubtful.judge(item, "kind", expert="eva").blind_label == "rude"
    assert doubtful.case(item, "max").blind_label is None
    kept = doubtful.decide(item, "rude", expert="eva")
    assert kept.evidence == "expert_blind"
    row = doubtful.labels().set_index("item").loc[item]
    assert (row["label"], row["source"], row["evidence"]) == ("rude", "expert", "expert_blind")
    assert item not in set(doubtful.cases("eva")["item"]) | set(doubtful.cases("max")["item"])
    assert "an expert decided" in doubtful.explain(item).why_final


def test_who_judges_again_holds_one_connection_at_a_time(doubtful: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    from hmc_crowd.campaign import _adjudicate

    item, held, pool = str(doubtful.cases("eva")["item"].iloc[0]), [], doubtful._context.store._engine.pool
    read = _adjudicate.open_case

    def seen(*given: Any, **named: Any) -> Any:
        held.append(pool.checkedout())  # type: ignore[attr-defined]
        return read(*given, **named)

    monkeypatch.setattr(_adjudicate, "open_case", seen)
    for label in ("rude", "kind"):
        assert doubtful.judge(item, label, expert="eva").blind_label == "rude"
    assert held == [0, 0]


def test_a_changed_mind_is_informed_and_the_certificate_counts_the_blind_label(doubtful: Campaign) -> None:
    item = doubtful.cases("eva")["item"].iloc[0]
    doubtful.judge(item, "rude", expert="eva")
    changed = doubtful.decide(item, "kind", expert="eva")
    assert (changed.evidence, changed.blind_label) == ("expert_informed", "rude")
    # It outlives the next aggregation, and nothing informed certifies.
    doubtful.aggregate(method="majority")
    row = doubtful.labels().set_index("item").loc[item]
    assert (row["label"], row["evidence"]) == ("kind", "expert_informed")
    assert doubtful.certify().audited >= 1


def test_confusion_counts_blind_labels_against_the_crowds(doubtful: Campaign) -> None:
    for item in doubtful.cases("eva")["item"]:
        crowd = doubtful.labels().set_index("item").loc[item, "label"]
        doubtful.judge(item, "rude", expert="eva")
        assert crowd in {"kind", "rude"}
    table = doubtful.confusion()
    assert table.index.tolist() == table.columns.tolist() == ["kind", "rude"]
    assert table.loc["rude"].sum() == 8
    assert table.loc["kind"].sum() == 0


def test_a_new_guideline_makes_expert_words_stale_too(doubtful: Campaign) -> None:
    item = doubtful.cases("eva")["item"].iloc[0]
    doubtful.judge(item, "rude", expert="eva")
    doubtful.decide(item, "rude", expert="eva")
    doubtful.set_guideline("Another.", dry_run=False)
    assert item in set(doubtful.cases("eva")["item"])
    assert doubtful.case(item, "eva").blind_label is None
    assert doubtful.judge(item, "kind", expert="eva").blind_label == "kind"
    # Her first word is kept with the first guideline, and comes back with it.
    doubtful.use_guideline("1", dry_run=False)
    assert doubtful.case(item, "eva").blind_label == "rude"
    labels = doubtful.labels().set_index("item")
    assert labels.loc[item, ["label", "source"]].tolist() == ["rude", "expert"]
