"""Write the tables of parameters and of thresholds between markers of Markdown files.

python -m studies.parameter_table doc/parameters.md doc/thresholds.md
"""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ne_dynamics.ros import ANNOTATOR_PARAMETERS, PARAMETERS
from ne_dynamics.settings import ParameterSpec
from ne_dynamics.tables import markdown_table
from ne_dynamics.thresholds import Value, list_thresholds

BEGIN = (
    '<!-- parameters: written by `make readme` from ne_dynamics/ros/settings/parameters.py -->\n'
)
END = '<!-- end of parameters -->\n'
ANNOTATOR_BEGIN = (
    '<!-- annotator: written by `make readme` from ne_dynamics/ros/annotator/settings.py -->\n'
)
ANNOTATOR_END = '<!-- end of annotator -->\n'
THRESHOLDS_BEGIN = '<!-- thresholds: written by `make readme` -->\n'
THRESHOLDS_END = '<!-- end of thresholds -->\n'

THRESHOLDS = {
    'ne_dynamics.control.guards.limits': ('GUARD_LIMITS',),
    'ne_dynamics.control.thresholds': ('COMMAND', 'DAMPING'),
    'ne_dynamics.control.desired.thresholds': ('DESIRED',),
    'ne_dynamics.control.sensors.thresholds': ('SENSORS',),
    'ne_dynamics.control.payload.thresholds': ('PAYLOAD',),
    'ne_dynamics.driver.thresholds': ('DELAY', 'EFFORTS', 'MEANING', 'STATES'),
    'ne_dynamics.driver.evidence.thresholds': ('EVIDENCE',),
    'ne_dynamics.commission.thresholds': ('STEPS', 'PLANNED', 'NODE_SETTINGS', 'ARM', 'FIT'),
    'ne_dynamics.codegen.thresholds': ('CODEGEN',),
    'ne_dynamics.codegen.llvm.thresholds': ('LLVM',),
    'ne_dynamics.excitation.thresholds': ('EXCITATION', 'SEARCH'),
    'ne_dynamics.gains.thresholds': ('GAINS', 'GAIN_SEARCH'),
    'ne_dynamics.identification.thresholds': ('IDENTIFICATION', 'LOAD', 'PLAUSIBILITY'),
    'ne_dynamics.logs.thresholds': ('LOGS', 'FILTER', 'FAULTS'),
    'ne_dynamics.motion.thresholds': ('MOTION', 'TIME_SCALING'),
    'ne_dynamics.ros.thresholds': ('NODE',),
    'ne_dynamics.simulation.thresholds': ('SIMULATION',),
}
"""Modules, and the sets of thresholds that they have."""


def parameter_table() -> str:
    """Return the table of all parameters of `computed_torque` in Markdown."""
    return _table(PARAMETERS)


def annotator_table() -> str:
    """Return the table of the parameters that `annotator` alone has."""
    return _table(one for one in ANNOTATOR_PARAMETERS if one.name not in PARAMETERS.by_name)


def _table(specs: Iterable[ParameterSpec]) -> str:
    heading = ['parameter', 'type', 'default', 'description', 'may be set']
    return markdown_table(heading, map(_row, specs)) + '\n'


def threshold_tables() -> str:
    """Return a section with a table for each set of thresholds in Markdown."""
    return '\n'.join(
        _threshold_table(getattr(importlib.import_module(module), name), f'{module}.{name}')
        for module, names in THRESHOLDS.items()
        for name in names
    )


def _threshold_table(thresholds: Any, name: str) -> str:
    rows = (
        [f'`{each}`', _show(value), unit, reason]
        for each, value, unit, reason in list_thresholds(thresholds)
    )
    table = markdown_table(['name', 'value', 'unit', 'why'], rows)
    return f'## {type(thresholds).__name__}\n\n{type(thresholds).__doc__} `{name}`\n\n{table}\n'


def _show(value: Value) -> str:
    return ', '.join(map(_show, value)) if isinstance(value, tuple) else f'{value:g}'


def with_tables(text: str) -> str:
    """Return a text with the tables between its markers written anew.

    Raises
    ------
    ValueError
        When the text has both markers of no table.
    """
    written = 0
    for begin, end, table in (
        (BEGIN, END, parameter_table),
        (ANNOTATOR_BEGIN, ANNOTATOR_END, annotator_table),
        (THRESHOLDS_BEGIN, THRESHOLDS_END, threshold_tables),
    ):
        pattern = re.compile(f'{re.escape(begin)}.*?{re.escape(end)}', re.DOTALL)
        if pattern.search(text):
            text = pattern.sub(f'{begin}{table()}{end}'.replace('\\', r'\\'), text)
            written += 1
    if not written:
        raise ValueError(
            f'expected {BEGIN!r} and {END!r}, or {THRESHOLDS_BEGIN!r} and its end, got none'
        )
    return text


def _row(spec: ParameterSpec) -> list[str]:
    details = ', '.join(filter(None, [f'[{spec.unit}]' if spec.unit else '', spec.bounds]))
    description = f'{spec.description} {details}'.strip()
    return [f'`{spec.name}`', spec.type, _default(spec), description, spec.changes.value]


def _default(spec: ParameterSpec) -> str:
    value = spec.default
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f'[{", ".join(map(str, value))}]'
    return f'`{value}`' if value != '' else "''"


if __name__ == '__main__':
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('files', type=Path, nargs='+', help='doc/parameters.md ...')
    for path in parser.parse_args().files:
        path.write_text(with_tables(path.read_text(encoding='utf-8')), encoding='utf-8')
