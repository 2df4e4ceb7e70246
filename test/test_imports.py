"""The direction of imports."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = 'ne_dynamics'

# A part may import parts of a lower rank, and itself; parts of one rank stand beside each other.
RANKS = {
    'errors': 0,
    'prepared_file': 1,
    'json_numbers': 1,
    'picture_file': 2,
    'printable': 1,
    'progress_bar': 1,
    'settings': 1,
    'shipped': 1,
    'tables': 1,
    'model': 1,
    'algorithms': 2,
    'arguments': 2,
    'codegen': 3,
    'dynamics': 4,
    'kinematics': 5,
    '__init__': 6,  # what `import ne_dynamics` gives; nothing of the core imports it
    'control': 6,
    'ros': 7,
    'report_page': 2,
    'identification': 8,
    'simulation': 8,
    'excitation': 9,
    'commission': 10,
    'papers': 10,
    'cli': 11,
    'executables': 11,
}

PAPERS = ('forms', 'counting', 'studies')
"""The folders of `papers`; each may import those before it."""

MAY_USE_ROS = {'ros', 'simulation', 'commission', 'cli'}

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


def part_of(module: str) -> str:
    """Return the part that a module of the package belongs to, e.g. 'model'."""
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


@pytest.mark.parametrize('path', SOURCES, ids=module_name)
def test_imports_go_one_way(path):
    """A module imports only modules of parts that come before its own."""
    own = part_of(module_name(path))
    assert own in RANKS, f'give the new part {own!r} its place in RANKS'
    wrong = sorted(
        {
            name
            for name in imported_modules(path)
            if name.split('.')[0] == PACKAGE
            and part_of(name) != own
            and RANKS[part_of(name)] >= RANKS[own]
        }
    )
    assert not wrong, f'{module_name(path)} must not import {wrong}'


@pytest.mark.parametrize(
    'path', [path for path in SOURCES if path.parts[-2] in PAPERS], ids=module_name
)
def test_imports_inside_papers_go_one_way(path):
    """Forms know nothing of counting, and neither knows of the studies."""
    later = PAPERS[PAPERS.index(path.parts[-2]) + 1 :]
    wrong = sorted(
        name
        for name in set(imported_modules(path))
        if name.startswith(tuple(f'{PACKAGE}.papers.{folder}' for folder in later))
    )
    assert not wrong, f'{module_name(path)} must not import {wrong}'


@pytest.mark.parametrize('path', SOURCES, ids=module_name)
def test_only_the_command_line_imports_papers(path):
    """The published forms are oracles and studies: nothing else stands on them."""
    if part_of(module_name(path)) in ('papers', 'cli'):
        return
    wrong = sorted(
        {name for name in imported_modules(path) if name.startswith(f'{PACKAGE}.papers')}
    )
    assert not wrong, f'{module_name(path)} must not import {wrong}'


@pytest.mark.parametrize('path', SOURCES, ids=module_name)
def test_only_the_edge_names_ros(path):
    """Nothing left of `ros` has an import of a ROS module in it, not even inside a function."""
    if part_of(module_name(path)) in MAY_USE_ROS:
        return
    wrong = {name for name in imported_modules(path) if name.split('.')[0] in ROS_MODULES}
    assert not wrong, f'{module_name(path)} must not import {sorted(wrong)}'


def test_no_modules_import_one_another():
    """There is no circle, not even of imports inside a function or for types alone."""
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
