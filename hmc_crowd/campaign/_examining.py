"""Qualification tests of a campaign: kept, taken, told to platforms, asked on pages of one's own; and the funnel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.campaign import _own_tests, _publish, _qualifying

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from hmc_crowd.campaign._context import Context
    from hmc_crowd.platform import Platform
    from hmc_crowd.quality import Attempt, QualificationTest

__all__ = ["Examining"]


class Examining:
    """The methods of `hmc_crowd.campaign.Campaign` about qualification tests."""

    _context: Context

    def add_test(self, test: QualificationTest) -> None:
        """Keep a version of a qualification test; the same again changes nothing, and a version never changes.

        Raises
        ------
        DuplicateError
            There is that version with other questions or terms.
        """
        _qualifying.add_test(self._context, test)

    def tests(self) -> list[QualificationTest]:
        """Return all versions of the qualification tests."""
        return _qualifying.tests(self._context)

    def take_test(
        self,
        name: str,
        worker: str,
        answers: Mapping[str, Any],
        *,
        platform: str | None = None,
        version: int | None = None,
    ) -> Attempt:
        """Mark a worker's attempt at a test, and keep it.

        Parameters
        ----------
        name : str
            The test.
        worker : str
            The platform's id where ``platform`` is given, else a pseudonym.
        answers : mapping
            Item to label; missing ones are wrong.
        version : int, optional
            The newest by default.

        Raises
        ------
        StateError
            There is no such test or pseudonym, or the worker may not try again, or not yet.
        """
        return _qualifying.take_test(self._context, name, worker, answers, platform=platform, version=version)

    def test_attempts(self, name: str | None = None) -> list[Attempt]:
        """Return the attempts at a test, or at all, oldest first."""
        return _qualifying.attempts(self._context, name)

    def qualified(self, name: str, *, version: int | None = None, also: Sequence[int] = ()) -> list[str]:
        """Return the pseudonyms of who passed a version of a test (the newest), or one of ``also``."""
        return _qualifying.qualified(self._context, name, version=version, also=also)

    def sync_test(
        self,
        platform: Platform | str,
        name: str,
        *,
        version: int | None = None,
        also: Sequence[int] = (),
        drop_excluded: bool = False,
    ) -> _qualifying.Synced:
        """Tell a platform who is qualified: a qualification type on MTurk, a participant group on Prolific.

        With ``drop_excluded`` whoever's answers are left out (`check_gold`) is not among them. Who is no more
        qualified loses it there; after a crash the same call finishes.

        Raises
        ------
        InputError
            The platform keeps no qualifications.
        """
        where = _publish.connect(platform, self._context)
        return _qualifying.sync(self._context, where, name, version=version, also=also, drop_excluded=drop_excluded)

    def add_study_test(self, study: str | Path, *, platform: Platform | str = "local") -> QualificationTest:
        """Keep the test of a study's file, which the pages ask (``hmc-crowd serve --study``), as a version of ours.

        Name, version, mark, attempts and delay stand in the file (``test_name``, ``test_version``, ``test_needed`` or
        ``test_share``, ``test_attempts``, ``test_delay_s``). The same again changes nothing.

        Parameters
        ----------
        study : path
            The TOML file.
        platform : Platform or str, default "local"
            Whose pages ask it.

        Raises
        ------
        InputError
            The file is no study, or has no test that anybody could fail.
        DuplicateError
            That version is kept with other questions or terms: give the file the next ``test_version``.
        """
        return _own_tests.add_study_test(self._context, _publish.connect(platform, self._context), study)

    def collect_tests(self, platform: Platform | str = "local") -> _own_tests.CollectedAttempts:
        """Bring the attempts made on pages of one's own into the history; `collect` does so, too.

        Who left the study or was forgotten stays away. Attempts at other questions, or with another mark, than the
        version of that number has are counted and left: nobody counts as qualified by a test that is not known here.
        """
        return _own_tests.collect_attempts(self._context, _publish.connect(platform, self._context))

    def test_funnel(
        self,
        name: str,
        *,
        platform: Platform | str | None = None,
        version: int | None = None,
        also: Sequence[int] = (),
    ) -> pd.DataFrame:
        """Return how many people came as far as where, each share with its interval.

        Parameters
        ----------
        name : str
            The test.
        platform : Platform or str, optional
            Pages of one's own tell who arrived and consented; without them the history says who tried.
        version, also : int, sequence of int
            Which version (the newest by default), and which earlier ones count as well.

        Returns
        -------
        pandas.DataFrame
            As `hmc_crowd.quality.qualification_funnel`; stages ``arrived, consented, tried, passed, worked``.

        Raises
        ------
        StateError
            There is no such test.
        """
        where = None if platform is None else _publish.connect(platform, self._context)
        return _own_tests.funnel(self._context, name, where, version=version, also=also)
