"""Auditors' own samples: nobody sees them, nobody steers them, and what is opened can be checked."""

from __future__ import annotations

import logging
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import sqlalchemy as sa

from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.campaign import Campaign
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.quality import audit_sample, verify_audit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY, OTHER = b"sixteen bytes or more", b"another key, of auditors"
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
NAMES = [f"item-{n:03d}" for n in range(60)]
# Every tenth label is wrong.
TRUTH = {name: "rude" if n % 10 == 0 else "kind" for n, name in enumerate(NAMES)}


@pytest.fixture(scope="session")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of 60 items that the machine calls kind; gold is the last one."""
    folder = tmp_path_factory.mktemp("audits")
    with Campaign.create(folder / "c.db", labels=["kind", "rude"], seed=1, clock=VirtualClock(START)) as made:
        made.add_items(pd.DataFrame({"item": NAMES, "text": "so it goes"}))
        made.add_predictions(pd.DataFrame({"item": NAMES, "label": "kind", "confidence": 0.9}))
        made.add_gold(pd.DataFrame({"item": NAMES[-1:], "label": "rude"}))
    return folder


@pytest.fixture
def clock() -> VirtualClock:
    clock = VirtualClock(START)
    clock.advance(3600)
    return clock


@pytest.fixture
def campaign(labelled: Path, tmp_path: Path, clock: Any) -> Iterator[Campaign]:
    folder = shutil.copytree(labelled, tmp_path / "copy")
    with Campaign.open(folder / "c.db", clock=clock) as opened:
        yield opened


def judge(campaign: Campaign, count: int | None = None, key: bytes = KEY) -> list[str]:
    items: list[str] = campaign.secret_audit_cases(key)["item"].tolist()[:count]
    for item in items:
        campaign.judge_secret_audit(key, item, TRUTH[item])
    return items


def relabel(campaign: Campaign, items: list[str], label: str = "rude") -> None:
    """Change final labels behind everybody's back."""
    with campaign._context.store.begin() as tx:
        row = {"aspect": "label", "label": label, "source": "crowd", "confidence": 1.0}
        tx.labels.save(1, 1, pd.DataFrame([{**row, "item": item} for item in items]))


def dump(campaign: Campaign) -> str:
    """Every row of every table, as text, but for those that hold all items."""
    with campaign._context.store._connected(writes=False) as connection:
        names = set(sa.inspect(connection).get_table_names()) - {"item", "prediction", "gold"}
        return "\n".join(
            str(row) for name in names for row in connection.execute(sa.select("*").select_from(sa.table(name)))
        )


def test_the_rate_of_wrong_labels_with_its_interval(campaign: Campaign) -> None:
    drawn = campaign.draw_secret_audit(KEY, 30)
    assert (drawn.number, drawn.drawn, drawn.items) == (1, 30, 59)
    items = judge(campaign)
    assert items == list(audit_sample(NAMES[:-1], KEY, size=30).items)
    found = campaign.open_audit(KEY)
    wrong = sum(TRUTH[item] == "rude" for item in items)
    assert wrong > 0
    assert (found.judged, found.wrong, found.error) == (30, wrong, wrong / 30)
    assert found.low < found.error < found.high
    assert set(found.wrong_items) == {item for item in items if TRUTH[item] == "rude"}
    assert (found.changed, found.steered) == (0, False)
    # Anybody can check it from what was published.
    with campaign._context.store.read() as tx:
        told = {each.kind: each.payload for each in tx.events.read(1)}
        tx.events.verify(1)
    key = bytes.fromhex(told["secret audit opened"]["audit_key"])
    assert verify_audit(items, NAMES[:-1], key, told["secret audit drawn"]["commitment"])
    # Opened again it says the same; a judgement after that is refused.
    assert campaign.open_audit(KEY) == found
    with pytest.raises(StateError, match="no judgement is blind any more"):
        campaign.judge_secret_audit(KEY, items[0], "kind")


