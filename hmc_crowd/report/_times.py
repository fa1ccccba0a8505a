"""How long did people take? Distributions of logged seconds, and a plan's time counted both ways."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import float_vector
from hmc_crowd.report._blocks import Table
from hmc_crowd.report._draw import Axis
from hmc_crowd.report._format import Column
from hmc_crowd.report._svg import Chart, histogram

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from hmc_crowd.effort import TimeCount

__all__ = ["time_both_ways", "time_tables"]

_BINS = 24
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)


def time_both_ways(count: TimeCount) -> pd.DataFrame:
    """Return a plan's time, counted both ways, as the frame that `ReportData.plan_time` takes.

    Parameters
    ----------
    count : TimeCount
        Made by `hmc_crowd.effort.count_time`.

    Returns
    -------
    pandas.DataFrame
        ``counted, effort_share, human_s``: each item by itself, by set-up and marginal time where that is known,
        and touched groups read whole.

    Examples
    --------
    Two dialogues of 20 and 40 seconds; one turn of the first goes to people: 10 seconds, or 20 if it is read whole.

    >>> from hmc_crowd.effort import count_time
    >>> time_both_ways(count_time([True, False, False], ["a", "a", "b"], [10, 10, 40]))["human_s"].tolist()
    [10.0, 20.0]
    """
    import pandas as pd

    ways = [
        ("each item by itself", count.per_item_share, count.per_item_s),
        ("by set-up and marginal time", count.split_share, count.split_s),
        ("touched groups read whole", count.read_whole_share, count.read_whole_s),
    ]
    known = [way for way in ways if not math.isnan(way[2])]
    return pd.DataFrame(known, columns=["counted", "effort_share", "human_s"])


def time_tables(items: ArrayLike | None, submissions: ArrayLike | None) -> dict[str, Any] | None:
    """Return charts and tables of the logged times, or None where there are none."""
    import pandas as pd

    charts, bins, quantiles = [], [], []
    for kind, name, values in (("item", "per item", items), ("submission", "per submission", submissions)):
        if values is None or np.size(values) == 0:
            continue
        times = float_vector(values, name=f"{kind}_seconds", low=0.0)
        edges, counts = _bins(times)
        marks = [("median", float(np.median(times))), ("90th percentile", float(np.quantile(times, 0.9)))]
        charts.append(_chart(kind, name, edges, counts, marks, times))
        tops = [*edges[1:-1].tolist(), float(times.max())]
        bins.append(pd.DataFrame({"kind": kind, "from_s": edges[:-1], "to_s": tops, "count": counts}))
        row = {"kind": kind, "n": times.size, "mean_s": times.mean()}
        row |= {
            f"p{round(q * 100)}_s": value for q, value in zip(_QUANTILES, np.quantile(times, _QUANTILES), strict=True)
        }
        quantiles.append(row | {"max_s": times.max()})
    if not charts:
        return None
    labels = {f"p{round(q * 100)}_s": Column(f"P{round(q * 100)}", "number", 1, "s") for q in _QUANTILES}
    return {
        "charts": tuple(charts),
        "tables": (
            Table(
                key="time_quantiles",
                title="Seconds logged",
                frame=pd.DataFrame(quantiles),
                columns={"kind": Column("Per"), **labels},
                note="P50 is the median: half of the logged times are below it.",
            ),
            Table(
                key="time_bins",
                title="Counts behind the drawings",
                frame=pd.concat(bins, ignore_index=True),
                columns={
                    "kind": Column("Per"),
                    "from_s": Column("From", "number", 1, "s"),
                    "to_s": Column("To", "number", 1, "s"),
                },
                folded=True,
            ),
        ),
    }


def _bins(times: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[int]]:
    """Return about 24 bins of a round width up to the 99th percentile; the last one holds everything above."""
    top = float(np.quantile(times, 0.99)) or 1.0
    rough = top / _BINS
    power = 10.0 ** math.floor(math.log10(rough))
    width = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    edges = np.arange(math.ceil(top / width - 1e-9) + 1, dtype=np.float64) * width
    counts, _ = np.histogram(np.minimum(times, edges[-1]), edges)
    return edges, [int(count) for count in counts]


def _chart(
    kind: str,
    name: str,
    edges: NDArray[np.float64],
    counts: list[int],
    marks: list[tuple[str, float]],
    times: NDArray[np.float64],
) -> Chart:
    median, high = marks[0][1], marks[1][1]
    above = int((times > edges[-1]).sum())
    more = f" Longer than {edges[-1]:g} s: {above:,}, counted in the last bar." if above else ""
    return histogram(
        f"{kind}-times",
        edges.tolist(),
        counts,
        title=f"Seconds {name}",
        description=f"{times.size:,} times; half are below {median:.1f} s, nine in ten below {high:.1f} s.{more}",
        x=Axis("Time (s)"),
        y=Axis(f"Number of {kind}s"),
        marks=[(f"{label} {value:.1f} s", value) for label, value in marks],
    )
