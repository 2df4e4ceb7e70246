"""The order in which files of tests are handed to processes."""

from __future__ import annotations

import pytest

WAITING = ('faults', 'fuzz', 'ros', 'simulation', 'cli', 'launch')
"""Folders whose tests wait for other processes for much of their time: they come first."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put what waits before what computes, so that nobody waits alone at the end."""
    root = config.rootpath / 'test'

    def is_computing(item: pytest.Item) -> bool:
        parts = item.path.relative_to(root).parts if item.path.is_relative_to(root) else ()
        return not parts or parts[0] not in WAITING

    items.sort(key=is_computing)
