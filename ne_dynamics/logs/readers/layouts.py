"""CSV files as programs write them: which of their columns are what.

Only exact patterns are known, and the one of `--columns`. Units are never guessed: they are
seconds, rad or m, N m or N, or a fault that the diagnosis of the log names.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ne_dynamics.errors import InputError
from ne_dynamics.logs.thresholds import LOGS

TIME_COLUMN = 'time'
NANOSECONDS = 'nanoseconds'
KINDS = ('position', 'velocity', 'effort')

NAMES_PLACE = 3
"""Where the names of joints begin in a message that was printed: after stamp and frame."""


@dataclass(frozen=True)
class Columns:
    """Which column of a file is what.

    Attributes
    ----------
    layout : str
        An example of the layout; '' for our own.
    names : tuple of str
        Ours: `time`, `<joint>.position`, ...; '' for a column that is not used.
    titles : tuple of str
        As the file calls them.
    is_numbered : bool
        Whether the joints of the names are numbers of the file.
    separator : str
        Between columns.
    repeated : tuple of str
        Of a file without a header: names that each row has, from :data:`NAMES_PLACE` on.
    """

    layout: str
    names: tuple[str, ...]
    titles: tuple[str, ...]
    is_numbered: bool = False
    separator: str = ','
    repeated: tuple[str, ...] = ()

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints that have a position, in the order of the file."""
        ending = f'.{KINDS[0]}'
        return tuple(name.removesuffix(ending) for name in self.names if name.endswith(ending))

    def get_title(self, name: str) -> str:
        """Return what the file calls a column of ours; '' where it has none."""
        return self.titles[self.names.index(name)] if name in self.names else ''


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
        Of positions, velocities and efforts; the group `joint` is the joint. '' for none.
    is_numbered : bool
        Whether that is a number, in the order of the model.
    required : tuple of str
        What all joints have to have.
    """

    text: str
    times: tuple[str, ...]
    patterns: tuple[str, str, str]
    is_numbered: bool = True
    required: tuple[str, ...] = ('position', 'effort')

    def translate(self, header: Sequence[str]) -> dict[str, str] | None:
        """Return our names of columns by those of a header; None where it is not of this layout.

        Time, and what is required of the same joints, have to be there.
        """
        found = self._match(header)
        joints = {
            kind: {name.rpartition('.')[0] for name in found.values() if name.endswith(f'.{kind}')}
            for kind in KINDS
        }
        wanted = [joints[kind] for kind in self.required]
        times = [name for name in header if name in self.times]
        is_whole = all(wanted) and all(one == wanted[0] for one in wanted)
        if len(times) != 1 or not is_whole or len(set(found.values())) < len(found):
            return None
        return {times[0]: TIME_COLUMN, **found}

    def _match(self, header: Sequence[str]) -> dict[str, str]:
        return {
            name: f'{match["joint"]}.{kind}'
            for kind, pattern in zip(KINDS, self.patterns, strict=True)
            for name in header
            if pattern and (match := re.fullmatch(pattern, name))
        }


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
        "timestamp, actual_q_0, actual_qd_0, actual_current_0 (UR's RTDE; "
        'its currents are taken as N m)',
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

OURS = 'time, joint_1.position, joint_1.velocity, joint_1.effort'

ECHO = 'sec, nanosec, frame_id, names, positions, velocities, efforts (`ros2 topic echo --csv`)'
"""Without a header, as rosidl_runtime_py.message_to_csv writes a JointState: arrays cell by cell,
an empty array as one empty cell."""

HEADERS = (OURS, *(layout.text for layout in LAYOUTS), ECHO)


def by_hand(text: str) -> Layout:
    """Return the layout that somebody describes: `t,q{},dq{},tau{}`.

    Parameters
    ----------
    text : str
        Names of time, position, velocity and effort; `{}` stands for the number of a joint, or its
        name. An empty one is not there.

    Raises
    ------
    InputError
        When it is something else.
    """
    time, *others = [part.strip() for part in text.split(',')]
    wrong = [part for part in others if part and part.count('{}') != 1]
    if len(others) != len(KINDS) or not time or not others[0] or wrong:
        raise InputError(
            'expected TIME,POSITION,VELOCITY,EFFORT with {} in the place of the joint, '
            f'and nothing for what is not there, as in t,q{{}},,tau{{}}, got {text!r}'
        )
    patterns = ['(?P<joint>.+)'.join(map(re.escape, part.split('{}'))) for part in others]
    required = tuple(kind for kind, part in zip(KINDS, others, strict=True) if part)
    return _HandLayout(text, (time,), tuple(patterns), False, required)  # type: ignore[arg-type]


class _HandLayout(Layout):
    """A layout whose joints are numbers where some of them are: `q{}` is not `quality`."""

    def _match(self, header: Sequence[str]) -> dict[str, str]:
        found = super()._match(header)
        numbered = {
            name: ours
            for name, ours in found.items()
            if re.fullmatch('[0-9]+', ours.rpartition('.')[0])
        }
        return numbered or found


def fit_header(
    cells: Sequence[str], separator: str, layouts: Sequence[Layout] = LAYOUTS
) -> Iterator[Columns]:
    """Yield what a header may mean, by each of the layouts that it fits."""
    titles = tuple(cell.strip() for cell in cells)
    # Between commas a column of ours tells, so that a missing time is named.
    is_ours = TIME_COLUMN in titles or (separator == ',' and len(titles) > 1)
    if layouts is LAYOUTS and is_ours and any(map(_is_position, titles)):
        yield Columns('', titles, titles, separator=separator)
    for layout in layouts:
        found = layout.translate(titles)
        if found is not None:
            joints = {name.rpartition('.')[0] for name in found.values()} - {''}
            is_numbered = layout.is_numbered or all(re.fullmatch('[0-9]+', j) for j in joints)
            names = tuple(found.get(title, '') for title in titles)
            yield Columns(layout.text, names, titles, is_numbered, separator)


def _is_position(title: str) -> bool:
    return title.endswith(f'.{KINDS[0]}')


def fit_message(cells: Sequence[str]) -> Columns | None:
    """Return what a row of `ros2 topic echo --csv` means; None where it is none."""
    count = next(
        (k for k, cell in enumerate(cells[NAMES_PLACE:]) if not cell or is_number(cell)), 0
    )
    joints = tuple(cells[NAMES_PLACE : NAMES_PLACE + count])
    is_stamped = bool(joints) and all(cell.isdecimal() for cell in cells[:2])
    if not is_stamped or len(set(joints)) < count:
        return None
    names = [TIME_COLUMN, NANOSECONDS, '', *[''] * count]
    for kind in KINDS:
        rest = cells[len(names) :]
        if rest[:1] == ['']:
            names.append('')
        elif len(rest) >= count and all(map(is_number, rest[:count])):
            names += [f'{joint}.{kind}' for joint in joints]
        else:
            return None
    if len(names) != len(cells):
        return None
    titles = ('columns 1 and 2', *(f'column {place}' for place in range(2, len(names) + 1)))
    return Columns(ECHO, tuple(names), titles, repeated=joints)


def is_number(cell: str) -> bool:
    """Tell whether a cell holds a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def number_joints(recorded: Sequence[str], joint_names: Sequence[str]) -> dict[str, str]:
    """Return the joint of a model for each number, in their order.

    An InputError where there are not as many.
    """
    if len(recorded) != len(joint_names):
        raise InputError(
            f'the log numbers {len(recorded)} joints: expected {len(joint_names)}, those of the '
            f'model, {", ".join(joint_names)}; choose them by --base-link, --tip-link'
        )
    return dict(zip(sorted(recorded, key=int), joint_names, strict=True))


