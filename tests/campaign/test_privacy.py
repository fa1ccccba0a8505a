"""A worker can be forgotten, shown what is stored, and is named nowhere else; nothing that was concluded moves."""

from __future__ import annotations

import io
import json
import logging
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from hmc_crowd.campaign._privacy import check_audience
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store import PaymentRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.campaign import Campaign

    Start = Callable[..., Campaign]


def play(campaign: Campaign, workplace: Any, crowd: Any, wanted: dict[str, Any], spend: dict[str, Any]) -> Campaign:
    """Play a round of work."""
    campaign.plan(**wanted)
    campaign.publish(workplace, dry_run=False, **spend)
    workplace.rehearse(crowd)
    campaign.collect(workplace)
    campaign.check_gold()
    campaign.aggregate()
    campaign.certify()
    return campaign


@pytest.fixture
def played(start: Start, workplace: Any, crowd: Any, wanted: dict[str, Any], spend: dict[str, Any]) -> Campaign:
    """A campaign after a round of work."""
    return play(start(), workplace, crowd, wanted, spend)


@pytest.fixture
def played_on_each(
    database_url: str, start: Start, workplace: Any, crowd: Any, wanted: dict[str, Any], spend: dict[str, Any]
) -> Campaign:
    """The same on each database."""
    return play(start(database_url), workplace, crowd, wanted, spend)


def known(campaign: Campaign) -> dict[str, str]:
    with campaign._context.store.read() as tx:
        return tx.workers.known("local")


def busiest(campaign: Campaign) -> tuple[str, str]:
    """Raw id and pseudonym of who answered most."""
    with campaign._context.store.read() as tx:
        name = str(tx.work.answers(campaign._context.campaign_id)["worker"].mode()[0])
    return next((raw, worker) for raw, worker in known(campaign).items() if worker == name)


def dump(campaign: Campaign, *, without: tuple[str, ...] = ()) -> str:
    """Return every row of the database as text."""
    import sqlalchemy as sa

    with campaign._context.store._connected(writes=False) as connection:
        tables = [each for each in sa.inspect(connection).get_table_names() if each not in without]
        return "\n".join(
            str(row) for name in tables for row in connection.execute(sa.select("*").select_from(sa.table(name)))
        )


def test_forgetting_leaves_no_trace_of_the_id_or_the_pseudonym(played_on_each: Campaign) -> None:
    raw, worker = busiest(played_on_each)
    with played_on_each._context.store.begin() as tx:
        played_on_each._context.log(tx, "rejected", worker=worker, note=f"{raw} was too quick")
        played_on_each._context.log(tx, "annotated", note=f"{raw}xyz is another word")
    assert raw in dump(played_on_each)
    assert worker in dump(played_on_each)
    done = played_on_each.forget(raw)
    assert (done.people, done.raw_ids, done.dry_run) == (1, 1, False)
    assert done.answers > 0
    text = dump(played_on_each).replace(f"{raw}xyz", "")
    assert raw not in text
    assert worker not in text


def test_forgetting_keeps_counts_groups_labels_certificates_and_the_chain(played_on_each: Campaign) -> None:
    context = played_on_each._context
    with context.store.read() as tx:
        before = tx.work.answers(context.campaign_id)
        certificates, scores = tx.labels.certificates(context.campaign_id), tx.workers.scores(context.campaign_id)
    labels, status = played_on_each.labels(), played_on_each.status()
    raw, worker = busiest(played_on_each)
    played_on_each.forget(raw)
    with context.store.read() as tx:
        after = tx.work.answers(context.campaign_id)
        tx.events.verify(context.campaign_id)
        assert tx.labels.certificates(context.campaign_id) == certificates
        again = tx.workers.scores(context.campaign_id)
    assert played_on_each.status() == status
    pd.testing.assert_frame_equal(played_on_each.labels(), labels)
    pd.testing.assert_frame_equal(after.drop(columns="worker"), before.drop(columns="worker"))
    pairs = pd.DataFrame({"before": before["worker"], "after": after["worker"]}).drop_duplicates()
    assert pairs["before"].is_unique
    assert pairs["after"].is_unique
    assert pairs.loc[pairs["before"] != pairs["after"], "before"].tolist() == [worker]
    columns = ["right", "n", "score"]
    assert sorted(scores[columns].itertuples(index=False)) == sorted(again[columns].itertuples(index=False))
    played_on_each.check_gold()
    played_on_each.aggregate()
    pd.testing.assert_frame_equal(played_on_each.labels(), labels)


