"""Which label has this text, and how probable is each? An encoder with a linear head.

Two ways: the encoder fine-tuned with the head, as in the source, or left as it is with a logistic regression on its
features, which takes seconds instead of hours and is the better choice for a few thousand labels on a processor.

Source: Zhang, Ren, de Rijke (2021), section 4.3 and appendix: softmax over [CLS], 128 tokens, batches of 64, dropout
.1, rate 5e-5, 4 epochs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd._base.checks import require_same_length
from hmc_crowd.confidence._estimator import Parameters
from hmc_crowd.confidence.text._checkpoint import Checkpoints
from hmc_crowd.confidence.text._classifier_file import load_classifier, save_classifier
from hmc_crowd.confidence.text._encoder import TextEncoder
from hmc_crowd.confidence.text._labels import class_codes, logistic_head, run_hash
from hmc_crowd.confidence.text._run import check_places, check_run, the_device
from hmc_crowd.confidence.text._train import Recipe, tune
from hmc_crowd.confidence.text._turns import as_turns, encode, with_context
from hmc_crowd.confidence.text._weights import load
from hmc_crowd.errors import FrameError, InputError, StateError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

__all__ = ["TextClassifier"]


class TextClassifier(Parameters):
    """Learn labels of texts, in scikit-learn manners.

    Parameters
    ----------
    encoder : str, default "minilm"
        As in `TextEncoder`: ``"minilm"``, a local folder, or a hub's name such as the source's BERT.
    mode : {"finetune", "frozen"}, default "finetune"
        Train encoder and head together, or a logistic regression on the features of the encoder as it is.
    pooling : {"cls", "mean"}, optional
        What of the last layer the head sees. By default the first token if fine-tuned, as in the source, and the mean
        if frozen, as sentence encoders are trained.
    max_tokens, batch_size, epochs, learning_rate, dropout : 128, 64, 4, 5e-5, 0.1
        The source's; the last three matter for fine-tuning only.
    warmup : float, default 0.1
        Share of the steps in which the rate rises.
    weight_decay : float, default 0.01
    C : float, default 10.0
        Inverse strength of the logistic regression's penalty, for ``mode="frozen"``; features have length 1, on which
        scikit-learn's own default of 1 is too strict.
    seed : int, default 397
    device, precision, cache, progress
        As in `TextEncoder`; the cache serves a frozen encoder.

    Attributes
    ----------
    classes_ : array
        Labels, sorted.
    encoder_ : TextEncoder
        The encoder that makes the features, fine-tuned or not.
    coef_, intercept_ : arrays, shape (n_classes, n_features) and (n_classes,)
        ``softmax(features @ coef_.T + intercept_)`` is what `predict_proba` gives.
    history_ : tuple of dict
        One per epoch of fine-tuning: ``epoch``, ``loss``, and ``accuracy`` where texts were held out.

    Examples
    --------
    >>> texts = ["I hate you", "You are disgusting", "Nice to meet you", "Thanks a lot"]
    >>> model = TextClassifier(mode="frozen").fit(texts, ["rude", "rude", "fine", "fine"])
    >>> model.predict(["I really hate you"]).tolist(), model.predict_proba(["Thank you"]).shape
    (['rude'], (1, 2))
    """

    def __init__(
        self,
        encoder: str = "minilm",
        *,
        mode: str = "finetune",
        pooling: str | None = None,
        max_tokens: int = 128,
        batch_size: int = 64,
        epochs: int = 4,
        learning_rate: float = 5e-5,
        dropout: float = 0.1,
        warmup: float = 0.1,
        weight_decay: float = 0.01,
        C: float = 10.0,
        seed: int = 397,
        device: str | None = None,
        precision: str = "float32",
        cache: str | os.PathLike[str] | None = None,
        progress: bool = False,
    ) -> None:
        self.encoder = encoder
        self.mode = mode
        self.pooling = pooling
        self.max_tokens = max_tokens
        self.batch_size = batch_size
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.dropout = dropout
        self.warmup = warmup
        self.weight_decay = weight_decay
        self.C = C
        self.seed = seed
        self.device = device
        self.precision = precision
        self.cache = cache
        self.progress = progress

    # -- fitting -------------------------------------------------------------------------------------------------------

    def fit(
        self,
        texts: Sequence[str] | Sequence[tuple[str, ...]],
        labels: ArrayLike,
        *,
        held_out: tuple[Sequence[Any], ArrayLike] | None = None,
        checkpoints: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 100,
    ) -> TextClassifier:
        """Learn from labelled texts.

        Parameters
        ----------
        texts : sequence of str, or of tuples of utterances, length n
            As `with_context` makes them.
        labels : array of str, int or bool, shape (n,)
        held_out : (texts, labels), optional
            Scored after every epoch, never learnt from.
        checkpoints : path, optional
            Folder for states of a fine-tuning run. Calling again with the same data and settings goes on where a
            killed run stopped, with the same result as if it had not been killed.
        checkpoint_every : int, default 100
            Steps between states.

        Raises
        ------
        InputError
            A text, label or setting is not allowed, or there are fewer than two labels.
        StateError
            ``checkpoints`` holds a run on other data or settings.
        ModelError
            The weights cannot be had, or the loss is no number.
        """
        self._check()
        turns = as_turns(texts)
        classes, targets = class_codes(labels)
        require_same_length([("labels", targets), ("texts", turns)])
        if len(classes) < 2:
            raise InputError(f"labels holds only {classes.tolist()}; give texts of at least two labels")
        if isinstance(checkpoint_every, bool) or not isinstance(checkpoint_every, int) or checkpoint_every < 1:
            raise InputError(f"checkpoint_every is {checkpoint_every!r}; give a whole number of steps from 1")
        if self.mode == "frozen":
            return self._fit_head(turns, targets, classes, held_out)
        return self._fit_all(turns, targets, classes, held_out, checkpoints, checkpoint_every)

    def _fit_head(self, turns: Any, targets: NDArray[np.int64], classes: NDArray[Any], held_out: Any) -> TextClassifier:
        encoder = self._make_encoder()
        weight, bias = logistic_head(encoder.transform(turns), targets, self.C)
        self._set_fitted(encoder, weight, bias, classes, ())
        if held_out is not None:
            scored: tuple[dict[str, Any], ...] = ({"epoch": 0, "accuracy": self.score(*held_out)},)
            self.history_ = scored
        return self

    def _fit_all(
        self,
        turns: Any,
        targets: NDArray[np.int64],
        classes: NDArray[Any],
        held_out: Any,
        checkpoints: Any,
        every: int,
    ) -> TextClassifier:
        encoder = self._make_encoder()
        loaded = load(self.encoder)
        # Its own copy of the weights: fine-tuning changes them.
        encoder._loaded = loaded
        check_places(loaded, self.max_tokens)
        ids = encode(loaded, turns, max_tokens=self.max_tokens)
        recipe = self._recipe()
        states = None
        if checkpoints is not None:
            run = run_hash(encoder.fingerprint, recipe, ids, targets)
            states = Checkpoints(Path(checkpoints), run, every)

        def after_epoch(weight: Any, bias: Any) -> dict[str, Any]:
            if held_out is None:
                return {}
            self._set_fitted(encoder, weight, bias, classes, ())
            return {"accuracy": self.score(*held_out)}

        tuned = tune(
            loaded,
            ids,
            targets,
            recipe,
            n_classes=len(classes),
            device=the_device(self.device),
            checkpoints=states,
            progress=self.progress,
            after_epoch=after_epoch,
        )
        encoder._print = None
        return self._set_fitted(encoder, tuned.weight, tuned.bias, classes, tuple(tuned.history))

    def _recipe(self) -> Recipe:
        return Recipe(
            learning_rate=self.learning_rate,
            epochs=self.epochs,
            batch_size=self.batch_size,
            dropout=self.dropout,
            warmup=self.warmup,
            weight_decay=self.weight_decay,
            pooling=self._pooling(),
            precision=self.precision,
            seed=self.seed,
        )

    def _pooling(self) -> str:
        return self.pooling or ("cls" if self.mode == "finetune" else "mean")

    def _make_encoder(self, name: str | None = None) -> TextEncoder:
        return TextEncoder(
            self.encoder if name is None else name,
            pooling=self._pooling(),
            max_tokens=self.max_tokens,
            normalise=self.mode == "frozen",
            batch_size=self.batch_size,
            device=self.device,
            precision=self.precision,
            cache=self.cache if self.mode == "frozen" else None,
            progress=self.progress,
        )

    def _check(self) -> None:
        check_run(
            mode=self.mode,
            pooling=self._pooling(),
            max_tokens=self.max_tokens,
            batch_size=self.batch_size,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            dropout=self.dropout,
            warmup=self.warmup,
            weight_decay=self.weight_decay,
            C=self.C,
            precision=self.precision,
        )

    def _set_fitted(
        self, encoder: TextEncoder, weight: Any, bias: Any, classes: NDArray[Any], history: tuple[dict[str, Any], ...]
    ) -> TextClassifier:
        self.encoder_, self.coef_, self.intercept_ = encoder, weight, bias
        self.classes_ = classes
        self.history_ = history
        return self

    # -- use -----------------------------------------------------------------------------------------------------------

    def features(self, texts: Sequence[Any]) -> NDArray[np.float32]:
        """Return what the head sees, shape (n, n_features): the space for a Trust Score."""
        self._require_fitted()
        return self.encoder_.transform(texts)

    def predict_proba(self, texts: Sequence[Any]) -> NDArray[np.float64]:
        """Return the probability of every label, shape (n, n_classes), columns as ``classes_``; rows sum to 1."""
        logits = self.features(texts) @ self.coef_.T + self.intercept_
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))

    def predict(self, texts: Sequence[Any]) -> NDArray[Any]:
        """Return the most probable label of each text."""
        shares = self.predict_proba(texts)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def score(self, texts: Sequence[Any], labels: ArrayLike) -> float:
        """Return the share of texts whose label is predicted."""
        wanted = np.asarray(labels)
        guess = self.predict(texts)
        require_same_length([("labels", wanted), ("texts", guess)])
        return float(np.mean(guess == wanted))

    def predictions(self, items: Any, *, previous: int = 3) -> pd.DataFrame:
        """Predict an items table, each item in its context.

        Parameters
        ----------
        items : table
            Columns ``item, text[, group, position]``.
        previous : int, default 3
            As in `with_context`.

        Returns
        -------
        pandas.DataFrame
            ``item, label, confidence, p_<label>, ...``, as `Campaign.add_predictions` takes it. The confidence is the
            highest probability; calibrate it before routing.
        """
        import pandas as pd

        turns = with_context(items, previous=previous)
        if "item" not in items:
            raise FrameError("items lacks the column item; add it, so that predictions can be joined to it")
        shares = self.predict_proba(turns)
        best = shares.argmax(axis=1)
        made = {"item": list(items["item"]), "label": self.classes_[best], "confidence": shares.max(axis=1)}
        return pd.DataFrame(made | {f"p_{label}": shares[:, k] for k, label in enumerate(self.classes_)})

    def _require_fitted(self) -> None:
        if not hasattr(self, "coef_"):
            raise StateError("this TextClassifier knows no labels yet; first fit() it, or load() a saved one")

    # -- keeping -------------------------------------------------------------------------------------------------------

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the classifier to a folder: safetensors and JSON, nothing that can run code.

        A fine-tuned encoder is written too; a frozen one is named, and its weights are checked when loading.

        Raises
        ------
        StateError
            Not fitted.
        InputError
            The folder is there already, unless ``overwrite``.
        """
        self._require_fitted()
        save_classifier(self, Path(folder), overwrite=overwrite)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, device: str | None = None) -> TextClassifier:
        """Read a classifier that `save` wrote.

        Raises
        ------
        ModelError
            The folder holds no classifier, is damaged, or its frozen encoder has other weights here.
        """
        return load_classifier(cls, Path(folder), device)
