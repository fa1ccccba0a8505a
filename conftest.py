"""Which tests need torch: they carry the marker ``text`` and are skipped, saying so, where it is not installed."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

# Modules whose examples run an encoder.
EXAMPLES = ("hmc_crowd.confidence.text._classifier.", "hmc_crowd.confidence.text._encoder.")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the examples, and skip whatever is marked where torch is missing."""
    missing = [name for name in ("torch", "transformers") if find_spec(name) is None]
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name.startswith(EXAMPLES):
            item.add_marker("text")
        if missing and item.get_closest_marker("text"):
            item.add_marker(pytest.mark.skip(reason=f"{' and '.join(missing)} not installed: run make test-text"))