def test_while_it_is_secret_no_table_log_or_list_names_an_item(
    campaign: Campaign, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        drawn = campaign.draw_secret_audit(KEY, 20)
        items = judge(campaign, 10)
    text = dump(campaign)
    for told in (text, caplog.text, str(drawn), repr(drawn), campaign.secret_audits().to_csv()):
        assert not any(item in told for item in items)
        assert KEY.hex() not in told
    assert campaign.secret_audits()[["drawn", "judged"]].to_numpy().tolist() == [[20, 10]]
    assert campaign.cases("eva").empty
    assert campaign.reviews().empty
    assert campaign.decisions().empty
    campaign.open_audit(KEY)
    assert KEY.hex() in dump(campaign)


def test_an_export_says_nothing_of_a_sample(campaign: Campaign, tmp_path: Path) -> None:
    def exported(name: str) -> dict[str, bytes]:
        folder = tmp_path / name
        campaign.export_publication(folder)
        return {each.name: each.read_bytes() for each in folder.iterdir() if each.suffix == ".csv"}

    before = exported("before")
    campaign.draw_secret_audit(KEY, 20)
    judge(campaign)
    assert exported("after") == before


def test_who_changes_labels_after_the_draw_changes_nothing_and_is_found(campaign: Campaign) -> None:
    campaign.draw_secret_audit(KEY, 20)
    items = judge(campaign)
    wrong = [item for item in items if TRUTH[item] == "rude"]
    # Whoever knows the sample puts right what is wrong in it, and nothing else.
    relabel(campaign, [*wrong, *(item for item in items if item not in wrong)][:8], "rude")
    found = campaign.open_audit(KEY)
    assert (found.wrong, found.changed, found.changed_elsewhere) == (len(wrong), 8, 0)
    assert found.steered
    assert "more than chance explains" in str(found)


def test_labels_that_change_as_a_campaign_goes_on_are_no_steering(campaign: Campaign) -> None:
    campaign.draw_secret_audit(KEY, 20)
    judge(campaign)
    relabel(campaign, NAMES[:20])
    found = campaign.open_audit(KEY)
    assert found.changed + found.changed_elsewhere == 20
    assert not found.steered


def test_what_was_kept_of_the_draw_cannot_be_changed(campaign: Campaign) -> None:
    import zlib

    campaign.draw_secret_audit(KEY, 20)
    judge(campaign)
    with campaign._context.store.begin() as tx:
        session, table = (
            tx.secret_audits._session,
            sa.table("secret_audit", sa.column("labels"), sa.column("labels_hash")),
        )
        held = session.one(sa.select(table.c.labels)).labels
        forged = zlib.compress(zlib.decompress(held).replace(b'"kind"', b'"rude"'))
        session.run(sa.update(table).values(labels=forged))
    with pytest.raises(StateError, match="was changed"):
        campaign.open_audit(KEY)
    with campaign._context.store.begin() as tx:
        # With its hash, too: the event of the draw still tells the old one.
        import json

        from hmc_crowd.campaign._secret_audit import _hash

        stood = pd.Series(json.loads(zlib.decompress(forged))).sort_index()
        tx.secret_audits._session.run(sa.update(table).values(labels_hash=_hash(stood)))
    with pytest.raises(StateError, match="was changed"):
        campaign.open_audit(KEY)


def test_auditors_may_stop_early_and_may_not_pick(campaign: Campaign) -> None:
    campaign.draw_secret_audit(KEY, 20)
    with pytest.raises(StateError, match="nobody has judged"):
        campaign.open_audit(KEY)
    items = campaign.secret_audit_cases(KEY)["item"].tolist()
    campaign.judge_secret_audit(KEY, items[1], "kind")
    with pytest.raises(StateError, match="was left out though it comes before"):
        campaign.open_audit(KEY)
    campaign.judge_secret_audit(KEY, items[0], "kind")
    found = campaign.open_audit(KEY)
    assert (found.judged, found.drawn) == (2, 20)
    assert "18 of the sample were not judged" in str(found)


def test_only_the_key_leads_to_the_sample(campaign: Campaign) -> None:
    campaign.draw_secret_audit(KEY, 20)
    outside = next(name for name in NAMES if name not in set(campaign.secret_audit_cases(KEY)["item"]))
    for act in (
        lambda: campaign.secret_audit_cases(OTHER),
        lambda: campaign.judge_secret_audit(OTHER, NAMES[0], "kind"),
        lambda: campaign.open_audit(OTHER),
        lambda: campaign.judge_secret_audit(KEY, outside, "kind"),
    ):
        with pytest.raises(StateError):
            act()
    with pytest.raises(InputError, match="label is 'blue'"):
        campaign.judge_secret_audit(KEY, campaign.secret_audit_cases(KEY)["item"][0], "blue")


def test_the_first_label_counts(campaign: Campaign) -> None:
    campaign.draw_secret_audit(KEY, 1)
    item = campaign.secret_audit_cases(KEY)["item"][0]
    campaign.judge_secret_audit(KEY, item, "kind")
    campaign.judge_secret_audit(KEY, item, "rude")
    assert campaign.open_audit(KEY).wrong == 0


def test_samples_that_were_never_opened_are_counted(campaign: Campaign) -> None:
    campaign.draw_secret_audit(OTHER, 20)
    assert campaign.draw_secret_audit(KEY, 0.5).earlier_unopened == 1
    judge(campaign)
    assert "1 earlier samples were never opened" in str(campaign.open_audit(KEY))


def test_samples_that_make_no_sense_are_refused(tmp_path: Path, campaign: Campaign) -> None:
    campaign.draw_secret_audit(KEY, 5)
    for key, size, error, said in (
        (KEY, 5, StateError, "has drawn a sample before"),
        (OTHER, 60, InputError, "size is 60"),
        (OTHER, 0, InputError, "draws none"),
        (OTHER, 1.5, InputError, "size is 1.5"),
        (b"short", 5, InputError, "at least 16"),
    ):
        with pytest.raises(error, match=said):
            campaign.draw_secret_audit(key, size)
    with (
        Campaign.create(tmp_path / "e.db", labels=["a", "b"]) as empty,
        pytest.raises(StateError, match="no labels yet"),
    ):
        empty.draw_secret_audit(OTHER, 5)


def test_opened_samples_are_known_labels_for_the_tiers(campaign: Campaign, clock: VirtualClock) -> None:
    campaign.draw_secret_audit(KEY, 59)
    items = judge(campaign)
    relabel(campaign, items[:4], "kind")
    for item in items[:4]:
        clock.advance(60)
        campaign.judge(item, "kind", expert="eva")
        campaign.decide(item, "kind", expert="eva")
    assert campaign.tier_figures().errors.empty
    campaign.open_audit(KEY)
    found = campaign.tier_figures()
    assert found.known == 4
    assert found.errors["count"].sum() == 4
