"""One `update` of a written controller beside one `pinocchio::rnea`, both in C++, in one run.

    python -m benchmark.controller_update              # in the checkout

`update` is all of it: states and references are read and judged, the law is computed, limits are
held, and commands are written. The interfaces are the stand-ins of `test/controller/interfaces`, a
double each, without the locks that ros2_control's have. Needs g++, Eigen's headers
(libeigen3-dev), and the headers and libraries of the wheel `pin`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import ne_dynamics as ned
from ne_dynamics.bring_up import ArmController, render_controller
from ne_dynamics.errors import MissingDependencyError
from ne_dynamics.ros import PARAMETERS

INTERFACES = Path(__file__).resolve().parents[1] / 'test' / 'controller' / 'interfaces'
FLAGS = ['-std=c++17', '-O3', '-DNDEBUG', '-w']
OF_PINOCCHIO = [
    *('-DBOOST_MPL_LIMIT_LIST_SIZE=30', '-DBOOST_MPL_LIMIT_VECTOR_SIZE=30'),
    *('-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS', '-DBOOST_FUSION_INVOKE_MAX_ARITY=12'),
]
"""As its CMake package defines them."""

AIM = 0.2


@dataclass(frozen=True)
class Arm:
    """An arm of example-robot-data, by its file, tip and joints that are locked at 0.03."""

    name: str
    file: str
    tip: str
    locked: tuple[str, ...] = ()


ARMS = (
    Arm('UR5', 'ur_description/urdf/ur5_robot.urdf', 'tool0'),
    Arm(
        'Panda',
        'panda_description/urdf/panda.urdf',
        'panda_hand_tcp',
        ('panda_finger_joint1', 'panda_finger_joint2'),
    ),
)


def find_prefix() -> Path:
    """Return the folder with Pinocchio's headers and libraries.

    Raises
    ------
    MissingDependencyError
        When it is not installed, or there is no compiler.
    """
    for path in sys.path:
        prefix = Path(path) / 'cmeel.prefix'
        if (prefix / 'include/pinocchio').is_dir():
            break
    else:
        raise MissingDependencyError('needs the headers of Pinocchio: pip install pin')
    if shutil.which('g++') is None or not Path('/usr/include/eigen3').is_dir():
        raise MissingDependencyError('needs g++ and the headers of Eigen (libeigen3-dev)')
    return prefix


def compile_clock(prefix: Path, folder: Path) -> Path:
    """Return the object file of what measures any arm."""
    clock = folder / 'clock.o'
    includes = f'-I{INTERFACES}', f'-I{prefix / "include"}', '-I/usr/include/eigen3'
    source = Path(__file__).with_suffix('.cpp')
    words = ['g++', *FLAGS, *OF_PINOCCHIO, *includes, '-c', str(source), '-o', str(clock)]
    subprocess.run(words, check=True)
    return clock


def compile_program(arm: Arm, prefix: Path, clock: Path, folder: Path) -> Path:
    """Return the program of an arm."""
    path = prefix / 'share/example-robot-data/robots' / arm.file
    locked = {arm.locked[0]: 0.03} if arm.locked else None
    robot = ned.load_urdf(path, tip_link=arm.tip, locked_joints=locked)
    package = folder / f'{arm.name.lower()}_controller'
    controller = ArmController.from_settings(package.name, robot, PARAMETERS.defaults, 1000)
    for name, text in render_controller(controller).items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text, encoding='utf-8')
    includes = [f'-I{place}' for place in (package / 'src', package / 'dynamics', INTERFACES)]
    equations = package / 'equations.o'
    source = package / f'dynamics/{package.name}_dynamics.c'
    subprocess.run(['gcc', '-std=c99', *FLAGS[1:], '-c', source, '-o', equations], check=True)
    program = folder / arm.name
    sources = [str(each) for each in (clock, *(package / 'src').glob('*.cpp'), equations)]
    libraries = [f'-L{prefix / "lib"}', f'-Wl,-rpath,{prefix / "lib"}']
    libraries += ['-lpinocchio_default', '-lpinocchio_parsers']
    words = ['g++', *FLAGS, *includes, *sources, *libraries, '-Wl,--allow-shlib-undefined']
    subprocess.run([*words, '-o', str(program)], check=True)
    return program


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=300, help='(default: %(default)s)')
    args = parser.parse_args()
    prefix = find_prefix()
    print('| arm | update [ns] | rnea [ns] | ratio | aim | largest difference [N m] |')
    print('| --- | --- | --- | --- | --- | --- |')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clock = compile_clock(prefix, folder)
        for arm in ARMS:
            program = compile_program(arm, prefix, clock, folder)
            file = prefix / 'share/example-robot-data/robots' / arm.file
            words = [str(program), str(file), str(args.rounds), *arm.locked]
            result = subprocess.run(words, check=True, capture_output=True, text=True)
            ours, theirs, ratio, difference = map(float, result.stdout.split())
            row = f'{ours:.0f} | {theirs:.0f} | {ratio:.3f} | {AIM:g} | {difference:.1g}'
            print(f'| {arm.name} | {row} |')
    return 0


if __name__ == '__main__':
    sys.exit(main())
