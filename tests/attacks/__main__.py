"""``python -m tests.attacks [--door NAME]... [--json]``: run the attacks and print one table; 1 if any got in."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter

from tests.attacks import DOORS, Outcome, load, run_attacks


def table(outcomes: list[Outcome]) -> str:
    rows = [("door", "attacks", "got in", "errors")]
    counted = Counter((each.attack.door, each.verdict) for each in outcomes)
    for door in DOORS:
        held, inside, errors = (counted[door, verdict] for verdict in ("held", "got in", "error"))
        if held + inside + errors:
            rows.append((door, str(held + inside + errors), str(inside), str(errors)))
    sums = [str(sum(int(row[n]) for row in rows[1:])) for n in (1, 2, 3)]
    rows.append(("all", *sums))
    wide = max(len(row[0]) for row in rows)
    return "\n".join(f"{row[0]:<{wide}}  {row[1]:>7}  {row[2]:>6}  {row[3]:>6}" for row in rows)


def as_json(outcomes: list[Outcome]) -> str:
    rows = [
        {
            "door": each.attack.door,
            "attack": each.attack.name,
            "defence": each.attack.defence,
            "verdict": each.verdict,
            "why": each.why,
        }
        for each in outcomes
    ]
    return json.dumps({"attacks": rows, "n": len(rows), "got_in": sum(each.verdict == "got in" for each in outcomes)})


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument("--door", action="append", choices=DOORS, help="only this door; give it again for more")
    parser.add_argument("--json", action="store_true", help="print every attack as JSON")
    given = parser.parse_args(arguments)
    wanted = [each for each in load() if not given.door or each.door in given.door]
    outcomes = []
    begun = time.monotonic()
    for outcome in run_attacks(wanted):
        outcomes.append(outcome)
        if outcome.verdict != "held":
            print(
                f"{outcome.verdict}: {outcome.attack.door}: {outcome.attack.name}\n    {outcome.why}", file=sys.stderr
            )
    print(as_json(outcomes) if given.json else table(outcomes))
    print(f"{time.monotonic() - begun:.0f} s", file=sys.stderr)
    return int(any(each.verdict != "held" for each in outcomes))


if __name__ == "__main__":
    raise SystemExit(main())
