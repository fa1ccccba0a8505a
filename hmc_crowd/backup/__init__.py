"""Copies of everything in one file: `back_up` writes it, `unpacked` opens it to put it back."""

from hmc_crowd.backup._backup import Backup, back_up
from hmc_crowd.backup._restore import Restored, Unpacked, unpacked

__all__ = ["Backup", "Restored", "Unpacked", "back_up", "unpacked"]
