"""Benchmarks: they print ratios and rates, measured in one run; no test asserts a wall-clock time."""
