"""The direction of imports."""

from __future__ import annotations

import ast
import functools
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fresh_python import output_of

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = 'ne_dynamics'

# Three ranks, and in each the rooms in the order in which they stand on one another: a room may
# import those of a line before its own. A file beside the rooms is a room of its own.
RANKS = {
    'core': (
        'errors',
        'json_numbers loaded_later prepared_file printable progress_bar settings shipped tables',
        'picture_file program thresholds',
        'model',
        'algorithms arguments',
        'codegen',
        'dynamics',
        'kinematics',
        '__init__',  # what `import ne_dynamics` gives; nothing of the core imports it
    ),
    'node': ('motion', 'control', 'ros'),
    'tools': (
        'gains report_page',
        'logs',
        'identification',
        'driver',
        'simulation excitation',
        'bring_up commission papers',
        'cli executables',
    ),
}

LINES = [(rank, rooms.split()) for rank, lines in RANKS.items() for rooms in lines]
RANK = {room: rank for rank, rooms in LINES for room in rooms}
PLACE = {room: place for place, (_, rooms) in enumerate(LINES) for room in rooms}

PAPERS = ('forms', 'counting', 'studies')
"""The folders of `papers`; each may import those before it."""

MAY_USE_ROS = {'ros', 'driver', 'simulation', 'commission'}

ROS_MODULES = (
    'builtin_interfaces',
    'diagnostic_msgs',
    'geometry_msgs',
    'launch',
    'launch_ros',
    'lifecycle_msgs',
    'rcl_interfaces',
    'rclpy',
    'rosgraph_msgs',
    'sensor_msgs',
    'std_msgs',
    'std_srvs',
    'trajectory_msgs',
)

SOURCES = sorted((ROOT / PACKAGE).rglob('*.py'))


def room_of(module: str) -> str:
    """Return the room that a module of the package belongs to, e.g. 'model'."""
    names = module.split('.')
    return names[1] if len(names) > 1 else '__init__'


def module_name(path: Path) -> str:
    """Return the dotted name of a source file."""
    names = path.relative_to(ROOT).with_suffix('').parts
    return '.'.join(names[:-1] if names[-1] == '__init__' else names)


@functools.cache
def imported_modules(path: Path) -> tuple[str, ...]:
    """Return the absolute names of everything that a source file imports, wherever in it."""
    return tuple(_find_imports(path))


def _find_imports(path: Path) -> Iterator[str]:
    package = module_name(path).split('.')
    if path.name != '__init__.py':
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = '.'.join([*base, *filter(None, [node.module])])
            for alias in node.names:
                inner = ROOT.joinpath(*source.split('.'), alias.name)
                if inner.is_dir() or inner.with_suffix('.py').is_file():
                    yield f'{source}.{alias.name}'
                else:
                    yield source


def arrows(*, own: bool = False) -> Iterator[tuple[str, str]]:
    """Yield who imports what of the package; inside one room only where that is asked for."""
    for path in SOURCES:
        for name in imported_modules(path):
            if name.split('.')[0] != PACKAGE:
                continue
            if (room_of(name) == room_of(module_name(path))) == own:
                yield module_name(path), name


def test_every_room_has_its_place():
    assert sorted(PLACE) == sorted({room_of(module_name(path)) for path in SOURCES})


def test_imports_go_one_way():
    wrong = [
        f'{importer} must not import {name}'
        for importer, name in arrows()
        if PLACE[room_of(name)] >= PLACE[room_of(importer)]
    ]
    assert not wrong


def test_tools_take_from_the_node_what_its_rooms_export():
    others = [path for folder in ('studies', 'benchmark') for path in (ROOT / folder).glob('*.py')]
    tools = [path for path in SOURCES if RANK[room_of(module_name(path))] == 'tools']
    wrong = [
        f'{module_name(path)} must not import {name}: take it from the room'
        for path in [*tools, *others]
        for name in imported_modules(path)
        if name.count('.') > 1 and RANK.get(room_of(name)) == 'node'
        if name.split('.')[0] == PACKAGE
    ]
    assert not wrong