def name_case(wanted: Sequence[str], titles: Sequence[str]) -> list[str]:
    """Return the line that says that nothing but case differs, where that is so."""
    meant = {title.strip().casefold() for title in titles}
    is_same = len(wanted) > 1 and meant.issuperset(name.casefold() for name in wanted)
    return ['only upper and lower case differ'] * is_same


def describe_unknown(
    header: str, joint_names: Sequence[str], given: Layout | None = None
) -> list[str]:
    """Return what to do about a header that is not known, in lines for people.

    With a header to paste, for the joints of the model; `given` is the layout that it should have
    had, by hand.
    """
    what = 'the header is not known' if given is None else f'not the columns {given.text}'
    shown = header if len(header) <= LOGS.shown_header else f'{header[: LOGS.shown_header]}...'
    joints = joint_names or ('joint_1',)
    wanted = [TIME_COLUMN, *(f'{joint}.position' for joint in joint_names)]
    ours = io.StringIO()
    names = [TIME_COLUMN, *(f'{joint}.{kind}' for joint in joints for kind in KINDS)]
    csv.writer(ours, lineterminator='').writerow(names)
    return [
        f'{what}: {shown or "(an empty file)"}',
        *name_case(wanted, next(csv.reader([header]), [])),
        'expected a first line with these columns, in the order of the file:',
        f'  {ours.getvalue()}',
        f'or, for all joints, {"; ".join(HEADERS[1:])};',
        "or its names by hand: --columns 'TIME,POSITION,VELOCITY,EFFORT', as in "
        "--columns 't,q{},dq{},tau{}' where {} is the number or the name of a joint",
    ]
