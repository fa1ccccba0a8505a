"""How do other programs watch the campaigns? The same figures in Prometheus's text format."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from hmc_crowd._base.extras import require
from hmc_crowd.board._figures import read_live

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hmc_crowd.board._figures import Live
    from hmc_crowd.board._house import BoardHouse

__all__ = ["Timings", "render_metrics"]

_CALL_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_SCORES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_GOLD = (("gold_judged", "Gold answers.", False), ("gold_correct", "Right ones among them.", True))
_WORK_S = (60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0)


class Timings:
    """How long calls of the machine door took in this process, by call and status."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seen: dict[tuple[str, int], tuple[list[int], float]] = {}
        self._new = (0, 0.0)

    def observe(self, call: str, status: int, seconds: float) -> None:
        """Count a call."""
        with self._lock:
            counts, total = self._seen.setdefault((call, status), ([0] * (len(_CALL_S) + 1), 0.0))
            counts[sum(seconds > edge for edge in _CALL_S)] += 1
            self._seen[call, status] = counts, total + seconds
            self._new = (self._new[0] + 1, self._new[1] + seconds)

    def take(self) -> tuple[int, float]:
        """Return how many calls there were since this was asked last, and their seconds together."""
        with self._lock:
            found, self._new = self._new, (0, 0.0)
            return found

    def rows(self) -> list[tuple[str, int, list[int], float]]:
        """Return ``call, status, counts by bucket, total seconds``."""
        with self._lock:
            return [(call, status, list(counts), total) for (call, status), (counts, total) in self._seen.items()]


def render_metrics(house: BoardHouse, timings: Timings) -> bytes:
    """Return the figures of all campaigns, and of the door itself.

    Raises
    ------
    MissingExtraError
        The extra ``web`` is not installed.
    """
    client = require("prometheus_client", extra="web", purpose="GET /metrics")
    core = require("prometheus_client.core", extra="web", purpose="GET /metrics")
    read = [(name, read_live(house.context(name))) for name in house.names()]
    with house.store.read() as tx:
        numbers = {name: tx.campaigns.get(name).id for name, _ in read}
        scores = {name: tx.workers.scores(number)["score"].dropna() for name, number in numbers.items()}
        messages = {name: tx.hooks.counts(number) for name, number in numbers.items()}

    class Figures:
        def collect(self) -> Iterator[Any]:
            for name, help_text, value in _GAUGES:
                family = core.GaugeMetricFamily(f"hmc_crowd_{name}", help_text, labels=["campaign"])
                for campaign, live in read:
                    number = value(live)
                    if number is not None:
                        family.add_metric([campaign], float(number))
                yield family
            # Not by person: metrics travel further than the board, and a label for each person would never end.
            quality = core.HistogramMetricFamily(
                "hmc_crowd_worker_quality", "Scores of people on gold.", labels=["campaign"]
            )
            for campaign, each in scores.items():
                so_far = [*(int((each <= edge).sum()) for edge in _SCORES), len(each)]
                quality.add_metric([campaign], _buckets(_SCORES, so_far), float(each.sum()))
            yield quality
            for name, help_text, right_ones in _GOLD:
                family = core.CounterMetricFamily(f"hmc_crowd_{name}", help_text, labels=["campaign"])
                for campaign, live in read:
                    family.add_metric([campaign], float(live.gold["right"].sum() if right_ones else len(live.gold)))
                yield family
            told = core.GaugeMetricFamily(
                "hmc_crowd_webhook_messages", "Messages to webhooks by state.", labels=["campaign", "state"]
            )
            for campaign, by_state in messages.items():
                for state in ("waiting", "sent", "dead"):
                    told.add_metric([campaign, state], float(by_state.get(state, 0)))
            yield told
            work = core.HistogramMetricFamily(
                "hmc_crowd_submission_seconds", "Platform time of submissions.", labels=["campaign"]
            )
            for campaign, live in read:
                seconds = live.submissions["platform_elapsed_s"].dropna()
                counts = [int((seconds <= edge).sum()) for edge in _WORK_S]
                work.add_metric([campaign], _buckets(_WORK_S, [*counts, len(seconds)]), float(seconds.sum()))
            yield work
            calls = core.HistogramMetricFamily(
                "hmc_crowd_door_seconds", "Time to answer calls of the machine door.", labels=["call", "status"]
            )
            for call, status, seen, total in timings.rows():
                running = [sum(seen[: n + 1]) for n in range(len(seen))]
                calls.add_metric([call, str(status)], _buckets(_CALL_S, running), total)
            yield calls

    return bytes(client.generate_latest(Figures()))


def _buckets(edges: Sequence[float], so_far: Sequence[int]) -> list[tuple[str, float]]:
    return [(name, float(n)) for name, n in zip([*map(str, edges), "+Inf"], so_far, strict=True)]


def _of_stream(live: Live, name: str) -> float | None:
    return None if live.stream is None else float(getattr(live.stream, name))


def _of_last_window(live: Live) -> float | None:
    if live.stream is None or not live.stream.windows:
        return None
    return live.stream.windows[-1]["agreement_at_least"] or 0.0


def _open(live: Live) -> int:
    return sum(n for (_, is_open), n in live.door.items() if is_open)


_GAUGES: tuple[tuple[str, str, Any], ...] = (
    ("items", "Items of the campaign.", lambda live: live.status.items),
    ("people_items", "Items that people see, audit included.", lambda live: live.status.people + live.status.audited),
    ("answered_share", "Share of those that have their answers.", lambda live: live.item_share),
    ("answers", "Answers collected.", lambda live: live.status.answers),
    ("human_seconds", "Logged time of people.", lambda live: live.status.human_s),
    ("gold_accuracy", "Right among the last gold answers.", lambda live: live.figures.gold_accuracy),
    ("reserved_minor", "Money reserved, minor units.", lambda live: live.status.reserved_minor),
    ("settled_minor", "Money spent, minor units.", lambda live: live.status.settled_minor),
    ("budget_share", "Reserved and spent, of the plan's limit.", lambda live: live.figures.budget_share),
    ("hourly_minor", "Median pay of an hour, minor units.", lambda live: live.figures.hourly_minor),
    ("agreement_at_least", "Certified agreement.", lambda live: live.status.agreement_at_least),
    ("open_places", "Places open on platforms.", lambda live: live.status.open_places),
    ("reviews_waiting", "Submissions that wait for a review.", lambda live: live.status.not_reviewed),
    ("review_age_seconds", "Age of the oldest of them.", lambda live: live.figures.oldest_review_s),
    ("questions", "Questions for a person.", lambda live: live.figures.questions),
    ("queue_items", "Open items of the machine door.", _open),
    ("queue_age_seconds", "Age of the oldest of them.", lambda live: live.figures.oldest_queue_s),
    ("stream_audit_share", "Chance of an audit at the door.", lambda live: _of_stream(live, "audit_probability")),
    ("stream_alarm", "Whether the stream's alarm is on.", lambda live: _of_stream(live, "alarmed")),
    ("stream_error_high", "Upper end of the rolling audit error.", lambda live: _of_stream(live, "error_high")),
    ("stream_agreement_at_least", "Of the last window; 0 where withdrawn.", lambda live: _of_last_window(live)),
    ("stream_price", "How many times dearer people are.", lambda live: _of_stream(live, "price")),
    ("queue_overdue", "Open items past their deadline.", lambda live: live.figures.overdue),
)
