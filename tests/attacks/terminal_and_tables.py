"""Attacks by texts that somebody prints or opens: terminal sequences, formulas, secrets in addresses."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from hmc_crowd_local import connect

from hmc_crowd.cli import main
from hmc_crowd.platform import Hit, HitItem
from tests.attacks import Scene, attack

if TYPE_CHECKING:
    from collections.abc import Iterator

SEQUENCES = {
    "colours": "\x1b[31;5mred",
    "a cleared screen": "\x1b[2J\x1b[H",
    "a line that is rewritten": "\x1b[1A\x1b[2K",
    "a title that is set": "\x1b]0;pwned\x07",
    "a clipboard that is filled": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "a link that leads elsewhere": "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "keys that a terminal types back": "\x1bP$q\x22p\x1b\\\x1b[6n",
    "one-byte forms of sequences": "\x9b2J\x9d0;x\x9c",
    "a carriage return": "harmless\rEVIL    ",
    "backspaces": "harmless" + "\x08" * 8 + "EVIL",
    "a direction that is turned": "\u202egnp.exe\u202c \u2066x\u2069",
    "ends of lines of other kinds": "a\u2028b\x85c\x0bd\x0ce",
}
WRONG = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
HIDDEN = "hunter2-SECRET"


class Terminal(Scene):
    """Somebody's terminal in a folder with a workplace; what would move its cursor is noted."""

    foreign = (HIDDEN,)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder, self.moved = folder, list[str]()

    def stored(self) -> Any:
        return list(self.moved)

    def run(self, *words: str) -> tuple[int, str]:
        """Run a command; return its exit code and what it printed."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main(list(words))
            except SystemExit as ended:
                code = int(ended.code or 0)
        said = out.getvalue() + err.getvalue()
        self.heard(said)
        self.moved += WRONG.findall(said)
        return code, said

    def both(self, *words: str) -> None:
        """Run it for people and for programs."""
        self.run(*words)
        self.run(*words, "--json")


@contextmanager
def terminal() -> Iterator[Terminal]:
    with tempfile.TemporaryDirectory() as name:
        yield Terminal(Path(name))


at = partial(attack, "command line", scene=terminal)


def _typed(text: str) -> Any:
    def act(scene: Terminal) -> None:
        for words in (("explain", text), (text,), ("status", "--db", f"{text}.db"), ("route", f"{text}.csv")):
            scene.both(*words)

    return act


def _asked(text: str) -> Any:
    """A worker asks about an item; the owner lists what workers asked."""

    def act(scene: Terminal) -> None:
        place = scene.folder / "w.db"
        with connect(str(place)) as local:
            item = HitItem("i1", "label", "g", 1, "Hi.", labels=("a", "b"))
            made = local.publish(Hit("k", "Judge", "", (item,), 1, 5, "USD"))
            name = local.accept(made.hit_id, "ann").submission_id
            local.threads().ask(name, "i1", f"Is it so? {text}", at=local.submission(name).accepted_at)
        scene.both("invites", "messages", "--workplace", str(place))
        for file in scene.folder.glob("w.db*"):
            file.unlink()

    return act


def _listed(text: str) -> Any:
    """Items of that name in a table that a command prints."""

    def act(scene: Terminal) -> None:
        rows = pd.DataFrame({"item": [f"x {text}", f"y {text}"], "confidence": [0.5, 0.9], "effort": [0.1, 0.1]})
        rows.to_json(scene.folder / "items.jsonl", orient="records", lines=True)
        scene.both("route", "items.jsonl")

    return act


for _name, _text in SEQUENCES.items():
    at(f"{_name}, in what is typed and said back", defence="control characters are written out")(_typed(_text))
    at(f"{_name}, in a worker's question", defence="control characters are written out")(_asked(_text))
    at(f"{_name}, in items' names", defence="control characters are written out")(_listed(_text))


@at("markup of the renderer in items' names", defence="texts are no markup")
def _(scene: Terminal) -> None:
    rows = pd.DataFrame(
        {"item": ["[red]x[/red]", "[link=https://evil.example]y[/link]"], "confidence": 0.5, "effort": 0.1}
    )
    rows.to_json(scene.folder / "items.jsonl", orient="records", lines=True)
    _, said = scene.run("route", "items.jsonl")
    assert "[red]x[/red]" in said


@at("a row of a table that an item's name forges", defence="ends of lines are written out")
def _(scene: Terminal) -> None:
    rows = pd.DataFrame({"item": ["a\nforged    people"], "confidence": [0.5], "effort": [0.1]})
    rows.to_json(scene.folder / "items.jsonl", orient="records", lines=True)
    _, said = scene.run("route", "items.jsonl")
    assert not any(line.startswith("forged") for line in said.splitlines())


FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1+cmd|x",
    "-2+3+cmd|x",
    "@SUM(1+1)*cmd|x",
    "\t=1+1",
    "\r=1+1",
    '=HYPERLINK("http://x")',
]


def _written(text: str, ending: str) -> Any:
    def act(scene: Terminal) -> None:
        rows = pd.DataFrame({"item": [text, "b"], "confidence": [0.5, 0.9], "effort": [0.1, 0.1]})
        rows.to_json(scene.folder / "items.jsonl", orient="records", lines=True)
        code, said = scene.run("route", "items.jsonl", "--out", f"out.{ending}", "--overwrite")
        assert code == 0, said
        with (scene.folder / f"out.{ending}").open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file, delimiter="," if ending == "csv" else "\t") for cell in row]
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in cells), cells
        assert not any(cell.startswith("-2+") for cell in cells), cells

    return act


for _number, _formula in enumerate(FORMULAS):
    for _ending in ("csv", "tsv"):
        at(f"formula {_number} of a spreadsheet in a {_ending} file", defence="an apostrophe before it")(
            _written(_formula, _ending)
        )

ADDRESSES = {
    "before the host": f"postgresql://ann:{HIDDEN}@127.0.0.1:9/work",
    "in the query": f"postgresql://127.0.0.1:9/work?user=ann&password={HIDDEN}&connect_timeout=1",
    "in the query, in capitals": f"postgresql://127.0.0.1:9/work?connect_timeout=1&Password={HIDDEN}",
    "of a certificate": f"postgresql://127.0.0.1:9/work?sslpassword={HIDDEN}&connect_timeout=1",
    "with a slash in it": f"postgresql://ann:a/{HIDDEN}@127.0.0.1:9/work",
    "with an at sign in it": f"postgresql://ann:a@{HIDDEN}@127.0.0.1:9/work",
    "of a database that is not known": f"oracle://ann:{HIDDEN}@127.0.0.1/work?password={HIDDEN}",
}


def _shown(address: str) -> Any:
    def act(scene: Terminal) -> None:
        scene.both("status", "--db", address)
        scene.both("doctor", "--db", address)
        scene.both("invites", "list", "--workplace", address)
        scene.both("backup", "copy.zip", "--db", address)

    return act


for _where, _address in ADDRESSES.items():
    at(f"a password {_where} of a database's address", defence="masked wherever it is shown")(_shown(_address))


@at("keys in addresses of platforms and of our own pages", defence="masked wherever it is shown")
def _(scene: Terminal) -> None:
    for address in (f"ftp://example.org/?token={HIDDEN}", f"http://ann:{HIDDEN}@example.org/?api_key={HIDDEN}"):
        scene.both("doctor", "--platform", "mturk", "--endpoint", address)
        scene.both("doctor", "--platform", "local", "--public-url", address)
        scene.both("publish", "--pay", "12/h", "--platform", "local", "--endpoint", address)


@at("an error for programs that a text of the sender ends early", defence="JSON is written by a library")
def _(scene: Terminal) -> None:
    with contextlib.suppress(json.JSONDecodeError):
        code, said = scene.run("explain", '"}, "error": null, "x": {"', "--json")
        first = json.loads(said[: said.index("\nhmc-crowd:")])
        assert code == first["error"]["exit_code"] != 0
