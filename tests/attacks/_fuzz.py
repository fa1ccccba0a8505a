"""Requests that nobody planned for: every route of an application, each with odd paths, queries, bodies and headers.

The routes are walked, not listed, and the names of fields are read from the code and the templates, so a new route is
covered by itself. What comes back may refuse; a 500, an exception or silence is a fault.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).parents[2]
LONG = "9" * 5_000
#: Text where an id, a number, a time, a choice or nothing at all is expected.
TEXTS = (
    "", " ", "0", "-1", "1", "2", "1e309", "NaN", "Infinity", "-0", "1.5", "²", "٣", "１", "½", "1_000", "0x10", "+1",
    str(2**31), str(2**63), str(2**64), "-" + str(2**63), LONG, "9" * 400, "99999999", "--5", "00:00", "24:61",
    "2026-13-45", "0000-00-00", "9999-12-31T23:59:59Z", "2026-01-01T00:00:00+99:99", "\x00", "a\x00b", "\r\nX: y",
    "'", '"', "\\", "\\g<0>", "\\1", "\\x", "%", "%00", "%s%n", "${7*7}", "{{7*7}}", "{0}", "{campaign}", "../..",
    "..%2f", "a/b", "~", "~~", "<script>alert(1)</script>", "]]>", "é", "😀", "\u202e", "\ufffd", "\ud800", "\udfff",
    "true", "null", "[]", "{}", "None", "*", "group:x", "http://[", "http://[::1", "https://\u2100.example",
    "a" * 5_000, "SELECT 1; --", "=1+1", "\x1b[31m", "Europe/Nowhere", "Europe/../..", "/etc/passwd", "0.1", "1,5",
    "12.345", "2026-03-29T02:30", "9999-12-31", "9999-12-31T23:59", "0001-01-01T00:00", "2026-01-05T09:00:00",
)  # fmt: skip
#: Values of JSON that no schema allows everywhere.
VALUES = (
    None, True, False, 0, -1, 1, 1.5, 1e308, -1e308, 5e-324, 2**31, 2**53, 2**63, 2**64, 10**400, -(10**400), "", [],
    {}, [[]], [None], [{}], [[1]], {"": ""}, {"a": {"b": {"c": []}}}, ["a", 1, None], "\ud800", "\x00", "²",
)  # fmt: skip
BODIES = (
    b"", b" ", b"{", b"[]", b"null", b"1", b'"x"', b"NaN", b"[NaN]", b"\xff\xfe", b"\xed\xa0\x80", b"\x00",
    b"[" * 20_000, b'{"a":' * 5_000, b"9" * 5_000, b'{"key":1,"key":2}', b"\xef\xbb\xbf{}", b"%", b"%zz=%ff", b"=&=&;;",
    b"a=" + b"x" * 5_000, b"&" * 3_000, b"--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--b--\r\n",
    b"--b\r\n", b'{"a":"\\ud800"}', b'{"\\u0000":1}', b'{"a":1e999}', b"-" * 100,
)  # fmt: skip
HEADERS: tuple[tuple[bytes, bytes], ...] = tuple(
    (name.encode(), value)
    for name, values in {
        "content-type": (b"", b"\xff", b"application/json; charset=nonsense", b"multipart/form-data", b"a", b"a/b;;=;",
                         b"multipart/form-data; boundary=b", b"multipart/form-data; boundary=" + b"x" * 300,
                         b"multipart/form-data; boundary=\xff", b"application/x-www-form-urlencoded; charset=utf-16",
                         b"application/x-amz-json-1.1; charset=x", b"text/plain"),
        "content-length": (b"0", b"-1", b"\xb2", b"9" * 400, b"x", b"1e3", b" 5 ", b"+5"),
        "cookie": (b"\xff\xfe=\xe9", b"hmc_crowd_board=\xe9", b"hmc_crowd_board=a.b.c", b"hmc_crowd_board=a.\xb2.c",
                   b";=;", b"hmc_crowd_board=" + b"9" * 499, b'hmc_crowd_board="',
                   b"hmc_crowd_board=.9999999999999999999.x"),
        "authorization": (b"\xff", b"Bearer", b"Bearer \xe9\xff", b"bearer  ", b"Basic x", b"Token \xe9", b"x" * 9_000,
                          b"AWS4-HMAC-SHA256 Credential=\xe9/20260105/us-east-1/mturk-requester/aws4_request",
                          b"Bearer hmck_\xb2", b"AWS4-HMAC-SHA256 x"),
        "host": (b"", b"\xff", b"[", b"[::1", b"a:b", b"a" * 300, b"x:99999999", b"evil.example.org", b"a b"),
        "accept": (b"application/json", b"\xff", b"*/*;q=x"),
        "accept-language": (b"\xff", b"de;q=nan", b"de;q=1e999", b"x" * 5_000, b"," * 2_000, b";q=;q=", b"ar;q=\xb2"),
        "origin": (b"null", b"\xff", b"http://[", b"https://evil.example.org"),
        "referer": (b"\xff", b"http://["),
        "last-event-id": (b"\xb2", b"-1"),
        "range": (b"bytes=9-1",), "if-none-match": (b"\xff",), "if-modified-since": (b"\xff",),
        "x-forwarded-for": (b"\xff", b"::1", b"x"), "x-forwarded-user": (b"\xe9", b""),
        "x-forwarded-groups": (b"\xff",),
        "x-forwarded-proto": (b"\xff",), "x-forwarded-host": (b"[",), "forwarded": (b"\xff",), "expect": (b"x",),
        "x-amz-date": (b"\xb2", b"20260105T000000Z", b"x" * 200), "x-amz-target": (b"\xff", b".", b"x.y"),
        "x-prolific-request-timestamp": (b"\xb2", b"1e400", b"9" * 400, b"\xe9", b"nan", b"-1", b"9" * 5_000,
                                         b"2026-01-05T09:00:00", b"0001-01-01T00:00:00+23:59",
                                         b"9999-12-31T23:59:59-23:59"),
        "x-prolific-request-signature": (b"\xff", b""), "x-event-id": (b"\xff", b"x" * 500),
        "sec-fetch-site": (b"\xff", b"cross-site"), "transfer-encoding": (b"x",), "content-encoding": (b"gzip",),
    }.items()
    for value in values
)  # fmt: skip
_GOT = re.compile(r"""\b(?:get|value|getlist|pop)\(\s*["'](\w[\w-]*)["']|\[["'](\w[\w-]*)["']\]|name="(\w[\w-]*)["{]""")


def field_names(*folders: str) -> list[str]:
    """Every name that the code below the folders asks a form, a query or a document for."""
    found = set()
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".html"}:
                for match in _GOT.finditer(path.read_text(encoding="utf-8")):
                    found.add(next(group for group in match.groups() if group))
    return sorted(found)


@dataclass(frozen=True)
class Route:
    """A method and a path, the way Starlette writes it; ``operation`` where one address does many things."""

    method: str
    path: str
    operation: str = ""

    @property
    def seed(self) -> str:
        return f"{self.method} {self.path} {self.operation}".strip()


def walk(routes: Iterable[Any], prefix: str = "") -> Iterator[Route]:
    """Yield every route of an application, mounts and all."""
    for each in routes:
        below = getattr(each, "routes", None)
        if below:
            yield from walk(below, prefix + each.path)
            continue
        methods = getattr(each, "methods", None) or ("GET",)
        for method in sorted(set(methods) - {"HEAD"}):
            yield Route(method, prefix + each.path)


@dataclass
class Sent:
    """A request as bytes, and what came of it."""

    method: str
    path: str
    query: str
    headers: list[tuple[bytes, bytes]]
    body: bytes
    status: int = 0
    raised: BaseException | None = None
    text: bytes = b""
    known: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = {name.decode("latin-1"): value[:80] for name, value in self.headers}
        where = f"{self.path[:200]}?{self.query[:200]}"
        return f"{self.status} {self.method} {where} {shown} {self.body[:300]!r}: {self.raised!r:.300}"

    @property
    def is_broken(self) -> bool:
        return self.raised is not None or self.status >= 500 or self.status == 0


async def ask(app: Any, sent: Sent, *, within_s: float = 20.0) -> Sent:
    """Put a request to an application as a server would, and hang up when the first part of the reply is there."""
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": sent.method, "scheme": "http",
        "path": _unquoted(sent.path), "raw_path": sent.path.encode("ascii", "replace"), "root_path": "",
        "query_string": sent.query.encode("latin-1", "replace"), "headers": sent.headers,
        "client": ("127.0.0.1", 50_000), "server": ("127.0.0.1", 8000), "state": {},
    }  # fmt: skip
    parts = [{"type": "http.request", "body": sent.body, "more_body": False}]
    answered = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if parts:
            return parts.pop()
        await answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            sent.status = message["status"]
            for name, value in message["headers"]:
                if b"\n" in name + value or b"\r" in name + value:
                    raise ValueError(f"a line break in the header {name!r}")
        elif message["type"] == "http.response.body":
            sent.text += message.get("body", b"")
            answered.set()

    try:
        await asyncio.wait_for(app(scope, receive, send), within_s)
    except Exception as error:  # noqa: BLE001  whatever it is, it is what we look for
        sent.raised = error
    return sent


