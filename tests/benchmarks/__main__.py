"""``python -m tests.benchmarks [name ...]``: run the benchmarks ``bench_<name>.py``, all when none is named.

A benchmark has ``main()``, which prints what it likes and may return rows ``(what, value)``, printed as a table.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def names() -> list[str]:
    return sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))


def run(name: str) -> None:
    print(f"\n== {name} ==", flush=True)
    rows = import_module(f"tests.benchmarks.bench_{name}").main()
    width = max((len(what) for what, _ in rows or ()), default=0)
    for what, value in rows or ():
        print(f"{what:<{width}}  {value}")


def main(wanted: list[str]) -> int:
    known = names()
    wrong = [name for name in wanted if name not in known]
    if wrong:
        print(f"no benchmark is named {', '.join(wrong)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    for name in wanted or known:
        run(name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
