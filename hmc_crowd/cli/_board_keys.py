"""What the commands of keys do for keys of the board and the machine door, which lie in the campaigns' database."""

from hmc_crowd.cli._show import emit_json, notes, say, table


def issue(db: str, role: str, label: str, *, skills: list[str], per_hour: float | None, as_json: bool) -> None:
    """Issue a key of a role and print it, this once."""
    from hmc_crowd.store import open_store

    with open_store(db) as store, store.begin() as tx:
        record, key = tx.keys.issue(role, label=label, skills=skills, per_hour=per_hour)
    if as_json:
        emit_json({"id": record.id, "role": record.role, "key": key})
        return
    say(key)
    notes([f"the key is shown this once; whoever has it is {role}; hmc-crowd keys revoke {record.id} --board ends it"])


def listed(db: str, *, as_json: bool) -> None:
    """List the keys, without the keys themselves."""
    import pandas as pd

    from hmc_crowd.store import open_store

    with open_store(db) as store, store.read() as tx:
        found = tx.keys.all()
    columns = ["id", "role", "label", "skills", "per_hour", "created_at", "revoked_at"]
    rows = [{name: getattr(each, name) for name in columns} | {"skills": ", ".join(each.skills)} for each in found]
    frame = pd.DataFrame(rows, columns=columns)
    if as_json:
        emit_json(frame)
    else:
        table(frame)


def revoke(db: str, key: str) -> None:
    """Take a key back."""
    from hmc_crowd.store import open_store

    with open_store(db) as store, store.begin() as tx:
        tx.keys.revoke(key)