def _unquoted(path: str) -> str:
    from urllib.parse import unquote

    return unquote(path)  # as uvicorn has it: what is no UTF-8 becomes U+FFFD


@dataclass
class Sender:
    """Makes requests to one application.

    Parameters
    ----------
    roles : mapping
        By name: the headers that sign somebody in.
    ids : mapping
        By the name of a path's or a form's field: values that exist.
    names : sequence of str
        Names of fields.
    documents : callable
        ``documents(route, dice)`` gives a valid JSON body where a route takes one, None where it takes a form.
    own : mapping
        By the beginning of a path: ids that hold there in place of the others.
    sign : callable, optional
        ``sign(sent, route)`` puts a signature on what is ready.
    """

    app: Any
    roles: Mapping[str, Sequence[tuple[bytes, bytes]]]
    ids: Mapping[str, Sequence[str]]
    names: Sequence[str]
    documents: Callable[[Route, random.Random], Any] = lambda _route, _dice: None
    own: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    sign: Callable[[Sent, Route], None] | None = None

    def made(self, route: Route, dice: random.Random, role: str) -> Sent:
        """Make a request of a route: mostly right, odd in one or two places."""
        document = self.documents(route, dice)
        ids = {**self.ids, **next((each for path, each in self.own.items() if route.path.startswith(path)), {})}
        places = ("query", "headers") if route.method == "GET" else ("body", "body", "headers", "query")
        odd = {dice.choice(places), dice.choice((*places, ""))} | ({"path"} if dice.random() < 0.1 else set())
        path = re.sub(r"{(\w+)(?::\w+)?}", lambda match: _part(match[1], ids, dice, is_odd="path" in odd), route.path)
        is_asked = route.method == "GET" or "query" in odd
        query = self._pairs(ids, dice, is_odd="query" in odd) if is_asked else ""
        headers = list(self.roles[role])
        body = b""
        if route.method != "GET":
            body, kind = self._body(document, ids, dice, is_odd="body" in odd)
            headers.append((b"content-type", kind))
        sent = Sent(route.method, path, query, headers, body)
        if self.sign is not None:
            self.sign(sent, route)
        if "headers" in odd:
            for name, value in dice.sample(HEADERS, dice.choice((1, 1, 2, 3))):
                if name not in {b"authorization", b"cookie", b"content-length"} or dice.random() < 0.3:
                    sent.headers = [each for each in sent.headers if each[0] != name] + [(name, value)]
        if not any(name == b"host" for name, _ in sent.headers):
            sent.headers.append((b"host", b"testserver"))
        if not any(name == b"content-length" for name, _ in sent.headers):
            sent.headers.append((b"content-length", str(len(body)).encode()))
        return sent

    def swept(self, route: Route, dice: random.Random, role: str) -> Iterator[Sent]:
        """Yield a right request of a route with each odd value in each of its known places, one at a time."""
        ids = {**self.ids, **next((each for path, each in self.own.items() if route.path.startswith(path)), {})}
        document = self.documents(route, dice) if route.method != "GET" else None
        path = re.sub(r"{(\w+)(?::\w+)?}", lambda match: _part(match[1], ids, dice, is_odd=False), route.path)
        if document is not None:
            contents = [json.dumps(each).encode() for each in _swept_document(document)]
        else:
            right = {name: _known(name, ids, dice) for name in ids if name in self.names}
            pairs = ({**right, name: odd} for name in right for odd in TEXTS)
            contents = [_encoded(each.items()).encode() for each in pairs]
        kind = b"application/x-www-form-urlencoded" if document is None else b"application/json"
        for content in contents:
            query, body = (content.decode(), b"") if route.method == "GET" else ("", content)
            sent = Sent(route.method, path, query, [*self.roles[role], (b"content-type", kind)], body)
            if self.sign is not None:
                self.sign(sent, route)
            given = {name for name, _ in sent.headers}
            sent.headers += [each for each in ((b"host", b"testserver"),) if each[0] not in given]
            yield sent

    def _pairs(self, ids: Mapping[str, Sequence[str]], dice: random.Random, *, is_odd: bool) -> str:
        usual = [name for name in ids if name in self.names and dice.random() < 0.95]
        names = dice.sample(self.names, min(len(self.names), dice.randint(0, 6)))
        names = [name for name in names if name not in usual] + usual
        chance = dice.choice((0.15, 0.15, 0.6)) if is_odd else 0.0
        pairs = [(n, dice.choice(TEXTS) if dice.random() < chance else _known(n, ids, dice)) for n in names]
        if is_odd and pairs and dice.random() < 0.2:
            pairs.append((pairs[-1][0], dice.choice(TEXTS)))
        text = _encoded(pairs)
        return text + dice.choice(("", "", "", "&%ff=%ff", "&=", "&x")) if is_odd else text

    def _body(
        self, document: Any, ids: Mapping[str, Sequence[str]], dice: random.Random, *, is_odd: bool
    ) -> tuple[bytes, bytes]:
        kind = b"application/x-www-form-urlencoded" if document is None else b"application/json"
        if is_odd and dice.random() < 0.15:
            return dice.choice(BODIES), kind
        if document is None:
            return self._pairs(ids, dice, is_odd=is_odd).encode("latin-1"), kind
        if is_odd:
            for _ in range(dice.choice((1, 1, 2, 4))):
                document = bent(document, dice)
        return json.dumps(document).encode(), kind


