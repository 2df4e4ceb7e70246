"""Stand-ins for the programs that ros2_control.launch.py starts, where there is no ros2_control.

    python ros2_control_stand_in.py PROGRAM FOLDER [ARGUMENTS]

They speak through files in a folder, as those of gazebo_stand_in.py. `ros2_control_node` takes the
description from its topic and is what the plugin in it asks for: MuJoCo by the file that is named
there, with motors found by name and the initial values as commands, as mujoco_ros2_control (main,
bda2b67) has it; or the hardware behind topics (topic_hardware.py), with an arm at their other end.
It publishes states from the start of the broadcaster on, and takes efforts from the start of the
effort controller on, in the order of its parameter. It waits for each answer, so that nothing
depends on the machine.
"""

import json
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import yaml
from gazebo_stand_in import note, robot_state_publisher, wait_for, write

PERIOD = 0.004
PATIENCE = 20.0
"""Seconds to wait for an answer."""


class InMujoco:
    """The plugin of mujoco_ros2_control."""

    is_simulated = True

    def __init__(self, _, control, joints):
        import mujoco

        self._mujoco = mujoco
        parameters = {p.get('name'): p.text for p in control.findall('hardware/param')}
        assert parameters['headless'] in ('true', 'false')
        self.model = mujoco.MjModel.from_xml_path(parameters['mujoco_model'])
        self.data = mujoco.MjData(self.model)
        self.names, self._addresses, self._motors = [], [], []
        for joint in control.findall('joint'):
            name = joint.get('name')
            index = self.model.joint(name).id
            self.names.append(name)
            self._addresses.append(index)
            self.data.qpos[index] = self._initial(joint, 'position')
            if joint.find('command_interface[@name="effort"]') is not None:
                motor = self.model.actuator(name)
                assert motor.trnid[0] == index
                self._motors.append(motor.id)
                self.data.ctrl[motor.id] = self._initial(joint, 'effort')
        self._controlled = [self.model.actuator(name).id for name in joints]
        assert sorted(self._controlled) == sorted(self._motors)
        mujoco.mj_forward(self.model, self.data)

    @staticmethod
    def _initial(joint, interface):
        return float(joint.findtext(f'state_interface[@name="{interface}"]/param', '0'))

    def states(self):
        data, rows = self.data, self._addresses
        return data.qpos[rows], data.qvel[rows], data.qfrc_actuator[rows]

    def step(self, efforts):
        if efforts is not None:
            self.data.ctrl[self._controlled] = efforts
        for _ in range(round(PERIOD / self.model.opt.timestep)):
            self._mujoco.mj_step(self.model, self.data)

    @property
    def position(self):
        return self.data.qpos[self._addresses]


class BehindTopics:
    """The hardware behind topics, and MuJoCo's arm at their other end."""

    is_simulated = False

    def __init__(self, node, control, joints, description):
        import rclpy
        from topic_hardware import ArmBehindTopics, TopicHardware

        from ne_dynamics import load_urdf
        from ne_dynamics.simulation.mujoco_model import MujocoArm

        self._spin = lambda: rclpy.spin_once(node, timeout_sec=0.1)
        self._hardware = TopicHardware(node, description, joints, 'unused_efforts')
        self._arm = MujocoArm(load_urdf(description), period=PERIOD, substeps=4)
        self._body = ArmBehindTopics(node, self._arm, self._hardware.parameters)
        self.names = [joint.get('name') for joint in control.findall('joint')]
        self._controlled = joints

    def states(self):
        before, deadline = self._hardware.received, time.monotonic() + PATIENCE
        while self._hardware.received == before and time.monotonic() < deadline:
            self._body.publish()
            self._spin()
        self._hardware.read()
        message = self._hardware.broadcast()
        return message.position, message.velocity, message.effort

    def step(self, efforts):
        if efforts is not None:
            for name, effort in zip(self._controlled, efforts, strict=True):
                self._hardware.command[f'{name}/effort'] = effort
        before, deadline = self._body.received, time.monotonic() + PATIENCE
        if self._hardware.write():
            while self._body.received == before and time.monotonic() < deadline:
                self._spin()
        self._body.step()

    @property
    def position(self):
        return self._arm.position


