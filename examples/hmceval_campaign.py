"""The whole loop on the data published with the HMCEval paper (Zhang, Ren, de Rijke, ACL 2021).

    python examples/hmceval_campaign.py --data DIR [--out FOLDER] [--share 0.1]

Effort is learnt from the logged times of the 4,801 training dialogues; the 5,673 responses of the test dialogues are
routed with the paper's Trust Score confidences at trade-off 4.6 and half of the items, plus an audit of 200; people's
items are published to the local workplace and answered by simulated workers, each with the error and the speed that the
logged data show for one real worker. Then: collected, gold-checked, aggregated, certified, returned, effort model
retrained, report.

Gold are responses of training dialogues whose label follows from the published counts: no malevolent turn, or nothing
but malevolent turns.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from hmc_crowd import Campaign
from hmc_crowd._base.clock import VirtualClock
from hmc_crowd.effort import DIALOGUE_FEATURES, from_paper_columns
from hmc_crowd.platform import find_platform
from hmc_crowd.simulation import SimulatedCrowd, WorkerProfile

LABELS = ["non-malevolent", "malevolent"]
GOLD_DIALOGUES = 60
REDUNDANCY = 3


def read_data(folder: Path, share: float = 1.0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return dialogues (features, seconds, split) and the test responses, joined as the data's order allows.

    ``share`` keeps the first part of the dialogues of each split, for a quick look.
    """
    dialogues = from_paper_columns(pd.read_csv(folder / "per_dialogue.tsv", sep="\t"))
    responses = pd.read_csv(folder / "sae_trust_score.tsv", sep="\t")
    test = dialogues[dialogues["split"] == "test"].reset_index(drop=True)
    # A dialogue starts where the turn is 1; the dialogues stand in the order of the test rows.
    row = (responses["turn"] == 1).cumsum().to_numpy() - 1
    responses["group"] = "d" + test["group"].astype(str).to_numpy()[row]
    counted = dialogues.groupby("split").cumcount() < share * dialogues.groupby("split")["group"].transform("size")
    return dialogues[counted], responses[row < share * len(test)].reset_index(drop=True)


def make_items(dialogues: pd.DataFrame, responses: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return all items (test responses, then gold) with their dialogue's features, and the gold labels."""
    known = dialogues[dialogues["split"] == "train"]
    pure = known[(known["malevolent_turns"] == 0) | (known["malevolent_turns"] == known["turns"])]
    # As many of one kind as of the other, so that a worker who always answers the same cannot pass.
    halves = [part.head(GOLD_DIALOGUES // 2) for _, part in pure.groupby(pure["malevolent_turns"] > 0)]
    gold = pd.concat(halves)
    gold = gold.loc[gold.index.repeat(gold["turns"].astype(int))]
    gold_items = pd.DataFrame({"group": "d" + gold["group"].astype(str), "label": gold["malevolent_turns"] > 0})
    gold_items["position"] = gold_items.groupby("group").cumcount() + 1
    test_items = pd.DataFrame({"group": responses["group"], "position": responses["turn"]})
    items = pd.concat([test_items, gold_items[["group", "position"]]], ignore_index=True)
    items["item"] = items["group"] + "-" + items["position"].astype(str)
    items["text"] = "(the dialogues' texts are handed out by the paper's authors)"
    features = dialogues.assign(group="d" + dialogues["group"].astype(str)).set_index("group")[list(DIALOGUE_FEATURES)]
    items = items.join(features, on="group")
    labels = np.array(LABELS)[gold_items["label"].astype(int)]
    return items, pd.DataFrame({"item": items["item"].tail(len(labels)).to_numpy(), "label": labels})


def make_crowd(dialogues: pd.DataFrame, truth: dict[str, str], seconds: dict[str, float], seed: int) -> SimulatedCrowd:
    """Give each real worker a simulated one: test score as accuracy, logged time over the usual one as slowness."""
    usual = dialogues.groupby("turns")["seconds"].transform("median")
    logged = dialogues.assign(slowness=dialogues["seconds"] / usual)
    profiles = []
    for name, rows in logged.groupby("approval_ranking"):
        right = min(0.98, float(rows["worker_test_score"].median()))
        slowness = float(rows["slowness"].median())
        wrong = {
            LABELS[0]: {LABELS[0]: right, LABELS[1]: 1 - right},
            LABELS[1]: {LABELS[0]: 1 - right, LABELS[1]: right},
        }
        profiles.append(
            WorkerProfile(
                f"worker-{int(name)}",
                wrong,
                speed=1 / max(slowness, 0.1),
                setup_s=5.0,
                activity=float(len(rows)),
                return_probability=0.02,
            )
        )
    return SimulatedCrowd(profiles, truth, item_seconds=seconds, rng=np.random.default_rng(seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the published files")
    parser.add_argument("--out", type=Path, default=Path("hmceval-campaign"), help="folder for databases and report")
    parser.add_argument("--share", type=float, default=1.0, help="part of the dialogues to use, for a quick look")
    parser.add_argument("--seed", type=int, default=397)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in ("campaign.db", "workplace.db"):
        for file in arguments.out.glob(f"{name}*"):
            file.unlink()

    dialogues, responses = read_data(arguments.data, arguments.share)
    items, gold = make_items(dialogues, responses)
    test = items["item"].head(len(responses)).to_numpy()
    target = np.array(LABELS)[responses["target"]]
    truth = dict(zip(test, target, strict=True)) | dict(zip(gold["item"], gold["label"], strict=True))
    per_turn = dialogues.assign(group="d" + dialogues["group"].astype(str)).set_index("group")
    per_turn_s = per_turn["seconds"] / per_turn["turns"]
    seconds = dict(zip(items["item"], per_turn_s.loc[items["group"]].to_numpy(), strict=True))

    clock = VirtualClock(datetime(2026, 1, 5, 9, tzinfo=UTC))
    campaign = Campaign.create(
        arguments.out / "campaign.db",
        "hmceval",
        labels=LABELS,
        positive_labels=LABELS[1:],
        seed=arguments.seed,
        clock=clock,
    )
    workplace = find_platform("local", str(arguments.out / "workplace.db"), clock=clock)
    with campaign, workplace:
        print(f"{campaign.add_items(items):,} items")
        predictions = pd.DataFrame(
            {
                "item": test,
                "label": np.array(LABELS)[responses["machine_predict"]],
                "confidence": responses["machine_confidence"],
            }
        )
        campaign.add_predictions(predictions)
        campaign.add_gold(gold)
        train = dialogues[dialogues["split"] == "train"]
        print(
            campaign.train_effort(
                train[list(DIALOGUE_FEATURES)], train["seconds"], groups=train["approval_ranking"].to_numpy()
            )
        )
        print(campaign.estimate_effort())
        print(campaign.plan(trade_off=4.6, max_human=0.5, audit=200))
        spend = {"redundancy": REDUNDANCY, "pay_per_hour_minor": 1200, "budget_minor": 500_000}
        print(campaign.publish(workplace, **spend))
        result = campaign.run(
            workplace,
            crowd=make_crowd(dialogues, truth, seconds, arguments.seed),
            plan={"trade_off": 4.6, "max_human": 0.5, "audit": 200},
            publish=spend,
        )
        print(result)
        labels = campaign.labels().set_index("item").loc[test, "label"]
        print(f"agreement of the final labels with the published ones: {(labels.to_numpy() == target).mean():.4f}")
        print(campaign.status())
        known = pd.DataFrame({"item": test, "label": target})
        print(f"report: {campaign.report(arguments.out / 'report.html', truth=known)}")


if __name__ == "__main__":
    main()