def test_the_new_pseudonym_cannot_be_guessed_from_the_old_id(played: Campaign) -> None:
    raw, _ = busiest(played)
    names = set(known(played).values())
    played.forget(raw)
    with played._context.store.read() as tx:
        fresh = set(tx.work.answers(played._context.campaign_id)["worker"]) - names
    assert len(fresh) == 1
    with pytest.raises(InputError, match="nothing is stored of this worker"):
        played.export_worker(raw)
    assert played.export_worker(fresh.pop())["workers"][0]["identity"] == []


def test_forgetting_again_and_strangers_changes_nothing(played: Campaign) -> None:
    raw, worker = busiest(played)
    played.forget(worker)  # by pseudonym
    text = dump(played)
    for name in (raw, worker, "nobody"):
        again = played.forget(name)
        assert (again.people, str(again)) == (0, "nothing is stored of this worker")
    assert dump(played) == text


def test_a_dry_run_counts_and_changes_nothing(played: Campaign) -> None:
    raw, _ = busiest(played)
    text = dump(played)
    asked = played.forget(raw, dry_run=True)
    assert dump(played) == text
    done = played.forget(raw)
    assert asked.answers == done.answers > 0
    assert str(asked).replace("would forget", "forgot") == str(done)


def test_a_collection_afterwards_brings_no_forgotten_worker_back(
    played: Campaign, workplace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, worker = busiest(played)
    played.forget(raw)
    from dataclasses import replace

    from hmc_crowd.platform import SubmissionState

    shown = workplace.submissions
    changed = lambda hits: [replace(each, state=SubmissionState.APPROVED) for each in shown(hits)]  # noqa: E731
    monkeypatch.setattr(workplace, "submissions", changed)
    with played._context.store.begin() as tx:
        for hit in tx.work.hits(played._context.campaign_id):
            tx.work.set_hit(hit.key, state="open")
    played.collect(workplace)
    with played._context.store.read() as tx:
        assert set(tx.work.submissions(played._context.campaign_id)["state"]) == {"approved"}
    assert raw not in known(played)
    assert worker not in dump(played)


def payment(campaign: Campaign, clock: VirtualClock, state: str) -> PaymentRecord:
    _, worker = busiest(campaign)
    with campaign._context.store.read() as tx:
        rows = tx.work.submissions(campaign._context.campaign_id)
    submission = str(rows.loc[rows["worker"] == worker, "submission_id"].iloc[0])
    return PaymentRecord("local", submission, "quality", 50, 0, "USD", None, state, clock.now(), "ada")


def test_who_is_still_to_be_paid_is_not_forgotten_yet(played: Campaign, clock: VirtualClock) -> None:
    raw, _ = busiest(played)
    with played._context.store.begin() as tx:
        tx.payments.add(played._context.campaign_id, [payment(played, clock, "planned")])
    text = dump(played)
    with pytest.raises(StateError, match=r"1 payment\(s\) to come"):
        played.forget(raw)
    assert dump(played) == text
    with played._context.store.begin() as tx:
        rows = tx.payments.read(played._context.campaign_id)
        tx.payments.set_state(played._context.campaign_id, rows, "paid")
    assert played.forget(raw).people == 1
    with played._context.store.read() as tx:
        assert len(tx.payments.read(played._context.campaign_id)) == 1


def test_an_export_holds_all_of_one_worker_and_nothing_of_others(played_on_each: Campaign, clock: VirtualClock) -> None:
    raw, worker = busiest(played_on_each)
    with played_on_each._context.store.begin() as tx:
        tx.payments.add(played_on_each._context.campaign_id, [payment(played_on_each, clock, "paid")])
        played_on_each._context.log(tx, "rejected", worker=worker)
        answers = tx.work.answers(played_on_each._context.campaign_id)
    exported = played_on_each.export_worker(raw)
    assert exported == played_on_each.export_worker(worker, platform="local")
    text = json.dumps(exported)
    assert not [
        other
        for pair in known(played_on_each).items()
        for other in pair
        if other not in {raw, worker} and other in text
    ]
    (person,) = exported["workers"]
    assert (person["platform"], person["pseudonym"], person["identity"][0]["raw_id"]) == ("local", worker, raw)
    (tables,) = person["campaigns"].values()
    mine = answers[answers["worker"] == worker]
    assert sorted(each["item"] for each in tables["answer"]) == sorted(mine["task"])
    assert sorted(each["label"] for each in tables["answer"]) == sorted(mine["label"])
    assert len(tables["submission"]) == mine["submission_id"].nunique()
    assert tables["payment"][0]["amount_minor"] == 50
    assert tables["worker_score"][0]["n"] > 0
    assert [each["kind"] for each in tables["event"]] == ["rejected"]


def test_one_id_on_two_platforms_may_be_two_people(played: Campaign) -> None:
    raw, _ = busiest(played)
    with played._context.store.begin() as tx:
        tx.workers.identify("prolific", [raw], pseudonyms={raw: "wother"})
    with pytest.raises(InputError, match="known on local, prolific; say which one"):
        played.forget(raw)
    assert played.forget(raw, platform="prolific").answers == 0
    assert raw in known(played)
    with pytest.raises(InputError, match="platform is 'mturk'; people of this database worked on: local"):
        played.export_worker(raw, platform="mturk")


def test_forgetting_reaches_every_campaign_of_the_database(played: Campaign) -> None:
    raw, worker = busiest(played)
    with played._context.store.begin() as tx:
        other = tx.campaigns.create("other", {}, created_at=played._context.clock.now()).id
        frame = pd.DataFrame({"worker": [worker], "right": [1], "n": [2]})
        tx.workers.add_scores(other, frame, as_of=played._context.clock.now())
    assert set(played.export_worker(raw)["workers"][0]["campaigns"]) == {played.name, "other"}
    played.forget(raw)
    with played._context.store.read() as tx:
        assert worker not in set(tx.workers.scores(other)["worker"])


def test_erased_rows_do_not_lie_in_the_file_any_more(played: Campaign, tmp_path: Path) -> None:
    raw, worker = busiest(played)

    def found(word: str) -> bool:
        return any(word.encode() in each.read_bytes() for each in tmp_path.glob("campaign.db*"))

    assert found(raw)
    assert found(worker)
    played.forget(raw)
    assert not found(raw)
    assert not found(worker)


def test_c12_exports_logs_and_dumps_hold_no_raw_ids_tokens_or_addresses(
    start: Start, workplace: Any, crowd: Any, wanted: dict[str, Any], spend: dict[str, Any], tmp_path: Path
) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        campaign = play(start(), workplace, crowd, wanted, spend)
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    (tmp_path / "out").mkdir()
    campaign.labels(tmp_path / "out" / "labels.csv")
    campaign.report(tmp_path / "out" / "report.html")
    item = str(campaign.labels()["item"].iloc[0])
    said = [stream.getvalue(), str(campaign.status()), str(campaign.explain(item)), repr(campaign)]
    said += [each.read_text() for each in (tmp_path / "out").rglob("*") if each.is_file()]
    said.append(dump(campaign, without=("worker_identity",)))
    raw_ids = list(known(campaign))
    secrets = [campaign._context.worker_key.decode(), "127.0.0.1"]
    assert raw_ids
    for text in said:
        assert not [word for word in raw_ids + secrets if word in text]


def items(audience: list[str], sensitive: list[bool]) -> pd.DataFrame:
    return pd.DataFrame({"item": list("abcdefg")[: len(audience)], "audience": audience, "sensitive": sensitive})


@pytest.mark.parametrize(
    ("audience", "pool", "in_house", "allowed"),
    [
        ("any", None, False, True),
        ("any", "nurses", True, True),
        ("in_house", None, False, False),
        ("in_house", None, True, True),
        ("nurses", None, True, False),
        ("nurses", "nurses", False, True),
        ("nurses", "doctors", False, False),
    ],
)
def test_an_item_is_shown_only_to_its_audience(audience: str, pool: str | None, in_house: bool, allowed: bool) -> None:
    frame = items(["any", audience], [False, False])
    if allowed:
        check_audience(frame, platform_pool=pool, platform_is_in_house=in_house)
        return
    with pytest.raises(InputError, match=rf"1 items may not be shown on this platform: b \({audience}\);"):
        check_audience(frame, platform_pool=pool, platform_is_in_house=in_house)


def test_sensitive_items_need_a_warning() -> None:
    frame = items(["any", "any"], [True, False])
    check_audience(frame, platform_pool=None, platform_is_in_house=True, has_warning=True)
    with pytest.raises(InputError, match="1 items are flagged as sensitive: a; pass content_warning="):
        check_audience(frame, platform_pool=None, platform_is_in_house=True)


def test_b29_what_prolific_tells_of_a_person_reaches_neither_sql_nor_logs(
    small: Any, recruiting: Any, small_batch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    from hmc_crowd_prolific.standin._submissions import list_row

    caplog.set_level(logging.DEBUG)
    campaign = small()
    spend = {"redundancy": 3, "pay_per_hour_minor": 1200, "budget_minor": 100_000}
    campaign.publish(recruiting.platform, pages=recruiting.pages, dry_run=False, **spend)
    recruiting.fill(campaign, small_batch.truth)
    campaign.collect(recruiting.platform, pages=recruiting.pages)
    rows = json.dumps([list_row(recruiting.world, each) for each in recruiting.world.submissions.values()])
    with campaign._context.store.read() as tx:
        names = tx.workers.known("prolific")
    # The platform does send them.
    assert "203.0.113.7" in rows
    assert "not for us" in rows
    # The stand-in's own log, and how the test sends people there, are not ours.
    logged = [each.getMessage() for each in caplog.records if each.name.startswith(("hmc_crowd", "httpx"))]
    text = "\n".join(each for each in logged if "/_ctl/" not in each)
    assert "submissions" in text
    for said in (dump(campaign, without=("worker_identity",)), text):
        assert not [word for word in ["203.0.113.7", "not for us", recruiting.world.token, *names] if word in said]


def test_who_was_forgotten_is_still_paid_for_work_that_was_handed_in(
    small: Any, recruiting: Any, small_batch: Any
) -> None:
    campaign = small()
    spend = {"redundancy": 3, "pay_per_hour_minor": 1200, "budget_minor": 100_000}
    campaign.publish(recruiting.platform, pages=recruiting.pages, dry_run=False, **spend)
    recruiting.fill(campaign, small_batch.truth)
    campaign.collect(recruiting.platform, pages=recruiting.pages)
    with campaign._context.store.read() as tx:
        raw = min(tx.workers.known("prolific"))
    assert campaign.forget(raw).submissions > 0
    paid = campaign.approve(recruiting.platform, pages=recruiting.pages, dry_run=False, budget_minor=100_000, by="kim")
    assert paid.approved > 0
    assert paid.disputed == 0
    campaign.collect(recruiting.platform, pages=recruiting.pages)
    with campaign._context.store.read() as tx:
        assert raw not in tx.workers.known("prolific")
