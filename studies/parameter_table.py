"""Write the table of the node's parameters between the markers of a Markdown file.

python -m studies.parameter_table doc/parameters.md
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ne_dynamics.ros import PARAMETERS
from ne_dynamics.settings import ParameterSpec
from ne_dynamics.tables import markdown_table

BEGIN = (
    '<!-- parameters: written by `make readme` from ne_dynamics/ros/settings/parameters.py -->\n'
)
END = '<!-- end of parameters -->\n'


def parameter_table() -> str:
    """Return the table of all parameters of `computed_torque` in Markdown."""
    heading = ['parameter', 'type', 'default', '', 'set']
    return markdown_table(heading, map(_row, PARAMETERS)) + '\n'


def with_parameter_table(text: str) -> str:
    """Return a text with the table between its markers written anew.

    Raises
    ------
    ValueError
        When the text does not have both markers.
    """
    pattern = re.compile(f'{re.escape(BEGIN)}.*?{re.escape(END)}', re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f'expected the markers {BEGIN!r} and {END!r}, got none')
    return pattern.sub(lambda match: f'{BEGIN}{parameter_table()}{END}', text)


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
    parser.add_argument('file', type=Path, help='doc/parameters.md')
    path = parser.parse_args().file
    path.write_text(with_parameter_table(path.read_text(encoding='utf-8')), encoding='utf-8')
