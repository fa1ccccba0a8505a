"""Attacks by archives: backups that are bombs or carry others' code, models that grow."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.attacks import attack
from tests.attacks._files import FileScene, files, packed, put

if TYPE_CHECKING:
    from collections.abc import Callable

by = partial(attack, "backups and models", scene=files)
DECLARED = "what an archive declares is judged before it is inflated"
SCHEMA = "a copy's schema is that of a new database of its revision"
WORDS = "every word of the manifest has the form that we write"
SHAPE = "an array's shape and number format fit the bytes that are there"

END = struct.Struct("<4s4H2LH")


@by("a manifest of 50 MB of zeros", defence=DECLARED)
def _(scene: FileScene) -> None:
    scene.restore(packed({**scene.members(), "manifest.json": bytes(50 << 20)}), is_bomb=True)


@by("a member of 80 MB of zeros, named in the manifest", defence=DECLARED)
def _(scene: FileScene) -> None:
    def change(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
        put(manifest, members, "artefacts/a.parquet", bytes(80 << 20))

    scene.restore(scene.changed(change), is_bomb=True)


@by("a database with 20 MB of zeros behind its last page", defence="a copy is exactly as large as its pages")
def _(scene: FileScene) -> None:
    scene.restore(scene.database("store", behind=bytes(20 << 20)))


@by("60,000 members in the list, and none there", defence=DECLARED)
def _(scene: FileScene) -> None:
    scene.restore(END.pack(b"PK\x05\x06", 0, 0, 60_000, 60_000, 0xFFFFFF0, 0, 0))


@by("a list of a terabyte by its long form", defence=DECLARED)
def _(scene: FileScene) -> None:
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 10**9, 10**9, 10**12, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1)
    scene.restore(record + locator + END.pack(b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0))


@by("members that lie over each other", defence=DECLARED)
def _(scene: FileScene) -> None:
    data = bytearray(packed(scene.members()))
    at = data.rfind(b"PK\x01\x02")
    struct.pack_into("<L", data, at + 20, len(data))
    scene.restore(bytes(data))


@by("a member packed by another method", defence="only what we write is unpacked")
def _(scene: FileScene) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as archive:
        for name, content in scene.members().items():
            archive.writestr(name, content)
    scene.restore(file.getvalue())


STATEMENTS = {
    "a trigger that changes what is written": (
        "CREATE TRIGGER t AFTER INSERT ON campaign BEGIN UPDATE campaign SET name = 'owned'; END"
    ),
    "a trigger that deletes": "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM campaign; END",
    "a trigger on a temporary word": "CREATE TRIGGER campaign_name AFTER UPDATE ON campaign BEGIN SELECT 1; END",
    "a view in place of nothing": "CREATE VIEW labels AS SELECT * FROM api_key",
    "a table of another program": "CREATE TABLE customers (id INTEGER)",
    "a table that looks like ours": "CREATE TABLE hmc_crowd_extra_version (version_num TEXT)",
    "the mark of a cut-off restoring": "CREATE TABLE hmc_crowd_restoring (source TEXT, made_at TEXT)",
    "an index over an expression": "CREATE INDEX odd ON campaign (lower(name))",
    "a column more": "ALTER TABLE campaign ADD COLUMN extra TEXT DEFAULT 'x'",
    "a column that computes": "ALTER TABLE campaign ADD COLUMN extra TEXT AS (hex(zeroblob(1000000)))",
    "a table less": "DROP TABLE told",
    "a version of nobody": "UPDATE hmc_crowd_store_version SET version_num = '9999'",
    "rows more than it says": "INSERT INTO told SELECT * FROM told UNION ALL SELECT * FROM told",
}


def run(statement: str, scene: FileScene) -> None:
    scene.restore(scene.database("store", statement))


for _name, _statement in STATEMENTS.items():
    if not _name.startswith("rows"):
        by(f"a campaigns' database with {_name}", defence=SCHEMA)(partial(run, _statement))


@by("a workplace with a trigger that pays", defence=SCHEMA)
def _(scene: FileScene) -> None:
    scene.restore(scene.database("workplace", "CREATE TRIGGER t AFTER INSERT ON workplace_hit BEGIN SELECT 1; END"))


@by("a trigger of ours without its guard", defence=SCHEMA)
def _(scene: FileScene) -> None:
    scene.restore(scene.database("store", "DROP TRIGGER IF EXISTS event_no_update", "DROP TABLE event_head"))


@by("a database that is a text", defence="SQLite says whether it is a database")
def _(scene: FileScene) -> None:
    scene.restore(scene.changed(lambda manifest, members: put(manifest, members, "store.sqlite", b"hello" * 900)))


@by("a database cut in half", defence="SQLite says whether all of it is there")
def _(scene: FileScene) -> None:
    def change(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
        whole = members["store.sqlite"]
        put(manifest, members, "store.sqlite", whole[: len(whole) // 2])

    scene.restore(scene.changed(change))


@by("a page of noise in a database", defence="a copy is checked before it is used")
def _(scene: FileScene) -> None:
    def change(manifest: dict[str, Any], members: dict[str, bytes]) -> None:
        whole = bytearray(members["store.sqlite"])
        whole[100:4096] = b"\xff" * 3996
        put(manifest, members, "store.sqlite", bytes(whole))

    scene.restore(scene.changed(change))


def word(path: tuple[str, ...], value: Any) -> Callable[[FileScene], None]:
    """Return an attack that puts another value into the manifest."""

    def act(scene: FileScene) -> None:
        def change(manifest: dict[str, Any], _members: dict[str, bytes]) -> None:
            at = manifest
            for each in path[:-1]:
                at = at[each]
            at[path[-1]] = value

        scene.restore(scene.changed(change))

    return act


MANIFESTS: dict[str, tuple[tuple[str, ...], Any]] = {
    "a moment that writes to the terminal": (("made_at",), "\x1b]0;owned\x07"),
    "a moment that is a number": (("made_at",), 10**400),
    "a version that writes to the terminal": (("version",), "\x1b[2J"),
    "a copy of a third database": (("copies", "other"), {"kind": "sqlite", "revision": "1", "rows": {}, "columns": {}}),
    "a copy whose name climbs": (
        ("copies", "../../x"),
        {"kind": "sqlite", "revision": "1", "rows": {}, "columns": {}},
    ),
    "a kind of database that is none": (("copies", "store", "kind"), "oracle"),
    "a copy of PostgreSQL in a file": (("copies", "store", "kind"), "postgresql"),
    "a revision that is a path": (("copies", "store", "revision"), "../../etc"),
    "a revision of the future": (("copies", "store", "revision"), "9999_later"),
    "rows of a table that is none of ours": (("copies", "store", "rows"), {"pg_authid": 1}),
    "rows of a table whose name is a statement": (("copies", "store", "rows"), {'x"; DROP TABLE campaign; --': 1}),
    "rows that are a list": (("copies", "store", "rows"), [1, 2]),
    "rows below zero": (("copies", "store", "rows"), {"campaign": -1}),
    "rows that are no number": (("copies", "store", "rows"), {"campaign": "1e999"}),
    "columns that are a statement": (("copies", "store", "columns"), {"campaign": ["id) FROM PROGRAM 'id' --"]}),
    "a field that copies do not have": (("copies", "store", "__class__"), "x"),
    "members that are a list": (("members",), []),
    "a form of the future": (("form",), 2),
    "a form that is a list": (("form",), [1]),
}
for _name, (_path, _value) in MANIFESTS.items():
    by(f"a manifest with {_name}", defence=WORDS)(word(_path, _value))


@by("a manifest of 100,000 brackets", defence=WORDS)
def _(scene: FileScene) -> None:
    scene.restore(packed({**scene.members(), "manifest.json": b"[" * 100_000}))


@by("a member that climbs out of the folder", defence="only names that we write are unpacked")
def _(scene: FileScene) -> None:
    for name in ("../../owned.txt", "/tmp/owned.txt", "artefacts/../../owned.txt", "artefacts/a/b", "C:\\owned"):

        def change(manifest: dict[str, Any], members: dict[str, bytes], name: str = name) -> None:
            put(manifest, members, name, b"owned")

        scene.restore(scene.changed(change))


@by("a member that no copy names", defence=WORDS)
def _(scene: FileScene) -> None:
    scene.restore(scene.changed(lambda manifest, members: put(manifest, members, "extra.sqlite", b"x")))


@by("one member under two contents", defence="each name stands once")
def _(scene: FileScene) -> None:
    file = io.BytesIO(packed(scene.members()))
    with zipfile.ZipFile(file, "a") as archive:
        archive.getinfo("store.sqlite").filename = "gone"
        archive.NameToInfo.pop("store.sqlite")
        archive.writestr("store.sqlite", b"another")
        archive.getinfo("store.sqlite")
        archive.filelist[[each.filename for each in archive.filelist].index("gone")].filename = "store.sqlite"
    scene.restore(file.getvalue())


# Models.


def npy(shape: tuple[int, ...], kind: str, content: bytes) -> bytes:
    header = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


ARRAYS: dict[str, Callable[[], bytes]] = {
    "50 MB of zeros in 50 kB": lambda: npy((50 << 17,), "<f8", bytes(50 << 20)),
    "a shape of 8 TB": lambda: npy((10**12,), "<f8", b"12345678"),
    "a shape beyond all numbers": lambda: npy((10**30,), "<f8", b"12345678"),
    "a shape below zero": lambda: npy((-1, -1), "<f8", b"12345678"),
    "a number format of 2 GB": lambda: npy((1,), "|V2000000000", b"12345678"),
    "a number format of nothing": lambda: npy((10**15,), "|V0", b""),
    "letters of a gigabyte each": lambda: npy((1,), "<U268435456", b"12345678"),
    "objects": lambda: npy((1,), "|O", pickle.dumps([1])),
    "a header of code": lambda: npy((1,), "__import__('os').getpid()", b"12345678"),
    "a header without an end": lambda: b"\x93NUMPY\x02\x00" + struct.pack("<L", 2**31) + b"{",
    "a header of 30,000 numbers": lambda: (
        b"\x93NUMPY\x02\x00" + struct.pack("<L", 60_060) + (b"{'descr':'<f8','shape':(" + b"1," * 30_000).ljust(60_060)
    ),
    "a form of the future": lambda: b"\x93NUMPY\x09\x00" + bytes(100),
    "another magic": lambda: b"\x80\x04" + bytes(200),
}


def swap(make: Callable[[], bytes], scene: FileScene) -> None:
    def change(members: dict[str, bytes]) -> None:
        members[next(name for name in members if name.endswith(".npy"))] = make()

    scene.load(change)


for _name, _make in ARRAYS.items():
    by(f"a model with an array of {_name}", defence=SHAPE)(partial(swap, _make))


def schema(edit: Callable[[dict[str, Any]], Any], scene: FileScene) -> None:
    def change(members: dict[str, bytes]) -> None:
        held = json.loads(members["schema.json"])
        made = edit(held)
        members["schema.json"] = made if isinstance(made, bytes) else json.dumps(held).encode()

    scene.load(change)


def many(held: dict[str, Any]) -> None:
    node = held["content"]["a"]
    held["content"] |= {f"n{number}": {**node, "__id__": number} for number in range(5_000)}


def strange(name: str, module: str) -> Callable[[dict[str, Any]], None]:
    def edit(held: dict[str, Any]) -> None:
        node = {"__class__": name, "__module__": module, "__loader__": "TypeNode", "__id__": 7}
        held["content"]["b"] = node

    return edit


SCHEMAS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "one array under 5,000 names": many,
    "100,000 brackets": lambda _held: b"[" * 100_000 + b"]" * 100_000,
    "70 MB of itself": lambda _held: b"[" + b"0," * (35 << 20) + b"0]",
    "os.system": strange("system", "os"),
    "subprocess": strange("Popen", "subprocess"),
    "eval": strange("eval", "builtins"),
    "a loader of nobody": lambda held: held.update({"__loader__": "Nobody"}),
    "no text": lambda _held: b"\xff\xfe\x00",
}
for _name, _edit in SCHEMAS.items():
    by(f"a model that describes {_name}", defence="a model is plain values and arrays, each once")(
        partial(schema, _edit)
    )


@by("a model without its description", defence="a model is plain values and arrays, each once")
def _(scene: FileScene) -> None:
    scene.load(lambda members: members.pop("schema.json"))


@by("a model that is a pickle", defence="nothing is ever unpickled")
def _(scene: FileScene) -> None:
    scene.load_bytes(pickle.dumps({"a": 1}))


@by("a model of 60,000 members", defence=DECLARED)
def _(scene: FileScene) -> None:
    scene.load_bytes(END.pack(b"PK\x05\x06", 0, 0, 60_000, 60_000, 0xFFFFFF0, 0, 0))
