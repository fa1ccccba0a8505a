"""Where do ten million rows go? Parquet files beside the database, named by what they hold, never half written.

A file is written under a temporary name, flushed to disk and renamed; its name and its own header carry the SHA-256 of
its content, and the database row that names it is committed after it. A transaction that rolls back removes the files
it made. Files that a later version replaced stay for an hour, for readers that began before.
"""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from hmc_crowd._base.private import make_private_folder, private_draft
from hmc_crowd.errors import ReadOnlyDatabaseError, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Artefacts", "content_hash"]

_GROUP = 1 << 18
_GRACE_S = 3600.0
_HASH_KEY = b"hmc_crowd.content_hash"


def content_hash(table: Any, *, header: str = "") -> str:
    """Return the SHA-256 of a header and a table's names, types and values, however the table is chunked or encoded.

    Examples
    --------
    >>> one = content_hash(pa.table({"a": ["x", None]}))
    >>> one == content_hash(pa.table({"a": pa.chunked_array([["x"], [None]], pa.string())}))
    True
    """
    sha = hashlib.sha256()
    _feed(sha, header.encode())
    for name in table.column_names:
        column = table[name]
        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        _feed(sha, f"{name}:{'text' if text else column.type}".encode())
        for start in range(0, len(column), _GROUP):
            part = column.slice(start, _GROUP)
            _feed_values(sha, part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part, text=text)
    return sha.hexdigest()


def _feed(sha: Any, data: Any) -> None:
    sha.update(len(data).to_bytes(8, "big"))
    sha.update(data)


def _feed_values(sha: Any, values: Any, *, text: bool) -> None:
    # What lies in the buffer behind a missing value is undefined, so it is replaced and the gaps are hashed apart.
    missing = values.is_null().to_numpy(zero_copy_only=False)
    _feed(sha, missing.tobytes())
    if text:
        filled = pc.fill_null(values.cast(pa.large_string()), "")
        _feed(sha, pc.binary_length(filled).to_numpy(zero_copy_only=False).tobytes())
        _feed(sha, _text_bytes(filled))
        return
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    zero = pa.scalar(False) if pa.types.is_boolean(values.type) else pa.scalar(0, values.type)
    _feed(sha, pc.fill_null(values, zero).to_numpy(zero_copy_only=False).tobytes())


def _text_bytes(texts: Any) -> Any:
    """Return the bytes of a text array, one text after another, without copying them."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return b""
    bounds = memoryview(offsets).cast("q")
    return memoryview(data)[bounds[texts.offset] : bounds[texts.offset + len(texts)]]


class Artefacts:
    """The Parquet files of one transaction."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._made: list[Path] = []
        self._stale: list[tuple[str, set[str], float]] = []

    def write(self, table: Any, *, prefix: str, hashed: str) -> str:
        """Write a table under a name made of prefix and hash; return the name. The same content is written once."""
        import pyarrow.parquet as pq

        name = f"{prefix}-{hashed[:24]}.parquet"
        path = self.folder / name
        if path.exists() and self._stamp(path) == hashed:
            return name
        try:
            make_private_folder(self.folder)
            stamped = table.replace_schema_metadata({_HASH_KEY: hashed.encode()})
            with private_draft(path) as draft, draft.open("wb") as stream:
                pq.write_table(stamped, stream, row_group_size=_GROUP, compression="zstd", compression_level=1)
        except OSError as error:
            raise ReadOnlyDatabaseError(
                f"{self.folder} cannot be written ({error.strerror or error}); nothing was saved, "
                "check its permissions and free space"
            ) from None
        self._made.append(path)
        return name

    def read(self, name: str, *, hashed: str, columns: Sequence[str] | None = None, rows: Any = None) -> Any:
        """Read columns of a file; columns that it does not have are left out.

        Parameters
        ----------
        name : str
            As `write` returned it.
        hashed : str
            The content's hash as the database has it.
        columns : sequence of str, optional
            Which; all when None. A name that ends in ``*`` stands for every column that starts so.
        rows : pyarrow.compute.Expression, optional
            Which rows.

        Raises
        ------
        StoreError
            The file is missing, truncated or another one.
        """
        import pyarrow.parquet as pq

        path = self.folder / name
        try:
            schema = pq.read_schema(path)
            if (schema.metadata or {}).get(_HASH_KEY) != hashed.encode():
                raise StoreError(f"{path} is not the file the database names; restore it from a copy")
            wanted = schema.names if columns is None else _match(schema.names, columns)
            if not wanted:  # still tells how many rows there are
                return pa.table({"": pa.nulls(pq.read_metadata(path).num_rows)}).drop_columns([""])
            return pq.read_table(path, columns=wanted, filters=rows, memory_map=True).select(wanted)
        except FileNotFoundError:
            raise StoreError(f"{path} is missing though the database names it; restore it from a copy") from None
        except (pa.ArrowException, OSError) as error:
            raise StoreError(
                f"{path} is damaged ({str(error).splitlines()[0]}); restore it from a copy or store the frame again"
            ) from None

    def columns(self, name: str) -> list[str]:
        """Return the names of a file's columns."""
        import pyarrow.parquet as pq

        return [str(each) for each in pq.read_schema(self.folder / name).names]

    def replaced(self, prefix: str, *, keep: set[str], at_once: bool = False) -> None:
        """Let files of this prefix go that no row names any more, once the transaction is saved and they are old.

        ``at_once`` does not wait until they are old: what they hold must not be read any more.
        """
        self._stale.append((prefix, keep, 0.0 if at_once else _GRACE_S))

    def done(self) -> None:
        """Clean up after the commit."""
        for prefix, keep, grace in self._stale:
            for path in self.folder.glob(f"{prefix}-*.parquet"):
                if path.name not in keep and path.stat().st_mtime <= time.time() - grace:
                    path.unlink(missing_ok=True)

    def undo(self) -> None:
        """Remove what a transaction made that was rolled back."""
        for path in self._made:
            path.unlink(missing_ok=True)

    def _stamp(self, path: Path) -> str | None:
        import pyarrow.parquet as pq

        try:
            return ((pq.read_schema(path).metadata or {}).get(_HASH_KEY) or b"").decode()
        except (pa.ArrowException, OSError):
            return None


def _match(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    chosen = []
    for each in wanted:
        if each.endswith("*"):
            chosen += [name for name in names if name.startswith(each[:-1])]
        elif each in names:
            chosen.append(each)
    return list(dict.fromkeys(chosen))
