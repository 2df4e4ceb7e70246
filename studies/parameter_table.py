"""Write the tables of parameters and of the guards' limits between markers of Markdown files.

python -m studies.parameter_table doc/parameters.md doc/guard_limits.md
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from ne_dynamics.control import GuardLimits
from ne_dynamics.ros import ANNOTATOR_PARAMETERS, PARAMETERS
from ne_dynamics.settings import ParameterSpec
from ne_dynamics.tables import markdown_table

BEGIN = (
    '<!-- parameters: written by `make readme` from ne_dynamics/ros/settings/parameters.py -->\n'
)
END = '<!-- end of parameters -->\n'
ANNOTATOR_BEGIN = (
    '<!-- annotator: written by `make readme` from ne_dynamics/ros/annotator/settings.py -->\n'
)
ANNOTATOR_END = '<!-- end of annotator -->\n'
LIMITS_BEGIN = (
    '<!-- limits: written by `make readme` from ne_dynamics/control/guards/limits.py -->\n'
)
LIMITS_END = '<!-- end of limits -->\n'


def parameter_table() -> str:
    """Return the table of all parameters of `computed_torque` in Markdown."""
    return _table(PARAMETERS)


def annotator_table() -> str:
    """Return the table of the parameters that `annotator` alone has."""
    return _table(one for one in ANNOTATOR_PARAMETERS if one.name not in PARAMETERS.by_name)


def _table(specs: Iterable[ParameterSpec]) -> str:
    heading = ['parameter', 'type', 'default', '', 'set']
    return markdown_table(heading, map(_row, specs)) + '\n'


def limit_table() -> str:
    """Return the table of all limits of the guards in Markdown."""
    rows = (
        [f'`{one.name}`', f'{one.default:g}', one.metadata['unit'], one.metadata['reason']]
        for one in fields(GuardLimits)
    )
    return markdown_table(['limit', 'value', 'unit', 'why'], rows) + '\n'


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
        (LIMITS_BEGIN, LIMITS_END, limit_table),
    ):
        pattern = re.compile(f'{re.escape(begin)}.*?{re.escape(end)}', re.DOTALL)
        if pattern.search(text):
            text = pattern.sub(f'{begin}{table()}{end}'.replace('\\', r'\\'), text)
            written += 1
    if not written:
        raise ValueError(
            f'expected {BEGIN!r} and {END!r}, or {LIMITS_BEGIN!r} and its end, got none'
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
