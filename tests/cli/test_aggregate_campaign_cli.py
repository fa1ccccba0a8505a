"""`hmc-crowd aggregate` on a campaign: every method, worker tables in SQL, updates under them, strata, history."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.aggregation import DawidSkene
from hmc_crowd.campaign import Campaign
from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

METHODS = ("dawid-skene", "majority", "weighted", "wawa", "one-coin", "glad", "mace", "ibcc", "ebcc", "bwa", "choose")
DATABASE = "hmc-crowd.db"


def stored() -> tuple[Any, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the campaign's newest aggregation, its workers and counts, and its answers."""
    store = open_store(DATABASE)
    try:
        with store.read() as tx:
            campaign = tx.campaigns.get().id
            aspect = tx.campaigns.aspects(campaign)[0].name
            kept = tx.aggregations
            found = kept.latest(campaign, aspect), kept.workers(campaign, aspect), kept.counts(campaign, aspect)
            return *found, tx.work.answers(campaign, include_excluded=False)
    finally:
        store.close()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_labels_a_campaign(hmc: Any, at: Callable[[str], Path], method: str) -> None:
    at("collected")
    found = hmc("aggregate", "--method", method, "--out", "labels.csv")
    assert found.code == 0, found.err
    labels = pd.read_csv("labels.csv").set_index("item")
    truth = pd.read_csv("truth.csv").set_index("item")["label"]
    crowd = labels[labels["source"] == "crowd"]
    assert (crowd["label"] == truth[crowd.index]).mean() > 0.85
    gold = pd.read_csv("gold.csv").set_index("item")["label"]
    assert (labels.loc[gold.index, "label"] == gold).all()
    record, workers, counts, answers = stored()
    assert (record.method, record.answers) == (method.replace("-", "_"), len(answers))
    assert sorted(workers["worker"]) == sorted(answers["worker"].unique())
    assert counts.empty == (method in {"majority", "choose"})


