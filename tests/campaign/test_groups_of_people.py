"""What workers said of themselves is kept with care, and groups of them are compared on the same items."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.campaign import Aspect, Campaign
from hmc_crowd.campaign._pseudonyms import pseudonyms
from hmc_crowd.errors import FrameError, InputError, StateError
from hmc_crowd.platform import RemoteAnswer, find_platform
from hmc_crowd.store import HitItemRecord, HitRecord, SubmissionRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ITEMS = [f"i{n:02d}" for n in range(30)]
GOLD = ITEMS[:8]
WORKERS = [f"p{n:02d}" for n in range(17)]
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


def region(worker: str) -> str:
    """Eight of the north, seven of the south, two of Zembla."""
    number = WORKERS.index(worker)
    return "North" if number < 8 else "South" if number < 15 else "Zembla"


def export(workers: list[str] = WORKERS, **columns: Any) -> pd.DataFrame:
    """What Prolific gives out of people."""
    frame = pd.DataFrame({"Participant id": workers, "Submission id": [f"s{n}" for n in range(len(workers))]})
    made = {"Age": [str(20 + n) for n in range(len(workers))], "Country of residence": [region(w) for w in workers]}
    return frame.assign(**{**made, "Total approvals": range(len(workers)), **columns})


def says(worker: str, item: str, rng: np.random.Generator) -> str:
    """People of the north see rudeness in half of the items, where others see a fifth."""
    rude = 0.55 if region(worker) == "North" else 0.15
    return ("kind" if int(item[1:]) % 2 else "rude") if item in GOLD else "rude" if rng.random() < rude else "kind"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign in which everybody answered everything."""
    folder, clock, rng = tmp_path_factory.mktemp("groups"), VirtualClock(START), np.random.default_rng(1)
    place: Any = find_platform("local", str(folder / "workplace.db"), clock=clock)
    with build(folder, clock) as campaign:
        spend = {"redundancy": len(WORKERS), "pay_minor": 100, "budget_minor": 1_000_000, "gold_share": 0.25}
        campaign.publish(place, target_minutes=60, dry_run=False, **spend)
        for remote in place.find_all().values():
            hit = place.hit(remote.hit_id)
            clock.advance(3600)
            for worker in WORKERS:
                taken = place.accept(remote.hit_id, worker)
                now = clock.now()
                told = [
                    RemoteAnswer(each.item, each.aspect, says(worker, each.item, rng), now, now) for each in hit.items
                ]
                place.hand_in(taken.submission_id, worker, told)
        campaign.collect(place)
        campaign.aggregate()
    place.close()
    return folder


def build(folder: Path, clock: Any) -> Campaign:
    made = Campaign.create(folder / "c.db", labels=["kind", "rude"], seed=1, clock=clock)
    made.add_items(pd.DataFrame({"item": ITEMS, "text": "So it goes, again and again."}))
    made.add_predictions(pd.DataFrame({"item": ITEMS, "label": "kind", "confidence": 0.7}))
    made.add_gold(pd.DataFrame({"item": GOLD, "label": ["kind" if int(each[1:]) % 2 else "rude" for each in GOLD]}))
    made.estimate_effort()
    made.plan(trade_off=0.0, max_human=22, audit=0)
    return made


@pytest.fixture
def played(once: Path, tmp_path: Path) -> Iterator[Campaign]:
    folder = shutil.copytree(once, tmp_path / "copy")
    with Campaign.open(folder / "c.db", clock=VirtualClock(START + timedelta(days=2))) as campaign:
        yield campaign


@pytest.fixture
def fresh(tmp_path: Path, clock: VirtualClock) -> Iterator[Campaign]:
    """A campaign that nobody has worked on."""
    with Campaign.create(tmp_path / "fresh.db", labels=["kind", "rude"], seed=1, clock=clock) as campaign:
        yield campaign


def test_prolifics_export_is_kept_by_pseudonym_and_ages_are_cut(fresh: Campaign) -> None:
    kept = fresh.add_worker_traits(export(), platform="prolific")
    assert (kept.people, kept.attributes, kept.changed) == (17, ("country_of_residence", "age_group"), 34)
    assert kept.left_out == ("Submission id", "Total approvals")
    held = fresh.worker_traits()
    assert set(held.loc[held["attribute"] == "age_group", "value"]) == {"18-25", "26-35", "36-45"}
    assert held["worker"].str.startswith("w").all()
    assert not set(held["worker"]) & set(WORKERS)
    # Nobody's id is stored because of it.
    with fresh._context.store.read() as tx:
        assert tx.workers.known("prolific") == {}


