"""The command line: `hmc-crowd`. Nothing else imports this package."""

from hmc_crowd.cli._main import main

__all__ = ["main"]