def test_imports_inside_papers_go_one_way():
    folders = {f'{PACKAGE}.papers.{folder}': place for place, folder in enumerate(PAPERS)}
    inside = [(importer, name) for importer, name in arrows(own=True) if '.papers.' in name]
    places = [
        (importer, name, *(folders.get(x.rpartition('.')[0], -1) for x in (importer, name)))
        for importer, name in inside
    ]
    wrong = [
        f'{importer} must not import {name}'
        for importer, name, own, other in places
        if own >= 0 and other > own
    ]
    assert not wrong


def test_only_the_command_line_imports_papers():
    wrong = [
        f'{importer} must not import {name}'
        for importer, name in arrows()
        if room_of(name) == 'papers' and room_of(importer) != 'cli'
    ]
    assert not wrong


def test_only_the_edge_names_ros():
    wrong = [
        f'{module_name(path)} must not import {name}'
        for path in SOURCES
        if room_of(module_name(path)) not in MAY_USE_ROS
        for name in imported_modules(path)
        if name.split('.')[0] in ROS_MODULES
    ]
    assert not wrong


def test_no_modules_import_one_another():
    modules = {module_name(path): path for path in SOURCES}
    left = {
        name: {found for found in imported_modules(path) if found in modules and found != name}
        for name, path in modules.items()
    }
    # Whoever imports nothing that is left is in no circle; then whoever imports only those, ...
    while done := {name for name, imports in left.items() if not imports}:
        left = {name: imports - done for name, imports in left.items() if name not in done}
    # What only imports modules of a circle is in none itself.
    while idle := left.keys() - set().union(*left.values()):
        left = {name: imports for name, imports in left.items() if name not in idle}
    assert not left, f'these are in circles, or between two of them: {sorted(left)}'


EXPORTING = [
    path.parent.name
    for path in SOURCES
    if path.name == '__init__.py'
    if path.parents[1].name == PACKAGE
    if '__all__' in path.read_text(encoding='utf-8')
]


NEEDS = {'report_page': 'matplotlib', 'simulation': 'mujoco'}
"""What rooms need that is not always there, beside ROS."""


@pytest.mark.parametrize('room', EXPORTING)
def test_what_a_room_exports_is_there(room):
    if room in MAY_USE_ROS - {'driver'}:
        pytest.importorskip('rclpy')
    if room in NEEDS:
        pytest.importorskip(NEEDS[room])
    package = importlib.import_module(f'{PACKAGE}.{room}')
    assert set(package.__all__) <= set(dir(package))
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match='nothing'):
        _ = package.nothing


def test_where_a_room_says_to_begin_is_a_file():
    wrong = [
        f'{path.relative_to(ROOT)}: {name}'
        for path in SOURCES
        if path.name == '__init__.py'
        for name in re.findall(r'``([\w/]+\.py)``', path.read_text(encoding='utf-8'))
        if not (path.parent / name).is_file()
    ]
    assert not wrong


THREADS = """
import threading
statements = [
    'from ne_dynamics.motion import Motion',
    'from ne_dynamics.control import Controller',
    'from ne_dynamics.gains import design_gains',
    'from ne_dynamics.logs import Log',
    'from ne_dynamics.identification import identify',
]
barrier = threading.Barrier(2 * len(statements))
failed = []
def load(statement):
    barrier.wait()
    try:
        exec(statement)
    except BaseException as error:
        failed.append(f'{statement}: {error!r}')
threads = [threading.Thread(target=load, args=(statement,)) for statement in 2 * statements]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
raise SystemExit('; '.join(failed) or 0)
"""


@pytest.mark.parametrize('attempt', range(2))
def test_threads_may_load_the_names_of_rooms_at_once(attempt):
    """Whoever comes first by whichever room, nobody waits for ever or finds half a module."""
    output_of(THREADS, folder=ROOT)


def test_a_misspelt_name_is_an_error_of_type_checkers(tmp_path):
    pytest.importorskip('mypy', reason='mypy is missing')
    script = tmp_path / 'script.py'
    script.write_text(
        'from ne_dynamics import load_urdff\n'
        'from ne_dynamics.motion import Trajektory\n'
        'from ne_dynamics.control import Controller, Controler\n',
        encoding='utf-8',
    )
    found = subprocess.run(
        [sys.executable, '-m', 'mypy', str(script)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    for name in ('load_urdff', 'Trajektory', 'Controler'):
        assert f'has no attribute "{name}"' in found.stdout
    assert 'Found 3 errors' in found.stdout
