"""Participant groups: Prolific's substitute for qualifications, one group per version of a test and band of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmc_crowd.errors import InputError, NeedsHumanError, PlatformUnavailableError
from hmc_crowd_prolific._models import Group
from hmc_crowd_prolific._paging import all_rows
from hmc_crowd_prolific._parse import identity, one, rows
from hmc_crowd_prolific._studies import segment

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hmc_crowd_prolific._http import Http

__all__ = ["Groups", "allow_group", "band_name"]


def band_name(test: str, version: str | int, band: str) -> str:
    """Return the name of the group for a band of scores in one version of a test.

    Examples
    --------
    >>> band_name("toxicity", 3, "high")
    'hmc toxicity v3 high'
    """
    if not test.strip() or not band.strip():
        raise InputError(f"test is {test!r}, band is {band!r}; both name the group, so give them")
    return f"hmc {test.strip()} v{version} {band.strip()}"


def allow_group(group_id: str) -> dict[str, Any]:
    """Return the filter that lets only members of a group into a study."""
    return {"filter_id": "participant_group_allowlist", "selected_values": [group_id]}


class Groups:
    """Groups and their members. Adding and removing may be repeated; live studies follow at once."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def all(self, workspace: str) -> list[Group]:
        """Return the groups of a workspace that are not deleted."""
        found = all_rows(self._http, "participant-groups/", {"workspace_id": workspace, "active": "true"}, paged=False)
        return [
            Group.read(each)
            for each in found
            if not each.get("is_deleted") and each.get("workspace_id") in {None, workspace}
        ]

    def ensure(self, workspace: str, name: str) -> Group:
        """Return the group of that name; make it where there is none."""
        for _ in range(2):
            for each in self.all(workspace):
                if each.name == name:
                    return each
            try:
                made = self._http.once("POST", "participant-groups/", {"workspace_id": workspace, "name": name})
            except NeedsHumanError:
                continue  # the list tells whether it was made
            return Group.read(one(made.data))
        raise PlatformUnavailableError(f"the group {name!r} could not be made; nothing is lost, try again later")

    def members(self, group_id: str) -> set[str]:
        """Return the participants in a group."""
        found = rows(self._http.get(f"participant-groups/{segment(group_id)}/participants/"))
        return {identity(each, "participant_id") for each in found}

    def sync(self, group_id: str, wanted: Collection[str]) -> tuple[set[str], set[str]]:
        """Make the members exactly these; return who was added and who was removed. A repetition makes no call."""
        path, held = f"participant-groups/{segment(group_id)}/participants/", self.members(group_id)
        added, removed = set(wanted) - held, held - set(wanted)
        if added:
            self._http.again("POST", path, {"participant_ids": sorted(added)})
        if removed:
            self._http.again("DELETE", path, {"participant_ids": sorted(removed)})
        return added, removed

    def place(self, participant: str, band: str | None, groups: Mapping[str, str]) -> bool:
        """Put one participant into the group of his band and out of the other bands'; nobody else moves.

        Parameters
        ----------
        band : str or None
            None takes him out of all.
        groups : mapping of str to str
            The group of each band of one version of a test.

        Returns
        -------
        bool
            Whether anything changed.
        """
        if band is not None and band not in groups:
            raise InputError(f"band is {band!r}; the test has {', '.join(groups)}")
        changed = False
        # In before out: at no moment is somebody who passed outside every band.
        for name in sorted(groups, key=lambda each: each != band):
            path = f"participant-groups/{segment(groups[name])}/participants/"
            is_member = participant in self.members(groups[name])
            if is_member != (name == band):
                self._http.again("POST" if name == band else "DELETE", path, {"participant_ids": [participant]})
                changed = True
        return changed
