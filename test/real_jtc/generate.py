"""Write the headers that the packages' own CMake files would generate: generate.py SOURCES OUT."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import em

SOURCES, OUT = (Path(argument).resolve() for argument in sys.argv[1:])
RCLCPP = SOURCES / 'rclcpp' / 'rclcpp'
CONTROLLER = SOURCES / 'ros2_controllers' / 'joint_trajectory_controller'


def expand(template: str, header: str, **names: str) -> None:
    """Write a header of rclcpp from its template."""
    target = OUT / 'rclcpp' / header
    target.parent.mkdir(parents=True, exist_ok=True)
    given = [word for name, value in names.items() for word in ('-D', f"{name} = '{value}'")]
    em.invoke([*given, '-o', str(target), str(RCLCPP / 'resource' / template)])


expand('logging.hpp.em', 'logging.hpp')
for file in (RCLCPP / 'include' / 'rclcpp' / 'node_interfaces').glob('node_*_interface.hpp'):
    for template, name in (
        ('interface_traits.hpp.em', f'{file.stem}_traits.hpp'),
        ('get_interface.hpp.em', f'get_{file.stem}.hpp'),
    ):
        expand(template, f'node_interfaces/{name}', interface_name=file.stem)

name = 'joint_trajectory_controller_parameters'
folder = OUT / CONTROLLER.name
folder.mkdir(exist_ok=True)
validation = 'validate_jtc_parameters.hpp'
(folder / validation).write_bytes(
    (CONTROLLER / 'include' / CONTROLLER.name / validation).read_bytes()
)
subprocess.run(
    [
        *(sys.executable, '-m', 'generate_parameter_library_py.generate_cpp_header'),
        *(folder / f'{name}.hpp', CONTROLLER / 'src' / f'{name}.yaml', validation),
    ],
    check=True,
    env=os.environ
    | {
        'PYTHONPATH': str(SOURCES / 'generate_parameter_library' / 'generate_parameter_library_py')
    },
)
