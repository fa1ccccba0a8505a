"""Addresses as people and logs may see them: no password, key or token in them, wherever it stands.

A secret can stand before the host (``user:secret@host``) or in the query (``?password=secret``, which libpq reads too).
"""

from __future__ import annotations

import re

__all__ = ["shown_address", "without_secrets"]

# Bounded runs: messages hold foreign text, and an unbounded one would be read again from each of its letters.
_MASK = "***"
_WORDS = r"passw|passphrase|pwd|secret|token|credential|signature|api[_\-]?key|access[_\-]?key|auth"
_TELLING = rf"[\w.\-]{{0,60}}(?:{_WORDS})[\w.\-]{{0,60}}"
_NAMES = rf"(?:{_TELLING}|key|sig|pass|code)"
_BEFORE_HOST = re.compile(r"(?P<scheme>\b[A-Za-z][A-Za-z0-9+.\-]{0,40}://)(?P<user>[^\s/?#:@'\"]*):[^\s/?#'\"]*@")
_IN_QUERY = re.compile(rf"(?P<name>[?&;]{_NAMES}=)[^\s&;#'\"]*", re.IGNORECASE)
# An address of a database alone may hold anything in its password, such as a slash that nobody escaped.
_WHOLE_BEFORE_HOST = re.compile(r"^(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*://)(?P<user>[^:@/?#]*):.*@(?=[^@]*$)")
# What follows the user's name is no port, so it is a password: then a question mark may be part of it.
_IN_PASSWORD = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://[^:@/?#]*:(?![0-9]*/)[^@]*")


def shown_address(address: object) -> str:
    """Return an address without its secrets; what is no address stays as it is.

    Examples
    --------
    >>> shown_address("postgresql://ann:pa/ss@db/work?sslmode=require&password=hidden")
    'postgresql://ann:***@db/work?sslmode=require&password=***'
    >>> shown_address("https://crowd.example.org/hook?api_key=hidden#top"), shown_address("work.db")
    ('https://crowd.example.org/hook?api_key=***#top', 'work.db')
    """
    text = str(address)
    head, mark, query = text.partition("?")
    if "@" in query and _IN_PASSWORD.fullmatch(head):
        before, at, host = text.rpartition("@")
        place, mark, query = host.partition("?")
        head = before + at + place
    head = _WHOLE_BEFORE_HOST.sub(rf"\g<scheme>\g<user>:{_MASK}@", head)
    return without_secrets(head + mark + query)


def without_secrets(text: str) -> str:
    """Return a sentence whose addresses hold no secrets.

    Examples
    --------
    >>> without_secrets("no answer from https://ann:hidden@crowd.example.org/?token=hidden; try later")
    'no answer from https://ann:***@crowd.example.org/?token=***; try later'
    """
    hidden = _BEFORE_HOST.sub(rf"\g<scheme>\g<user>:{_MASK}@", text)
    return _IN_QUERY.sub(rf"\g<name>{_MASK}", hidden)
