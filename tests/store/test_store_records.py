"""Campaigns, workers, labels, certificates and models: what was stored last, and what was before."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from hmc_crowd.errors import DuplicateError, FrameError, InputError, StateError
from hmc_crowd.store import AspectRecord

if TYPE_CHECKING:
    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store


def test_a_campaign_is_found_by_name_or_alone(store: Store, campaign: int, clock: VirtualClock) -> None:
    with store.begin() as tx:
        alone = tx.campaigns.get()
        assert (alone.name, alone.round, alone.items, alone.created_at) == ("demo", 1, 3, clock.now())
        tx.campaigns.create("zweite", {}, created_at=clock.now())
        assert tx.campaigns.names() == ["demo", "zweite"]
        assert tx.campaigns.get("zweite").id != alone.id
        with pytest.raises(InputError, match="2 campaigns; name one of 'demo', 'zweite'"):
            tx.campaigns.get()
        with pytest.raises(InputError, match="no campaign is named 'x'"):
            tx.campaigns.get("x")


def test_without_a_campaign_the_first_step_is_named(store: Store) -> None:
    with pytest.raises(StateError, match="hmc-crowd init"), store.read() as tx:
        tx.campaigns.get()


def test_a_campaigns_name_is_unique(store: Store, campaign: int, clock: VirtualClock) -> None:
    with pytest.raises(DuplicateError, match="'demo' exists already"), store.begin() as tx:
        tx.campaigns.create("demo", {}, created_at=clock.now())


def test_a_naive_time_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="without a time zone"), store.begin() as tx:
        tx.campaigns.create("x", {}, created_at=datetime(2026, 1, 1))


def test_settings_and_round_are_replaced(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        tx.campaigns.save_settings(campaign, {"nested": {"ü": [1, None, True]}})
        tx.campaigns.set_round(campaign, 4)
        found = tx.campaigns.get()
        assert (found.settings, found.round) == ({"nested": {"ü": [1, None, True]}}, 4)


def test_aspects_keep_their_order_and_are_unique(store: Store, campaign: int) -> None:
    other = AspectRecord("a-fluency", "ordinal", ("1", "2", "3"), "2", "de")
    with store.begin() as tx:
        tx.campaigns.add_aspect(campaign, other)
        tx.campaigns.add_aspect(campaign, other)
        assert [each.name for each in tx.campaigns.aspects(campaign)] == ["malevolent", "a-fluency"]
        assert tx.campaigns.aspects(campaign)[1] == other
        with pytest.raises(DuplicateError, match="aspect 'a-fluency' with other labels"):
            tx.campaigns.add_aspect(campaign, AspectRecord("a-fluency", "nominal", ("x",)))


def test_raw_ids_and_pseudonyms(store: Store) -> None:
    with store.begin() as tx:
        tx.workers.identify("mturk", ["A1", "A2", "A1"], pseudonyms={"A1": "w1", "A2": "w2", "A3": "w3"})
        tx.workers.identify("mturk", ["A1"], pseudonyms={"A1": "w1"})
        assert tx.workers.known("mturk") == {"A1": "w1", "A2": "w2"}
        assert tx.workers.known("prolific") == {}


def test_a_changed_pseudonym_is_refused_without_showing_the_raw_id(store: Store) -> None:
    with store.begin() as tx:
        tx.workers.identify("mturk", ["SECRET"], pseudonyms={"SECRET": "w1"})
    with pytest.raises(DuplicateError, match="other pseudonyms already") as caught, store.begin() as tx:
        tx.workers.identify("mturk", ["SECRET"], pseudonyms={"SECRET": "w2"})
    assert "SECRET" not in str(caught.value)


def test_a_pseudonym_for_two_people_is_refused(store: Store) -> None:
    with pytest.raises(DuplicateError), store.begin() as tx:
        tx.workers.identify("mturk", ["A1", "A2"], pseudonyms={"A1": "w", "A2": "w"})


def test_scores_as_known_at_a_moment(store: Store, campaign: int, clock: VirtualClock) -> None:
    first = clock.now()
    later = first + timedelta(days=1)
    frame = pd.DataFrame({"worker": ["w1", "w2"], "right": [3, 4], "n": [4, 4], "score": [0.75, 1.0]})
    with store.begin() as tx:
        tx.workers.add_scores(campaign, frame, as_of=first)
        tx.workers.add_scores(campaign, frame.head(1).assign(right=5, n=8, low=0.3, high=0.9, as_of=later))
        columns = ["worker", "right", "n"]
        assert tx.workers.scores(campaign)[columns].values.tolist() == [["w1", 5, 8], ["w2", 4, 4]]
        assert tx.workers.scores(campaign, first)[columns].values.tolist() == [["w1", 3, 4], ["w2", 4, 4]]
        assert tx.workers.scores(campaign, first - timedelta(seconds=1)).empty


def labels(*rows: tuple[str, str], **columns: object) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["item", "label"])
    return frame.assign(**({"aspect": "malevolent", "source": "crowd", "n_answers": 3} | columns))


def test_the_latest_label_counts_and_history_is_kept(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        assert tx.labels.save(campaign, 1, labels(("b", "yes"), ("a", "no"))) == 2
        tx.labels.save(campaign, 2, labels(("b", "no"), tied=True, posterior=[{"no": 0.5, "yes": 0.5}]))
        found = tx.labels.read(campaign)
        assert found[["item", "label", "round", "tied"]].values.tolist() == [
            ["a", "no", 1, False],
            ["b", "no", 2, True],
        ]
        assert found["posterior"].tolist() == [None, {"no": 0.5, "yes": 0.5}]
        assert tx.labels.read(campaign, round=1)["label"].tolist() == ["no", "yes"]
        assert tx.labels.read(campaign, items=["b"])["item"].tolist() == ["b"]
        assert tx.labels.read(campaign, aspect="other").empty


def test_a_rounds_labels_are_replaced(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        tx.labels.save(campaign, 1, labels(("a", "no")))
        tx.labels.save(campaign, 1, labels(("a", "yes"), confidence=0.75, evidence="people_blind"))
        found = tx.labels.read(campaign)
        assert found[["label", "confidence", "evidence"]].values.tolist() == [["yes", 0.75, "people_blind"]]


def test_labels_given_twice_are_refused(store: Store, campaign: int) -> None:
    with pytest.raises(FrameError, match="more than once"), store.begin() as tx:
        tx.labels.save(campaign, 1, labels(("a", "no"), ("a", "yes")))


def test_certificates_are_kept_once_each(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        for bound in (0.9, 0.9, 0.95):
            tx.labels.save_certificate(campaign, 1, {"agreement_at_least": bound})
        assert [each["agreement_at_least"] for each in tx.labels.certificates(campaign)] == [0.9, 0.95]


def test_models_count_up_and_one_is_active(store: Store, campaign: int, clock: VirtualClock) -> None:
    given = {"data_hash": "h", "scores": {"r2": 0.5}, "created_at": clock.now()}
    with store.begin() as tx:
        assert tx.models.latest(campaign, "effort") is None
        first = tx.models.save(campaign, "effort", b"\x00\xff1", **given)
        tx.models.save(campaign, "effort", b"2", active=False, **given)
        assert tx.models.latest(campaign, "effort") == first
        third = tx.models.save(campaign, "effort", b"3", **given)
        assert (first.version, first.blob, third.version) == (1, b"\x00\xff1", 3)
        assert tx.models.latest(campaign, "effort") == third
        assert [(each.version, each.active, each.blob) for each in tx.models.history(campaign, "effort")] == [
            (1, False, b""),
            (2, False, b""),
            (3, True, b""),
        ]
