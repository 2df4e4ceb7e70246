"""Stand-ins for the programs that gazebo.launch.py starts, where Gazebo cannot be installed.

    python gazebo_stand_in.py PROGRAM FOLDER [ARGUMENTS]

They speak through files in a folder: what each was started with, the description that `create`
was given, and a file for each controller that `spawner` was to start. `gazebo` is physics (DART,
as in Gazebo) and what gz_ros2_control does with it: it holds the joints at velocity zero until the
effort controller is started, writes an effort of zero in the first step of it, lets the initial
values count until the first command, and publishes states and wrench from the start of the
broadcasters on. Everything about the arm comes from the description: nothing is known here that
Gazebo would not know.
"""

import contextlib
import itertools
import json
import os
import signal
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PERIOD = 0.001
GRAVITY = (0.0, 0.0, -9.80665)


def note(folder, program, arguments):
    """Write down what a program was started with, parameter files included."""
    parameters = [
        Path(value).read_text()
        for flag, value in itertools.pairwise(arguments)
        if flag == '--params-file'
    ]
    entry = {'time': time.monotonic(), 'program': program, 'arguments': arguments}
    entry['parameters'] = parameters
    with (folder / 'started.jsonl').open('a') as stream:
        stream.write(json.dumps(entry) + '\n')


def write(path, text):
    """Create a file that is complete when it is there."""
    temporary = path.with_suffix('.part')
    temporary.write_text(text)
    temporary.rename(path)


def stay():
    """Wait for the end of the launch."""
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    while True:
        time.sleep(0.2)


def robot_state_publisher(folder, arguments):
    """Offer the description, as robot_state_publisher does."""
    import rclpy
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from std_msgs.msg import String

    rclpy.init(args=[sys.argv[0], *arguments])
    node = rclpy.create_node('robot_state_publisher')
    node.declare_parameter('robot_description', '')
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = node.create_publisher(String, 'robot_description', latched)
    publisher.publish(String(data=node.get_parameter('robot_description').value))
    spin(node)


def create(folder, arguments):
    """Take the description from its topic and hand it to Gazebo."""
    import rclpy
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from std_msgs.msg import String

    if (folder / 'create_fails').exists():
        sys.exit(1)
    rclpy.init(args=[sys.argv[0], *arguments])
    node = rclpy.create_node('ros_gz_sim')
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    received = []
    topic = arguments[arguments.index('-topic') + 1]
    node.create_subscription(String, topic, lambda message: received.append(message.data), latched)
    while not received:
        rclpy.spin_once(node, timeout_sec=0.5)
    write(folder / 'model.urdf', received[0])
    wait_for(folder / 'configured')


def spawner(folder, arguments):
    """Ask for controllers, one after the other, and wait until they run."""
    names = arguments[: next(i for i, word in enumerate(arguments) if word.startswith('-'))]
    for name in names:
        write(folder / f'start_{name}', '')
        wait_for(folder / f'started_{name}')


def wait_for(path):
    """Wait until a file is there."""
    deadline = time.monotonic() + 60.0
    with contextlib.suppress(KeyboardInterrupt):
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
    if not path.exists():
        sys.exit(1)


def spin(node):
    """Serve a node until the launch ends."""
    import rclpy
    from rclpy.executors import ExternalShutdownException

    with contextlib.suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)


class Description:
    """What a description for Gazebo says."""

    def __init__(self, text):
        root = ElementTree.fromstring(text)
        self.text = text
        plugin = root.find("gazebo/plugin[@name='gz_ros2_control::GazeboSimROS2ControlPlugin']")
        self.parameters = plugin.find('parameters').text
        self.namespace = plugin.findtext('ros/namespace', '/')
        self.holds = plugin.findtext('hold_joints') == 'true'
        self.position, self.effort = {}, {}
        for joint in root.find('ros2_control').findall('joint'):
            for values, name in ((self.position, 'position'), (self.effort, 'effort')):
                found = joint.findtext(f"state_interface[@name='{name}']/param")
                values[joint.get('name')] = float(found)
        self.massless = [
            link.get('name') for link in root.findall('link') if link.find('inertial') is None
        ]
        self.sensor = root.find('ros2_control/sensor')
        if self.sensor is not None:
            (extension,) = (
                element
                for element in root.findall('gazebo')
                if element.find("sensor[@type='force_torque']") is not None
            )
            self.sensor_name = extension.find('sensor').get('name')
            assert self.sensor.get('name') == self.sensor_name
            direction = extension.findtext('sensor/force_torque/measure_direction')
            self.sensor_sign = {'child_to_parent': -1.0, 'parent_to_child': 1.0}[direction]
            joint = root.find(f"joint[@name='{extension.get('reference')}']")
            self.sensor_link = joint.find('child').get('link')