def _encoded(pairs: Iterable[tuple[str, str]]) -> str:
    return urlencode([(name, value.encode("utf-8", "surrogatepass")) for name, value in pairs])


def _swept_document(document: Any) -> Iterator[Any]:
    """Yield a document with each odd value in the place of each of its parts."""
    yield from VALUES
    yield from TEXTS
    parts = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for at, part in parts:
        for odd in _swept_document(part):
            changed = dict(document) if isinstance(document, dict) else list(document)
            changed[at] = odd
            yield changed


def _known(name: str, ids: Mapping[str, Sequence[str]], dice: random.Random) -> str:
    return dice.choice(ids.get(name) or [each for some in ids.values() for each in some] or ["x"])


def _part(name: str, ids: Mapping[str, Sequence[str]], dice: random.Random, *, is_odd: bool) -> str:
    if not is_odd:
        return quote(_known(name, ids, dice), safe="~.")
    text = dice.choice((*TEXTS, LONG, LONG, "%ff", "%ed%a0%80", "%00"))
    return text if text.startswith("%") else quote(text.encode("utf-8", "replace"), safe="") or "x"


def bent(document: Any, dice: random.Random) -> Any:
    """Return a document with one part of it replaced, left out, doubled or put into something else."""
    if isinstance(document, dict) and document and dice.random() < 0.85:
        name = dice.choice(list(document))
        if dice.random() < 0.15:
            return {key: value for key, value in document.items() if key != name}
        return document | {name: bent(document[name], dice)}
    if isinstance(document, list) and document and dice.random() < 0.7:
        at = dice.randrange(len(document))
        if dice.random() < 0.2:
            return document + [document[at]] * dice.choice((1, 5))
        return [*document[:at], bent(document[at], dice), *document[at + 1 :]]
    if isinstance(document, str) and document.startswith("<") and dice.random() < 0.8:
        return _bent_markup(document, dice)
    odd = dice.choice((dice.choice(VALUES), dice.choice(TEXTS), float("nan"), float("inf"), [document] * 2))
    return {"x": document} if dice.random() < 0.1 else odd


