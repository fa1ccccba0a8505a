"""The 72 acceptance cases of the platform reference: each is held by tests that carry its number in their names.

A case whose last test is renamed or deleted fails here, and so does a test that claims a case which does not exist.
What a case says stands in one line; the whole of it in the platform reference, section 8.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

# Number, what it says, and the folders whose tests hold it.
CASES = (
    # MTurk.
    ("a01", "reset after CreateHIT: one HIT, its id stored", "campaign mturk"),
    ("a02", "kill -9 after the create: adopted by its annotation", "campaign mturk"),
    ("a03", "a create older than 23 h: a full scan before any create", "campaign mturk"),
    ("a04", "a reward that is no amount: refused here, nothing sent", "mturk"),
    ("a05", "9 places and one more: another HIT, no extend", "campaign mturk"),
    ("a06", "fees: 0.02 each for ten at 0.05, at least 0.01", "mturk"),
    ("a07", "261 assignments: each once, in pages", "mturk"),
    ("a08", "an empty page with a token: go on", "mturk"),
    ("a09", "auto-approved: an outcome, settled once", "campaign mturk"),
    ("a10", "shown as rejected: a question; an override within 30 days", "campaign mturk"),
    ("a11", "not shown yet: put off, with growing pauses", "campaign mturk"),
    ("a12", "one id, two workers: only who submitted is paid", "mturk"),
    ("a13", "expired with one at work: his label is collected", "mturk"),
    ("a14", "after the deadline: saved, unpaid_late, listed", "mturk"),
    ("a15", "a bad answer: a typed problem, the batch goes on", "mturk"),
    ("a16", "hostile XML: refused", "mturk"),
    ("a17", "an emoji: entity-encoded and accepted", "mturk"),
    ("a18", "a URL with an ampersand: well-formed", "mturk"),
    ("a19", "a preview: nothing claimed, nothing to hand in", "mturk"),
    ("a20", "turkSubmitTo elsewhere: refused", "mturk"),
    ("a21", "throttling: growing pauses, an end in time", "mturk"),
    ("a22", "SendBonus broke after its commit: exactly one", "campaign mturk"),
    ("a23", "production or no address: refused before the network", "mturk"),
    ("a24", "unreviewed work: never deleted", "mturk"),
    ("a25", "Exists with values: a local error", "mturk"),
    ("a26", "a score: set once, quietly", "mturk"),
    ("a27", "a naive time: refused; an aware one: the right epoch", "mturk"),
    # Prolific.
    ("b01", "create broke after its commit: one draft, adopted", "campaign prolific"),
    ("b02", "PUBLISH broke after its commit: no second one", "campaign prolific"),
    ("b03", "a balance below the cost: refused with the figures", "prolific"),
    ("b04", "two that top up to 50: 50", "prolific"),
    ("b05", "a completed study: reopen said on purpose", "prolific"),
    ("b06", "pay broke after its commit: never sent again", "campaign prolific"),
    ("b07", "150 minor units: 1.50", "prolific"),
    ("b08", "450 bonuses: batches of 200, a foreign id spoils one", "prolific"),
    ("b09", "a rejection of 99 characters: refused here", "prolific quality"),
    ("b10", "5% rejections at a cap of 2%: none, a question", "prolific quality"),
    ("b11", "one failed gold item: never a rejection", "prolific quality"),
    ("b12", "rejected or returned: no place bought", "campaign prolific"),
    ("b13", "approve twice: one payment", "campaign prolific"),
    ("b14", "2,500 approvals: 3 bulk calls, polled", "prolific"),
    ("b15", "a busy wallet: waited for, all once", "prolific"),
    ("b16", "pages that drift: complete, none twice", "prolific"),
    ("b17", "list and detail: one model", "prolific"),
    ("b18", "an unknown state: UNKNOWN, no money, a warning", "prolific"),
    ("b19", "an event twice, and after a restart: processed once", "prolific"),
    ("b20", "APPROVED before AWAITING REVIEW: what GET shows", "prolific"),
    ("b21", "a tampered body or stamp: 401, only counted", "prolific"),
    ("b22", "a signature over the body written anew: accepted", "prolific"),
    ("b23", "a rotated secret: the old one in the overlap", "prolific"),
    ("b24", "a forged participant: no task", "prolific"),
    ("b25", "a reload: the same claim and draft", "prolific"),
    ("b26", "timed out with complete work: offered for payment", "campaign prolific"),
    ("b27", "NOCODE with a complete record: approved", "prolific"),
    ("b28", "20 days: an alarm before the auto-approval", "prolific"),
    ("b29", "ip and strata: neither in SQL nor in logs", "campaign prolific"),
    ("b30", "an HTML 502: a typed, short error", "prolific"),
    ("b31", "a score: exactly one member moves, repeated: no call", "prolific"),
    ("b32", "below the minimum wage: refused unless lifted", "prolific"),
    # Core.
    ("c01", "9.99 and 0.02 of 10.00 in two threads: one refused", "campaign store"),
    ("c02", "a crash at every step: once, pay at most once", "campaign"),
    ("c03", "a dry run: no write, the whole cost sheet", "campaign"),
    ("c04", "three HITs at once: 60 s each, overlap_adjusted", "effort"),
    ("c05", "an idle tab: counted to the cap, raw kept", "effort pages"),
    ("c06", "8 minutes of silent reading: counted", "effort pages"),
    ("c07", "two tabs: no second twice", "effort pages"),
    ("c08", "no JavaScript: taken, no_heartbeat", "pages"),
    ("c09", "true times known: the median within 5%", "effort pages"),
    ("c10", "script and formula in answers: inert", "mturk"),
    ("c11", "the same run again: nothing new outside", "campaign"),
    ("c12", "an export: no raw ids, no tokens", "campaign"),
    ("c13", "the MTurk frame: headers", "pages"),
)

NAMED = re.compile(r"test_([abc]\d\d)_")


@cache
def held() -> dict[str, dict[str, list[ast.FunctionDef]]]:
    """Return the tests of each case by their folder."""
    found: dict[str, dict[str, list[ast.FunctionDef]]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and (named := NAMED.match(node.name)):
                folder = path.relative_to(TESTS).parts[0]
                found.setdefault(named.group(1), {}).setdefault(folder, []).append(node)
    return found


def is_empty(test: ast.FunctionDef) -> bool:
    """Say whether a test checks nothing, or is never run."""
    text = "\n".join(ast.unparse(each) for each in test.body)
    never = any(re.search(r"mark\.(?:skip|xfail)\b", ast.unparse(each)) for each in test.decorator_list)
    return never or not re.search(r"\bassert\b|pytest\.raises|\.check\w*\(|assert_", text)


def test_there_are_27_and_32_and_13_cases() -> None:
    wanted = [
        f"{letter}{number:02d}" for letter, last in (("a", 27), ("b", 32), ("c", 13)) for number in range(1, last + 1)
    ]
    assert [each for each, _, _ in CASES] == wanted


@pytest.mark.parametrize(("case", "says", "folders"), CASES, ids=[each for each, _, _ in CASES])
def test_a_case_is_held_by_tests_of_its_number(case: str, says: str, folders: str) -> None:
    tests = held().get(case, {})
    assert set(folders.split()) <= set(tests), f"{case.upper()} ({says}) has lost tests"
    assert not [each.name for some in tests.values() for each in some if is_empty(each)]


def test_no_test_claims_a_case_that_does_not_exist() -> None:
    assert set(held()) == {each for each, _, _ in CASES}