def test_worker_tables_in_sql_are_those_of_the_fit(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    assert hmc("aggregate").code == 0
    record, workers, counts, answers = stored()
    gold = pd.read_csv("gold.csv")
    model = DawidSkene().fit(answers, gold, labels=record.labels)
    np.testing.assert_allclose(record.class_share, model.priors_.to_numpy())
    assert record.prior == model.prior_used_
    expected = model.history_.table.sort_values(["worker", "label", "truth"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(counts, expected, check_dtype=False)
    np.testing.assert_allclose(workers["low"], model.workers_.set_index("worker").loc[workers["worker"], "low"])


def test_an_update_labels_only_what_has_new_answers(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    assert hmc("aggregate", "--out", "before.csv").code == 0
    record, *_ = stored()
    assert hmc("plan", "--trade-off", "0.1", "--max-human", "0.6", "--audit", "20").code == 0
    assert hmc("publish", "--pay", "12/h", "--yes", "--budget", "600", "--target-minutes", "2").code == 0
    assert hmc("collect", "--crowd", "truth.csv", "--accuracy", "0.9").code == 0
    told = hmc("aggregate", "--update", "--out", "after.csv", "--json").json
    before, after = (pd.read_csv(name).set_index("item") for name in ("before.csv", "after.csv"))
    changed = after[after["n_answers"] != before["n_answers"].reindex(after.index)]
    assert told["labels"] == len(changed) > 0
    same = after.index.difference(changed.index)
    pd.testing.assert_frame_equal(after.loc[same], before.loc[same])
    assert stored()[0] == record
    assert "answers more than the worker tables were learnt from" in told["notes"][0]
    truth = pd.read_csv("truth.csv").set_index("item")["label"]
    assert (changed["label"] == truth[changed.index]).mean() > 0.85
    assert hmc("aggregate", "--update", "--json").json["labels"] == 0
    # the refit brings both together
    assert hmc("aggregate").code == 0
    assert stored()[0].answers > record.answers


def test_an_update_needs_worker_tables(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    assert "first `hmc-crowd aggregate`" in hmc("aggregate", "--update").err
    assert hmc("aggregate", "--method", "majority").code == 0
    found = hmc("aggregate", "--update")
    assert (found.code, "no worker tables" in found.err) == (2, True)


def test_routed_audit_and_gold_items_may_differ(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("collected")
    with Campaign.open(folder / DATABASE) as campaign:
        plain = campaign.aggregate()
        apart = campaign.aggregate(strata="route")
        assert apart.labels["item"].tolist() == plain.labels["item"].tolist()
        assert not np.allclose(apart.labels["confidence"], plain.labels["confidence"])
        with pytest.raises(InputError, match="knows 'route'"):
            campaign.aggregate(strata="why")
        with pytest.raises(InputError, match="strata goes with"):
            campaign.aggregate(method="wawa", strata="route")


def test_what_another_campaign_learnt_counts_from_the_start(hmc: Any, at: Callable[[str], Path]) -> None:
    folder = at("collected")
    with Campaign.open(folder / DATABASE) as campaign:
        name = campaign.name
        plain = campaign.aggregate()
        with pytest.raises(InputError, match="count twice"):
            campaign.aggregate(history=name)
        with pytest.raises(InputError, match="elsewhere"):
            campaign.aggregate(history="elsewhere")
        record, workers, *_ = stored()
    with Campaign.create(folder / DATABASE, "other", labels=["good", "bad"]):
        pass
    with Campaign.open(folder / DATABASE, name) as campaign:
        with pytest.raises(StateError, match="no worker tables"):
            campaign.aggregate(history="other")
        store = open_store(folder / DATABASE)
        with store.begin() as tx:
            worker = plain.workers["worker"]
            counts = pd.concat(
                pd.DataFrame({"worker": worker, "label": label, "truth": truth, "count": 500.0})
                for label, truth in (("good", "bad"), ("bad", "good"))
            )
            tx.aggregations.save(tx.campaigns.get("other").id, record, workers=workers, counts=counts)
        store.close()
        # everybody is known to say the opposite, always
        turned = campaign.aggregate(history="other").labels["label"]
        assert (turned != plain.labels["label"]).mean() > 0.9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--method", "numeric"), "aggregate the file"),
        (("--method", "crowdkit:rover"), "aggregate the file"),
        (("--method", "majority", "--engine", "numba"), "engine goes with"),
        (("--method", "majority", "--update"), "goes on from Dawid-Skene"),
        (("--update", "--strata", "route"), "learns nothing anew"),
        (("--labels", "good"), "--labels goes with a file"),
        (("--report", "page.html"), "--report goes with a file"),
    ],
)
def test_what_a_campaign_cannot_do_is_said(
    hmc: Any, at: Callable[[str], Path], arguments: tuple[str, ...], words: str
) -> None:
    at("collected")
    found = hmc("aggregate", *arguments)
    assert (found.code, words in found.err) == (2, True), found.err


def test_the_report_shows_workers_and_calibration(hmc: Any, at: Callable[[str], Path], tmp_path: Path) -> None:
    at("collected")
    assert hmc("aggregate").code == 0
    assert hmc("report", "--out", "report.html").code == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Accuracy of the workers, best first" in page
    assert "Confidence against truth" in page
    shutil.rmtree(tmp_path / "report_tables")
    assert hmc("aggregate", "--method", "majority").code == 0
    assert hmc("report", "--out", "report.html").code == 0
    quality = pd.read_csv(tmp_path / "report_tables" / "calibration.csv")
    # 24 gold items were answered, with the fit not knowing that they are gold
    assert quality["n"].sum() <= 24


def test_a_campaign_writes_no_two_results_to_one_file(hmc: Any, at: Callable[[str], Path]) -> None:
    at("collected")
    found = hmc("aggregate", "--out", "same.csv", "--workers", "same.csv")
    assert found.code == 2
    assert "--workers is 'same.csv', which --out names too" in found.err