def _bent_markup(text: str, dice: random.Random) -> str:
    """Return a document of XML with a text, a number or a name of it replaced, or a part left out."""
    found = list(re.finditer(dice.choice((r">([^<>]+)<", r">(\d+)<", r"<(/?\w+)", r"(<[^>]*>)", r'"([^"]*)"')), text))
    if not found:
        return text
    at = dice.choice(found)
    odd = dice.choice(TEXTS) if dice.random() < 0.8 else "<" * 500
    return text[: at.start(1)] + odd + text[at.end(1) :]


def drawn(
    schema: Any, parts: Mapping[str, Any], dice: random.Random, known: Callable[[str], Any], name: str = ""
) -> Any:
    """Return a value that a JSON schema allows, near enough; ``known(name)`` gives values that exist, or None."""
    if "$ref" in schema:
        return drawn(parts[schema["$ref"].rsplit("/", 1)[-1]], parts, dice, known, name)
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return drawn(dice.choice(schema[several]), parts, dice, known, name)
    if "allOf" in schema:
        return drawn(schema["allOf"][0], parts, dice, known, name)
    if "enum" in schema or "const" in schema:
        return dice.choice(schema.get("enum") or [schema["const"]])
    kind = schema.get("type", "string")
    kind = dice.choice(kind) if isinstance(kind, list) else kind
    if kind == "object":
        needed = set(schema.get("required", ()))
        return {
            key: drawn(each, parts, dice, known, key)
            for key, each in schema.get("properties", {}).items()
            if key in needed or dice.random() < 0.5
        }
    if kind == "array":
        n = max(schema.get("minItems", 0), dice.choice((0, 1, 1, 2)))
        return [drawn(schema.get("items", {}), parts, dice, known, name) for _ in range(min(n, 5))]
    if kind in {"integer", "number"}:
        least, most = schema.get("minimum", 0), schema.get("maximum", 100)
        return dice.choice((least, least + (most - least) // 2 if kind == "integer" else (least + most) / 2))
    return {"boolean": dice.random() < 0.5, "null": None}.get(kind, known(name) or "x")


def broken(
    sender: Sender,
    routes: Iterable[Route],
    *,
    n: int,
    is_swept: bool = False,
    between: Callable[[], None] = lambda: None,
) -> list[str]:
    """Send ``n`` requests to each route, its roles in turn, the same in every run; return those that broke something.

    Swept: as many again, each right but for one odd value.
    """

    async def go() -> list[str]:
        found = []
        for route in routes:
            dice = random.Random(route.seed)
            each_n = max(1, n // len(sender.roles))
            for role in sender.roles:
                swept = list(sender.swept(route, dice, role)) if is_swept else []
                odd = [sender.made(route, dice, role) for _ in range(each_n)]
                for each in odd + dice.sample(swept, min(each_n, len(swept))):
                    sent = await ask(sender.app, each)
                    if sent.is_broken:
                        found.append(f"{route.seed} as {role or 'nobody'}: {sent}")
            if route.method != "GET":
                between()
        return found

    return asyncio.run(go())
