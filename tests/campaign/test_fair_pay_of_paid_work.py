"""Who is paid counts for fair pay; refused work is neither an earning nor topped up."""

from __future__ import annotations

import pandas as pd

from hmc_crowd.campaign._wages import reckoned
from hmc_crowd.store import HitItemRecord, HitRecord


def test_refused_work_earns_nothing_and_is_not_topped_up() -> None:
    item = HitItemRecord("i", "label", 0, is_gold=False, guideline_version="1")
    hit = HitRecord(key="h", title="t", redundancy=3, pay_minor=100, currency="USD", expected_s=60.0, items=(item,))
    work = pd.DataFrame({"submission_id": ["a", "b", "c"], "active_s": [360.0, 360.0, 3600.0]})
    work = work.assign(platform="local", hit_key="h", platform_elapsed_s=None, worker=["x", "y", "z"])
    work = work.assign(accepted_at=None, submitted_at=None)
    found = reckoned(work.assign(state=["approved", "submitted", "rejected"]), [hit], {}, "USD", 1200)
    # 1.00 for six minutes are 10.00 an hour; 0.20 each are missing to 12.00.
    assert (found.submissions, found.hourly_minor, found.top_up_minor) == (2, 1000, 40)
    assert sorted(found.top_ups) == [("local", "a"), ("local", "b")]