def ros2_control_node(folder, arguments):
    """Run the hardware of the description."""
    import rclpy
    from rclpy.executors import ExternalShutdownException
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray, String

    from ne_dynamics.simulation.demo.node_messages import set_stamp

    rclpy.init(args=[sys.argv[0], *arguments])
    node = rclpy.create_node('controller_manager')
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    received, commands = [], []
    node.create_subscription(String, 'robot_description', received.append, latched)
    node.create_subscription(
        Float64MultiArray, 'effort_controller/commands', lambda m: commands.append(list(m.data)), 1
    )
    publisher = node.create_publisher(JointState, 'joint_states', 10)
    clock = node.create_publisher(Clock, '/clock', 1)
    try:
        while not received:
            rclpy.spin_once(node, timeout_sec=0.5)
        description = received[0].data
        control = ElementTree.fromstring(description).find('ros2_control')
        joints = json.loads((folder / 'joints.json').read_text())
        if control.findtext('hardware/plugin').startswith('mujoco_ros2_control/'):
            hardware = InMujoco(node, control, joints)
        else:
            hardware = BehindTopics(node, control, joints, description)
        begin, cycles, before = hardware.position.copy(), 0, 0
        sag = 0.0
        while rclpy.ok():
            has_states = (folder / 'start_joint_state_broadcaster').exists()
            is_active = (folder / 'start_effort_controller').exists()
            for name in ('joint_state_broadcaster', 'effort_controller'):
                if (folder / f'start_{name}').exists():
                    (folder / f'started_{name}').touch()
            count = len(commands)
            position, velocity, effort = hardware.states()
            if has_states:
                message = JointState(name=hardware.names)
                message.position, message.velocity = list(position), list(velocity)
                message.effort = list(effort)
                stamp = node.get_clock().now().to_msg()
                if hardware.is_simulated:
                    stamp = Clock().clock
                    set_stamp(stamp, 1.0 + cycles * PERIOD)
                    clock.publish(Clock(clock=stamp))
                message.header.stamp = stamp
                publisher.publish(message)
            deadline = time.monotonic() + (PATIENCE if is_active else 0.02)
            while len(commands) == count and time.monotonic() < deadline:
                rclpy.spin_once(node, timeout_sec=0.01)
            before += not is_active and len(commands) > count
            hardware.step(commands[-1] if is_active else None)
            cycles += 1
            sag = max(sag, float(abs(hardware.position - begin).max()))
            if cycles % 10 == 0:
                found = {
                    'commands': len(commands),
                    'commands before': before,
                    'sag': sag,
                    'position': hardware.position.tolist(),
                    'plugin': control.findtext('hardware/plugin'),
                }
                write(folder / 'report.json', json.dumps(found))
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


def spawner(folder, arguments):
    """Ask for a controller, with the parameters of its file, and wait until it runs."""
    (name,) = arguments[: next(i for i, word in enumerate(arguments) if word.startswith('-'))]
    file = arguments[arguments.index('--param-file') + 1]
    content = yaml.safe_load(Path(file).read_text())
    if name == 'effort_controller':
        assert content['/**/effort_controller']['ros__parameters']['joints']
    write(folder / f'start_{name}', '')
    wait_for(folder / f'started_{name}')


PROGRAMS = {
    'robot_state_publisher': robot_state_publisher,
    'ros2_control_node': ros2_control_node,
    'spawner': spawner,
}


def main():
    """Run what was asked for."""
    program, folder, *arguments = sys.argv[1:]
    note(Path(folder), program, arguments)
    PROGRAMS[program](Path(folder), arguments)


if __name__ == '__main__':
    main()
