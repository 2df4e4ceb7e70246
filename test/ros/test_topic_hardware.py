"""The loop over DDS through ros2_control's hardware behind topics: a stand-in by its own rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy', reason='needs ROS 2 for Python: pip install "ne_dynamics[ros]"')
pytest.importorskip('mujoco', reason='MuJoCo is not installed')

from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.descriptions.hardware_description import (
    hardware_description,
    topic_hardware,
)
from ne_dynamics.simulation.mujoco_model import MujocoArm

Q = np.array([0.3, -1.0, 1.2, 0.4, -0.5, 0.2])
GOAL = Q + np.array([0.2, 0.1, -0.2, 0.2, 0.2, -0.2])
STILL = np.zeros(6)
PERIOD = 0.004


class Loop:
    """The arm, the hardware, its controllers and the node, in lockstep."""

    def __init__(self, bench: Any, order: int = 1) -> None:
        from topic_hardware import ArmBehindTopics, TopicHardware

        content = yaml.safe_load(shipped_file('robot_controllers.yaml').read_text())
        joints = content['/**/effort_controller']['ros__parameters']['joints'][::order]
        description = hardware_description(
            bench.model_file, topic_hardware('/arm_commands', '/arm_states')
        )
        self.bench, self.joints = bench, joints
        self.hardware = TopicHardware(
            bench.probe, description, joints, 'effort_controller/commands'
        )
        self.arm = MujocoArm(bench.robot, period=PERIOD, substeps=4)
        self.arm.reset(Q)
        self.body = ArmBehindTopics(bench.probe, self.arm, self.hardware.parameters)

    def begin(self, **parameters: Any) -> None:
        bench = self.bench
        bench.start(joints=self.joints, transition_time=0.0, **parameters)
        for topic in ('/arm_states', '/arm_commands'):
            bench.spin(
                lambda topic=topic: (
                    bench.probe.count_subscribers(topic) and bench.probe.count_publishers(topic)
                ),
                topic,
            )

        def heard() -> bool:
            self.body.publish()
            bench.executor.spin_once(timeout_sec=0.05)
            return self.hardware.received > 0

        bench.spin(heard, 'the first state')

    def cycle(self) -> bool:
        bench, hardware, body = self.bench, self.hardware, self.body
        before = hardware.received
        body.publish()
        bench.spin(lambda: hardware.received > before, 'the state of the arm')
        hardware.read()
        state = hardware.broadcast()
        bench.time += PERIOD
        state.header.stamp = bench.joint_state(Q, dt=0.0).header.stamp
        commands = len(bench.commands)
        bench.joint_states.publish(state)
        bench.spin(lambda: len(bench.commands) > commands, 'a command')
        bench.spin(lambda: hardware.command[f'{self.joints[0]}/effort'] == bench.commands[-1][0])
        taken = body.received
        is_sent = hardware.write()
        if is_sent:
            bench.spin(lambda: body.received > taken, 'the efforts at the arm')
        body.step()
        return is_sent


@pytest.mark.kept(1)
@pytest.mark.parametrize('order', [-1, 1])
def test_the_arm_behind_topics_follows_a_trajectory(bench, order: int) -> None:
    """The description that the launch file makes closes the loop: every command arrives, matched
    by name whatever the order of the effort controller is; the arm ends half a milliradian from
    the goal at the most.
    """
    loop = Loop(bench, order=order)
    loop.begin()
    for _ in range(10):
        assert loop.cycle()
    assert np.abs(loop.arm.position - Q).max() < 1e-5
    bench.send_trajectory(bench.trajectory((0.4, GOAL, STILL, STILL)))
    errors = []
    for _ in range(120):
        assert loop.cycle()
        desired = dict(zip(bench.efforts[-1].name, bench.efforts[-1].position, strict=True))
        names = bench.robot.joint_names
        errors.append([desired[name] for name in names] - loop.arm.position)
    sent = dict(zip(loop.joints, bench.commands[-1], strict=True))
    np.testing.assert_array_equal(loop.body.effort, [sent[name] for name in names])
    assert np.abs(loop.arm.position - GOAL).max() < 5e-4
    # The desired position is of the state before the step: so much goes on in a period.
    assert np.abs(errors[-10:]).max() < 5e-4
    assert loop.hardware.plugin == 'joint_state_topic_hardware_interface/JointStateTopicSystem'