def test_the_same_file_again_changes_nothing(fresh: Campaign) -> None:
    fresh.add_worker_traits(export(), platform="prolific")
    held = fresh.worker_traits()
    again = fresh.add_worker_traits(export(), platform="prolific")
    assert again.changed == 0
    pd.testing.assert_frame_equal(fresh.worker_traits(), held)
    moved = export(["p00"], **{"Country of residence": ["South"]})
    assert fresh.add_worker_traits(moved, platform="prolific").changed == 1


def test_what_is_taken_back_is_erased_and_what_expired_stays(fresh: Campaign) -> None:
    fresh.add_worker_traits(export(), platform="prolific")
    later = export(["p00", "p01"], **{"Country of residence": ["CONSENT_REVOKED", "DATA_EXPIRED"]})
    later["Age"] = ["CONSENT_REVOKED", ""]
    kept = fresh.add_worker_traits(later, platform="prolific")
    assert (kept.people, kept.changed, kept.withdrawn) == (0, 0, 2)
    assert fresh.worker_traits("country_of_residence").shape[0] == 16
    assert fresh.worker_traits("age_group").shape[0] == 16


def test_taking_back_counts_before_another_row(fresh: Campaign) -> None:
    fresh.add_worker_traits(export(), platform="prolific")
    twice = export(["p00", "p00"], **{"Country of residence": ["North", "CONSENT_REVOKED"], "Age": ["20", "20"]})
    assert fresh.add_worker_traits(twice, platform="prolific").withdrawn == 1
    assert fresh.worker_traits("country_of_residence").shape[0] == 16


def test_only_what_is_named_is_kept_under_its_name(fresh: Campaign) -> None:
    fresh.add_worker_traits(export(), platform="prolific", attributes={"Country of residence": "region"})
    assert set(fresh.worker_traits()["attribute"]) == {"region"}


