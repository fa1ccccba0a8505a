"""The demo's own dialogues: as many, as mixed, as mild and as varied as they claim to be."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import hmc_crowd
from hmc_crowd.demo import DemoDialogues, load_dialogues

SENTENCE_END = re.compile(r"[.?!]")
# Words that have no place in mild content; whole words only.
NOT_MILD = re.compile(
    r"\b(damn|hell|crap|shit|fuck|bitch|bastard|arse|ass|sex|sexy|naked|kill|murder|stab|shoot you|punch|slap|retard"
    r"|moron|idiot|fat|gay|jew|muslim|christian|black people|immigrant|blind|deaf|crippled|hate you)\b",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def dialogues() -> DemoDialogues:
    return load_dialogues()


@pytest.fixture(scope="module")
def lines() -> list[dict]:
    text = files("hmc_crowd.demo").joinpath("dialogues.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.strip().split("\n")]


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_']+(?:'[^\W\d_]+)?", text.lower()))


def test_there_are_a_few_hundred_dialogues(lines: list[dict]) -> None:
    assert 260 <= len(lines) <= 400


def test_every_line_has_exactly_the_documented_fields(lines: list[dict]) -> None:
    assert {tuple(line) for line in lines} == {("group", "scene", "turns")}
    assert {tuple(turn) for line in lines for turn in line["turns"]} == {("text", "label", "difficulty")}
    assert all(line["scene"].strip() for line in lines)


def test_groups_are_numbered_in_order(lines: list[dict]) -> None:
    assert [line["group"] for line in lines] == [f"d{number:03d}" for number in range(1, len(lines) + 1)]


def test_a_dialogue_has_two_to_seven_turns(lines: list[dict]) -> None:
    assert {len(line["turns"]) for line in lines} == {2, 3, 4, 5, 6, 7}


def test_scenes_are_varied(lines: list[dict]) -> None:
    assert len({line["scene"] for line in lines}) >= 150


def test_a_turn_is_one_sentence_of_5_to_25_words(dialogues: DemoDialogues) -> None:
    texts = dialogues.items["text"].tolist()
    assert [text for text in texts if not 5 <= len(text.split()) <= 25] == []
    assert [text for text in texts if len(SENTENCE_END.findall(text)) != 1 or text[-1] not in ".?!"] == []


def test_no_sentence_is_repeated(dialogues: DemoDialogues) -> None:
    plain = dialogues.items["text"].str.lower().str.replace(r"\W+", " ", regex=True).str.strip()
    assert plain[plain.duplicated(keep=False)].tolist() == []


def test_no_two_dialogues_are_alike(dialogues: DemoDialogues) -> None:
    vocabulary = dialogues.items.groupby("group")["text"].agg(" ".join).map(words)
    alike = [
        (first, second)
        for first, second in combinations(vocabulary.index, 2)
        if len(vocabulary[first] & vocabulary[second]) >= 0.6 * len(vocabulary[first] | vocabulary[second])
    ]
    assert alike == []


def test_labels_and_difficulties_are_in_range(dialogues: DemoDialogues) -> None:
    assert dialogues.labels == ("kind", "unkind")
    assert set(dialogues.truth["label"]) == set(dialogues.labels)
    assert dialogues.truth["difficulty"].between(0.0, 1.0).all()


def test_about_a_third_of_the_turns_is_unkind_in_about_half_of_the_dialogues(dialogues: DemoDialogues) -> None:
    unkind = dialogues.truth["label"] == "unkind"
    assert 0.30 <= unkind.mean() <= 0.35
    assert 0.40 <= unkind.groupby(dialogues.items["group"]).any().mean() <= 0.60


def test_both_labels_have_hard_cases(dialogues: DemoDialogues) -> None:
    hard = dialogues.truth[dialogues.truth["difficulty"] >= 0.25]["label"].value_counts()
    assert (hard >= 40).all()


def test_content_is_mild(dialogues: DemoDialogues) -> None:
    assert [text for text in dialogues.items["text"] if NOT_MILD.search(text)] == []


def test_frames_have_the_columns_of_the_house(dialogues: DemoDialogues) -> None:
    assert list(dialogues.items.columns) == ["item", "group", "position", "text"]
    assert list(dialogues.truth.columns) == ["item", "label", "difficulty"]


def test_an_item_is_named_by_its_group_and_its_position_from_one(dialogues: DemoDialogues) -> None:
    items = dialogues.items
    assert items["item"].tolist() == [f"{g}-{p}" for g, p in zip(items["group"], items["position"], strict=True)]
    assert (items.groupby("group")["position"].min() == 1).all()
    assert (items.groupby("group")["position"].max() == items.groupby("group").size()).all()
    assert items["item"].is_unique


def test_truth_speaks_of_the_items_in_their_order(dialogues: DemoDialogues, lines: list[dict]) -> None:
    assert dialogues.truth["item"].tolist() == dialogues.items["item"].tolist()
    written = [(turn["text"], turn["label"], turn["difficulty"]) for line in lines for turn in line["turns"]]
    read = zip(dialogues.items["text"], dialogues.truth["label"], dialogues.truth["difficulty"], strict=True)
    assert list(read) == written


def test_accents_survive_the_reading(dialogues: DemoDialogues) -> None:
    assert dialogues.items["text"].str.contains("Touché").sum() == 1


def test_each_call_returns_frames_of_its_own() -> None:
    first = load_dialogues()
    first.items.loc[:, "text"] = "changed"
    first.truth.loc[:, "difficulty"] = np.nan
    second = load_dialogues()
    assert not (second.items["text"] == "changed").any()
    assert second.truth["difficulty"].notna().all()


def test_they_are_read_from_a_package_that_is_no_folder(tmp_path: Path) -> None:
    # A zipped package has no file system behind it: only importlib.resources finds the data there.
    archive = tmp_path / "package.zip"
    package = Path(hmc_crowd.__file__).parent
    with zipfile.ZipFile(archive, "w") as zipped:
        for path in (package / "__init__.py", package / "errors.py", *(package / "_base").glob("*.py")):
            zipped.write(path, Path("hmc_crowd") / path.relative_to(package))
        zipped.write(package / "demo" / "_data.py", "hmc_crowd/demo/_data.py")
        zipped.write(package / "demo" / "dialogues.jsonl", "hmc_crowd/demo/dialogues.jsonl")
        zipped.writestr("hmc_crowd/demo/__init__.py", "")
    code = f"import sys; sys.path.insert(0, {str(archive)!r}); from hmc_crowd.demo import _data; "
    code += "print(_data.__file__, _data.load_dialogues(), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    where, what = done.stdout.splitlines()
    assert where.startswith(str(archive))
    assert what == str(load_dialogues())


def test_it_prints_as_one_line(dialogues: DemoDialogues) -> None:
    assert re.fullmatch(r"\d+ dialogues, \d+ turns, \d+% of them unkind", str(dialogues))
