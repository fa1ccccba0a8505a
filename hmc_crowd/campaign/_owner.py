"""Who holds a lease, and is that process still alive? What a killed process left behind is free at once.

A lease names its owner as ``machine:process:random``. The machine is its name, this start of its kernel and the process
namespace, so that equal numbers in two containers are not taken for one process.
"""

from __future__ import annotations

import os
import platform
import secrets
from functools import cache
from pathlib import Path

from hmc_crowd._base.ids import digest
from hmc_crowd._base.numbers import whole_number

__all__ = ["is_gone", "new_owner"]


def new_owner() -> str:
    """Return a name that no other worker has, in this process or any other."""
    return f"{_machine()}:{os.getpid()}:{secrets.token_hex(4)}"


def is_gone(owner: str) -> bool:
    """Say whether an owner was a process of this machine that runs no more; of other machines nobody knows here."""
    machine, _, rest = owner.partition(":")
    number = rest.partition(":")[0]
    process = whole_number(number, least=1, most=2**31 - 1)
    if os.name != "posix" or machine != _machine() or process is None:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _is_zombie(number)


def _is_zombie(number: str) -> bool:
    """Say whether a process has ended and only its parent has not looked yet."""
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


@cache
def _machine() -> str:
    return digest(platform.node(), _first_line("/proc/sys/kernel/random/boot_id"), _link("/proc/self/ns/pid"))[:12]


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _link(path: str) -> str:
    try:
        return str(Path(path).readlink())
    except OSError:
        return ""
