"""The command line's edge: one table of exit codes, no traceback for a user, interrupts that leave nothing half done.

=====  ==================================================================
code   meaning
=====  ==================================================================
0      done
1      a check failed (``certify``: the agreement is missed; ``doctor``)
2      wrong usage or input; nothing was changed
3      the platform failed, or a person is needed; ``certify``: not decided
130    interrupted (Ctrl-C); call the same command again to go on
=====  ==================================================================
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["main"]

FAULT = 2
INTERRUPTED = 130
_DEBUG = "HMC_CROWD_DEBUG"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and leave with its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``hmc-crowd``; those of the process by default.

    Raises
    ------
    SystemExit
        Always, with the code of the table above.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given
    try:
        code = _run(given, as_json=as_json)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (for example `| head`): that is no error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        if os.environ.get(_DEBUG):
            raise
        code = FAULT
        message = (
            f"unexpected {type(error).__name__}: {_one_line(error)}; this is a fault of hmc-crowd: run it again with "
            f"{_DEBUG}=1 and report the traceback"
        )
        _complain(message, type(error).__name__, code, as_json=as_json)
    if code == INTERRUPTED:
        message = "interrupted; nothing is half done: call the same command again to go on"
        _complain(message, "Interrupted", code, as_json=as_json)
    sys.exit(code)


def _run(given: list[str], *, as_json: bool) -> int:
    """Run a command; return its exit code, wrong usage and known errors included."""
    # Imported here, so that an interrupt while Python still loads is one like any other.
    import typer

    from hmc_crowd.cli._wording import ClickError, on_the_command_line, usage
    from hmc_crowd.errors import HmcCrowdError

    try:
        code = _command()(args=given, prog_name="hmc-crowd", standalone_mode=False)
        # What Python buffered is written now, while a closed pipe can still be told from a fault.
        sys.stdout.flush()
    except HmcCrowdError as error:
        _complain(on_the_command_line(_one_line(error)), type(error).__name__, error.exit_code, as_json=as_json)
        return error.exit_code
    except typer.Abort:
        return INTERRUPTED
    except ClickError as error:
        # Wrong usage of any kind is 2, also where click itself would say 1.
        _complain(usage(error, given), "UsageError", 2, as_json=as_json)
        return 2
    return code if isinstance(code, int) else 0


@cache
def _command() -> Callable[..., Any]:
    """Return the command of all commands: whoever calls `main` often builds it once."""
    import typer

    from hmc_crowd.cli._app import app

    return typer.main.get_command(app)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _complain(message: str, kind: str, code: int, *, as_json: bool) -> None:
    """Say it on standard error; where a program reads us, as JSON on standard output too."""
    import json

    from hmc_crowd._base.addresses import without_secrets
    from hmc_crowd._base.printable import escaped

    message = escaped(without_secrets(message))
    if as_json:
        sys.stdout.write(json.dumps({"error": {"type": kind, "message": message, "exit_code": code}}) + "\n")
    sys.stderr.write(f"hmc-crowd: {message}\n")
