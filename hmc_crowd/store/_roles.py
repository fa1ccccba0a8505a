"""What was an item's label used for? To fit, to choose, or to certify; what certifies was used for nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import sqlalchemy as sa

from hmc_crowd.errors import InputError, StateError
from hmc_crowd.store._arrow import to_pandas
from hmc_crowd.store._bulk import fetch
from hmc_crowd.store._session import Repository
from hmc_crowd.store._tables import DataRole

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

__all__ = ["RoleRepository"]

_ROLES = ("fit", "choose", "certify")
_NAMED = 3


class RoleRepository(Repository):
    """Uses of the labels of a campaign's items; only ever added to."""

    def enter(self, campaign: int, aspect: str, role: str, items: Iterable[str], *, purpose: str) -> int:
        """Note a use of items' labels; return how many uses are new.

        Models may be fitted and settings compared on the same labels, and the audit of one batch is certified as often
        as its answers come in. But what has fitted or chosen never certifies, nor the other way round.

        Parameters
        ----------
        campaign, aspect : int, str
            Whose labels.
        role : {"fit", "choose", "certify"}
            What they are used for.
        items : iterable of str
            Whose labels they are.
        purpose : str
            In words, such as "calibration 2".

        Raises
        ------
        StateError
            An item has the opposite use; nothing was noted.
        """
        names = list(dict.fromkeys(items))
        if role not in _ROLES:
            raise InputError(f"role is {role!r}; give fit, choose or certify")
        self.refuse(campaign, aspect, role, names)
        row = {"campaign_id": campaign, "aspect": aspect, "role": role, "purpose": purpose, "at": self._session.now()}
        rows = [{**row, "item": item} for item in names]
        if not rows:
            return 0
        new = self._session.run(self._session.insert_new(DataRole), rows)
        if new < len(rows):
            # What fits again is kept with its newest purpose: a model that was replaced rules nothing out.
            table = DataRole.table()
            which = (table.c.campaign_id == campaign, table.c.aspect == aspect, table.c.role == role)
            again = sa.update(table).where(*which, self._session.among(table.c.item, names))
            self._session.run(again.values(purpose=purpose))
        return new

    def refuse(self, campaign: int, aspect: str, role: str, items: Iterable[str]) -> None:
        """Raise `StateError` if a label of these items has a use that rules this one out."""
        table = DataRole.table()
        others = ("fit", "choose") if role == "certify" else ("certify",)
        query = sa.select(table.c.item, table.c.role, table.c.purpose).where(
            table.c.campaign_id == campaign,
            table.c.aspect == aspect,
            table.c.role.in_(others),
            self._session.among(table.c.item, list(items)),
        )
        # An item may have been fitted on and chosen on.
        found = self._session.rows(query.order_by(table.c.item, table.c.role).limit(2 * (_NAMED + 1)))
        if found:
            names = list(dict.fromkeys(row.item for row in found))
            shown = ", ".join(map(repr, names[:_NAMED])) + (" ..." if len(names) > _NAMED else "")
            raise StateError(
                f"labels of {shown} were used to {found[0].role} already ({found[0].purpose}), so they cannot "
                f"{role}: {role} on labels that were used for nothing else"
            )

    def read(self, campaign: int, aspect: str | None = None) -> pd.DataFrame:
        """Return ``aspect, item, role, purpose, at`` in the order of time."""
        table = DataRole.table()
        types = {name: pa.large_string() for name in ("aspect", "item", "role", "purpose")}
        types["at"] = pa.timestamp("us", "UTC")
        query = sa.select(*(table.c[name] for name in types)).where(table.c.campaign_id == campaign)
        if aspect is not None:
            query = query.where(table.c.aspect == aspect)
        return to_pandas(fetch(self._session, query.order_by(table.c.at, table.c.role, table.c.item), types), ())
