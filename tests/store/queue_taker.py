"""A process that takes items from the line until nothing is left, and says which; now and then it lets one go."""

from __future__ import annotations

import random
import sys
from datetime import timedelta

from hmc_crowd._base.clock import SystemClock
from hmc_crowd.store import open_store


def main(url: str, worker: str, campaign: int) -> None:
    clock, rng, taken = SystemClock(), random.Random(worker), []
    with open_store(url, clock=clock, busy_s=60) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        while True:
            with store.begin() as tx:
                items = tx.queue.claim(campaign, worker, until=clock.now() + timedelta(minutes=5), limit=3)
                back = [item for item in items if rng.random() < 0.2]
                tx.queue.give_back(campaign, worker, back)
            done = [item for item in items if item not in back]
            with store.begin() as tx:
                closed = tx.queue.done(campaign, worker, done)
                ages = tx.queue.ages(campaign)
            if closed != len(done):
                raise RuntimeError(f"{closed} of {len(done)} places were ours")
            taken += done
            if not items and not ages.waiting and not ages.held:
                break
    print(" ".join(taken), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
