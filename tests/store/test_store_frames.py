"""Frames come back as they went in, whether they are rows or artefacts, and wrong ones leave nothing behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from hmc_crowd.errors import DuplicateError, FrameError, InputError, StoreError
from hmc_crowd.store import AspectRecord, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hmc_crowd._base.clock import VirtualClock
    from hmc_crowd.store import Store

NAMES = ["a", "b", "c", "d", "e"]


@pytest.fixture(params=["rows", "artefacts"])
def box(
    request: pytest.FixtureRequest, store: Store, made_url: str, clock: VirtualClock, tmp_path: Path
) -> Iterator[Store]:
    """The same tests with frames as SQL rows and as Parquet artefacts."""
    large = 1000 if request.param == "rows" else 2
    with open_store(made_url, clock=clock, artefacts=tmp_path / "artefacts", large=large) as opened:
        yield opened


@pytest.fixture
def filled(box: Store, clock: VirtualClock) -> int:
    with box.begin() as tx:
        made = tx.campaigns.create("frames", {}, created_at=clock.now()).id
        tx.campaigns.add_aspect(made, AspectRecord("m", "nominal", ("yes", "no")))
        tx.frames.add_items(made, some(*NAMES))
    return made


def some(*names: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item": list(names),
            "group": [f"group {name}" for name in names],
            "position": range(len(names)),
            "text": [f"Hello\t{name}\\n 🙂\n" for name in names],
            "features": [{"length": float(at)} if at % 2 else None for at in range(len(names))],
        }
    )


def predictions(*names: str, confidence: float = 0.5, **more: object) -> pd.DataFrame:
    columns = {"item": list(names), "label": ["yes"] * len(names), "confidence": [confidence] * len(names)}
    return pd.DataFrame(columns | more)


def test_items_come_back_in_order_with_defaults_filled(box: Store, filled: int) -> None:
    with box.read() as tx:
        found = tx.frames.read(filled, "items")
    none = pd.Series([None] * len(NAMES), dtype="str")
    pd.testing.assert_frame_equal(
        found,
        some(*NAMES).assign(audience="any", sensitive=False, erased_at=pd.NaT, response_a=none, response_b=none)[
            list(found)
        ],
        check_dtype=False,
    )


def test_a_group_that_is_missing_is_the_item_itself(box: Store, filled: int) -> None:
    with box.begin() as tx:
        tx.frames.add_items(filled, pd.DataFrame({"item": ["z"], "text": ["t"]}))
        assert tx.frames.read(filled, "items", items=["z"], columns=["group", "position"]).values.tolist() == [["z", 0]]


def test_items_can_be_added_again_and_again(box: Store, filled: int) -> None:
    with box.begin() as tx:
        assert tx.frames.add_items(filled, some("f", "g")) == 2
    with box.read() as tx:
        assert tx.frames.read(filled, "items", columns=["item"])["item"].tolist() == [*NAMES, "f", "g"]
        assert (tx.campaigns.get("frames").items, tx.frames.count(filled, "items")) == (7, 7)


def test_an_arrow_table_is_taken_as_well(box: Store, filled: int) -> None:
    with box.begin() as tx:
        tx.frames.add_items(filled, pa.table({"item": ["x", "y"], "text": ["1", "2"], "f_length": [1.5, None]}))
        assert tx.frames.read(filled, "items", items=["x", "y"])["features"].tolist() == [{"length": 1.5}, None]


def test_one_feature_can_be_read_as_a_column(box: Store, filled: int) -> None:
    with box.read() as tx:
        found = tx.frames.read(filled, "items", columns=["f_length", "item"])
    assert found.columns.tolist() == ["f_length", "item"]
    np.testing.assert_array_equal(found["f_length"], [np.nan, 1, np.nan, 3, np.nan])


def test_duplicates_within_the_file_are_named_and_nothing_is_written(box: Store, filled: int) -> None:
    with pytest.raises(DuplicateError, match=r"more than once: row 2 \('x'\)"), box.begin() as tx:
        tx.frames.add_items(filled, some("x", "y", "x"))
    with box.read() as tx:
        assert tx.frames.count(filled, "items") == 5


def test_duplicates_of_stored_items_are_named_and_texts_stay(box: Store, filled: int) -> None:
    changed = some("x", "b").assign(text="changed")
    with pytest.raises(DuplicateError, match=r"has already: row 1 \('b'\).*never changed"), box.begin() as tx:
        tx.frames.add_items(filled, changed)
    with box.read() as tx:
        assert tx.frames.read(filled, "items", items=["b", "x"], columns=["text"])["text"].tolist() == [
            "Hello\tb\\n 🙂\n"
        ]


def test_predictions_in_any_order_come_back_in_item_order(box: Store, filled: int) -> None:
    frame = predictions("d", "a", "c", p_yes=[0.1, 0.2, 0.3], model_version=["v1"] * 3)
    with box.begin() as tx:
        assert tx.frames.put(filled, "predictions", frame) == 3
    with box.read() as tx:
        found = tx.frames.read(filled, "predictions", aspect="m")
        assert found["item"].tolist() == ["a", "c", "d"]
        assert found["probabilities"].tolist() == [{"yes": 0.2}, {"yes": 0.3}, {"yes": 0.1}]
        assert found["model_version"].tolist() == ["v1"] * 3
        assert tx.frames.read(filled, "predictions", columns=["confidence"]).columns.tolist() == ["confidence"]
        assert tx.frames.read(filled, "predictions", columns=["p_yes"])["p_yes"].tolist() == [0.2, 0.3, 0.1]
        assert tx.frames.read(filled, "predictions", items=["d", "b"], columns=["item"])["item"].tolist() == ["d"]
        assert tx.frames.count(filled, "predictions") == 3


def test_predictions_are_replaced_item_by_item(box: Store, filled: int) -> None:
    with box.begin() as tx:
        tx.frames.put(filled, "predictions", predictions("a", "b", confidence=0.5))
        tx.frames.put(filled, "predictions", predictions("b", "c", confidence=0.9))
        found = tx.frames.read(filled, "predictions", columns=["item", "confidence"])
    assert found.values.tolist() == [["a", 0.5], ["b", 0.9], ["c", 0.9]]


def test_aspects_are_kept_apart(box: Store, filled: int) -> None:
    both = pd.concat([predictions("a", "b").assign(aspect="m"), predictions("b", "c").assign(aspect="other / ü")])
    with box.begin() as tx:
        tx.frames.put(filled, "predictions", both)
        found = tx.frames.read(filled, "predictions", columns=["aspect", "item"])
        assert found.values.tolist() == [["m", "a"], ["m", "b"], ["other / ü", "b"], ["other / ü", "c"]]
        assert tx.frames.count(filled, "predictions", aspect="m") == 2


def test_efforts_and_gold_come_back(box: Store, filled: int) -> None:
    with box.begin() as tx:
        tx.frames.put(filled, "efforts", pd.DataFrame({"item": ["b", "a"], "seconds": [2, 1], "share": [0.5, None]}))
        tx.frames.put(filled, "gold", pd.DataFrame({"item": ["e", "a"], "label": ["yes", "no"]}))
        efforts = tx.frames.read(filled, "efforts", columns=["item", "seconds", "share"])
        assert efforts.fillna(-1.0).values.tolist() == [["a", 1.0, -1.0], ["b", 2.0, 0.5]]
        assert tx.frames.read(filled, "gold").values.tolist() == [["m", "a", "no"], ["m", "e", "yes"]]


@pytest.mark.parametrize("kind", ["predictions", "efforts", "gold"])
def test_unknown_items_are_named_and_nothing_is_written(box: Store, filled: int, kind: str) -> None:
    frame = predictions("a", "nobody").assign(seconds=1.0)
    with pytest.raises(FrameError, match=r"does not have: row 1 \('nobody'\)"), box.begin() as tx:
        tx.frames.put(filled, kind, frame)
    with box.read() as tx:
        assert tx.frames.count(filled, kind) == 0


@pytest.mark.parametrize("kind", ["predictions", "efforts", "gold"])
def test_a_missing_frame_is_empty_with_its_columns(box: Store, filled: int, kind: str) -> None:
    with box.read() as tx:
        found = tx.frames.read(filled, kind)
        assert (len(found), "item" in found.columns) == (0, True)
        assert tx.frames.read(filled, kind, columns=["item"]).columns.tolist() == ["item"]


def test_items_added_after_predictions_have_none(box: Store, filled: int) -> None:
    with box.begin() as tx:
        tx.frames.put(filled, "predictions", predictions(*NAMES))
        tx.frames.add_items(filled, some("f"))
        assert tx.frames.read(filled, "predictions", columns=["item"])["item"].tolist() == NAMES
        tx.frames.put(filled, "predictions", predictions("f"))
        assert tx.frames.read(filled, "predictions", columns=["item"])["item"].tolist() == [*NAMES, "f"]


def test_a_campaign_that_outgrows_rows_keeps_everything(store: Store, campaign: int) -> None:
    with store.begin() as tx:
        tx.frames.put(campaign, "predictions", predictions("c", "a", p_yes=[0.25, 0.75]))
        tx.frames.put(campaign, "efforts", pd.DataFrame({"item": ["b"], "seconds": [2.0]}))
        before = tx.frames.read(campaign, "predictions")
        tx.frames.add_items(campaign, some(*(f"n{at}" for at in range(1000))))
        pd.testing.assert_frame_equal(tx.frames.read(campaign, "predictions"), before)
        assert tx.frames.read(campaign, "efforts", columns=["item", "seconds"]).values.tolist() == [["b", 2.0]]
        assert tx.frames.read(campaign, "items", columns=["item"])["item"].tolist()[:4] == ["a", "b", "c", "n0"]
    assert list(store.artefacts.glob("*.parquet"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"item": ["x", None]}, r"column item is missing in row 1"),
        ({"item": [1, 2]}, r"column item holds int64"),
        ({"item": ["x", ""]}, r"1 to 800 bytes long: row 1"),
        ({"item": ["x", "y" * 801]}, r"1 to 800 bytes long: row 1"),
        ({"text": ["x", "a\x00b"]}, r"NUL character in row 1"),
        ({"text": ["x", "\ud800"]}, r"half of a surrogate pair at row 1"),
        ({"text": [None, None]}, r"column text is missing in rows 0, 1"),
        ({"position": [0, 1.5]}, r"column position cannot be read as integer"),
        ({"features": [{"x": float("nan")}, None]}, r"features cannot be stored as JSON"),
    ],
)
def test_wrong_items_name_the_column_and_the_rows(
    store: Store, campaign: int, change: dict[str, list[object]], message: str
) -> None:
    frame = pd.DataFrame(
        {"item": ["x", "y"], "text": ["1", "2"]}
        | {k: pd.Series(v, dtype=object if k != "item" or None in v else None) for k, v in change.items()}
    )
    with pytest.raises(InputError, match=message), store.begin() as tx:
        tx.frames.add_items(campaign, frame)
    with store.read() as tx:
        assert tx.frames.count(campaign, "items") == 3


def test_missing_columns_are_named_with_those_there_are(store: Store, campaign: int) -> None:
    with pytest.raises(FrameError, match="items lacks the column text; it has item"), store.begin() as tx:
        tx.frames.add_items(campaign, pd.DataFrame({"item": ["x"]}))


def test_a_missing_confidence_is_refused(store: Store, campaign: int) -> None:
    with pytest.raises(FrameError, match="column confidence is missing in row 0"), store.begin() as tx:
        tx.frames.put(campaign, "predictions", predictions("a", confidence=float("nan")))


def test_unknown_columns_and_kinds_are_refused(store: Store, campaign: int) -> None:
    with store.read() as tx:
        with pytest.raises(FrameError, match="columns names colour"):
            tx.frames.read(campaign, "items", columns=["colour"])
        with pytest.raises(InputError, match="choose items, predictions"):
            tx.frames.read(campaign, "colours")


def test_a_truncated_artefact_is_named(box: Store, filled: int, tmp_path: Path) -> None:
    files = sorted((tmp_path / "artefacts").glob("*items*.parquet"))
    if not files:
        pytest.skip("frames are rows here")
    files[0].write_bytes(files[0].read_bytes()[:-20])
    with pytest.raises(StoreError, match=r"items.*\.parquet is damaged"), box.read() as tx:
        tx.frames.read(filled, "items")
    files[0].unlink()
    with pytest.raises(StoreError, match=r"items.*\.parquet is missing"), box.read() as tx:
        tx.frames.read(filled, "items")


def test_a_rolled_back_transaction_leaves_no_files(store: Store, campaign: int, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), store.begin() as tx:
        tx.frames.add_items(campaign, some(*(f"n{at}" for at in range(1200)))) / 0
    assert list((tmp_path / "artefacts").iterdir()) == []
    with store.read() as tx:
        assert tx.frames.count(campaign, "items") == 3
