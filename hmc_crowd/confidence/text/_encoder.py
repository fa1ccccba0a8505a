"""What does a text look like to a machine? A vector per text from any encoder checkpoint, computed once."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from hmc_crowd.confidence._estimator import Parameters
from hmc_crowd.confidence.text._cache import EmbeddingCache
from hmc_crowd.confidence.text._run import autocast, bar, by_length, check_places, check_run, pad, pooled, the_device
from hmc_crowd.confidence.text._turns import as_turns, encode
from hmc_crowd.confidence.text._weights import Loaded, fingerprint, load, need

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["TextEncoder"]

_KEPT_AT_ONCE = 2_048  # rows between two writes to the cache: what a killed run loses at most


class TextEncoder(Parameters):
    """Features of texts from a frozen encoder, in scikit-learn manners (usable in a pipeline).

    Parameters
    ----------
    encoder : str, default "minilm"
        ``"minilm"`` (all-MiniLM-L6-v2, inside a package of the extra ``text``), a local folder, or a hub's name.
    pooling : {"mean", "cls"}, default "mean"
        Mean over the tokens, as sentence encoders are trained, or the first token's vector, as in the source.
    max_tokens : int, default 128
        Longer texts lose their oldest words; the source's length.
    normalise : bool, default True
        Scale every vector to length 1, as all-MiniLM-L6-v2 expects.
    batch_size : int, default 64
    device : str, optional
        ``"cpu"``, ``"cuda"``; by default the GPU where there is one.
    precision : {"float32", "bfloat16"}, default "float32"
    cache : path, optional
        Folder of an `EmbeddingCache`; several processes may share it.
    progress : bool, default False
        Show a bar on standard error.

    See Also
    --------
    TextClassifier : learns labels, with the encoder frozen or fine-tuned.

    Examples
    --------
    >>> encoder = TextEncoder("minilm")
    >>> near = encoder.transform(["I hate you!", "I really hate you.", "The train leaves at nine."])
    >>> near.shape, bool(near[0] @ near[1] > near[0] @ near[2])
    ((3, 384), True)
    """

    def __init__(
        self,
        encoder: str = "minilm",
        *,
        pooling: str = "mean",
        max_tokens: int = 128,
        normalise: bool = True,
        batch_size: int = 64,
        device: str | None = None,
        precision: str = "float32",
        cache: str | os.PathLike[str] | None = None,
        progress: bool = False,
    ) -> None:
        # Kept as they come and checked when used: scikit-learn's clone asks for the very same objects back.
        self.encoder = encoder
        self.pooling = pooling
        self.max_tokens = max_tokens
        self.normalise = normalise
        self.batch_size = batch_size
        self.device = device
        self.precision = precision
        self.cache = cache
        self.progress = progress
        self._loaded: Loaded | None = None
        self._print: str | None = None

    def fit(self, texts: Any = None, y: Any = None) -> TextEncoder:  # noqa: ARG002 - scikit-learn passes them
        """Do nothing but load the weights; there for pipelines."""
        self._load()
        return self

    def transform(self, texts: Sequence[str] | Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        """Return the features.

        Parameters
        ----------
        texts : sequence of str, or of tuples of utterances (oldest first), length n
            As `with_context` makes them.

        Returns
        -------
        array of float32, shape (n, n_features)
            Equal texts have equal rows.

        Raises
        ------
        InputError
            A text is no text, or a setting is not allowed.
        ModelError
            The weights cannot be had, or the GPU that was named is not there.
        """
        check_run(
            pooling=self.pooling, max_tokens=self.max_tokens, batch_size=self.batch_size, precision=self.precision
        )
        turns = as_turns(texts)
        loaded = self._load()
        check_places(loaded, self.max_tokens)
        ids = encode(loaded, turns, max_tokens=self.max_tokens)
        keys = self._keys(ids)
        first = {key: row for row, key in reversed(list(enumerate(keys)))}
        kept = None if self.cache is None else EmbeddingCache(self.cache)
        known = {} if kept is None else kept.get(list(first))
        missing = [key for key in first if key not in known]
        known |= self._compute([ids[first[key]] for key in missing], missing, kept)
        if not keys:
            return np.empty((0, loaded.model.config.hidden_size), dtype=np.float32)
        vectors = np.stack([known[key] for key in keys])
        if self.normalise:
            vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
        return np.asarray(vectors, dtype=np.float32)

    def fit_transform(self, texts: Any, y: Any = None) -> NDArray[np.float32]:  # noqa: ARG002 - scikit-learn passes it
        """Return the features; the same as `transform`."""
        return self.transform(texts)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the weights and the vocabulary."""
        if self._print is None:
            self._print = fingerprint(self._load())
        return self._print

    def _load(self) -> Loaded:
        if self._loaded is None or self._loaded.name != self.encoder:
            self._loaded, self._print = load(self.encoder), None
        return self._loaded

    def _keys(self, ids: list[NDArray[np.int32]]) -> list[bytes]:
        """Return a content hash per text; the model takes part only where a cache outlives this object."""
        head = b"" if self.cache is None else f"{self.fingerprint} {self.pooling} {self.precision}".encode()
        return [hashlib.sha256(head + each.tobytes()).digest() for each in ids]

    def _compute(
        self, ids: list[NDArray[np.int32]], keys: list[bytes], kept: EmbeddingCache | None
    ) -> dict[bytes, NDArray[np.float32]]:
        """Run the encoder over texts of like length, keeping the results as they come."""
        torch = need("torch")
        loaded, device = self._load(), the_device(self.device)
        model = loaded.model.to(device)
        made: dict[bytes, NDArray[np.float32]] = {}
        fresh: list[bytes] = []
        lengths = np.array([len(each) for each in ids])
        with torch.inference_mode(), bar(len(ids), "encoding", shown=self.progress) as shown:
            for batch in by_length(lengths, self.batch_size):
                tokens = pad([ids[k] for k in batch], loaded.tokenizer.pad_token_id or 0, device)
                with autocast(device, self.precision):
                    vectors = pooled(model, tokens, self.pooling).cpu().numpy()
                named = [keys[k] for k in batch]
                made.update(zip(named, vectors, strict=True))
                fresh += named
                if kept is not None and len(fresh) >= _KEPT_AT_ONCE:
                    kept.put(fresh, np.stack([made[key] for key in fresh]))
                    fresh = []
                shown.update(len(batch))
        if kept is not None and fresh:
            kept.put(fresh, np.stack([made[key] for key in fresh]))
        return made
