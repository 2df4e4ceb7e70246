"""Record anew what identification, gains and interfaces are: `make golden-net`.

Names of records as arguments record only those that begin so. What changed is printed; it belongs
into the message of the commit, with the reason. What needs something that is missing here is kept.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from build_control_msgs import ControlMessages, find_or_build
from gain_record import DESIGNS, record_falls, record_gains
from identification_record import (
    CASES,
    DRIVERS,
    record_driver,
    record_identification,
    record_load,
    record_planted_faults,
)
from interface_record import (
    COUNTED,
    PRINTED,
    print_equations,
    record_annotator,
    record_computed_torque,
    record_counts,
    record_launch_arguments,
    record_options,
    record_python_names,
    record_simulated_robot,
)
from stored_record import EQUATIONS, list_differences, read_record, record_path, write_record

ROOT = Path(__file__).resolve().parents[2]
MESSAGES = ROOT / '.pytest_cache' / 'd' / 'control_msgs'
"""Where pytest keeps the messages that the node needs for its action."""


def list_records(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the names of all records, and what makes each; model files go into a folder."""
    for name in CASES:
        yield f'identification_{name}', lambda name=name: record_identification(name, folder)
    yield 'identification_ur10e_load', lambda: record_load(folder)
    for name in DRIVERS:
        yield f'driver_{name}', lambda name=name: record_driver(name, folder)
    yield 'planted_faults', record_planted_faults
    for name in DESIGNS:
        yield f'gains_{name}', lambda name=name: record_gains(name)
    yield 'gains_falls', record_falls
    yield 'interface_computed_torque', lambda: _record_node(record_computed_torque)
    yield 'interface_annotator', lambda: _record_node(record_annotator)
    yield 'interface_simulated_robot', record_simulated_robot
    yield 'interface_options', record_options
    yield 'interface_launch_arguments', record_launch_arguments
    yield 'interface_python', record_python_names
    yield 'operation_counts', lambda: {name: record_counts(name) for name in COUNTED}


def main(beginnings: list[str]) -> int:
    """Record all, or what begins with one of the names."""
    wanted = tuple(beginnings) or ('',)
    with tempfile.TemporaryDirectory() as folder:
        for name, make in list_records(Path(folder)):
            if name.startswith(wanted):
                _record(name, make)
    if 'equations'.startswith(wanted):
        _print_all_equations()
    return 0


def _record_node(record: Callable[[ControlMessages], Any]) -> Any:
    messages = find_or_build(MESSAGES)
    if messages.missing:
        pytest.skip(f'no control_msgs, and it cannot be built: {messages.missing}')
    return record(messages)


def _record(name: str, make: Callable[[], Any]) -> None:
    """Write a record, and say what is other than it was."""
    try:
        record = make()
    except (pytest.skip.Exception, ImportError) as missing:
        print(f'{name}: kept as it is: {missing}')
        return
    is_new = not record_path(name).exists()
    differences = [] if is_new else sorted(list_differences(read_record(name), record))
    write_record(name, record)
    print(f'{name}: {"new" if is_new else f"{len(differences)} differences"}')
    for line in differences:
        print(f'  {line}')


def _print_all_equations() -> None:
    EQUATIONS.mkdir(exist_ok=True)
    for name in PRINTED:
        for file, text in print_equations(name).items():
            (EQUATIONS / f'{file}.txt').write_text(text, encoding='utf-8')
    print('equations: `git diff` shows what changed')


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
