"""doc/failure_behaviour.md names tests that there are, and all of the fault table."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
DOCUMENT = TESTS.parent / 'doc' / 'failure_behaviour.md'
NAMED = re.findall(r'`(test_\w+\.py)::(test_\w+)`', DOCUMENT.read_text(encoding='utf-8'))


@cache
def names_of_tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding='utf-8'))
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith('test_')
    }


def test_every_test_that_is_named_exists() -> None:
    """What the document says is shown by a test is shown by a test of that name."""
    assert len(NAMED) > 50
    files = {path.name: path for path in TESTS.rglob('test_*.py')}
    missing = [
        f'{file}::{name}'
        for file, name in NAMED
        if file not in files or name not in names_of_tests(files[file])
    ]
    assert not missing


def test_every_row_names_a_test() -> None:
    rows = [
        line
        for line in DOCUMENT.read_text(encoding='utf-8').splitlines()
        if line.startswith('|') and not line.startswith(('| --- |', '| what happens |'))
    ]
    assert rows
    assert not [row for row in rows if '::test_' not in row]


def test_the_fault_table_is_in_it() -> None:
    named = set(NAMED)
    left_out = [
        f'{path.name}::{name}'
        for path in sorted(Path(__file__).parent.glob('test_fault_*.py'))
        if path.name != 'test_fault_bench_checks.py'
        for name in sorted(names_of_tests(path))
        if (path.name, name) not in named
    ]
    assert not left_out
