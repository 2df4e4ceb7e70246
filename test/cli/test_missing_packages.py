"""Packages that are missing: all of them in one message, with one command, before any work."""

import sys
from pathlib import Path

import pytest

from ne_dynamics.cli.main import main

ARM = str(Path(__file__).resolve().parents[2] / 'config/six_axis_arm.urdf')


@pytest.mark.parametrize(
    ('arguments', 'names', 'extras'),
    [
        (
            ['identify', ARM, 'bag', '--report', 'page.html', '--scheduler', 'tcp://a:1'],
            'rosbags, Jinja2, matplotlib, Dask',
            'bag,report,cluster',
        ),
        (
            ['evaluate', 'arm.urdf.xacro', 'x.mcap', '--plot', 'p.png'],
            'rosbags, matplotlib, xacro',
            'bag,plot,xacro',
        ),
        (['gains', ARM, '--plot', 'p.png', '--prove', '2'], 'matplotlib, MuJoCo', 'plot,sim'),
        (['excite', ARM], 'SciPy, coal', 'excite'),
        (['setup', 'arm.urdf.xacro'], 'Jinja2, matplotlib, xacro', 'report,xacro'),
        (['whatis', ARM, 'bag'], 'rosbags', 'bag'),
        (['demo'], 'ROS 2 for Python, MuJoCo, matplotlib', 'ros,sim,plot'),
        (
            ['commission', '--simulated', '--yes', '--planned'],
            'ROS 2 for Python, Jinja2, matplotlib, MuJoCo, SciPy, coal',
            'ros,report,sim,excite',
        ),
    ],
)
def test_all_are_named_at_once(arguments, names, extras, tmp_path, monkeypatch, capsys):
    for module in (
        'rosbags',
        'jinja2',
        'matplotlib',
        'distributed',
        'scipy',
        'coal',
        'rclpy',
        'mujoco',
        'xacro',
    ):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.chdir(tmp_path)
    Path('bag').mkdir()
    also = 'source a ROS 2 installation, or ' if 'ros' in extras else ''
    assert main(arguments) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error == (
        f'ne_dynamics {arguments[0]}: error: {arguments[0]} needs {names}: '
        f'{also}pip install "ne_dynamics[{extras}]"'
    )
    assert not [path for path in tmp_path.rglob('*') if path.is_file()]