@pytest.mark.parametrize(
    ("columns", "attributes", "error", "says"),
    [
        ({"Email": "a@b.c"}, ["Email"], InputError, "'Email' points at single people"),
        ({}, ["Submission id"], InputError, "points at single people"),
        ({"contact": "ann@example.org"}, ["contact"], InputError, "addresses or free text"),
        ({"score": range(17)}, ["score"], InputError, "17 different numbers"),
        ({}, ["Total approvals"], InputError, "17 different numbers"),
        ({"Age": "17"}, None, InputError, "under 18"),
        ({"Age": ["old", *range(20, 36)]}, None, FrameError, "the age 'old' is no age"),
        ({}, ["Sex"], FrameError, "lack the column Sex"),
        ({}, "Age", InputError, "give a list of columns"),
        ({}, [], InputError, "attributes is empty"),
        ({"age_group": "46+"}, ["Age", "age_group"], InputError, "the same thing twice"),
    ],
)
def test_what_points_at_people_or_is_none_is_refused_whole(
    fresh: Campaign, columns: dict[str, Any], attributes: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        fresh.add_worker_traits(export(**columns), platform="prolific", attributes=attributes)
    assert fresh.worker_traits().empty


def test_nearly_one_value_for_each_is_refused(fresh: Campaign) -> None:
    people = [f"q{n:02d}" for n in range(30)]
    frame = pd.DataFrame({"worker": people, "town": [f"Town {chr(65 + n)}" for n in range(26)] + ["Town A"] * 4})
    with pytest.raises(InputError, match="26 values for 30 people"):
        fresh.add_worker_traits(frame, platform="local", attributes=["town"])


def test_two_values_of_one_worker_are_refused_without_naming_the_worker(fresh: Campaign) -> None:
    twice = export(["p00", "p00"], **{"Country of residence": ["North", "South"]})
    with pytest.raises(FrameError, match="give 1 workers more than one country_of_residence") as refused:
        fresh.add_worker_traits(twice, platform="prolific")
    assert "p00" not in str(refused.value)


def test_a_table_without_workers_or_platform_is_refused(fresh: Campaign) -> None:
    with pytest.raises(FrameError, match="lack the column worker"):
        fresh.add_worker_traits(pd.DataFrame({"Age": [30]}), platform="prolific")
    with pytest.raises(InputError, match="platform is empty"):
        fresh.add_worker_traits(export(), platform=" ")


def test_a_group_that_judges_otherwise_is_found_and_the_small_one_hidden(played: Campaign) -> None:
    played.add_worker_traits(export(), platform="local")
    found = played.compare_groups("country_of_residence")
    assert found.groups["group"].tolist() == ["North", "South"]
    assert found.groups["people"].tolist() == [8, 7]
    assert found.groups["quality"].notna().all()
    row = found.labels.set_index(["group", "label"]).loc[("North", "rude")]
    assert row["differs"]
    assert 0.15 < row["difference"] < 0.5
    assert found.findings[0].startswith("North say 'rude' more often than others of the same items")
    # Everybody knows the gold.
    assert not found.accuracy["differs"].any()
    assert found.accuracy["share"].tolist() == [1.0, 1.0]
    assert "Zembla" not in json.dumps([found.notes, found.findings])


def test_who_is_left_out_counts_for_gold_alone(played: Campaign) -> None:
    played.add_worker_traits(export(), platform="local")
    with played._context.store.begin() as tx:
        work = tx.work.submissions(played._context.campaign_id)
        who = tx.workers.known("local")["p00"]
        ids = work.loc[work["worker"] == who, "submission_id"].tolist()
        tx.work.exclude(played._context.campaign_id, ids, "a test")
    found = played.compare_groups("country_of_residence")
    assert found.groups.set_index("group").loc["North", "people"] == 7
    assert found.accuracy.set_index("group").loc["North", "people"] == 8


def test_what_cannot_be_compared_is_one_sentence(played: Campaign, fresh: Campaign) -> None:
    with pytest.raises(InputError, match="nobody's is stored, there are: none yet"):
        played.compare_groups("age_group")
    played.add_worker_traits(export(), platform="local")
    with pytest.raises(InputError, match="there are: age_group, country_of_residence"):
        played.compare_groups("sex")
    with pytest.raises(InputError, match="level is 95"):
        played.compare_groups("age_group", level=95)
    fresh.add_worker_traits(export(), platform="local")
    with pytest.raises(StateError, match="nobody has answered"):
        fresh.compare_groups("age_group")


def test_answers_in_words_are_not_compared(tmp_path: Path, clock: VirtualClock) -> None:
    aspects = [Aspect("tone", labels=("kind", "rude")), Aspect("why", kind="text")]
    with Campaign.create(tmp_path / "words.db", aspects=aspects, clock=clock) as campaign:
        campaign.add_worker_traits(export(), platform="local")
        with pytest.raises(InputError, match="'why' is answered in words"):
            campaign.compare_groups("age_group", aspect="why")


def test_numbers_and_sets_are_compared_as_what_they_are(tmp_path: Path, clock: VirtualClock) -> None:
    aspects = [Aspect("length", kind="numeric"), Aspect("flaws", kind="multi_label", labels=("rude", "wrong"))]
    with Campaign.create(tmp_path / "kinds.db", aspects=aspects, clock=clock) as campaign:
        campaign.add_items(pd.DataFrame({"item": ITEMS, "text": "So it goes."}))
        store(campaign, "length", lambda worker, n: str(50 + n + (9 if region(worker) == "North" else 0)))
        store(campaign, "flaws", lambda worker, n: '["rude", "wrong"]' if region(worker) == "North" else '["wrong"]')
        campaign.add_worker_traits(
            pd.DataFrame({"worker": WORKERS, "region": [region(each) for each in WORKERS]}), platform="local"
        )
        numbers = campaign.compare_groups("region")
        assert numbers.findings[0].startswith("North give higher numbers than others of the same items")
        assert numbers.labels.set_index("group").loc["North", "difference"] == pytest.approx(9)
        sets = campaign.compare_groups("region", aspect="flaws").labels.set_index(["group", "label"])["share"]
        assert sets.to_dict() == {
            ("North", "rude"): 1.0, ("North", "wrong"): 1.0, ("South", "rude"): 0.0, ("South", "wrong"): 1.0
        }  # fmt: skip


def store(campaign: Campaign, aspect: str, told: Callable[[str, int], str]) -> None:
    """Put everybody's answers about every item into the store, as if they were collected."""
    context = campaign._context
    names = pseudonyms(context.worker_key, "local", WORKERS)
    with context.store.begin() as tx:
        asked = tuple(HitItemRecord(item, aspect, at) for at, item in enumerate(ITEMS))
        tx.work.add_hits(1, 1, [HitRecord(aspect, "Judge", len(WORKERS), 1, "USD", 60.0, asked)])
        done = [SubmissionRecord(f"{aspect}-{each}", "local", aspect, names[each], "submitted") for each in WORKERS]
        tx.work.put_submissions(1, 1, done)
        rows = [(f"{aspect}-{w}", names[w], item, told(w, n)) for w in WORKERS for n, item in enumerate(ITEMS)]
        frame = pd.DataFrame(rows, columns=["submission_id", "worker", "item", "label"])
        tx.work.add_answers(1, 1, frame.assign(platform="local", aspect=aspect))


def test_no_log_and_no_export_has_them(played: Campaign, tmp_path: Path) -> None:
    played.add_worker_traits(export(), platform="local")
    played.compare_groups("country_of_residence")
    with played._context.store.read() as tx:
        told = [each for each in tx.events.read(played._context.campaign_id) if each.kind == "worker traits"]
        assert [sorted(each.payload or {}) for each in told] == [["attributes", "people", "platform"]]
        logged = json.dumps([each.payload for each in tx.events.read(played._context.campaign_id)], default=str)
    assert "Zembla" not in logged
    played.export_publication(tmp_path / "out")
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert written
    for path in written:
        assert not any(word in path.read_bytes() for word in (b"Zembla", b"North", b"26-35")), path.name


def test_the_report_shows_groups_and_nothing_that_leads_back(played: Campaign, tmp_path: Path) -> None:
    plain = json.loads(played.report(tmp_path / "a.html").with_suffix(".json").read_text("utf-8"))
    assert not [name for name in plain["tables"] if name.startswith("people_")]
    played.add_worker_traits(export(), platform="local")
    page = played.report(tmp_path / "b.html")
    tables = json.loads(page.with_suffix(".json").read_text("utf-8"))["tables"]
    labels = tables["people_labels"]["rows"]
    assert {row["group"] for row in labels if row["attribute"] == "country of residence"} == {"North", "South"}
    assert min(row["people"] for row in labels) >= 5
    for name in ("people_labels", "people_agreement", "people_cohesion", "people_accuracy", "people_groups"):
        assert not {"answers", "pairs", "items"} & set(tables[name]["rows"][0]), name
    # One more person than in the labels would be somebody who is left out, whom the table of workers names.
    assert "people" not in tables["people_accuracy"]["rows"][0]
    html = page.read_text("utf-8")
    assert "Groups of people" in html
    assert "North say &#39;rude&#39; more often" in html
    assert "Zembla" not in html


def test_the_report_of_a_campaign_without_answers_still_stands(tmp_path: Path, clock: VirtualClock) -> None:
    with build(tmp_path, clock) as campaign:
        campaign.add_worker_traits(export(), platform="local")
        assert "Groups of people" not in campaign.report(tmp_path / "a.html").read_text("utf-8")


def test_who_only_told_something_can_see_it_and_be_forgotten(fresh: Campaign) -> None:
    fresh.add_worker_traits(export(), platform="prolific")
    (mine,) = fresh.export_worker("p00")["workers"]
    assert len(mine["campaigns"]["campaign"]["worker_trait"]) == 2
    told = fresh.forget("p00", dry_run=True)
    assert (told.people, told.traits) == (1, 2)
    assert str(told).endswith("2 things they said of themselves")
    assert fresh.worker_traits().shape[0] == 34
    assert fresh.forget("p00").people == 1
    assert fresh.worker_traits().shape[0] == 32


def test_who_worked_and_is_forgotten_loses_it_too(played: Campaign) -> None:
    played.add_worker_traits(export(), platform="local")
    with played._context.store.read() as tx:
        who = tx.workers.known("local")["p03"]
    played.forget("p03")
    held = played.worker_traits()
    assert (who in set(held["worker"]), held.shape[0]) == (False, 32)
    assert played.compare_groups("country_of_residence").groups["people"].tolist() == [7, 7]


def test_they_are_kept_no_longer_than_raw_ids_unless_asked_for(fresh: Campaign, clock: VirtualClock) -> None:
    fresh.add_worker_traits(export(), platform="prolific")
    clock.advance(timedelta(days=40).total_seconds())
    month = timedelta(days=30)
    assert fresh.retain(raw_ids_for=month, traits_for=2 * month).traits == 0
    assert fresh.retain(raw_ids_for=month, dry_run=True).traits == 34
    done = fresh.retain(traits_for=month)
    assert str(done) == ("erased 0 raw worker ids, 34 things that workers said of themselves and 0 item texts")
    assert fresh.worker_traits().empty


def test_the_country_of_birth_is_a_group_and_the_date_is_not(fresh: Campaign) -> None:
    told = pd.DataFrame({"worker": ["ann", "bob"], "Country of birth": ["Viet Nam", "日本"], "Date of birth": [1, 2]})
    kept = fresh.add_worker_traits(told, platform="local", attributes=["country of birth"])
    assert kept.attributes == ("country_of_birth",)
    with pytest.raises(InputError, match="points at single people"):
        fresh.add_worker_traits(told, platform="local", attributes=["Date of birth"])


def test_an_attribute_may_be_named_in_any_script(fresh: Campaign) -> None:
    told = pd.DataFrame({"worker": ["ann", "bob"], "性别": ["女", "男"], "Région": ["sud", "nord"]})
    assert fresh.add_worker_traits(told, platform="local", attributes=["性别", "région"]).attributes == (
        "性别",
        "région",
    )
    with pytest.raises(InputError, match="holds no letter"):
        fresh.add_worker_traits(told.rename(columns={"性别": "!!"}), platform="local", attributes=["!!"])
