"""The command line's edge: one table of exit codes, no traceback for a user, an interrupt that leaves nothing half done.

=====  ==================================================================
code   meaning
=====  ==================================================================
0      done
1      a check failed (``certify --at-least``, ``doctor``)
2      wrong usage or input; nothing was changed
3      the platform failed, or a person is needed
130    interrupted (Ctrl-C); call the same command again to go on
=====  ==================================================================
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import click

from hmc_crowd.cli._app import app
from hmc_crowd.errors import HmcCrowdError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and leave with its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(args=given, prog_name="hmc-crowd", standalone_mode=False)
    except HmcCrowdError as error:
        _complain(str(error), type(error).__name__, error.exit_code, as_json="--json" in given)
        code = error.exit_code
    except click.exceptions.Abort:
        _complain("interrupted; call the same command again to go on", "Interrupted", INTERRUPTED, as_json=False)
        code = INTERRUPTED
    except click.ClickException as error:
        # Wrong usage of any kind is 2, also where click itself would say 1.
        _complain(_usage(error), "UsageError", 2, as_json="--json" in given)
        code = 2
    except KeyboardInterrupt:
        _complain("interrupted; call the same command again to go on", "Interrupted", INTERRUPTED, as_json=False)
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (for example `| head`): that is no error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        if os.environ.get("HMC_CROWD_DEBUG"):
            raise
        _complain(
            f"unexpected {type(error).__name__}: {error}. This is a fault of hmc-crowd: run again with "
            "HMC_CROWD_DEBUG=1 and report the traceback",
            type(error).__name__,
            2,
            as_json="--json" in given,
        )
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    where = f" (see {context.command_path} --help)" if context is not None else ""
    return f"{error.format_message()}{where}"


def _complain(message: str, kind: str, code: int, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps({"error": {"type": kind, "message": message, "exit_code": code}}) + "\n")
    sys.stderr.write(f"hmc-crowd: {message}\n")
