"""Who is who without saying so: keyed pseudonyms, the key outside the database.

An analysis table holds ``HMAC(key, platform | raw id)``; the raw id stands in one table of its own. Whoever gets the
database without the key cannot test guesses of raw ids against the pseudonyms.
"""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import TYPE_CHECKING

from hmc_crowd._base.keys import config_folder, load_key, new_key
from hmc_crowd.errors import FrameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.store import Transaction

__all__ = ["forgotten_workers", "key_file", "known_as", "load_worker_key", "pseudonyms", "worker_column"]

VARIABLE = "HMC_CROWD_WORKER_KEY"
# As our own frames, Prolific's demographic export (now, and before 2022) and MTurk's results name the worker.
_WORKER = ("worker", "Participant id", "participant_id", "WorkerId")


def load_worker_key(database: str) -> bytes:
    """Return the key of the pseudonyms: from the environment, else from a file of mode 600, made on first use.

    The file lies beside an SQLite database (``NAME.key``), for PostgreSQL in the user's configuration folder. It must
    be kept with the database: without it new answers of a known worker look like a stranger's.
    """
    path = key_file(database)
    return load_key(VARIABLE, path) or new_key(VARIABLE, path)


def key_file(database: str) -> Path:
    """Return where the key of a database's pseudonyms lies, unless the environment holds it."""
    if database.startswith("sqlite"):
        return Path(database.partition(":///")[2] + ".key")
    return config_folder() / "worker.key"


def pseudonyms(key: bytes, platform: str, raw_ids: Iterable[str]) -> dict[str, str]:
    """Return the pseudonym of each raw worker id on a platform.

    Examples
    --------
    >>> pseudonyms(b"secret", "local", ["ann"])["ann"] == pseudonyms(b"secret", "local", ["ann"])["ann"]
    True
    >>> pseudonyms(b"secret", "local", ["ann"]) == pseudonyms(b"secret", "prolific", ["ann"])
    False
    """
    return {
        raw: "w" + hmac.new(key, f"{platform}|{raw}".encode(), hashlib.sha256).hexdigest()[:20] for raw in set(raw_ids)
    }


def known_as(key: bytes, tx: Transaction, platform: str, workers: Mapping[str, str]) -> dict[str, str]:
    """Return the pseudonym for each submission, and keep who is who; ``workers`` are raw ids by submission.

    Who was forgotten stays forgotten: a submission that is stored under another pseudonym than its worker's keeps it,
    and the raw id is not stored again because of it.
    """
    derived = pseudonyms(key, platform, workers.values())
    stored = tx.work.submission_workers(platform, workers)
    names = {submission: stored.get(submission, derived[raw]) for submission, raw in workers.items()}
    present = {raw for submission, raw in workers.items() if names[submission] == derived[raw]}
    tx.workers.identify(platform, sorted(present), pseudonyms=derived)
    return names


def forgotten_workers(context: Context, platform: str, stored: Mapping[str, str]) -> frozenset[str]:
    """Return the pseudonyms, of those stored by submission, that no raw id stands behind any more.

    Whether the platform's worker is still the one whose work is held cannot be told of them, and need not be: they are
    paid for the submission all the same.
    """
    with context.store.read() as tx:
        return frozenset(stored.values()) - frozenset(tx.workers.known(platform).values())


def worker_column(frame: pd.DataFrame, *, name: str) -> str:
    """Return the column of a table that has the platform's worker ids; ``name`` is what messages call the table."""
    found = next((each for each in _WORKER if each in frame.columns), None)
    if found is None:
        raise FrameError(f"{name} lack the column worker; give the platform's ids (Prolific: Participant id)")
    return found
