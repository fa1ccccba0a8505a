"""Attacks by files, names and settings that are handed to commands; by what lies on the disk; and by backups."""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.attacks import attack
from tests.attacks._commands import commands

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attacks._commands import CommandScene

at_commands = partial(attack, "command line", scene=commands)
at_files = partial(attack, "files and local users", scene=commands)
at_backups = partial(attack, "backups and models", scene=commands)
DB = ("--db", "campaign.db")

# What is read in.

ITEMS: dict[str, tuple[str, str | bytes]] = {
    "an item twice": ("items.csv", "item,text\nn1,a\nn1,b\n"),
    "an item without a name": ("items.csv", "item,text\n,a\n"),
    "no column of items": ("items.csv", "name,text\nn1,a\n"),
    "a column twice": ("items.csv", "item,item,text\nn1,n2,a\n"),
    "rows of different length": ("items.csv", "item,text\nn1,a,b,c\n"),
    "a quote that never ends": ("items.csv", 'item,text\nn1,"a\n' + "x\n" * 50),
    "NUL in a text": ("items.csv", "item,text\nn1,a\x00b\n"),
    "NUL in a name": ("items.csv", "item,text\nn\x001,a\n"),
    "half a character": ("items.jsonl", '{"item": "n1", "text": "\\ud800"}\n'),
    "bytes that are no text": ("items.csv", b"item,text\nn1,\xff\xfe\n"),
    "a table that is none": ("items.parquet", b"PAR1" + b"\x00" * 100 + b"PAR1"),
    "JSON nested without end": ("items.jsonl", '{"item": "n1", "text": ' + "[" * 50_000 + "}\n"),
    "NaN in place of a text": ("items.jsonl", '{"item": NaN, "text": "a"}\n'),
    "a list in place of an item": ("items.jsonl", '{"item": ["n1"], "text": "a"}\n'),
    "an item that is there, changed": ("items.csv", "item,text\ni01,another text\n"),
    "nothing": ("items.csv", ""),
    "a head alone": ("items.csv", "item,text\n"),
    "a kind of file that nobody reads": ("items.xlsx", b"PK\x03\x04"),
    "a pickle": ("items.pkl", b"cos\nsystem\n(S'touch /tmp/got-in'\ntR."),
}
for _name, (_file, _content) in ITEMS.items():

    @at_commands(f"items from a file with {_name}", defence="all of a file, or none of it")
    def _(scene: CommandScene, file: str = _file, content: Any = _content) -> None:
        scene.refuses("items", scene.file(file, content), *DB)


PREDICTIONS: dict[str, str] = {
    "confidence above 1": "item,label,confidence\ni01,good,1.5\n",
    "confidence that is none": "item,label,confidence\ni01,good,NaN\n",
    "confidence of 400 digits": f"item,label,confidence\ni01,good,{'9' * 400}\n",
    "digits of another script": "item,label,confidence\ni01,good,²\n",
    "a label that nobody asked for": "item,label,confidence\ni01,<script>,0.5\n",
    "an item that there is not": "item,label,confidence\nnowhere,good,0.5\n",
    "a terminal's commands in a label": "item,label,confidence\ni01,\x1b[2J\x1b[31mgood,0.5\n",
    "a terminal's commands in an item": "item,label,confidence\n\x1b]0;evil\x07i01,good,0.5\n",
}
for _name, _content in PREDICTIONS.items():

    @at_commands(f"predictions with {_name}", defence="values are checked, and shown without control characters")
    def _(scene: CommandScene, content: str = _content) -> None:
        scene.refuses("items", "--predictions", scene.file("predictions.csv", content), *DB)


NAMES: dict[str, tuple[str, ...]] = {
    "a campaign whose name is an expression": ("status", *DB, "--campaign", "' OR 1=1 --"),
    "a campaign whose name is a path": ("status", *DB, "--campaign", "../outside"),
    "a campaign whose name holds a terminal's commands": ("status", *DB, "--campaign", "\x1b[2Jx"),
    "a database that is a folder": ("status", "--db", "."),
    "a database that is another file": ("status", "--db", "../outside/secret.txt"),
    "a database that there is not": ("status", "--db", "nowhere.db"),
    "a database of another kind": ("status", "--db", "mysql://root@localhost/x"),
    "a database with a password in its query": ("status", "--db", "postgresql://127.0.0.1:9/x?password=OPEN-SESAME"),
    "a database with a password before its host": ("status", "--db", "postgresql://u:OPEN-SESAME@127.0.0.1:9/x"),
    "a submission that is nobody's": ("approve", "nobody", *DB, "--yes", "--budget", "5"),
    "a sum that is none": ("publish", *DB, "--pay", "12/h", "--yes", "--budget", "NaN"),
    "a sum of 400 digits": ("publish", *DB, "--pay", "9" * 400, "--yes", "--budget", "5"),
    "a sum below nothing": ("publish", *DB, "--pay", "12/h", "--yes", "--budget=-5"),
    "a role that there is not": ("keys", "issue", "--role", "root", *DB),
    "a port that is none": ("serve", "--port", "99999", *DB),
}  # fmt: skip
for _name, _arguments in NAMES.items():

    @at_commands(_name, defence="named in the refusal, never used")
    def _(scene: CommandScene, arguments: tuple[str, ...] = _arguments) -> None:
        assert "OPEN-SESAME" not in scene.refuses(*arguments)


# What lies on the disk.

