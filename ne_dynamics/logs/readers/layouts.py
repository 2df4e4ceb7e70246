"""CSV files as other programs write them: which of their columns are what.

Only exact patterns are known. Units are never guessed: they are seconds, rad or m, N m or N, or a
fault that the diagnosis of the log names. Joints without a name have the numbers of the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ne_dynamics.errors import InputError

TIME_COLUMN = 'time'
KINDS = ('position', 'velocity', 'effort')

SHOWN_HEADER = 80
"""Characters of a header that an error shows, at most."""


@dataclass(frozen=True)
class Layout:
    """How a program names the columns.

    Attributes
    ----------
    text : str
        An example of it.
    times : tuple of str
        Names of the column of the time.
    patterns : tuple of str
        Of positions, velocities and efforts; the group `joint` is the joint.
    is_numbered : bool
        Whether that is a number, in the order of the model.
    """

    text: str
    times: tuple[str, ...]
    patterns: tuple[str, str, str]
    is_numbered: bool = True

    def translate(self, header: Sequence[str]) -> dict[str, str] | None:
        """Return our names of columns by those of a header; None where it is not of this layout.

        Time, and positions and efforts of the same joints, have to be there.
        """
        times = [name for name in header if name in self.times]
        found = {
            name: f'{match["joint"]}.{kind}'
            for kind, pattern in zip(KINDS, self.patterns, strict=True)
            for name in header
            if (match := re.fullmatch(pattern, name))
        }
        joints = {
            kind: {name.rpartition('.')[0] for name in found.values() if name.endswith(kind)}
            for kind in KINDS
        }
        is_whole = bool(joints['position']) and joints['position'] == joints['effort']
        if len(times) != 1 or not is_whole or len(set(found.values())) < len(found):
            return None
        return {times[0]: TIME_COLUMN, **found}


_NUMBER = r'(?P<joint>\d+)'
_NAME = r'(?P<joint>[^/]+)'

LAYOUTS = (
    Layout(
        't, q1, dq1, tau1',
        ('t', 'time'),
        (f'q_?{_NUMBER}', f'(?:dq|qd)_?{_NUMBER}', f'tau_?{_NUMBER}'),
    ),
    Layout(
        'time, position_0, velocity_0, effort_0',
        ('t', 'time'),
        (f'position_?{_NUMBER}', f'velocity_?{_NUMBER}', f'effort_?{_NUMBER}'),
    ),
    Layout(
        "timestamp, actual_q_0, actual_qd_0, actual_current_0 (UR's RTDE; efforts are currents)",
        ('timestamp',),
        (f'actual_q_{_NUMBER}', f'actual_qd_{_NUMBER}', f'actual_current_{_NUMBER}'),
    ),
    Layout(
        '__time, /joint_states/joint_1/position (PlotJuggler)',
        ('__time',),
        tuple(f'/joint_states/{_NAME}/{kind}' for kind in KINDS),  # type: ignore[arg-type]
        is_numbered=False,
    ),
)


def read_header(header: Sequence[str], path: Path) -> list[str]:
    """Return a header with our names of columns: `time`, `<joint>.position`, ...

    Raises
    ------
    InputError
        When it fits two layouts.
    """
    names = [name.strip() for name in header]
    if TIME_COLUMN in names and any(name.endswith('.position') for name in names):
        return names
    fits = [(layout, found) for layout in LAYOUTS if (found := layout.translate(names))]
    if len(fits) > 1:
        texts = ' and '.join(f'`{layout.text}`' for layout, _ in fits)
        raise InputError(f'{path}: the header fits {texts}: expected one of them')
    if not fits:
        return names
    ((layout, found),) = fits
    return [found.get(name, '' if layout.is_numbered else name) for name in names]


def is_numbered(joints: Sequence[str]) -> bool:
    """Return whether a log numbers its joints in place of naming them."""
    return bool(joints) and all(name.isdecimal() for name in joints)


def number_joints(recorded: Sequence[str], joint_names: Sequence[str]) -> dict[str, str]:
    """Return the joint of a model for each number, in their order.

    Raises
    ------
    InputError
        When there are not as many.
    """
    if len(recorded) != len(joint_names):
        raise InputError(
            f'the log numbers {len(recorded)} joints: expected {len(joint_names)}, those of the '
            f'model, {", ".join(joint_names)}; choose them by --base-link, --tip-link'
        )
    return dict(zip(sorted(recorded, key=int), joint_names, strict=True))


def describe_header() -> list[str]:
    """Return what a header should be, in lines for people."""
    return [
        'expected one of these headers, with such columns for all joints:',
        '  time,joint_1.position,joint_1.velocity,joint_1.effort',
        *(f'  {layout.text}' for layout in LAYOUTS),
    ]


def describe_numbers(
    recorded: Sequence[str], joint_names: Sequence[str], source: str
) -> list[str]:
    """Return which joint is which number of a log, for people; nothing where joints have names."""
    if not is_numbered(recorded):
        return []
    numbered = number_joints(recorded, joint_names)
    shown = ', '.join(f'{number} {joint}' for number, joint in numbered.items())
    return [f'{source}: columns by number: {shown}']
