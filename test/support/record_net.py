"""Record anew what identification, gains and interfaces are: `make golden-net`.

Names of records as arguments record only those that begin so. What changed is printed; it belongs
into the message of the commit, with the reason. What needs something that is missing here is kept.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from build_control_msgs import ControlMessages, find_or_build, importable
from gain_record import DESIGNS, record_falls, record_gains
from identification_record import (
    CASES,
    DRIVERS,
    record_driver,
    record_evidence,
    record_identification,
    record_load,
    record_planted_faults,
)
from interface_record import (
    COUNTED,
    NODES,
    PRINTED,
    print_equations,
    record_counts,
    record_launch_arguments,
    record_node,
    record_options,
    record_python_names,
)
from stored_record import EQUATIONS, list_differences, read_record, record_path, write_record

ROOT = Path(__file__).resolve().parents[2]
MESSAGES = ROOT / '.pytest_cache' / 'd' / 'control_msgs'
"""Where pytest keeps the messages that the node needs for its action."""


class Record(NamedTuple):
    """What is kept of one thing.

    Attributes
    ----------
    make : callable
        Makes it anew, of a folder for model files and what returns the messages of the action.
    tolerance, of_deviation : float
        Of numbers, and of standard deviations; see :func:`stored_record.list_differences`.
    is_long : bool
        Whether `make test` leaves it out.
    """

    make: Callable[[Path, Callable[[], ControlMessages]], Any]
    tolerance: float = 0.0
    of_deviation: float = 0.0
    is_long: bool = False


ROUNDED = 1e-6
"""For each number as a part of it, or of its standard deviation where that is larger: a base
parameter that a log hardly tells is near zero, and its last digits are those of rounding. Other
processors and orders of summation change these numbers by less than 1e-7."""

OF_A_DEVIATION = 1e-4
"""For standard deviations: those of parameters that hardly anything tells come of differences of
large numbers, and change by 1e-6 from one processor to another."""


def _of_log(make: Callable[[Path], Any], is_long: bool = True) -> Record:
    return Record(lambda folder, _: make(folder), ROUNDED, OF_A_DEVIATION, is_long)


def _of_node(name: str) -> Record:
    def make(folder: Path, find: Callable[[], ControlMessages]) -> Any:
        pytest.importorskip('rclpy', reason='needs ROS 2 for Python')
        if name == 'simulated_robot':
            pytest.importorskip('mujoco', reason='mujoco is missing')
        messages = find()
        if messages.missing:
            pytest.skip(f'no control_msgs, and it cannot be built: {messages.missing}')
        with importable(messages):
            return record_node(name)

    return Record(make)


RECORDS = {
    **{
        f'identification_{name}': _of_log(
            partial(record_identification, name), name != 'three_axes_with_faults'
        )
        for name in CASES
    },
    'identification_ur10e_load': _of_log(record_load),
    **{f'driver_{name}': _of_log(partial(record_driver, name)) for name in DRIVERS},
    'driver_evidence': Record(lambda *_: record_evidence(), ROUNDED),
    'planted_faults': _of_log(lambda folder: record_planted_faults()),
    **{
        f'gains_{name}': Record(lambda *_, name=name: record_gains(name), ROUNDED)
        for name in DESIGNS
    },
    'gains_falls': Record(lambda *_: record_falls(), ROUNDED),
    **{f'interface_{name}': _of_node(name) for name in NODES},
    'interface_options': Record(lambda *_: record_options()),
    'interface_launch_arguments': Record(lambda *_: record_launch_arguments()),
    'interface_python': Record(lambda *_: record_python_names()),
    'operation_counts': Record(
        lambda *_: {name: record_counts(name) for name in COUNTED}, is_long=True
    ),
}
"""By name: those of `test/golden` but for equations."""


def main(beginnings: list[str]) -> int:
    """Record all, or what begins with one of the names."""
    wanted = tuple(beginnings) or ('',)
    with tempfile.TemporaryDirectory() as folder:
        for name, record in RECORDS.items():
            if name.startswith(wanted):
                _record(name, partial(record.make, Path(folder), partial(find_or_build, MESSAGES)))
    if 'equations'.startswith(wanted):
        _print_all_equations()
    return 0


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
