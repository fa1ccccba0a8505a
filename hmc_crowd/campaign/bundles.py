"""How questions become HITs, and how what is missing from them is asked again.

`build_hits` asks every question exactly as often as it needs: each stands in one bundle, and the bundle has as many
places as its questions need answers. So no worker who takes several bundles meets a question twice, save gold when
there are more bundles than gold. A group (a dialogue) stays in one bundle where it fits, because everybody who meets a
part of it has to read into it. `salvage` looks at what came back and says what is still missing: no more, no less,
however often it is asked.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.campaign._gold_rotation import GoldRotation
from hmc_crowd.campaign._keys import campaign_key
from hmc_crowd.campaign._packing import LEAST_S, BundleItem, blocks_of, cost_s, pack, question_s, reading_order
from hmc_crowd.campaign._questions import gold_of, needed_of, questions_of
from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
__all__ = ["Bundle", "BundleItem", "build_hits", "gold_seen", "salvage"]


@dataclass(frozen=True)
class Bundle:
    """What one worker gets in one go.

    Parameters
    ----------
    key : str
        Natural key: the same questions in the same round and campaign always have it, whatever gold is mixed in.
    items : tuple of BundleItem
        In the order in which a worker meets them; the items of a group follow one another in their order.
    redundancy : int
        Places: how many workers are to do it.
    expected_s : float
        Expected seconds of one worker, gold included.
    """

    key: str
    items: tuple[BundleItem, ...]
    redundancy: int
    expected_s: float


def build_hits(
    work: pd.DataFrame | Mapping[str, Any],
    *,
    campaign: str,
    round: int,
    rng: np.random.Generator,
    redundancy: int | None = None,
    target_minutes: float = 12.0,
    gold: pd.DataFrame | Mapping[str, Any] | None = None,
    gold_share: float = 0.1,
    gold_limit: int | None = None,
    seen: Mapping[tuple[str, str], int] | None = None,
) -> tuple[Bundle, ...]:
    """Bundle questions into HITs of about ``target_minutes``.

    Parameters
    ----------
    work : frame or mapping of columns
        One row a question, in any order (the order changes nothing): ``item``, ``aspect``, ``group``, ``position``
        (whole), ``effort_s`` (expected marginal seconds, P50, >= 0), ``setup_s`` (seconds to read into the group; rows
        of a group that differ count as the largest) and ``needed`` (answers still needed; rows with 0 are left out).
        With ``has_context`` (whether turns of its group stand before an item) gold is drawn to look like the work, as
        far as there is such gold. Other columns are ignored.
    campaign, round : str, int
        Part of every key; another round gives other keys, so asking again is a new HIT.
    rng : numpy.random.Generator
        Mixes groups, gold and their order; the same seed gives the same bundles.
    redundancy : int, optional
        Answers each question needs where ``work`` has no column ``needed``.
    target_minutes : float, default 12
        Expected length of a HIT. Long enough that reading into a dialogue pays, short enough for one sitting.
    gold : frame or mapping of columns, optional
        Questions with known labels: the columns of ``work`` without ``needed`` and, so that gold is balanced over
        them, ``label`` and ``difficulty`` (any number, larger is harder). Those about an item
        of ``work`` are left out: nobody meets an item twice.
    gold_share : float, default 0.1
        Gold's share of a bundle's questions, in [0, 1); one gold question at least, 0 mixes none in.
    gold_limit : int, optional
        Most people who may meet a gold question, those of ``seen`` included; then it rests, and bundles for which none
        is left carry less gold, or none. At least the places of a bundle, which all meet the same; None sets no limit.
    seen : mapping of (item, aspect) to int, optional
        How many workers met each gold question before, see `gold_seen`.

    Returns
    -------
    tuple of Bundle
        Every question in exactly one bundle, with as many places as it needs answers. A bundle is longer than the
        target only if it holds a single group of work. Groups over twice the target are split into runs of whole items,
        unless reading into the group would be most of each run.

    Raises
    ------
    FrameError
        A column is missing, a question is there twice, or a value is out of range.
    InputError
        An argument is out of range, ``needed`` and ``redundancy`` are both missing, or gold takes over half of a HIT.

    Notes
    -----
    Questions that need a different number of answers never share a bundle, even within a group. Packing is best fit,
    the large groups first; O(n log n).

    Gold is drawn as `hmc_crowd.quality.draw_gold` does: labels take turns, within a label three steps of difficulty,
    and within these the least seen comes first. Where there is enough of it, no gold stands in two bundles; where there
    is not, none of a rare label comes more than three times as often as if all gold took turns.

    Examples
    --------
    >>> work = {"item": ["a1", "a2", "b1"], "aspect": ["q"] * 3, "group": ["a", "a", "b"], "position": [1, 2, 1],
    ...         "effort_s": [20.0, 10.0, 15.0], "setup_s": [30.0, 30.0, 30.0]}
    >>> hits = build_hits(work, campaign="c", round=1, rng=np.random.default_rng(1), redundancy=3, target_minutes=1)
    >>> [([each.item for each in hit.items], hit.redundancy, hit.expected_s) for hit in hits]
    [(['a1', 'a2'], 3, 60.0), (['b1'], 3, 45.0)]
    """
    target_s = _above_zero(target_minutes, "target_minutes") * 60
    if not 0 <= gold_share < 1:
        raise InputError(f"gold_share is {gold_share}; give a share of at least 0 and below 1")
    questions = questions_of(work, name="work")
    needed = needed_of(work, redundancy, len(questions))
    most_places = int(needed.max(initial=0))
    _check_limit(gold_limit, most_places)
    mixed_in = gold is not None and gold_share > 0
    known, cells = gold_of(gold, besides={each.item for each in questions}) if mixed_in else ([], [])
    capacity_s = target_s - _gold_s(known, questions, gold_share, target_s)
    packed: list[tuple[int, list[BundleItem]]] = []
    for places in sorted(set(needed.tolist()) - {0}):
        rows = [each for each, need in zip(questions, needed, strict=True) if need == places]
        for blocks in pack(blocks_of(rows), capacity_s=capacity_s, target_s=target_s, rng=rng):
            packed.append((places, [each for block in blocks for each in block]))
    wanted = [max(1, int(len(asks) * gold_share / (1 - gold_share) + 0.5)) if known else 0 for _, asks in packed]
    rotation = GoldRotation(
        known, cells=cells, seen=seen or {}, limit=gold_limit, wanted=wanted, places=most_places, rng=rng
    )
    bundles = []
    for (places, asks), count in zip(packed, wanted, strict=True):
        key = campaign_key(campaign, "hit", round, places, *_names(asks))
        whole = [*asks, *rotation.take(count, asked=asks, room_s=target_s - cost_s(asks), places=places)]
        bundles.append(Bundle(key, _mixed(whole, rng), places, cost_s(whole)))
    return tuple(bundles)


def gold_seen(bundles: Iterable[Bundle]) -> dict[tuple[str, str], int]:
    """Count how many workers meet each gold question, by (item, aspect): what the next round's ``seen`` is.

    Examples
    --------
    >>> gold = BundleItem("g", "q", "d", 1, is_gold=True)
    >>> gold_seen([Bundle("k1", (gold,), 3, 10.0), Bundle("k2", (gold,), 2, 10.0)])
    {('g', 'q'): 5}
    """
    seen: defaultdict[tuple[str, str], int] = defaultdict(int)
    for bundle in bundles:
        for each in bundle.items:
            if each.is_gold:
                seen[each.item, each.aspect] += bundle.redundancy
    return dict(seen)


def salvage(
    bundles: Sequence[Bundle],
    answered: Mapping[tuple[str, str], int],
    *,
    still_open: Mapping[str, int] | None = None,
    needed: Mapping[tuple[str, str], int] | None = None,
) -> pd.DataFrame:
    """Say what must be asked again after bundles were done in part.

    A question lacks: the answers it needs, less those that came, less those that may still come from open places. That
    looks at the state alone, so calling twice gives the same, and once the replacements are published (and are among
    ``bundles``, with their places in ``still_open``) it gives nothing.

    Parameters
    ----------
    bundles : sequence of Bundle
        All that were published for these questions: first bundles and their replacements.
    answered : mapping of (item, aspect) to int
        Usable answers so far, those that were rejected or excluded not counted. Absent is 0.
    still_open : mapping of key to int, optional
        Places of a bundle that may still bring answers: not taken yet, or being worked on. Absent is 0.
    needed : mapping of (item, aspect) to int, optional
        Answers each question needs in all. Default: the most places that one of its bundles had.

    Returns
    -------
    pandas.DataFrame
        ``item, aspect, group, position, effort_s, setup_s, needed, hit``: only questions that lack something, gold left
        out, in reading order; ``hit`` is the key of the last bundle that held the question. `build_hits` takes it.

    Raises
    ------
    InputError
        ``still_open`` names an unknown bundle or more places than it has, or a count is negative.

    Examples
    --------
    >>> question = BundleItem("a", "q", "d", 1, effort_s=9.0)
    >>> salvage([Bundle("k1", (question,), 3, 9.0)], {("a", "q"): 1}, still_open={"k1": 1})[["item", "needed"]].values
    array([['a', 1]], dtype=object)
    """
    import pandas as pd

    still_open = still_open or {}
    _check_open(bundles, still_open)
    wanted: dict[tuple[str, str], int] = {}
    coming: defaultdict[tuple[str, str], int] = defaultdict(int)
    latest: dict[tuple[str, str], tuple[BundleItem, str]] = {}
    for bundle in bundles:
        for each in bundle.items:
            if not each.is_gold:
                pair = each.item, each.aspect
                wanted[pair] = max(wanted.get(pair, 0), bundle.redundancy)
                coming[pair] += still_open.get(bundle.key, 0)
                latest[pair] = each, bundle.key
    rows = []
    for each, hit in sorted(latest.values(), key=lambda found: reading_order(found[0])):
        pair = each.item, each.aspect
        have = answered.get(pair, 0)
        if have < 0:
            raise InputError(f"answered is {have} for {pair}; give counts of at least 0")
        missing = (needed or wanted).get(pair, wanted[pair]) - have - coming[pair]
        if missing > 0:
            rows.append((*pair, each.group, each.position, each.effort_s, each.setup_s, missing, hit))
    return pd.DataFrame(rows, columns=["item", "aspect", "group", "position", "effort_s", "setup_s", "needed", "hit"])


def _check_open(bundles: Sequence[Bundle], still_open: Mapping[str, int]) -> None:
    places = {bundle.key: bundle.redundancy for bundle in bundles}
    for key, count in still_open.items():
        if key not in places:
            raise InputError(f"still_open names the bundle {key!r}, which is not among bundles; pass that one too")
        if not 0 <= count <= places[key]:
            raise InputError(f"still_open is {count} for {key!r}, which has {places[key]} places; give 0 to that many")


def _above_zero(value: float, name: str) -> float:
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"{name} is {value}; give a number above 0")
    return float(value)


def _check_limit(limit: int | None, places: int) -> None:
    if limit is None:
        return
    if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 1:
        raise InputError(f"gold_limit is {limit!r}; give a whole number of at least 1, or None for no limit")
    if limit < places:
        raise InputError(
            f"gold_limit is {limit}, but {places} people do a HIT and all of them meet its gold; give at least {places}"
        )


def _gold_s(known: Sequence[BundleItem], work: Sequence[BundleItem], gold_share: float, target_s: float) -> float:
    """Return the seconds to keep free for gold: what its share of the questions takes, and the longest at least."""
    if not known:
        return 0.0
    longest_s, item = max((question_s(each, {}), each.item) for each in known)
    if longest_s > target_s / 2:
        raise InputError(
            f"gold item {item!r} takes {longest_s:.0f} s, over half of a HIT of {target_s:.0f} s; "
            "drop it from gold or raise target_minutes"
        )
    # Gold that must be read into takes more time than its share of the questions, gold that is short takes less.
    gold_s, work_s = (cost_s(some, least_s=LEAST_S) / max(1, len(some)) for some in (known, work))
    part = gold_share * gold_s / (gold_share * gold_s + (1 - gold_share) * (work_s or gold_s))
    return max(min(part, 0.5) * target_s, longest_s)


def _names(questions: list[BundleItem]) -> list[str]:
    """Return items and aspects, sorted: what a key is made of."""
    return [part for pair in sorted((each.item, each.aspect) for each in questions) for part in pair]


def _mixed(questions: list[BundleItem], rng: np.random.Generator) -> tuple[BundleItem, ...]:
    """Return the groups in random order, each in reading order; gold of a group takes its place in it."""
    blocks = blocks_of(questions)
    return tuple(each for index in rng.permutation(len(blocks)) for each in blocks[index])
