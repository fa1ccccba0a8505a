"""The classifier: both ways to learn, same seed same model, kept and read back, killed and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from hmc_crowd.confidence.text import TextClassifier
from hmc_crowd.errors import InputError, ModelError, StateError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.text

SMALL: dict[str, Any] = {"max_tokens": 16, "batch_size": 8, "epochs": 3, "learning_rate": 0.01, "seed": 5}


@pytest.fixture(scope="module")
def tuned(tiny: str, rude: Any) -> TextClassifier:
    return TextClassifier(tiny, **SMALL).fit(*rude, held_out=rude)


def test_defaults_are_the_sources() -> None:
    given = TextClassifier().get_params()
    expected = {"max_tokens": 128, "batch_size": 64, "epochs": 4, "learning_rate": 5e-5, "dropout": 0.1}
    assert {name: given[name] for name in expected} == expected
    assert TextClassifier()._pooling() == "cls"


def test_fine_tuning_learns_what_the_words_say(tuned: TextClassifier, rude: Any) -> None:
    assert tuned.score(*rude) > 0.95
    assert [each["epoch"] for each in tuned.history_] == [1, 2, 3]
    assert tuned.history_[-1]["loss"] < tuned.history_[0]["loss"]
    assert tuned.history_[-1]["accuracy"] == tuned.score(*rude)


def test_probabilities_sum_to_one_and_agree_with_the_label(tuned: TextClassifier) -> None:
    texts = ["i hate you", ("how are you", "nice to meet you"), ""]
    shares = tuned.predict_proba(texts)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    assert (tuned.classes_[shares.argmax(axis=1)] == tuned.predict(texts)).all()
    assert tuned.features(texts).shape == (3, 16)


def test_a_frozen_encoder_gets_a_logistic_head(tiny: str, rude: Any) -> None:
    from sklearn.linear_model import LogisticRegression

    model = TextClassifier(tiny, mode="frozen", max_tokens=16, C=50.0).fit(*rude)
    reference = LogisticRegression(C=50.0, max_iter=2000).fit(model.features(rude[0]), rude[1])
    np.testing.assert_allclose(
        model.predict_proba(rude[0]), reference.predict_proba(model.features(rude[0])), atol=1e-6
    )


def test_three_labels_frozen_and_fine_tuned(tiny: str, rude: Any) -> None:
    labels = [0] * 20 + [1] * 20 + [2] * 20
    for mode in ("frozen", "finetune"):
        model = TextClassifier(tiny, mode=mode, **(SMALL | {"epochs": 1})).fit(rude[0], labels)
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.predict_proba(rude[0][:2]).shape == (2, 3)


def test_same_seed_same_model_other_seed_another(tiny: str, rude: Any, tuned: TextClassifier) -> None:
    import torch

    torch.manual_seed(99)
    before = torch.random.get_rng_state()
    again = TextClassifier(tiny, **SMALL).fit(*rude)
    assert torch.equal(torch.random.get_rng_state(), before)  # the caller's generator is left alone
    assert (again.predict_proba(rude[0]) == tuned.predict_proba(rude[0])).all()
    different = TextClassifier(tiny, **(SMALL | {"seed": 6})).fit(*rude)
    assert np.abs(different.predict_proba(rude[0]) - tuned.predict_proba(rude[0])).max() > 1e-6


def test_fine_tuning_leaves_the_checkpoint_alone(tiny: str, tuned: TextClassifier) -> None:
    from hmc_crowd.confidence.text import TextEncoder

    assert TextEncoder(tiny).fingerprint != tuned.encoder_.fingerprint
    assert TextEncoder(tiny).fingerprint == TextEncoder(tiny).fingerprint


def test_bfloat16_trains_too(tiny: str, rude: Any) -> None:
    assert TextClassifier(tiny, precision="bfloat16", **SMALL).fit(*rude).score(*rude) > 0.9


def test_predictions_are_a_table_for_a_campaign(tuned: TextClassifier) -> None:
    items = pd.DataFrame({"item": ["a", "b"], "group": ["g", "g"], "text": ["i like you", "i hate your face"]})
    table = tuned.predictions(items)
    assert list(table.columns) == ["item", "label", "confidence", "p_fine", "p_rude"]
    assert (table["confidence"] == table[["p_fine", "p_rude"]].max(axis=1)).all()
    alone = tuned.predict_proba(["i hate your face"])[0]
    assert np.abs(table.loc[1, ["p_fine", "p_rude"]].to_numpy(dtype=float) - alone).max() > 1e-6  # context counts


# -- keeping ---------------------------------------------------------------------------------------------------------


def test_saved_and_read_back_it_says_the_same(tuned: TextClassifier, tmp_path: Path, rude: Any) -> None:
    tuned.save(tmp_path / "m")
    again = TextClassifier.load(tmp_path / "m")
    assert (again.predict_proba(rude[0]) == tuned.predict_proba(rude[0])).all()
    assert again.get_params() == tuned.get_params()
    assert list(again.history_) == list(tuned.history_)
    kept = {path.suffix for path in (tmp_path / "m").rglob("*") if path.is_file()}
    assert kept <= {".json", ".safetensors", ".txt"}
    with pytest.raises(InputError, match="overwrite=True"):
        tuned.save(tmp_path / "m")
    tuned.save(tmp_path / "m", overwrite=True)


def test_a_frozen_classifier_checks_its_encoders_weights(tiny: str, other: str, rude: Any, tmp_path: Path) -> None:
    import shutil

    encoder = tmp_path / "encoder"
    shutil.copytree(tiny, encoder)
    model = TextClassifier(str(encoder), mode="frozen", max_tokens=16).fit(*rude)
    model.save(tmp_path / "m")
    assert (TextClassifier.load(tmp_path / "m").predict(rude[0]) == model.predict(rude[0])).all()
    shutil.rmtree(encoder)
    shutil.copytree(other, encoder)
    with pytest.raises(ModelError, match="has other weights"):
        TextClassifier.load(tmp_path / "m")


@pytest.mark.parametrize("damage", ["no folder", "junk", "other format", "head", "params"])
def test_a_damaged_classifier_is_one_sentence(damage: str, tuned: TextClassifier, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    if damage != "no folder":
        tuned.save(folder)
    facts = folder / "classifier.json"
    if damage == "junk":
        facts.write_text("{")
    elif damage == "other format":
        facts.write_text(json.dumps({"format": "else"}))
    elif damage == "head":
        (folder / "head.safetensors").write_bytes(b"junk")
    elif damage == "params":
        facts.write_text(facts.read_text().replace('"epochs"', '"epoch"'))
    with pytest.raises(ModelError) as caught:
        TextClassifier.load(folder)
    assert "\n" not in str(caught.value)


def test_a_model_without_labels_says_what_comes_first(tmp_path: Path) -> None:
    for call in (lambda: TextClassifier().predict(["a"]), lambda: TextClassifier().save(tmp_path / "m")):
        with pytest.raises(StateError, match=r"first fit\(\) it"):
            call()


# -- training that is killed -----------------------------------------------------------------------------------------

RUN = """
import sys, json
from hmc_crowd.confidence.text import TextClassifier
tiny, folder, data, settings = sys.argv[1], sys.argv[2], *map(json.loads, sys.argv[3:5])
TextClassifier(tiny, **settings).fit(*data, checkpoints=folder, checkpoint_every=1)
"""


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Sums are equal bit for bit only on the same number of threads."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_killed_at_any_instant_and_resumed_it_is_the_same_model(tiny: str, rude: Any, tmp_path: Path) -> None:
    tuned = TextClassifier(tiny, **SMALL).fit(*rude, held_out=rude)
    folder = tmp_path / "states"
    command = [sys.executable, "-c", RUN, tiny, str(folder), json.dumps(rude), json.dumps(SMALL)]
    running = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"})
    deadline = time.monotonic() + 120
    while not list(folder.glob("step-0000000[3-9]")) and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL  # it was cut off, not done: 24 steps in all
    reached = max(int(path.name[5:]) for path in folder.glob("step-*"))
    assert 3 <= reached < 24
    resumed = TextClassifier(tiny, **SMALL).fit(*rude, checkpoints=folder, checkpoint_every=1, held_out=rude)
    np.testing.assert_allclose(resumed.predict_proba(rude[0]), tuned.predict_proba(rude[0]), atol=1e-12)
    assert [each["loss"] for each in resumed.history_] == pytest.approx([each["loss"] for each in tuned.history_])


@pytest.mark.parametrize("stop", [1, 7, 8, 9, 23])
def test_interrupted_before_in_and_after_an_epochs_end(
    stop: int, tiny: str, rude: Any, tuned: TextClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hmc_crowd.confidence.text import _train

    real, done = _train._step, []

    def breaks(*given: Any) -> float:
        if len(done) == stop:
            raise KeyboardInterrupt
        done.append(1)
        return real(*given)

    monkeypatch.setattr(_train, "_step", breaks)
    with pytest.raises(KeyboardInterrupt):
        TextClassifier(tiny, **SMALL).fit(*rude, checkpoints=tmp_path / "s", checkpoint_every=2)
    monkeypatch.setattr(_train, "_step", real)
    resumed = TextClassifier(tiny, **SMALL).fit(*rude, checkpoints=tmp_path / "s", checkpoint_every=2)
    assert (resumed.predict_proba(rude[0]) == tuned.predict_proba(rude[0])).all()
    assert [each["loss"] for each in resumed.history_] == [each["loss"] for each in tuned.history_]


def test_a_finished_run_is_not_trained_again(
    tiny: str, rude: Any, tuned: TextClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    TextClassifier(tiny, **SMALL).fit(*rude, checkpoints=tmp_path / "s")
    monkeypatch.setattr("hmc_crowd.confidence.text._train._step", lambda *_: pytest.fail("trained again"))
    again = TextClassifier(tiny, **SMALL).fit(*rude, checkpoints=tmp_path / "s")
    assert (again.predict_proba(rude[0]) == tuned.predict_proba(rude[0])).all()


@pytest.mark.parametrize("change", ["labels", "texts", "settings", "weights"])
def test_states_of_another_run_are_refused(change: str, tiny: str, other: str, rude: Any, tmp_path: Path) -> None:
    texts, labels = rude
    settings = SMALL | {"epochs": 1}
    TextClassifier(tiny, **settings).fit(texts, labels, checkpoints=tmp_path / "s")
    if change == "labels":
        labels = labels[::-1]
    elif change == "texts":
        texts = texts[::-1]
    elif change == "settings":
        settings = settings | {"dropout": 0.2}
    with pytest.raises(StateError, match="holds a run on other texts, labels, settings or weights"):
        TextClassifier(other if change == "weights" else tiny, **settings).fit(
            texts, labels, checkpoints=tmp_path / "s"
        )


def test_a_damaged_state_is_named_and_a_draft_is_swept_away(tiny: str, rude: Any, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    (folder / ".draft-00000001").mkdir(parents=True)
    settings = SMALL | {"epochs": 1}
    TextClassifier(tiny, **settings).fit(*rude, checkpoints=folder, checkpoint_every=4)
    assert sorted(path.name for path in folder.iterdir()) == ["step-00000004", "step-00000008"]
    (folder / "step-00000008" / "state.safetensors").write_bytes(b"half")
    with pytest.raises(ModelError, match="step-00000008 is damaged: delete it"):
        TextClassifier(tiny, **settings).fit(*rude, checkpoints=folder)


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mode": "half"}, "mode is 'half'; use 'finetune' or 'frozen'"),
        ({"epochs": 0}, "epochs is 0"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0; give a number above 0"),
        ({"dropout": 1.0}, r"dropout is 1.0; give a share in \[0, 1\)"),
        ({"C": float("nan")}, "C is nan"),
    ],
)
def test_settings_are_refused_by_name(settings: dict[str, Any], words: str, tiny: str) -> None:
    with pytest.raises(InputError, match=words):
        TextClassifier(tiny, **settings).fit(["a", "b"], ["x", "y"])


@pytest.mark.parametrize(
    ("texts", "labels", "words"),
    [
        ("one text", ["x"], "texts is one string"),
        (["a", 3], ["x", "y"], r"texts must hold texts.*row 1 \(3\)"),
        (["a", ()], ["x", "y"], r"texts must hold texts.*row 1"),
        (["a", "b"], ["x"], "labels has 1 rows but texts has 2|texts has 2 rows but labels has 1"),
        (["a", "b"], ["x", "x"], "labels holds only"),
        (["a", "b"], ["x", None], "labels mixes kinds or has missing values"),
        (["a", "b"], [0.5, 1.5], "labels are of type float64"),
        ([], [], "labels has shape"),
    ],
)
def test_texts_and_labels_are_refused_by_name(texts: Any, labels: Any, words: str, tiny: str) -> None:
    with pytest.raises(InputError, match=words):
        TextClassifier(tiny).fit(texts, labels)


def test_a_loss_that_is_no_number_stops_the_run(tiny: str, rude: Any) -> None:
    with pytest.raises(ModelError, match="take a smaller learning_rate"):
        TextClassifier(tiny, **(SMALL | {"learning_rate": 1e30, "epochs": 5})).fit(*rude)


def test_progress_goes_to_standard_error_and_only_when_asked(
    tiny: str, rude: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = SMALL | {"epochs": 1}
    TextClassifier(tiny, **settings).fit(*rude)
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")
    TextClassifier(tiny, progress=True, **settings).fit(*rude)
    said = capsys.readouterr()
    assert said.out == ""
    assert "training" in said.err
