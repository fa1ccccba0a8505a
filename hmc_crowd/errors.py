"""What can go wrong, as one tree.

::

    HmcCrowdError                    everything this package raises on purpose; exit code 2 unless said otherwise
    +- InputError (ValueError)       an argument or a file holds something it must not; nothing was changed
    |  +- FrameError                 a table lacks a column, or rows of it are wrong; names the first of them
    |  +- InfeasibleError            no plan keeps all limits; names those that clash and the nearest plan
    +- StateError                    the call is right but too early or too late ("first you must ...")
    +- MissingExtraError             an optional part is not installed; the message is the pip line
    +- BudgetError                   the spending asked for exceeds the budget; nothing was sent
    +- StoreError                    the database cannot be used as asked
    |  +- NotOurDatabaseError        a database of some other program
    |  +- SchemaVersionError         the database is older or newer than this code
    |  +- DatabaseBusyError          locked by another process; try again
    |  +- ReadOnlyDatabaseError      no permission to write
    |  +- DuplicateError             a row that must be unique exists already
    +- PlatformError                 the platform refused or failed; exit code 3
    |  +- PlatformUnavailableError   no answer, or one that says "later"; safe to try again
    |  +- NeedsHumanError            the outcome is unknown or disputed: a person must look
    +- ModelError                    a model cannot be fitted, loaded or used on this data

A message names the argument or file, the value that was met, and the next step, in one sentence or two.
"""

from __future__ import annotations

__all__ = [
    "BudgetError",
    "DatabaseBusyError",
    "DuplicateError",
    "FrameError",
    "HmcCrowdError",
    "InfeasibleError",
    "InputError",
    "MissingExtraError",
    "ModelError",
    "NeedsHumanError",
    "NotOurDatabaseError",
    "PlatformError",
    "PlatformUnavailableError",
    "ReadOnlyDatabaseError",
    "SchemaVersionError",
    "StateError",
    "StoreError",
]


class HmcCrowdError(Exception):
    """Base of every error this package raises on purpose."""

    exit_code = 2


class InputError(HmcCrowdError, ValueError):
    """An argument or a file holds something it must not; correct it and call again."""


class FrameError(InputError):
    """A table lacks a column or has wrong rows; the message names the first of them."""


class InfeasibleError(InputError):
    """No plan keeps all limits. ``clashing`` names those that cannot hold together, ``nearest`` is the nearest plan."""

    def __init__(self, message: str, *, clashing: tuple[str, ...] = (), nearest: object = None) -> None:
        super().__init__(message)
        self.clashing = clashing
        self.nearest = nearest


class StateError(HmcCrowdError):
    """The call comes too early or too late; the message says what must happen first."""


class MissingExtraError(HmcCrowdError, ImportError):
    """An optional dependency is not installed; the message is the pip line that installs it."""


class BudgetError(HmcCrowdError):
    """The spending asked for exceeds the budget; nothing was sent."""


class StoreError(HmcCrowdError):
    """The database cannot be used as asked."""


class NotOurDatabaseError(StoreError):
    """The database belongs to some other program; give another ``--db``."""


class SchemaVersionError(StoreError):
    """The database is older or newer than this code; migrate it, or upgrade the package."""


class DatabaseBusyError(StoreError):
    """Another process holds the database; try again when it is done."""


class ReadOnlyDatabaseError(StoreError):
    """The database or its folder cannot be written; check its permissions."""


class DuplicateError(StoreError):
    """A row that must be unique exists already."""


class PlatformError(HmcCrowdError):
    """The platform refused or failed."""

    exit_code = 3


class PlatformUnavailableError(PlatformError):
    """The platform gave no answer, or asked to come back later; trying again is safe."""


class NeedsHumanError(PlatformError):
    """The outcome of a call is unknown or disputed: a person must look before anything else is sent."""


class ModelError(HmcCrowdError):
    """A model cannot be fitted, loaded or used on this data."""
