"""The tests; a package, so that `python -m tests.benchmarks` finds these and not another distribution's."""
