"""An answer that was paid for is never paid for again, by whichever process asks and whatever was killed.

One SQLite file: each answer is committed under the SHA-256 of the model's version and the request the moment it comes.
Several processes may share it; at worst two that ask the same question in the same second both pay. Failures are not
kept, so they are asked again. Deleting the file is safe, and costs.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from hmc_crowd._base.private import make_private_folder
from hmc_crowd._base.sqlite import keep_write_ahead_log, open_sqlite
from hmc_crowd.errors import InputError, StoreError
from hmc_crowd.judges._ask import Completion, Request

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

__all__ = ["JudgeCache", "request_key"]

_AT_ONCE = 500  # keys in one query; SQLite allows 999 parameters on old builds


def request_key(version: str, request: Request) -> str:
    """Return the key of a request to a model.

    Examples
    --------
    >>> ask = Request((("user", "?"),))
    >>> request_key("m1", ask) == request_key("m1", ask) != request_key("m2", ask)
    True
    """
    text = json.dumps([version, request.content()], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


class JudgeCache:
    """Answers on disk.

    Parameters
    ----------
    file : path
        Made with its folder when first written to.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with JudgeCache(f"{folder}/answers.db") as cache:
    ...         cache.put("k", Completion("a"))
    ...         cache.get(["k", "other"])["k"].text
    'a'
    """

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self.file = Path(file)
        if self.file.is_dir():
            raise InputError(f"cache {self.file} is a folder; give a file")
        self._db: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the file; it opens again when it is used."""
        if self._db is not None:
            self._db.close()
            self._db = None

    def __enter__(self) -> JudgeCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, keys: Sequence[str]) -> dict[str, Completion]:
        """Return what is there, of these keys."""
        if not self.file.exists() or not keys:
            return {}
        found: dict[str, Completion] = {}
        for some in _parts(keys):
            marks = ",".join("?" * len(some))
            rows = self._open().execute(f"SELECT key, body FROM completion WHERE key IN ({marks})", some)  # noqa: S608
            found |= {key: Completion(**json.loads(body)) for key, body in rows}
        return found

    def put(self, key: str, completion: Completion) -> None:
        """Keep an answer; a key that is there already stays as it is."""
        make_private_folder(self.file.parent)
        db = self._open()
        with db:
            body = json.dumps(vars(completion), ensure_ascii=False)
            db.execute("INSERT OR IGNORE INTO completion (key, body) VALUES (?, ?)", (key, body))

    def _open(self) -> sqlite3.Connection:
        if self._db is not None:
            return self._db
        try:
            db = open_sqlite(self.file, create=True, timeout=30.0)
            keep_write_ahead_log(db)
            db.execute("PRAGMA synchronous=NORMAL")  # a killed process loses nothing; a power cut the last moments
            db.execute("CREATE TABLE IF NOT EXISTS completion (key TEXT PRIMARY KEY, body TEXT NOT NULL)")
        except (sqlite3.DatabaseError, StoreError, OSError) as error:
            raise InputError(f"cache {self.file} cannot be used ({error}); name another file") from None
        self._db = db
        return db


def _parts(keys: Sequence[str]) -> Iterable[list[str]]:
    return (list(keys[start : start + _AT_ONCE]) for start in range(0, len(keys), _AT_ONCE))
