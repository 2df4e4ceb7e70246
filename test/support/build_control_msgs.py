"""A real `control_msgs` for the tests where none is installed.

The package is not on the Python package registries, but the generators that ROS makes such
packages with are. What the node takes of it (`control_msgs_interfaces`) is run through them,
compiled, and kept; the Python package that comes out talks over DDS with anything.

Run as a program with a folder as its argument, it generates the sources there: in a process of
its own, because the generators print and want an environment of theirs.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

PACKAGE = 'control_msgs'

INTERFACES = Path(__file__).with_name('control_msgs_interfaces')
DEFINITIONS = sorted(INTERFACES.glob('*/*.*'))
"""What the node takes of the package."""

DEPENDENCIES = (
    'action_msgs',
    'builtin_interfaces',
    'geometry_msgs',
    'service_msgs',
    'std_msgs',
    'trajectory_msgs',
    'unique_identifier_msgs',
)

GENERATORS = (
    'rosidl_adapter',
    'rosidl_cli',
    'rosidl_generator_c',
    'rosidl_generator_py',
    'rosidl_generator_type_description',
    'rosidl_typesupport_c',
    'rosidl_typesupport_fastrtps_c',
    'rosidl_typesupport_introspection_c',
)

SUPPORT_LIBRARIES = (
    'rosidl_typesupport_fastrtps_cpp',
    'rosidl_typesupport_fastrtps_c',
    'rosidl_typesupport_introspection_c',
    'rosidl_typesupport_c',
    'rosidl_runtime_c',
    'fastcdr',
    'rmw',
    'rcutils',
)

TYPE_SUPPORTS = ('rosidl_typesupport_fastrtps_c', 'rosidl_typesupport_introspection_c')

LIBRARY_KINDS = (
    'rosidl_generator_c',
    'rosidl_generator_py',
    'rosidl_typesupport_c',
    *TYPE_SUPPORTS,
)

CHECK = """
import sys
from importlib import import_module
from rclpy.type_support import check_for_type_support
for name in sys.argv[1:]:
    folder, kind = name.split('/')
    check_for_type_support(getattr(import_module(f'control_msgs.{folder}'), kind))
"""

PATIENCE = 300.0
"""Seconds after which a step is given up."""


class MissingToolError(Exception):
    """The package cannot be built here; the message says what is missing."""


@dataclass(frozen=True)
class ControlMessages:
    """Where the package is.

    Attributes
    ----------
    folder : Path, optional
        To be put on the module path; None where the package is installed, or missing.
    missing : str
        What it cannot be built without here; empty where there is one.
    """

    folder: Path | None = None
    missing: str = ''


def prefixes() -> list[Path]:
    """Return where ROS is installed: sourced installations, then the wheels' environment."""
    sourced = [
        Path(entry) for entry in os.environ.get('AMENT_PREFIX_PATH', '').split(':') if entry
    ]
    return [*sourced, Path(sys.prefix)]


def share_folder(package: str) -> Path:
    """Return a package's share folder."""
    for prefix in prefixes():
        if (prefix / 'share' / package / 'package.xml').is_file():
            return prefix / 'share' / package
    raise MissingToolError(f'{package} is not installed')


def _check_tools() -> None:
    for tool in ('gcc', 'g++'):
        if shutil.which(tool) is None:
            raise MissingToolError(f'no {tool}')
    for module in GENERATORS:
        if importlib.util.find_spec(module) is None:
            raise MissingToolError(f'no {module} for Python {sys.version.split()[0]}')
    for package in DEPENDENCIES:
        share_folder(package)
    header = Path(sysconfig.get_paths()['include']) / 'Python.h'
    if not header.is_file():
        raise MissingToolError('no header files of Python')


def _key() -> str:
    """Return a name for what would be built here: other inputs, another name."""
    told = hashlib.sha256(Path(__file__).read_bytes())
    for file in DEFINITIONS:
        told.update(file.read_bytes())
    for item in (sys.version, sys.prefix, *map(str, prefixes())):
        told.update(item.encode())
    for package in (*GENERATORS, *DEPENDENCIES):
        for name in (package, f'ros-{package}'.replace('_', '-')):
            try:
                told.update(metadata.version(name).encode())
            except metadata.PackageNotFoundError:
                continue
    return told.hexdigest()[:16]


def installed() -> bool:
    """Return whether the action is there without our doing."""
    try:
        from control_msgs.action import FollowJointTrajectory  # noqa: F401
    except ImportError:
        return False
    return True


@contextmanager
def importable(messages: ControlMessages) -> Iterator[None]:
    """Make a built package importable for a while; one that is installed is so already."""
    if messages.folder is None:
        yield
        return
    sys.path.insert(0, str(messages.folder))
    yield
    sys.path.remove(str(messages.folder))
    for name in [name for name in sys.modules if name.partition('.')[0] == PACKAGE]:
        del sys.modules[name]


def find_or_build(cache: Path) -> ControlMessages:
    """Return where the package is; build one, kept in a folder, where none is installed.

    Raises
    ------
    RuntimeError
        When a generator or the compiler is there, and fails.
    """
    if installed():
        return ControlMessages()
    try:
        return ControlMessages(build(cache))
    except MissingToolError as error:
        return ControlMessages(missing=str(error))