class Physics:
    """The arm in DART, as Gazebo has it."""

    def __init__(self, description):
        import dartpy as dart
        import numpy as np

        self.np = np
        self.actuators = dart.dynamics.ActuatorType
        skeleton = dart.utils.DartLoader().parseSkeletonString(description.text, '')
        nothing = dart.dynamics.Inertia(1e-13, np.zeros(3), 1e-13 * np.eye(3))
        for name in description.massless:
            if name != 'world':
                skeleton.getBodyNode(name).setInertia(nothing)
        self.world = dart.simulation.World()
        self.world.setTimeStep(PERIOD)
        self.world.setGravity(GRAVITY)
        self.world.addSkeleton(skeleton)
        self.skeleton = skeleton
        self.names = [skeleton.getDof(i).getName() for i in range(skeleton.getNumDofs())]
        self.joints = [skeleton.getJoint(name) for name in self.names]
        skeleton.setPositions([description.position[name] for name in self.names])
        self.description = description

    def step(self, efforts):
        """Go on by one period, held without efforts."""
        for index, joint in enumerate(self.joints):
            kind = self.actuators.SERVO if efforts is None else self.actuators.FORCE
            if joint.getActuatorType() != kind:
                joint.setActuatorType(kind)
            joint.setCommand(0, 0.0 if efforts is None else efforts[index])
        self.world.step()

    def efforts(self):
        """Return what Gazebo reports as efforts: the wrench in each joint, about its axis."""
        return [
            float(joint.getAxis() @ joint.getChildBodyNode().getBodyForce()[:3])
            for joint in self.joints
        ]

    def wrench(self):
        """Return force and moment of the sensor."""
        body = self.skeleton.getBodyNode(self.description.sensor_link)
        values = self.np.asarray(body.getBodyForce()) * self.description.sensor_sign
        return [float(value) for value in (*values[3:], *values[:3])]


