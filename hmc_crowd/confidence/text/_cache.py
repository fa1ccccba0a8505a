"""Features that were computed once are not computed again, by whichever process asks.

A folder of small files, each written under another name first and then renamed, none ever changed: two processes may
write at the same time, a killed one leaves nothing half written, and at worst both have computed the same rows. A key
is the SHA-256 of the model, of the settings and of the text's tokens, so a cache can never answer for another model.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hmc_crowd._base.private import make_private_folder, private_draft
from hmc_crowd.errors import InputError, ModelError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["EmbeddingCache"]

_KEY = 32


class EmbeddingCache:
    """Vectors on disk, by content hash.

    Parameters
    ----------
    folder : path
        Made when first written to. Deleting it, or any file of it, is always safe.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = EmbeddingCache(folder)
    ...     cache.put([b"k" * 32], np.ones((1, 2), dtype=np.float32))
    ...     again = EmbeddingCache(folder).get([b"k" * 32, b"x" * 32])
    >>> again
    {b'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk': array([1., 1.], dtype=float32)}
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"cache {self.folder} is a file; give a folder")
        self._where: dict[bytes, tuple[str, int]] = {}
        self._open: dict[str, NDArray[np.void]] = {}

    def get(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return what is there, of these keys.

        Raises
        ------
        ModelError
            A file of the cache cannot be read; deleting it is safe.
        """
        self._look()
        found: dict[bytes, NDArray[np.float32]] = {}
        for key in keys:
            if key in self._where:
                name, row = self._where[key]
                found[key] = np.array(self._open[name]["vector"][row])
        return found

    def put(self, keys: Sequence[bytes], vectors: NDArray[np.float32]) -> None:
        """Add vectors, shape (n, d), under their 32-byte keys; keys that are there already stay as they are."""
        if len(keys) != len(vectors) or vectors.ndim != 2 or any(len(key) != _KEY for key in keys):
            raise InputError(f"{len(keys)} keys and vectors of shape {vectors.shape}; give 32 bytes and one row each")
        if not len(keys):
            return
        rows = np.empty(len(keys), dtype=[("key", f"V{_KEY}"), ("vector", np.float32, (vectors.shape[1],))])
        rows["key"] = np.frombuffer(b"".join(keys), dtype=f"V{_KEY}")
        rows["vector"] = vectors
        make_private_folder(self.folder)
        name = hashlib.sha256(b"".join(keys)).hexdigest()[:32] + ".npy"
        # Each writer has a draft of its own, so two of the same rows are kept apart until the rename.
        with private_draft(self.folder / name) as draft, draft.open("wb") as file:
            np.save(file, rows, allow_pickle=False)

    def _look(self) -> None:
        """Take in the files that have come since the last look."""
        if not self.folder.is_dir():
            return
        for path in sorted(self.folder.glob("*.npy")):
            if path.name in self._open:
                continue
            try:
                rows = np.load(path, mmap_mode="r", allow_pickle=False)
                names = rows["key"].tobytes()
            except FileNotFoundError:
                continue  # deleted by somebody a moment ago, which is safe
            except (ValueError, OSError, EOFError, IndexError) as error:
                raise ModelError(f"cache file {path} cannot be read ({error}); delete it and call again") from None
            self._open[path.name] = rows
            for row in range(len(rows)):
                self._where.setdefault(names[row * _KEY : (row + 1) * _KEY], (path.name, row))
