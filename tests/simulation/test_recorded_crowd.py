import numpy as np
import pandas as pd
import polars as pl
import pytest

from hmc_crowd.errors import FrameError, InputError
from hmc_crowd.simulation import Question, RecordedCrowd

LOG = pd.DataFrame(
    {
        "task": ["a", "b", "a", "b", "c"],
        "worker": ["ann", "ann", "bob", "bob", "cyd"],
        "label": ["yes", "no", "no", "no", "yes"],
        "seconds": [3.0, 4.0, 5.0, 6.0, 7.0],
    }
)
AB = [Question("a"), Question("b")]
NOBODY: frozenset[str] = frozenset()


def replay(log=LOG, **options):
    return RecordedCrowd(log, rng=np.random.default_rng(1), **options)


@pytest.mark.parametrize("frame", [LOG, pl.from_pandas(LOG)], ids=["pandas", "polars"])
def test_labels_and_times_are_those_on_record(frame) -> None:
    crowd, already, seen = replay(frame), set(), {}
    while (work := crowd.work("h", AB, frozenset(already))) is not None:
        already.add(work.worker)
        seen[work.worker] = [(each.item, each.label, each.seconds) for each in work.answers]
    assert seen == {
        "ann": [("a", "yes", 3.0), ("b", "no", 4.0)],
        "bob": [("a", "no", 5.0), ("b", "no", 6.0)],
    }


def test_nobody_takes_a_hit_that_nobody_did_whole() -> None:
    assert replay().work("h", [Question("a"), Question("c")], NOBODY) is None
    assert replay().work("h", [Question("unknown")], NOBODY) is None


def test_borrowed_answers_are_given_out_once() -> None:
    crowd = replay(borrow=True)
    work = crowd.work("h", [Question("a"), Question("c")], NOBODY)
    assert work.answers[1].label == "yes"
    # The only record of c is used up.
    assert crowd.work("h2", [Question("c")], NOBODY) is None
    assert crowd.work("h3", [Question("a")], NOBODY) is not None
    assert crowd.work("h4", [Question("a")], NOBODY) is None


def test_it_repeats_from_the_seed() -> None:
    first, second = replay().work("h", AB, NOBODY), replay().work("h", AB, NOBODY)
    assert first == second
    assert first.outcome == "submit"


def test_aspects_and_default_seconds() -> None:
    log = pd.DataFrame({"task": ["a", "a"], "worker": ["w", "w"], "aspect": ["x", "y"], "label": ["1", "2"]})
    work = replay(log, seconds_per_item=2.5).work("h", [Question("a", "y"), Question("a", "x")], NOBODY)
    assert [(each.aspect, each.label, each.seconds) for each in work.answers] == [("y", "2", 2.5), ("x", "1", 2.5)]


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (LOG.drop(columns="label"), "lacks the column 'label'; it has task, worker, seconds"),
        (LOG.head(0), "has no rows"),
        (pd.concat([LOG, LOG.head(1)]), "row 5 is the second answer of worker 'ann' to task 'a'"),
        (LOG.assign(seconds=[1, 2, -3, 4, 5]), "'seconds' is -3.0 in row 2"),
        (LOG.assign(seconds=[1, 2, np.nan, 4, 5]), "'seconds' is empty in row 2"),
        ([1, 2], "is a list; give a pandas, polars or Arrow frame"),
    ],
)
def test_a_wrong_log_is_refused(log, message) -> None:
    with pytest.raises(FrameError, match=message):
        replay(log)


def test_a_negative_default_time_is_refused() -> None:
    with pytest.raises(InputError, match="seconds_per_item is -1"):
        replay(seconds_per_item=-1)