def gazebo(folder, arguments):
    """Run the physics and what gz_ros2_control does with it."""
    import rclpy
    import yaml
    from geometry_msgs.msg import WrenchStamped
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray

    stopped = []
    signal.signal(signal.SIGINT, lambda *_: stopped.append(True))
    while not (folder / 'model.urdf').exists() and not stopped:
        time.sleep(0.01)
    if stopped:
        return
    description = Description((folder / 'model.urdf').read_text())
    physics = Physics(description)
    parameters = {
        key.rpartition('/')[2]: value['ros__parameters']
        for key, value in yaml.safe_load(Path(description.parameters).read_text()).items()
    }
    order = parameters['effort_controller']['joints']
    every = round(1.0 / (parameters['controller_manager']['update_rate'] * PERIOD))

    rclpy.init(args=[], signal_handler_options=rclpy.SignalHandlerOptions.NO)
    node = rclpy.create_node('stand_in', namespace=description.namespace)
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(node)
    clock_publisher = node.create_publisher(Clock, '/clock', 1)
    state_publisher = node.create_publisher(JointState, 'joint_states', 10)
    wrench_publisher = node.create_publisher(
        WrenchStamped, 'force_torque_sensor_broadcaster/wrench', 10
    )
    commands = []
    running = set()
    stray = [0]

    def on_command(message):
        if 'effort_controller' in running:
            commands.append(list(message.data))
        else:
            stray[0] += 1

    node.create_subscription(Float64MultiArray, 'effort_controller/commands', on_command, 10)
    write(folder / 'configured', '')
    start = list(physics.skeleton.getPositions())
    report = {'namespace': description.namespace, 'holds': description.holds, 'sag': 0.0}
    report['sag before'] = 0.0
    report['commands before'] = None
    ticks, started = 0, time.monotonic()
    has_written = False
    # Gazebo does not wait for commands; here it may, so that nothing depends on the machine.
    waits = (folder / 'waits').exists()
    while not stopped and not (folder / 'gazebo_ends').exists():
        ticks += 1
        if ticks % 10 == 0:
            for path in folder.glob('start_*'):
                name = path.name.removeprefix('start_')
                if name not in running:
                    running.add(name)
                    if name == 'effort_controller':
                        report['commands before'] = stray[0]
                        report['sag before'] = report['sag']
                    write(folder / f'started_{name}', '')
        efforts = None
        if 'effort_controller' in running and not has_written:
            efforts, has_written = [0.0] * len(physics.names), True
        elif 'effort_controller' in running:
            last = dict(zip(order, commands[-1], strict=True)) if commands else description.effort
            efforts = [last[name] for name in physics.names]
        physics.step(efforts)
        report['sag'] = max(
            report['sag'],
            max(
                abs(now - before)
                for now, before in zip(physics.skeleton.getPositions(), start, strict=True)
            ),
        )
        seconds, nanoseconds = divmod(ticks * round(PERIOD * 1e9), 10**9)
        stamp = Clock()
        stamp.clock.sec, stamp.clock.nanosec = seconds, nanoseconds
        clock_publisher.publish(stamp)
        if ticks % every == 0:
            if 'joint_state_broadcaster' in running:
                state = JointState()
                state.header.stamp = stamp.clock
                state.name = list(physics.names)
                state.position = [float(value) for value in physics.skeleton.getPositions()]
                state.velocity = [float(value) for value in physics.skeleton.getVelocities()]
                state.effort = physics.efforts()
                state_publisher.publish(state)
            if 'force_torque_sensor_broadcaster' in running:
                assert parameters['force_torque_sensor_broadcaster']['sensor_name'] == (
                    description.sensor_name
                )
                message = WrenchStamped()
                message.header.stamp = stamp.clock
                message.header.frame_id = parameters['force_torque_sensor_broadcaster']['frame_id']
                force, torque = message.wrench.force, message.wrench.torque
                values = physics.wrench()
                force.x, force.y, force.z, torque.x, torque.y, torque.z = values
                report['wrench'] = values
                wrench_publisher.publish(message)
            heard = len(commands) + stray[0]
            patience = time.monotonic() + 5.0 if waits and heard else 0.0
            while len(commands) + stray[0] == heard and time.monotonic() < patience:
                if stopped:
                    break
                executor.spin_once(timeout_sec=0.1)
        for _ in range(2):
            executor.spin_once(timeout_sec=0.0)
        if ticks % 100 == 0:
            report['seconds'] = ticks * PERIOD
            report['commands'] = len(commands)
            report['last command'] = commands[-1] if commands else None
            report['position'] = list(map(float, physics.skeleton.getPositions()))
            write(folder / 'report.json', json.dumps(report))
        # In real time, or slower where the machine is: lost time is not made up for.
        ahead = started + ticks * PERIOD - time.monotonic()
        if ahead > 0.0:
            time.sleep(ahead)
        elif ahead < -0.05:
            started -= ahead
    write(folder / 'report.json', json.dumps(report))
    node.destroy_node()
    rclpy.shutdown()


PROGRAMS = {
    'gazebo': gazebo,
    'create': create,
    'spawner': spawner,
    'robot_state_publisher': robot_state_publisher,
    'parameter_bridge': lambda folder, arguments: stay(),
    'rviz2': lambda folder, arguments: stay(),
}


def main():
    """Run the program that is asked for."""
    program, folder, *arguments = sys.argv[1:]
    note(Path(folder), program, arguments)
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    PROGRAMS[program](Path(folder), arguments)


if __name__ == '__main__':
    main()