def build(cache: Path) -> Path:
    """Return a folder to put on the module path; build what is to be in it unless it is there.

    Parameters
    ----------
    cache : Path
        Folder in which it is kept for the next time.

    Returns
    -------
    Path

    Raises
    ------
    MissingToolError
        When a generator, a header file or the compiler is missing.
    RuntimeError
        When one of them fails.
    """
    _check_tools()
    built = cache / _key()
    cache.mkdir(parents=True, exist_ok=True)
    # Of the processes of a test run the first builds, the others wait for it.
    with (cache / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.is_dir():
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                # At once and whole, wherever a build before was interrupted.
                _build_in(Path(scratch)).rename(built)
    return built


def _build_in(scratch: Path) -> Path:
    environment = dict(os.environ)
    environment['AMENT_PREFIX_PATH'] = ':'.join(map(str, prefixes()))
    _run([sys.executable, __file__, str(scratch)], environment)
    result = scratch / 'result'
    package = result / PACKAGE
    shutil.copytree(
        scratch / 'py' / PACKAGE, package, ignore=shutil.ignore_patterns('*.c', '*.em', 'tmp')
    )
    (package / '__init__.py').touch()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = [
            source
            for folder in ('c', *TYPE_SUPPORTS, 'rosidl_typesupport_c', 'py')
            for source in sorted((scratch / folder).rglob('*.c*'))
            if source.suffix in ('.c', '.cpp')
        ]
        objects = dict(
            zip(sources, pool.map(lambda source: _compile(scratch, source), sources), strict=True)
        )

    def objects_of(folder: str) -> list[Path]:
        return [objects[source] for source in sources if source.is_relative_to(scratch / folder)]

    # Type supports are looked up by the file name of their library.
    core = package / f'lib{PACKAGE}__rosidl_generator_c.so'
    _link(core, objects_of('c'), [])
    libraries = [core]
    for support in TYPE_SUPPORTS:
        libraries.append(package / f'lib{PACKAGE}__{support}.so')
        _link(libraries[-1], objects_of(support), [core])
    # This one needs them all, so that they are loaded when they are looked up.
    _link(
        package / f'{PACKAGE}_s__rosidl_typesupport_c.so',
        [*objects_of('rosidl_typesupport_c'), *objects_of('py')],
        libraries,
    )
    path = os.pathsep.join((str(result), environment.get('PYTHONPATH', '')))
    kinds = [f'{file.parent.name}/{file.stem}' for file in DEFINITIONS]
    _run([sys.executable, '-c', CHECK, *kinds], environment | {'PYTHONPATH': path})
    return result


def _compile(scratch: Path, source: Path) -> Path:
    import numpy as np

    folders = [scratch / 'c', *(scratch / support for support in TYPE_SUPPORTS), scratch / 'py']
    for prefix in prefixes():
        include = prefix / 'include'
        # Older packages put their header files at the top, newer ones in a folder of their own.
        folders += [include, *(path for path in include.glob('*') if path.is_dir())]
    folders += [Path(sysconfig.get_paths()['include']), Path(np.get_include())]
    compiler = ['g++', '-std=c++17'] if source.suffix == '.cpp' else ['gcc', '-std=gnu11']
    target = source.with_suffix(source.suffix + '.o')
    includes = [f'-I{folder}' for folder in folders]
    _run([*compiler, '-O0', '-fPIC', '-w', *includes, '-c', str(source), '-o', str(target)])
    return target


def _link(target: Path, objects: Sequence[Path], libraries: Sequence[Path]) -> None:
    search = [prefix / 'lib' for prefix in prefixes()]
    names = [f'{package}__{kind}' for package in DEPENDENCIES for kind in LIBRARY_KINDS]
    names += SUPPORT_LIBRARIES
    found = [
        f'-l{name}' for name in names if any((path / f'lib{name}.so').is_file() for path in search)
    ]
    paths = [argument for path in search for argument in (f'-L{path}', f'-Wl,-rpath,{path}')]
    command = ['g++', '-shared', '-o', str(target), f'-Wl,-soname,{target.name}']
    command += ['-Wl,-rpath,$ORIGIN', '-Wl,--no-as-needed', *map(str, [*objects, *libraries])]
    _run([*command, '-Wl,--as-needed', *paths, *found])


def _run(command: Sequence[str], environment: dict[str, str] | None = None) -> None:
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeError(f'{command[0]}: {error}') from error
    if done.returncode:
        raise RuntimeError(f'{Path(command[0]).name} failed: {done.stderr.strip()[-2000:]}')


def generate(scratch: Path) -> None:
    """Write the sources, by each generator in a folder of its own."""
    from rosidl_cli.command.translate.api import translate
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
    from rosidl_typesupport_introspection_c.cli import GenerateIntrospectionCTypesupport

    include = [str(share_folder(package)) for package in DEPENDENCIES]
    interfaces = translate(
        package_name=PACKAGE,
        interface_files=[f'{INTERFACES}:{file.relative_to(INTERFACES)}' for file in DEFINITIONS],
        include_paths=include,
        output_format='idl',
        output_path=scratch / 'idl' / PACKAGE,
    )
    for folder, generator in (
        ('c', GenerateC('c')),
        ('rosidl_typesupport_fastrtps_c', GenerateFastRTPSCTypesupport('fastrtps_c')),
        (
            'rosidl_typesupport_introspection_c',
            GenerateIntrospectionCTypesupport('introspection_c'),
        ),
        (
            'rosidl_typesupport_c',
            GenerateCTypesupport('c', typesupport_implementations=list(TYPE_SUPPORTS)),
        ),
        ('py', GeneratePython('py', typesupport_implementations=['rosidl_typesupport_c'])),
    ):
        generator.generate(PACKAGE, interfaces, include, scratch / folder / PACKAGE)


if __name__ == '__main__':
    generate(Path(sys.argv[1]))
