"""Many at once: places, claims and keys hold, whoever is quicker."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hmc_crowd_local import connect

from hmc_crowd.errors import PlatformError
from hmc_crowd.simulation import SimulatedCrowd, draw_workers


def at_once(*calls):
    """Run all calls in threads; return results and refusals."""

    def run(call):
        try:
            return call()
        except PlatformError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_more_workers_than_places(platform, hit) -> None:
    remote = platform.publish(hit(redundancy=3))
    outcomes = at_once(*(lambda w=w: platform.accept(remote.hit_id, f"w{w}") for w in range(8)))
    assert sum(not isinstance(each, PlatformError) for each in outcomes) == 3
    assert len(list(platform.submissions([remote.hit_id]))) == 3


def test_one_worker_in_two_hits_with_the_same_question(platform, hit) -> None:
    ids = [platform.publish(hit(f"h{i}", "gold", f"x{i}")).hit_id for i in range(4)]
    outcomes = at_once(*(lambda i=i: platform.accept(i, "ann") for i in ids))
    assert sum(not isinstance(each, PlatformError) for each in outcomes) == 1


def test_the_same_key_published_by_many(platform, hit) -> None:
    outcomes = at_once(*(lambda: platform.publish(hit("k")) for _ in range(6)))
    assert len({each.hit_id for each in outcomes}) == 1


def test_two_rehearsals_at_once(platform, hit) -> None:
    hits = [hit(f"h{i}", redundancy=2) for i in range(10)]
    ids = [platform.publish(each).hit_id for each in hits]

    def crowd(seed):
        rng = np.random.default_rng(seed)
        truth = {each.item: "yes" for one in hits for each in one.items}
        return SimulatedCrowd(draw_workers(8, ["yes", "no"], prefix=f"crowd{seed}", rng=rng), truth, rng=rng)

    done = at_once(lambda: platform.rehearse(crowd(1)), lambda: platform.rehearse(crowd(2)))
    assert sum(done) == 20
    assert len(list(platform.submissions(ids))) == 20


def test_two_connections_see_one_workplace(tmp_path, hit, clock) -> None:
    path = str(tmp_path / "w.db")
    with connect(path, clock=clock) as one, connect(path, clock=clock) as two:
        remote = one.publish(hit())
        assert two.find("hit") == remote
        two.accept(remote.hit_id, "ann")
        assert [each.worker for each in one.submissions([remote.hit_id])] == ["ann"]
