"""Robot descriptions that come while an arm is held, and others than were expected."""

from __future__ import annotations

import signal

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')

from fault_bench import MODEL, POSTURE, Player

OTHER = """<robot name="other">
  <link name="base"/>
  <link name="arm"><inertial><mass value="5.0"/><origin xyz="0 0 0.5"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/></inertial></link>
  <joint name="only_joint" type="revolute"><parent link="base"/><child link="arm"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="10"/></joint>
</robot>"""

DESCRIPTIONS = {
    'another robot': OTHER,
    'nothing': '',
    'no XML': 'this is not a robot',
    'cut short': OTHER[:150],
    'no robot': '<html><body>not found</body></html>',
    'a robot without links': '<robot name="empty"/>',
    'a joint to nowhere': OTHER.replace('<child link="arm"/>', '<child link="gone"/>'),
    'NaN in it': OTHER.replace('mass value="5.0"', 'mass value="nan"'),
    'a negative mass': OTHER.replace('mass value="5.0"', 'mass value="-5.0"'),
    'entities that expand': (
        '<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
        '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><robot name="&c;"><link name="base"/></robot>'
    ),
    'a file of the machine': (
        '<!DOCTYPE robot [<!ENTITY f SYSTEM "file:///etc/hostname">]>'
        '<robot name="&f;"><link name="base"/></robot>'
    ),
    'a megabyte of blanks': OTHER + ' ' * 1_000_000,
}


ARM = {'node': {'model_file': None}}
"""The node has its model from the robot's own topic."""


def test_another_description_while_the_arm_is_held(held) -> None:
    """Whatever is published as the robot's description, the arm at hand is held on."""
    for fault, text in DESCRIPTIONS.items():
        held.describe(text)
        held.settle()
        held.until_answering(10)
        effort = held.commands[-1].effort
        np.testing.assert_allclose(effort, held.gravity(POSTURE), atol=2.0, err_msg=fault)


def test_a_description_of_another_robot_is_told(held) -> None:
    """That another robot was described is in the log, and when it will count."""
    held.describe(OTHER.replace('other', 'yet_another'))
    held.until_logged('robot_description', 'configured again')


def test_garbage_is_counted(held) -> None:
    """A description that cannot be used is a drop in the diagnostics, once it may be read."""
    mark = held.mark()
    held.describe('<robot')
    held.settle()
    assert held.change_state('deactivate')
    assert held.change_state('activate')
    held.until_diagnosed(
        lambda record: any(
            key.startswith('robot_description') and key.endswith('dropped')
            for key in record.values
        ),
        mark,
        'a drop',
    )


def test_garbage_before_the_robot(make_bench) -> None:
    """A node that waits for its robot goes on waiting through garbage, and takes the description
    of a robot when it comes.
    """
    bench = make_bench()
    bench.start_node(model_file=None, state_timeout=60.0)
    bench.until_logged('waiting for the robot')
    for description in ('', '<robot', '<html/>', '<robot name="empty"/>'):
        bench.describe(description)
        bench.settle()
        assert bench.state == 'unconfigured'
    bench.until_diagnosed(
        lambda record: int(record.values.get('robot_description.data dropped', 0)) > 0,
        bench.mark(),
        'drops',
    )
    bench.describe(MODEL.read_text())
    bench.until_ready()
    Player(bench).answer(POSTURE)
    bench.check()
    bench.node.end(signal.SIGTERM)