KEPT: dict[str, tuple[str, ...]] = {
    "a backup": ("backup", "--to", "made.zip", *DB, "--workplace", "workplace.db"),
    "a new campaign": ("init", "--name", "new", "--labels", "a,b", "--db", "made.db"),
}
for _name, _arguments in KEPT.items():

    @at_files(f"{_name}, read by another user of the machine", defence="written for its owner alone", stores="the file")
    def _(scene: CommandScene, arguments: tuple[str, ...] = _arguments) -> None:
        before = os.umask(0o000)
        try:
            code, said = scene.run(*arguments)
        finally:
            os.umask(before)
        assert code == 0, said
        made = list(scene.folder.glob("made*"))
        assert made
        for each in made:
            assert not stat.S_IMODE(each.stat().st_mode) & 0o077, (each.name, oct(each.stat().st_mode))


for _name in ("campaign.db", "workplace.db"):

    @at_files(f"secrets in {_name}", defence="secrets are sealed under a key outside the database", stores="the keys")
    def _(scene: CommandScene, name: str = _name) -> None:
        code, said = scene.run("keys", "issue", "--role", "owner", *DB, "--json")
        assert code == 0, said
        code, also = scene.run("keys", "issue", "--workplace", "workplace.db", "--json")
        assert code == 0, also
        found = (scene.folder / name).read_bytes()
        for text in (said, also):
            for each in json.loads(text).values():
                if isinstance(each, str) and len(each) >= 32:
                    assert each.encode() not in found, "a key stands in the database"


@at_files("a file put in the place of what is to be written", defence="what is there is never replaced unasked")
def _(scene: CommandScene) -> None:
    target = scene.outside / "secret.txt"
    scene.refuses("backup", "--to", str(target), *DB, "--workplace", "workplace.db")
    scene.refuses("report", "--to", str(target), *DB)


# Backups.


def _changed(scene: CommandScene, change: Callable[[dict[str, bytes], dict[str, Any]], None]) -> str:
    """Make a backup, change it, and return where it lies."""
    whole = scene.folder / "given" / "kept.zip"
    whole.parent.mkdir(exist_ok=True)
    code, said = scene.run("backup", "--to", str(whole), *DB, "--workplace", "workplace.db")
    assert code == 0, said
    with zipfile.ZipFile(whole) as old:
        members = {name: old.read(name) for name in old.namelist()}
    manifest = json.loads(members["manifest.json"])
    change(members, manifest)
    if "manifest.json" in members:
        members["manifest.json"] = json.dumps(manifest).encode()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in members.items():
            new.writestr(name, content)
    return scene.file("changed.zip", made.getvalue())


def _moved(name: str) -> Callable[[dict[str, bytes], dict[str, Any]], None]:
    def change(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
        members[name] = members.pop("store.sqlite")
        manifest["members"][name] = manifest["members"].pop("store.sqlite")

    return change


CHANGES: dict[str, Callable[[dict[str, bytes], dict[str, Any]], None]] = {
    "without a manifest": lambda members, _: members.pop("manifest.json") and None,
    "with a file that its manifest does not name": lambda members, _: members.update({"x.txt": b"x"}),
    "with another content": lambda members, _: members.update({"store.sqlite": members["store.sqlite"][:-1] + b"!"}),
    "with a file out of its folder": _moved("../outside/secret.txt"),
    "with a file at a path of the machine": _moved("/tmp/got-in"),
    "with a file by a path of another system": _moved("..\\outside\\secret.txt"),
    "with a file in a hidden folder": _moved(".ssh/authorized_keys"),
    "of a form to come": lambda _, manifest: manifest.update(form=99),
    "of a later revision": lambda _, manifest: manifest["copies"]["store"].update(revision="9999_later"),
    "whose manifest is a list": lambda members, manifest: manifest.update(members=[], copies=[]),
    "whose sizes are lies": lambda _, manifest: manifest["members"]["store.sqlite"].__setitem__(0, 10),
}
for _name, _change in CHANGES.items():

    @at_backups(f"a backup {_name}", defence="every member is compared with the manifest before anything changes")
    def _(scene: CommandScene, change: Any = _change) -> None:
        source = _changed(scene, change)
        scene.refuses("restore", "--from", source, "--yes", *DB, "--workplace", "workplace.db")
        assert not Path("/tmp/got-in").exists()


for _name, _content in {
    "no archive": b"a letter", "half an archive": b"PK\x03\x04" + b"\x00" * 100, "nothing": b"",
    "a pickle": b"cos\nsystem\n(S'x'\ntR.",
}.items():  # fmt: skip

    @at_backups(f"a backup that is {_name}", defence="it is no backup of ours")
    def _(scene: CommandScene, content: bytes = _content) -> None:
        scene.refuses("restore", "--from", scene.file("x.zip", content), "--yes", *DB, "--workplace", "workplace.db")


@at_backups("a backup over what is there, without asking", defence="--yes")
def _(scene: CommandScene) -> None:
    source = _changed(scene, lambda *_: None)
    scene.refuses("restore", "--from", source, *DB, "--workplace", "workplace.db")


for _name, _content in {
    "a pickle": b"\x80\x04cos\nsystem\n(S'touch /tmp/got-in'\ntR.", "nothing": b"", "an archive without a schema": None,
}.items():  # fmt: skip

    @at_backups(f"a stranger's model file that is {_name}", defence="models are skops files, never pickles")
    def _(scene: CommandScene, content: bytes | None = _content) -> None:
        from hmc_crowd.errors import HmcCrowdError
        from hmc_crowd.quality import load_gate

        if content is None:
            made = io.BytesIO()
            with zipfile.ZipFile(made, "w") as new:
                new.writestr("schema.json", "{}")
            content = made.getvalue()
        file = scene.file("gate.skops", content)
        found = None
        with suppress(HmcCrowdError):
            found = load_gate(file)
        assert found is None, "a stranger's file was loaded"
        assert not Path("/tmp/got-in").exists()
